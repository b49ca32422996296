"""Boilerplate: the shingles that stand in more documents than wanted, found exactly and dropped from the features.

1. Every document counts, copies too. A shingle is dropped from all documents or from none.
2. A table of saturating counters, which never counts too few, says which items may be meant; these are counted
   exactly, in as many shares of the table as their number asks for.
3. A document that has nothing left is like a text without tokens: only identical texts are its copies.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import boilerplate as kernel
from nearsame.kernels.auditing import mark_filter
from nearsame.kernels.boilerplate import Slots
from nearsame.stages.features.tallies import NO_COUNTS, Counts, dealt, summed
from nearsame.stages.features.weighted_sets import following

__all__ = ["Boilerplate", "CountExactly", "CountThese", "FirstWith", "WithoutBoilerplate", "shares"]

_WAITING = 1 << 16  # items are sorted so many at a time, or as many as there are
_ITEM_BYTES = 64  # hash and count, while they are sorted and merged
_FILTER_BITS = 22  # half a megabyte: in cache
_FILTER_SHIFT = np.uint64(64 - _FILTER_BITS)
_FEWEST_SLOT_BITS, _MOST_SLOT_BITS = 6, 19  # 2 MB at most: in cache


@dataclass(frozen=True, eq=False)
class Boilerplate:
    """What is dropped: hashes, ascending, and in how many documents each stands."""

    items: arrow.UInt64s
    counts: arrow.Int64s

    @classmethod
    def of(cls, parts: list["Boilerplate"]) -> "Boilerplate":
        """What several shares found, in their order."""
        return cls(*(arrow.frozen(np.concatenate(column)) for column in zip(*map(cls._pair, parts), strict=True)))

    def _pair(self) -> tuple[arrow.UInt64s, arrow.Int64s]:
        return self.items, self.counts


class _Tally:
    """Exact counts of hashes; what comes in waits until there is enough of it to be worth sorting."""

    def __init__(self, counts: Counts = NO_COUNTS) -> None:
        self._items, self._counts = counts
        self._waiting: list[arrow.UInt64s] = []

    def add(self, items: arrow.UInt64s) -> None:
        """Count one for each."""
        self._waiting.append(items)
        if sum(part.size for part in self._waiting) > max(_WAITING, self._items.size):
            self.counted()

    def counted(self) -> tuple[arrow.UInt64s, arrow.Int64s]:
        """All hashes so far, ascending, and their counts."""
        if self._waiting:
            waiting_counts = np.unique(np.concatenate(self._waiting), return_counts=True)
            self._waiting = []
            self._items, self._counts = summed([(self._items, self._counts), waiting_counts])
        return self._items, self._counts


@dataclass(frozen=True, eq=False)
class CountExactly:
    """The fold that counts those items of a share of the slots that may stand in more than `most` documents.

    The state holds a tally for each part of the share.
    """

    slots: Slots
    low: int
    high: int
    most: int

    def start(self) -> dict[int, _Tally]:
        """No tallies: a part of the share has one from its first batch on."""
        return {}

    def add(self, state: dict[int, _Tally], batch: pa.RecordBatch, part: int, parts: int) -> dict[int, _Tally]:
        """Count one part of the share's items in a batch of FEATURES."""
        width = self.high - self.low
        low, high = self.low + part * width // parts, self.low + (part + 1) * width // parts
        lists, num_tokens = arrow.lists(batch.column("items")), arrow.ints(batch.column("num_tokens"))
        out = np.empty(int(lists.sizes.sum()), np.uint64)
        least = kernel.hold_most(self.slots, self.most)
        filled = kernel.frequent_items(*lists, num_tokens, self.slots, low, high, least, out)
        state.setdefault(part, _Tally()).add(out[:filled].copy())
        return state

    def merge(self, a: dict[int, _Tally], b: dict[int, _Tally]) -> dict[int, _Tally]:
        """Both, in one part."""
        return self.joined([a, b])

    @staticmethod
    def cut(state: dict[int, _Tally], parts: int) -> Iterator[tuple[int, dict[int, _Tally]]]:
        """The state in pieces, each with a share of the items and its number."""
        counted = CountExactly.joined([state])[0].counted()
        return ((number, {0: _Tally(piece)}) for number, piece in dealt(counted, parts))

    @staticmethod
    def joined(pieces: Sequence[dict[int, _Tally]]) -> dict[int, _Tally]:
        """What several count together, in one part."""
        return {0: _Tally(summed([tally.counted() for piece in pieces for tally in piece.values()]))}

    def close(self, state: dict[int, _Tally]) -> Boilerplate:
        """What stands in more than `most` documents."""
        items, counts = self.joined([state])[0].counted()
        return Boilerplate(items[counts > self.most], counts[counts > self.most])


