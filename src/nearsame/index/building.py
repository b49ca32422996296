"""A whole source into a new index: documents as they come, then all keys in their order, then who follows whom.

1. Keys go in sorted: each page of the table is written once, and full.
2. The answer is that of adding the documents one by one.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.clock import Progress
from nearsame.index.adding import prepared
from nearsame.index.facet import Facet, Input
from nearsame.index.removing import follow_anew
from nearsame.recipes.choices import StoreKind
from nearsame.stores.base import Row, Store, Writer

__all__ = ["Documents", "build"]

_AT_ONCE = 1 << 17  # postings
_NONE = np.zeros(0, np.int64)


class Documents(Protocol):
    """Where the documents come from."""

    @property
    def progress(self) -> Progress:
        """Is given how many documents were read."""

    def __iter__(self) -> Iterator[list[Input]]:
        """The documents, a list for each batch."""

    def skip_repeated(self, id_: str) -> None:
        """One has the id of one before it."""


def build(store: Store, facets: Sequence[Facet], kind: StoreKind, sourced: Documents) -> None:
    """Fill a store that is empty."""
    gathered = [_Gathered() for _ in (*facets, "columns")]
    seen: set[str] = set()
    with store.writing(None) as writer:
        for inputs in sourced:
            fresh = [document for document in inputs if _is_new(document, seen, sourced)]
            if fresh:
                _insert(writer, facets, kind, fresh, gathered)
        del seen
        sourced.progress.begin("keys")
        _post_sorted(writer, gathered)
        sourced.progress.begin("duplicates")
        names = [facet.name for facet in facets]
        related = [facet_keys.related() for name, facet_keys in zip(names, gathered[:-1], strict=True) if name != "url"]
        follow_anew(writer, facets, np.unique(np.concatenate([_NONE, *related])).tolist(), earlier_only=True)
    sourced.progress.end()


def _is_new(document: Input, seen: set[str], sourced: Documents) -> bool:
    if document.id in seen:
        sourced.skip_repeated(document.id)
        return False
    seen.add(document.id)
    return True


class _Gathered:
    """The keys of one facet."""

    def __init__(self) -> None:
        self._parts: list[tuple[Int64s, Int64s, Int64s, Int64s]] = []
        self.sets: tuple[Int64s, Int64s] = (_NONE, _NONE)  # (keys, numbers), ascending
        self.others: tuple[Int64s, Int64s] = (_NONE, _NONE)

    def add(self, sets: Int64s, numbers: Int64s, keys: Int64s, of: Int64s) -> None:
        """Those of some documents."""
        self._parts.append((sets, numbers, keys, of))

    def close(self) -> None:
        """Sort; of documents with the same items only the first keeps its other keys."""
        if not self._parts:
            return
        sets, numbers, keys, of = (np.concatenate(columns) for columns in zip(*self._parts, strict=True))
        self._parts = []
        self.sets = _sorted(sets, numbers)
        if keys.size:
            leads = np.zeros(int(numbers.max()) + 1, np.bool_)
            leads[self.sets[1][~_repeats(self.sets[0])]] = True
            chosen = leads[of]
            self.others = _sorted(keys[chosen], of[chosen])

    def related(self) -> Int64s:
        """The documents that share a key with one before them."""
        return np.concatenate([numbers[_repeats(keys)] for keys, numbers in (self.sets, self.others)])


def _sorted(keys: Int64s, numbers: Int64s) -> tuple[Int64s, Int64s]:
    order = np.lexsort((numbers, keys))
    return keys[order], numbers[order]


def _repeats(keys: Int64s) -> npt.NDArray[np.bool_]:
    """Which of ascending keys equal the one before."""
    repeats = np.zeros(keys.size, np.bool_)
    repeats[1:] = keys[1:] == keys[:-1]
    return repeats


def _insert(
    writer: Writer, facets: Sequence[Facet], kind: StoreKind, inputs: Sequence[Input], gathered: Sequence[_Gathered]
) -> None:
    given = prepared(facets, kind, inputs)
    first = writer.reserve(len(inputs))
    blobs = given.asked.blobs
    rows = [
        Row(first + at, document.id, document.url, blob, text, None)
        for at, (document, blob, text) in enumerate(zip(inputs, blobs, given.texts, strict=True))
    ]
    writer.insert(rows, _NONE, _NONE)
    numbers = np.arange(first, first + len(rows))
    values, rows_of = given.asked.column_keys
    gathered[-1].add(values, numbers[rows_of], _NONE, _NONE)
    for keys, gather in zip(given.asked.keys, gathered[:-1], strict=True):
        gather.add(keys.sets[keys.present], numbers[keys.present], keys.keys, numbers[keys.rows])


def _post_sorted(writer: Writer, gathered: Sequence[_Gathered]) -> None:
    for facet_keys in gathered:
        facet_keys.close()
    every = [pair for facet_keys in gathered for pair in (facet_keys.sets, facet_keys.others)]
    keys, numbers = _sorted(*(np.concatenate(columns) for columns in zip(*every, strict=True)))
    for start in range(0, keys.size, _AT_ONCE):
        writer.post(keys[start : start + _AT_ONCE], numbers[start : start + _AT_ONCE])
