"""Finding the true partners of a few audited documents among all, without the sketch or the keys under audit.

Each audited document lends some of its items, chosen by an independent hash, to a table; every document's items are
looked up in it, and one that hits an audited document often enough is compared with it exactly: by its set and, where a
second measure is about letters, by these.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish
from nearsame.kernels.hyperplanes import angle_across
from nearsame.kernels.indel import indel
from nearsame.kernels.scores import APART, least_overlap
from nearsame.kernels.sets import first_at_least, intersect_across

__all__ = [
    "Audited",
    "Lent",
    "Others",
    "Partners",
    "bottom_items",
    "compare_vectors",
    "lookup_documents",
    "mark_filter",
]

_MASK = np.uint64(63)
_SIX = np.uint64(6)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LETTERS_AS_ITEMS = 15  # so many bits of the product of two lengths take about as long as two sets


class Others(NamedTuple):
    """A batch of documents among which partners are looked for."""

    items: npt.NDArray[np.uint64]
    starts: npt.NDArray[np.int64]  # where each document's items begin
    ends: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]  # in the order of priority; -1 for one that is no partner to ask about
    letters: npt.NDArray[np.uint64]  # where the second measure is about them
    texts: npt.NDArray[np.int64]  # where the letters of each begin
    text_ends: npt.NDArray[np.int64]


class Lent(NamedTuple):
    """What audited documents lend, and a filter of it."""

    shift: np.uint64  # of the filter
    bits: npt.NDArray[np.uint64]  # the filter
    probes: npt.NDArray[np.uint64]  # ascending
    owners: npt.NDArray[np.int64]  # whose they are
    least: npt.NDArray[np.int64]  # for each audited document the hits that make a candidate


class Audited(NamedTuple):
    """The audited documents."""

    rows: npt.NDArray[np.int64]
    items: npt.NDArray[np.uint64]  # and behind them the letters
    offsets: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64]  # in the order of priority
    stays: npt.NDArray[np.bool_]  # of one that does not stay only partners that outrank it are asked about


class Partners(NamedTuple):
    """Who resembles whom, as fractions: room that is filled."""

    owners: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    nums: npt.NDArray[np.int64]
    dens: npt.NDArray[np.int64]


@jit
def bottom_items(items, offsets, most, seed, out, owners):
    """Of each set the (at most) `most` items least under an independent hash; returns how many in all.

    out uint64 and owners int64 hold `most` for each set.
    """
    filled = 0
    for i in range(offsets.size - 1):
        start, end = offsets[i], offsets[i + 1]
        hashes = np.empty(end - start, np.uint64)
        for j in range(start, end):
            hashes[j - start] = finish(items[j] ^ seed)
        order = np.argsort(hashes)
        for j in range(min(most, end - start)):
            out[filled] = items[start + order[j]]
            owners[filled] = i
            filled += 1
    return filled


@jit
def mark_filter(items, shift, bits):
    """Set the bit of each item: a table of 2**(64 - shift) bits, in uint64 words."""
    for i in range(items.size):
        slot = items[i] >> shift
        bits[np.int64(slot >> _SIX)] |= _ONE << (slot & _MASK)


@jit
def _asked(owner, place, audited, most, found):
    """Which kind of partner a document at a place would be: 1 if it outranks the owner, else 0; -1 if not asked for."""
    if place < 0:
        return -1
    kind = 1 if place < audited.places[owner] else 0
    if (kind == 0 and not audited.stays[owner]) or found[owner, kind] >= most:
        return -1
    return kind


@jit
def _same_letters(documents, i, audited, owner, bound):
    """Whether two documents reach the second measure, by letters; and as how many comparisons of sets it counts."""
    a, b = documents.texts[i], audited.offsets[audited.rows.size + owner]
    if a == documents.text_ends[i] or b == audited.offsets[audited.rows.size + owner + 1]:
        return False, 0
    work = np.int64(documents.letters[a]) * np.int64(audited.items[b]) >> _LETTERS_AS_ITEMS
    return indel(documents.letters, a, audited.items, b, bound.second_p, bound.second_q)[0] >= 0, work


@jit
def lookup_documents(documents, lent, audited, bound, most, found, hits, touched, out):
    """The audited documents that each document resembles; returns (pairs, compared), pairs = -1 if there is no room.

    Args:
        documents: `Others`.
        lent: `Lent`.
        audited: `Audited`.
        bound: of Jaccard, and a second measure of the same sets or of letters.
        most: partners to find in this batch for an audited document, of those that outrank it and of the others each.
        found: int64[audited, 2] zeros, filled: how many were found of the others, and of those that outrank it.
        hits: int64 zeros, one for each audited document; zeros again afterwards.
        touched: int64 scratch of the same size.
        out: `Partners`, filled.
    """
    items, probes, offsets = documents.items, lent.probes, audited.offsets
    filled = 0
    compared = 0
    for i in range(documents.rows.size):
        if documents.places[i] < 0:
            continue
        start, end = documents.starts[i], documents.ends[i]
        num_touched = 0
        for j in range(start, end):
            x = items[j]
            slot = x >> lent.shift
            if lent.bits[np.int64(slot >> _SIX)] & (_ONE << (slot & _MASK)) == _ZERO:
                continue
            at = first_at_least(probes, 0, probes.size, x)
            while at < probes.size and probes[at] == x:
                owner = lent.owners[at]
                if hits[owner] == 0:
                    touched[num_touched] = owner
                    num_touched += 1
                hits[owner] += 1
                at += 1
        size = end - start
        for t in range(num_touched):
            owner = touched[t]
            enough = hits[owner] >= lent.least[owner] and audited.rows[owner] != documents.rows[i]
            hits[owner] = 0
            if not enough or filled < 0:
                continue
            kind = _asked(owner, documents.places[i], audited, most, found)
            if kind < 0:
                continue
            compared += 1
            other = offsets[owner + 1] - offsets[owner]
            need = least_overlap(bound, size, other, bound.p, bound.q)
            shared = intersect_across(items, start, end, audited.items, offsets[owner], offsets[owner + 1], need)
            if shared < 0:
                continue
            if bound.second >= APART:
                reaches, work = _same_letters(documents, i, audited, owner, bound)
                compared += work
                if not reaches:
                    continue
            if filled == out.owners.size:
                filled = -1
                continue
            out.owners[filled], out.rows[filled] = owner, documents.rows[i]
            out.nums[filled], out.dens[filled] = shared, size + other - shared
            found[owner, kind] += 1
            filled += 1
    return filled, compared


@jit
def compare_vectors(documents, audited, p, q, most, found, out):
    """The audited vectors that each vector resembles, every one compared with every other; -1 if there is no room.

    p/q is the threshold, the other arguments are as above; returns how many pairs.
    """
    offsets = audited.offsets
    filled = 0
    for i in range(documents.rows.size):
        start, end = documents.starts[i], documents.ends[i]
        if documents.places[i] < 0 or start == end:
            continue
        for owner in range(audited.rows.size):
            if audited.rows[owner] == documents.rows[i]:
                continue
            kind = _asked(owner, documents.places[i], audited, most, found)
            if kind < 0:
                continue
            first, last = offsets[owner], offsets[owner + 1]
            num, den = angle_across(documents.items, start, end, audited.items, first, last, p, q)
            if num < 0:
                continue
            if filled == out.owners.size:
                return -1
            out.owners[filled], out.rows[filled] = owner, documents.rows[i]
            out.nums[filled], out.dens[filled] = num, den
            found[owner, kind] += 1
            filled += 1
    return filled
