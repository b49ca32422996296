"""A file or a folder that appears at its place complete or not at all, and replaces another one whole.

1. It is written in a hidden folder beside its place, on the same file system, and brought to the disk before it moves.
2. Old and new are exchanged in one step where the system can (Linux, on most file systems). Elsewhere the old one is
   set aside first; should the process be killed between these two steps, the next one puts the old one back.
3. The hidden folder is locked as long as its process lives. One without an owner was left by a kill: the next process
   that writes to the same place takes it away.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

__all__ = ["Beside", "put_back", "sync", "to_disk"]

_AT_CWD, _NO_REPLACE, _EXCHANGE = -100, 1, 2  # of renameat2(2)
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)
_NEW, _OLD, _PARTIAL = "new", "old", ".partial"


class Beside:
    """A hidden folder beside a place; `made` is the path in it that is to be written, and then to be `put`."""

    def __init__(self, place: Path) -> None:
        put_back(place)
        for left in _left(place):
            with _owned(left) as owned:
                if owned:
                    _delete(left)
        self.place = place
        self._home, self._lock = _locked_home(place)
        self.made = self._home / _NEW

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the hidden folder away, with what was replaced or is not finished."""
        try:
            _put_old_back(self._home, self.place)
            _delete(self._home)
        finally:
            os.close(self._lock)

    def put(self, *, replace: bool) -> None:
        """Move what was made to its place.

        Args:
            replace: Whether it takes the place of what is there.

        Raises:
            FileExistsError: There is something, and it may not be replaced.
        """
        if not replace or not os.path.lexists(self.place):
            _move(self.made, self.place)
        elif not _renamed(self.made, self.place, _EXCHANGE):
            self.place.rename(self._home / _OLD)
            _move(self.made, self.place)  # should this fail, the old one comes back when the block is left
        sync(self.place.parent)


def put_back(place: Path) -> None:
    """Where a process was killed between setting the old one aside and putting the new one there: the old one again."""
    for left in _left(place):
        with _owned(left) as owned:
            if owned:
                _put_old_back(left, place)


def to_disk(made: Path) -> None:
    """Without this a crash soon after the renaming could leave empty files under the final name."""
    if not made.is_dir():
        sync(made)
        return
    for folder, _, names in os.walk(made):
        for name in names:
            sync(Path(folder, name))
        sync(Path(folder))


def _left(place: Path) -> list[Path]:
    """The hidden folders beside a place, of whatever process."""
    name = re.compile(rf"\.{re.escape(place.name)}\.[0-9a-f]{{8}}{re.escape(_PARTIAL)}")
    try:
        return [Path(entry.path) for entry in os.scandir(place.parent) if name.fullmatch(entry.name)]
    except OSError:
        return []  # what is wrong with the folder is reported by who writes to it


def _locked_home(place: Path) -> tuple[Path, int]:
    while True:
        home = place.with_name(f".{place.name}.{os.urandom(4).hex()}{_PARTIAL}")
        home.mkdir()
        try:
            lock = os.open(home, os.O_RDONLY)
        except BaseException:
            home.rmdir()
            raise
        with contextlib.suppress(OSError):  # some network file systems lock no folders
            fcntl.flock(lock, fcntl.LOCK_EX)
        if home.is_dir():  # somebody may have taken it for one without an owner
            return home, lock
        os.close(lock)


@contextlib.contextmanager
def _owned(home: Path) -> Iterator[bool]:
    """Whether a hidden folder has no owner any more, and is ours to put in order."""
    try:
        lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield False
        return
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(lock)


def _put_old_back(home: Path, place: Path) -> None:
    if os.path.lexists(home / _OLD) and not os.path.lexists(place):
        (home / _OLD).rename(place)


def _move(made: Path, place: Path) -> None:
    if _renamed(made, place, _NO_REPLACE):
        return
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(place))
    made.rename(place)


def _renamed(a: Path, b: Path, flag: int) -> bool:
    """Whether the system did this; False where it has no such way to rename."""
    function = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if function is None:
        return False
    if function(_AT_CWD, os.fsencode(a), _AT_CWD, os.fsencode(b), flag) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(b))


def _delete(path: Path) -> None:
    """Take away a hidden folder; what cannot be deleted now, the next process deletes."""
    for _ in range(2):  # a disk that failed once may not fail again
        shutil.rmtree(path, ignore_errors=True)


def sync(path: Path) -> None:
    """Bring a file, or the names in a folder, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
