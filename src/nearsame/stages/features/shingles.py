"""TEXTS (or ITEMS) to FEATURES: each text's set of shingles; to LETTERED, with what is to be known of each beside it.

1. Pure: the same batch gives the same features, whatever stands beside it.
2. A null or empty text has no items; a text without tokens has two, the halves of its digest.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import shingles as kernel
from nearsame.kernels import unicode
from nearsame.kernels.blake2b import digest_texts
from nearsame.kernels.hashing import hash_keys
from nearsame.stages.features.identity import digest_lists, digest_numbers, told_apart
from nearsame.stages.features.weighted_sets import joined_lists
from nearsame.stages.features.words import hash_words, packed_letters

__all__ = ["ItemSets", "SetRoom", "ShingleSets"]

_NO_DIGEST = arrow.frozen(np.zeros((2, 1), np.int64))


@dataclass(frozen=True)
class ShingleSets:
    """The stage that turns texts into sets of shingles.

    Attributes:
        lettered: whether the letters of each text stand beside its set.
        counted: whether how often each shingle occurs does, before the letters: stages/features/weighted_sets.py.
    """

    size: int
    flags: int
    seed: int
    stop_words: frozenset[str] = frozenset()
    lettered: bool = False
    counted: bool = False

    @property
    def output(self) -> pa.Schema:
        """FEATURES, or LETTERED."""
        return schemas.LETTERED if self.lettered or self.counted else schemas.FEATURES

    @property
    def token_bytes(self) -> int:
        """Of memory for each token of a long text: its hash, its shingle's, the set; and a number for each byte."""
        return 24 + (48 if self.lettered else 0) + (24 if self.counted else 0)

    @cached_property
    def _stops(self) -> arrow.UInt64s:
        return hash_words(self.stop_words, self.flags, self.seed)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of TEXTS."""
        texts = arrow.strings(batch.column("text"))
        digests = _stacked(*(arrow.ints(batch.column(name)) for name in ("digest_a", "digest_b")))
        room = self._sets(texts, digests, arrow.held_room)
        features = room.features(*(batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b")))
        if not self.lettered:
            return room.counted(features) if self.counted else features
        letters = packed_letters(texts)
        if self.counted:
            return room.counted(features, letters)
        columns = [*features.columns, letters]
        return told_apart(pa.RecordBatch.from_arrays(columns, schema=schemas.LETTERED), digest_numbers)

    def sets(self, texts: arrow.Strings) -> "SetRoom":
        """The sets of some texts without a table around them; one alone is digested only if it has no tokens."""
        if texts.offsets.size == 2:
            room = self._sets(texts, _NO_DIGEST)
            if room.about[0, 0]:
                return room
        return self._sets(texts, _stacked(*digest_texts(texts.data, texts.offsets, self.seed)))

    def _sets(
        self, texts: arrow.Strings, digests: arrow.Int64s, room_for: Callable[[int], arrow.UInt64s] = arrow.room
    ) -> "SetRoom":
        """The same; `digests` are both halves of each raw text's, and sets come to what `room_for` gives."""
        tables, offsets = unicode.tables(), texts.offsets
        rows, total = offsets.size - 1, int(offsets[-1] - offsets[0])
        longest = int((offsets[1:] - offsets[:-1]).max()) if rows else 0
        room = SetRoom(longest, room_for(total + rows + 1), rows, counted=self.counted)
        kernel.shingle_sets(
            texts.data, texts.offsets, digests, self.size, self.flags,
            hash_keys(self.seed), self._stops, tables.stage1, tables.stage2, np.zeros((2, 2 * longest + 128), np.uint8),
            room.words, room.counts, room.items, room.times, room.ends, room.about,
        )  # fmt: skip
        return room


@dataclass(frozen=True)
class ItemSets:
    """The stage for ready items: each list becomes a set (or, with repeats, a bag)."""

    flags: int
    seed: int
    counted: bool = False

    @property
    def output(self) -> pa.Schema:
        """FEATURES, or LETTERED."""
        return schemas.LETTERED if self.counted else schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of ITEMS, or of lists of whole numbers in their place."""
        from nearsame.forms.decimals import as_texts  # noqa: PLC0415  (texts need none)

        column = batch.column("items")
        column = column.fill_null(pa.scalar([], column.type)) if column.null_count else column
        lists = arrow.list_offsets(column)
        texts = arrow.strings(as_texts(column.values))
        longest = int(np.diff(lists).max(initial=0))
        room = SetRoom(longest, arrow.room(int(lists[-1] - lists[0]) + 1), len(batch), counted=self.counted)
        kernel.list_sets(
            texts.data, texts.offsets, lists, self.flags, hash_keys(self.seed),
            room.words, room.counts, room.items, room.times, room.ends, room.about,
        )  # fmt: skip
        digests = digest_lists(texts, lists, self.seed)
        num_bytes = texts.offsets[lists[1:]] - texts.offsets[lists[:-1]]
        features = room.features(batch.column("row"), *map(pa.array, (num_bytes, *digests)))
        return room.counted(features) if self.counted else features


def _stacked(*halves: arrow.Int64s) -> arrow.Int64s:
    """Digests as the kernel takes them."""
    return arrow.frozen(np.stack(halves))


class SetRoom:
    """What a kernel call fills: the set of row i is items[ends[i]:ends[i + 1]]."""

    def __init__(self, longest: int, items: arrow.UInt64s, rows: int, *, counted: bool = False) -> None:
        self.words = np.empty((2, longest + 66), np.uint64)
        self.counts = np.empty(2 * longest + 130, np.int64)
        self.items = items
        self.times = np.empty(items.size if counted else 0, np.int64)
        self.ends = np.empty(rows + 1, np.int64)
        self.about = np.empty((3, rows), np.int64)

    def features(self, *raw: pa.Array) -> pa.RecordBatch:
        """The FEATURES batch; the sets are copied out of the roomy buffer, when the scratch is gone."""
        del self.words, self.counts
        items = arrow.items(self.items[: self.ends[-1]].copy(), self.ends)
        return pa.RecordBatch.from_arrays([*raw, *map(arrow.numbers, self.about), items], schema=schemas.FEATURES)

    def counted(self, features: pa.RecordBatch, letters: pa.Array | None = None) -> pa.RecordBatch:
        """LETTERED: how often each item of the sets occurs, and behind that the letters of the texts."""
        times = arrow.items(self.times[: self.ends[-1]].copy().view(np.uint64), self.ends)
        beside = times if letters is None else joined_lists(arrow.lists(times), arrow.lists(letters))
        return pa.RecordBatch.from_arrays([*features.columns, beside], schema=schemas.LETTERED)
