"""A walk through a method as people read it: one table after the other, 80 columns wide, or in Markdown.

Of a long table the first rows are shown, and how many more there are.
"""

import re
from collections.abc import Iterator

from rich.table import Table

from nearsame.answers.comparisons import Explanation, Step
from nearsame.named import NamedTuple
from nearsame.outputs.report_page import ReportPage
from nearsame.printable import printable

__all__ = ["Shown", "markdown", "report", "shown"]

_ROWS = 20
_LONGEST = 300  # characters of a cell, unless everything is asked for


class Shown(NamedTuple):
    """What is shown of a step: cells as texts, which columns have whole numbers only, and what is left out."""

    step: Step
    cells: list[list[str]]
    are_numbers: list[bool]
    more: str


def shown(walk: Explanation, *, everything: bool) -> Iterator[Shown]:
    """The steps, of long tables the first rows."""
    for step in walk.steps:
        rows = step.rows if everything else step.rows[:_ROWS]
        columns = range(len(step.columns))
        are_numbers = [all(isinstance(row[at], int) or row[at] == "" for row in rows) for at in columns]
        left = len(step.rows) - len(rows)
        more = f"... and {left:,} more: --all shows them." if left else ""
        cells = [[_cell(value, None if everything else _LONGEST) for value in row] for row in rows]
        yield Shown(step, cells, are_numbers, more)


def report(out: ReportPage, walk: Explanation, *, everything: bool = False) -> None:
    """Print the steps by number, each with its note and rows."""
    for number, (step, cells, are_numbers, more) in enumerate(shown(walk, everything=everything), 1):
        if number > 1:
            out.line()
        out.line(f"{number}. {step.title}", style="bold")
        if step.note:
            out.line(step.note)
        if cells:
            out.line()
            out.show(_table(step, cells, are_numbers))
        if more:
            out.line(more)


def markdown(walk: Explanation, *, everything: bool = False) -> str:
    r"""The same as Markdown: nothing in a document is taken for a mark of it.

    >>> print(markdown(Explanation("simhash", (Step("A step", ("#", "word"), ((1, "a|b"),), "A note."),))), end="")
    ### 1. A step
    <BLANKLINE>
    A note.
    <BLANKLINE>
    | # | word |
    | ---: | --- |
    | 1 | a\|b |
    """
    blocks = []
    for number, (step, cells, are_numbers, more) in enumerate(shown(walk, everything=everything), 1):
        blocks.append(f"### {number}. {_plain(step.title)}")
        if step.note:
            blocks.append(_plain(step.note))
        if cells:
            marks = ["---:" if is_number else "---" for is_number in are_numbers]
            lines = [map(_plain, step.columns), marks, *(map(_plain, row) for row in cells)]
            blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        if more:
            blocks.append(_plain(more))
    return "\n\n".join(blocks) + "\n"


def _table(step: Step, cells: list[list[str]], are_numbers: list[bool]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for name, is_number in zip(step.columns, are_numbers, strict=True):
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in cells:
        table.add_row(*row)
    return table


def _cell(value: str | int, longest: int | None) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    is_cut = longest is not None and len(value) > longest
    return f"{_quoted(value[:longest])}... ({len(value):,} characters)" if is_cut else _quoted(value)


def _plain(text: str) -> str:
    """A text in Markdown, whose punctuation stays what it is."""
    return re.sub(r"([\\`*_\[\]<>|~&$])", r"\\\1", text)


def _quoted(text: str) -> str:
    """A text made harmless; one that begins or ends with a space in quotes."""
    shown = printable(text)
    return shown if text == text.strip() else f'"{shown}"'
