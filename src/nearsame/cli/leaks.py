"""`nearsame leaks`: training data and benchmarks in; which items leaked and where, and clean data, out."""

import sys
from typing import Any

import click

from nearsame.cli import options, sourceoptions
from nearsame.cli.engine import check, running_on
from nearsame.cli.outcome import ended, refused
from nearsame.errors import ConfigError
from nearsame.recipes.choices import LeakRemoval

__all__ = ["leaks"]

_EVALS = options.section(
    "Sources",
    options.spec(
        "--eval",
        "evals",
        multiple=True,
        required=True,
        metavar="SOURCE",
        reads=True,
        help="A benchmark: a file, a folder or a pattern. Repeatable.",
    ),
    options.spec(
        "--eval-column",
        "eval_columns",
        multiple=True,
        metavar="NAME",
        help="Look for the texts of this column. Repeatable; in objects as in choices.text.",
        stands="all of strings but the id",
    ),
    options.spec("--eval-id-column", metavar="NAME", help="Column of the items' ids.", stands="id, or else file:row"),
    *sourceoptions.FILES,
    sourceoptions.TEXT_COLUMN,
    sourceoptions.ID_COLUMN,
    *sourceoptions.PAGES,
    sourceoptions.MAX_RECORD,
    sourceoptions.STRICT,
)
_RULE = options.section(
    "Deciding",
    options.spec(
        "--threshold",
        type=float,
        metavar="NUMBER",
        help="Share of a text's shingles that one window of a document must have.",
        stands="0.8",
    ),
    options.spec("--shingle-size", type=int, metavar="N", help="Words in a row that are compared.", stands="5"),
    options.spec(
        "--window", type=float, metavar="TIMES", help="Length of a window, in lengths of the text.", stands="2"
    ),
    options.spec(
        "--boilerplate",
        type=int,
        metavar="N",
        help="A shingle in more texts of a benchmark counts for none.",
        stands="10",
    ),
    options.spec(
        "--least-bytes",
        type=int,
        metavar="N",
        help="Look for texts whose different words have together at least N bytes.",
        stands="32",
    ),
    options.spec(
        "--max-leaked",
        type=click.IntRange(0),
        metavar="N",
        help="Exit with 4 if more items leaked, as in 0.",
        stands="none",
    ),
)


@click.command(cls=options.Command, short_help="Find the items of benchmarks that stand in training data.")
@click.argument("sources", cls=options.Argument, nargs=-1, required=True, metavar="TRAIN...", reads=True)
@_EVALS
@_RULE
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="DIR",
        writes=options.BY_NAME,
        help="The folder to write; or by its ending one file, or - for JSON lines: of spans, with --remove of TRAIN.",
        stands="none",
    ),
    options.spec(
        "--remove",
        type=options.words(LeakRemoval),
        default="none",
        metavar="WHAT",
        help="Write the training data, too (as a folder, in kept/), without the documents or the spans in which an item"
        " was found; as one file or to -, only these.",
        stands="none",
    ),
    options.spec(
        "--markdown",
        metavar="FILE",
        writes=options.FILE,
        help="A summary for a model card.",
        stands="none",
    ),
    options.spec(
        "--report",
        metavar="FILE",
        writes=options.FILE,
        help="A page, .html: items with both passages side by side.",
        stands="none",
    ),
    options.spec(
        "--report-without-texts", is_flag=True, help="No text of an item or document in it.", stands="both passages"
    ),
    options.overwriting("DIR and FILE", "if they exist."),
    options.in_json("Counts and leaked items"),
)
@options.running
@options.scanning_engine
def leaks(**given: Any) -> int:
    """Find the items of benchmarks that stand anywhere inside the documents of training data.

    TRAIN is as SOURCE in `nearsame dedup`. Each --eval is one benchmark; its records are items, whose texts (question,
    choices, answer) are looked for each by itself, whatever the case, punctuation, markup and line breaks. What is
    found is in the words of the document, at the threshold. Defaults stand in brackets.

    DIR appears complete or not at all, with items (the leaked ones), spans (where, with both passages), matrix
    (benchmark by source), unsought (texts that are too short or say too little), boilerplate, and stats.json; with
    --remove spans also cuts: what was cut out of the texts, in which nothing is left to be found.
    """
    _check(given)
    check(given)
    from nearsame.outputs import console
    from nearsame.studies.leaks import LeakOptions
    from nearsame.studies.leaks import leaks as find

    chosen = {name: value for name, value in options.given_options(given, LeakOptions).items()
              if value is not None and name != "engine"}  # fmt: skip
    writes = given["remove"] != "none"
    with running_on(given) as engine, console.watched(quiet=given["quiet"], writes=writes) as progress:
        chosen |= {name: value for name, value in engine.items() if value is not None}
        found = find(given["sources"], given["evals"], progress=progress, **chosen)
        stats = found.stats if given["output"] == "-" else _written(found, given)
    if given["output"] == "-":  # now that no line of progress comes between
        stats = _written(found, given)
    _show(found, {**found.record(), "stats": stats.record()}, given)
    most, leaked = given["max_leaked"], found.stats.leaked
    if most is not None and leaked > most:
        what = "1 item" if leaked == 1 else f"{leaked:,} items"
        return refused(f"{what} leaked, more than --max-leaked {most:,}")
    unsought = [counts.name for counts in found.stats.benchmarks if not counts.sought]
    if most is not None and unsought:
        return refused(f"--max-leaked: no item of {', '.join(unsought)} could be looked for")
    return ended(found.stats.skipped, found.skipped, given, read=found.stats.documents)


