"""`nearsame report`: a page of a finished run; and what `--report` of a run does."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from nearsame.cli import options
from nearsame.errors import ConfigError

__all__ = ["report", "reported", "require_reportable"]


@click.command(cls=options.Command, short_help="A page of what dedup -o has written, to be looked at.")
@click.argument("directory", cls=options.Argument, metavar="DIR", reads=True)
@options.output(
    options.spec(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        writes=options.FILE,
        help="The page, .html; or .json, all that it says as data.",
    ),
    options.overwriting("FILE"),
    options.spec(
        "--against",
        "older",
        metavar="OLDER",
        reads=True,
        help="DIR of an older run: what it decided otherwise, and why, is shown, too.",
        stands="none",
    ),
    options.spec("--without-texts", is_flag=True, help="No text of a document in it.", stands="some, side by side"),
)
@options.section("Running", options.spec("-q", "--quiet", is_flag=True, help="Print nothing.", stands="where it is"))
@options.running_plainly
def report(directory: str, **given: Any) -> int:
    """Make a page of a finished run: what was found, how sure it is, and the pairs side by side.

    DIR is what `nearsame dedup -o DIR` wrote. The page is one file that asks nothing of any network: it can be mailed,
    and opened from disk. Texts come from the sources of the run, where these are as they were; what the page has no
    room for stands in the tables of DIR. `nearsame dedup --report` makes the same page with a threshold to move, since
    it can decide again. Defaults stand in brackets.
    """
    from nearsame.outputs.console import Report
    from nearsame.outputs.reports import require_report, write_report
    from nearsame.studies.report import report as made

    output = given["output"]
    require_report(output)
    page = made(directory, texts=not given["without_texts"], against=given["older"])
    write_report(page, output, overwrite=given["overwrite"])
    if not given["quiet"]:
        Report(sys.stdout).written(output)
    return 0


def require_reportable(given: Mapping[str, Any]) -> None:
    """Refuse before a run a report that could not be made after it."""
    if given["report"] is None:
        if given["report_without_texts"]:
            raise ConfigError("--report-without-texts does nothing without --report", hint="Add --report FILE.html.")
        if given.get("report_against"):
            raise ConfigError("--report-against does nothing without --report", hint="Add --report FILE.html.")
        return
    if given["engine"] == "spark":
        message = "--report and --engine spark: a report is made on one machine"
        raise ConfigError(message, hint="Leave one of them out.")
    from nearsame.outputs.folder import require_place
    from nearsame.outputs.reports import pairs_beside, require_report

    require_report(given["report"])
    if _data(given) is None and os.path.lexists(beside := pairs_beside(given["report"])):
        read, against = given["sources"], given["against"] or ()
        require_place(beside, read, against=against, folder=False, overwrite=given["overwrite"])


def reported(found: Any, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Write the report of a run where one was asked for; the places that were written."""
    place: str | None = given["report"]
    if place is None:
        return ()
    from nearsame.outputs.reports import data_beside, write_report
    from nearsame.studies.report import report as made

    page = made(found, texts=not given["report_without_texts"], against=given.get("report_against"))
    page = replace(page, data=_data(given) or "")
    write_report(page, place, overwrite=given["overwrite"])
    beside = data_beside(page, place)
    return (place,) if beside is None else (place, beside)


def _data(given: Mapping[str, Any]) -> str | None:
    """The file of all pairs that the run writes, if it does."""
    from nearsame.outputs.destinations import meaning

    place: str | None = given["output"]
    if place in (None, "-") or given.get("dry_run"):
        return None
    if "max_pairs" in given:
        return place
    return f"{place.rstrip('/')}/removed.parquet" if meaning(place).is_folder else None
