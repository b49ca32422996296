"""The file of an index in SQLite: how it is opened, and what may be replaced.

1. What is opened has the tables of an index, and its settings are what was written.
2. Nothing is replaced but an index of ours, and nobody uses it then.
"""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from nearsame.errors import StoreBusyError, StoreDamagedError, StoreError
from nearsame.files.placing import Beside
from nearsame.stores.checksums import require_settings
from nearsame.stores.sqlite_mishaps import BUSY, DAMAGED, code_of
from nearsame.stores.sqlite_rows import MAKE

__all__ = [
    "APPLICATION",
    "Frozen",
    "beside",
    "connected",
    "file_at",
    "log_ahead",
    "log_of",
    "looking_closely",
    "place_of",
    "read_settings",
    "reader",
    "refuse_present",
    "retiring",
    "tune",
]

APPLICATION = 0x73616D65  # "same", where SQLite keeps what a file is for
_SQLITE, _FOR_WHAT, _HEAD_BYTES = b"SQLite format 3\0", 68, 72  # how a file begins, and where it says what it is for
_CACHE_BYTES = 64 << 20
_MAPPED_BYTES = 1 << 40  # SQLite takes as much of it as it can
_FROZEN = "ro&immutable=1"
_PAUSE_SECONDS = 0.05  # between two attempts to have an index alone
_LOG_PAGES = 4000  # of the log, before it is written back


def connected(path: Path, mode: str, timeout_seconds: float) -> sqlite3.Connection:
    """A connection that begins no transaction by itself, and that any thread may use."""
    uri, kind = f"{path.absolute().as_uri()}?mode={mode}", Frozen if mode == _FROZEN else sqlite3.Connection
    return sqlite3.connect(
        uri, timeout=timeout_seconds, isolation_level=None, check_same_thread=False, uri=True, factory=kind
    )


class Frozen(sqlite3.Connection):
    """A connection that takes the file for one that nobody writes to: it sees to nothing, neither locks nor a log."""

    state: tuple[int, ...] | None = None

    def has_changed(self, path: Path) -> bool:
        """Whether somebody has written to the file since, or begun to."""
        return self.state is None or _state(path) != self.state


