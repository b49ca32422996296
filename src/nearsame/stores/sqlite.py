"""An index in one SQLite file: one writer at a time, any number of readers, none of whom waits.

1. The journal is a write-ahead log, synchronised at each commit: what was acknowledged survives a power cut.
2. A new file is filled beside its place, under a name of its own, and appears there when it is complete.
3. Whatever SQLite reports leaves this file as one of our errors, with the path in it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from shutil import disk_usage
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.errors import StoreBusyError, StoreError
from nearsame.placing import Beside, put_back, to_disk
from nearsame.stores.base import FORMAT, Hits, Row

__all__ = ["Sqlite"]

_APPLICATION = 0x73616D65  # "same", where SQLite keeps what a file is for
_PAGE_BYTES = 8192
_CACHE_BYTES = 64 << 20
_MAPPED_BYTES = 1 << 40  # SQLite takes as much of it as it can
_LOG_PAGES = 4000  # of the log, before it is written back
_AT_ONCE = (16, 64, 512)  # keys in one statement: few different ones, so that they stay prepared
_FEW, _MANY = 64, 4096  # postings: if fewer are wanted, or as many are there, keys are asked for one by one
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, url TEXT, leader INTEGER, items BLOB NOT NULL, text BLOB
);
CREATE INDEX documents_by_leader ON documents (leader) WHERE leader IS NOT NULL;
CREATE TABLE postings (key INTEGER NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (key, number)) WITHOUT ROWID;
INSERT INTO counters VALUES ('documents', 0), ('next', 1);
"""
_COLUMNS = "number, id, url, items, NULL, leader"
_WITH_TEXT = "number, id, url, items, text, leader"
_KINDS: tuple[Any, ...] = (int, str, str | None, bytes, bytes | None, int | None)  # of these
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LIMITED = "see whether the disk fails, or a limit on the size of files (ulimit -f) is reached"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _DamagedError(sqlite3.DatabaseError):
    """What SQLite takes for sound, and is not."""

    sqlite_errorcode = sqlite3.SQLITE_CORRUPT


class Sqlite:
    """An open file."""

    def __init__(self, path: Path, place: Path, connection: sqlite3.Connection, timeout_seconds: float) -> None:
        self._path, self._place = path, place  # where it is now, and where it belongs
        self._connection = connection
        self._timeout_seconds = timeout_seconds
        self._overwrite = False
        self._beside: Beside | None = None  # where a new one is, until it is published
        with _mishaps(place):
            self.settings: Mapping[str, str] = dict(connection.execute("SELECT name, value FROM settings").fetchall())

    @classmethod
    def open(cls, where: str, *, read_only: bool, timeout_seconds: float) -> "Sqlite":
        """The file at a path; see `stores.open_store`."""
        path = Path(where)
        with _told(path):
            put_back(path.absolute())
        if not path.is_file():
            there = "is a folder" if path.is_dir() else "does not exist"
            raise StoreError(f"{where} {there}", hint="Create the index first, or check the path.")
        with _mishaps(path):
            connection = _reader(path, timeout_seconds) if read_only else _connected(path, "rw", timeout_seconds)
            try:
                _require_ours(path, connection)
                _tune(connection, write=not read_only)
                return cls(path, path, connection, timeout_seconds)
            except BaseException:
                connection.close()
                raise

    @classmethod
    def create(cls, where: str, settings: Mapping[str, str], *, overwrite: bool, timeout_seconds: float) -> "Sqlite":
        """A new file beside its place; see `stores.create_store`."""
        place = Path(where)
        with _told(place):
            put_back(place.absolute())
        _refuse_present(place, overwrite=overwrite)
        beside = _beside(place)
        try:
            store = cls._made(beside.made, place, settings, timeout_seconds)
        except BaseException:
            beside.close()
            raise
        store._overwrite, store._beside = overwrite, beside  # noqa: SLF001  (its own)
        return store

    @classmethod
    def _made(cls, path: Path, place: Path, settings: Mapping[str, str], timeout_seconds: float) -> "Sqlite":
        """An empty file at a path."""
        with _mishaps(place):
            connection = _connected(path, "rwc", timeout_seconds)
            try:
                connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
                    connection.execute(f"PRAGMA {pragma}")  # nobody sees it, and a half one is thrown away
                connection.executescript(_TABLES)
                pairs = {**settings, "format": FORMAT}.items()
                connection.executemany("INSERT INTO settings VALUES (?, ?)", pairs)
                _tune(connection, write=False)
                return cls(path, place, connection, timeout_seconds)
            except BaseException:
                connection.close()
                raise

    @property
    def name(self) -> str:
        """Its path."""
        return str(self._place)

    @contextmanager
    def reading(self) -> "Iterator[_Transaction]":
        """One consistent snapshot."""
        with _mishaps(self._place):
            self._connection.execute("BEGIN")
            try:
                yield _Transaction(self._connection)
            finally:
                self._connection.execute("COMMIT")

    @contextmanager
    def writing(self, keys: Int64s | None) -> "Iterator[_Transaction]":  # noqa: ARG002  (there is one writer anyway)
        """One transaction, which waits for another writer."""
        with _mishaps(self._place, self._timeout_seconds):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = _Transaction(self._connection)
                yield transaction
                transaction.close()
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # what went wrong may have ended it already
                    self._connection.execute("ROLLBACK")
                raise

    def publish(self) -> None:
        """Make the file appear at its place."""
        with _told(self._place), _mishaps(self._place, self._timeout_seconds):
            if self._beside is None:
                return
            self._connection.close()
            _log_ahead(self._path, self._timeout_seconds)
            to_disk(self._path)
            if self._overwrite:
                _retire(self._place, self._timeout_seconds)
            else:
                _refuse_present(self._place, overwrite=False)
            self._beside.put(replace=self._overwrite)
            self._path = self._place
            self._close_beside()
            self._connection = _connected(self._place, "rw", self._timeout_seconds)
            _tune(self._connection, write=True)

    def size_bytes(self) -> int | None:
        """The file and its log."""
        names = (str(self._path), f"{self._path}-wal")
        return sum(Path(name).stat().st_size for name in names if Path(name).exists())

    def close(self) -> None:
        """Close the file; one that was not published goes."""
        self._connection.close()
        self._close_beside()

    def _close_beside(self) -> None:
        beside, self._beside = self._beside, None
        if beside is not None:
            beside.close()


