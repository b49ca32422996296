"""What is said of a pair besides its similarity: containment both ways, and what an estimate is an estimate of.

1. Columns come as float64[columns, pairs], in the order of `names`.
2. `mirror` says which column each one becomes when a and b change places.
3. Pairs are of representatives; one that is a document and itself stands for two with equal features.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding
from nearsame.kernels.scores import JACCARD, Bound
from nearsame.stages.pairs.join import JoinedPairs

__all__ = ["Directions"]

Shares = npt.NDArray[np.float64]
Take = Callable[[Rows], tuple[arrow.UInt64s, Rows]]  # the features of some rows: (items, offsets)


@dataclass(frozen=True)
class Directions:
    """The columns of methods that are about sets.

    Attributes:
        exact: whether the sets were sketches, so that the similarity and both shares are also those of the features.
    """

    exact: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return ("a_in_b", "b_in_a", *(("exact", "exact_a_in_b", "exact_b_in_a") if self.exact else ()))

    @property
    def mirror(self) -> tuple[int, ...]:
        """Which column each one becomes when a and b change places."""
        return (1, 0, *((2, 4, 3) if self.exact else ()))

    def __call__(self, pairs: JoinedPairs, sizes: Rows, take: Take) -> Shares:
        """The columns, from how many items a pair shares (its score) and has (`sizes`, by row, of what was scored)."""
        same = pairs.a == pairs.b
        shares = np.where(same, 1.0, _shares(pairs.nums, sizes[pairs.a], sizes[pairs.b]))
        return np.concatenate([shares, np.where(same, 1.0, _exact(pairs, take))]) if self.exact else shares


def _shares(shared: Rows, size_a: Rows, size_b: Rows) -> Shares:
    return np.stack([shared / np.maximum(size_a, 1), shared / np.maximum(size_b, 1)])


def _exact(pairs: JoinedPairs, take: Take) -> Shares:
    """Jaccard, and the shares of a in b and of b in a, of the features."""
    rows = np.unique(np.concatenate([pairs.a, pairs.b]))
    items, offsets = take(rows)
    a, b = np.searchsorted(rows, pairs.a), np.searchsorted(rows, pairs.b)
    nums, dens = np.empty(a.size, np.int64), np.empty(a.size, np.int64)
    deciding.verify_pairs(a, b, items, offsets, Bound(JACCARD, 0, 1), nums, dens)
    sizes = np.diff(offsets)
    return np.concatenate([(nums / np.maximum(dens, 1))[None], _shares(nums, sizes[a], sizes[b])])
