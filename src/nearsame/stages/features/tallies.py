"""Hashes and how often each occurs, as two arrays: added up, and cut so that many workers may add."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from nearsame import arrow

__all__ = ["NO_COUNTS", "Counts", "dealt", "summed"]

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: hashes of one range go to all parts
_HALF = np.uint64(32)
Counts = tuple[arrow.UInt64s, arrow.Int64s]
NO_COUNTS: Counts = (arrow.NO_HASHES, arrow.frozen(np.zeros(0, np.int64)))


def summed(several: Sequence[Counts]) -> Counts:
    """The different items of all, ascending, each with the sum of its counts."""
    items = np.concatenate([NO_COUNTS[0], *(items for items, _ in several)])
    counts = np.concatenate([NO_COUNTS[1], *(counts for _, counts in several)])
    if items.size == 0:
        return NO_COUNTS
    order = np.argsort(items, kind="stable")  # takes what is sorted already as it is
    items, counts = items[order], counts[order]
    starts = np.flatnonzero(np.append(True, items[1:] != items[:-1]))
    return arrow.frozen(items[starts]), arrow.frozen(np.add.reduceat(counts, starts))


def dealt(counts: Counts, parts: int) -> Iterator[tuple[int, Counts]]:
    """The items of each part that has some, with its number, which depends on the item alone; their order stays."""
    items, numbers = counts
    part: npt.NDArray[np.uint64] = ((items * _MIX) >> _HALF) * np.uint64(parts) >> _HALF
    order = np.argsort(part, kind="stable")
    ends = np.searchsorted(part[order], np.arange(parts + 1, dtype=np.uint64))
    for number in np.flatnonzero(np.diff(ends)).tolist():
        chosen = order[ends[number] : ends[number + 1]]
        yield number, (arrow.frozen(items[chosen]), arrow.frozen(numbers[chosen]))
