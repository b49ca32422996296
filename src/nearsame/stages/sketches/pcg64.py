"""PCG64, seeded as NumPy seeds it: the same numbers, without `numpy.random`, which takes longer to load than they take.

1. The numbers of a seed are part of what a sketch is: a test holds them to NumPy's, which promises to keep that stream.
2. A few hundred are drawn for each recipe; whoever needs thousands takes NumPy's.

Sources: M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
Generation" (2014), XSL-RR of 128 bits; NumPy's `SeedSequence`, after M. E. O'Neill's `seed_seq_fe`.
"""

from itertools import cycle, islice

import numpy as np
import numpy.typing as npt

__all__ = ["PCG64"]

_POOL = 4
_START, _FACTOR = 0x43B0D7E5, 0x931E8875
_START_OUT, _FACTOR_OUT = 0x8B51F9DD, 0x58F38DED
_LEFT, _RIGHT = 0xCA01F9DD, 0x4973F715
_STEP = 0x2360ED051FC65DA44385DF649FCCF645
_32, _64, _128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1


class PCG64:
    """A stream of 64-bit numbers."""

    def __init__(self, seed: int) -> None:
        a, b, c, d = _state(seed)
        self._increment = (c << 64 | d) << 1 & _128 | 1
        self._at = self._increment + (a << 64 | b) & _128
        self._at = self._at * _STEP + self._increment & _128

    def random_raw(self, size: int) -> npt.NDArray[np.uint64]:
        """The next so many numbers.

        Example:
            >>> PCG64(0).random_raw(2).tolist()
            [11749869230777074271, 4976686463289251617]
        """
        return np.fromiter((self._next() for _ in range(size)), np.uint64, size)

    def _next(self) -> int:
        self._at = self._at * _STEP + self._increment & _128
        word, turn = (self._at >> 64 ^ self._at) & _64, self._at >> 122
        return (word >> turn | word << 64 - turn) & _64


class _Hash:
    """Hashes words one after the other, each by other constants."""

    def __init__(self, start: int, factor: int) -> None:
        self._constant, self._factor = start, factor

    def __call__(self, word: int) -> int:
        word ^= self._constant
        self._constant = self._constant * self._factor & _32
        return _folded(word * self._constant & _32)


def _folded(word: int) -> int:
    return word ^ word >> 16


def _state(seed: int) -> list[int]:
    """Four words of 64 bits that hang on all bits of a seed."""
    words = [seed >> shift & _32 for shift in range(0, max(seed.bit_length(), 1), 32)]
    hashed = _Hash(_START, _FACTOR)
    pool = [hashed(word) for word in (words + [0] * _POOL)[:_POOL]]
    for source in range(max(_POOL, len(words))):
        for place in range(_POOL):
            if source != place:
                word = hashed(pool[source] if source < _POOL else words[source])
                pool[place] = _folded(_LEFT * pool[place] - _RIGHT * word & _32)
    out = [*map(_Hash(_START_OUT, _FACTOR_OUT), islice(cycle(pool), 8))]
    return [low | high << 32 for low, high in zip(out[::2], out[1::2], strict=True)]
