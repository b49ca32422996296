"""What SQLite, and the system, say of an index: as one of our errors, with the path in it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage

from nearsame.errors import StoreBusyError, StoreDamagedError, StoreError

__all__ = ["BUSY", "DAMAGED", "code_of", "mishaps", "moved", "told"]

_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_LIMITED = "see whether the disk fails, or a limit on the size of files (ulimit -f) is reached"
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT)


def code_of(error: sqlite3.Error) -> int:
    """SQLite's own code, without what extends it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite, or the module that turns its values into Python's, met what nobody wrote."""
    return code_of(error) in DAMAGED or (isinstance(error, sqlite3.OperationalError) and not code_of(error))


def moved(name: str) -> StoreError:
    """What is open is not at its place any more."""
    message = f"{name} was moved, deleted or replaced since it was opened"
    return StoreError(message, hint="Open it again; this transaction wrote nothing.")


@contextmanager
def mishaps(path: Path, waited_seconds: float = 0.0) -> Iterator[None]:
    """What SQLite says, as one of our errors."""
    try:
        yield
    except sqlite3.Error as error:
        code = code_of(error)
        if code in BUSY:
            message = f"{path} is being written by another process; gave up after {waited_seconds:g} s"
            raise StoreBusyError(message, hint="Try again, or wait longer with timeout_seconds.") from None
        if _is_damage(error):
            raise StoreDamagedError.of(str(path), str(error)) from None
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
            raise moved(str(path)) from None
        if code in _FULL:
            free = disk_usage(path.absolute().parent).free
            message = f"{path}: {error} ({free:,} bytes free)"
            hint = "Make room" if code == sqlite3.SQLITE_FULL else f"Make room if that is too little, or {_LIMITED}"
            raise StoreError(message, hint=f"{hint}; this transaction wrote nothing.") from None
        raise StoreError(f"{path}: {error}", hint="Check that the file may be read, and written.") from None


@contextmanager
def told(path: Path) -> Iterator[None]:
    """What the system says of files, as one of our errors: never around what a caller does."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}", hint="Check the folder, and the room on it.") from None
