"""The items of documents as they are stored, one blob each, and many of them side by side for the kernels.

A blob: how many items each method has, as uint32, filled up to eight bytes; then the items, method by method, each part
filled up to eight bytes. Numbers are little-endian. Items are eight bytes, values of a stored sketch four. Behind them
stand the columns that the index keeps (columns.py).
"""

import struct
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from nearsame.arrow import Lists, UInt64s, frozen
from nearsame.errors import StoreError
from nearsame.index.facet import NOTHING, Batch, Facets, Input

__all__ = ["BlobShelf", "Blobs", "WholeBlob", "behind", "pack", "same_items"]

_WORD = 8


class Blobs:
    """The blobs of documents that came in; the items of a facet are made when they are asked for."""

    def __init__(self, facets: Facets, inputs: Sequence[Input]) -> None:
        self._facets, self._inputs, self._batch = facets, inputs, Batch(inputs)
        self._items: dict[int, list[UInt64s]] = {}

    def of(self, numbers: Iterable[int]) -> list[bytes]:
        """With the items of some facets only, and the columns that are kept."""
        for number in numbers:
            if number not in self._items:
                self._items[number] = self._facets[number].items(self._batch)
        none = [NOTHING] * len(self._inputs)
        by_facet = (self._items.get(number, none) for number in range(len(self._facets)))
        packed = (pack(self._facets, items) for items in zip(*by_facet, strict=True))
        return [blob + document.columns for blob, document in zip(packed, self._inputs, strict=True)]

    def whole(self, places: Sequence[int]) -> list[bytes]:
        """Those of some documents with the items of all facets."""
        some = Blobs(self._facets, [self._inputs[at] for at in places])
        some._items = {number: [items[at] for at in places] for number, items in self._items.items()}
        return some.of(range(len(self._facets)))


class WholeBlob:
    """The blob of a document that is stored, which is whole."""

    def __init__(self, blob: bytes) -> None:
        self._blob = blob

    def of(self, _numbers: Iterable[int]) -> list[bytes]:
        """With whichever items."""
        return [self._blob]

    def whole(self, places: Sequence[int]) -> list[bytes]:
        """As often as it is asked for."""
        return [self._blob] * len(places)


def pack(facets: Facets, items: Sequence[UInt64s]) -> bytes:
    """The blob of a document with these items, one array for each facet."""
    counts = [part.size for part in items]
    head = struct.pack(f"<{len(counts)}I", *counts)
    pieces = [head, bytes(-len(head) % _WORD)]
    for facet, part in zip(facets, items, strict=True):
        raw = part.tobytes() if facet.width == _WORD else part.astype(np.uint32).tobytes()
        pieces += [raw, bytes(-len(raw) % _WORD)]
    return b"".join(pieces)


def behind(facets: Facets, blob: bytes) -> bytes:
    """What stands in a blob behind the items."""
    counts = struct.unpack_from(f"<{len(facets)}I", blob)
    parts = (count * facet.width for count, facet in zip(counts, facets, strict=True))
    return blob[_head_bytes(len(facets)) + sum(part + -part % _WORD for part in parts) :]


class BlobShelf:
    """Some blobs, side by side: row i has the items of blob i."""

    def __init__(self, facets: Facets, blobs: Sequence[bytes]) -> None:
        widths = [facet.width for facet in facets]
        head, counts = _head_bytes(len(widths)), f"<{len(widths)}I"
        table: list[int] = []  # of each row, by facet: where its items start and end, in items from the beginning
        place = 0
        for blob in blobs:
            if len(blob) < head or len(blob) % _WORD:
                raise StoreError("the items of a document are cut short", hint="Restore the index from a copy.")
            first, place = place + head, place + len(blob)
            for width, count in zip(widths, struct.unpack_from(counts, blob), strict=True):
                table += (first // width, first // width + count)
                first += width * count + -width * count % _WORD
            if first > place:
                raise StoreError(
                    "the items of a document are of the wrong length", hint="Restore the index from a copy."
                )
        self._widths = widths
        self._words: UInt64s = np.frombuffer(b"".join(blobs), np.uint64)
        self._bounds = np.array(table, np.int64).reshape(-1, len(widths), 2).transpose(1, 2, 0).copy()
        self._bounds.flags.writeable = False
        self._items: dict[int, Lists] = {}

    def items(self, number: int) -> Lists:
        """The items of all rows, of one facet."""
        if number in self._items:
            return self._items[number]
        items = self._words if self._widths[number] == _WORD else self._halves
        self._items[number] = Lists(items, *self._bounds[number])
        return self._items[number]

    def row(self, number: int, at: int) -> UInt64s:
        """The items of one row, of one facet."""
        items = self.items(number)
        return items.items[items.starts[at] : items.ends[at]]

    def has_items(self, number: int) -> bool:
        """Whether any row has items, of one facet."""
        starts, ends = self._bounds[number]
        return bool((starts < ends).any())

    @cached_property
    def _halves(self) -> UInt64s:
        return frozen(self._words.view(np.uint32).astype(np.uint64))


def same_items(facets: Facets, number: int, blob: bytes, other: bytes) -> bool:
    """Whether two documents have the same items, of one facet."""
    if blob == other:
        return True
    shelf = BlobShelf(facets, [blob, other])
    return np.array_equal(shelf.row(number, 0), shelf.row(number, 1))


def _head_bytes(num_facets: int) -> int:
    return -(-4 * num_facets // _WORD) * _WORD
