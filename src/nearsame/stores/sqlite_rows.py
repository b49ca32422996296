"""The rows of an index in SQLite: what a transaction reads and writes.

1. Statements are few and of few shapes, so that SQLite keeps them prepared.
2. SQLite holds a column to no type: what comes out of one is looked at, and what cannot be is damage.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.stores.base import Hits, Row

__all__ = ["MAKE", "Transaction"]

MAKE = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT, leader INTEGER, items BLOB NOT NULL, text BLOB
);
CREATE INDEX documents_by_leader ON documents (leader) WHERE leader IS NOT NULL;
CREATE TABLE postings (key INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID;
INSERT INTO counters VALUES ('documents', 0), ('next', 1);
"""
_AT_ONCE = (16, 64, 512)  # keys in one statement: few different ones, so that they stay prepared
_FEW, _MANY = 64, 4096  # postings: if fewer are wanted, or as many are there, keys are asked for one by one
_COLUMNS = "number, id, url, items, NULL, leader"
_WITH_TEXT = "number, id, url, items, text, leader"
_KINDS: tuple[Any, ...] = (int, str, str | None, bytes, bytes | None, int | None)  # of these


class _DamagedError(sqlite3.DatabaseError):
    """What SQLite takes for sound, and is not."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Transaction:
    """What a transaction reads and writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute
        self._next: int | None = None
        self._added = 0

    def numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """The numbers of those ids that are there."""
        found: dict[str, int] = {}
        for id_ in dict.fromkeys(ids):
            row = self._run("SELECT number FROM documents WHERE id = ?", (id_,)).fetchone()
            if row:
                found[id_] = row[0]
        return found

    def rows(self, numbers: Iterable[int], *, text: bool = False) -> dict[int, Row]:
        """The documents of those numbers that are there."""
        columns = _WITH_TEXT if text else _COLUMNS
        statement = f"SELECT {columns} FROM documents WHERE number = ?"  # noqa: S608  (a constant)
        found = (self._run(statement, (number,)).fetchone() for number in numbers)
        return {row[0]: _sound(row) for row in found if row}

    def postings(self, keys: Int64s, most: int) -> Hits:
        """Of each key the documents with the smallest numbers, in order."""
        found: list[tuple[int, int]] = []
        values = keys.tolist()
        for start in range(0, len(values), _AT_ONCE[-1]):
            found += self._postings(values[start : start + _AT_ONCE[-1]], most)
        table = _pairs(found)
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        is_near = np.arange(len(table)) - np.searchsorted(table[:, 0], table[:, 0]) < most
        return Hits(np.searchsorted(keys, table[is_near, 0]), table[is_near, 1])

    def _postings(self, keys: list[int], most: int) -> list[tuple[int, int]]:
        """(key, number) of some keys: by one statement, unless that may read far more than is wanted."""
        if most > _FEW:
            size = next(size for size in _AT_ONCE if size >= len(keys))
            cursor = self._run(_SELECT_KEYS[size], keys + keys[-1:] * (size - len(keys)))
            found: list[tuple[int, int]] = cursor.fetchmany(_MANY)
            if len(found) < _MANY:
                return found
            cursor.close()
        statement = "SELECT key, number FROM postings WHERE key = ? ORDER BY number LIMIT ?"
        return [pair for key in keys for pair in self._run(statement, (key, most))]

    def page(self, after: int, limit: int, *, text: bool = False) -> list[Row]:
        """The next documents by number."""
        columns = _WITH_TEXT if text else _COLUMNS
        statement = f"SELECT {columns} FROM documents WHERE number > ? ORDER BY number LIMIT ?"  # noqa: S608  (likewise)
        return [_sound(row) for row in self._run(statement, (after, limit))]

    def postings_page(self, after: tuple[int, int] | None, limit: int) -> tuple[Int64s, Int64s]:
        """The next (keys, numbers), ascending."""
        statement = "SELECT key, number FROM postings WHERE (key, number) > (?, ?) ORDER BY key, number LIMIT ?"
        table = _pairs(self._run(statement, (*(after or (-(2**63), 0)), limit)).fetchall())
        return table[:, 0], table[:, 1]

    def counts(self) -> dict[str, int]:
        """The counters."""
        found = dict(self._run("SELECT name, value FROM counters").fetchall())
        if not {"documents", "next"} <= found.keys() or any(type(value) is not int for value in found.values()):
            raise _DamagedError("is damaged: a counter is not a whole number")
        return {**found, "documents": found["documents"] + self._added, "next": self._next or found["next"]}

    def largest(self, limit: int, offset: int = 0) -> list[tuple[int, int]]:
        """(leader, how many it leads) of the leaders that lead most."""
        statement = (
            "SELECT leader, count(*) FROM documents WHERE leader IS NOT NULL"
            " GROUP BY leader ORDER BY count(*) DESC, leader LIMIT ? OFFSET ?"
        )
        return self._run(statement, (limit, offset)).fetchall()

    def followers(self, leader: int, limit: int | None = None) -> list[int]:
        """Whom a document leads, ascending."""
        statement = "SELECT number FROM documents WHERE leader = ? ORDER BY number LIMIT ?"
        return [row[0] for row in self._run(statement, (leader, -1 if limit is None else limit))]

    def problems(self) -> list[str]:
        """What SQLite's own check of the file finds, and whether the counters are right."""
        found = [row[0] for row in self._run("PRAGMA integrity_check") if row[0] != "ok"]
        number, last = self._run("SELECT count(*), coalesce(max(number), 0) FROM documents").fetchone()
        counts = self.counts()
        if counts["documents"] != number:
            found.append(f"the counter says {counts['documents']} documents, and there are {number}")
        if counts["next"] <= last:
            found.append(f"the next number is {counts['next']}, and document {last} is there")
        return found

    def reserve(self, count: int) -> int:
        """The first of so many new numbers in a row."""
        first = self._next or self.counts()["next"]
        self._next = first + count
        return first

    def insert(self, rows: Sequence[Row], keys: Int64s, numbers: Int64s) -> None:
        """Add documents, and their postings in the order of the keys."""
        values = ((row.number, row.id, row.url, row.leader, row.items, row.text) for row in rows)
        self._connection.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", values)
        self._added += len(rows)
        self.post(keys, numbers)

    def delete(self, numbers: Sequence[int], keys: Int64s, of: Int64s) -> None:
        """Take documents away, and their postings."""
        self._connection.executemany("DELETE FROM documents WHERE number = ?", ((number,) for number in numbers))
        self._added -= len(numbers)
        pairs = zip(keys.tolist(), of.tolist(), strict=True)
        self._connection.executemany("DELETE FROM postings WHERE key = ? AND number = ?", pairs)

    def post(self, keys: Int64s, numbers: Int64s) -> None:
        """Add postings, in order."""
        order = np.lexsort((numbers, keys))
        pairs = zip(keys[order].tolist(), numbers[order].tolist(), strict=True)
        self._connection.executemany("INSERT INTO postings VALUES (?, ?)", pairs)

    def lead(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        """Write down (number, its leader)."""
        values = ((leader, number) for number, leader in pairs)
        self._connection.executemany("UPDATE documents SET leader = ? WHERE number = ?", values)

    def close(self) -> None:
        """Write the counters."""
        if self._added:
            self._run("UPDATE counters SET value = value + ? WHERE name = 'documents'", (self._added,))
        if self._next is not None:
            self._run("UPDATE counters SET value = ? WHERE name = 'next'", (self._next,))


_SELECT_KEYS = {
    size: f"SELECT key, number FROM postings WHERE key IN ({', '.join('?' * size)})"  # noqa: S608  (question marks)
    for size in _AT_ONCE
}


def _pairs(found: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """int64[n, 2]."""
    try:
        return np.fromiter(chain.from_iterable(found), np.int64, 2 * len(found)).reshape(-1, 2)
    except (TypeError, ValueError) as error:
        raise _DamagedError("is damaged: a key, or the number of its document, is not a whole number") from error


def _sound(row: tuple[Any, ...]) -> Row:
    """A document; SQLite holds a column to no type."""
    if not all(isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=True)):
        raise _DamagedError(f"is damaged: document {row[0]} has a value of another type than its column")
    return Row(*row)
