"""The keys of the exact join by the cosine of weighted sets: each set's prefix, until what is left is too light.

1. Items are in one order for all sets, the rarest first, by the counts of the exact join of plain sets (prefix.py).
2. Two sets with a cosine of t or more share an item, and from the first that they share on each has t² of its sum of
   squares left: what is offered ends there. One of the two even has t left of it, and probes.
3. A place is the share of the sum of squares that stands before it: what two have left bounds their product, so that
   most of those that meet are not compared. It does not depend on the threshold.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.kernels import weighted
from nearsame.stages.keys.prefix import ItemCounts

__all__ = ["WeightedKeys"]


@dataclass(frozen=True, eq=False)
class WeightedKeys:
    """The stage that offers them; counts come from the table, or from the column that passes filled."""

    threshold: Fraction
    counts: ItemCounts | None

    output = schemas.KEYS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of LETTERED."""
        lists, weights = arrow.lists(batch.column("items")), arrow.lists(batch.column("confirming"))
        most = int(lists.sizes.sum())
        starts = np.cumsum(lists.sizes) - lists.sizes
        if self.counts is None:
            counts = arrow.ints(batch.column("counts").values)
            starts = arrow.list_offsets(batch.column("counts"))[:-1]
        else:
            counts = np.zeros(most, np.uint8)
            self.counts.fill(lists, counts, starts)
        keys, key_rows = np.empty(most, np.uint64), np.empty(most, np.int64)
        places, probes = np.empty(most, np.int32), np.empty(most, np.uint8)
        filled = weighted.weighted_keys(
            *lists, weights.items, weights.starts, arrow.frozen(counts), starts, arrow.ints(batch.column("row")),
            self.threshold.numerator, self.threshold.denominator, keys, key_rows, places, probes,
        )  # fmt: skip
        columns = (keys[:filled].view(np.int64), key_rows[:filled], places[:filled], probes[:filled])
        return pa.RecordBatch.from_arrays([pa.array(column.copy()) for column in columns], schema=schemas.KEYS)
