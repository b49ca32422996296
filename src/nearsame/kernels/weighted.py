"""Weighted sets: what they offer as keys, and their weights once items were dropped.

1. The weights of a set stand apart from its items, in their order, behind the sum of their squares: all uint64, and the
   sum is below 2**62 (see kernels/cosine.py).
2. In an order that is common to all sets, the first item that two share has the rest of both behind it. Their product
   is at most the root of both rests (Cauchy and Schwarz), so a rest below t² of the whole has no such item in it.
"""

import numpy as np

from nearsame.kernels._jit import jit, mulhi
from nearsame.kernels.cosine import SHARE, share_of

__all__ = ["follow", "weighted_keys"]

_ALONE = np.uint8(1)
_ONE = np.uint64(1)


@jit
def _below(rest, squared_q, whole, squared_p):
    """Whether rest / whole is below p/q, of squares: in 128 bits."""
    high, most = mulhi(rest, squared_q), mulhi(whole, squared_p)
    return high < most or (high == most and rest * squared_q < whole * squared_p)


@jit
def _in_order(counts, start, n, starts, order):
    """The items of a set by (count, hash), those that are alone first: order[:n] are their places; how many are."""
    starts[:] = 0
    for j in range(n):
        starts[np.int64(max(counts[start + j], _ALONE)) + 1] += 1
    for c in range(2, 256):
        starts[c + 1] += starts[c]
    num_alone = starts[2]
    for j in range(n):
        count = np.int64(max(counts[start + j], _ALONE))
        order[starts[count]] = j
        starts[count] += 1
    return num_alone


@jit
def _rest_of_others(weights, first, counts, start, n, whole):
    """What the squares of those items come to that are not alone."""
    rest = whole
    for j in range(n):
        if counts[start + j] <= _ALONE:
            rest -= weights[first + j] * weights[first + j]
    return rest


@jit
def weighted_keys(
    items, begins, ends, weights, weight_begins, counts, count_begins, rows, p, q, keys, key_rows, places, probes
):
    """The keys of each weighted set for a cosine of p/q; returns their number.

    The order of a set is by (count, hash). An item is offered if what is left from it on has at least p²/q² of the sum
    of squares; those of count 1 stand in one set only and are left out.

    Args:
        items: uint64, ascending in each set.
        begins: int64[n], where each set begins.
        ends: int64[n], where it ends.
        weights: uint64.
        weight_begins: int64[n], where the sum of squares of each stands, its weights behind it.
        counts: uint8, of each item.
        count_begins: int64[n], where the counts of each set begin.
        rows: int64[n].
        p: of the threshold, at most 10**9.
        q: the same.
        keys: uint64, as many as items; filled.
        key_rows: int64, the same.
        places: int32, the share of the sum of squares that stands before it, in parts of SHARE, rounded down.
        probes: uint8, whether a pair may begin here: one of two similar sets has the first item that they share where
            what is left from it on has p/q of its sum of squares.
    """
    filled, most = 0, 0
    for i in range(rows.size):
        most = max(most, ends[i] - begins[i])
    starts, order = np.zeros(258, np.int64), np.empty(most, np.int64)
    p_1, q_1 = np.uint64(p), np.uint64(q)
    p_2, q_2 = p_1 * p_1, q_1 * q_1
    for i in range(rows.size):
        start, n, first, count_start = begins[i], ends[i] - begins[i], weight_begins[i] + 1, count_begins[i]
        if n == 0:
            continue
        whole = weights[first - 1]
        rest = _rest_of_others(weights, first, counts, count_start, n, whole)
        if rest == np.uint64(0) or _below(rest, q_2, whole, p_2):
            continue
        num_alone = _in_order(counts, count_start, n, starts, order)
        for place in range(num_alone, n):
            if _below(rest, q_2, whole, p_2):
                break
            j = order[place]
            keys[filled] = items[start + j]
            key_rows[filled] = rows[i]
            places[filled] = SHARE - share_of(rest, whole)
            probes[filled] = not _below(rest, q_1, whole, p_1)
            filled += 1
            rest -= weights[first + j] * weights[first + j]
    return filled


@jit
def follow(items, starts, ends, values, value_starts, kept, kept_starts, kept_ends, out):
    """What stood beside each item that was kept; beside one that was not there, 1.

    Args:
        items: uint64, in any order.
        starts: int64[n].
        ends: int64[n].
        values: uint64.
        value_starts: int64[n], where those of each set begin.
        kept: uint64, of each set some items in their order, or others.
        kept_starts: int64[n].
        kept_ends: int64[n].
        out: uint64, as many as `kept`, filled.
    """
    for i in range(starts.size):
        j = starts[i]
        for k in range(kept_starts[i], kept_ends[i]):
            while j < ends[i] and items[j] != kept[k]:
                j += 1
            out[k] = values[value_starts[i] + j - starts[i]] if j < ends[i] else _ONE
