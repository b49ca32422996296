"""`nearsame index create`, `add` and `remove`: what changes an index."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from nearsame.cli import indexoptions, options, recipeoptions, sourceoptions
from nearsame.cli.outcome import ended
from nearsame.errors import ConfigError, NearSameError
from nearsame.printable import printable
from nearsame.shares import counted

if TYPE_CHECKING:
    from nearsame.outputs.lookups import AddTally
    from nearsame.outputs.report_page import ReportPage

__all__ = ["add", "create", "lines_to", "remove", "show_skipped"]

_USER_ERROR = 2
_SHOWN_SKIPS = 5


@click.command(cls=options.Command, short_help="Make an index, empty or of the documents of a source.")
@indexoptions.NEW
@options.section(
    "Sources",
    options.spec(
        "--from",
        "sources",
        multiple=True,
        metavar="SOURCE",
        reads=True,
        help="Put these documents in. Repeatable.",
        stands="none",
    ),
)
@indexoptions.columns
@options.section(
    "Sources",
    options.spec(
        "--keep-columns",
        metavar="LIST",
        help="Keep these columns of each document, as in lang,date: a query can choose by them.",
        stands="none",
    ),
)
@indexoptions.method
@recipeoptions.text
@options.output(
    options.overwriting("INDEX,", "when the new one is complete."),
    options.in_json("Statistics"),
)
@options.section("Running", options.MEMORY, indexoptions.WAIT, options.QUIET)
@options.running_plainly
@click.pass_context
def create(ctx: click.Context, /, where: str, **given: Any) -> int:
    """Make an index, empty or of the documents of a source.

    INDEX is a file that is to appear, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME. It carries its
    methods with all their settings; whatever is added and asked later goes by them. SOURCE is as in `nearsame dedup`.
    Of several documents of one id the first goes in. The index appears complete or not at all. Defaults stand in
    brackets.
    """
    _check_sources(given)
    from nearsame.index.index import Index
    from nearsame.outputs import console, lookups
    from nearsame.outputs.report_page import ReportPage

    methods = indexoptions.methods_of(ctx.command, given)
    chosen = {"store": given["store"], "overwrite": given["overwrite"], **indexoptions.given_columns(given)}
    chosen |= {"keep_columns": given["keep_columns"], "memory": given["memory"], "timeout_seconds": given["wait"]}
    with (
        console.watched(quiet=given["quiet"]) as progress,
        Index.create(where, method=methods, source=given["sources"] or None, progress=progress, **chosen) as index,
    ):
        stats, skipped = index.stats().record(), index.skipped
    if given["as_json"]:
        console.print_json({**stats, "skipped": len(skipped)})
    elif not given["quiet"]:
        page = ReportPage(sys.stdout)
        lookups.show_stats(page, stats)
        show_skipped(page, skipped)
    return ended(len(skipped), skipped, given, read=stats["documents"])


@click.command(cls=options.Command, short_help="Add documents, and say what each resembles.")
@indexoptions.WHERE
@sourceoptions.SOURCES
@indexoptions.columns
@options.section(
    "Deciding",
    options.spec("--if-new", is_flag=True, help="Leave out what resembles a document of the index.", stands="add all"),
    options.spec("--replace", is_flag=True, help="Replace a document that has the same id.", stands="leave that"),
    indexoptions.MATCHES,
)
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        writes=options.FILE,
        help="A line of JSON for each document; - to see them.",
        stands="none",
    ),
    options.overwriting("FILE"),
    options.in_json("Counts"),
)
@options.section("Running", indexoptions.WAIT, options.QUIET)
@options.running_plainly
def add(where: str, **given: Any) -> int:
    """Add documents to an index, and tell what each resembles among those before it.

    SOURCE is as in `nearsame dedup`. A line of FILE has the id, whether it was added, its status and its matches: id,
    similarity, measure, found_by (minhash, simhash, bytes, text, url), distance, url. The status is added, replaced,
    resembles (with --if-new: left out), present (the same document is there: adding again does nothing) or conflict
    (the id is that of another text, which stays: exit code 2). With -o - a line is shown when its document is safely
    stored. Defaults stand in brackets.
    """
    _check_output(given)
    from nearsame.index.index import Index
    from nearsame.outputs import console, lookups
    from nearsame.outputs.report_page import ReportPage

    chosen = {name: given[name] for name in ("if_new", "replace", "limit")}
    silent = given["output"] is None
    tally, began = lookups.AddTally(), time.monotonic()
    with (
        Index.open(where, timeout_seconds=given["wait"]) as index,
        console.watched(quiet=given["quiet"]) as progress,
        lines_to(given["output"], where, given["sources"], overwrite=given["overwrite"]) as write,
    ):
        columns = indexoptions.given_columns(given)
        progress.begin("features")
        with _telling_how_far(tally):
            for batch in index.add_batches(given["sources"], progress=progress, **columns, **chosen):
                tally.count(batch)
                if not silent:
                    write(added.record() for added in batch)
        skipped = index.skipped
    if given["as_json"]:
        console.print_json({**tally.record(), "skipped": len(skipped)})
    elif not given["quiet"]:
        page = ReportPage(sys.stderr if given["output"] == "-" else sys.stdout)
        tally.show(page, time.monotonic() - began)
        show_skipped(page, skipped)
        if given["output"] not in (None, "-"):
            page.written(given["output"])
    return _outcome(tally, skipped, given)


@contextmanager
def _telling_how_far(tally: "AddTally") -> Iterator[None]:
    """Let an error in the midst of a source say how far it came: each batch was a transaction."""
    try:
        yield
    except NearSameError as error:
        if done := sum(tally.counts.values()):
            what = f"The index was done with {counted(done, 'document')} before that: the same command goes on."
            error.hint = f"{error.hint} {what}".lstrip()
        raise


@click.command(cls=options.Command, short_help="Take documents out.")
@indexoptions.WHERE
@click.argument("ids", nargs=-1, metavar="[ID]...")
@options.section(
    "Sources",
    options.spec(
        "--from", "path", metavar="FILE", reads=True, help="Ids, one a line; - for standard input.", stands="none"
    ),
    options.spec(
        "--json", "as_json", is_flag=True, help="Records with an id, as list --json has them.", stands="plain ids"
    ),
)
@options.section(
    "Deciding", options.spec("--missing-ok", is_flag=True, help="Ignore ids that are not there.", stands="refuse")
)
@options.section("Running", indexoptions.WAIT, options.QUIET)
@options.running_plainly
def remove(where: str, ids: tuple[str, ...], path: str | None, *, as_json: bool, **given: Any) -> None:
    """Take documents out of an index, all of them or, if one is not there, none."""
    if bool(ids) == bool(path):
        raise ConfigError("remove needs ids, or --from FILE", hint="Give one of the two.")
    if as_json and path is None:
        raise ConfigError("--json does nothing without --from", hint="Leave it out, or add --from FILE.")
    from nearsame.index.index import Index
    from nearsame.sources.whole import read_text, text_lines

    wanted = list(ids)
    for number, line in enumerate(() if path is None else text_lines(read_text(path)), 1):
        if line:
            wanted.append(_id_of(line, f"{path}, line {number}") if as_json else line)
    with Index.open(where, timeout_seconds=given["wait"]) as index:
        count = index.remove(wanted, missing_ok=given["missing_ok"])
        left = index.stats().documents
    if not given["quiet"]:
        missing = len({*wanted}) - count
        passed = f"; {missing:,} were not there" if missing else ""
        click.echo(f"{count:,} removed, {left:,} left{passed}.")


def _id_of(line: str, place: str) -> str:
    """The id in a line of JSON."""
    import orjson

    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        raise ConfigError(f"{place} is no record with an id", hint="Leave out --json for plain ids.")
    return str(record["id"])


@contextmanager
def lines_to(path: str | None, where: str, sources: tuple[str, ...], *, overwrite: bool) -> Iterator[Any]:
    """What writes records as lines of JSON: to a file that appears at the end, or at once to standard output."""
    from nearsame.files.inputs import Inputs
    from nearsame.outputs.folder import appearing, require_place

    if path in (None, "-"):
        yield lambda records: _write_lines(sys.stdout.buffer, records)
        return
    read = Inputs.index(where) + Inputs.of(sources).changing()  # what was added is reported in any case
    place = require_place(str(path), read, folder=False, overwrite=overwrite)
    with appearing(place) as made, made.open("wb") as out:
        yield lambda records: _write_lines(out, records)


def show_skipped(page: "ReportPage", skipped: list[Any]) -> None:
    """What could not be read, with its place."""
    if not skipped:
        return
    from nearsame.outputs.console import clean

    page.line(f"{'not readable':<16}{len(skipped):>14,}   counted nowhere else")
    for skip in skipped[:_SHOWN_SKIPS]:
        place = skip.source if skip.line is None else f"{skip.source}:{skip.line}"
        page.line(f"  {clean(place)}: {clean(skip.reason)}")
    if len(skipped) > _SHOWN_SKIPS:
        page.line(f"  and {len(skipped) - _SHOWN_SKIPS:,} more")


def _write_lines(out: BinaryIO, records: Iterable[dict[str, Any]]) -> None:
    import orjson

    out.writelines(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)
    out.flush()


def _outcome(tally: "AddTally", skipped: list[Any], given: dict[str, Any]) -> int:
    conflicts = tally.counts["conflict"]
    if conflicts:
        named = ", ".join(tally.conflicts) + (", ..." if conflicts > len(tally.conflicts) else "")
        what = (
            "document was not added: the index has its id"
            if conflicts == 1
            else "documents were not added: the index has their ids"
        )
        message = f"{conflicts:,} {what} with another text: {named}"
        click.echo(f"error: {printable(message)}", err=True)
        click.echo("hint: Add --replace to replace those, or give these other ids.", err=True)
        return _USER_ERROR
    return ended(len(skipped), skipped, given)


def _check_sources(given: dict[str, Any]) -> None:
    if given["sources"]:
        return
    for name in (*indexoptions.COLUMNS, "memory"):
        if given[name]:
            option = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{option} does nothing without --from", hint="Add --from SOURCE, or leave it out.")


def _check_output(given: dict[str, Any]) -> None:
    if given["output"] == "-" and given["as_json"]:
        raise ConfigError("--json and -o -: both want standard output", hint="Leave one out.")
    if given["output"] in (None, "-") and given["overwrite"]:
        raise ConfigError("--overwrite does nothing without -o FILE", hint="Leave it out.")
