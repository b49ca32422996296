"""The keys of the exact join by the cosine of weighted sets: each set's prefix, until what is left is too light.

1. Items are in one order for all sets, the rarest first, by the counts of the exact join of plain sets (prefix.py).
2. Two sets with a cosine of t or more share an item, and from the first that they share on each has t² of its sum of
   squares left: what is offered ends there. One of the two even has t left of it, and probes.
3. A place is the share of the sum of squares that stands before it: what two have left bounds their product, so that
   most of those that meet are not compared. It does not depend on the threshold.
"""

from fractions import Fraction

import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import weighted
from nearsame.stages.keys.prefix import ItemCounts, KeyRoom, counted

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
        counts, starts = counted(batch, lists, self.counts and self.counts.fill)
        out = KeyRoom.of(int(lists.sizes.sum()))
        filled = weighted.weighted_keys(
            *lists, weights.items, weights.starts, counts, starts, arrow.ints(batch.column("row")),
            self.threshold.numerator, self.threshold.denominator, *out,
        )  # fmt: skip
        return out.batch(filled)
