"""How well an answer agrees with the right one: pairs against pairs, clusters against clusters.

1. Precision of nothing found, and recall of nothing to be found, are 1: no error was made.
2. The adjusted Rand index is 1 for equal partitions, about 0 for unrelated ones, and may be negative.
"""

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Rows
from nearsame.named import NamedTuple

__all__ = ["Agreement", "adjusted_rand", "agreement", "clusters_of", "pack"]


class Agreement(NamedTuple):
    """Pairs found, pairs that there are, and those that are both."""

    found: int
    true: int
    both: int

    @property
    def precision(self) -> float:
        """The share of the found pairs that are right."""
        return self.both / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of the true pairs that were found."""
        return self.both / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.found + self.true
        return 2 * self.both / total if total else 1.0


def pack(a: Rows, b: Rows) -> Rows:
    """Each pair of rows as one number, whichever comes first.

    Example:
        >>> pack(np.array([1]), np.array([0])) == pack(np.array([0]), np.array([1]))
        array([ True])
    """
    return np.minimum(a, b) << 32 | np.maximum(a, b)


def agreement(found: Rows, true: Rows) -> Agreement:
    """Of packed pairs, each once on either side."""
    return Agreement(found.size, true.size, np.intersect1d(found, true, assume_unique=True).size)


def adjusted_rand(labels: Rows, others: Rows) -> float:
    """How far two partitions of the same documents agree, beyond chance.

    Args:
        labels: the cluster of each document.
        others: the same, by the other partition.

    Example:
        >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([5, 5, 7, 7]))
        1.0
    """
    together = _num_pairs(np.unique(np.stack([labels, others]), axis=1, return_counts=True)[1])
    one, other = (_num_pairs(np.unique(side, return_counts=True)[1]) for side in (labels, others))
    total = labels.size * (labels.size - 1) / 2
    expected = one * other / total if total else 0.0
    most = (one + other) / 2
    return 1.0 if most == expected else (together - expected) / (most - expected)


def _num_pairs(sizes: Rows) -> float:
    return float((sizes * (sizes - 1) // 2).sum())


def clusters_of(num: int, a: Rows, b: Rows, similarity: npt.NDArray[np.float64]) -> Rows:
    """For each document the keeper of its cluster, decided over listed pairs in the order of reading.

    The keepers are those of `dedup` with `keep=first`. The witness is the most similar keeper of higher priority also
    for a copy, which in `dedup` shares the witness of the document that it equals.

    Args:
        num: how many documents.
        a: of each pair the row that ranks first.
        b: the other row.
        similarity: of each pair.

    Example:
        >>> clusters_of(3, np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.9])).tolist()
        [0, 0, 2]
    """
    witness = np.arange(num)
    best = [0.0] * num
    removed = bytearray(num)
    order = np.lexsort((a, b))
    for x, y, alike in zip(a[order].tolist(), b[order].tolist(), similarity[order].tolist(), strict=True):
        if not removed[x] and alike > best[y]:  # all pairs of x as the later one have been seen: its fate is known
            removed[y] = 1
            best[y], witness[y] = alike, x
    return witness
