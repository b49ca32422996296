"""Slices of sign codes: how many of how many bits, and the keys they make.

A bit of two codes is equal with probability p = 1 - θ/π, a slice of r bits with p^r, and one of b slices at least
with 1 - (1 - p^r)^b. Of all (b, r) that reach the recall at the threshold, the one with the fewest false candidates is
taken: of documents that have nothing to do with each other (cos θ = 0, p = 1/2), b / 2^r.
"""

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import schemas
from nearsame.arrow import Int64s, UInt64s
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.kernels import hyperplanes
from nearsame.recipes.methods import Hyperplane
from nearsame.stages.keys.unordered import keys_of_sketches

__all__ = ["SliceKeys", "bit_agrees", "choose_slices", "meeting_probability"]

_WIDEST = 64


def bit_agrees(cosine: float) -> float:
    """The chance that two vectors lie on one side of a random hyperplane.

    >>> bit_agrees(0.0)
    0.5
    """
    return 1.0 - math.acos(max(-1.0, min(1.0, cosine))) / math.pi


def meeting_probability(cosine: float, bands: int, rows: int) -> float:
    """The chance that at least one of `bands` slices of `rows` bits agrees.

    >>> round(meeting_probability(0.9, 33, 13), 3)
    0.991
    """
    return 1.0 - (1.0 - bit_agrees(cosine) ** rows) ** bands


def choose_slices(threshold: float, recall: float, bits: int) -> tuple[int, int]:
    """(bands, rows) with the fewest false candidates among those that reach the recall at the threshold.

    >>> choose_slices(0.9, 0.99, 512)
    (33, 13)
    """
    shapes = [
        (bands, rows)
        for rows in range(1, min(bits, _WIDEST) + 1)
        if (bands := _fewest(bit_agrees(threshold) ** rows, recall)) * rows <= bits
    ]
    if not shapes:
        message = f"recall={recall} at threshold={threshold} cannot be reached with bits={bits}"
        raise ConfigError(message, hint="Raise bits or the threshold, or lower the recall.")
    return min(shapes, key=lambda shape: shape[0] / 2.0 ** shape[1])


def _fewest(agrees: float, recall: float) -> int:
    """How many slices it takes, each of which agrees with that chance."""
    return 1 if agrees >= recall else math.ceil(math.log1p(-recall) / math.log1p(-agrees))


@dataclass(frozen=True)
class SliceKeys:
    """The stage that cuts codes into slices."""

    recipe: Hyperplane

    output = schemas.KEYS

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(bands, rows), given or chosen."""
        recipe = self.recipe
        return recipe.given_shape or choose_slices(float(recipe.threshold), recipe.recall, recipe.bits)

    def chances(self, cosine: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """How likely vectors of each cosine are to share a key."""
        return np.array([meeting_probability(one, *self.shape) for one in np.atleast_1d(cosine)])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of SKETCHES."""
        return keys_of_sketches(batch, self.recipe.bits // 64, self._keys)

    def _keys(self, codes: UInt64s, rows: Int64s) -> tuple[UInt64s, Int64s]:
        total = rows.size * self.shape[0]
        keys, key_rows = np.empty(total, np.uint64), np.empty(total, np.int64)
        hyperplanes.slice_keys(codes, rows, *self.shape, keys, key_rows)
        return keys, key_rows
