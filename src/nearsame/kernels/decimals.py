"""Whole numbers as the texts that they are written as, in the decimal system."""

import numpy as np

from nearsame.kernels._jit import jit

__all__ = ["decimal_ends", "write_decimals"]

_U0, _U10 = np.uint64(0), np.uint64(10)
_ZERO, _MINUS = np.uint64(ord("0")), np.uint8(ord("-"))


@jit
def _size_of(value):
    """A number without its sign."""
    return np.uint64(value) if value >= 0 else ~np.uint64(value) + np.uint64(1)


@jit
def decimal_ends(values, ends):
    """ends[i + 1] becomes the end of the text of values[i] (int64), the texts one after the other from 0 = ends[0]."""
    end = np.int64(0)
    ends[0] = end
    for i in range(values.size):
        end += 1 + np.int64(values[i] < 0)
        rest = _size_of(values[i])
        while rest >= _U10:
            rest //= _U10
            end += 1
        ends[i + 1] = end


@jit
def write_decimals(values, ends, out):
    """Write each of these texts to out[ends[i]:ends[i + 1]] (uint8)."""
    for i in range(values.size):
        rest, at = _size_of(values[i]), ends[i + 1] - 1
        while rest >= _U10:
            out[at] = np.uint8(_ZERO + rest % _U10)
            rest //= _U10
            at -= 1
        out[at] = np.uint8(_ZERO + rest)
        if values[i] < 0:
            out[at - 1] = _MINUS
