"""What can be asked of an open index, by whoever may only read it, too.

1. Each question is one snapshot: it sees a transaction whole, or not at all, and waits for nobody.
2. What is similar, and by how much, is decided by search.py alone.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Unpack, overload

from nearsame.answers.matches import Entry, Group, IndexStats, Likeness, Matches
from nearsame.errors import ConfigError, StoreDamagedError, StoreError, UnknownIdError
from nearsame.files.inputs import Inputs, is_address
from nearsame.flow.options import SourceOptions
from nearsame.index import checking, exporting
from nearsame.index.asking import Wanting, answers, asked, of_sketch
from nearsame.index.columns import Where, read_kept
from nearsame.index.documents import Sourced, at_hand, input_of, is_one, is_storable
from nearsame.index.facet import Input
from nearsame.index.recipe import read_recipe
from nearsame.index.search import evidence_of
from nearsame.index.shelves import Blobs, WholeBlob
from nearsame.outputs.apart import require_apart
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.given import Number
from nearsame.sources import Skipped
from nearsame.stores.base import Reader, Row, Store, Writer

__all__ = ["Questions", "named"]

_MOST_WORDS = 500  # that ids are searched for at once; a thousand conditions are too many for SQLite
_AT_ONCE = 256  # documents that are asked about at once


@checked
class Questions:
    """An open index, as far as it is read."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._store.name!r}{', read-only' if self._read_only else ''})"

    def __init__(self, store: Store | str | os.PathLike[str], *, read_only: bool = False) -> None:
        if isinstance(store, str | os.PathLike):
            message = f"an index at {os.fspath(store)!r} is opened by Index.open, or made by Index.create"
            raise ConfigError(message, hint="Write `with Index.open(PATH) as index:`.")
        self._store, self._read_only = store, read_only
        self._facets, self._kind = read_recipe(store.settings, store.name)
        self._kept = read_kept(store.settings)
        self._writer: Writer | None = None
        self.skipped: list[Skipped] = []

    @overload
    def query(
        self,
        documents: str | Mapping[str, Any],
        *,
        limit: int = 10,
        threshold: Number | None = None,
        where: Where | None = None,
    ) -> Matches: ...
    @overload
    def query(
        self, documents: Any, *, limit: int = 10, threshold: Number | None = None, where: Where | None = None
    ) -> list[Matches]: ...
    def query(
        self, documents: Any, *, limit: int = 10, threshold: Number | None = None, where: Where | None = None
    ) -> Matches | list[Matches]:
        """What documents resemble: verified, best first.

        Args:
            documents: Whatever `add` takes; a text or a dict gives a list of matches, several documents a list of
                such lists. In a crowd of near copies not all are compared: the list's `complete` says so.
            limit: At most this many of each.
            threshold: Another one than the index has. Below that not all are found: the list's `recall` has the chance
                to find a document at the threshold.
            where: Only documents whose kept columns are so: `"lang=en"`, `"lang=en|de"`, `"lang!=en"`,
                `"date>=2024-01-01"` (numbers go by value), a list of which all must hold, or exact values by name.

        Raises:
            ConfigError: Something is not a document, or the index cannot answer for a threshold or a column.
        """
        if is_one(documents):
            return self._queried([input_of(documents, own_name=False)], self._asked(limit, threshold, where))[0]
        inputs = at_hand(documents, own_names=False)
        if inputs is not None:
            wanted = self._asked(limit, threshold, where)
            return [matches for some in _cut(inputs) for matches in self._queried(some, wanted)]
        batches = self.query_batches(documents, limit=limit, threshold=threshold, where=where)
        return [matches for _, some in batches for matches in some]

    def query_batches(
        self,
        source: Any,
        *,
        limit: int = 10,
        threshold: Number | None = None,
        where: Where | None = None,
        **options: Unpack[SourceOptions],
    ) -> Iterator[tuple[list[str], list[Matches]]]:
        """The documents of a source, batch by batch: their ids, and what each resembles.

        Args:
            source: Whatever `dedup` takes.
            limit: At most this many matches of each.
            threshold: Another one than the index has, as in `query`.
            where: Only documents whose kept columns are so, as in `query`.
        """
        self.skipped.clear()
        wanted = self._asked(limit, threshold, where)
        for inputs in Sourced(source, options, self.skipped):
            for some in _cut(inputs):
                yield [document.id for document in some], self._queried(some, wanted)

    def compare(self, id_a: str, id_b: str) -> Likeness:
        """Two documents of the index, whatever they have in common.

        Raises:
            UnknownIdError: An id is not there.
        """
        with self._reading() as reader:
            a, b = self._rows(reader, [id_a, id_b])
        evidence = evidence_of(self._facets, a.items, [b])[0]
        bound = next((facet.bound for facet in self._facets if facet.measure), None)
        least = None if bound is None else bound.p / bound.q
        similar = bool(evidence.found_by)
        return Likeness(
            id_a, id_b, evidence.similarity, evidence.measure, least, evidence.found_by, evidence.distance, similar
        )

    def get(self, id: str) -> Entry:
        """What the index has of a document.

        Raises:
            UnknownIdError: The id is not there.
        """
        with self._reading() as reader:
            row = self._rows(reader, [id], text=True)[0]
            leader = None if row.leader is None else reader.rows([row.leader])[row.leader].id
        return exporting.entry(self._facets, row, leader)

    def text(self, id: str) -> str:
        """The text of a document, where texts are stored.

        Raises:
            UnknownIdError: The id is not there.
            ConfigError: The index stores no texts.
        """
        self._require_texts()
        return self.get(id).text or ""

    def duplicates(self, id: str, *, limit: int = 10, where: Where | None = None) -> Matches:
        """What a document of the index resembles, itself left out; best first.

        Args:
            id: Of the document.
            limit: At most this many.
            where: Only documents whose kept columns are so, as in `query`.

        Raises:
            UnknownIdError: The id is not there.
        """
        wanted = replace(self._asked(limit, None, where), but=id)
        with self._reading() as reader:
            row = self._rows(reader, [id])[0]
            return answers(reader, WholeBlob(row.items), wanted)[0]

    def clusters(self, *, limit: int = 20, offset: int = 0, members: int = 10) -> list[Group]:
        """Documents that others were found to resemble, those with most first.

        Args:
            limit: At most this many.
            offset: Skip this many.
            members: At most this many ids of each.
        """
        for name, value, least in (("limit", limit, 1), ("offset", offset, 0), ("members", members, 1)):
            require_number(name, value, least)
        with self._reading() as reader:
            groups = []
            for leader, size in reader.largest(limit, offset):
                followers = reader.followers(leader, members - 1)
                rows = reader.rows([leader, *followers])
                if any(rows[number].leader != leader for number in followers):
                    raise StoreDamagedError.of(reader.name, f"not all documents that follow document {leader} say so")
                ids = tuple(rows[number].id for number in (leader, *followers))
                groups.append(Group(rows[leader].id, size + 1, ids))
        return groups

    def grouped(self) -> tuple[int, int]:
        """How many clusters there are, and how many documents in them."""
        with self._reading() as reader:
            leaders, followers = reader.grouped()
        return leaders, leaders + followers

    def ids(self, *, after: str | None = None, limit: int | None = None, containing: str = "") -> Iterator[str]:
        """Ids, in the order in which documents were added.

        Args:
            after: Only of those after the document of this id; default: from the first one.
            limit: At most this many; default: all.
            containing: Only of documents whose id or URL contains each of these words; A to Z are as a to z.

        Raises:
            ConfigError: `containing` has too many words.
            UnknownIdError: No document has the id `after`.
        """
        if limit is not None:
            require_number("limit", limit, 1)
        words = _words(containing)
        start = 0
        if after is not None:
            with self._reading() as reader:
                start = self._rows(reader, [after])[0].number
        if not all(map(is_storable, words)):
            return iter([])
        return islice(self._ids(words, start, _AT_ONCE if limit is None else min(limit, _AT_ONCE)), limit)

    def _ids(self, words: Sequence[str], after: int, at_once: int) -> Iterator[str]:
        while True:
            with self._reading() as reader:  # ended before anything is given away: the caller may ask in between
                rows = reader.containing(words, after, at_once) if words else reader.page(after, at_once)
            if not rows:
                return
            after = rows[-1].number
            yield from (row.id for row in rows)

    def stats(self) -> IndexStats:
        """Counts that are kept, not counted."""
        with self._reading() as reader:
            documents = reader.counts()["documents"]
        with self._turn():
            size = self._store.size_bytes()
        return IndexStats(
            self._store.name,
            documents,
            size,
            None if size is None or not documents else size / documents,
            self._kind,
            tuple(json.loads(self._store.settings["methods"])),
            sum(facet.num_keys for facet in self._facets),
            self._store.settings["format"],
            self._kept,
        )

    def check(self) -> list[str]:
        """Check all of it; returns what is wrong, nothing if all is well."""
        with self._reading() as reader:
            return checking.check(reader, self._facets, self._kind)

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> int:
        """Write all documents to a file, `.jsonl` or `.parquet`: ids, addresses, columns, digests, texts if they are.

        Of a damaged index those that are whole; `skipped` then has what was left out.

        Args:
            path: Where; the file appears when it is complete.
            overwrite: Whether it takes the place of one that is there.

        Returns:
            How many there are.
        """
        self.skipped.clear()
        return exporting.export(
            self._reading,
            self._facets,
            os.fspath(path),
            index=self._store.name,
            kept=self._kept,
            overwrite=overwrite,
            skipped=self.skipped,
        )

    def records(
        self, *, after: str | None = None, number: int = 0, limit: int = 1000
    ) -> list[tuple[int, dict[str, Any]]]:
        """Some documents as `export` writes them, each with its number, in the order in which they were added.

        Who goes on from the last number, again and again, gets all documents, each once: on a PostgreSQL server those
        wait that another writer, who is not done yet, may come before.

        Args:
            after: Only those behind the document of this id.
            number: Only those with a greater number.
            limit: At most this many.

        Raises:
            UnknownIdError: No document has the id `after`.
        """
        return self._records(after, number, limit, settled=True)

    def _records(
        self, after: str | None, number: int, limit: int, *, settled: bool
    ) -> list[tuple[int, dict[str, Any]]]:
        require_number("number", number, 0)
        require_number("limit", limit, 1)
        with self._turn():
            last = self._store.settled() if settled else None  # before anything is read
        with self._reading() as reader:
            start = number if after is None else self._rows(reader, [after])[0].number
            rows = reader.page(start, limit, text=True)
        found = rows if last is None else [row for row in rows if row.number <= last]
        return [(row.number, exporting.exported(self._facets, self._kept, row)) for row in found]

    def backup(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Copy an index in a file to another file, as it is at this moment, even while others write.

        Args:
            path: Where; the copy appears when it is complete.
            overwrite: Whether it takes the place of an index that is there; nothing else is ever replaced.

        Raises:
            StoreError: Something is there, or the index is on a PostgreSQL server: the hint has the command for that.
            OutputError: The place is that of the index itself.
        """
        place = os.fspath(path)
        if is_address(place):
            raise StoreError(f"{place} is a URL, and a backup is a local file", hint="Give a path.")
        require_apart(place, Path(os.path.realpath(place)), Inputs.index(self._store.name), folder=False)
        with self._turn():
            self._store.backup(place, overwrite=overwrite)

    def _queried(self, inputs: Sequence[Input], wanted: Wanting) -> list[Matches]:
        with self._reading() as reader:
            if any(document.sketch is not None for document in inputs) and self._sketch_differs():
                return [self._queried_one(reader, document, wanted) for document in inputs]
            return answers(reader, Blobs(self._facets, inputs), wanted)

    def _queried_one(self, reader: Reader, document: Input, wanted: Wanting) -> Matches:
        if document.sketch is not None:
            if document.url and any(facet.name == "url" for facet in self._facets):
                message = f"a sketch and a url are asked about apart in an index with store={self._kind}"
                raise ConfigError(message, hint="Ask by one of them, or create the index with store=sketch.")
            return of_sketch(reader, document.sketch, wanted)
        return answers(reader, Blobs(self._facets, [document]), wanted)[0]

    def _sketch_differs(self) -> bool:
        """Whether what is stored is not what a sketch is."""
        return all(facet.width == 8 for facet in self._facets)

    def _asked(self, limit: int, threshold: Number | None, where: Where | None) -> Wanting:
        return asked(self._facets, self._kept, limit, threshold, where)

    def _rows(self, reader: Reader, ids: Sequence[str], *, text: bool = False) -> list[Row]:
        rows = named(reader, ids, text=text)
        self._require(ids, rows)
        return [rows[id_] for id_ in ids]

    def _require(self, ids: Sequence[str], rows: Mapping[str, Row]) -> None:
        missing = [id_ for id_ in ids if id_ not in rows]
        if missing:
            others = len(missing) - 1
            more = f" and {others:,} other{'s' if others > 1 else ''}" if others else ""
            raise UnknownIdError(f"{self._store.name} has no document {missing[0]!r}{more}", hint="Check the id.")

    def _require_texts(self) -> None:
        if self._kind != "text":
            message = f"{self._store.name} stores {self._kind}, not texts"
            raise ConfigError(message, hint="Create an index with store=text.")

    @contextmanager
    def _reading(self) -> Iterator[Reader]:
        """A snapshot, or the transaction that this thread has begun."""
        with self._turn(), self._store.reading() if self._writer is None else nullcontext(self._writer) as reader:
            yield reader

    def _turn(self) -> AbstractContextManager[None]:
        """This thread's turn: what another one has begun is ended first."""
        self._store.owner.require(self._store.name)  # whose turn it was where this process was forked is of no meaning
        return self._store.turns.taken()


def named(reader: Reader, ids: Sequence[str], *, text: bool = False) -> dict[str, Row]:
    """The documents of those ids that are there: none of them holds what no store can keep."""
    return reader.named([id_ for id_ in ids if is_storable(id_)], text=text)


def _words(text: str) -> list[str]:
    """What an id or an address is searched for."""
    words = list(dict.fromkeys("".join(map(_small, text)).split()))
    if len(words) > _MOST_WORDS:
        raise ConfigError(f"{len(words)} words are more than {_MOST_WORDS}", hint="Search for fewer.")
    return words


def _small(letter: str) -> str:
    return letter.lower() if letter.isascii() else letter


def _cut(inputs: Sequence[Input]) -> Iterator[Sequence[Input]]:
    for start in range(0, len(inputs), _AT_ONCE):
        yield inputs[start : start + _AT_ONCE]
