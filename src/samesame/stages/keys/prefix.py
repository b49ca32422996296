"""The keys of the exact join: a count table over all shingles, then each set's prefix in the order of the counts.

1. The table only orders: over-counting (two shingles in one slot) costs time, never a pair.
2. Sets with Jaccard ≥ t share one of their first n - ceil(t·n) + 1 items in any order common to all sets.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame import arrow, schemas
from samesame.kernels import prefixes
from samesame.kernels.scores import Bound

__all__ = ["CountItems", "PrefixKeys"]

_MOST_BITS = 32


@dataclass(frozen=True)
class CountItems:
    """The fold that counts items: one byte for each slot, at least one slot for each distinct item."""

    num_items: int  # an upper bound of the distinct ones

    @property
    def bits(self) -> int:
        """Slots are indexed by this many top bits of an item."""
        return min(_MOST_BITS, max(16, (self.num_items - 1).bit_length()))

    def start(self) -> npt.NDArray[np.uint8]:
        """A table of zeros."""
        return np.zeros(1 << self.bits, np.uint8)

    def add(self, state: npt.NDArray[np.uint8], batch: pa.RecordBatch, part: int, parts: int) -> Any:
        """Count the items of one share of the slots."""
        low, high = part * state.size // parts, (part + 1) * state.size // parts
        prefixes.add_counts(*arrow.lists(batch.column("items")), np.uint64(64 - self.bits), low, high, state)
        return state

    def merge(self, a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Add two tables, counters stopping at 255."""
        return a + np.minimum(b, 255 - a)


@dataclass(frozen=True, eq=False)
class PrefixKeys:
    """The stage that offers each set's prefix."""

    bound: Bound
    table: npt.NDArray[np.uint8]
    everything: bool = False

    output = schemas.KEYS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of FEATURES."""
        lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        most = int(lists.sizes.sum())
        keys, key_rows = np.empty(most, np.uint64), np.empty(most, np.int64)
        places, sizes = np.empty(most, np.int32), np.empty(most, np.int32)
        shift = np.uint64(64 - (self.table.size.bit_length() - 1))
        filled = prefixes.prefix_keys(
            *lists, rows, shift, self.table, self.bound.p, self.bound.q, self.everything, keys, key_rows, places, sizes
        )
        columns = (keys[:filled].view(np.int64), key_rows[:filled], places[:filled], sizes[:filled])
        return pa.RecordBatch.from_arrays([pa.array(column.copy()) for column in columns], schema=schemas.KEYS)
