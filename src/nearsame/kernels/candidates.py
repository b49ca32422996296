"""Rows of items wherever they lie in memory: chosen pairs scored."""

import numpy as np

from nearsame.kernels._jit import jit
from nearsame.kernels.scores import score

__all__ = ["score_pairs"]


@jit
def score_pairs(bound, items, starts, ends, a, b, p, q, out):
    """The similarity of each pair as (num, den), num = -1 if it is below p/q, or one of the two has no items.

    Args:
        bound: as for `scores.score`.
        items: uint64.
        starts: int64; row i has items[starts[i]:ends[i]].
        ends: int64.
        a: int64[n], rows.
        b: int64[n], rows.
        p: numerator of the threshold.
        q: its denominator.
        out: int64[n, 2], filled.
    """
    four = np.empty(4, np.int64)
    for i in range(a.size):
        four[0], four[1] = starts[a[i]], ends[a[i]]
        four[2], four[3] = starts[b[i]], ends[b[i]]
        if four[0] == four[1] or four[2] == four[3]:
            out[i, 0], out[i, 1] = -1, 1
        else:
            out[i, 0], out[i, 1], _ = score(bound, items, four, 0, 2, p, q)
