"""A whole source into a new index: documents as they come, then all keys in their order, then who follows whom.

1. Keys go in sorted: each page of the table is written once, and full.
2. The answer is that of adding the documents one by one.
3. Of keys no more is held than the memory allows; what is held of each document are a few bytes.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nearsame.clock import Progress
from nearsame.engines.space import Space, num_bytes
from nearsame.index.adding import prepared
from nearsame.index.facet import Facets, Input
from nearsame.index.gathering import Firsts, KeyRuns
from nearsame.index.removing import follow_anew
from nearsame.recipes.choices import StoreKind
from nearsame.stores.base import Row, Store, Writer

__all__ = ["Documents", "build", "room_for"]

_AT_ONCE = 1 << 17  # postings
_NONE = np.zeros(0, np.int64)

Bools = npt.NDArray[np.bool_]


class Documents(Protocol):
    """Where the documents come from."""

    @property
    def progress(self) -> Progress:
        """Is given how many documents were read."""

    def __iter__(self) -> Iterator[list[Input]]:
        """The documents, a list for each batch."""

    def skip_repeated(self, id_: str) -> None:
        """One has the id of one before it."""


def room_for(memory: int | str | None) -> Space:
    """The room of a build: so many bytes, or half of what is free.

    Raises:
        ConfigError: No build can do with so little.
    """
    return Space(None if memory is None else num_bytes(memory), 1)


def build(store: Store, facets: Facets, kind: StoreKind, sourced: Documents, space: Space) -> None:
    """Fill a store that is empty."""
    runs = KeyRuns(space)
    with store.writing(None) as writer:
        for inputs in sourced:
            fresh = _fresh(writer, inputs, sourced)
            if fresh:
                _insert(writer, facets, kind, fresh, runs)
        sourced.progress.begin("keys")
        related = _post_sorted(writer, facets, runs.close())
        sourced.progress.begin("duplicates")
        follow_anew(writer, facets, np.flatnonzero(related), earlier_only=True)
    sourced.progress.end()


def _fresh(writer: Writer, inputs: Sequence[Input], sourced: Documents) -> list[Input]:
    """Those whose id no document before them has."""
    seen = set(writer.named([document.id for document in inputs]))
    fresh = []
    for document in inputs:
        if document.id in seen:
            sourced.skip_repeated(document.id)
        else:
            seen.add(document.id)
            fresh.append(document)
    return fresh


def _insert(writer: Writer, facets: Facets, kind: StoreKind, inputs: Sequence[Input], runs: KeyRuns) -> None:
    given = prepared(facets, kind, inputs)
    first = writer.reserve(len(inputs))
    blobs = given.asked.blobs
    rows = [
        Row(first + at, document.id, document.url, blob, text, None)
        for at, (document, blob, text) in enumerate(zip(inputs, blobs, given.texts, strict=True))
    ]
    writer.insert(rows, _NONE, _NONE)
    numbers = np.arange(first, first + len(rows))
    for number, keys in enumerate(given.asked.keys):
        runs.add(2 * number, keys.sets[keys.present], numbers[keys.present])
        runs.add(2 * number + 1, keys.keys, numbers[keys.rows])
    values, rows_of = given.asked.column_keys
    runs.add(2 * len(facets), values, numbers[rows_of])


def _post_sorted(writer: Writer, facets: Facets, runs: KeyRuns) -> Bools:
    """Write all keys, of documents with the same items only the first one's that are no set keys.

    Returns, by number, which documents share a key with one before them by which they might follow it.
    """
    leads, related = _leading(writer.last_number() + 1, facets, runs)
    firsts = [Firsts() for _ in facets]
    for block in runs:
        chosen = np.ones(block.size, np.bool_)
        for number, facet in enumerate(facets):
            places = np.flatnonzero(block["kind"] == 2 * number + 1)
            is_leading = leads[number][block["number"][places]]
            chosen[places[~is_leading]] = False
            others = block[places[is_leading]]
            is_first = firsts[number](others["key"])
            if facet.name != "url":
                related[others["number"][~is_first]] = True
        for start in range(0, block.size, _AT_ONCE):
            some = block[start : start + _AT_ONCE][chosen[start : start + _AT_ONCE]]
            writer.post(some["key"], some["number"])
    return related


def _leading(size: int, facets: Facets, runs: KeyRuns) -> tuple[list[Bools], Bools]:
    """By number: by facet the documents that are the first with their items; and those that are not, of any."""
    leads, firsts = [np.zeros(size, np.bool_) for _ in facets], [Firsts() for _ in facets]
    related = np.zeros(size, np.bool_)
    for block in runs:
        for number, facet in enumerate(facets):
            sets = block[block["kind"] == 2 * number]
            is_first = firsts[number](sets["key"])
            leads[number][sets["number"][is_first]] = True
            if facet.name != "url":
                related[sets["number"][~is_first]] = True
    return leads, related
