"""Dense vectors: rounded to integers, cut by random hyperplanes, compared by their cosine.

1. A rounded vector is the sum of its coordinates' squares, then its coordinates as int16, four to a word, zeros behind
   the last. Coordinates are at most 32767 in size, so sums of squares and products are below 2**62 for any length
   that fits into memory, and nothing overflows.
2. Each coordinate is rounded by itself: no sum of floats, so no order of adding, decides anything.
3. A bit of a code is 1 where the product with its hyperplane is above zero; a product of exactly zero is a 0.
"""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.cosine import told
from nearsame.kernels.hashing import finish, mix

__all__ = ["LARGEST", "angle", "angle_across", "codes", "round_vectors", "slice_keys"]

LARGEST = 32767
_SCALE = np.float64(LARGEST)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_K1 = np.uint64(0xD1B54A32D192ED03)
_K2 = np.uint64(0x8CB92BA72F3D8DD7)


@jit
def round_vectors(values, starts, ends, out_starts, out):
    """Each vector, stretched so that its largest coordinate is 32767, rounded to the nearest integers.

    Scaling by the largest coordinate rather than by the length uses all 15 bits, whatever the number of coordinates:
    the rounded vector has a length of 32767 at least, and is off by √d / 2 at most.

    Args:
        values: float64, finite.
        starts: int64[n], where each vector begins.
        ends: int64[n], where it ends.
        out_starts: int64[n], where its words begin in `out`; a vector of zeros has none.
        out: uint64, zeros; filled.
    """
    numbers = out.view(np.int16)
    for i in range(starts.size):
        largest = 0.0
        for j in range(starts[i], ends[i]):
            largest = max(largest, abs(values[j]))
        if largest == 0.0:
            continue
        at = 4 * (out_starts[i] + 1) - starts[i]
        squares = np.int64(0)
        for j in range(starts[i], ends[i]):
            number = np.int64(np.rint(values[j] / largest * _SCALE))
            numbers[at + j] = number
            squares += number * number
        out[out_starts[i]] = np.uint64(squares)


@jit
def codes(items, starts, planes, out):
    """The signs of each vector's products with the hyperplanes, the first in the lowest bit of the first word.

    Args:
        items: uint64, rounded vectors.
        starts: int64[n], where each begins.
        planes: int16[bits, d], d a multiple of four.
        out: uint64[n, bits / 64], filled.
    """
    numbers = items.view(np.int16)
    size = planes.shape[1]
    for i in range(starts.size):
        vector = numbers[4 * (starts[i] + 1) : 4 * (starts[i] + 1) + size]
        for word in range(out.shape[1]):
            bits = _ZERO
            for bit in range(64):
                plane = planes[64 * word + bit]
                product = np.int64(0)
                for j in range(size):
                    product += np.int64(vector[j]) * np.int64(plane[j])
                if product > 0:
                    bits |= _ONE << np.uint64(bit)
            out[i, word] = bits


@jit
def slice_keys(words, rows, num_slices, width, keys, key_rows):
    """One key for each slice of each code: disjoint runs of `width` bits, from the lowest on.

    Args:
        words: uint64[n, m], codes.
        rows: int64[n].
        num_slices: of a code.
        width: of a slice, from 1 to 64 bits.
        keys: uint64[n · num_slices], filled; the number of the slice is hashed in.
        key_rows: int64[n · num_slices], filled.
    """
    mask = ~_ZERO >> np.uint64(64 - width)
    filled = 0
    for i in range(rows.size):
        for number in range(num_slices):
            first = number * width
            word, shift = first >> 6, np.uint64(first & 63)
            value = words[i, word] >> shift
            if (first & 63) + width > 64:
                value |= words[i, word + 1] << (np.uint64(64) - shift)
            keys[filled] = finish(mix((value & mask) ^ _K2, mix(np.uint64(number + 1) * _K1, _K2)))
            key_rows[filled] = rows[i]
            filled += 1


@jit
def angle(items, a, a_end, b, b_end, p, q):
    """The cosine of two rounded vectors as (num, den); num = -1 if it is below p/q, which is above 0."""
    return angle_across(items, a, a_end, items, b, b_end, p, q)


@jit
def angle_across(items, a, a_end, others, b, b_end, p, q):
    """The same of a vector of `items` and one of `others`."""
    if a_end - a != b_end - b:
        return -1, 1
    x = items.view(np.int16)[4 * (a + 1) : 4 * a_end]
    y = others.view(np.int16)[4 * (b + 1) : 4 * b_end]
    product = np.int64(0)
    for j in range(x.size):
        product += np.int64(x[j]) * np.int64(y[j])
    if product <= 0:
        return -1, 1
    return told(np.uint64(product), items[a], others[b], p, q)
