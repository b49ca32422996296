"""What a choice of keys promises, before any document is read: how likely two similar ones are to meet.

1. Curves are functions of the Jaccard similarity of two sets; nothing here decides about documents.
2. Areas are integrals of a curve over the similarity: below the threshold P is waste, above it 1 - P is loss. They
   weigh every similarity alike, as if pairs were spread evenly; a corpus never is, so plans can be given one.
3. SimHash: a bit differs with probability angle/π, and the distance is binomial over the bits. The indicator vectors
   of two sets of one size with Jaccard J enclose the angle whose cosine is 2J/(1 + J).
"""

from functools import lru_cache
from math import lgamma

import numpy as np
import numpy.typing as npt

from nearsame.recipes.choices import JudgedBy
from nearsame.stages.keys.bands import collision_probability

__all__ = ["areas", "bit_differs", "least_area", "within_distance"]

Floats = npt.NDArray[np.float64]

_STEPS = 1000


def areas(threshold: float, bands: int, rows: int, drawn_from: int | None = None) -> tuple[float, float]:
    """(false positives, false negatives): the area under the S-curve below the threshold, and over it above.

    >>> [round(area, 3) for area in areas(0.5, 20, 5)]
    [0.045, 0.046]
    """
    middle = (np.arange(_STEPS) + 0.5) / _STEPS
    below = collision_probability(middle * threshold, bands, rows, drawn_from).mean() * threshold
    above = 1.0 - collision_probability(threshold + middle * (1.0 - threshold), bands, rows, drawn_from).mean()
    return float(below), float(above * (1.0 - threshold))


@lru_cache(maxsize=128)
def least_area(threshold: float, num_perm: int) -> tuple[int, int]:
    """(bands, rows) of the least sum of both areas: what popular tools take for "the threshold"; for comparison only.

    >>> least_area(0.8, 128)
    (9, 13)
    """
    shapes = ((bands, rows) for rows in range(1, num_perm + 1) for bands in range(1, num_perm // rows + 1))
    return min(shapes, key=lambda shape: sum(areas(threshold, *shape)))


def bit_differs(similarity: npt.ArrayLike, measure: JudgedBy = "jaccard") -> Floats:
    """The chance that a bit of two SimHash codes differs: of unweighted sets of one size by their Jaccard similarity.

    >>> [float(bit_differs(0.8, measure).round(4)) for measure in ("jaccard", "cosine")]
    [0.1515, 0.2048]
    """
    similar = np.asarray(similarity, np.float64)
    cosine = 2 * similar / (1 + similar) if measure == "jaccard" else similar
    return np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi


def within_distance(similarity: npt.ArrayLike, k: int, bits: int, measure: JudgedBy = "jaccard") -> Floats:
    """The chance that two SimHash codes of so many bits are within distance k.

    >>> float(within_distance(0.8, 3, 64).round(3))
    0.009
    """
    differs = bit_differs(similarity, measure)[..., None]
    ones = np.arange(min(k, bits) + 1)
    ways = np.array([lgamma(bits + 1) - lgamma(n + 1) - lgamma(bits - n + 1) for n in ones])
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 · log 0, which is 0 here; 1 - p is at least a half
        some = np.where(ones == 0, 0.0, ones * np.log(differs))
    chances = np.exp(ways + some + (bits - ones) * np.log1p(-differs))
    return np.asarray(np.minimum(chances.sum(-1), 1.0), np.float64)
