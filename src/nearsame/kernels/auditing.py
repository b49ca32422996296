"""Finding the true partners of a few audited documents among all, without the sketch or the keys under audit.

Each audited document lends some of its items, chosen by an independent hash, to a table; every document's items are
looked up in it, and one that hits an audited document often enough is compared with it exactly.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hyperplanes import angle_across
from nearsame.kernels.mixing import finish
from nearsame.kernels.sets import first_at_least, intersect_across

__all__ = ["bottom_items", "compare_vectors", "lookup_documents", "mark_filter", "share_buckets"]

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
def lookup_documents(
    items, starts, ends, rows, kept, shift, bits, probes, owners, least, audited_rows, audited, offsets, p, q,
    most, found, hits, touched, out_owner, out_row, out_num, out_den,
):  # fmt: skip
    """The audited documents that each document resembles; returns (pairs, compared), pairs = -1 if there is no room.

    Args:
        items: uint64.
        starts: int64, where each document's items begin.
        ends: int64, where they end.
        rows: int64.
        kept: bool, whether each document stays.
        shift: of the filter.
        bits: uint64, the filter.
        probes: uint64 ascending, the items that audited documents lend.
        owners: int64, whose they are.
        least: int64, for each audited document the hits that make a candidate.
        audited_rows: int64.
        audited: uint64, the items of the audited documents.
        offsets: int64, where they begin.
        p: numerator of the threshold.
        q: its denominator.
        most: partners to find in this batch for an audited document, of the kept and of the removed each: whether there
            are any is all that is asked, and a template may have 100,000.
        found: int64[audited, 2] zeros, filled: partners that are removed, and kept.
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
            kind = np.int64(kept[i])
            if not enough or filled < 0 or found[owner, kind] >= most:
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
    items, starts, ends, rows, kept, audited_rows, audited, offsets, p, q, most, found, out_owner, out_row, out_num,
    out_den,
):  # fmt: skip
    """The audited vectors that each vector resembles, every one compared with every other; returns how many pairs.

    Arguments as above; the outputs have room for 2 · most pairs of each audited vector.
    """
    filled = 0
    for i in range(rows.size):
        kind = np.int64(kept[i])
        for owner in range(audited_rows.size):
            if audited_rows[owner] == rows[i] or found[owner, kind] >= most or starts[i] == ends[i]:
                continue
            num, den = angle_across(items, starts[i], ends[i], audited, offsets[owner], offsets[owner + 1], p, q)
            if num < 0:
                continue
            out_owner[filled], out_row[filled] = owner, rows[i]
            out_num[filled], out_den[filled] = num, den
            found[owner, kind] += 1
            filled += 1
    return filled


@jit
def share_buckets(a, b, doc_starts, doc_buckets, out):
    """Whether documents a[i] and b[i] of a meeting (-1: not in it) stand in a bucket together."""
    for i in range(a.size):
        out[i] = False
        if a[i] < 0 or b[i] < 0:
            continue
        for e in range(doc_starts[a[i]], doc_starts[a[i] + 1]):
            for f in range(doc_starts[b[i]], doc_starts[b[i] + 1]):
                out[i] = out[i] or doc_buckets[e] == doc_buckets[f]
