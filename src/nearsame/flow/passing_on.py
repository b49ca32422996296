"""What people have decided, from layer to layer: what is told of a document is told of the one that it went for.

1. A layer obeys what is told of two documents that are the same to it; of their like it is not told.
2. Who goes leaves what is told of it to its witness. So nobody inherits a keeper that it was told apart from.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Self

import numpy as np

from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.flow.decisions import Before, Located, Standings, by_rank, meets
from nearsame.stages.clusters.apart import Apart
from nearsame.stages.clusters.keepers import Decided

__all__ = ["Passed"]


@dataclass(frozen=True, eq=False)
class Passed:
    """Decisions on their way.

    Attributes:
        given: as they were given.
        before: what became of them so far.
    """

    given: Located
    before: Before

    @classmethod
    def of(cls, given: Located) -> Self:
        """Before any layer."""
        pairs = np.concatenate([given.apart, given.chosen])
        return cls(given, Before(pairs, np.zeros(len(pairs), np.bool_), given.apart[:0]))

    @property
    def left(self) -> Located:
        """What was decided of the documents that are left."""
        pairs = self.before.pairs[: len(self.given.apart)]
        apart = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
        return replace(self.given, apart=apart)

    @property
    def between(self) -> Apart | None:
        """Who is apart of them."""
        apart = self.left.apart
        return Apart(*apart.T) if apart.size else None

    def obeyed(self, decided: Decided, known: Standings, *, within: bool) -> tuple[Decided, Self]:
        """What a layer removes that goes by equality, and the same decisions with what of them fits there."""
        keepers = self.left.among_copies(known, decided.gone(known.best.size), within=within)
        told = self.fitting(lambda a, b: known.best[a] == known.best[b], known, within=within)
        return decided.instead({row: (keeper, 1, 1) for row, keeper in keepers.items()}), told

    def fitting(self, similar: Callable[[Rows, Rows], Mask], known: Standings, *, within: bool) -> Self:
        """The same where a layer has compared; the first of two is the one of higher priority."""
        pairs, fits, alike = self.before
        there = meets(pairs, known.num_against, within=within) & (pairs[:, 0] != pairs[:, 1])
        there[there] = similar(*by_rank(pairs[there], known.ranks))
        apart = there & (np.arange(len(pairs)) < len(self.given.apart))
        return replace(self, before=Before(pairs, fits | there, np.concatenate([alike, pairs[apart]])))

    def renumbered(self, places: Rows) -> Self:
        """The same where documents have other places."""
        given, (pairs, fits, alike) = self.given, self.before
        given = replace(given, apart=places[given.apart], chosen=places[given.chosen])
        return replace(self, given=given, before=Before(places[pairs], fits, places[alike]))

    def behind(self, decided: Decided) -> Self:
        """The same of those that are left."""
        stands = np.arange(1 + max(self.before.pairs.max(initial=0), decided.rows.max(initial=0)))
        stands[decided.rows] = decided.witnesses
        return replace(self, before=self.before._replace(pairs=stands[self.before.pairs]))
