"""A folder or a file that appears complete or not at all.

1. Everything is written beside its place, on the same file system, brought to the disk, and then renamed; what is to
   be at an address is uploaded when it is complete (files/remote.py).
2. What is replaced is set aside first and deleted last: at no moment is there neither the old nor the new.
3. Whatever ends the writing, an error or an interruption, leaves nothing behind.
4. Nothing is written into a source, or over one: this is seen to before anything is read, and again just before
   anything old is moved. A source that is gone or another one by then is an error.
5. There is one way to write: `require_place`, which knows what is read, gives the Place that `appearing` takes.
"""

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import NearSameError, OutputError
from nearsame.files.inputs import Inputs, is_address, local_paths
from nearsame.files.placing import Beside, put_back, to_disk
from nearsame.files.remote import Remote, Upload, finish, is_remote
from nearsame.outputs.apart import require_apart, require_apart_remotely

__all__ = ["Place", "appearing", "is_mark", "read_table", "require_place", "write_json", "write_table"]

_REPLACE = "Name another, or add --overwrite (overwrite=True) to replace it."
_STATS = "stats.json"
_WRITES = (  # of a run; of mirrors; of leaks
    {"documents", "kept", "recipe"},
    {"stats", "settings", "mirrors"},
    {"stats", "settings", "matrix"},
)


@dataclass(frozen=True)
class Place:
    """Where something is to appear, and what must be so when it does: only `require_place` makes one."""

    typed: str
    path: Path | Remote
    read: Inputs
    folder: bool
    overwrite: bool
    mark: str | None

    def require(self) -> None:
        """See that it may be written to.

        Raises:
            OutputError: It may not.
        """
        if isinstance(self.path, Remote):
            with self.path.told():
                self._require_remotely(self.path)
            return
        require_apart(self.typed, self.path, self.read, folder=self.folder)
        if self.path.exists():
            self._require_replaceable(self.path)
        parent = self.path.parent
        if not parent.is_dir():
            raise OutputError(
                f"{self.typed}: there is no folder {parent}", hint="Make it first, or name another place."
            )
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"{self.typed}: no permission to write to {parent}", hint="Name another place.")

    def _require_remotely(self, place: Remote) -> None:
        require_apart_remotely(self.typed, place, self.read, folder=self.folder)
        kind = place.kind()
        if kind == "file" or not self.folder:
            self._require_kind(is_folder=kind == "directory", there=kind is not None)
        elif kind is not None and (names := place.sizes()):
            self._require_kind(is_folder=True, there=True)
            if place.said() is None and self.mark and not (self.mark in names and is_mark(self.mark, place.read)):
                raise self._not_ours(self.mark)

    def _require_kind(self, *, is_folder: bool, there: bool = True) -> None:
        if not there:
            return
        if is_folder != self.folder:
            is_now, wanted = ("a file", "a folder") if self.folder else ("a folder", "a file")
            raise OutputError(f"{self.typed} is {is_now}, and {wanted} is to be written", hint="Name another place.")
        if not self.overwrite:
            raise OutputError(f"{self.typed} exists", hint=_REPLACE)

    def _not_ours(self, mark: str | None) -> OutputError:
        message = f"{self.typed} is not empty, and was not written by nearsame: it has no {mark} of a run"
        return OutputError(message, hint="Empty it yourself, or name another place.")

    def _require_replaceable(self, path: Path) -> None:
        typed = self.typed
        if not (path.is_file() or path.is_dir()):
            message = f"{typed} is a device or a pipe, which no output may replace"
            raise OutputError(message, hint="Name another place; dedup and pairs write to standard output with -o -.")
        self._require_kind(is_folder=path.is_dir())
        if path in (Path(os.path.expanduser("~")), *_and_parents(Path.cwd())):  # noqa: PTH111  (without a home Path raises)
            raise OutputError(f"{typed} holds the folder that you work in", hint="Name another place.")
        if (
            self.folder
            and self.mark
            and any(path.iterdir())
            and not is_mark(self.mark, lambda name: (path / name).read_bytes())
        ):
            raise self._not_ours(self.mark)


def is_mark(name: str, read: Callable[[str], bytes]) -> bool:
    """Whether a file is there, and is what nearsame writes under its name."""
    try:
        content = read(name)
        record = json.loads(content) if name == _STATS else None
    except (OSError, ValueError, RecursionError):
        return False
    return name != _STATS or (isinstance(record, dict) and any(record.keys() >= keys for keys in _WRITES))


