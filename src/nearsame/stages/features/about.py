"""What is remembered of every document once its features are put away: a few numbers each."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow

__all__ = ["About", "CountEntries", "CountRows", "Describe"]

_COLUMNS = ("text_bytes", "digest_a", "digest_b", "num_tokens")
_Columns = list[tuple[npt.NDArray[np.int64], ...]]
_EMPTY = np.zeros(0, np.int64)


@dataclass(frozen=True)
class About:
    """Numbers by row."""

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
        """Nothing yet."""
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
        """The columns whole."""
        return (
            About(*(np.concatenate(column) for column in zip(*state, strict=True))) if state else About(*[_EMPTY] * 5)
        )


@dataclass(frozen=True)
class CountRows:
    """The fold that counts rows; the state is a list of counts."""

    def start(self) -> list[int]:
        """Nothing yet."""
        return []

    def add(self, state: list[int], batch: pa.RecordBatch, part: int, _: int) -> list[int]:
        """Count a batch."""
        if part == 0:
            state.append(len(batch))
        return state

    def merge(self, a: list[int], b: list[int]) -> list[int]:
        """Both."""
        return a + b


@dataclass(frozen=True)
class CountEntries:
    """The fold that counts the items of all rows; the state is a list of counts."""

    def start(self) -> list[int]:
        """Nothing yet."""
        return []

    def add(self, state: list[int], batch: pa.RecordBatch, part: int, _: int) -> list[int]:
        """Count a batch."""
        if part == 0:
            state.append(int(arrow.lists(batch.column("items")).sizes.sum()))
        return state

    def merge(self, a: list[int], b: list[int]) -> list[int]:
        """Both."""
        return a + b
