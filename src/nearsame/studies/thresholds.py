"""A finished run at its own threshold and at higher ones: counted on all documents, beforehand.

1. A result is decided again at each step; a list of pairs loses those that are below it.
2. What cannot be decided again stands at its own threshold alone.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np

from nearsame.answers.reports import AtThreshold
from nearsame.arrow import Int64s, Mask
from nearsame.dataclass import dataclass
from nearsame.recipes.methods import Method
from nearsame.studies.distributions import exactly, grid, sizes
from nearsame.studies.finished import Finished, Moved

__all__ = ["Thresholds"]


@dataclass(frozen=True)
class Thresholds:
    """The steps from the threshold of a run to 1, and what stands at each of them."""

    run: Finished
    method: Method

    @cached_property
    def grid(self) -> list[Fraction]:
        """All steps, the run's own first."""
        return grid(exactly(self.run.stats.least, self.method))

    @cached_property
    def _moved(self) -> list[Moved]:
        """The run decided again at each step; of pairs, and of what cannot be, nothing."""
        at = self.run.at
        return [] if at is None else [at(str(step)) for step in self.grid]

    def decided(self) -> Iterator[AtThreshold]:
        """What would have been answered at each step."""
        judged = self.run.stats.documents - self.run.stats.against
        for step, moved in zip(self.grid, self._moved, strict=bool(self._moved)):
            count = int(moved.gone.sum())
            yield AtThreshold(float(step), count, judged - count, moved.clusters.size, sizes(moved.clusters))
        if self.run.of == "pairs" and len(self.grid) > 1:
            for step, listed in zip(self.grid, self.standing, strict=True):
                yield AtThreshold(float(step), int(listed.sum()))

    @cached_property
    def standing(self) -> list[Mask]:
        """Of each pair of the run, at each step, whether its first document goes, or it is listed."""
        if self.run.of == "pairs":
            similarity = self.run.pairs.column("similarity").to_numpy()
            return [similarity >= float(step) - 1e-12 for step in self.grid]
        rows = np.flatnonzero(self._moved[0].gone) if self._moved else np.zeros(0, np.int64)
        return [moved.gone[rows] for moved in self._moved]

    def bits(self, chosen: Int64s) -> Int64s:
        """Of some pairs the steps at which they stand, as bits."""
        bits = np.zeros(chosen.size, np.int64)
        for number, stands in enumerate(self.standing):
            bits |= stands[chosen].astype(np.int64) << number
        return bits

    def touched(self, documents: Int64s, pairs: tuple[Int64s, Int64s]) -> list[Mask]:
        """Of each document, at each step, whether it goes, or is in a pair.

        Args:
            documents: Keys of all, in order of reading.
            pairs: Those of both documents of each pair.
        """
        if self.run.of == "pairs":
            return [np.isin(documents, np.concatenate([side[listed] for side in pairs])) for listed in self.standing]
        return [moved.gone for moved in self._moved] or [np.isin(documents, pairs[0])]

    def of_clusters(self, numbers: Int64s) -> list[tuple[int, ...]]:
        """Of some clusters how many of the documents that went for them go at each step."""
        if not numbers.size:
            return []
        order, clusters = np.argsort(numbers), self.run.pairs.column("cluster").to_numpy()
        places = order[np.searchsorted(numbers[order], clusters).clip(max=numbers.size - 1)]
        known = numbers[places] == clusters
        counts = [np.bincount(places[known & stands], minlength=numbers.size) for stands in self.standing]
        return [tuple(int(count[at]) for count in counts) for at in range(numbers.size)]