def require_place(  # noqa: PLR0913  (where, beside what, and over what)
    path: str | os.PathLike[str],
    read: Inputs | Any = (),
    *,
    against: Any = (),
    folder: bool = True,
    overwrite: bool = False,
    mark: str | None = _STATS,
) -> Place:
    """The place to write to, once it is sure that this may be done.

    Args:
        path: What is to appear.
        read: All that is read, or sources whose names are looked up now: none may be replaced, or hold the place.
        against: With sources, those of the against side.
        folder: Whether it is to be a folder, not a file.
        overwrite: Whether what is there may be replaced.
        mark: The file by which a folder is known as written by nearsame; no other folder is replaced. None: any is.

    Raises:
        OutputError: The place cannot be used.

    Example:
        >>> require_place("there-is-no-such-folder").path.name
        'there-is-no-such-folder'
    """
    typed = os.fspath(path)
    if not typed:
        raise OutputError("an output needs a name", hint="Name a folder, or a file such as out.jsonl.")
    inputs = read if isinstance(read, Inputs) else Inputs.of(read, against)
    if is_remote(typed):
        return _remote_place(Place(typed, Remote(typed), inputs, folder, overwrite, mark))
    path = _real(local_paths(typed)[0] if is_address(typed) else typed)
    place = Place(typed, path, inputs, folder, overwrite, mark)
    with _told(path):
        put_back(path)
        place.require()
    return place


def _remote_place(place: Place) -> Place:
    remote = place.path
    if isinstance(remote, Remote):
        with remote.told():
            if "::" in remote.url or remote.is_root:
                message = f"{place.typed} is not the address of a folder or file to write"
                raise OutputError(message, hint="Name one, as in s3://bucket/clean.")
            finish(remote)
            place.require()
            remote.require_writable()
    return place


def _real(typed: str) -> Path:
    """Where a path leads; a pipe has no place that one could name (/dev/stdout may lead to one)."""
    with contextlib.suppress(OSError, ValueError):
        if stat.S_ISFIFO(os.stat(typed).st_mode):  # noqa: PTH116  (of any text)
            return Path(typed)
    return Path(os.path.realpath(typed))


def _and_parents(path: Path) -> tuple[Path, ...]:
    return (path, *path.parents)


@contextlib.contextmanager
def appearing(place: Place) -> Iterator[Path]:
    """A path to write a folder or a file at; it moves to its place when the block ends without an error."""
    path = place.path
    draft = Upload(path, folder=place.folder) if isinstance(path, Remote) else Beside(path)
    with _told(path), draft:
        yield draft.made
        if isinstance(path, Path):
            to_disk(draft.made)
        place.require()
        place.read.require_unchanged()
        draft.put(replace=place.overwrite)


@contextlib.contextmanager
def _told(place: Path | Remote) -> Iterator[None]:
    """What the system says about writing, as an error that names the place."""
    try:
        yield
    except NearSameError:
        raise
    except FileExistsError:
        raise OutputError(f"{place} exists", hint=_REPLACE) from None
    except OSError as error:
        if isinstance(place, Remote):
            hint = f"What goes to {place.url} is first written here; set TMPDIR to a folder with room."
            raise OutputError.at(gettempdir(), error, hint=hint) from error
        raise OutputError.at(place, error) from error


def write_table(table: pa.Table, path: Path, **how: Any) -> None:
    """A table as Parquet."""
    from pyarrow import parquet  # noqa: PLC0415  (with all file systems that Arrow has; not every output has such a table)

    with pa.OSFile(os.fsencode(path), "wb") as out:  # in bytes: a name need not be Unicode
        parquet.write_table(table, out, compression="zstd", **how)


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A table that is Parquet, or some of its columns."""
    from pyarrow import parquet  # noqa: PLC0415  (likewise)

    with pa.OSFile(os.fsencode(path)) as file:
        return parquet.read_table(file, columns=columns)


def write_json(record: Mapping[str, Any], path: Path) -> None:
    """A record as JSON for people; a byte of a name that is no UTF-8 is an escape, from which it is that byte again."""
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8", "backslashreplace")
