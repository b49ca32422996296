"""Who is kept: greedy by priority over buckets of keepers; and all pairs, from the same buckets.

Pairs by Jaccard similarity are those of joining.py. Documents are numbered by priority here (0 is the most worth
keeping). Common arguments:

* members: `buckets.Members`, the entries of each document, by ascending place, and who stands in each bucket;
* items uint64, offsets int64[n + 1]: features; bound: a `scores.Bound`;
* stamps int32[n]: of one thread; holds, for each candidate, the last document that met it, so that a pair that
  shares many keys is seen once. The first key that a pair shares is the first in both orders, which is what makes the
  positional filter right: places behind it are all that can still be shared. It is asked first, since it reads what
  stands in the bucket; whom it refuses at the first key that they share it refuses at every later one.

* work int64[4]: what it took is added to it, as `Work` says.

With containment all entries are there, but the contained side needs only those of its prefix: it asks with them
(`num_asked`) where it is the later document, and is found by them (`_offered`) where it is the earlier one.

An array that is taken out of a tuple, or sliced, is counted by its owner, with two locked additions: in a loop over
meetings that was half of the time. So `all_pairs` takes its arrays once, and slices none.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.kernels._jit import jit, popcount
from nearsame.kernels.cosine import SHARE, rest_reaches
from nearsame.kernels.scores import CONTAINER, CONTAINMENT, JACCARD, WEIGHTED, enough, score
from nearsame.kernels.sets import first_at_least

__all__ = [
    "Best",
    "PairRoom",
    "Work",
    "add_work",
    "all_pairs",
    "fill_members",
    "may_overlap",
    "may_reach",
    "measure_pairs",
    "num_asked",
    "probe",
    "settle",
    "standing",
    "verify_pairs",
    "witness",
]

_AT_ONCE = 256  # entries of a bucket
_MOST = 2**31 - 1  # items of a set


class Best(NamedTuple):
    """For each document its witness, -1 for none, and how similar they are: room that is filled."""

    docs: npt.NDArray[np.int64]
    nums: npt.NDArray[np.int64]
    dens: npt.NDArray[np.int64]


class PairRoom(NamedTuple):
    """Pairs of documents a < b, and how similar they are: room that is filled."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    nums: npt.NDArray[np.int64]
    dens: npt.NDArray[np.int64]


class Work(NamedTuple):
    """What it took to compare, so that the worth of each filter is seen without a clock.

    Attributes:
        met: meetings of two documents in a bucket, once in each that they share, which is what time grows with.
        left_by_places: pairs that places do not refuse, each once.
        left_by_bits: of these, pairs that bits do not refuse: they are compared item by item.
        items: of two sets, items that were passed until it was certain; other measures count none.
    """

    met: int = 0
    left_by_places: int = 0
    left_by_bits: int = 0
    items: int = 0

    @classmethod
    def of(cls, room: npt.NDArray[np.int64]) -> "Work":
        """What a kernel has added up."""
        return cls(*room.tolist())

    @classmethod
    def total(cls, several: "Iterable[Work]") -> "Work":
        """All together."""
        return cls(*(sum(numbers) for numbers in zip(cls(), *several, strict=True)))

    @staticmethod
    def room() -> npt.NDArray[np.int64]:
        """Zeros, for a kernel to add to."""
        return np.zeros(len(Work._fields), np.int64)

    def record(self) -> dict[str, Any]:
        """By name."""
        return self._asdict()


@jit
def add_work(work, met, near, merged, passed):
    """Add what it took to compare one document with others."""
    work[0] += met
    work[1] += near
    work[2] += merged
    work[3] += passed


@jit
def _places(bound, size):
    """All places of a document: by number, or by what its items weigh."""
    return SHARE if bound.measure == WEIGHTED else size


@jit
def num_asked(bound, size):
    """The places of a document of so many items that it looks for others with: those before this one."""
    if bound.measure == CONTAINMENT:
        return size - (bound.p * size + bound.q - 1) // bound.q + 1
    return _places(bound, size)


@jit
def _offered(bound, size):
    """The places of a document of so many items that others may find it by: those before this one."""
    if bound.measure == CONTAINER:
        return size - (bound.p * size + bound.q - 1) // bound.q + 1
    return _places(bound, size)


