"""`nearsame dedup`: flags in, a folder out."""

import sys
from typing import TYPE_CHECKING, Any

import click

from nearsame.cli import options, recipeoptions, sourceoptions
from nearsame.cli.engine import check, running_on
from nearsame.cli.outcome import asked, outcome
from nearsame.cli.recipe import built
from nearsame.cli.report import reported, require_reportable
from nearsame.errors import ConfigError

if TYPE_CHECKING:
    from nearsame.recipes.urls import Degree

__all__ = ["dedup"]

_NEEDS_OUTPUT = {
    "write_pairs": "--pairs",
    "annotate": "--annotate",
    "copy_files": "--copy",
    "drop_unreadable": "--drop-unreadable",
    "revisits": "--revisits",
    "mask": "--mask",
    "features": "--features",
    "overwrite": "--overwrite",
}

_OF_FOLDERS = ("write_pairs", "annotate", "copy_files", "revisits", "mask", "features")

_WRITTEN = ("annotate", "drop_unreadable", "copy_files", "revisits", "mask", "features")


@click.command(cls=options.Command, short_help="Keep one of each group of similar documents.")
@sourceoptions.sources
@sourceoptions.pages
@recipeoptions.method
@recipeoptions.text
@options.deciding
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="PLACE",
        writes=options.BY_NAME,
        help="A folder, or by its ending one file of what stays, as in kept.jsonl.gz; - for JSON lines.",
    ),
    options.overwriting("PLACE"),
    options.spec("--pairs", "write_pairs", is_flag=True, help="Also write pairs.parquet.", stands="no"),
    options.spec(
        "--annotate",
        is_flag=True,
        help="All records in kept/, with the columns cluster, witness_id and num_duplicates.",
        stands="only those that stay",
    ),
    options.spec(
        "--copy", "copy_files", is_flag=True, help="Copy the text files of a folder.", stands="list them in kept.txt"
    ),
    options.spec("--drop-unreadable", is_flag=True, help="Leave unreadable records out of kept/.", stands="keep"),
    options.spec(
        "--revisits",
        is_flag=True,
        help="WARC: all records in kept/; removed ones with the same bytes become revisits of their witness.",
        stands="no",
    ),
    options.spec(
        "--mask", is_flag=True, help="Copy nothing: only say which records go; `nearsame apply` copies.", stands="no"
    ),
    options.spec(
        "--features",
        is_flag=True,
        help="spark: also features/, by which --against DIR compares with what stays, without its texts.",
        stands="no",
    ),
    options.spec("--dry-run", is_flag=True, help="Write nothing; show a sample of the pairs.", stands="no"),
    *options.REPORTING,
    options.spec(
        "--report-against",
        metavar="OLDER",
        reads=True,
        help="DIR of an older run: the report says what it decided otherwise, and why.",
        stands="none",
    ),
    options.in_json("Statistics"),
)
@options.auditing
@options.residual
@options.room
@options.running
@options.engine
@click.pass_context
def dedup(ctx: click.Context, /, **given: Any) -> int:
    """Keep one of each group of similar documents.

    SOURCE is a folder, file, pattern or URL: .txt, .md, .tex and source code, .html, .xhtml and .mhtml pages, .warc,
    .wet, .arc and .wacz archives, their indexes (.cdx, .cdxj), .jsonl, .csv, .tsv, .parquet, .orc, .arrow (also .gz,
    .zst, .bz2, .xz); or - for JSON lines from standard input. Nothing is removed without a kept document, its witness,
    that was verified to be similar. Defaults stand in brackets.

    PLACE appears complete or not at all. A folder gets kept/ (the files that were read, without the removed records),
    removed.parquet, clusters.parquet, stats.json, and skipped.parquet if something could not be read; on Spark kept/
    (of archives a list, records/), removed/ and clusters/ are folders of Parquet parts. A name that ends in .jsonl,
    .csv, .parquet and the like is one file of the documents that stay, and -o - prints them; what went is then only
    counted.
    """
    _check(given)
    check(given)
    from nearsame.api import DedupOptions
    from nearsame.api import dedup as find
    from nearsame.outputs import console
    from nearsame.outputs.destinations import meaning

    place, overwrite = given["output"], given["overwrite"]
    method = _wanted(ctx, given, built(ctx.command, given))
    is_written = place is not None and not given["dry_run"]
    with running_on(given) as engine, console.watched(quiet=given["quiet"], writes=is_written) as progress:
        run = find(
            given["sources"],
            method=method,
            keep=given["keep"],
            against=given["against"] or None,
            within=False if given["no_within"] else None,
            urls=_urls(given["url_rules"], given["up_to"]),
            progress=progress,
            **{**options.given_options(given, DedupOptions), "audit": asked(given, method), **engine},
        )
        stats = run.stats
        chosen = {name: given[name] for name in _WRITTEN if given[name]}
        if is_written and place != "-":
            stats = run.write(place, overwrite=overwrite, pairs=given["write_pairs"], **chosen)
        reports = reported(run, given)
        examples = run.examples() if given["dry_run"] and not given["quiet"] and not given["as_json"] else None
    to_stdout = is_written and place == "-"
    if to_stdout:
        stats = run.write("-", **chosen)  # now that no line of progress comes between
    if given["as_json"]:
        console.print_json(stats.record())
    elif not given["quiet"]:
        report = console.Report(sys.stderr if to_stdout else sys.stdout)
        report.summary(stats, run.skipped, run.passed_over)
        if examples is not None:
            report.examples(examples, places=stats.repeated_ids > 0)
        elif place not in (None, "-"):
            report.written(place, folder=meaning(place).is_folder)
        for written in reports:
            report.written(written)
    return outcome(run, given)


