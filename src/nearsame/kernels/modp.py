"""Broder's sketch: the hashes that p divides, and no fewer than a floor."""

from nearsame.kernels._jit import jit

__all__ = ["select_multiples"]


@jit
def select_multiples(items, starts, ends, modulus, floor, out, out_ends):
    """The fingerprint of each set: the first max(floor, multiples of the modulus) items in one order of all hashes.

    Multiples come first in that order, then all others, each by size. So a set with too few multiples is filled up
    with its smallest other items, and sets that share their first items share that part of their fingerprints.

    Args:
        items: uint64, ascending in each set.
        starts: int64[n], where each set begins.
        ends: int64[n], where it ends.
        modulus: uint64, at least 1.
        floor: int64, the fewest items of a fingerprint, where a set has so many.
        out: uint64, room for all items; filled with the fingerprints, ascending, one after the other.
        out_ends: int64[n + 1], filled: that of set i is out[out_ends[i]:out_ends[i + 1]].
    """
    filled = 0
    out_ends[0] = 0
    for i in range(starts.size):
        spare = floor
        for j in range(starts[i], ends[i]):
            if items[j] % modulus == 0:
                spare -= 1
        for j in range(starts[i], ends[i]):
            if items[j] % modulus == 0:
                out[filled] = items[j]
                filled += 1
            elif spare > 0:
                spare -= 1
                out[filled] = items[j]
                filled += 1
        out_ends[i + 1] = filled
