"""A walk through a method as people read it: one table after the other, 80 columns wide.

Of a long table the first rows are shown, and how many more there are.
"""

from rich.table import Table

from nearsame.answers.comparisons import Explanation, Step
from nearsame.outputs.report_page import ReportPage
from nearsame.printable import printable

__all__ = ["report"]

_ROWS = 20
_LONGEST = 1_000_000  # characters of a cell


def report(out: ReportPage, walk: Explanation, *, everything: bool = False) -> None:
    """Print the steps by number, each with its note and rows."""
    for number, step in enumerate(walk.steps, 1):
        if number > 1:
            out.line()
        out.line(f"{number}. {step.title}", style="bold")
        if step.note:
            out.line(step.note)
        if step.rows:
            out.line()
            out.show(_table(step, len(step.rows) if everything else _ROWS))
        if not everything and len(step.rows) > _ROWS:
            out.line(f"... and {len(step.rows) - _ROWS:,} more: --all shows them.")


def _table(step: Step, most: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, pad_edge=False)
    for at, name in enumerate(step.columns):
        numbers = all(isinstance(row[at], int) or row[at] == "" for row in step.rows[:most])
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in step.rows[:most]:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else _quoted(value) for value in row))
    return table


def _quoted(text: str) -> str:
    """A text made harmless; one that begins or ends with a space in quotes."""
    shown = printable(text[:_LONGEST])
    return shown if text == text.strip() else f'"{shown}"'
