"""LSH bands: how many of how many rows, and the keys they make.

P(candidate | J) = 1 - (1 - J^r)^b. Of all (b, r) that reach the recall at the threshold, the one with the fewest
expected false candidates is taken: the least area under the curve below the threshold.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.errors import ConfigError
from nearsame.kernels import minhash
from nearsame.methods import MinHash

__all__ = ["BandKeys", "Offer", "choose_bands", "collision_probability", "offers"]


def collision_probability(similarity: npt.ArrayLike, bands: int, rows: int) -> npt.NDArray[np.float64]:
    """The chance that at least one of `bands` bands of `rows` values agrees: the S-curve.

    >>> float(collision_probability(0.5, 20, 5).round(3))
    0.47
    """
    return 1.0 - (1.0 - np.asarray(similarity, np.float64) ** rows) ** bands


class Offer(NamedTuple):
    """A shape that reaches the recall at the threshold."""

    bands: int
    rows: int
    area: float  # mean of the S-curve below the threshold


def offers(threshold: float, recall: float, num_perm: int) -> list[Offer]:
    """For each number of rows the fewest bands that reach the recall at the threshold, while any number does.

    >>> [offer[:2] for offer in offers(0.8, 0.99, 128)][-2:]
    [(12, 5), (16, 6)]
    """
    grid = (np.arange(500) + 0.5) * threshold / 500
    found = []
    for rows in range(1, num_perm + 1):
        bands = num_perm // rows
        if collision_probability(threshold, bands, rows) < recall:
            break
        fewest = _fewest_bands(threshold, recall, rows, bands)
        found.append(Offer(fewest, rows, float(collision_probability(grid, fewest, rows).mean())))
    return found


def choose_bands(threshold: float, recall: float, num_perm: int) -> tuple[int, int]:
    """(bands, rows) with the fewest expected false candidates among those that reach the recall at the threshold.

    >>> choose_bands(0.8, 0.99, 128)
    (16, 6)
    """
    found = offers(threshold, recall, num_perm)
    if not found:
        message = f"recall={recall} at threshold={threshold} cannot be reached with num_perm={num_perm}"
        raise ConfigError(message, hint="Raise num_perm, lower the recall, or use the exact method jaccard.")
    best = min(found, key=lambda offer: offer.area)
    return best.bands, best.rows


def _fewest_bands(threshold: float, recall: float, rows: int, most: int) -> int:
    for bands in range(1, most):
        if collision_probability(threshold, bands, rows) >= recall:
            return bands
    return most


@dataclass(frozen=True)
class BandKeys:
    """The stage that cuts signatures into bands."""

    recipe: MinHash

    output = schemas.KEYS

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(bands, rows), given or chosen."""
        recipe = self.recipe
        if recipe.bands is not None and recipe.rows is not None:
            return recipe.bands, recipe.rows
        return choose_bands(float(recipe.threshold), recipe.recall, recipe.num_perm)

    @cached_property
    def chosen(self) -> npt.NDArray[np.int64]:
        """Which values of the signature make up each band."""
        bands, rows = self.shape
        if self.recipe.choice == "consecutive":
            return np.arange(bands * rows).reshape(bands, rows)
        order = np.random.Generator(np.random.PCG64(self.recipe.seed))
        return np.array([np.sort(order.permutation(self.recipe.num_perm)[:rows]) for _ in range(bands)])

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of SKETCHES."""
        lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        signatures = lists.items[lists.starts[0] : lists.ends[-1]] if rows.size else lists.items[:0]
        present = rows[lists.sizes > 0]
        keys, key_rows = self.keys(signatures.reshape(-1, self.recipe.num_perm), present)
        total = keys.size
        columns = (keys.view(np.int64), key_rows, np.full(total, -1, np.int32), np.ones(total, np.uint8))
        return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], schema=schemas.KEYS)

    def keys(
        self, signatures: npt.NDArray[np.uint64], rows: arrow.Int64s
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """(keys, their rows) of some signatures, without a table around them."""
        total = rows.size * self.chosen.shape[0]
        keys, key_rows = np.empty(total, np.uint64), np.empty(total, np.int64)
        minhash.band_keys(signatures, rows, self.chosen, keys, key_rows)
        return keys, key_rows
