"""Rotate and sort, the textbook's Hamming search: codes turned by some bits and sorted, so that near ones meet.

1. `adjacent` compares neighbours only, as the textbook has it: it is lossy at any size, since three close codes already
   hide a pair. It needs all codes in one sorted order, hence one machine.
2. `runs` compares every two codes that share the leading bits which some rotation must make equal: exact.
3. A code turned left by r has its bit i at (i + r) mod `bits`.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s, UInt64s, frozen
from nearsame.kernels._jit import jit
from nearsame.kernels.hamming_blocks import windows
from nearsame.kernels.hamming_search import CodePairs, Run, distances, distinct, self_join, unpack

__all__ = ["adjacent", "rotate", "rotated_order", "runs"]

_ZERO = np.uint64(0)
_U32 = np.uint64(32)


@jit
def _word_at(codes, row, start):
    """The 64 bits of a code from bit `start` on, which may lie before or behind it; bits outside are zero."""
    word = start // 64
    turn = np.uint64(start - 64 * word)
    low = codes[row, word] >> turn if 0 <= word < codes.shape[1] else _ZERO
    if turn > _ZERO and 0 <= word + 1 < codes.shape[1]:
        low |= codes[row, word + 1] << (np.uint64(64) - turn)
    return low


@jit
def turn_left(codes, bits, by, last_mask, out):
    """Turn codes of `bits` bits left by 0 ≤ by < bits: uint64[n, w] -> uint64[n, w].

    `last_mask` has the bits of the last word that belong to a code; all earlier words are full.
    """
    for row in range(codes.shape[0]):
        for word in range(codes.shape[1]):
            out[row, word] = _word_at(codes, row, 64 * word - by) | _word_at(codes, row, 64 * word + bits - by)
        out[row, codes.shape[1] - 1] &= last_mask


def rotate(codes: UInt64s, bits: int, by: int) -> UInt64s:
    """The codes turned left.

    Args:
        codes: uint64[n, w].
        bits: the length of a code, above 64·(w - 1) and at most 64·w.
        by: how far, of any size and sign.

    Example:
        >>> rotate(np.array([[37586]], np.uint64), 16, 2).tolist()
        [[19274]]
    """
    out = np.empty_like(codes)
    last = np.uint64((1 << (bits - 64 * (codes.shape[1] - 1))) - 1)
    turn_left(frozen(codes), bits, by % bits, last, out)
    return frozen(out)


def rotated_order(codes: UInt64s, bits: int, by: int) -> Int64s:
    """Rows in ascending order of their codes turned left.

    Example:
        >>> rotated_order(np.array([[1], [32768], [2]], np.uint64), 16, 1).tolist()
        [1, 0, 2]
    """
    return distinct(rotate(codes, bits, by))[0]


def adjacent(codes: UInt64s, bits: int, k: int, rotations: Sequence[int] | None = None) -> CodePairs:
    """Pairs within k bits that are neighbours in at least one of the sorted orders: not all pairs.

    Args:
        codes: uint64[n, w].
        bits: the length of a code.
        k: the greatest distance.
        rotations: how far to turn left before each sort; all by default.

    Example:
        >>> adjacent(np.array([[0], [1], [3], [2]], np.uint64), 16, 1, [0]).a.tolist()
        [0, 2]
    """
    found = [np.empty(0, np.uint64)]
    for by in range(bits) if rotations is None else rotations:
        order = rotated_order(codes, bits, by)
        near: npt.NDArray[np.bool_] = distances(codes[order[:-1]], codes[order[1:]]) <= k
        a = np.minimum(order[:-1], order[1:])[near].view(np.uint64)
        b = np.maximum(order[:-1], order[1:])[near].view(np.uint64)
        found.append((a << _U32) | b)
    return unpack(codes, np.unique(np.concatenate(found)))


def runs(codes: UInt64s, bits: int, k: int, *, run: Run = map) -> CodePairs:
    """Every pair within k bits, once, by comparing whole runs that share their leading bits after each rotation.

    Arguments as for `adjacent`; `run` as for `self_join`.

    Example:
        >>> runs(np.array([[0], [1], [3], [2]], np.uint64), 16, 1).a.tolist()
        [0, 0, 1, 2]
    """
    return self_join(codes, k, windows(bits, k), run=run)
