"""Documents of an index that may be damaged: those that are whole, one part after the other, and what was left out.

1. A part that cannot be read is halved until it is clear which numbers it is about.
2. Numbers that nobody has are not damage. How many documents are missing altogether is reported at the end.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from nearsame.errors import StoreDamagedError
from nearsame.stores.base import Reader, Row

__all__ = ["whole_rows"]

_FIRST, _LEAST, _MOST = 1000, 250, 1 << 20  # numbers at once; documents, below which more numbers are tried

Tell = Callable[[str], None]


def whole_rows(reader: Reader, tell: Tell) -> Iterator[list[Row]]:
    """The documents that are whole, with their texts, by number.

    Args:
        reader: Of the store.
        tell: Is given, in words, what is wrong with those that are not.

    Raises:
        StoreDamagedError: Not even how far the numbers go can be read.
    """
    expected, last = _extent(reader, tell)
    first, step, seen = 1, _FIRST, 0
    while first <= last:
        until = min(last, first + step - 1)
        rows, broken, unreadable = _salvaged(reader, first, until)
        for number in broken:
            tell(f"document {number} is not what was written")
        for start, end, why in _runs(unreadable):
            tell(f"document{f's {start} to' if end > start else ''} {end} cannot be read: {why}")
        seen += len(rows) + len(broken) + len(unreadable)
        first = until + 1
        step = min(2 * step, _MOST) if len(rows) < _LEAST else max(step // 2, _FIRST) if len(rows) > _FIRST else step
        if rows:
            yield rows
    if expected is not None and seen < expected:
        tell(f"{expected - seen:,} of {expected:,} documents are missing")


def _extent(reader: Reader, tell: Tell) -> tuple[int | None, int]:
    """(how many documents there must be, the largest number that one can have)."""
    try:
        with reader.attempt():
            counts = reader.counts()
    except StoreDamagedError as error:
        tell(str(error))
        return None, reader.last_number()
    return counts["documents"], counts["next"] - 1


def _salvaged(reader: Reader, first: int, last: int) -> tuple[list[Row], list[int], list[tuple[int, str]]]:
    """(whole ones, numbers of broken ones, numbers that cannot be read and why)."""
    try:
        with reader.attempt():
            return *reader.salvaged(first, last), []
    except StoreDamagedError as error:
        if first == last:
            return [], [], [(first, error.why)]
    middle = (first + last) // 2
    left, right = _salvaged(reader, first, middle), _salvaged(reader, middle + 1, last)
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _runs(numbers: Iterable[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """(first, last, why) of numbers that follow each other."""
    every = [*numbers]
    starts = [0, *(at for at, (one, other) in enumerate(pairwise(every), 1) if other != (one[0] + 1, one[1]))]
    for start, end in pairwise([*starts, len(every)] if every else []):
        yield every[start][0], every[end - 1][0], every[start][1]
