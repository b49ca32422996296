"""A walk through a method as people read it: one table after the other, 80 columns wide, or in Markdown.

Of a long table the first rows are shown, and how many more there are.
"""

import re

from rich.table import Table

from nearsame.answers.comparisons import Explanation, Step
from nearsame.outputs.report_page import ReportPage
from nearsame.printable import printable

__all__ = ["markdown", "report"]

_ROWS = 20
_LONGEST = 1_000_000  # characters of a cell
_Rows = tuple[tuple[str | int, ...], ...]


def report(out: ReportPage, walk: Explanation, *, everything: bool = False) -> None:
    """Print the steps by number, each with its note and rows."""
    for number, step in enumerate(walk.steps, 1):
        if number > 1:
            out.line()
        out.line(f"{number}. {step.title}", style="bold")
        if step.note:
            out.line(step.note)
        shown = step.rows if everything else step.rows[:_ROWS]
        if shown:
            out.line()
            out.show(_table(step, shown))
        if len(shown) < len(step.rows):
            out.line(_more(step, shown))


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
    for number, step in enumerate(walk.steps, 1):
        blocks.append(f"### {number}. {_plain(step.title)}")
        if step.note:
            blocks.append(_plain(step.note))
        shown = step.rows if everything else step.rows[:_ROWS]
        if shown:
            marks = ["---:" if _is_number(shown, at) else "---" for at in range(len(step.columns))]
            lines = [map(_plain, step.columns), marks, *(map(_plain, map(_cell, row)) for row in shown)]
            blocks.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
        if len(shown) < len(step.rows):
            blocks.append(_plain(_more(step, shown)))
    return "\n\n".join(blocks) + "\n"


def _table(step: Step, rows: _Rows) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for at, name in enumerate(step.columns):
        table.add_column(name, justify="right" if _is_number(rows, at) else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def _more(step: Step, shown: _Rows) -> str:
    return f"... and {len(step.rows) - len(shown):,} more: --all shows them."


def _is_number(rows: _Rows, at: int) -> bool:
    """Whether a column has whole numbers only, or nothing."""
    return all(isinstance(row[at], int) or row[at] == "" for row in rows)


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else _quoted(value)


def _plain(text: str) -> str:
    """A text in Markdown, whose punctuation stays what it is."""
    return re.sub(r"([\\`*_\[\]<>|~&$])", r"\\\1", text)


def _quoted(text: str) -> str:
    """A text made harmless; one that begins or ends with a space in quotes."""
    shown = printable(text[:_LONGEST])
    return shown if text == text.strip() else f'"{shown}"'
