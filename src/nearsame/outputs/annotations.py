"""What became of each record of a part: the positions that a copy leaves out, and the three columns of --annotate.

1. A document without a near-duplicate has a null cluster; a kept one a null witness.
2. A record that could not be read has three nulls, and goes only when it is asked for.
3. Parts are told apart by their numbers: both sides may have one of the same name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Rows, distinct
from nearsame.dataclass import dataclass
from nearsame.outputs.tables import RowNames

__all__ = ["Verdict"]

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Verdict:
    """Who goes, and because of whom."""

    names: RowNames
    rows: Rows  # removed ones
    witnesses: Rows  # of each
    unreadable: Mapping[int, Iterable[int]] = field(default_factory=dict)  # positions that go too, by part
    unread: Mapping[int, Rows] = field(default_factory=dict)  # positions of documents that equal no other, by part

    def positions(self, part: int, *, removed: bool = True) -> Rows:
        """The positions that go from a part, ascending; without `removed` only the unreadable."""
        gone = np.array(sorted(self.unreadable.get(part, ())), np.int64)
        if not removed:
            return distinct(gone)
        source, position = self._removed
        return distinct(np.append(gone, position[source == part]))

    def columns(self, part: int) -> tuple[pa.Array, pa.Array, pa.Array]:
        """By position in a part: cluster, id of the witness, number of documents that it is the witness of."""
        source, position = self._origins
        rows = np.flatnonzero(source == part)
        at = position[rows]
        alone = self.unread.get(part, _NONE)
        size = int(max(at.max(initial=-1), alone.max(initial=-1))) + 1
        witness, counts = self._by_row
        cluster = np.where(counts > 0, np.arange(source.size), witness)
        known = np.concatenate([counts[rows], np.zeros_like(alone)])
        duplicates = _spread(known, np.concatenate([at, alone]), size)
        return _spread(cluster[rows], at, size), self._witness_ids(rows, at, size), duplicates

    def _witness_ids(self, rows: Rows, at: Rows, size: int) -> pa.Array:
        witness = self._by_row[0][rows]
        removed = witness >= 0
        if not removed.any():
            return pa.nulls(size, pa.string())
        places = np.full(size, -1)
        places[at[removed]] = np.arange(removed.sum())
        return computing.take(self.names.of(witness[removed])[0], pa.array(places, mask=places < 0))

    @cached_property
    def _removed(self) -> tuple[Rows, Rows]:
        return self.names.places(self.rows)

    @cached_property
    def _origins(self) -> tuple[Rows, Rows]:
        return self.names.all_places()

    @cached_property
    def _by_row(self) -> tuple[Rows, Rows]:
        """Of each row its witness, or -1, and the number of documents that it is the witness of."""
        size = self._origins[0].size
        witness = np.full(size, -1)
        witness[self.rows] = self.witnesses
        return witness, np.bincount(self.witnesses, minlength=size)


def _spread(values: Rows, at: Rows, size: int) -> pa.Array:
    """Values at their positions; null elsewhere, and where they are negative."""
    numbers = np.full(size, -1)
    numbers[at] = values
    return pa.array(numbers, mask=numbers < 0)
