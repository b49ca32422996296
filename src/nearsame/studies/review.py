"""`review`: what a run has decided, the most doubtful first.

1. Clusters with documents that a chain alone has joined come first, then those near the threshold, of these the large
   ones; within one the least similar first.
"""

import os
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from nearsame.answers.doubts import Doubt
from nearsame.answers.reports import SeenDocument
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, SourceError
from nearsame.sources.judged import JudgedPair
from nearsame.studies.finished import Finished, finished
from nearsame.studies.side_by_side import LaidOut, Sides

__all__ = ["Review"]

_AHEAD = 40  # pairs whose texts are read together
_DEGREES = 10  # between the threshold and 1
_LARGE = 10  # documents


@dataclass
class Review:
    """A finished run, to be looked at pair by pair."""

    run: Finished
    _texts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, directory: str | os.PathLike[str]) -> "Review":
        """What `dedup -o` has written.

        Raises:
            ConfigError: Nothing was removed.
            SourceError: It is no output of dedup, or its texts are not there any more.
        """
        run = finished(directory)
        if not run.pairs.num_rows:
            raise ConfigError(f"{os.fspath(directory)}: nothing was removed, so there is nothing to decide", hint="")
        if run.sources.missing:
            raise SourceError(f"its texts cannot be shown: {run.sources.missing}", hint="Put the sources back.")
        if not run.sources.are_texts:
            raise ConfigError(f"{os.fspath(directory)} is not about texts", hint="Compare numbers by other means.")
        return cls(run)

    def __len__(self) -> int:
        return int(self.run.pairs.num_rows)

    @cached_property
    def _order(self) -> tuple[Rows, Rows, Rows]:
        """The rows of the pairs in the order of doubt; of each the place of its cluster, and how large that is."""
        pairs = self.run.pairs
        names, place, sizes = np.unique(pairs.column("cluster").to_numpy(), return_inverse=True, return_counts=True)
        similarity = pairs.column("similarity").to_numpy()
        least = np.full(names.size, np.inf)
        np.minimum.at(least, place, similarity)
        threshold = self.run.stats.least
        degree = np.floor(_DEGREES * (least - threshold) / max(1 - threshold, 1e-9)).clip(-1, _DEGREES)
        by_doubt = np.lexsort((names, least, -sizes, degree))
        number = np.empty(names.size, np.int64)
        number[by_doubt] = np.arange(names.size)
        rows = np.lexsort((np.arange(similarity.size), similarity, number[place]))
        return rows, number[place], sizes[place] + 1

    @cached_property
    def pairs(self) -> Sequence[tuple[str, str]]:
        """The ids of each pair, in the order of doubt, whichever is named first."""
        rows = self._order[0]
        both = (self.run.pairs.column(name).take(rows).to_pylist() for name in ("a_id", "b_id"))
        return [JudgedPair(0, a, b).pair for a, b in zip(*both, strict=True)]

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """The place of each pair in that order."""
        return {pair: number for number, pair in enumerate(self.pairs)}

    def doubt(self, number: int) -> Doubt:
        """One pair, in the order of doubt."""
        rows, clusters, documents = self._order
        row = int(rows[number])
        said = self.run.pairs.slice(row, 1).to_pylist()[0]
        goes, stays = (SeenDocument(*(said[f"{side}_{name}"] for name in ("id", "source", "row"))) for side in "ab")
        least, size = self.run.stats.least, int(documents[row])
        return Doubt(
            goes, stays, said["similarity"], said["measure"], least, int(clusters[row]), int(clusters.max()) + 1,
            size, _why(said["similarity"], least, size),
        )  # fmt: skip

    def laid_out(self, number: int) -> LaidOut:
        """The texts of a pair beside each other, and what they have in common."""
        row = int(self._order[0][number])
        if row not in self._seen:
            self._read(number)
        pair = self.run.pairs.slice(row, 1).to_pylist()[0]
        a, b = (int(side[row]) for side in self._keys)
        sides = Sides(self.run.stats.recipe, "dedup", self.run.stats.least)
        return sides.of_pair((self._texts[a], self._texts[b]), pair)

    @cached_property
    def _seen(self) -> set[int]:
        return set()

    @cached_property
    def _keys(self) -> tuple[Rows, Rows]:
        pairs, sources = self.run.pairs, self.run.sources
        a, b = ((pairs.column(f"{side}_source"), pairs.column(f"{side}_row")) for side in "ab")
        return sources.keys(*a, judged=True), sources.keys(*b, judged=False)

    def _read(self, number: int) -> None:
        """The texts of this pair and of those that come next: sources are read once for all of them."""
        rows = self._order[0][number : number + _AHEAD]
        keys = np.unique(np.concatenate([side[rows] for side in self._keys]))
        self._texts = dict(zip(keys.tolist(), self.run.sources.texts(keys), strict=True))
        self._seen.clear()
        self._seen.update(rows.tolist())


def _why(similarity: float, least: float, documents: int) -> str:
    """What is doubtful about a pair, in words."""
    holds: list[tuple[bool, str]] = [
        (similarity < least, "joined by a chain alone"),
        (least <= similarity < least + (1 - least) / 4, "near the threshold"),
        (documents >= _LARGE, f"one of {documents:,} documents"),
    ]
    return ", ".join(what for is_so, what in holds if is_so)