def _written(found: Any, given: dict[str, Any]) -> Any:
    """Write what is asked for; the counts, with those of what was removed."""
    stats, overwrite = found.stats, given["overwrite"]
    if given["output"] is not None:
        stats = found.write(given["output"], remove=given["remove"], overwrite=overwrite)
    if given["markdown"] is not None:
        found.write_markdown(given["markdown"], overwrite=overwrite)
    if given["report"] is not None:
        found.write_report(given["report"], texts=not given["report_without_texts"], overwrite=overwrite)
    return stats


def _show(found: Any, record: dict[str, Any], given: dict[str, Any]) -> None:
    """Print spans, the record or a summary."""
    from nearsame.outputs import console
    from nearsame.outputs.destinations import meaning
    from nearsame.outputs.leaks import show_leaks

    place = given["output"]
    if given["as_json"]:
        console.print_json(record)
    elif not given["quiet"]:
        report = console.Report(sys.stderr if place == "-" else sys.stdout)
        show_leaks(report, record, found.skipped, found.passed_over)
        for file in (place, given["markdown"], given["report"]):
            if file not in (None, "-"):
                report.written(file, folder=file == place and meaning(file).is_folder)


def _check(given: dict[str, Any]) -> None:
    if given["report"] is not None:
        from nearsame.outputs.destinations import by_ending
        from nearsame.outputs.html import require_templates

        by_ending(given["report"], {".html": None})
        require_templates()
    elif given["report_without_texts"]:
        raise ConfigError("--report-without-texts does nothing without --report", hint="Add --report FILE.html.")
    if given["output"] is None:
        if given["remove"] != "none":
            raise ConfigError(f"--remove {given['remove']} does nothing without -o", hint="Add -o DIR.")
        if given["overwrite"] and given["markdown"] is None and given["report"] is None:
            raise ConfigError("--overwrite does nothing without -o, --markdown or --report", hint="Leave it out.")
        return
    from nearsame.outputs.destinations import meaning, require_folder

    if given["output"] == "-" and given["as_json"]:
        raise ConfigError("--json and -o -: both want standard output", hint="Leave one out.")
    if given["output"] == "-" and given["overwrite"] and given["markdown"] is None and given["report"] is None:
        raise ConfigError("--overwrite does nothing with -o -", hint="Leave it out.")
    meaning(given["output"])
    if given["remove"] != "none" and given["engine"] != "local":
        require_folder(given["output"], f"--remove {given['remove']} on Spark")
    if given["remove"] == "spans" and given["engine"] == "local":
        _check_spans(given)


def _check_spans(given: dict[str, Any]) -> None:
    """Refuse before a long run what could not be cut after it."""
    from nearsame.sources import Columns, Wanted, open_parts
    from nearsame.sources.cutting import require_cuttable

    files = [source for source in given["sources"] if source != "-"]
    wanted = Wanted.of(given["include"], given["exclude"], given["read_as"]) if files else Wanted()
    require_cuttable(open_parts(files or [[""]], columns=Columns(), wanted=wanted), Columns(html=given["html_column"]))
