"""What keys know of items where no table has room for all: which are frequent; all others tie, and go by their hash.

1. Any total order of items finds all pairs, as long as all sets go by one: that of (class, hash), the frequent last.
2. No item is taken for one of a single set, so all of each set's prefix is offered.
"""

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.kernels import buckets
from nearsame.kernels.prefixes import Shares
from nearsame.stages.keys.prefix import Scale, class_edges

__all__ = ["FrequentItems"]

_OTHERS = 2  # the class of items that others may have as well


@dataclass(frozen=True, eq=False)
class FrequentItems:
    """Frequent items, ascending, and their classes: in place of a table of counts (`ItemCounts`)."""

    items: arrow.UInt64s
    classes: npt.NDArray[np.uint8]
    scale: Scale | None = None

    @classmethod
    def of(cls, items: arrow.UInt64s, counts: arrow.Int64s) -> "FrequentItems":
        """By how often each was counted."""
        edges = np.array(class_edges(int(counts.max(initial=1))))
        classes = np.searchsorted(edges, counts, side="right") - 1
        return cls(items, arrow.frozen(np.maximum(classes, _OTHERS + 1).astype(np.uint8)))

    def fill_for(
        self, _: Shares, lists: arrow.Lists, counts: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]
    ) -> None:
        """Write the classes of all items."""
        self.fill(lists, counts, starts)

    def fill(self, lists: arrow.Lists, counts: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> None:
        """Write the classes of all items."""
        items = np.empty(counts.size, np.uint64)
        buckets.gather(*lists, np.arange(starts.size), starts, items)
        counts[:] = _OTHERS
        if self.items.size:
            places = np.searchsorted(self.items, items)
            places[places == self.items.size] = 0
            found = self.items[places] == items
            counts[found] = self.classes[places[found]]
