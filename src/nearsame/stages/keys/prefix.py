"""The keys of the exact join: a count table over all shingles, then each set's prefix in the order of the counts.

1. The table only orders: over-counting (two shingles in one slot) costs time, never a pair.
2. A set of n items, of which a share of u or more is in any similar set, has one of its first n - ceil(u·n) + 1 in the
   prefix of that one, in any order common to all sets: u is t for Jaccard ≥ t, t² for cosine ≥ t.
3. A table that does not fit is made of half bytes, and one that still does not is filled in passes, a range of
   hashes each; what it says of each item then travels in a column of the features. Measured in keys per document
   by slots per shingle (ALGORITHMS section 2): ≥ 1: 0; .5: 22; .33: 50; ≤ .1: 66, the whole prefix.
4. A counter stops at 255 (15 in half a byte). Where many items stand in slots that are full, those are counted once
   more, and all get a class by their count: up to 128 the count, above in 127 steps of one ratio, as small as the
   largest count allows (1.054 for 100,000). In a small universe all items are frequent, and the rarest first pays.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import buckets, prefixes
from nearsame.kernels.prefixes import Shares
from nearsame.named import NamedTuple

__all__ = [
    "CountFrequent",
    "CountItems",
    "Counting",
    "FullSlots",
    "ItemCounts",
    "KeyRoom",
    "PrefixKeys",
    "Scale",
    "class_edges",
    "counted",
    "deal",
    "plan_counting",
]

_MOST_BITS, _LEAST_BITS = 38, 16
_LARGE_BITS = 23  # a table that no cache holds
_STRETCH_BITS = 18  # of slots whose counters stay in cache
_MOST_STRETCHES = 1024  # lists that are written to at once
_WAITING_BYTES = 128 << 20  # of slots that wait to be counted, at most
_ENOUGH = 0.5  # slots for each shingle, at least, before another pass is made
_FULL, _FULL_NIBBLE = 255, 15
_EXACT = 128  # counts up to it are classes of their own
_MOST = 1 << 40  # documents, of which no run has more
_UNIT = 1 << 12  # of the ratio of two classes
_SPAN = 64  # slots, of which a word says which are full
_LITTLE = 6  # of all items, one of so many may tie: of long texts one in ten does, and counting them takes longer
_COUNTS = pa.large_list(pa.field("item", pa.uint8(), nullable=False))


@dataclass(frozen=True)
class Counting:
    """How items are counted: `passes` tables of 2**bits slots, one after the other, each for its range of hashes."""

    bits: int
    nibbles: bool = False
    passes: int = 1

    @property
    def table_bytes(self) -> int:
        """The memory of one table: a slot is a byte, or half of one with `nibbles`."""
        return (1 << self.bits) >> int(self.nibbles)

    @property
    def is_large(self) -> bool:
        """Whether it is one table of bytes that no cache holds."""
        return self.bits >= _LARGE_BITS and not self.nibbles and self.passes == 1

    @property
    def shift(self) -> int:
        """An item's slot is (item - base) >> shift; ranges are powers of two."""
        return 64 - self.bits - (self.passes - 1).bit_length()

    def record(self) -> dict[str, int]:
        """What a run says of it."""
        return {"slots": 1 << self.bits, "slot_bits": 4 if self.nibbles else 8, "passes": self.passes}

    def base(self, number: int) -> np.uint64:
        """The first hash of a pass."""
        return np.uint64(number << (self.shift + self.bits))


def plan_counting(num_items: int, most_bytes: int) -> Counting:
    """At least one slot for each item where that fits; else half bytes; else passes.

    >>> plan_counting(1_000_000, 1 << 30)
    Counting(bits=20, nibbles=False, passes=1)
    >>> plan_counting(1 << 30, 1 << 27)
    Counting(bits=28, nibbles=True, passes=2)
    """
    wanted = min(_MOST_BITS, max(_LEAST_BITS, (num_items - 1).bit_length()))
    fits = most_bytes.bit_length() - 1
    if wanted <= fits:
        return Counting(wanted)
    bits = max(_LEAST_BITS, min(wanted, fits + 1))
    passes = 1
    while (passes << bits) < _ENOUGH * num_items:
        passes *= 2
    return Counting(bits, nibbles=True, passes=passes)


