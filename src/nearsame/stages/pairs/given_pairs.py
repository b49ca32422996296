"""The similarity of pairs that somebody chose: sampled ones, or those that a person has judged.

1. Exact, and however low: there is no threshold here.
2. Two documents without items have nothing in common: 0.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import overlaps

__all__ = ["Features", "Gather"]


@dataclass(frozen=True)
class Features:
    """All features in memory: row i has items[offsets[i]:offsets[i + 1]]."""

    items: arrow.UInt64s
    offsets: Rows

    @property
    def sizes(self) -> Rows:
        """The number of items of each row."""
        return np.diff(self.offsets)

    def shared(self, a: Rows, b: Rows) -> Rows:
        """How many items rows a[i] and b[i] have in common."""
        out = np.empty(a.size, np.int64)
        overlaps.count_shared(self.items, self.offsets, arrow.frozen(a), arrow.frozen(b), out)
        return out

    def similarity(self, a: Rows, b: Rows) -> npt.NDArray[np.float64]:
        """The Jaccard similarity of rows a[i] and b[i]."""
        shared = self.shared(a, b)
        similarity: npt.NDArray[np.float64] = shared / np.maximum(self.sizes[a] + self.sizes[b] - shared, 1)
        return similarity

    def cosine(self, a: Rows, b: Rows) -> npt.NDArray[np.float64]:
        """The cosine of the sets of rows a[i] and b[i]."""
        products = self.sizes[a].astype(np.float64) * self.sizes[b]
        similarity: npt.NDArray[np.float64] = self.shared(a, b) / np.sqrt(np.maximum(products, 1))
        return similarity


@dataclass(frozen=True)
class Gather:
    """The fold that puts the features of all rows in memory, one after the other.

    Attributes:
        column: which list of numbers.
    """

    column: str = "items"

    def start(self) -> list[tuple[int, arrow.UInt64s, Rows]]:
        """A list of batches, each with the row that it begins at; none yet."""
        return []

    def add(self, state: list[Any], batch: pa.RecordBatch, part: int, parts: int) -> list[Any]:
        """Add a batch of FEATURES; there is nothing to share out, so part 0 does it."""
        del parts
        if part == 0 and len(batch):
            lists = arrow.lists(batch.column(self.column))
            span = lists.items[lists.starts[0] : lists.ends[-1]]
            state.append((int(arrow.ints(batch.column("row"))[0]), span, lists.sizes))
        return state

    def merge(self, a: list[Any], b: list[Any]) -> list[Any]:
        """The batches of both, not yet in the order of their rows."""
        return a + b

    @staticmethod
    def close(state: list[tuple[int, arrow.UInt64s, Rows]]) -> Features:
        """The features whole, by row."""
        state = sorted(state, key=lambda part: part[0])
        sizes = np.concatenate([part[2] for part in state] or [np.zeros(0, np.int64)])
        offsets = np.zeros(sizes.size + 1, np.int64)
        np.cumsum(sizes, out=offsets[1:])
        items = np.concatenate([part[1] for part in state] or [arrow.NO_HASHES])
        return Features(arrow.frozen(items), arrow.frozen(offsets))
