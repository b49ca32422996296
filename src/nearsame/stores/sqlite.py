"""An index in one SQLite file: one writer at a time, any number of readers, none of whom waits.

1. The journal is a write-ahead log, synchronised at each commit: what was acknowledged survives a power cut.
2. A new file, and a copy, is filled beside its place, under a name of its own, and appears there when it is complete.
3. What is removed is overwritten, and the log, which still has it, is emptied as soon as no reader needs it.
4. Each transaction sees to it that the file is still the one that was opened; and where neither it nor its folder may
   be written to by us, that nobody else does, as SQLite has no lock and no log there.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from pathlib import Path

from nearsame.arrow import Int64s
from nearsame.errors import InterruptedChangeError, StoreBusyError, StoreDamagedError, StoreError
from nearsame.files.placing import Beside, put_back, to_disk
from nearsame.stores.base import Reader
from nearsame.stores.checksums import sealed
from nearsame.stores.forks import Owner
from nearsame.stores.sqlite_files import (
    APPLICATION,
    Frozen,
    beside,
    connected,
    file_at,
    log_ahead,
    log_of,
    looking_closely,
    place_of,
    read_settings,
    reader,
    refuse_present,
    retiring,
    tune,
)
from nearsame.stores.sqlite_mishaps import code_of, mishaps, moved, told
from nearsame.stores.sqlite_rows import MAKE, Transaction
from nearsame.turns import Turns

__all__ = ["Sqlite"]

_PAGE_BYTES = 8192
_PAGES_AT_ONCE = 4096  # of a copy


class Sqlite:
    """A store in a file of SQLite; a new one is written next to its place until it is published."""

    def __init__(
        self,
        path: Path,
        place: Path,
        connection: sqlite3.Connection,
        settings: Mapping[str, str],
        timeout_seconds: float,
    ) -> None:
        self._path, self._place = path, place  # where it is now, and where it belongs
        self._connection = connection
        self._timeout_seconds = timeout_seconds
        self._overwrite = False
        self._beside: Beside | None = None  # where a new one is, until it is published
        self._file = file_at(path)
        self.settings = settings
        self.owner, self.turns = Owner(), Turns(str(place), timeout_seconds)
        self._thread = 0  # that began a transaction last

    @classmethod
    def open(cls, where: str, *, read_only: bool, timeout_seconds: float) -> "Sqlite":
        """The file at a path; see `stores.open_store`."""
        path = Path(where)
        with told(path):
            put_back(place_of(where).absolute())
            if not path.is_file():
                there = "is a folder" if path.is_dir() else "does not exist"
                raise StoreError(f"{where} {there}", hint="Create the index first, or check the path.")
        while True:
            file = file_at(path)
            try:
                opened = cls._opened(path, read_only=read_only, timeout_seconds=timeout_seconds)
            except StoreError:
                if file is None or file_at(path) in (None, file):
                    raise
                continue
            if opened._file == file:  # noqa: SLF001  (its own)
                return opened
            opened.close()  # another one took its place meanwhile: which of them is open nobody knows

    @classmethod
    def _opened(cls, path: Path, *, read_only: bool, timeout_seconds: float) -> "Sqlite":
        with mishaps(path, timeout_seconds):
            only_reads = read_only or not os.access(path, os.W_OK)
            connection = reader(path, timeout_seconds) if only_reads else connected(path, "rw", timeout_seconds)
            try:
                settings = read_settings(path, connection)
                tune(connection, None if only_reads else timeout_seconds)
                return cls(path, path, connection, settings, timeout_seconds)
            except UnicodeDecodeError as error:  # in what SQLite says of a damaged table
                connection.close()
                raise StoreDamagedError.of(str(path), str(error)) from None
            except BaseException:
                connection.close()
                raise

    @classmethod
    def create(cls, where: str, settings: Mapping[str, str], *, overwrite: bool, timeout_seconds: float) -> "Sqlite":
        """A new file beside its place; see `stores.create_store`."""
        place = place_of(where)
        with told(place):
            put_back(place.absolute())
            refuse_present(place, overwrite=overwrite)
        home = beside(place)
        try:
            store = cls._made(home.made, place, settings, timeout_seconds)
        except BaseException:
            home.close()
            raise
        store._overwrite, store._beside = overwrite, home  # noqa: SLF001  (its own)
        return store

    @classmethod
    def _made(cls, path: Path, place: Path, settings: Mapping[str, str], timeout_seconds: float) -> "Sqlite":
        """An empty file at a path."""
        with mishaps(place):
            connection = connected(path, "rwc", timeout_seconds)
            try:
                connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
                    connection.execute(f"PRAGMA {pragma}")  # nobody sees it, and a half one is thrown away
                connection.executescript(MAKE)
                connection.executemany("INSERT INTO settings VALUES (?, ?)", sealed(settings).items())
                tune(connection)
                return cls(path, place, connection, read_settings(place, connection), timeout_seconds)
            except BaseException:
                connection.close()
                raise

    @property
    def name(self) -> str:
        """The path where it belongs, also while a new file is not there yet."""
        return str(self._place)

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A transaction that reads one snapshot; refused where the file was moved or replaced."""
        self._require_unmoved()
        with mishaps(self._place), self._frozen():
            try:
                self._begin("BEGIN")  # in here: who is interrupted right behind it leaves nothing open
                yield Transaction(self._connection, self.name)
            finally:
                with suppress(sqlite3.Error):  # of a damaged file, what was read well stays what it is
                    _ = self.owner.is_here() and self._connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, keys: Int64s | None) -> Iterator[Transaction]:  # noqa: ARG002  (there is one writer anyway)
        """One transaction, which waits for another writer."""
        self._require_unmoved()
        with mishaps(self._place, self._timeout_seconds), self._care():
            try:
                self._begin("BEGIN IMMEDIATE")
                transaction = Transaction(self._connection, self.name)
                yield transaction
                transaction.close()
                self._require_unmoved()
                self._commit()
            except BaseException:
                with suppress(sqlite3.Error):  # what went wrong may have ended it already
                    _ = self.owner.is_here() and self._connection.execute("ROLLBACK")
                raise
        if transaction.has_removed and self._beside is None:
            self._empty_log()

    def _begin(self, how: str) -> None:
        """Begin a transaction; one of this thread that is still open was left by an interrupt just before its end."""
        if self._thread == threading.get_ident() and self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        self._connection.execute(how)
        self._thread = threading.get_ident()

    def _commit(self) -> None:
        try:
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if code_of(error) != sqlite3.SQLITE_IOERR:
                raise
            # the log may have it all: a process that opens the index after a crash finds it there
            message = f"{self.name}: {error}; whether this change was stored is not known"
            raise InterruptedChangeError(message, hint="Look it up, or make the same change again.") from None

    def publish(self, require: Callable[[Reader], None] | None = None) -> None:
        """Make the file appear at its place; see `stores.base.Store`."""
        with told(self._place), mishaps(self._place, self._timeout_seconds):
            if self._beside is None:
                return
            self._connection.close()
            log_ahead(self._path, self._timeout_seconds)
            self._file = file_at(self._path)  # also at its place: if another takes that at once, it is not ours
            self._put(self._beside, self._place, overwrite=self._overwrite, require=require)
            self._path = self._place
            self._close_beside()
            self._connection = connected(self._place, "rw", self._timeout_seconds)
            tune(self._connection, self._timeout_seconds)

    def backup(self, where: str, *, overwrite: bool) -> None:
        """Copy it as it is at this moment, whoever writes meanwhile; see `stores.base.Store`."""
        place = place_of(where)
        self._require_unmoved()
        with told(place):
            put_back(place.absolute())
            refuse_present(place, overwrite=overwrite)
        with told(place), mishaps(place, self._timeout_seconds), beside(place) as home:
            with closing(reader(self._path, self._timeout_seconds)) as source, closing(_new(home.made)) as copy:
                source.execute("BEGIN")  # one snapshot, however many steps the copy takes
                read_settings(self._place, source)
                source.backup(copy, pages=_PAGES_AT_ONCE)
                self._require_unchanged(source)
            self._put(home, place, overwrite=overwrite)

    def settled(self) -> None:
        """There is one writer at a time."""

    def size_bytes(self) -> int | None:
        """The file and its log."""
        return sum(path.stat().st_size for path in (self._path, log_of(self._path)) if path.exists())

    def close(self) -> None:
        """Close the file; one that was not published goes."""
        if not self.owner.is_here():
            self.owner.leave(self._connection)
            return
        self._empty_log()  # also beside somebody who only reads, and has it open
        self._connection.close()
        self._close_beside()

    def _put(
        self, home: Beside, place: Path, *, overwrite: bool, require: Callable[[Reader], None] | None = None
    ) -> None:
        """Move what was made to its place, if that holds of what is there."""
        to_disk(home.made)
        refuse_present(place, overwrite=overwrite)
        is_free = overwrite or not place.exists()
        with retiring(place, self._timeout_seconds) if is_free else nullcontext() as old:
            if require is not None:
                if old is None:
                    raise StoreDamagedError.of(str(place), "it cannot be locked, so that nobody writes to it")
                require(Transaction(old, self.name))
            home.put(replace=overwrite)

    def _care(self) -> AbstractContextManager[None]:
        """How a transaction that writes reads: a file that nobody has seen yet is as it was made."""
        return looking_closely(self._connection) if self._beside is None else nullcontext()

    def _require_unmoved(self) -> None:
        """Refuse a file that is not at its path any more: what is written to it is lost for whoever opens the path."""
        self.owner.require(self.name)
        if file_at(self._path) != self._file:
            raise moved(self.name)

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        """A file that nobody was seen to write to is opened anew when somebody has, and an answer of both is none."""
        if isinstance(self._connection, Frozen) and self._connection.has_changed(self._path):
            opened = reader(self._path, self._timeout_seconds)
            tune(opened)
            self._connection.close()
            self._connection = opened
            self._require_unmoved()
        if not isinstance(self._connection, Frozen):
            yield
            return
        try:
            yield
        finally:
            self._require_unchanged(self._connection)

    def _require_unchanged(self, connection: sqlite3.Connection) -> None:
        if isinstance(connection, Frozen) and connection.has_changed(self._path):
            message = f"{self.name} was written to while it was read, where no lock could tell of it"
            raise StoreBusyError(message, hint="Ask again.")

    def _empty_log(self) -> None:
        """Write the log back and cut it off, unless a reader needs it: then the next removal, or the last to close."""
        with suppress(sqlite3.Error):  # what was asked for is done, and on the disk; or it only reads, or is closed
            self._connection.execute("PRAGMA busy_timeout = 0")
            try:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                self._connection.execute(f"PRAGMA busy_timeout = {round(1000 * self._timeout_seconds)}")

    def _close_beside(self) -> None:
        home, self._beside = self._beside, None
        if home is not None:
            home.close()


def _new(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)
