"""Whether an index is sound: every invariant, checked.

1. The store's own files are sound, its counters are right, and each row is what was written.
2. Each document has its set keys, and the other keys if it is the first with its items: made again from what is stored.
   There are no other keys.
3. Whoever follows another resembles it, and follows one that follows nobody.
4. What is stored of a text is what is made of the text, where that is stored; the same for addresses.
5. What cannot be read is one more thing that is wrong: the rest is looked at all the same.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.errors import StoreDamagedError
from nearsame.index.adding import blobs_of
from nearsame.index.facet import Facets, Input
from nearsame.index.salvaging import whole_rows
from nearsame.index.search import Questioned, ask, evidence_of
from nearsame.index.shelves import BlobShelf, behind
from nearsame.placeholders import is_no_url
from nearsame.recipes.choices import StoreKind
from nearsame.stores.base import Reader, Row

__all__ = ["check"]

_AT_ONCE = 1000
_POSTINGS = 100_000
_MOST = 20  # of one kind are reported
_ALL = 1 << 40


def check(reader: Reader, facets: Facets, store: StoreKind) -> list[str]:
    """What is wrong, in words, each once."""
    return _Check(reader, facets, store).run()


@dataclass
class _Check:
    """What is found on the way."""

    reader: Reader
    facets: Facets
    store: StoreKind
    found: dict[str, None] = field(default_factory=dict)  # in order
    damage: list[str] = field(default_factory=list)  # documents that cannot be looked at
    expected: int = 0  # postings

    def run(self) -> list[str]:
        """Check all documents, then all keys; what is wrong, in words, damage first."""
        self._try(self.reader.problems)
        try:
            for rows in whole_rows(self.reader, self.damage.append):
                self._try(lambda: self._documents(rows))  # noqa: B023  (called at once)
        except StoreDamagedError as error:
            self.damage.append(error.why)
        if not self.damage:  # else all that leads to damaged documents would be reported, too
            self._try(lambda: _strays(self.reader, self.facets, self.expected))
        return list(dict.fromkeys([*self.damage, *self.found]))

    def _try(self, part: Callable[[], Iterable[str]]) -> None:
        try:
            with self.reader.attempt():
                for problem in part():
                    self.found[problem] = None
        except StoreDamagedError as error:
            self.found[error.why] = None

    def _documents(self, rows: Sequence[Row]) -> Iterator[str]:
        yield from _contents(self.facets, self.store, rows)
        missing, expected = _postings(self.reader, ask(self.facets, [row.items for row in rows]), rows)
        self.expected += expected
        yield from missing[:_MOST]
        yield from _leaders(self.reader, self.facets, rows)


def _postings(reader: Reader, asked: Questioned, rows: Sequence[Row]) -> tuple[list[str], int]:
    """(what is missing, how many there must be)."""
    numbers = np.array([row.number for row in rows], np.int64)
    values, of = asked.column_keys
    pairs = set(zip(values.tolist(), numbers[of].tolist(), strict=True))
    for keys in asked.keys:
        leads = _leads(reader, keys.sets, numbers)
        pairs.update(zip(keys.sets[keys.present].tolist(), numbers[keys.present].tolist(), strict=True))
        chosen = leads[keys.rows]
        pairs.update(zip(keys.keys[chosen].tolist(), numbers[keys.rows[chosen]].tolist(), strict=True))
    wanted = np.array(sorted({key for key, _ in pairs}), np.int64)
    hits = reader.postings(wanted, _ALL)
    there = set(zip(wanted[hits.places].tolist(), hits.numbers.tolist(), strict=True))
    missing = [f"document {number} lacks the key {key & (1 << 64) - 1:016x}" for key, number in sorted(pairs - there)]
    return missing, len(pairs)


def _leads(
    reader: Reader,
    sets: Int64s,
    numbers: Int64s,
) -> npt.NDArray[np.bool_]:
    """Which documents are the first with their items."""
    distinct, inverse = np.unique(sets, return_inverse=True)
    first = np.full(distinct.size, -1, np.int64)
    hits = reader.postings(distinct, 1)
    first[hits.places] = hits.numbers
    is_first: npt.NDArray[np.bool_] = first[inverse] == numbers
    return is_first


def _leaders(reader: Reader, facets: Facets, rows: Sequence[Row]) -> Iterator[str]:
    led = [row for row in rows if row.leader is not None]
    leaders = reader.rows({row.leader for row in led if row.leader is not None}, missing_ok=True)
    for row in led:
        leader = leaders.get(row.leader or 0)
        if leader is None:
            yield f"document {row.number} follows {row.leader}, which is missing"
        elif leader.leader is not None:
            yield f"document {row.number} follows {row.leader}, which follows {leader.leader}"
        elif not set(evidence_of(facets, row.items, [leader])[0].found_by) - {"url"}:
            yield f"document {row.number} follows {row.leader}, which it does not resemble"


def _contents(facets: Facets, store: StoreKind, rows: Sequence[Row]) -> Iterator[str]:
    if store == "text":
        made = blobs_of(facets, [_input(facets, row) for row in rows])
        for row, blob in zip(rows, made, strict=True):
            if row.items != blob and not _may_differ(row):
                yield f"document {row.number}: what is stored of its text is not what the text gives"
        return
    for number, facet in enumerate(facets):
        if facet.name == "url":
            shelf = BlobShelf(facets, [row.items for row in rows]).items(number)
            for at, items in enumerate(facet.items([Input(row.id, row.url) for row in rows])):
                is_made = np.array_equal(items, shelf.items[shelf.starts[at] : shelf.ends[at]])
                if not is_made and not _may_differ(rows[at]):
                    yield f"document {rows[at].number}: what is stored of its URL is not what the URL gives"


def _may_differ(row: Row) -> bool:
    """Whether an older version made a key of a word for no URL, which nobody asks for any more."""
    return row.url is not None and is_no_url(row.url)


def _input(facets: Facets, row: Row) -> Input:
    return Input(row.id, row.url, zlib.decompress(row.text or b""), columns=behind(facets, row.items))


def _strays(reader: Reader, facets: Facets, expected: int) -> Iterator[str]:
    """Keys of nobody: looked for one by one only if there are more than there must be."""
    counted, after = 0, None
    while (page := reader.postings_page(after, _POSTINGS))[0].size:
        after = int(page[0][-1]), int(page[1][-1])
        counted += page[0].size
    if counted <= expected:
        return
    yield f"there are {counted:,} keys, expected {expected:,}"
    reported, after = 0, None
    while reported < _MOST and (page := reader.postings_page(after, _AT_ONCE))[0].size:
        after = int(page[0][-1]), int(page[1][-1])
        rows = reader.rows(np.unique(page[1]).tolist(), missing_ok=True)
        owned = _owned(facets, list(rows.values()))
        for key, number in zip(*(column.tolist() for column in page), strict=True):
            if key not in owned.get(number, ()):
                reported += 1
                yield f"the key {key & (1 << 64) - 1:016x} leads to document {number}, which does not have it"


def _owned(facets: Facets, rows: Sequence[Row]) -> dict[int, set[int]]:
    owned: dict[int, set[int]] = {row.number: set() for row in rows}
    if rows:
        asked = ask(facets, [row.items for row in rows])
        for at, key in zip(asked.column_keys[1].tolist(), asked.column_keys[0].tolist(), strict=True):
            owned[rows[at].number].add(key)
        for keys in asked.keys:
            for at, key in enumerate(keys.sets.tolist()):
                owned[rows[at].number].add(key)
            for at, key in zip(keys.rows.tolist(), keys.keys.tolist(), strict=True):
                owned[rows[at].number].add(key)
    return owned