def shares(slots: Slots, most: int, most_bytes: int) -> Iterator[CountExactly]:
    """The folds that count exactly what a table lets pass, so many that none takes more than most_bytes or so."""
    passing = kernel.num_frequent(slots, kernel.hold_most(slots, most))
    number = min(slots.num, 1 + passing * _ITEM_BYTES // most_bytes)
    ends = [share * slots.num // number for share in range(number + 1)]
    return (CountExactly(slots, low, high, most) for low, high in pairwise(ends))


def _filter_of(items: arrow.UInt64s) -> arrow.UInt64s:
    """A bit for each item >> _FILTER_SHIFT that is one of these."""
    bits = np.zeros(1 << (_FILTER_BITS - 6), np.uint64)
    mark_filter(items, _FILTER_SHIFT, bits)
    return arrow.frozen(bits)


@dataclass(frozen=True, eq=False)
class WithoutBoilerplate:
    """The stage that drops items from FEATURES; from LETTERED, what stands beside them as well."""

    boilerplate: Boilerplate
    filter: npt.NDArray[np.uint64]
    output: pa.Schema

    @classmethod
    def of(cls, boilerplate: Boilerplate, output: pa.Schema = schemas.FEATURES) -> "WithoutBoilerplate":
        """With the filter made."""
        return cls(boilerplate, _filter_of(boilerplate.items), output)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES without the items; one that has none left has the digest of its text, and counts no tokens."""
        lists = arrow.lists(batch.column("items"))
        digests = arrow.frozen(np.stack([arrow.ints(batch.column(name)) for name in ("digest_a", "digest_b")]))
        num_tokens = arrow.ints(batch.column("num_tokens"))
        room = int(lists.sizes.sum()) + len(batch)
        items, ends = np.empty(room, np.uint64), np.empty(len(batch) + 1, np.int64)
        about: Any = np.empty((3, len(batch)), np.int64)
        kernel.drop_items(
            *lists, digests, num_tokens, self.boilerplate.items, _FILTER_SHIFT, self.filter,
            items, ends, about,
        )  # fmt: skip
        raw = (batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b"))
        kept = arrow.items(items[: ends[-1]].copy(), ends)
        columns = [*raw, *map(pa.array, about), kept, *following(batch, kept)]
        return pa.RecordBatch.from_arrays(columns, schema=self.output)


@dataclass(frozen=True, eq=False)
class CountThese:
    """The fold that counts the documents that have each of some items.

    Attributes:
        items: ascending.
        weights: by row: how many documents it stands for.
    """

    items: arrow.UInt64s
    weights: arrow.Int64s

    @cached_property
    def _filter(self) -> arrow.UInt64s:
        return _filter_of(self.items)

    @cached_property
    def _slots(self) -> tuple[np.uint64, arrow.Int32s]:
        """How far an item is shifted to be a slot, and where in `items` each slot begins."""
        bits = min(max(self.items.size.bit_length() + 2, _FEWEST_SLOT_BITS), _MOST_SLOT_BITS)
        shift = np.uint64(64 - bits)
        sizes = np.bincount((self.items >> shift).astype(np.int64), minlength=1 << bits)
        return shift, arrow.frozen(np.concatenate(([0], np.cumsum(sizes))).astype(np.int32))

    def start(self) -> arrow.Int64s:
        """A zero for each item."""
        return np.zeros(self.items.size, np.int64)

    def add(self, state: arrow.Int64s, batch: pa.RecordBatch, part: int, parts: int) -> arrow.Int64s:
        """Count one part of the items in a batch of FEATURES; parts share a state, each has places of its own in it."""
        low, high = part * self.items.size // parts, (part + 1) * self.items.size // parts
        weights = arrow.frozen(self.weights[arrow.ints(batch.column("row"))])
        near = _FILTER_SHIFT, self._filter, *self._slots
        kernel.count_these(*arrow.lists(batch.column("items")), weights, self.items, *near, low, high, state)
        return state

    def merge(self, a: arrow.Int64s, b: arrow.Int64s) -> arrow.Int64s:
        """The documents that either state has counted, item by item."""
        return a + b


@dataclass(frozen=True, eq=False)
class FirstWith:
    """The fold that finds the first document with an item: to read its text again is to read what stands before it.

    Attributes:
        item: one that some document has.
    """

    item: np.uint64

    def start(self) -> arrow.Int64s:
        """Nobody's row."""
        return np.full(1, np.iinfo(np.int64).max)

    def add(self, state: arrow.Int64s, batch: pa.RecordBatch, part: int, parts: int) -> arrow.Int64s:
        """Look through a batch of FEATURES."""
        del parts
        rows = arrow.ints(batch.column("row"))
        if part == 0 and rows.min(initial=state[0]) < state[0]:  # else one before all of them has it
            lists = arrow.lists(batch.column("items"))
            places = np.flatnonzero(lists.items == self.item)
            has_it = np.searchsorted(places, lists.starts) < np.searchsorted(places, lists.ends)
            state[0] = rows[has_it].min(initial=state[0])
        return state

    def merge(self, a: arrow.Int64s, b: arrow.Int64s) -> arrow.Int64s:
        """The row of whoever of both is first."""
        return np.minimum(a, b)