@dataclass(frozen=True)
class CountItems:
    """The fold that counts the items of one pass."""

    counting: Counting
    number: int = 0

    def start(self) -> npt.NDArray[np.uint8]:
        """A table of zeros."""
        return np.zeros(self.counting.table_bytes, np.uint8)

    def add(self, state: npt.NDArray[np.uint8], batch: pa.RecordBatch, part: int, parts: int) -> Any:
        """Count the items of one share of the slots; shares begin at even slots."""
        counting = self.counting
        half = 1 << (counting.bits - 1)
        low, high = 2 * (part * half // parts), 2 * ((part + 1) * half // parts)
        add = prefixes.add_nibbles if counting.nibbles else prefixes.add_counts
        lists = arrow.lists(batch.column("items"))
        add(*lists, counting.base(self.number), np.uint64(counting.shift), low, high, state)
        return state

    def add_many(self, state: npt.NDArray[np.uint8], batches: Iterable[pa.RecordBatch], part: int, parts: int) -> Any:
        """`add` for several batches, of which the items of neighbouring slots are counted together."""
        counting = self.counting
        if not counting.is_large:
            for batch in batches:
                self.add(state, batch, part, parts)
            return state
        lists = (arrow.lists(batch.column("items")) for batch in batches)
        deal(lists, counting.bits, lambda of: (part * of // parts, (part + 1) * of // parts), state)
        return state

    def merge(self, a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Add two tables, counters stopping where they are full."""
        if not self.counting.nibbles:
            return a + np.minimum(b, 255 - a)
        low, high = np.minimum((a & 15) + (b & 15), 15), np.minimum((a >> 4) + (b >> 4), 15)
        return np.asarray(low | (high << 4), np.uint8)


def deal(
    lists: Iterable[arrow.Lists],
    bits: int,
    share: Callable[[int], tuple[int, int]],
    table: npt.NDArray[np.uint8],
    *,
    twice: bool = False,
) -> None:
    """Count items in a large table of 2**bits slots, those of neighbouring slots together.

    Args:
        lists: of items.
        bits: of an item that are its slot.
        share: of so many stretches, which are counted: from one up to another.
        table: a byte for each slot; or two bits, and no item is counted more than twice.
        twice: whether it is of bits.
    """
    of_stretch = max(_STRETCH_BITS, bits - (_MOST_STRETCHES - 1).bit_length())
    stretches = 1 << (bits - of_stretch)
    first, last = share(stretches)
    room = max(1, min(_WAITING_BYTES, table.size // 2) // 4 // stretches)
    waiting, numbers = np.empty((last - first, room), np.uint32), np.zeros(last - first, np.int64)
    low, high = first << of_stretch, last << of_stretch
    for some in lists:
        prefixes.deal_counts(*some, np.uint64(64 - bits), low, high, of_stretch, waiting, numbers, twice, table)
    prefixes.add_waiting(low, of_stretch, waiting, numbers, twice, table)


class FullSlots(NamedTuple):
    """The slots whose counters are full, as `prefixes.find_full` says, and the class of each of them."""

    firsts: npt.NDArray[np.int64]
    marks: npt.NDArray[np.uint64]
    classes: npt.NDArray[np.uint8]


class Scale(NamedTuple):
    """What classes are of: in how many sets an item of each of them stands, of how many, that have so many items."""

    weights: npt.NDArray[np.int64]
    num_sets: int
    num_items: int


_NO_CLASSES = FullSlots(
    arrow.frozen(np.zeros(0, np.int64)), arrow.frozen(np.zeros(0, np.uint64)), arrow.frozen(np.zeros(0, np.uint8))
)


def class_edges(most: int) -> list[int]:
    """The least count of each class, ascending, for counts up to `most`.

    >>> class_edges(100)[-1], class_edges(100_000)[126:132]
    (255, [126, 127, 128, 135, 142, 149])
    """
    low, high = _UNIT, 2 * _UNIT
    while low < high:
        ratio = (low + high) // 2
        low, high = (low, ratio) if _edges(ratio)[-1] >= most else (ratio + 1, high)
    return _edges(low)


def _edges(ratio: int) -> list[int]:
    edges = list(range(_EXACT + 1))
    while len(edges) <= _FULL:
        edges.append(max(edges[-1] + 1, edges[-1] * ratio // _UNIT))
    return edges


@dataclass(frozen=True, eq=False)
class CountFrequent:
    """The fold that counts the items of the slots that are full, each slot by its number among them."""

    counting: Counting
    number: int
    firsts: npt.NDArray[np.int64]
    marks: npt.NDArray[np.uint64]
    num_full: int

    @classmethod
    def of(cls, counts: "ItemCounts", num_items: int) -> "CountFrequent | None":
        """For the table of a pass, of `num_items` in all passes or fewer; None: too few are in slots that are full."""
        counting = counts.counting
        slots, full = 1 << counting.bits, _FULL_NIBBLE if counting.nibbles else _FULL
        num_words = (slots + _SPAN - 1) // _SPAN
        firsts, marks = np.zeros(num_words, np.int64), np.zeros(num_words, np.uint64)
        num_full, others = prefixes.find_full(slots, counting.nibbles, counts.table, firsts, marks)
        total = max(num_items // counting.passes, others + full * num_full)
        if not num_full or (counting.passes == 1 and (total - others) * _LITTLE < total):
            return None
        return cls(counting, counts.number, firsts, marks, num_full)

    def start(self) -> npt.NDArray[np.int64]:
        """A table in which nothing is counted."""
        return np.zeros(self.num_full, np.int64)

    def add(self, state: npt.NDArray[np.int64], batch: pa.RecordBatch, part: int, parts: int) -> Any:
        """Count the items of one share of the slots."""
        counting = self.counting
        low, high = ((edge << counting.bits) // parts for edge in (part, part + 1))
        share = (counting.base(self.number), np.uint64(counting.shift), low, high)
        prefixes.count_frequent(*arrow.lists(batch.column("items")), *share, self.firsts, self.marks, state)
        return state

    @staticmethod
    def merge(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The counts of both together."""
        return a + b


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """The stage that writes what one pass's table says beside the items, in a column `counts`."""

    counting: Counting
    number: int
    table: npt.NDArray[np.uint8]
    of: pa.Schema = schemas.FEATURES
    full: "FullSlots | None" = None  # of a table of half bytes
    scale: "Scale | None" = None  # of a table of classes that is whole

    @cached_property
    def output(self) -> pa.Schema:
        """FEATURES (or SKETCHES) and the counts."""
        return self.of.append(pa.field("counts", _COUNTS, nullable=False))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch of FEATURES with the counts of this pass filled in."""
        lists = arrow.lists(batch.column("items"))
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(lists.sizes, out=offsets[1:])
        items, counts = np.empty(int(offsets[-1]), np.uint64), np.zeros(int(offsets[-1]), np.uint8)
        buckets.gather(*lists, np.arange(len(batch)), offsets[:-1], items)  # a view becomes a list of its own
        if "counts" in batch.schema.names:
            counted = batch.column("counts")
            counts[:] = arrow.ints(counted.values)[arrow.list_offsets(counted)[0] :][: counts.size]
        self.fill(lists, counts, offsets[:-1])
        column = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(counts), type=_COUNTS)
        beside = [name for name in self.of.names if name in batch.schema.names]  # not what only pairs are compared by
        columns = {
            **{name: batch.column(name) for name in beside},
            "items": arrow.items(items, offsets),
            "counts": column,
        }
        return pa.RecordBatch.from_arrays([*columns.values()], schema=self.output)

    def ranked(
        self, frequent: CountFrequent, numbers: npt.NDArray[np.int64], num_sets: int = 0, num_items: int = 0
    ) -> "ItemCounts":
        """Classes in place of counts; `numbers` are the counts of the slots that are full. Changes the table."""
        most = int(numbers.max(initial=0)) if self.counting.passes == 1 else _MOST  # one scale for all passes
        edges = np.array(class_edges(most))
        classes, below = (
            arrow.frozen((np.searchsorted(edges, counts, side="right") - 1).astype(np.uint8))
            for counts in (numbers, np.arange(_FULL))
        )
        if self.counting.nibbles:
            return replace(self, full=FullSlots(frequent.firsts, frequent.marks, classes))
        prefixes.write_classes(self.table, below, classes)
        return replace(self, scale=Scale(arrow.frozen(edges), num_sets, num_items)) if num_sets else self

    def fill_for(
        self, shares: Shares, lists: arrow.Lists, counts: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]
    ) -> None:
        """Write the counts of a whole table where a set has keys to offer; those of other sets may stay 0."""
        if self.counting.nibbles:
            self.fill(lists, counts, starts)
            return
        shift = np.uint64(self.counting.shift)
        prefixes.look_up_until_alone(*lists, shift, shares, self._alone, self.table, counts, starts)

    @cached_property
    def _alone(self) -> npt.NDArray[np.uint64]:
        marks = np.empty((self.table.size + _SPAN - 1) // _SPAN, np.uint64)
        prefixes.mark_alone(self.table, marks)
        return arrow.frozen(marks)

    def fill(self, lists: arrow.Lists, counts: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]) -> None:
        """Write the counts of the items that the table is about."""
        counting = self.counting
        base, shift = counting.base(self.number), np.uint64(counting.shift)
        slots = (1 << counting.bits, counting.nibbles, self.table, tuple(self.full or _NO_CLASSES))
        prefixes.look_up(*lists, base, shift, *slots, counts, starts)


@dataclass(frozen=True, eq=False)
class PrefixKeys:
    """The stage that offers each set's prefix; counts come from the table, or from the column that passes filled."""

    shares: Shares
    counts: ItemCounts | None
    everything: bool = False

    output = schemas.KEYS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of FEATURES."""
        lists, rows, table = arrow.lists(batch.column("items")), arrow.ints(batch.column("row")), self.counts
        fill = table and (table.fill if self.everything else partial(table.fill_for, self.shares))
        counts, starts = counted(batch, lists, fill)
        out = KeyRoom.of(int(lists.sizes.sum()))
        filled = prefixes.prefix_keys(*lists, counts, starts, rows, self.shares, self.everything, *out)
        return out.batch(filled)


class KeyRoom(NamedTuple):
    """What a kernel writes keys to."""

    keys: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.int32]
    probes: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, most: int) -> "KeyRoom":
        """Room for so many."""
        return cls(
            np.empty(most, np.uint64), np.empty(most, np.int64), np.empty(most, np.int32), np.empty(most, np.uint8)
        )

    def batch(self, filled: int) -> pa.RecordBatch:
        """KEYS: as many as were written."""
        columns = (self.keys.view(np.int64), *self[1:])
        return pa.RecordBatch.from_arrays(
            [arrow.numbers(column[:filled].copy()) for column in columns], schema=schemas.KEYS
        )


def counted(
    batch: pa.RecordBatch, lists: arrow.Lists, fill: Callable[..., None] | None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The count of each item, and where those of each set begin: as a table fills them in, or earlier passes did."""
    if fill is None:
        return arrow.ints(batch.column("counts").values), arrow.list_offsets(batch.column("counts"))[:-1]
    counts, starts = np.zeros(int(lists.sizes.sum()), np.uint8), np.cumsum(lists.sizes) - lists.sizes
    fill(lists, counts, starts)
    return arrow.frozen(counts), starts
