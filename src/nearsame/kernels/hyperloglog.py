"""About how many different hashes there are: the registers of a HyperLogLog."""

import numpy as np

from nearsame.kernels._jit import jit, trailing_zeros

__all__ = ["PLACES", "mark_longest"]

PLACES = 14  # bits of a hash that choose its register
_SHIFT = np.uint64(64 - PLACES)
_TOP = np.uint64(1 << (64 - PLACES))


@jit
def mark_longest(items, starts, ends, registers):
    """Raise each item's register to one more than the trailing zeros of its other bits: uint8[2**PLACES]."""
    for i in range(starts.size):
        for j in range(starts[i], ends[i]):
            item = items[j]
            rank = np.uint8(trailing_zeros(item | _TOP) + 1)
            place = np.int64(item >> _SHIFT)
            registers[place] = max(registers[place], rank)
