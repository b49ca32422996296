"""What is remembered of every document once its features are put away: a few numbers each."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.dataclass import dataclass

__all__ = ["About", "CountBare", "CountEntries", "CountRows", "CountSets", "Describe"]

_COLUMNS = ("text_bytes", "digest_a", "digest_b", "num_tokens")
_Columns = list[tuple[npt.NDArray[np.int64], ...]]
_EMPTY = np.zeros(0, np.int64)


@dataclass(frozen=True)
class About:
    """What is known of each document: columns of numbers, by row."""

    text_bytes: npt.NDArray[np.int64]
    digest_a: npt.NDArray[np.int64]
    digest_b: npt.NDArray[np.int64]
    num_tokens: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]  # items in the features

    @property
    def num_bare(self) -> int:
        """How many have a text, and no token to be compared by."""
        return int(((self.num_tokens == 0) & (self.sizes > 0)).sum())

    def same_text(self, a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether rows a[i] and b[i] have the same raw text."""
        differs = (self.digest_a[a] ^ self.digest_a[b]) | (self.digest_b[a] ^ self.digest_b[b])
        return np.logical_not(differs.astype(np.bool_))


@dataclass(frozen=True)
class Describe:
    """The fold that collects About's columns, batch by batch."""

    def start(self) -> _Columns:
        """A list of columns, one entry a batch; none yet."""
        return []

    def add(self, state: _Columns, batch: pa.RecordBatch, part: int, _: int) -> _Columns:
        """Add a batch of FEATURES; there is nothing to share out, so part 0 does it."""
        if part == 0:
            columns = [arrow.ints(batch.column(name)).copy() for name in _COLUMNS]  # holds no batch
            state.append((*columns, arrow.lists(batch.column("items")).sizes))
        return state

    def merge(self, a: _Columns, b: _Columns) -> _Columns:
        """One after the other."""
        return a + b

    @staticmethod
    def close(state: _Columns) -> About:
        """The columns over all batches, in the order of the rows."""
        return (
            About(*(np.concatenate(column) for column in zip(*state, strict=True))) if state else About(*[_EMPTY] * 5)
        )


@dataclass(frozen=True)
class _Count:
    """A fold that counts something in each batch; the state is a list of counts."""

    def start(self) -> list[int]:
        """Counts of no documents yet."""
        return []

    def add(self, state: list[int], batch: pa.RecordBatch, part: int, _: int) -> list[int]:
        """Count a batch; there is nothing to share out, so part 0 does it."""
        if part == 0:
            state.append(self.count(batch))
        return state

    def merge(self, a: list[int], b: list[int]) -> list[int]:
        """The counts of both together."""
        return a + b

    def count(self, batch: pa.RecordBatch) -> int:
        """How many there are in a batch."""
        raise NotImplementedError


class CountRows(_Count):
    """The fold that counts rows."""

    def count(self, batch: pa.RecordBatch) -> int:
        """Rows of a batch."""
        return len(batch)


class CountEntries(_Count):
    """The fold that counts the items of all rows."""

    def count(self, batch: pa.RecordBatch) -> int:
        """Items of a batch."""
        return int(arrow.lists(batch.column("items")).sizes.sum())


class CountSets(_Count):
    """The fold that counts the rows that have items."""

    def count(self, batch: pa.RecordBatch) -> int:
        """Those of a batch."""
        return int((arrow.lists(batch.column("items")).sizes > 0).sum())


class CountBare(_Count):
    """The fold that counts documents that have a text, and no token to be compared by."""

    def count(self, batch: pa.RecordBatch) -> int:
        """Those of a batch."""
        no_tokens = arrow.ints(batch.column("num_tokens")) == 0
        return int((no_tokens & (arrow.lists(batch.column("items")).sizes > 0)).sum())
