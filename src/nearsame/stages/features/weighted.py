"""TEXTS (or ITEMS) to WEIGHTED: each text's features, hashed as their own bytes, and how often each occurs.

1. Pure: the same batch gives the same features, whatever stands beside it.
2. A text without tokens has no features.
3. Where the hash is not the hot default, the features of a batch are spelt out once each and hashed by a library.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import features as kernel
from nearsame.kernels import unicode
from nearsame.stages.features.hashes import Hasher, hash_features
from nearsame.stages.features.identity import digest_lists
from nearsame.stages.features.words import hash_words, packed_letters

__all__ = ["ListFeatures", "Spelling", "TextFeatures"]

_ROOM = 1 << 16


@dataclass(frozen=True)
class Spelling:
    """What is noted of a feature besides its 64-bit identity.

    Attributes:
        counted: whether `times` are.
        lettered: whether the `letters` of the text are noted (of ready items: never).
        function: what hashes a feature's bytes in place of XXH3-64; None: its identity is its hash.
        bits: of a code.
    """

    counted: bool = False
    lettered: bool = False
    function: Hasher | None = None
    bits: int = 64


@dataclass(frozen=True)
class TextFeatures:
    """The stage that turns texts into features."""

    size: int
    step: int
    flags: int
    spelling: Spelling
    stop_words: frozenset[str] = frozenset()

    output = schemas.WEIGHTED
    token_bytes = 80  # of memory for each token of a long text: where it is, its hash, the feature, its number

    @cached_property
    def _stops(self) -> arrow.UInt64s:
        return hash_words(self.stop_words, self.flags, 0)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """WEIGHTED of a batch of TEXTS."""
        texts = arrow.strings(batch.column("text"))
        lengths = np.diff(texts.offsets)
        longest = int(lengths.max(initial=0))
        tables = unicode.tables()
        scratch = np.zeros((3, 3 * longest + 136), np.uint8), np.empty((2, longest + 66), np.int64)
        how = (
            texts.data, texts.offsets, self.size, self.step, self.flags, self._stops, tables.stage1, tables.stage2,
            *scratch,
        )  # fmt: skip
        room = _Room(longest, int(lengths.sum()) + len(batch) + 1, len(batch), counted=self.spelling.counted)
        kernel.text_features(*how, *room.scratch, *room.out)
        raw = [batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b")]

        def spell(vocabulary: arrow.UInt64s, where: Any) -> arrow.Bytes:
            size = _ROOM
            while True:
                out = np.empty(size, np.uint8)
                where[:] = -1
                if kernel.spell(*how, vocabulary, where, out):
                    return out
                size *= 4

        return room.weighted(raw, self.spelling, spell, packed_letters(texts) if self.spelling.lettered else None)


@dataclass(frozen=True)
class ListFeatures:
    """The stage for ready items: each string is a feature as it stands."""

    spelling: Spelling

    output = schemas.WEIGHTED

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """WEIGHTED of a batch of ITEMS, or of lists of whole numbers in their place."""
        from nearsame.forms.decimals import as_texts  # noqa: PLC0415  (texts need none)

        column = batch.column("items").fill_null(pa.scalar([], batch.column("items").type))
        lists = arrow.list_offsets(column)
        texts = arrow.strings(as_texts(column.values).fill_null(""))
        sizes = np.diff(lists)
        room = _Room(int(sizes.max(initial=0)), int(sizes.sum()) + 1, len(batch), counted=self.spelling.counted)
        kernel.list_features(texts.data, texts.offsets, lists, *room.scratch, *room.out)
        num_bytes = texts.offsets[lists[1:]] - texts.offsets[lists[:-1]]
        digests = digest_lists(texts, lists, 0)
        raw = [batch.column("row"), *map(pa.array, (num_bytes, *digests))]

        def spell(vocabulary: arrow.UInt64s, where: Any) -> arrow.Bytes:
            out = np.empty(int(num_bytes.sum()), np.uint8)
            kernel.spell_lists(texts.data, texts.offsets, lists, vocabulary, where, out)
            return out

        return room.weighted(raw, self.spelling, spell)


class _Room:
    """What a kernel call fills."""

    def __init__(self, longest: int, most: int, rows: int, *, counted: bool) -> None:
        self.scratch = np.empty((2, longest + 66), np.uint64), np.empty(2 * longest + 134, np.int64)
        self.items = np.empty(most, np.uint64)
        self.times = np.empty(most if counted else 0, np.int64)
        self.ends = np.empty(rows + 1, np.int64)
        self.num_tokens = np.empty(rows, np.int64)

    @property
    def out(self) -> tuple[Any, ...]:
        return self.items, self.times, self.ends, self.num_tokens

    def weighted(
        self,
        raw: list[pa.Array],
        spelling: Spelling,
        spell: Callable[[arrow.UInt64s, Any], arrow.Bytes],
        letters: pa.Array | None = None,
    ) -> pa.RecordBatch:
        """The WEIGHTED batch; the lists are copied out of the roomy buffers."""
        items = self.items[: self.ends[-1]].copy()
        nothing = arrow.items(arrow.NO_HASHES, np.zeros_like(self.ends))
        times = arrow.items(self.times[: items.size].copy().view(np.uint64), self.ends) if spelling.counted else nothing
        hashes = nothing
        if spelling.function is not None:
            vocabulary = arrow.frozen(np.unique(items))
            where = np.full((vocabulary.size, 2), -1)
            data = spell(vocabulary, where)
            words = hash_features([data[a:b].tobytes() for a, b in where.tolist()], spelling.function, spelling.bits)
            item_hashes = words[np.searchsorted(vocabulary, items)]
            hashes = arrow.items(item_hashes.ravel(), self.ends * words.shape[1])
        columns = [
            *raw,
            arrow.numbers(self.num_tokens),
            arrow.items(items, self.ends),
            times,
            hashes,
            nothing if letters is None else letters,
        ]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.WEIGHTED)
