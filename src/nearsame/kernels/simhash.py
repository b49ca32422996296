"""SimHash: the sign of each bit's sum over the features' hashes, and keys of the codes.

1. The sum of bit b adds a feature's weight where its hash has the bit, and takes it away where not.
2. Without weights nothing is summed: counters stand upright, a bit of each of the 64 in one word, so that one
   addition counts all of them, and the counts are compared with half of the number in place (Harley and Seal).
3. Weights are int64; the stage keeps their squares' sum below 2**62, so no sum can overflow.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish

__all__ = ["append_lists", "fit_weights", "header_keys", "majority", "weigh", "weighted_majority", "weighted_sums"]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_PLANES = 40
_LARGE, _MOST = np.uint64(1 << 31), np.uint64(1 << 62)


@jit
def _majority(items, start, end, step, zero_is_one, planes):
    """The bits that more than half of items[start], items[start + step] … before `end` have; half: as told."""
    ones, twos, fours = _ZERO, _ZERO, _ZERO
    planes[:] = _ZERO
    i = start
    while i + 7 * step < end:
        a, b, c, d = items[i], items[i + step], items[i + 2 * step], items[i + 3 * step]
        e, f, g, h = items[i + 4 * step], items[i + 5 * step], items[i + 6 * step], items[i + 7 * step]
        i += 8 * step
        u = ones ^ a
        two_1, ones = (ones & a) | (u & b), u ^ b
        u = ones ^ c
        two_2, ones = (ones & c) | (u & d), u ^ d
        u = twos ^ two_1
        four_1, twos = (twos & two_1) | (u & two_2), u ^ two_2
        u = ones ^ e
        two_1, ones = (ones & e) | (u & f), u ^ f
        u = ones ^ g
        two_2, ones = (ones & g) | (u & h), u ^ h
        u = twos ^ two_1
        four_2, twos = (twos & two_1) | (u & two_2), u ^ two_2
        u = fours ^ four_1
        carry, fours = (fours & four_1) | (u & four_2), u ^ four_2
        plane = 3
        while carry != _ZERO:
            planes[plane], carry = planes[plane] ^ carry, planes[plane] & carry
            plane += 1
    planes[0], planes[1], planes[2] = ones, twos, fours
    while i < end:
        carry = items[i]
        i += step
        plane = 0
        while carry != _ZERO:
            planes[plane], carry = planes[plane] ^ carry, planes[plane] & carry
            plane += 1
    num = (end - start + step - 1) // step
    return _above(planes, num >> 1, zero_is_one and num & 1 == 0)


@jit
def _above(planes, most, or_equal):
    """The bits whose count is above `most`, or equal to it."""
    above = _ZERO
    equal = _ONES
    for plane in range(planes.size - 1, -1, -1):
        if (most >> plane) & 1:
            equal &= planes[plane]
        else:
            above |= equal & planes[plane]
            equal &= ~planes[plane]
    return above | equal if or_equal else above


@jit
def majority(hashes, starts, ends, zero_is_one, mask, out):
    """The code of each row without weights.

    Args:
        hashes: uint64; row i has hashes[starts[i]:ends[i]], as many words for each feature as a code has.
        starts: int64[n].
        ends: int64[n].
        zero_is_one: whether a sum of zero sets the bit.
        mask: uint64[w], the bits of a code.
        out: uint64[n, w], filled.
    """
    planes = np.empty(_PLANES, np.uint64)
    step = out.shape[1]
    for i in range(out.shape[0]):
        for word in range(step):
            out[i, word] = _majority(hashes, starts[i] + word, ends[i], step, zero_is_one, planes) & mask[word]


@jit
def weighted_sums(hashes, start, end, step, weights, first, sums):
    """The 64 sums over hashes[start], hashes[start + step] … before `end`, with weights (uint64) from `first` on.

    Sums are int64[64], filled. Weights are added where the bit is set; what all of them come to is taken away once.
    """
    total = _ZERO
    twice = np.zeros(64, np.uint64)
    for j in range(start, end, step):
        h, w = hashes[j], weights[first + (j - start) // step]
        total += w
        for b in range(64):
            twice[b] += w & (_ZERO - ((h >> np.uint64(b)) & _ONE))
    for b in range(64):
        sums[b] = np.int64(twice[b] + twice[b] - total)


@jit
def weighted_majority(hashes, starts, ends, weights, firsts, zero_is_one, mask, out):
    """The code of each row with weights: row i has weights[firsts[i]:], one a feature; the rest as `majority`."""
    sums = np.empty(64, np.int64)
    step = out.shape[1]
    least = 0 if zero_is_one else 1
    for i in range(out.shape[0]):
        for word in range(step):
            weighted_sums(hashes, starts[i] + word, ends[i], step, weights, firsts[i], sums)
            code = _ZERO
            for b in range(64):
                if sums[b] >= least:
                    code |= _ONE << np.uint64(b)
            out[i, word] = code & mask[word]


@jit
def append_lists(values, starts, ends, at, out):
    """Copy values[starts[i]:ends[i]] to out[at[i]:] for each row, and move at[i] behind it."""
    for i in range(at.size):
        for j in range(starts[i], ends[i]):
            out[at[i] + j - starts[i]] = values[j]
        at[i] += ends[i] - starts[i]


@jit
def fit_weights(weights, starts, ends, norms):
    """Halve the weights of a row, rounding up, until the sum of their squares is below 2**62; fill in norms (uint64).

    Weights are uint64 below 2**62. With frequencies alone it takes a text of two billion words to need this.
    """
    for i in range(norms.size):
        while True:
            total = _ZERO
            fits = True
            for j in range(starts[i], ends[i]):
                w = weights[j]
                fits = fits and w < _LARGE and total + w * w < _MOST
                total += w * w if fits else _ZERO
            if fits:
                break
            for j in range(starts[i], ends[i]):
                weights[j] = (weights[j] + _ONE) >> _ONE
        norms[i] = total


@jit
def header_keys(items, starts, tables, salts, rows, keys, key_rows):
    """One key for each row and table: a hash of the code's header bits, in a domain of the table's own.

    Args:
        items: uint64; the code of row i begins at items[starts[i]].
        starts: int64[n].
        tables: uint64[t, w], header masks.
        salts: uint64[t], different ones.
        rows: int64[n].
        keys: uint64[n · t], filled.
        key_rows: int64[n · t], filled.
    """
    at = 0
    for i in range(rows.size):
        for table in range(tables.shape[0]):
            key = salts[table]
            for word in range(tables.shape[1]):
                key = finish(key ^ (items[starts[i] + word] & tables[table, word]))
            keys[at] = key
            key_rows[at] = rows[i]
            at += 1


@jit
def weigh(items, times, known, shift, starts, weights, unknown, out):
    """Times each feature's weight, looked up: out[i] = times[i] · weight of items[i].

    Args:
        items: uint64.
        times: uint64, as many.
        known: uint64 ascending.
        shift: uint64, below 64.
        starts: int64: known[starts[v]:starts[v + 1]] have value v above `shift`.
        weights: uint64, of the known ones.
        unknown: uint64, of all others.
        out: uint64, filled.
    """
    for i in range(items.size):
        value = np.int64(items[i] >> shift)
        weight = unknown
        for j in range(starts[value], starts[value + 1]):
            if known[j] == items[i]:
                weight = weights[j]
                break
        out[i] = times[i] * weight
