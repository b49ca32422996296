"""Bits cut into blocks: which bits of a code two tables' headers are made of. Plain NumPy, nothing compiled.

1. A block is a run of neighbouring bits; blocks cover every bit and share none.
2. A bit weighs as much as it tells codes apart: 1 for a fair bit, 0 for one that never changes. Blocks of equal
   weight keep buckets small where codes are skewed; no weight can make an answer wrong.
3. A header is a mask, uint64[w], over the words of a code.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nearsame.arrow import UInt64s

__all__ = [
    "block_masks",
    "collision_ratio",
    "cut",
    "hash_multipliers",
    "ranges_mask",
    "sample",
    "weigh_bits",
    "windows",
]

_SAMPLE = 4096  # codes looked at: a collision of 1 in a million pairs still shows
_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 / golden ratio, odd: its multiples' top bits are spread evenly


def sample(codes: UInt64s) -> UInt64s:
    """At most 4,096 codes, evenly picked."""
    return codes[:: -(-len(codes) // _SAMPLE) or 1]


def weigh_bits(codes: UInt64s, bits: int) -> npt.NDArray[np.float64]:
    """How well each bit tells codes apart, from a sample: -log2 of the chance that two codes agree on it.

    Args:
        codes: uint64[n, w].
        bits: the length of a code; at most 64·w.

    Returns:
        float64[bits], each from 0 (never changes) to 1 (fair).

    Example:
        >>> weigh_bits(np.array([[0], [1]], np.uint64), 2).tolist()
        [1.0, 0.0]
    """
    if len(codes) == 0:
        return np.ones(bits)
    few = np.ascontiguousarray(sample(codes)).astype("<u8")
    ones = np.unpackbits(few.view(np.uint8), axis=1, bitorder="little").mean(axis=0)[:bits]
    return np.asarray(-np.log2(ones**2 + (1 - ones) ** 2)) + 0.0


def cut(weights: npt.NDArray[np.float64], num_blocks: int) -> list[tuple[int, int]]:
    """The bits cut into blocks of about equal weight, none of them empty: (start, stop) each.

    Example:
        >>> cut(np.ones(64), 5)
        [(0, 13), (13, 26), (26, 38), (38, 51), (51, 64)]
    """
    bits = len(weights)
    below = np.concatenate([[0.0], np.cumsum(weights if weights.any() else np.ones(bits))])
    edges = [0]
    for i in range(1, num_blocks):
        nearest = int(np.abs(below - below[-1] * i / num_blocks).argmin())
        edges.append(min(max(nearest, edges[-1] + 1), bits - num_blocks + i))
    return list(pairwise([*edges, bits]))


def ranges_mask(ranges: Sequence[tuple[int, int]], num_words: int) -> UInt64s:
    """The mask whose bits in any of the ranges (start, stop) are set: uint64[num_words]."""
    value = 0
    for start, stop in ranges:
        value |= (1 << stop) - (1 << start)
    return np.array([value >> 64 * word & 0xFFFFFFFFFFFFFFFF for word in range(num_words)], np.uint64)


def block_masks(weights: npt.NDArray[np.float64], num_blocks: int, num_words: int) -> UInt64s:
    """One mask for each of the blocks that `cut` makes: uint64[num_blocks, num_words]."""
    return np.stack([ranges_mask([block], num_words) for block in cut(weights, num_blocks)])


def windows(bits: int, k: int) -> UInt64s:
    """The headers of rotate and sort: for each rotation the leading bits that some rotation makes equal.

    k differing bits leave bits - k equal ones in at most k gaps around the circle, so one gap has at least
    ceil((bits - k) / k): 21 of 64 bits for k = 3.

    Returns:
        uint64[bits, w]; the window of rotation 0 first. For k = 0 one header, the whole code.

    Example:
        >>> [hex(int(mask[0])) for mask in windows(16, 3)[:2]]
        ['0xf800', '0x7c00']
    """
    num_words = -(-bits // 64)
    if k == 0:
        return ranges_mask([(0, bits)], num_words)[None]
    width = -(-(bits - k) // k)
    masks = []
    for stop in range(bits, 0, -1):
        start = stop - width
        masks.append(ranges_mask([(max(start, 0), stop), (bits + min(start, 0), bits)], num_words))
    return np.stack(masks)


def hash_multipliers(mask: UInt64s, bucket_bits: int) -> UInt64s:
    """What `deal` multiplies the masked words with, so that the top bits of the sum are the bucket: uint64[w].

    A short block within one word is shifted to the top as it is: its buckets are even and never mixed.
    """
    value = sum(int(word) << 64 * place for place, word in enumerate(mask))
    start, stop = (value & -value).bit_length() - 1, value.bit_length()
    is_block = value != 0 and value == (1 << stop) - (1 << start)
    if is_block and start // 64 == (stop - 1) // 64 and stop - start <= bucket_bits:
        shifts = np.zeros(len(mask), np.uint64)
        shifts[start // 64] = 1 << (64 - (stop - 64 * (start // 64)))
        return shifts
    return np.array([pow(_GOLDEN, 2 * place + 1, 1 << 64) for place in range(len(mask))], np.uint64)


def collision_ratio(codes: UInt64s, masks: UInt64s) -> float:
    """The chance that two codes share a header, summed over the masks and measured on a sample.

    Below 1, tables save comparisons; at 1 or above, comparing all pairs is as good.
    """
    few = sample(codes)
    num_pairs = math.comb(len(few), 2)
    if num_pairs == 0:
        return 0.0
    shared = 0
    for mask in masks:
        _, sizes = np.unique(few & mask, axis=0, return_counts=True)
        shared += int((sizes * (sizes - 1) // 2).sum())
    return shared / num_pairs
