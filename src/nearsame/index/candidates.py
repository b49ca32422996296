"""Keys to candidates: whom a document is compared with, and whether that was everybody.

1. Of a key that very many documents have, the oldest ones are read: among near copies of one text they are those that
   the others follow.
2. Of very many candidates those are compared that have most keys in common, and the oldest ones. That others were left
   out is told.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.index.facet import Keys
from nearsame.stores.base import Reader

__all__ = ["Candidates", "Pairs", "bound", "candidates", "closest", "distinct_of", "joined", "rank", "unique_pairs"]

Pairs = tuple[Int64s, Int64s]
_LEAST = 256
_NO_PAIRS = np.zeros(0, np.int64), np.zeros(0, np.int64)


class Candidates(NamedTuple):
    """(documents asked about, numbers) of each facet: by set keys, and by all others."""

    sets: list[Pairs]
    others: list[Pairs]
    is_cut: npt.NDArray[np.bool_]  # of each document, whether there were more


def bound(most: int) -> int:
    """How many documents of a key are read, and how many candidates compared, to find the best `most`."""
    return max(_LEAST, 2 * most)


def candidates(reader: Reader, keys: Sequence[Keys], limits: Sequence[int], most: int) -> Candidates:
    """Whom documents may resemble.

    Args:
        reader: Of the store.
        keys: Of the documents, by facet.
        limits: By facet, how many with the same items are wanted.
        most: How many of other candidates, and at most of any.
    """
    sets = [(of.sets[of.present], np.flatnonzero(of.present)) for of in keys]
    met, cuts = _met(reader, [*sets, *((of.keys, of.rows) for of in keys)], [*limits, *[most] * len(keys)])
    is_cut = np.zeros(keys[0].present.size, np.bool_)
    for limit, cut in zip(limits, cuts, strict=False):
        is_cut[cut] |= limit == most
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


def joined(left: Int64s, left_keys: Int64s, right_keys: Int64s, right: Int64s) -> Pairs:
    """All (left, right) of equal keys."""
    if not right.size:
        return _NO_PAIRS
    order = np.argsort(left_keys, kind="stable")
    starts = np.searchsorted(left_keys[order], right_keys, "left")
    sizes = np.searchsorted(left_keys[order], right_keys, "right") - starts
    places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts, sizes)
    return left[order[places]], np.repeat(right, sizes)


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
    keys, rows = (np.concatenate([side[part] for side in sides]) for part in (0, 1))
    sizes = [side[0].size for side in sides]
    most = np.repeat(mosts, sizes)
    distinct, inverse = distinct_of(keys)
    wanted = np.zeros(distinct.size, np.int64)
    np.maximum.at(wanted, inverse, most + 1)
    hits = reader.postings(distinct, wanted)
    of, at = joined(np.arange(keys.size), inverse, hits.places, np.arange(hits.places.size))
    is_over = rank(hits.places)[at] >= most[of]
    order = np.lexsort((at, of, is_over))
    num_kept = order.size - np.count_nonzero(is_over)
    kept, over = order[:num_kept], order[num_kept:]
    ends = [0, *accumulate(sizes)]
    met = [(rows[of[some]], hits.numbers[at[some]]) for some in _parted(kept, of, ends)]
    return met, [rows[of[some]] for some in _parted(over, of, ends)]


def _parted(some: Int64s, of: Int64s, ends: Sequence[int]) -> list[Int64s]:
    """Those of each side, of some that are ordered by what they are of."""
    cuts = np.searchsorted(of[some], ends).tolist() if some.size else [0] * len(ends)
    return [some[a:b] for a, b in pairwise(cuts)]


def rank(ascending: Int64s) -> Int64s:
    """How many equal ones come before each."""
    return np.arange(ascending.size) - np.searchsorted(ascending, ascending, "left")


def distinct_of(keys: Int64s) -> Pairs:
    """(distinct ones, ascending, and which of them each is): as NumPy's `unique`, at a fifth of its cost for a few."""
    order = keys.argsort()
    ascending = keys[order]
    new = np.ones(keys.size, np.bool_)
    new[1:] = ascending[1:] != ascending[:-1]
    inverse = np.empty(keys.size, np.int64)
    inverse[order] = new.cumsum() - 1
    return ascending[new], inverse


def _counted(a: Int64s, b: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """(a, b, how often) of each pair, ascending."""
    if not a.size:
        return a, b, a
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    new = np.ones(a.size, np.bool_)
    new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    starts = np.flatnonzero(new)
    return a[new], b[new], np.diff(np.append(starts, a.size))