def _urls(rules: str | None, up_to: "Degree | None") -> Any:
    """What makes URLs one: rules that were learnt, or those up to a degree; None where nothing was asked for."""
    if rules is not None:
        if up_to is not None:
            message = f"--up-to {up_to} contradicts --url-rules: the file says which canonical URLs its rules are about"
            raise ConfigError(message, hint="Give one of the two.")
        from nearsame.web.rules import UrlRules

        return UrlRules.load(rules)
    if up_to is None:
        return None
    from nearsame.recipes.urls import CanonicalUrl

    return CanonicalUrl(up_to=up_to)


def _wanted(ctx: click.Context, given: dict[str, Any], recipe: Any) -> Any:
    """The method; without the layer text none, unless one was asked for, which is then an error."""
    if given["use"] is None or "text" in given["use"]:
        return recipe
    is_asked = any(getattr(param, "setting", False) or param.name == "method" for param in options.typed(ctx))
    return recipe if is_asked else None


def _check(given: dict[str, Any]) -> None:
    require_reportable(given)
    if given["output"] is None:
        if not (given["dry_run"] or given["as_json"] or given["report"]):
            raise ConfigError("no output was named", hint="Add -o PLACE, or --dry-run to only look.")
        for name, option in _NEEDS_OUTPUT.items():
            if given[name] and not (name == "overwrite" and given["report"]):
                raise ConfigError(f"{option} does nothing without -o", hint="Add -o PLACE, or leave it out.")
    else:
        _check_place(given)
    if given["revisits"]:
        _check_revisits(given)
    if given["no_within"] and not given["against"]:
        raise ConfigError("--no-within without --against: nothing would be compared", hint="Add --against SOURCE.")


def _check_place(given: dict[str, Any]) -> None:
    """Refuse what a folder has, and a file or standard output has not."""
    from nearsame.outputs.destinations import meaning, require_folder

    place = given["output"]
    if place == "-" and given["as_json"] and not given["dry_run"]:
        raise ConfigError("--json and -o -: both want standard output", hint="Leave one out.")
    if place == "-" and given["overwrite"] and not given["report"]:
        raise ConfigError("--overwrite does nothing with -o -", hint="Leave it out.")
    for name in _OF_FOLDERS:
        if given[name]:
            require_folder(place, _NEEDS_OUTPUT[name])
    copying = [name for name in _WRITTEN if given[name] and name != "mask"]
    if given["mask"] and copying:
        message = f"{_NEEDS_OUTPUT[copying[0]]} is about copies, and with --mask there are none"
        raise ConfigError(message, hint="Leave one out; nearsame apply has --copy and --drop-unreadable.")
    if given["engine"] == "spark":
        require_folder(place, "--engine spark")
    meaning(place)


def _check_revisits(given: dict[str, Any]) -> None:
    """Refuse before a long run what could not be written after it."""
    if given["drop_unreadable"]:
        raise ConfigError("--revisits keeps all records, and --drop-unreadable does not", hint="Leave one of them out.")
    if given["engine"] != "spark":
        from nearsame.sources import Columns, Wanted, open_parts
        from nearsame.sources.revisits import require_archives

        files = [source for source in given["sources"] if source != "-"]
        wanted = Wanted.of(given["include"], given["exclude"], given["read_as"]) if files else Wanted()
        require_archives(open_parts(files or [[""]], columns=Columns(), wanted=wanted))
