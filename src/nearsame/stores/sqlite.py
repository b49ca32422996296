"""An index in one SQLite file: one writer at a time, any number of readers, none of whom waits.

1. The journal is a write-ahead log, synchronised at each commit: what was acknowledged survives a power cut.
2. A new file is filled beside its place, under a name of its own, and appears there when it is complete.
3. Whatever SQLite reports leaves this file as one of our errors, with the path in it.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import disk_usage

from nearsame.arrow import Int64s
from nearsame.errors import StoreBusyError, StoreError
from nearsame.placing import Beside, put_back, to_disk
from nearsame.stores.base import FORMAT, damaged
from nearsame.stores.sqlite_rows import MAKE, Transaction

__all__ = ["Sqlite"]

_APPLICATION = 0x73616D65  # "same", where SQLite keeps what a file is for
_SQLITE, _FOR_WHAT, _HEAD_BYTES = b"SQLite format 3\0", 68, 72  # how a file begins, and where it says what it is for
_PAGE_BYTES = 8192
_CACHE_BYTES = 64 << 20
_MAPPED_BYTES = 1 << 40  # SQLite takes as much of it as it can
_LOG_PAGES = 4000  # of the log, before it is written back
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LIMITED = "see whether the disk fails, or a limit on the size of files (ulimit -f) is reached"
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


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
            except UnicodeDecodeError as error:  # in what SQLite says of a damaged table
                connection.close()
                raise damaged(str(path), str(error)) from None
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
                connection.executescript(MAKE)
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
    def reading(self) -> Iterator[Transaction]:
        """One consistent snapshot."""
        with _mishaps(self._place):
            self._connection.execute("BEGIN")
            try:
                yield Transaction(self._connection)
            finally:
                self._connection.execute("COMMIT")

    @contextmanager
    def writing(self, keys: Int64s | None) -> Iterator[Transaction]:  # noqa: ARG002  (there is one writer anyway)
        """One transaction, which waits for another writer."""
        with _mishaps(self._place, self._timeout_seconds):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._connection)
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
            _refuse_present(self._place, overwrite=self._overwrite)
            if self._overwrite:
                _retire(self._place, self._timeout_seconds)
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
    """Refuse a place where something is; with `overwrite`, where something else than an index of ours is."""
    if place.is_dir():
        raise StoreError(f"{place} is a folder", hint="Name a file.")
    if not place.exists():
        return
    ours = _may_be_ours(place)
    if not overwrite:
        hint = "Open it, or add --overwrite (overwrite=True) to replace it." if ours else "Name another file."
        raise StoreError(f"{place} exists" + ("" if ours else ", and is not an index of nearsame"), hint=hint)
    if not ours:
        message = f"{place} is not an index of nearsame, and only an index is replaced"
        raise StoreError(message, hint="Name another file, or delete this one yourself.")


def _may_be_ours(place: Path) -> bool:
    """Whether a file begins as our indexes do, damaged ones and those of other versions too, or is empty."""
    if not place.is_file():
        return False
    with place.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    return not head or (head.startswith(_SQLITE) and head[_FOR_WHAT:] == _APPLICATION.to_bytes(4))


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
            message = f"{place} is locked by another process; gave up after {timeout_seconds:g} s"
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
            message = f"{path} is being written by another process; gave up after {waited_seconds:g} s"
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
