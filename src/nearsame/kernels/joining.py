"""All pairs by Jaccard similarity: each set is compared with those that are no larger, so that every pair meets once.

1. Documents are numbered by size here, and of equals by priority: their ranks. Buckets are ascending by rank, so those
   that a set may resemble, from its share of its size up to itself, are a range of each.
2. The smaller one of a pair shares one of its first n - ceil(2p·n/(p+q)) + 1 items: those alone stand in buckets, which
   a larger one looks through by its whole prefix. They are those whose standing is its own size or more.
3. The first key that a pair shares is the first in both orders, which is what makes the positional filter right: places
   behind it are all that can still be shared. Whom it refuses at the first key it refuses at every later one, so it
   comes before the stamp that says that a pair has been seen.
4. What is read of candidates goes by rank, too, so that those of a bucket, and of sets of like size, lie side by side:
   their bits, their sizes, and of short sets the items.

An array that is taken out of a tuple, or sliced, is counted by its owner, with two locked additions: in a loop over
meetings that was half of the time. So `pairs_of_ranks` takes its arrays once, and slices none.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import frozen
from nearsame.kernels._jit import jit, popcount
from nearsame.kernels.buckets import Meeting, gather
from nearsame.kernels.deciding import add_work, standing
from nearsame.kernels.scores import APART, Bound, confirmed, least_overlap
from nearsame.kernels.sets import count_common, first_at_least
from nearsame.kernels.stamps import Array

__all__ = ["RankedSets", "by_size", "pairs_of_ranks", "stand_by_rank"]

_AT_ONCE = 256  # entries of a bucket
_HALF, _LOWER = np.int64(32), np.int64(0xFFFFFFFF)
_SHORT = 64  # items of a set, on average, of which a copy costs little beside what comparing does


class RankedSets(NamedTuple):
    """The buckets of documents by rank, and who stands in each of them, ascending."""

    docs: npt.NDArray[np.int64]  # [n]: the number of the document of each rank
    begins: npt.NDArray[np.int64]  # [n]: where its set begins, in `items`
    sizes: npt.NDArray[np.int32]  # [n], ascending
    firsts: npt.NDArray[np.int32]  # [largest + 2]: the first rank of so many items or more
    doc_starts: npt.NDArray[np.int64]  # [n + 1], by number
    doc_buckets: npt.NDArray[np.int64]
    doc_places: npt.NDArray[np.int32]  # ascending for each document
    spans: npt.NDArray[np.int64]  # [buckets, 2]: where a bucket begins, and ends
    members: npt.NDArray[np.int64]  # rank << 32 | what `deciding.standing` says of its place: one stream to read
    bits: npt.NDArray[np.uint64]  # [n, words]
    items: npt.NDArray[np.uint64]


def by_size(meeting: Meeting, bound: Bound, array: Array) -> RankedSets:
    """The documents of a meeting in their buckets, for a bound of Jaccard similarity."""
    entries, offsets = meeting.entries, meeting.offsets[: meeting.entries.rows.size + 1]
    sizes = np.diff(offsets)
    docs = np.argsort(sizes, kind="stable")
    firsts = np.concatenate([[0], np.cumsum(np.bincount(sizes, minlength=1))]).astype(np.int32)
    begins, items, by_rank = offsets[docs], meeting.items, sizes[docs]
    if offsets[-1] <= _SHORT * sizes.size:
        begins, items = np.cumsum(by_rank) - by_rank, array(int(offsets[-1]), np.uint64)
        gather(meeting.items, offsets[:-1], offsets[1:], docs, begins, items)
    spans = array(2 * (entries.bucket_starts.size - 1), np.int64).reshape(-1, 2)
    spans[:] = entries.bucket_starts[:-1, None]
    members, bits = array(entries.doc_buckets.size, np.int64), meeting.bits(array, sets=True)[docs]
    sets = begins, by_rank.astype(np.int32), firsts
    ranked = RankedSets(docs, *sets, *entries[1:4], spans, members, bits, frozen(items))
    stand_by_rank(ranked, bound)
    return ranked


@jit
def stand_by_rank(ranked, bound):
    """Write each document, by rank, into the buckets that a larger one finds it by."""
    docs, _, sizes, _, doc_starts, doc_buckets, doc_places, spans, members, _, _ = ranked
    for rank in range(docs.size):
        d, size = docs[rank], np.int64(sizes[rank])
        for e in range(doc_starts[d], doc_starts[d + 1]):
            stands = standing(bound, size, np.int64(doc_places[e]))
            if stands < size:
                break
            bucket = doc_buckets[e]
            at = spans[bucket, 1]
            members[at] = (rank << _HALF) | stands
            spans[bucket, 1] = at + 1


@jit
def pairs_of_ranks(low, high, ranked, items, offsets, bound, stamps, out, work):
    """Every similar pair of ranks (a, b), a < b, for b in [low, high), until the output (a `PairRoom`) is full.

    The documents themselves are written. Returns (next, filled): the first b that is not done, and the pairs written.

    Args:
        low: the first rank.
        high: the one behind the last.
        ranked: a `RankedSets`.
        items: uint64, features, and behind them what confirms pairs.
        offsets: int64; document i has items[offsets[i]:offsets[i + 1]].
        bound: a `scores.Bound` of Jaccard similarity.
        stamps: int32[n], of one thread: the last that met each rank, so that a pair is seen once.
        out: a `deciding.PairRoom`.
        work: int64[4], what it took is added to it (`deciding.Work`).
    """
    filled = 0
    chosen = np.empty(_AT_ONCE, np.int64)
    docs, begins, sizes, firsts, doc_starts, doc_buckets, doc_places, spans, members, bits, sets = ranked
    for rank in range(low, high):
        d, begin, size = docs[rank], begins[rank], np.int64(sizes[rank])
        before = filled
        met = near = merged = passed = 0
        least = (bound.p * size + bound.q - 1) // bound.q
        first = np.int64(firsts[least])
        for e in range(doc_starts[d], doc_starts[d + 1]):
            stands = standing(bound, size, np.int64(doc_places[e]))
            if stands < least:
                break
            end = rank if stands >= size else np.int64(firsts[stands + 1])
            start, stop = spans[doc_buckets[e], 0], spans[doc_buckets[e], 1]
            start = first_at_least(members, start, stop, first << _HALF)
            stop = first_at_least(members, start, stop, end << _HALF)
            met += stop - start
            for few in range(start, stop, _AT_ONCE):
                num_chosen = 0
                for m in range(few, min(few + _AT_ONCE, stop)):  # most are refused, unforeseeably: so without a branch
                    chosen[num_chosen] = members[m] >> _HALF
                    num_chosen += members[m] & _LOWER >= size
                for number in range(num_chosen):
                    other = chosen[number]
                    if stamps[other] == rank + 1:
                        continue
                    stamps[other] = rank + 1
                    near += 1
                    size_c = np.int64(sizes[other])
                    if bits.shape[1] > 0:  # those that differ are items of one of them; without a division
                        apart = 0
                        for word in range(bits.shape[1]):
                            apart += popcount(bits[rank, word] ^ bits[other, word])
                        if ((size + size_c - apart) >> 1) * (bound.p + bound.q) < bound.p * (size + size_c):
                            continue
                    merged += 1
                    need = least_overlap(bound, size, size_c, bound.p, bound.q)
                    at = begins[other]
                    shared, looked_at = count_common(sets, begin, begin + size, sets, at, at + size_c, need)
                    passed += looked_at
                    if shared < 0:
                        continue
                    c = docs[other]
                    if bound.second >= APART and not confirmed(bound, items, offsets, d, c):
                        continue
                    if filled == out.a.size:
                        stamps[:] = 0
                        return rank, before
                    out.a[filled], out.b[filled] = min(c, d), max(c, d)
                    out.nums[filled], out.dens[filled] = shared, size + size_c - shared
                    filled += 1
        add_work(work, met, near, merged, passed)
    return high, filled
