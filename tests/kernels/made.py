"""Kernels for tests of what is built ahead: one of each thing that can be taken and returned."""

import numpy as np

from nearsame.kernels._jit import jit

__all__ = ["doubled", "halves", "too_much", "upper"]


@jit
def doubled(values):
    """An array that the kernel makes."""
    out = np.empty(values.size, np.uint64)
    for at in range(values.size):
        out[at] = values[at] + values[at]
    return out


@jit
def upper(values, start):
    """A part of the array that it was given, how much that is, and whether it is nothing."""
    return values[start:], values.size - start, start == values.size


@jit
def halves(number, is_negative):
    """A number with a fraction."""
    return -number / 2 if is_negative else number / 2


@jit
def too_much(size):
    """An array for which there is no room."""
    return np.zeros(size, np.uint64)
