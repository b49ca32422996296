"""`nearsame index`: an index that stays. The group of its commands, and those that ask."""

import sys
from typing import Any

import click

from nearsame.cli import indexoptions, options
from nearsame.cli.indexcare import backup, check, export, list_ids, migrate
from nearsame.cli.indexing import add, create, lines_to, remove, show_skipped
from nearsame.cli.outcome import ended
from nearsame.cli.places import names_a_file
from nearsame.errors import ConfigError

__all__ = ["index"]

_DONE, _NO = 0, 1
_CUT = (
    "keep_case", "keep_punctuation", "stop_words", "nfkc", "strip_accents", "shingle_size", "unit", "whitespace",
    "overlapping", "repeats", "threshold", "num_perm", "sketch", "seed",
)  # fmt: skip


@click.group(cls=options.Commands, short_help="Keep documents in an index, and ask what resembles them.")
def index() -> None:
    """Keep documents in an index on disk, and ask at any time what a text resembles.

    \b
      nearsame index create seen.ns --from crawl/
      nearsame index add seen.ns today.jsonl --if-new -o results.jsonl
      nearsame index query seen.ns "some text"
      nearsame index stats seen.ns

    INDEX is a file, for one writer at a time and any number of readers; or
    postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME, which many machines write to at once.
    """  # noqa: D301  (click wants a real backspace before lines that are not to be wrapped)


@click.command(cls=options.Command, short_help="Ask what a text, a file or many documents resemble.")
@indexoptions.WHERE
@click.argument("text", required=False, metavar="[TEXT]")
@options.section(
    "Sources",
    options.spec(
        "--file",
        "path",
        metavar="FILE",
        reads=True,
        help="Ask about this file, as one text; - for standard input.",
        stands="TEXT",
    ),
    options.spec("--id", metavar="ID", help="Ask about this document of the index.", stands="TEXT"),
    options.spec("--url", metavar="URL", help="Of the text; or alone, where the index has URLs.", stands="none"),
    options.spec(
        "--from",
        "sources",
        multiple=True,
        metavar="SOURCE",
        reads=True,
        help="Ask about all these documents. Repeatable.",
        stands="none",
    ),
)
@indexoptions.columns
@options.section(
    "Deciding",
    indexoptions.MATCHES,
    options.spec(
        "--threshold",
        metavar="NUMBER",
        help="Least similarity; below that of the index, what its keys miss is told.",
        stands="that of the index",
    ),
    options.spec(
        "--where",
        "conditions",
        multiple=True,
        metavar="CONDITION",
        help="Only documents whose columns are so: lang=en, 'lang=en|de', 'lang!=en', 'date>=2024'. Repeatable.",
        stands="any",
    ),
)
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        writes=options.FILE,
        help="With --from, a line of JSON for each document.",
        stands="standard output",
    ),
    options.overwriting("FILE"),
    options.AS_JSON,
)
@options.section("Running", options.QUIET)
@options.running_plainly
def query(where: str, text: str | None, **given: Any) -> int:
    """Ask what a text, a file, or each document of a source resembles: verified, best first.

    SOURCE is as in `nearsame dedup`; a line of FILE then has the id of a document and its matches. Exit code 0,
    whether there are matches or not. Defaults stand in brackets.
    """
    _check_query(text, given)
    from nearsame.flow.whole_texts import texts_of
    from nearsame.index.index import Index
    from nearsame.outputs import console, lookups
    from nearsame.outputs.report_page import ReportPage

    if given["path"] is not None:
        text = texts_of([given["path"]], given["extract"])[0]
    limits = {"limit": given["limit"], "where": given["conditions"] or None}
    at = {"threshold": given["threshold"]}
    with Index.open(where, read_only=True) as opened_index:
        if given["url"] is not None:
            _require_urls(opened_index)
        if given["sources"]:
            return _query_many(opened_index, where, given, limits | at)
        if given["id"] is not None:
            matches = opened_index.duplicates(given["id"], **limits)
        else:
            matches = opened_index.query({"text": text or "", "url": given["url"]}, **limits, **at)
    if given["as_json"]:
        console.print_json(matches.record())
    else:
        page = ReportPage(sys.stdout)
        lookups.show_matches(page, matches)
        if given["path"] is None and text and names_a_file(text) and not given["quiet"]:
            lookups.show_other_reading(page, text)
    return _DONE


@click.command(cls=options.Command, short_help="Compare two documents of the index.")
@indexoptions.WHERE
@click.argument("a", metavar="ID_A")
@click.argument("b", metavar="ID_B")
@options.output(options.WHOLE, options.AS_JSON)
@options.running_plainly
def compare(where: str, a: str, b: str, *, everything: bool, as_json: bool) -> int:
    """Compare two documents of the index; where it stores texts, by every measure, with the passages they share.

    Exit code 0: similar, by a method of the index; 1: not.
    """
    from nearsame.index.index import Index
    from nearsame.outputs import comparison, console, lookups
    from nearsame.outputs.report_page import ReportPage

    with Index.open(where, read_only=True) as opened_index:
        likeness = opened_index.compare(a, b)
        passages = _passages(opened_index, a, b)
    if as_json:
        console.print_json({**likeness.record(), **({"comparison": passages[0].record()} if passages else {})})
        return _DONE if likeness.similar else _NO
    page = ReportPage(sys.stdout)
    lookups.show_likeness(page, likeness)
    if passages:
        page.line()
        comparison.report(page, passages[0], comparison.Sources(a, b, *passages[1]), everything=everything)
    return _DONE if likeness.similar else _NO


