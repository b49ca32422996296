"""What is said of a pair beside its similarity, for measures that have a direction.

1. Columns come as float64[columns, pairs], in the order of `names`.
2. `mirror` says which column each one becomes when a and b change places.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samesame.stages.pairs.join import Found

__all__ = ["Directions"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Directions:
    """Containment both ways, from what a pair was scored by: the number of items that it shares."""

    names = ("a_in_b", "b_in_a")
    mirror = (1, 0)

    def __call__(self, found: Found, sizes: Rows) -> npt.NDArray[np.float64]:
        """The share of a in b, and of b in a; `sizes` by row."""
        a, b = sizes[found.a], sizes[found.b]
        shared = np.where(found.nums == found.dens, np.minimum(a, b), found.nums)  # equals were not scored: 1/1
        return np.stack([shared / a, shared / b])
