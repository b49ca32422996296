"""Keys to candidates: whom a document is compared with, and whether that was everybody.

1. Of a key that very many documents have, the oldest ones are read: among near copies of one text they are those that
   the others follow.
2. Of very many candidates those are compared that have most keys in common, and the oldest ones. That others were left
   out is told.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.index.facet import Keys
from nearsame.named import NamedTuple
from nearsame.stores.base import Reader

__all__ = ["Candidates", "DistinctKeys", "Pairs", "bound", "candidates", "closest", "rank", "unique_pairs"]

Pairs = tuple[Int64s, Int64s]
_LEAST = 256
_NO_PAIRS = np.zeros(0, np.int64), np.zeros(0, np.int64)


class DistinctKeys:
    """Keys, of which some may be equal: the different ones, ascending, and where each of them is."""

    def __init__(self, keys: Int64s) -> None:
        self._order = keys.argsort()
        self.keys: Int64s = keys[self._order]
        self._starts: Int64s | None = None  # all are different, as of nearly every question
        is_new = self.keys[1:] != self.keys[:-1]
        if not is_new.all():
            self._starts = np.flatnonzero(np.concatenate([[True], is_new]))
            self.keys = self.keys[self._starts]

    def largest(self, values: Int64s) -> Int64s:
        """Of values, one for each of the given keys, the largest of each different key."""
        ordered = values[self._order]
        return ordered if self._starts is None else np.maximum.reduceat(ordered, self._starts)

    def places(self, met: Int64s) -> Pairs:
        """(which of those that were met, a place among the given keys), of places among the different ones."""
        if self._starts is None:
            return np.arange(met.size), self._order[met]
        num_equal = np.diff(self._starts, append=self._order.size)[met]
        at = np.repeat(np.arange(met.size), num_equal)
        nth = np.arange(at.size) - np.repeat(num_equal.cumsum() - num_equal, num_equal)
        return at, self._order[self._starts[met][at] + nth]


class Candidates(NamedTuple):
    """(documents asked about, numbers) of each facet: by set keys, and by all others."""

    sets: list[Pairs]
    others: list[Pairs]
    is_cut: npt.NDArray[np.bool_]  # of each document, whether there were more


def bound(most: int) -> int:
    """How many documents of a key are read, and how many candidates compared, to find the best `most`."""
    return max(_LEAST, 2 * most)


def candidates(reader: Reader, num: int, keys: Sequence[Keys], limits: Sequence[int], most: int) -> Candidates:
    """Whom documents may resemble.

    Args:
        reader: Of the store.
        num: How many documents.
        keys: Of the documents, by facet.
        limits: By facet, how many with the same items are wanted.
        most: How many of other candidates, and at most of any.
    """
    sets = [(of.sets[of.present], of.present.nonzero()[0]) for of in keys]
    met, cuts = _met(reader, [*sets, *((of.keys, of.rows) for of in keys)], [*limits, *[most] * len(keys)])
    is_cut = np.zeros(num, np.bool_)
    if not any(numbers.size for _, numbers in met):
        return Candidates(met[: len(keys)], met[len(keys) :], is_cut)
    for limit, cut in zip(limits, cuts, strict=False):
        if limit == most:
            is_cut[cut] = True
    others = []
    for pairs, rows in zip(met[len(keys) :], cuts[len(keys) :], strict=True):
        chosen, cut = closest(*pairs, most)
        others.append(chosen)
        is_cut[rows] = is_cut[cut] = True
    return Candidates(met[: len(keys)], others, is_cut)


def closest(a: Int64s, b: Int64s, most: int) -> tuple[Pairs, Int64s]:
    """Of pairs that are there once for each key in common, at most so many of each `a`; and those `a` that had more.

    Half of them are those with the most keys in common, half the smallest `b`.
    """
    a, b, times = _counted(a, b)
    cut = np.flatnonzero(np.bincount(a) > most) if a.size > most else _NO_PAIRS[0]
    if not cut.size:
        return (a, b), cut
    is_chosen = rank(a) < most // 2  # of the smallest
    order = np.lexsort((b, -times, is_chosen, a))  # those that are chosen already come behind the others
    is_chosen[order] |= rank(a[order]) < most - most // 2
    return (a[is_chosen], b[is_chosen]), cut


def unique_pairs(a: Int64s, b: Int64s) -> Pairs:
    """Each pair once, ascending."""
    a, b, _ = _counted(a, b)
    return a, b


def _met(reader: Reader, sides: Sequence[Pairs], mosts: Sequence[int]) -> tuple[list[Pairs], list[Int64s]]:
    """The (rows, numbers) that share a key, of each side's (keys, rows); and rows of keys that had more.

    Args:
        reader: Of the store, which is asked once for all sides.
        sides: Keys, and whose they are.
        mosts: By side, how many documents of a key are wanted.
    """
    sizes = [side[0].size for side in sides]
    if not any(sizes):
        return [_NO_PAIRS] * len(sides), [_NO_PAIRS[0]] * len(sides)
    asked = DistinctKeys(np.concatenate([side[0] for side in sides]))
    most = np.array(mosts).repeat(sizes)
    hits = reader.postings(asked.keys, asked.largest(most) + 1)
    if not hits.places.size:
        return [_NO_PAIRS] * len(sides), [_NO_PAIRS[0]] * len(sides)
    rows = np.concatenate([side[1] for side in sides])
    at, of = asked.places(hits.places)
    kept = of.argsort(kind="stable")
    over = kept[:0]
    if hits.places.size > min(mosts):
        is_over = (rank(hits.places)[at] >= most[of])[kept]
        kept, over = kept[~is_over], kept[is_over]
    ends = [0, *accumulate(sizes)]
    met = [(rows[of[some]], hits.numbers[at[some]]) for some in _parted(kept, of, ends)]
    return met, [rows[of[some]] for some in _parted(over, of, ends)]


def _parted(some: Int64s, of: Int64s, ends: Sequence[int]) -> list[Int64s]:
    """Those of each side, of some that are ordered by what they are of."""
    cuts = of[some].searchsorted(ends).tolist() if some.size else [0] * len(ends)
    return [some[a:b] for a, b in pairwise(cuts)]


def rank(ascending: Int64s) -> Int64s:
    """How many equal ones come before each."""
    return np.arange(ascending.size) - ascending.searchsorted(ascending, "left")


def _counted(a: Int64s, b: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """(a, b, how often) of each pair, ascending."""
    if a.size < 2:  # most questions meet one document, or none
        return a, b, np.ones(a.size, np.int64)
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    new = np.ones(a.size, np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    starts = np.flatnonzero(new)
    times = np.empty(starts.size, np.int64)
    times[:-1], times[-1] = starts[1:] - starts[:-1], a.size - starts[-1]
    return a[starts], b[starts], times
