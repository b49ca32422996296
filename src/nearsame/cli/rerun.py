"""`nearsame rerun`: the run that an output records, once more."""

import sys
from typing import Any

import click

from nearsame.cli import options
from nearsame.cli.engine import check, running_on
from nearsame.cli.outcome import ended, outcome
from nearsame.errors import ConfigError

__all__ = ["rerun"]


@click.command(cls=options.Command, short_help="Run again what an output records, on its sources or on others.")
@click.argument("directory", cls=options.Argument, metavar="OUTPUT", reads=True)
@click.argument("sources", cls=options.Argument, nargs=-1, metavar="[SOURCE...]", reads=True)
@options.section(
    "Sources",
    options.spec(
        "--against",
        multiple=True,
        metavar="SOURCE",
        reads=True,
        help="In place of the documents that OUTPUT was compared with, or of the benchmarks. Repeatable.",
        stands="the same",
    ),
)
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="PLACE",
        required=True,
        writes=options.BY_NAME,
        help="As of the command that wrote OUTPUT: a folder, one file, or - for JSON lines.",
    ),
    options.overwriting("PLACE"),
    options.in_json("Statistics"),
)
@options.room
@options.running
@options.engine
def rerun(**given: Any) -> int:
    """Run again what OUTPUT, which `nearsame dedup`, `pairs`, `leaks` or `mirrors` wrote, records of its call.

    OUTPUT is a folder, or one file of .parquet or .arrow, whose metadata say it; .jsonl and .csv have no place for
    that. All that can change the answer is taken from there: method, --keep, --against, --group-by, layers, columns,
    files chosen, encodings, and how it was written (--pairs, --annotate, --remove and so on). SOURCE takes the
    place of its sources, as a new day's crawl does; without one they are read again as they are now. On the same
    sources the same is written, but for times. Defaults stand in brackets.
    """
    check(given)
    from nearsame.outputs import console
    from nearsame.reruns import recorded
    from nearsame.reruns import rerun as run_again

    place, record = given["output"], recorded(given["directory"])
    if place == "-" and record.command == "mirrors":
        raise ConfigError("mirrors are written to a folder", hint="Name one with -o.")
    listing = record.command == "pairs"
    with (
        running_on(given, listing=listing) as engine,
        console.watched(quiet=given["quiet"], writes=True) as progress,
    ):
        watching: dict[str, Any] = {"progress": progress} if record.compares else {}
        found: Any = run_again(
            given["directory"], given["sources"] or None, against=given["against"] or None, **watching, **engine
        )
        written = None if place == "-" else found.write(place, overwrite=given["overwrite"], **record.written)
    if place == "-":
        _print(found, record)
    _show(found, written, given)
    if record.command in ("dedup", "pairs"):
        return outcome(found, given)
    number = found.stats.unread if record.command == "mirrors" else found.stats.skipped
    return ended(number, found.skipped, given)


def _print(found: Any, record: Any) -> None:
    """JSON lines, now that no line of progress comes between."""
    from nearsame.outputs.lists import json_lines

    if record.command == "pairs":
        json_lines(found.table, sys.stdout.buffer)
    else:
        found.write("-", **record.written)


def _show(found: Any, written: Any, given: dict[str, Any]) -> None:
    """Print statistics or a summary, as the command that made it does."""
    from nearsame.api import Pairs, Result
    from nearsame.outputs import console
    from nearsame.outputs.destinations import meaning
    from nearsame.outputs.leaks import show_leaks
    from nearsame.outputs.mirrors import show_mirrors
    from nearsame.studies.leak_results import Leaks

    place, stats = given["output"], written or found.stats
    if given["as_json"]:
        console.print_json(stats.record())
        return
    if given["quiet"]:
        return
    report = console.Report(sys.stderr if place == "-" else sys.stdout)
    match found:
        case Result():
            report.summary(stats, found.skipped, found.passed_over)
        case Pairs():
            report.pairs(stats, found.num_pairs, found.skipped, found.passed_over)
        case Leaks():
            show_leaks(report, {**found.record(), "stats": stats.record()}, found.skipped, found.passed_over)
        case _:
            show_mirrors(report, found.record(), found.skipped)
    if place != "-":
        report.written(place, folder=meaning(place).is_folder)
