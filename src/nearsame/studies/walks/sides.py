"""What walks are made of: tables of one document or of two beside each other, and the verdict of two.

1. A walk makes its steps for each document; here those of two become one table, so that what differs stands in a row.
2. A decision is that of the kernel by which a run verifies a pair.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.comparisons import Explanation, Step
from nearsame.errors import ConfigError
from nearsame.kernels.deciding import verify_pairs
from nearsame.kernels.scores import Bound
from nearsame.recipes.methods import Recipe

__all__ = [
    "Given",
    "beside",
    "explained",
    "hexed",
    "one_above_the_other",
    "only_texts",
    "shown_fraction",
    "verified",
]

Given = str | Sequence[float]  # a text; or numbers: a vector, or hashes as they are
_SIDES = ("a", "b")
_Cell = str | int


def beside(steps: Sequence[Step], by: Sequence[str], without: Sequence[str] = ()) -> Step:
    """One table: the columns of `by` say what a row is about, all others come once for each document.

    Args:
        steps: The same step of each document.
        by: Columns in which a row of one document and its fellow of the other agree.
        without: Columns that are left out where there are two.
    """
    if len(steps) == 1:
        return steps[0]
    columns = steps[0].columns
    keys = [columns.index(name) for name in by]
    rest = [at for at, name in enumerate(columns) if name not in by and name not in without]
    table: dict[tuple[_Cell, ...], list[tuple[_Cell, ...]]] = {}
    for side, step in enumerate(steps):
        for row in step.rows:
            cells = table.setdefault(tuple(row[at] for at in keys), [("",) * len(rest)] * len(steps))
            cells[side] = tuple(row[at] for at in rest)
    headings = (*by, *(f"{columns[at]} {side}" for at in rest for side in _SIDES))
    rows = ((*key, *(cell for pair in zip(*cells, strict=True) for cell in pair)) for key, cells in table.items())
    return Step(steps[0].title, headings, tuple(rows), _notes(steps))


def one_above_the_other(steps: Sequence[Step]) -> Step:
    """One table: each row of one document above its fellow of the other, for rows that are too wide to stand beside."""
    if len(steps) == 1:
        return steps[0]
    longest = max(len(step.rows) for step in steps)
    rows = [
        (step.rows[at][0], side, *step.rows[at][1:])
        for at in range(longest)
        for side, step in zip(_SIDES, steps, strict=True)
        if at < len(step.rows)
    ]
    first, *others = steps[0].columns
    return Step(steps[0].title, (first, "of", *others), tuple(rows), _notes(steps))


def explained(
    recipe: Recipe, steps: Sequence[Step], answers: Sequence[dict[str, Any]], together: dict[str, Any] | None = None
) -> Explanation:
    """The walk with its answer: of one document, or of each of two and of both."""
    answer = answers[0] if len(answers) == 1 else {**dict(zip(_SIDES, answers, strict=True)), "together": together}
    return Explanation(recipe.name, tuple(steps), answer, recipe.record())


def verified(batch: pa.RecordBatch, bound: Bound) -> bool:
    """Whether the first two documents are similar, by the kernel of a run; what has no items resembles nothing."""
    columns = [arrow.lists(batch.column(name)) for name in schemas.COMPARED if name in batch.schema.names]
    if not columns[0].sizes.all():
        return False
    values = [lists.items[lists.starts[0] : lists.ends[-1]] for lists in columns]
    offsets = np.cumsum(np.concatenate([[0], *(lists.sizes for lists in columns)]))
    nums, dens = np.empty(1, np.int64), np.empty(1, np.int64)
    first, second = (arrow.frozen(np.array([row])) for row in (0, 1))
    verify_pairs(first, second, arrow.frozen(np.concatenate(values)), arrow.frozen(offsets), bound, nums, dens)
    return bool(nums[0] >= 0)


def only_texts(given: Sequence[Given], recipe: Recipe) -> list[str]:
    """The documents, all of them texts.

    Raises:
        ConfigError: One of them is a list of numbers.
    """
    texts = [text for text in given if isinstance(text, str)]
    if len(texts) < len(given):
        raise ConfigError(f"method={recipe.name} takes texts, not lists of numbers", hint="Give a text.")
    return texts


def shown_fraction(value: Fraction) -> str:
    """A ratio as it was counted, and as a number that is cut, not rounded.

    >>> shown_fraction(Fraction(2, 3))
    '2/3 = 0.6666...'
    """
    cut = Fraction(int(value * 10_000), 10_000)
    number = f"{float(cut):.4f}".rstrip("0").rstrip(".")
    if value.denominator == 1:
        return number
    return f"{value} = {number}{'' if cut == value else '...'}"


def hexed(value: int) -> str:
    """64 bits as they are shown."""
    return f"{value:016x}"


def _notes(steps: Sequence[Step]) -> str:
    notes = [step.note for step in steps]
    if len(set(notes)) == 1:
        return notes[0]
    return " ".join(f"{side}: {note}" for side, note in zip(_SIDES, notes, strict=True) if note)
