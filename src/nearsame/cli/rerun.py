"""`nearsame rerun`: the run that an output records, once more."""

import sys
from typing import Any

import click

from nearsame.cli import options
from nearsame.cli.outcome import outcome

__all__ = ["rerun"]


@click.command(cls=options.Command, short_help="Run again what an output records, on its sources or on others.")
@click.argument("directory", cls=options.Argument, metavar="DIR", reads=True)
@click.argument("sources", cls=options.Argument, nargs=-1, metavar="[SOURCE...]", reads=True)
@options.section(
    "Sources",
    options.spec(
        "--against",
        multiple=True,
        metavar="SOURCE",
        reads=True,
        help="In place of the documents that DIR was compared with. Repeatable.",
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
        help="As of dedup: a folder, one file, or - for JSON lines.",
    ),
    options.overwriting("PLACE"),
    options.in_json("Statistics"),
)
@options.room
@options.running
def rerun(**given: Any) -> int:
    """Run again what DIR, a folder that `nearsame dedup -o DIR` wrote, records of its call.

    All that can change the answer is taken from there: method, --keep, --against, --group-by, layers, columns, files
    chosen, encodings, and how it was written (--pairs, --annotate, --copy and so on). SOURCE takes the
    place of its sources, as a new day's crawl does; without one they are read again as they are now. On the same
    sources the same is written, but for times. Defaults stand in brackets.
    """
    from nearsame.outputs import console
    from nearsame.outputs.destinations import meaning
    from nearsame.reruns import recorded
    from nearsame.reruns import rerun as run_again

    place, record = given["output"], recorded(given["directory"])
    with console.watched(quiet=given["quiet"]) as progress:
        found = run_again(
            given["directory"],
            given["sources"] or None,
            against=given["against"] or None,
            progress=progress,
            **{name: given[name] for name in ("threads", "memory", "workdir")},
        )
        stats = found.write(place, overwrite=given["overwrite"], **record.written) if place != "-" else found.stats
    if place == "-":
        stats = found.write(place, **record.written)  # now that no line of progress comes between
    if given["as_json"]:
        console.print_json(stats.record())
    elif not given["quiet"]:
        report = console.Report(sys.stderr if place == "-" else sys.stdout)
        report.summary(stats, found.skipped, found.passed_over)
        if place != "-":
            report.written(place, folder=meaning(place).is_folder)
    return outcome(found, given)
