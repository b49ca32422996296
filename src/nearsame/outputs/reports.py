"""What was found as a file for people or programs, by its name; it appears complete or not at all."""

import dataclasses
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nearsame.answers.comparisons import Explanation
from nearsame.answers.findings import Evaluation, Plan, SimHashPlan
from nearsame.answers.labels import ToLabel
from nearsame.answers.reports import RunReport
from nearsame.errors import OutputError
from nearsame.files.inputs import Inputs
from nearsame.outputs import evaluations, html
from nearsame.outputs.destinations import by_ending
from nearsame.outputs.folder import appearing, require_place, write_table
from nearsame.outputs.small_pages import SmallPage, of_plan, small_page
from nearsame.printable import fits_a_line
from nearsame.recipes.arguments import checked

__all__ = [
    "data_beside",
    "pairs_beside",
    "require_format",
    "require_report",
    "write_evaluation",
    "write_explanation",
    "write_report",
    "write_small",
    "write_to_label",
]


@checked
def write_evaluation(evaluation: Evaluation, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write an evaluation as Markdown, JSON or HTML, by the name of the file.

    Args:
        evaluation: What `evaluate` gave.
        path: A .md, .json or .html file.
        overwrite: Whether a file that exists is replaced.

    Raises:
        OutputError: The name says no such format, the file exists, or it cannot be written.
        MissingExtraError: HTML needs the extra `report`.
    """
    require_format(path)
    place = require_place(path, evaluation.inputs, folder=False, overwrite=overwrite)
    written = _format(path)(evaluation)
    with appearing(place) as made:
        made.write_text(written, "utf-8", "backslashreplace")


@checked
def write_to_label(found: ToLabel, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write pairs to label as a tab-separated file with a line of names, which `evaluate` reads as a truth.

    Args:
        found: What `to_label` gave.
        path: A .tsv file.
        overwrite: Whether a file that exists is replaced.

    Raises:
        OutputError: The name is another, the file exists, or it cannot be written.
    """
    by_ending(os.fspath(path), {".tsv": None})
    place = require_place(path, found.inputs, folder=False, overwrite=overwrite)
    rows = list(zip(*(column.to_pylist() for column in found.table.columns), strict=True))
    for name in (name for row in rows for name in row[:2]):
        if not fits_a_line(name):
            what = "is empty, or has a tab, a line break or a blank at an end"
            message = f"the id {name!r} {what}, which {os.fspath(path)} cannot hold"
            raise OutputError(message, hint="Choose another column of ids with id_column (--id-column).")
    lines = [
        found.table.column_names,
        *([f"{cell:g}" if isinstance(cell, float) else cell for cell in row] for row in rows),
    ]
    with appearing(place) as made:
        made.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")


@checked
def write_explanation(
    walk: Explanation, path: str | os.PathLike[str], *, overwrite: bool = False, everything: bool = False
) -> None:
    """Write a walk as a page with its pictures.

    Args:
        walk: What `explain` and its like gave.
        path: A .html file.
        overwrite: Whether a file that exists is replaced.
        everything: Whether long tables are shown as a whole.

    Raises:
        OutputError: The name says no such format, the file exists, or it cannot be written.
        MissingExtraError: HTML needs the extra `report`.
    """
    by_ending(os.fspath(path), {".html": None})
    page = html.explanation_page(walk, everything=everything)
    with appearing(require_place(path, folder=False, overwrite=overwrite)) as made:
        made.write_text(page, "utf-8")


def require_format(path: str | os.PathLike[str]) -> None:
    """See that a file of this name can be made: asked before anything is run.

    Raises:
        OutputError: The name says no such format.
        MissingExtraError: HTML needs the extra `report`.
    """
    if _format(path) is html.evaluation_page:
        html.require()


@checked
def write_report(
    report: RunReport | Plan | SimHashPlan, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write the report of a run, or a plan, as a page, or as JSON, by the name of the file.

    Where the report of a run has no room for all its pairs, and no folder has them, they are written beside it:
    page.html.pairs.parquet.

    Args:
        report: What `report`, `plan` or `plan_simhash` gave.
        path: A .html or .json file.
        overwrite: Whether a file that exists is replaced.

    Raises:
        OutputError: The name says no such format, the file exists, or it cannot be written.
        MissingExtraError: HTML needs the extra `report`.
    """
    if not isinstance(report, RunReport):
        write_small(of_plan(report), path, overwrite=overwrite)
        return
    make = by_ending(os.fspath(path), _REPORTS)
    place, beside = require_place(path, report.inputs, folder=False, overwrite=overwrite), data_beside(report, path)
    if beside is not None:
        report = dataclasses.replace(report, data=Path(beside).name)
    written = make(report)
    if beside is not None:
        with appearing(require_place(beside, report.inputs, folder=False, overwrite=overwrite)) as made:
            write_table(report.table, made)
    with appearing(place) as made:
        made.write_text(written, "utf-8", "backslashreplace")


def data_beside(report: RunReport, path: str | os.PathLike[str]) -> str | None:
    """The file of all pairs that is written with a report which has no room for them, and names no other."""
    return pairs_beside(path) if report.leaves_out and not report.data else None


def pairs_beside(path: str | os.PathLike[str]) -> str:
    """What such a file is called.

    >>> pairs_beside("out/page.html")
    'out/page.html.pairs.parquet'
    """
    return f"{os.fspath(path)}.pairs.parquet"


def write_small(
    page: SmallPage, path: str | os.PathLike[str], inputs: Inputs | None = None, *, overwrite: bool = False
) -> None:
    """Write a page of tables, or what it says as JSON, by the name of the file.

    Raises:
        OutputError: The name says no such format, the file exists, or it cannot be written.
        MissingExtraError: HTML needs the extra `report`.
    """
    is_page = by_ending(os.fspath(path), {".html": True, ".json": False})
    place = require_place(path, inputs or Inputs(), folder=False, overwrite=overwrite)
    written = small_page(page) if is_page else _dumped(page.record)
    with appearing(place) as made:
        made.write_text(written, "utf-8", "backslashreplace")


def require_report(path: str | os.PathLike[str]) -> None:
    """See that a report of this name can be made: asked before anything is run.

    Raises:
        OutputError: The name says no such format.
        MissingExtraError: HTML needs the extra `report`.
    """
    if by_ending(os.fspath(path), _REPORTS) is html.report_page:
        html.require_templates()


def _format(path: str | os.PathLike[str]) -> Callable[[Evaluation], str]:
    return by_ending(os.fspath(path), _FORMATS)


def _json(answer: Evaluation) -> str:
    return _dumped(answer.record())


def _json_in_rows(report: RunReport) -> str:
    """One line for each pair, document, text: with one for each of their fields it would be twice as large."""
    values = ((json.dumps(name), value) for name, value in report.record().items())
    return "{\n" + ",\n".join(f"{name}: {_rows(value)}" for name, value in values) + "\n}\n"


def _rows(value: Any) -> str:
    many = isinstance(value, list | tuple) and value
    lines = [json.dumps(one, ensure_ascii=False) for one in (value if many else [value])]
    return "[\n" + ",\n".join(lines) + "\n]" if many else lines[0]


def _dumped(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


_FORMATS: dict[str, Callable[[Evaluation], str]] = {
    ".md": evaluations.markdown,
    ".json": _json,
    ".html": html.evaluation_page,
}
_REPORTS: dict[str, Callable[[RunReport], str]] = {".html": html.report_page, ".json": _json_in_rows}
