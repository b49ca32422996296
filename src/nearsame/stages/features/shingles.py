"""TEXTS (or ITEMS) to FEATURES: each text's set of shingles.

1. Pure: the same batch gives the same features, whatever stands beside it.
2. A null or empty text has no items; a text without tokens has two, the halves of its digest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.kernels import shingles as kernel
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.sets import digest_sets
from nearsame.stages.features.identity import digest_lists, told_apart
from nearsame.stages.features.words import hash_words, packed_letters

__all__ = ["ItemSets", "SetRoom", "ShingleSets"]


@dataclass(frozen=True)
class ShingleSets:
    """The stage that turns texts into sets of shingles; `lettered`, with the letters of each beside it."""

    size: int
    flags: int
    seed: int
    stop_words: frozenset[str] = frozenset()
    lettered: bool = False

    @property
    def output(self) -> pa.Schema:
        """FEATURES, or LETTERED."""
        return schemas.LETTERED if self.lettered else schemas.FEATURES

    @property
    def token_bytes(self) -> int:
        """Of memory for each token of a long text: its hash, its shingle's, the set; and a number for each byte."""
        return 24 + (48 if self.lettered else 0)

    @cached_property
    def _stops(self) -> arrow.UInt64s:
        return hash_words(self.stop_words, self.flags, self.seed)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of TEXTS."""
        texts = arrow.strings(batch.column("text"))
        room = self.sets(texts, [arrow.ints(batch.column(name)) for name in ("digest_a", "digest_b")])
        features = room.features(*(batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b")))
        if not self.lettered:
            return features
        columns = [*features.columns, packed_letters(texts)]
        return told_apart(pa.RecordBatch.from_arrays(columns, schema=schemas.LETTERED), digest_numbers)

    def sets(self, texts: arrow.Strings, digests: Sequence[arrow.Int64s]) -> "SetRoom":
        """The sets of some texts without a table around them; `digests` are both halves of each raw text's."""
        tables = unicode.tables()
        lengths = np.diff(texts.offsets)
        longest = int(lengths.max(initial=0))
        room = SetRoom(longest, int(lengths.sum()) + lengths.size + 1, lengths.size)
        kernel.shingle_sets(
            texts.data, texts.offsets, arrow.frozen(np.stack(digests)), self.size, self.flags,
            hash_keys(self.seed), self._stops, tables.stage1, tables.stage2, np.zeros((2, 2 * longest + 128), np.uint8),
            room.words, room.counts, room.items, room.ends, room.about,
        )  # fmt: skip
        return room


def digest_numbers(values: arrow.UInt64s, ends: arrow.Int64s) -> arrow.Int64s:
    """Digests by which runs values[ends[i]:ends[i + 1]] meet, to be compared: int64[2, n]."""
    out = np.empty((2, ends.size - 1), np.int64)
    digest_sets(values, ends, out)
    return out


@dataclass(frozen=True)
class ItemSets:
    """The stage for ready items: each list becomes a set (or, with repeats, a bag)."""

    flags: int
    seed: int

    output = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of ITEMS."""
        column = batch.column("items").fill_null(pa.scalar([], batch.column("items").type))
        lists = arrow.list_offsets(column)
        texts = arrow.strings(column.values.fill_null(""))
        longest = int(np.diff(lists).max(initial=0))
        room = SetRoom(longest, int(lists[-1] - lists[0]) + 1, len(batch))
        kernel.list_sets(
            texts.data, texts.offsets, lists, self.flags, hash_keys(self.seed),
            room.words, room.counts, room.items, room.ends, room.about,
        )  # fmt: skip
        digests = digest_lists(texts, lists, self.seed)
        num_bytes = texts.offsets[lists[1:]] - texts.offsets[lists[:-1]]
        return room.features(batch.column("row"), *map(pa.array, (num_bytes, *digests)))


class SetRoom:
    """What a kernel call fills: the set of row i is items[ends[i]:ends[i + 1]]."""

    def __init__(self, longest: int, most: int, rows: int) -> None:
        self.words = np.empty((2, longest + 66), np.uint64)
        self.counts = np.empty(2 * longest + 130, np.int64)
        self.items = np.empty(most, np.uint64)
        self.ends = np.empty(rows + 1, np.int64)
        self.about = np.empty((3, rows), np.int64)

    def features(self, *raw: pa.Array) -> pa.RecordBatch:
        """The FEATURES batch; the sets are copied out of the roomy buffer, when the scratch is gone."""
        del self.words, self.counts
        items = arrow.items(self.items[: self.ends[-1]].copy(), self.ends)
        return pa.RecordBatch.from_arrays([*raw, *map(pa.array, self.about), items], schema=schemas.FEATURES)
