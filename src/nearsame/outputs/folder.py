"""A folder or a file that appears complete or not at all.

1. Everything is written beside its place, on the same file system, brought to the disk, and then renamed.
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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.errors import NearSameError, OutputError
from nearsame.files.inputs import Inputs, is_address
from nearsame.files.placing import Beside, put_back, to_disk
from nearsame.outputs.apart import require_apart

__all__ = ["Place", "appearing", "require_place", "write_json", "write_table"]

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
    path: Path
    read: Inputs
    folder: bool
    overwrite: bool
    mark: str | None

    def require(self) -> None:
        """See that it may be written to.

        Raises:
            OutputError: It may not.
        """
        require_apart(self.typed, self.path, self.read, folder=self.folder)
        if self.path.exists():
            self._require_replaceable()
        parent = self.path.parent
        if not parent.is_dir():
            raise OutputError(
                f"{self.typed}: there is no folder {parent}", hint="Make it first, or name another place."
            )
        if not os.access(parent, os.W_OK | os.X_OK):
            raise OutputError(f"{self.typed}: no permission to write to {parent}", hint="Name another place.")

    def _require_replaceable(self) -> None:
        typed, path = self.typed, self.path
        if not (path.is_file() or path.is_dir()):
            message = f"{typed} is a device or a pipe, which no output may replace"
            raise OutputError(message, hint="Name another place; dedup and pairs write to standard output with -o -.")
        if path.is_dir() != self.folder:
            is_now, wanted = ("a file", "a folder") if self.folder else ("a folder", "a file")
            raise OutputError(f"{typed} is {is_now}, and {wanted} is to be written", hint="Name another place.")
        if not self.overwrite:
            raise OutputError(f"{typed} exists", hint=_REPLACE)
        if path in (Path(os.path.expanduser("~")), *_and_parents(Path.cwd())):  # noqa: PTH111  (without a home Path raises)
            raise OutputError(f"{typed} holds the folder that you work in", hint="Name another place.")
        if self.folder and self.mark and any(path.iterdir()) and not _is_mark(path / self.mark):
            message = f"{typed} is not empty, and was not written by nearsame: it has no {self.mark} of a run"
            raise OutputError(message, hint="Empty it yourself, or name another place.")


def _is_mark(path: Path) -> bool:
    """Whether a file is there, and is what nearsame writes under its name."""
    if path.name != _STATS or not path.is_file():
        return path.is_file()
    try:
        record = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and any(record.keys() >= keys for keys in _WRITES)


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
    if is_address(typed):
        raise OutputError(f"{typed} is a URL, and output is written to local folders", hint="Give a path.")
    inputs = read if isinstance(read, Inputs) else Inputs.of(read, against)
    place = Place(typed, _real(typed), inputs, folder, overwrite, mark)
    with _told(place.path):
        put_back(place.path)
        place.require()
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
    with _told(place.path), Beside(place.path) as draft:
        yield draft.made
        to_disk(draft.made)
        place.require()
        place.read.require_unchanged()
        draft.put(replace=place.overwrite)


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """What the system says about writing, as an error that names the place."""
    try:
        yield
    except NearSameError:
        raise
    except FileExistsError:
        raise OutputError(f"{place} exists", hint=_REPLACE) from None
    except OSError as error:
        raise OutputError.at(place, error) from error


def write_table(table: pa.Table, path: Path) -> None:
    """A table as Parquet."""
    with pa.OSFile(os.fsencode(path), "wb") as out:  # in bytes: a name need not be Unicode
        pq.write_table(table, out, compression="zstd")


def write_json(record: Mapping[str, Any], path: Path) -> None:
    """A record as JSON for people."""
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
