"""How similar the pairs of a run are, and how large its clusters: counts that pages and notebooks draw."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from nearsame.answers.reports import SampledBin, SimilarityBin
from nearsame.arrow import Int64s
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Method

__all__ = ["bins", "cluster_table", "curve", "exactly", "grid", "sampled_bins", "sizes"]

_STEPS = 20  # between the threshold and 1
_SIZES = ((2, 2), (3, 3), (4, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, 128), (129, 1024), (1025, 1 << 62))


def exactly(least: float, method: Method) -> Fraction:
    """The threshold of a run, of which statistics have a number of the machine: 2/3 is none."""
    return method.least if float(method.least) == least else Fraction(str(least))


def grid(first: Fraction) -> list[Fraction]:
    """Thresholds from that of a run to 1, in equal steps."""
    steps = [round(first + (1 - first) * step / _STEPS, 4) for step in range(1, _STEPS + 1)]
    return [first, *dict.fromkeys(step for step in steps if step > first)]


def bins(similarity: Any, steps: list[Fraction]) -> tuple[SimilarityBin, ...]:
    """How many pairs there are from each step to the next; what a chain has joined below all of them comes first."""
    edges = np.array([float(step) for step in steps])
    counts = np.bincount(np.searchsorted(edges, similarity + 1e-12, side="right"), minlength=edges.size + 1)
    below = [SimilarityBin(0.0, int(counts[0]))] if counts[0] else []
    return (*below, *(SimilarityBin(*one) for one in zip(edges.tolist(), counts[1:].tolist(), strict=True)))


def sampled_bins(audit: Mapping[str, Any]) -> tuple[SampledBin, ...]:
    """What an audit has seen below the threshold, as it stands in statistics."""
    below = audit.get("below") or {"bins": ()}
    return tuple(SampledBin(least, round(seen * below["stands_for"]), seen) for least, seen in below["bins"])


def curve(method: Method, similarity: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """(similarity, the chance that two documents of it share a key); nothing where no chance is in it."""
    chances = steps(method).chances
    return () if chances is None else tuple(zip(similarity, np.round(chances(similarity), 4).tolist(), strict=True))


def cluster_table(clusters: Int64s, similarity: Any) -> tuple[Int64s, Int64s, Int64s, Any]:
    """Of clusters, largest first: number, documents, and a removed one of it; the least similarity.

    Args:
        clusters: Of each removed document the number of its cluster.
        similarity: Of each to its witness.
    """
    numbers, first, inverse, counts = np.unique(clusters, return_index=True, return_inverse=True, return_counts=True)
    least = np.ones(numbers.size)
    np.minimum.at(least, inverse, similarity)
    order = np.lexsort((numbers, -counts))
    return numbers[order], counts[order] + 1, first[order], least[order]


def sizes(documents: Int64s) -> tuple[tuple[str, int], ...]:
    """How many clusters have so many documents: (documents, clusters).

    >>> sizes(np.array([2, 2, 7]))
    (('2', 2), ('3', 0), ('4', 0), ('5-8', 1))
    """
    counted = [(_range(low, high), int(((documents >= low) & (documents <= high)).sum())) for low, high in _SIZES]
    last = max((at for at, (_, count) in enumerate(counted) if count), default=-1)
    return tuple(counted[: last + 1])


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} or more" if high > 1 << 60 else f"{low:,}-{high:,}"