@click.command(cls=options.Command, short_help="Show what is in an index, and how it was made.")
@indexoptions.WHERE
@options.output(options.AS_JSON)
@options.running_plainly
def stats(where: str, *, as_json: bool) -> None:
    """Show how many documents an index has, what it takes on disk, and the settings of its methods."""
    from nearsame.index.index import Index
    from nearsame.outputs import console, lookups
    from nearsame.outputs.report_page import ReportPage

    with Index.open(where, read_only=True) as opened_index:
        record = opened_index.stats().record()
    if as_json:
        console.print_json(record)
    else:
        lookups.show_stats(ReportPage(sys.stdout), record)


def _passages(opened_index: Any, a: str, b: str) -> Any:
    """What `nearsame compare` says of two stored texts, cut as the index cuts them; nothing where none are stored."""
    from nearsame.recipes.methods import MinHash
    from nearsame.studies import compare as study

    stats = opened_index.stats()
    if stats.store != "text":
        return None
    texts = opened_index.text(a), opened_index.text(b)
    sets: dict[str, Any] = next((method for method in stats.methods if "shingle_size" in method), {})
    recipe = MinHash(**{name: sets[name] for name in _CUT if sets.get(name) is not None})
    return study.compare(*texts, method=recipe), texts


def _require_urls(opened_index: Any) -> None:
    """Refuse --url where it finds nothing."""
    from nearsame.recipes.urls import CanonicalUrl

    methods = dict.fromkeys(method["method"] for method in opened_index.stats().methods)
    if CanonicalUrl.name not in methods:
        message = f"--url does nothing in an index of {', '.join(methods)}"
        raise ConfigError(message, hint="Leave it out, or create an index with --also url.")


def _query_many(opened_index: Any, where: str, given: dict[str, Any], limits: dict[str, Any]) -> int:
    """Answer for each document of a source."""
    from nearsame.outputs import console
    from nearsame.outputs.report_page import ReportPage

    asked = matched = 0
    path = given["output"] or "-"
    with (
        console.watched(quiet=given["quiet"]) as progress,
        lines_to(path, where, given["sources"], overwrite=given["overwrite"]) as write,
    ):
        columns = indexoptions.given_columns(given)
        progress.begin("features")
        for ids, answers in opened_index.query_batches(given["sources"], progress=progress, **limits, **columns):
            asked += len(ids)
            matched += sum(map(bool, answers))
            write({"id": id_, **matches.record()} for id_, matches in zip(ids, answers, strict=True))
    if not given["quiet"]:
        page = ReportPage(sys.stderr if path == "-" else sys.stdout)
        page.line(f"{asked:,} documents, {matched:,} of them resemble documents of the index.")
        show_skipped(page, opened_index.skipped)
        if path != "-":
            page.written(path)
    return ended(len(opened_index.skipped), opened_index.skipped, given, read=asked)


def _check_query(text: str | None, given: dict[str, Any]) -> None:
    ways = {"TEXT": text is not None, "--file": given["path"] is not None, "--id": given["id"] is not None}
    ways["--from"] = bool(given["sources"])
    named = [name for name, is_given in ways.items() if is_given]
    if len(named) > 1:
        raise ConfigError(f"{' and '.join(named)} are given, but only one can be asked about", hint="Leave one out.")
    if not named and given["url"] is None:
        hint = "Give a TEXT in quotes, --file FILE, --id ID, --url URL or --from SOURCE."
        raise ConfigError("there is nothing to ask about", hint=hint)
    if given["url"] is not None and named not in ([], ["TEXT"], ["--file"]):
        raise ConfigError(f"--url does nothing with {named[0]}", hint="Leave it out.")
    if given["id"] is not None and given["threshold"] is not None:
        raise ConfigError("--threshold does nothing with --id", hint="Leave it out.")
    if given["sources"] and given["as_json"]:
        raise ConfigError("--json does nothing with --from, which writes lines of JSON anyway", hint="Leave it out.")
    page = {"extract"} if given["path"] is not None else set()
    for name in (*indexoptions.COLUMNS, "output", "overwrite") if not given["sources"] else ():
        if given[name] and name not in page:
            option = "-o" if name == "output" else f"--{name.replace('_', '-')}"
            raise ConfigError(f"{option} does nothing without --from", hint="Add --from SOURCE, or leave it out.")


for _command in (create, add, query, compare, remove, list_ids, stats, check, export, backup, migrate):
    index.add_command(_command)
