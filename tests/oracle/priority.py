"""Which of two documents is more worth keeping: a total order of the rows, the best first.

1. The `against` side (the first `num_against` rows) comes before everything.
2. A document without a value comes after all that have one.
3. Ties go by what comes next in the list, at last by the order of reading; for `last`, backwards.
"""

from collections.abc import Sequence
from typing import Any

__all__ = ["order"]


def order(num_rows: int, keep: str, values: Sequence[Any] | None = None, num_against: int = 0) -> list[int]:
    """The rows from the most to the least worth keeping.

    `values` are the texts for longest and shortest, the column's values for newest:COLUMN and its like; where `keep` is
    a list of several, a list of these.
    """
    words = [policy.partition(":")[0] for policy in keep.split(", ")]
    rows = list(range(num_rows))
    if words[-1] == "last":
        rows.reverse()
    columns = [values] if len(words) == 1 else values or []
    for word, column in reversed(list(zip(words, columns, strict=True))):
        if word in {"longest", "shortest"}:
            column = [None if text is None else len(text.encode()) for text in column or []]  # noqa: PLW2901
        if word not in {"first", "last"}:
            rows = _by_value(rows, column or [], is_descending=word in {"longest", "newest", "max"})
    return [row for row in rows if row < num_against] + [row for row in rows if row >= num_against]


def _by_value(rows: list[int], values: Sequence[Any], *, is_descending: bool) -> list[int]:
    known = [row for row in rows if values[row] is not None]
    unknown = [row for row in rows if values[row] is None]
    # Python's sort is stable, also in reverse: equal values stay in the order of reading.
    return sorted(known, key=lambda row: values[row], reverse=is_descending) + unknown
