"""LSH bands: how many of how many rows, and the keys they make.

P(candidate | J) = 1 - (1 - J^r)^b where bands share no value. Where each draws its values from all k, it is
Σ_m C(k,m) J^m (1-J)^(k-m) (1 - (1 - C(m,r)/C(k,r))^b), which is less. Of all (b, r) that reach the recall at the
threshold, the one with the fewest expected false candidates is taken: the least area under the curve below it.
"""

from functools import cached_property
from math import comb, lgamma

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.kernels import minhash
from nearsame.named import NamedTuple
from nearsame.recipes.methods import MinHash
from nearsame.stages.keys.unordered import keys_of_sketches

__all__ = ["BandKeys", "Offer", "choose_bands", "collision_probability", "drawn_from", "offers"]


def collision_probability(
    similarity: npt.ArrayLike, bands: int, rows: int, drawn_from: int | None = None
) -> npt.NDArray[np.float64]:
    """The chance that at least one of `bands` bands of `rows` values agrees: the S-curve.

    Bands that are drawn from the same values share some of them, and so agree and differ together: with `drawn_from`
    values of which m agree, a band agrees with C(m, r) / C(k, r), and m is binomial.

    >>> float(collision_probability(0.5, 20, 5).round(3))
    0.47
    >>> float(collision_probability(0.8, 16, 6, drawn_from=64).round(3))
    0.97
    """
    similarities = np.asarray(similarity, np.float64)
    if drawn_from is None:
        return 1.0 - (1.0 - similarities**rows) ** bands
    agreeing = np.arange(drawn_from + 1)
    a_band = np.array([comb(m, rows) / comb(drawn_from, rows) for m in agreeing.tolist()])
    ways = np.array([lgamma(drawn_from + 1) - lgamma(m + 1) - lgamma(drawn_from - m + 1) for m in agreeing.tolist()])
    inner = np.clip(similarities, 1e-300, 1.0 - 1e-16)[..., None]
    weights = np.exp(ways + agreeing * np.log(inner) + (drawn_from - agreeing) * np.log1p(-inner))
    chances: npt.NDArray[np.float64] = weights @ (1.0 - (1.0 - a_band) ** bands)
    return np.clip(np.where(similarities >= 1.0, 1.0, np.where(similarities <= 0.0, 0.0, chances)), 0.0, 1.0)


def drawn_from(recipe: MinHash) -> int | None:
    """How many values the bands of a recipe are drawn from; None where they share none."""
    return recipe.num_perm if recipe.choice == "random" else None


class Offer(NamedTuple):
    """A shape that reaches the recall at the threshold."""

    bands: int
    rows: int
    area: float  # mean of the S-curve below the threshold


def offers(threshold: float, recall: float, num_perm: int, pool: int | None = None) -> list[Offer]:
    """For each number of rows the fewest bands that reach the recall at the threshold, while any number does.

    Bands that are drawn from a pool of values may use each value twice, on average.

    >>> [offer[:2] for offer in offers(0.8, 0.99, 128)][-2:]
    [(12, 5), (16, 6)]
    """
    grid = (np.arange(500) + 0.5) * threshold / 500
    choices = []
    for rows in range(1, num_perm + 1):
        most = (num_perm if pool is None else 2 * pool) // rows
        if collision_probability(threshold, most, rows, pool) < recall:
            break
        fewest = _fewest_bands(threshold, recall, rows, most, pool)
        choices.append(Offer(fewest, rows, float(collision_probability(grid, fewest, rows, pool).mean())))
    return choices


def choose_bands(threshold: float, recall: float, num_perm: int, pool: int | None = None) -> tuple[int, int]:
    """(bands, rows) with the fewest expected false candidates among those that reach the recall at the threshold.

    >>> choose_bands(0.8, 0.99, 128)
    (16, 6)
    """
    choices = offers(threshold, recall, num_perm, pool)
    if not choices:
        message = f"recall={recall} at threshold={threshold} cannot be reached with num_perm={num_perm}"
        raise ConfigError(message, hint="Raise num_perm, lower the recall, or use the exact method jaccard.")
    best = min(choices, key=lambda offer: offer.area)
    return best.bands, best.rows


def _fewest_bands(threshold: float, recall: float, rows: int, most: int, pool: int | None) -> int:
    low, high = 1, most  # the chance grows with every band
    while low < high:
        middle = (low + high) // 2
        if collision_probability(threshold, middle, rows, pool) >= recall:
            high = middle
        else:
            low = middle + 1
    return low


@dataclass(frozen=True)
class BandKeys:
    """The stage that cuts signatures into bands."""

    recipe: MinHash

    output = schemas.KEYS

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(bands, rows), given or chosen."""
        recipe = self.recipe
        chosen = (float(recipe.threshold), recipe.recall, recipe.num_perm, drawn_from(recipe))
        return recipe.given_shape or choose_bands(*chosen)

    def chances(self, similarity: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """How likely sets of each Jaccard similarity are to share a key."""
        return collision_probability(similarity, *self.shape, drawn_from(self.recipe))

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
        return keys_of_sketches(batch, self.recipe.num_perm, self.keys)

    def keys(
        self, signatures: npt.NDArray[np.uint64], rows: arrow.Int64s
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """(keys, their rows) of some signatures, without a table around them."""
        total = rows.size * self.chosen.shape[0]
        keys, key_rows = np.empty(total, np.uint64), np.empty(total, np.int64)
        minhash.band_keys(signatures, rows, self.chosen, keys, key_rows)
        return keys, key_rows