@jit
def standing(bound, size, place):
    """What is asked of a place: by Jaccard similarity how large a set may be that is first met there, else the place.

    It is worked out for each entry and not for each meeting, of which there are many times as many.
    """
    if bound.measure != JACCARD:
        return place
    if place < 0 or bound.p == 0:
        return _MOST
    rest = size - place  # items from this one on: of two sets, as many as they may share
    return min(rest * (bound.p + bound.q) // bound.p - size, _MOST)


@jit
def may_reach(bound, size_a, standing_a, size_b, standing_b):
    """Whether sets that first meet where they so stand can still reach the bound.

    Place -1 says nothing: all keys of a method have it, or none.
    """
    if bound.measure == JACCARD:
        return size_a <= standing_b and size_b <= standing_a
    if standing_a < 0 or standing_b < 0:
        return True
    if bound.measure == WEIGHTED:  # a place is the share of its sum of squares that stands before it
        return rest_reaches(SHARE - standing_a, SHARE - standing_b, bound.p, bound.q)
    return enough(bound, min(size_a - standing_a, size_b - standing_b), size_a, size_b)


@jit
def may_overlap(bound, bits, a, size_a, b, size_b):
    """Whether sets whose bits differ in so many places can reach the bound: each of these is an item of one of them."""
    if bits.shape[1] == 0:
        return True
    apart = 0
    for word in range(bits.shape[1]):
        apart += popcount(bits[a, word] ^ bits[b, word])
    return enough(bound, (size_a + size_b - apart) // 2, size_a, size_b)


@jit
def _meets_keeper(d, first, members, items, offsets, bound, stamps, work):
    """Whether d is similar to a keeper numbered `first` or above."""
    met = near = merged = passed = 0
    size = offsets[d + 1] - offsets[d]
    asked = num_asked(bound, size)
    for e in range(members.doc_starts[d], members.doc_starts[d + 1]):
        if members.doc_places[e] >= asked:
            break
        bucket = members.doc_buckets[e]
        start, stands = members.bucket_starts[bucket], standing(bound, size, np.int64(members.doc_places[e]))
        for m in range(start + members.fill[bucket] - 1, start - 1, -1):
            c = members.docs[m]
            if c < first:
                break
            met += 1
            if not may_reach(bound, size, stands, members.sizes[m], members.standing[m]):
                continue
            if stamps[c] == d + 1:
                continue
            stamps[c] = d + 1
            near += 1
            if not may_overlap(bound, members.bits, d, size, c, members.sizes[m]):
                continue
            merged += 1
            num, _, looked_at = score(bound, items, offsets, d, c, bound.p, bound.q)
            passed += looked_at
            if num >= 0:
                add_work(work, met, near, merged, passed)
                return True
    add_work(work, met, near, merged, passed)
    return False


@jit
def probe(low, high, members, items, offsets, bound, stamps, removed, work):
    """Mark as removed the documents of [low, high) that resemble a keeper so far. Threads may share a block."""
    for d in range(low, high):
        removed[d] = _meets_keeper(d, 0, members, items, offsets, bound, stamps, work)


@jit
def _stand(d, offered, members, offsets, bound):
    """Write a document into its buckets, of the places before this one."""
    size = offsets[d + 1] - offsets[d]
    for e in range(members.doc_starts[d], members.doc_starts[d + 1]):
        place, bucket = np.int64(members.doc_places[e]), members.doc_buckets[e]
        if place >= offered:
            break
        at = members.bucket_starts[bucket] + members.fill[bucket]
        members.docs[at], members.sizes[at] = d, size
        members.standing[at] = standing(bound, size, place)
        members.fill[bucket] += 1


@jit
def fill_members(members, offsets, bound):
    """Write every document into its buckets, in ascending order; `fill` counts them."""
    for d in range(members.doc_starts.size - 1):
        _stand(d, _MOST, members, offsets, bound)


@jit
def settle(low, high, num_against, within, members, items, offsets, bound, stamps, removed, work):
    """Settle a block of probed documents among themselves, in order; who stays joins the keepers of its buckets.

    Documents below num_against always stay. Without `within` the others never become keepers.
    """
    for d in range(low, high):
        if removed[d]:
            continue
        if d >= num_against:
            if not within:
                continue
            removed[d] = _meets_keeper(d, low, members, items, offsets, bound, stamps, work)
        if not removed[d]:
            offered = _offered(bound, offsets[d + 1] - offsets[d])
            _stand(d, offered, members, offsets, bound)


@jit
def witness(low, high, members, items, offsets, bound, stamps, removed, best, work):
    """For each removed document of [low, high) its most similar keeper of higher priority; of equals, the first.

    `best` is a `Best`, which is filled.
    """
    for d in range(low, high):
        best.docs[d] = -1
        if not removed[d]:
            continue
        num_least, den_least = bound.p, bound.q
        met = near = merged = passed = 0
        size = offsets[d + 1] - offsets[d]
        asked = num_asked(bound, size)
        for e in range(members.doc_starts[d], members.doc_starts[d + 1]):
            if members.doc_places[e] >= asked:
                break
            bucket = members.doc_buckets[e]
            start, stands = members.bucket_starts[bucket], standing(bound, size, np.int64(members.doc_places[e]))
            for m in range(start, start + members.fill[bucket]):
                c = members.docs[m]
                if c >= d:
                    break
                met += 1
                if not may_reach(bound, size, stands, members.sizes[m], members.standing[m]):
                    continue
                if stamps[c] == d + 1:
                    continue
                stamps[c] = d + 1
                near += 1
                if not may_overlap(bound, members.bits, d, size, c, members.sizes[m]):
                    continue
                merged += 1
                num, den, looked_at = score(bound, items, offsets, d, c, num_least, den_least)
                passed += looked_at
                if num < 0:
                    continue
                if best.docs[d] < 0 or num * den_least > num_least * den or c < best.docs[d]:
                    best.docs[d] = c
                    num_least, den_least = num, den
        best.nums[d] = num_least
        best.dens[d] = den_least
        add_work(work, met, near, merged, passed)


@jit
def _choose(bound, size, stands, sizes, standings, start, stop, chosen):
    """Fill `chosen` with the entries of [start, stop) that `may_reach` leaves for a set; returns how many there are."""
    filled = 0
    for m in range(start, stop):
        if may_reach(bound, size, stands, sizes[m], standings[m]):
            chosen[filled] = m
            filled += 1
    return filled


@jit
def all_pairs(low, high, members, items, offsets, bound, stamps, out, work):
    """Every similar pair (a, b), a < b, for b in [low, high), until the output (a `PairRoom`) is full.

    Returns (next, filled): the first b that is not done, and the pairs written.
    """
    filled = 0
    chosen = np.empty(_AT_ONCE, np.int64)
    starts, doc_buckets, places, bucket_starts, fill, docs, standings, sizes, bits = members
    for d in range(low, high):
        before = filled
        met = near = merged = passed = 0
        size = offsets[d + 1] - offsets[d]
        asked = num_asked(bound, size)
        for e in range(starts[d], starts[d + 1]):
            place = np.int64(places[e])
            if place >= asked:
                break
            start, stands = bucket_starts[doc_buckets[e]], standing(bound, size, place)
            stop = first_at_least(docs, start, start + fill[doc_buckets[e]], d)
            met += stop - start
            for few in range(start, stop, _AT_ONCE):
                num_chosen = _choose(bound, size, stands, sizes, standings, few, min(few + _AT_ONCE, stop), chosen)
                for number in range(num_chosen):
                    m = chosen[number]
                    c = docs[m]
                    if stamps[c] == d + 1:
                        continue
                    stamps[c] = d + 1
                    near += 1
                    if not may_overlap(bound, bits, d, size, c, sizes[m]):
                        continue
                    merged += 1
                    num, den, looked_at = score(bound, items, offsets, d, c, bound.p, bound.q)
                    passed += looked_at
                    if num < 0:
                        continue
                    if filled == out.a.size:
                        stamps[:] = 0
                        return d, before
                    out.a[filled], out.b[filled] = c, d
                    out.nums[filled], out.dens[filled] = num, den
                    filled += 1
        add_work(work, met, near, merged, passed)
    return high, filled


@jit
def verify_pairs(a, b, items, offsets, bound, nums, dens):
    """The score of each pair of documents a[i], b[i], filled into nums and dens (int64); returns the items passed."""
    passed = 0
    for i in range(a.size):
        nums[i], dens[i], looked_at = score(bound, items, offsets, a[i], b[i], bound.p, bound.q)
        passed += looked_at
    return passed


@jit
def measure_pairs(a, b, items, offsets, bound, below, nums, dens):
    """`verify_pairs`; the score of a pair that does not reach the bound is that of another, `below`.

    A cosine is told as the threshold that it just reaches, so one bound without any threshold would put it below.
    """
    passed = 0
    for i in range(a.size):
        nums[i], dens[i], looked_at = score(bound, items, offsets, a[i], b[i], bound.p, bound.q)
        passed += looked_at
        if nums[i] < 0:
            nums[i], dens[i], looked_at = score(below, items, offsets, a[i], b[i], below.p, below.q)
            passed += looked_at
    return passed
