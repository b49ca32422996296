"""Finding the true partners of a few audited documents among all, without the sketch or the keys under audit.

Each audited document lends some of its items, chosen by an independent hash, to a table; every document's items are
looked up in it, and one that hits an audited document often enough is compared with it exactly.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish
from nearsame.kernels.hyperplanes import angle_across
from nearsame.kernels.sets import first_at_least, intersect_across

__all__ = ["bottom_items", "compare_vectors", "lookup_documents", "mark_filter"]

_MASK = np.uint64(63)
_SIX = np.uint64(6)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


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
def _asked(owner, place, owner_places, owner_stays, most, found):
    """Which kind of partner a document at a place would be: 1 if it outranks the owner, else 0; -1 if not asked for."""
    if place < 0:
        return -1
    kind = 1 if place < owner_places[owner] else 0
    if (kind == 0 and not owner_stays[owner]) or found[owner, kind] >= most:
        return -1
    return kind


@jit
def lookup_documents(
    items, starts, ends, rows, places, shift, bits, probes, owners, least, audited_rows, audited, offsets,
    owner_places, owner_stays, p, q, most, found, hits, touched, out_owner, out_row, out_num, out_den,
):  # fmt: skip
    """The audited documents that each document resembles; returns (pairs, compared), pairs = -1 if there is no room.

    Args:
        items: uint64.
        starts: int64, where each document's items begin.
        ends: int64, where they end.
        rows: int64.
        places: int64, the place of each document in the order of priority; -1 for one that is no partner to ask about.
        shift: of the filter.
        bits: uint64, the filter.
        probes: uint64 ascending, the items that audited documents lend.
        owners: int64, whose they are.
        least: int64, for each audited document the hits that make a candidate.
        audited_rows: int64.
        audited: uint64, the items of the audited documents.
        offsets: int64, where they begin.
        owner_places: int64, their places.
        owner_stays: bool, whether they stay: of one that does not, only partners that outrank it are asked about.
        p: numerator of the threshold.
        q: its denominator.
        most: partners to find in this batch for an audited document, of those that outrank it and of the others each.
        found: int64[audited, 2] zeros, filled: how many were found of the others, and of those that outrank it.
        hits: int64 zeros, one for each audited document; zeros again afterwards.
        touched: int64 scratch of the same size.
        out_owner: int64, filled; the other three likewise.
        out_row: int64.
        out_num: int64.
        out_den: int64.
    """
    filled = 0
    compared = 0
    for i in range(rows.size):
        if places[i] < 0:
            continue
        num_touched = 0
        for j in range(starts[i], ends[i]):
            x = items[j]
            slot = x >> shift
            if bits[np.int64(slot >> _SIX)] & (_ONE << (slot & _MASK)) == _ZERO:
                continue
            at = first_at_least(probes, 0, probes.size, x)
            while at < probes.size and probes[at] == x:
                owner = owners[at]
                if hits[owner] == 0:
                    touched[num_touched] = owner
                    num_touched += 1
                hits[owner] += 1
                at += 1
        size = ends[i] - starts[i]
        for t in range(num_touched):
            owner = touched[t]
            enough = hits[owner] >= least[owner] and audited_rows[owner] != rows[i]
            hits[owner] = 0
            if not enough or filled < 0:
                continue
            kind = _asked(owner, places[i], owner_places, owner_stays, most, found)
            if kind < 0:
                continue
            compared += 1
            other = offsets[owner + 1] - offsets[owner]
            need = (p * (size + other) + p + q - 1) // (p + q)
            shared = intersect_across(items, starts[i], ends[i], audited, offsets[owner], offsets[owner + 1], need)
            if shared < 0:
                continue
            if filled == out_owner.size:
                filled = -1
                continue
            out_owner[filled], out_row[filled] = owner, rows[i]
            out_num[filled], out_den[filled] = shared, size + other - shared
            found[owner, kind] += 1
            filled += 1
    return filled, compared


@jit
def compare_vectors(
    items, starts, ends, rows, places, audited_rows, audited, offsets, owner_places, owner_stays, p, q, most, found,
    out_owner, out_row, out_num, out_den,
):  # fmt: skip
    """The audited vectors that each vector resembles, every one compared with every other; -1 if there is no room.

    Arguments as above; returns how many pairs.
    """
    filled = 0
    for i in range(rows.size):
        if places[i] < 0 or starts[i] == ends[i]:
            continue
        for owner in range(audited_rows.size):
            if audited_rows[owner] == rows[i]:
                continue
            kind = _asked(owner, places[i], owner_places, owner_stays, most, found)
            if kind < 0:
                continue
            num, den = angle_across(items, starts[i], ends[i], audited, offsets[owner], offsets[owner + 1], p, q)
            if num < 0:
                continue
            if filled == out_owner.size:
                return -1
            out_owner[filled], out_row[filled] = owner, rows[i]
            out_num[filled], out_den[filled] = num, den
            found[owner, kind] += 1
            filled += 1
    return filled
