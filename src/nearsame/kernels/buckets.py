"""Buckets: which documents share a key, built from the keys by dealing and sorting."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.kernels._jit import jit
from nearsame.kernels.sets import same_items
from nearsame.kernels.stamps import Array

__all__ = [
    "Entries",
    "Meeting",
    "Members",
    "count_entries",
    "count_parts",
    "deal",
    "gather",
    "group_equal",
    "mark_ranks",
    "mark_shared",
    "order_entries",
    "turn_bits",
]

_NO = np.uint8(0)
_U32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_U1, _U6, _U63 = np.uint64(1), np.uint64(6), np.uint64(63)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: given numbers are not spread as hashes are
_LARGE = 1024  # items of a set, of which bits say little more than the sizes do
_FEW = 4  # words; more are for sets of which each has several to be compared with
_EACH = 4  # items, whose bits take no longer than a meeting that bits refuse would have taken


class Members(NamedTuple):
    """The buckets of documents, and who stands in each of them so far: ascending, at bucket_starts[g] and behind."""

    doc_starts: npt.NDArray[np.int64]  # [n + 1]
    doc_buckets: npt.NDArray[np.int64]
    doc_places: npt.NDArray[np.int32]  # ascending for each document
    bucket_starts: npt.NDArray[np.int64]  # [buckets + 1]
    fill: npt.NDArray[np.int64]  # [buckets]: how many stand in it
    docs: npt.NDArray[np.int32]
    standing: npt.NDArray[np.int32]  # what `deciding.standing` says of their places
    sizes: npt.NDArray[np.int32]  # of their sets
    bits: npt.NDArray[np.uint64]  # [n, words]: each item turns one over; no words where that would say little


class Entries(NamedTuple):
    """Which documents stand in which buckets; documents are numbered by priority, 0 the most worth keeping."""

    rows: npt.NDArray[np.int64]  # [n]: the row of each document
    doc_starts: npt.NDArray[np.int64]  # [n + 1]
    doc_buckets: npt.NDArray[np.int64]
    doc_places: npt.NDArray[np.int32]  # ascending for each document
    bucket_starts: npt.NDArray[np.int64]  # [buckets + 1]


class Meeting(NamedTuple):
    """Documents that share keys, and their features."""

    entries: Entries
    items: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]  # document i has items[offsets[i]:offsets[i + 1]]; second lists are behind all these

    def flat(self) -> tuple[npt.NDArray[Any], ...]:
        """All arrays, for `of`."""
        return (*self.entries, self.items, self.offsets)

    def nobody(self, array: Array = np.empty, *, sets: bool) -> Members:
        """The buckets, with nobody in them yet; `sets` says that items are those of sets."""
        fill = array(self.entries.bucket_starts.size - 1, np.int64)
        fill[:] = 0
        docs, standing, sizes = (array(self.entries.doc_buckets.size, np.int32) for _ in range(3))
        return Members(*self.entries[1:], fill, docs, standing, sizes, self.bits(array, sets=sets))

    def bits(self, array: Array, *, sets: bool) -> npt.NDArray[np.uint64]:
        """Those of each document; none where these are no sets, or bits are not worth it."""
        num = self.entries.rows.size
        num_items = int(self.offsets[num])
        words = _words(num_items / max(num, 1)) if sets else 0
        if words > _FEW and _EACH * self.most_meetings() < num_items:  # a near copy shares fewer keys than it has items
            words = 0
        bits: npt.NDArray[np.uint64] = array(num * words, np.uint64).reshape(num, words)
        if words:
            turn_bits(self.items, self.offsets, bits)
        return bits

    def most_meetings(self) -> int:
        """Of all documents with all that share a bucket with them, once for each bucket."""
        sizes = np.diff(self.entries.bucket_starts).astype(np.float64)  # squares of large ones do not fit int64
        return int((sizes * (sizes - 1) / 2).sum())

    @classmethod
    def of(cls, arrays: tuple[npt.NDArray[Any], ...]) -> "Meeting":
        """The meeting whose arrays these are, read-only: mapped or not, kernels are compiled once."""
        frozen = tuple(np.asarray(array).view() for array in arrays)
        for array in frozen:
            array.flags.writeable = False
        return cls(Entries(*frozen[:5]), *frozen[5:])


def _words(mean_size: float) -> int:
    """So many words of bits for a set that all but few others are told from it; none where sets are too large for that.

    >>> [_words(size) for size in (5, 16, 17, 60, 129, 1000, 1025)]
    [1, 1, 2, 4, 16, 16, 0]
    """
    return next((words for words in (1, 2, 4, 8) if mean_size <= 16 * words), 16 if mean_size <= _LARGE else 0)


@jit
def turn_bits(items, offsets, bits):
    """Fill bits[i], of a word or more: zeros, of which each item of document i turns one over."""
    num_bits = np.uint64(64 * bits.shape[1])
    for i in range(bits.shape[0]):
        bits[i] = 0
        for j in range(offsets[i], offsets[i + 1]):
            at = ((items[j] * _MIX >> _U32) * num_bits) >> _U32
            bits[i, np.int64(at >> _U6)] ^= _U1 << (at & _U63)


@jit
def count_parts(keys, shift, counts):
    """Add to counts[key >> shift + 1] for each key."""
    for i in range(keys.size):
        counts[np.int64(keys[i] >> shift) + 1] += 1


@jit
def deal(keys, rows, places, probes, shift, at, out_keys, out_rows, out_places, out_probes):
    """Copy each entry to the next free slot of its part, at[key >> shift]."""
    for i in range(keys.size):
        part = np.int64(keys[i] >> shift)
        j = at[part]
        at[part] = j + 1
        out_keys[j] = keys[i]
        out_rows[j] = rows[i]
        out_places[j] = places[i]
        out_probes[j] = probes[i]


@jit
def mark_shared(keys, order, rows, places, probes, out_rows, out_places, out_buckets):
    """Of entries in the order of their keys, those whose key stands more than once and where a pair may begin.

    Buckets are numbered from 0. What all documents share is no rare item of any: without the second condition
    100,000 keepers with the same boilerplate would all meet in it, to no end. Returns (entries, buckets).
    """
    filled = 0
    bucket = 0
    n = order.size
    i = 0
    while i < n:
        j = i + 1
        begins = probes[order[i]] != _NO
        while j < n and keys[order[j]] == keys[order[i]]:
            begins = begins or probes[order[j]] != _NO
            j += 1
        if j - i > 1 and begins:
            for k in range(i, j):
                out_rows[filled] = rows[order[k]]
                out_places[filled] = places[order[k]]
                out_buckets[filled] = bucket
                filled += 1
            bucket += 1
        i = j
    return filled, bucket


@jit
def mark_ranks(rows, ranks, by_rank):
    """Mark by_rank[ranks[row]] for each row."""
    for i in range(rows.size):
        by_rank[ranks[rows[i]]] = True


@jit
def count_entries(rows, buckets, ranks, numbers, doc_counts, bucket_sizes):
    """Count each document's entries at its number from 1, numbers[ranks[row]], and each bucket's."""
    for i in range(rows.size):
        doc_counts[numbers[ranks[rows[i]]]] += 1
        bucket_sizes[buckets[i]] += 1


@jit
def order_entries(rows, buckets, places, ranks, numbers, starts, fill, sizes, out_buckets, out_places, out_starts):
    """Deal entries to their documents, each document's by ascending place; buckets are numbered anew.

    The entries of document d = numbers[ranks[row]] - 1 go to starts[d] on; `fill` (int64[n], zeros) counts them;
    `out_buckets` is uint64, and holds place and bucket in one until the end. Documents on heavy corpora have hundreds
    of entries: sorting, not insertion. Buckets get their numbers where they are first met in that order, so that those
    of a document, and of what resembles it, lie side by side. `sizes` (int64[buckets]) are those of the buckets, and
    scratch afterwards; bucket g begins at out_starts[g].
    """
    for i in range(rows.size):
        d = np.int64(numbers[ranks[rows[i]]]) - 1
        out_buckets[starts[d] + fill[d]] = (np.uint64(places[i] + 1) << _U32) | np.uint64(buckets[i])
        fill[d] += 1
    for doc in range(fill.size):
        out_buckets[starts[doc] : starts[doc + 1]].sort()
    met = 0
    out_starts[0] = 0
    for i in range(rows.size):
        packed = out_buckets[i]
        out_places[i] = np.int32(packed >> _U32) - 1
        bucket = np.int64(packed & _LOW32)
        if sizes[bucket] > 0:
            out_starts[met + 1] = out_starts[met] + sizes[bucket]
            met += 1
            sizes[bucket] = -met  # its number from here on, less than nothing
        out_buckets[i] = np.uint64(-sizes[bucket] - 1)


@jit
def gather(items, starts, ends, which, targets, out):
    """Copy list which[i] of (items, starts, ends) to out[targets[i]:]."""
    for i in range(which.size):
        w = which[i]
        for j in range(ends[w] - starts[w]):
            out[targets[i] + j] = items[starts[w] + j]


@jit
def group_equal(a, b, rows, items, offsets, best):
    """Of entries ordered by (a, b, rank): best[row] becomes the first row of the same (a, b) with equal items.

    Where `offsets` has second lists (see kernels/scores.py), these must be equal, too.
    """
    start, ends = 0, offsets[1:]
    others = rows.size if ends.size > rows.size else 0
    for i in range(rows.size):
        if a[i] != a[start] or b[i] != b[start]:
            start = i
        for j in range(start, i):
            if (
                best[rows[j]] == rows[j]
                and same_items(items, offsets[i], ends[i], offsets[j], ends[j])
                and (
                    others == 0
                    or same_items(items, offsets[others + i], ends[others + i], offsets[others + j], ends[others + j])
                )
            ):
                best[rows[i]] = rows[j]
                break