def _state(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is written to, or is another one; None: it is not there, or has a log."""
    try:
        found = path.stat()
    except OSError:
        return None
    return None if log_of(path).exists() else (found.st_ino, found.st_size, found.st_mtime_ns)


def log_of(path: Path) -> Path:
    """Where SQLite has the log of a file: beside the file itself, not beside a link to it."""
    return Path(f"{os.path.realpath(path)}-wal")


def reader(path: Path, timeout_seconds: float) -> sqlite3.Connection:
    """A connection that only reads; a `Frozen` one where nothing at all may be written, and there is no log.

    Likewise where the file may not be written to: the log that SQLite would leave beside it would be ours, and whoever
    may write to the index could not write to that.
    """
    if not os.access(path, os.W_OK) and not log_of(path).exists():
        return _frozen(path, timeout_seconds)
    connection = connected(path, "ro", timeout_seconds)
    try:
        connection.execute("PRAGMA application_id").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if code_of(error) == sqlite3.SQLITE_READONLY and Path(f"{os.path.realpath(path)}-journal").exists():
            log_ahead(path, timeout_seconds)  # a process was killed while it changed the mode: opening takes that back
            return connected(path, "ro", timeout_seconds)
        unwritable = code_of(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)  # the second: by another user
        if not unwritable or log_of(path).exists():
            raise
        return _frozen(path, timeout_seconds)
    return connection


def _frozen(path: Path, timeout_seconds: float) -> sqlite3.Connection:
    state, connection = _state(path), connected(path, _FROZEN, timeout_seconds)
    if isinstance(connection, Frozen):
        connection.state = state
    return connection


def log_ahead(path: Path, timeout_seconds: float) -> None:
    """Let a file say that it has a write-ahead log: a change of the file itself, which nobody is to see half done."""
    connection = connected(path, "rw", timeout_seconds)
    try:
        _log_ahead(connection, timeout_seconds)
    finally:
        connection.close()


def _log_ahead(connection: sqlite3.Connection, timeout_seconds: float) -> None:
    """SQLite does not wait for those who have the file open when it changes that; who comes later may have done it."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if code_of(error) not in BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def tune(connection: sqlite3.Connection, write_seconds: float | None = None) -> None:
    """Settings of a connection; of one that writes how long it waits for others."""
    if write_seconds is not None:
        _log_ahead(connection, write_seconds)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
    connection.execute(f"PRAGMA cache_size = {-_CACHE_BYTES >> 10}")
    connection.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")


@contextmanager
def looking_closely(connection: sqlite3.Connection) -> Iterator[None]:
    """Let SQLite look at every cell of each page that it reads, while something is written.

    To read, it costs more than it finds: rows are verified by their checksums (docs/decisions/index-questions.md).
    """
    connection.execute("PRAGMA cell_size_check = ON")
    try:
        yield
    finally:
        connection.execute("PRAGMA cell_size_check = OFF")


def read_settings(path: Path, connection: sqlite3.Connection) -> dict[str, str]:
    """The settings of an index whose tables are those of this format.

    Raises:
        StoreError: It is not an index, of another format, or damaged.
    """
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise StoreError(f"{path} is a database, but not an index of nearsame", hint="Check the path.")
    tables = _schema(connection)
    has_settings = any(name == "settings" for _, name, _, _ in tables)
    stored = connection.execute("SELECT * FROM settings").fetchall() if has_settings else []
    settings = require_settings(str(path), {row[0]: row[-1] for row in stored})
    if tables != _our_schema():
        raise StoreDamagedError.of(str(path), "its tables are not those of an index")
    return settings


def _schema(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()


@cache
def _our_schema() -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(MAKE)
        return _schema(connection)


def refuse_present(place: Path, *, overwrite: bool) -> None:
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
    """Whether a file begins as our indexes do, damaged ones and those of other versions too, or is empty.

    SQLite reads it: closing a file takes from a process all locks that it has on it, those of an index that it has open
    too, and only SQLite waits with that. Whoever then closed the index would delete the log that this process writes.
    """
    if not place.is_file():
        return False
    if not place.stat().st_size:
        return True
    with suppress(sqlite3.Error), closing(connected(place, _FROZEN, 0)) as connection:
        return bool(connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,))
    with place.open("rb") as file:  # to SQLite it is no database, so no index either that somebody has open
        head = file.read(_HEAD_BYTES)
    return head.startswith(_SQLITE) and head[_FOR_WHAT:] == APPLICATION.to_bytes(4)


def beside(place: Path) -> Beside:
    """A hidden folder next to a place."""
    try:
        return Beside(place.absolute())
    except OSError as error:
        raise StoreError(f"{place}: {error.strerror}", hint="Check the folder, and the permission to write.") from None


def place_of(where: str) -> Path:
    """Where a file is that is made anew: a link leads to it, and stays.

    >>> place_of("/nowhere/crawl.ns").name
    'crawl.ns'
    """
    is_link = os.path.islink(where)  # noqa: PTH114  (pathlib raises where there can be none of such a name)
    return Path(os.path.realpath(where) if is_link else where)


@contextmanager
def retiring(place: Path, timeout_seconds: float) -> Iterator[sqlite3.Connection | None]:
    """Hold the index at a place, so that nobody reads or writes it until another has taken its place.

    No log is left, which its successor would take in: one may be there without its index, of one that was moved or
    deleted, whose writer was killed or goes on. Given is the connection that holds it; None: it is damaged, or no more.
    """
    held = _held(place, timeout_seconds)
    try:
        for ending in ("-wal", "-shm", "-journal"):
            Path(f"{place}{ending}").unlink(missing_ok=True)
        yield held
    finally:
        if held is not None:
            held.close()


def _held(place: Path, timeout_seconds: float) -> sqlite3.Connection | None:
    """A connection that has taken in the log of an index, and locks out all others; None where it is too damaged."""
    deadline = time.monotonic() + timeout_seconds
    while (file := file_at(place)) is not None:
        if not os.access(place, os.W_OK):  # SQLite would leave a log of ours beside it, in which others cannot write
            hint = "Name another file, or use a role that may write to this one."
            raise StoreError(f"{place} is an index that may not be written to", hint=hint)
        connection = connected(place, "rw", 0)
        try:
            if _is_alone(connection) and file_at(place) == file:
                return connection
        except sqlite3.DatabaseError as error:
            connection.close()
            if code_of(error) in DAMAGED:
                return None
            if code_of(error) not in BUSY and file_at(place) == file:
                raise  # it stays as it is: its logs are part of it
        connection.close()
        if time.monotonic() >= deadline:
            message = f"{place} is in use by another process; gave up after {timeout_seconds:g} s"
            raise StoreBusyError(message, hint="Try again when it is closed, or name another file.")
        time.sleep(_PAUSE_SECONDS)
    return None


def _is_alone(connection: sqlite3.Connection) -> bool:
    """Lock out all others; whether nobody was quicker, and has begun a log anew."""
    connection.execute("PRAGMA journal_mode = DELETE")  # takes a lock that nobody shares, and gives it back
    connection.execute("BEGIN EXCLUSIVE")
    return bool(connection.execute("PRAGMA journal_mode").fetchone() == ("delete",))


def file_at(path: Path) -> int | None:
    """What tells a file from another at its path; None: there is none."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116  (for each transaction)
    except OSError:
        return None
