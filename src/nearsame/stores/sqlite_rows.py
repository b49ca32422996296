"""The rows of an index in SQLite: what a transaction reads and writes.

1. Statements are few and of few shapes, so that SQLite keeps them prepared.
2. SQLite holds a column to no type, and checks no page: what comes out is verified by its checksum.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.errors import StoreDamagedError
from nearsame.stores.base import Hits, Row
from nearsame.stores.checksums import (
    checksum_of,
    is_counter,
    led,
    require_all,
    require_ascending,
    sorted_out,
    sum_of_text,
    verified,
)
from nearsame.stores.sqlite_mishaps import mishaps

__all__ = ["MAKE", "Transaction"]

MAKE = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT, leader INTEGER, checksum INTEGER NOT NULL,
    items BLOB NOT NULL, text_sum INTEGER, text BLOB
);
CREATE INDEX documents_by_leader ON documents (leader) WHERE leader IS NOT NULL;
CREATE TABLE postings (key INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID;
INSERT INTO counters VALUES ('documents', 0, ~0), ('next', 1, ~1);
"""
_AT_ONCE = (4, 20, 64, 512)  # keys in one statement: few different ones, so that they stay prepared
_OF_EACH = 16  # postings, on average: where there are as many, keys are asked for one by one
_COLUMNS = "number, id, url, items, NULL, leader, text_sum, checksum"  # as checksums.py takes them
_WITH_TEXT = "number, id, url, items, text, leader, text_sum, checksum"
_INSERT = (
    "INSERT INTO documents (number, id, url, leader, checksum, items, text_sum, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Transaction:
    """What a transaction reads and writes."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.name = name
        self.has_removed = False
        self._connection = connection
        self._run = connection.execute
        self._next: int | None = None
        self._added = 0

    def named(self, ids: Sequence[str], *, text: bool = False) -> dict[str, Row]:
        """The documents of those ids that are there."""
        wanted = dict.fromkeys(ids)
        by_id = {row.id: row for row in self._rows("id", wanted, text=text)}
        if not by_id.keys() <= wanted.keys():
            raise StoreDamagedError.of(self.name, "an id refers to a document with another id")
        return by_id

    def rows(self, numbers: Iterable[int], *, text: bool = False, missing_ok: bool = False) -> dict[int, Row]:
        """The documents of some numbers."""
        wanted = list(numbers)
        by_number = {row.number: row for row in self._rows("number", wanted, text=text)}
        if not missing_ok:
            require_all(wanted, by_number, self.name)
        return by_number

    def _rows(self, column: str, values: Iterable[int | str], *, text: bool) -> list[Row]:
        statement = f"SELECT {_WITH_TEXT if text else _COLUMNS} FROM documents WHERE {column} = ?"  # noqa: S608  (constants)
        records = (self._run(statement, (value,)).fetchone() for value in values)
        return [verified(record, self.name, text=text) for record in records if record]

    def postings(self, keys: Int64s, most: int | Int64s) -> Hits:
        """Of each key the documents with the smallest numbers, in order."""
        pairs: list[tuple[int, int]] = []
        limits = most if isinstance(most, np.ndarray) else np.full(keys.size, most)
        values, wanted = keys.tolist(), limits.tolist()
        for start in range(0, len(values), _AT_ONCE[-1]):
            pairs += self._postings(values[start : start + _AT_ONCE[-1]], wanted[start : start + _AT_ONCE[-1]])
        if not pairs:
            return _NO_HITS
        found, numbers = _pairs(pairs, self.name).T
        places = keys.searchsorted(found)
        if numbers.size > min(wanted):
            is_near = np.arange(numbers.size) - places.searchsorted(places) < limits[places]
            places, numbers = places[is_near], numbers[is_near]
        return Hits(places, numbers)

    def _postings(self, keys: list[int], most: list[int]) -> list[tuple[int, int]]:
        """(key, number) of some keys: by one statement, unless that reads far more than is wanted."""
        size = next(size for size in _AT_ONCE if size >= len(keys))
        cursor = self._run(_SELECT_KEYS[size], keys + keys[-1:] * (size - len(keys)))
        pairs: list[tuple[int, int]] = cursor.fetchmany(_OF_EACH * size)
        if len(pairs) < _OF_EACH * size:
            return pairs
        cursor.close()
        statement = "SELECT key, number FROM postings WHERE key = ? ORDER BY number LIMIT ?"
        return [pair for asked in zip(keys, most, strict=True) for pair in self._run(statement, asked)]

    def page(self, after: int, limit: int, *, text: bool = False) -> list[Row]:
        """The next documents by number."""
        columns = _WITH_TEXT if text else _COLUMNS
        statement = f"SELECT {columns} FROM documents WHERE number > ? ORDER BY number LIMIT ?"  # noqa: S608  (a constant)
        rows = [verified(record, self.name, text=text) for record in self._run(statement, (after, limit))]
        require_ascending([after, *(row.number for row in rows)], self.name)
        return rows

    def containing(self, words: Sequence[str], after: int, limit: int) -> list[Row]:
        """The next documents whose id or URL contains each word, small and capital letters alike."""
        has = " AND (instr(lower(id), ?) > 0 OR instr(lower(url), ?) > 0)" * len(words)
        statement = f"SELECT {_COLUMNS} FROM documents WHERE number > ?{has} ORDER BY number LIMIT ?"  # noqa: S608  (constants)
        values = (after, *chain.from_iterable((word, word) for word in words), limit)
        return [verified(record, self.name, text=False) for record in self._run(statement, values)]

    def last_number(self) -> int:
        """The largest number of a document."""
        last: int = self._run("SELECT coalesce(max(number), 0) FROM documents").fetchone()[0]
        return last

    def salvaged(self, first: int, last: int) -> tuple[list[Row], list[int]]:
        """The documents from one number to another that are whole, and the numbers of those that are not."""
        statement = f"SELECT {_WITH_TEXT} FROM documents WHERE number BETWEEN ? AND ? ORDER BY number"  # noqa: S608  (likewise)
        records = self._run(statement, (first, last)).fetchall()
        require_ascending([first - 1, *(record[0] for record in records), last + 1], self.name)
        return sorted_out(records)

    def attempt(self) -> AbstractContextManager[None]:
        """A failed statement leaves a snapshot as it is."""
        return mishaps(Path(self.name))

    def postings_page(self, after: tuple[int, int] | None, limit: int) -> tuple[Int64s, Int64s]:
        """The next (keys, numbers), ascending."""
        statement = "SELECT key, number FROM postings WHERE (key, number) > (?, ?) ORDER BY key, number LIMIT ?"
        first = after or (-(2**63), 0)
        postings = self._run(statement, (*first, limit)).fetchall()
        table = _pairs(postings, self.name)
        require_ascending([first, *postings], self.name)
        return table[:, 0], table[:, 1]

    def which(self) -> str:
        """The number of its file."""
        (path,) = (row[2] for row in self._run("PRAGMA database_list") if row[1] == "main")
        return str(Path(path).stat().st_ino)

    def counts(self) -> dict[str, int]:
        """How many documents there are, and the next number; each counter is held to its checksum."""
        counters = {name: (value, checksum) for name, value, checksum in self._run("SELECT * FROM counters")}
        if counters.keys() != {"documents", "next"} or not all(is_counter(*pair) for pair in counters.values()):
            raise StoreDamagedError.of(self.name, "a counter is not what was written")
        return {"documents": counters["documents"][0] + self._added, "next": self._next or counters["next"][0]}

    def largest(self, limit: int, offset: int = 0) -> list[tuple[int, int]]:
        """(leader, how many it leads) of the leaders that lead most."""
        statement = (
            "SELECT leader, count(*) FROM documents WHERE leader IS NOT NULL"
            " GROUP BY leader ORDER BY count(*) DESC, leader LIMIT ? OFFSET ?"
        )
        return self._run(statement, (limit, offset)).fetchall()

    def grouped(self) -> tuple[int, int]:
        """(leaders, documents that they lead)."""
        statement = "SELECT count(DISTINCT leader), count(*) FROM documents WHERE leader IS NOT NULL"
        leaders, followers = self._run(statement).fetchone()
        return leaders, followers

    def followers(self, leader: int, limit: int | None = None) -> list[int]:
        """Whom a document leads, ascending."""
        statement = "SELECT number FROM documents WHERE leader = ? ORDER BY number LIMIT ?"
        return [row[0] for row in self._run(statement, (leader, -1 if limit is None else limit))]

    def problems(self) -> list[str]:
        """What SQLite's own check of the file finds, and whether the counters are right."""
        problems = [row[0] for row in self._run("PRAGMA integrity_check") if row[0] != "ok"]
        number, last = self._run("SELECT count(*) FROM documents").fetchone()[0], self.last_number()
        counts = self.counts()
        if counts["documents"] != number:
            problems.append(f"the counter says {counts['documents']} documents, and there are {number}")
        if counts["next"] <= last:
            problems.append(f"the next number is {counts['next']}, but document {last} exists")
        return problems

    def reserve(self, count: int) -> int:
        """The first of so many new numbers in a row."""
        first = self._next or self.counts()["next"]
        self._next = first + count
        return first

    def insert(self, rows: Sequence[Row], keys: Int64s, numbers: Int64s) -> None:
        """Add documents, and their postings in the order of the keys."""
        sums = [sum_of_text(row.text) for row in rows]
        self._connection.executemany(
            _INSERT,
            (
                (row.number, row.id, row.url, row.leader, checksum_of(row, text_sum), row.items, text_sum, row.text)
                for row, text_sum in zip(rows, sums, strict=True)
            ),
        )
        self._added += len(rows)
        self.post(keys, numbers)

    def delete(self, numbers: Sequence[int], keys: Int64s, of: Int64s) -> None:
        """Take documents away, and their postings."""
        self._connection.executemany("DELETE FROM documents WHERE number = ?", ((number,) for number in numbers))
        self._added -= len(numbers)
        self.has_removed = True
        pairs = zip(keys.tolist(), of.tolist(), strict=True)
        self._connection.executemany("DELETE FROM postings WHERE key = ? AND number = ?", pairs)

    def post(self, keys: Int64s, numbers: Int64s) -> None:
        """Add postings, in order."""
        order = np.lexsort((numbers, keys))
        pairs = zip(keys[order].tolist(), numbers[order].tolist(), strict=True)
        self._connection.executemany("INSERT INTO postings VALUES (?, ?)", pairs)

    def lead(self, pairs: Iterable[tuple[int, int | None]]) -> None:
        """Write down (number, its leader)."""
        for number, leader in pairs:
            record = self._run("SELECT leader, checksum FROM documents WHERE number = ?", (number,)).fetchone()
            if record is None:
                continue
            checksum = led(record[1], number, record[0], leader)
            self._run("UPDATE documents SET leader = ?, checksum = ? WHERE number = ?", (leader, checksum, number))

    def close(self) -> None:
        """Write the counters as this transaction has changed them."""
        if self._added:
            step = (self._added, self._added)
            self._run("UPDATE counters SET value = value + ?, checksum = checksum - ? WHERE name = 'documents'", step)
        if self._next is not None:
            self._run("UPDATE counters SET value = ?, checksum = ? WHERE name = 'next'", (self._next, ~self._next))


_NO_HITS = Hits(np.zeros(0, np.int64), np.zeros(0, np.int64))
_SELECT_KEYS = {
    size: f"SELECT key, number FROM postings WHERE key IN ({', '.join('?' * size)}) ORDER BY key, number"  # noqa: S608  (question marks)
    for size in _AT_ONCE
}


def _pairs(rows: Sequence[tuple[int, int]], name: str) -> npt.NDArray[np.int64]:
    """The rows as an array of int64[n, 2]."""
    try:
        return np.fromiter(chain.from_iterable(rows), np.int64, 2 * len(rows)).reshape(-1, 2)
    except (OverflowError, TypeError, ValueError):
        raise StoreDamagedError.of(name, "a key, or the number of its document, is not a whole number") from None