class _Transaction:
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
            raise _DamagedError("is damaged: a counter is no whole number")
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
        raise _DamagedError("is damaged: a key, or the number of its document, is no whole number") from error


def _sound(row: tuple[Any, ...]) -> Row:
    """A document; SQLite holds a column to no type."""
    if not all(isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=True)):
        raise _DamagedError(f"is damaged: document {row[0]} has a value of another type than its column")
    return Row(*row)


def _connected(path: Path, mode: str, timeout_seconds: float) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, timeout=timeout_seconds, isolation_level=None, check_same_thread=False, uri=True)


def _reader(path: Path, timeout_seconds: float) -> sqlite3.Connection:
    """A connection that only reads, also where nothing at all may be written and nobody can be writing."""
    connection = _connected(path, "ro", timeout_seconds)
    try:
        connection.execute("PRAGMA application_id").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if _code(error) == sqlite3.SQLITE_READONLY and Path(f"{path}-journal").exists():
            _log_ahead(path, timeout_seconds)  # a process was killed while it changed the mode: opening takes that back
            return _connected(path, "ro", timeout_seconds)
        if _code(error) != sqlite3.SQLITE_CANTOPEN or Path(f"{path}-wal").exists():
            raise
        return _connected(path, "ro&immutable=1", timeout_seconds)
    return connection


def _log_ahead(path: Path, timeout_seconds: float) -> None:
    """Let a file say that it has a write-ahead log: a change of the file itself, which nobody is to see half done."""
    connection = _connected(path, "rw", timeout_seconds)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _tune(connection: sqlite3.Connection, *, write: bool) -> None:
    if write:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = {-_CACHE_BYTES >> 10}")
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")


def _require_ours(path: Path, connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
        raise StoreError(f"{path} is a database, but no index of nearsame", hint="Check the path.")
    found = connection.execute("SELECT value FROM settings WHERE name = 'format'").fetchone()
    if found != (FORMAT,):
        theirs = found[0] if found else "unknown"
        message = f"{path} is an index of format {theirs}; this version of nearsame reads format {FORMAT}"
        raise StoreError(message, hint="Create it anew from its source, or use the version that made it.")


def _refuse_present(place: Path, *, overwrite: bool) -> None:
    if place.is_dir():
        raise StoreError(f"{place} is a folder", hint="Name a file.")
    if place.exists() and not overwrite:
        raise StoreError(f"{place} exists", hint="Open it, or add --overwrite (overwrite=True) to replace it.")


def _beside(place: Path) -> Beside:
    """A hidden folder next to a place."""
    try:
        return Beside(place.absolute())
    except OSError as error:
        raise StoreError(f"{place}: {error.strerror}", hint="Check the folder, and the permission to write.") from None


def _retire(place: Path, timeout_seconds: float) -> None:
    """See to it that nobody uses the index at a place, and that no log of it is left for its successor."""
    if not place.exists():
        return
    try:
        connection = _connected(place, "rw", timeout_seconds)
        try:
            connection.execute("PRAGMA journal_mode = DELETE")  # takes a lock that nobody shares
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        if _code(error) in _BUSY:
            message = f"{place} is in use by another process, which made no way in {timeout_seconds:g} seconds"
            raise StoreBusyError(message, hint="Try again when it is closed, or name another file.") from None
        if _code(error) not in (*_DAMAGED, sqlite3.SQLITE_READONLY):
            raise  # it stays as it is: its logs are part of it
    for ending in ("-wal", "-shm", "-journal"):
        Path(f"{place}{ending}").unlink(missing_ok=True)


def _code(error: sqlite3.Error) -> int:
    """SQLite's own code, without what extends it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _mishaps(path: Path, waited_seconds: float = 0.0) -> Iterator[None]:
    """What SQLite says, as one of our errors."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error)
        if code in _BUSY:
            message = f"{path} is being written by another process, which made no way in {waited_seconds:g} seconds"
            raise StoreBusyError(message, hint="Try again, or wait longer with timeout_seconds.") from None
        if code in _DAMAGED:
            raise StoreError(f"{path}: {error}", hint="Restore it from a copy, or create it anew.") from None
        if code in _FULL:
            free = disk_usage(path.absolute().parent).free
            message = f"{path}: {error} ({free:,} bytes free)"
            hint = "Make room" if code == sqlite3.SQLITE_FULL else f"Make room if that is too little, or {_LIMITED}"
            raise StoreError(message, hint=f"{hint}; nothing of this call was written.") from None
        raise StoreError(f"{path}: {error}", hint="Check that the file may be read, and written.") from None


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system says of files, as one of our errors: never around what a caller does."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}", hint="Check the folder, and the room on it.") from None
