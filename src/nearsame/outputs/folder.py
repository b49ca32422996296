"""A folder or a file that appears complete or not at all.

1. Everything is written beside its place, on the same file system, brought to the disk, and then renamed.
2. What is replaced is set aside first and deleted last: at no moment is there neither the old nor the new.
3. Whatever ends the writing, an error or an interruption, leaves nothing behind.
4. Nothing is written into a source, or over one.
"""

import contextlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.errors import NearSameError, OutputError

__all__ = ["appearing", "require_place", "write_json", "write_table"]

_REPLACE = "Name another, or add --overwrite (overwrite=True) to replace it."


def require_place(
    path: str | Path,
    sources: Sequence[str] = (),
    *,
    folder: bool = True,
    overwrite: bool = False,
    mark: str | None = "stats.json",
) -> Path:
    """The absolute path to write to, once it is sure that this may be done.

    Args:
        path: What is to appear.
        sources: Files, folders and patterns that are read: none may be replaced, and nothing appears inside.
        folder: Whether it is to be a folder, not a file.
        overwrite: Whether what is there may be replaced.
        mark: The file that tells of a folder that nearsame wrote it; no other folder is replaced. None: any is.

    Raises:
        OutputError: The place cannot be used.

    Example:
        >>> require_place("there-is-no-such-folder").name
        'there-is-no-such-folder'
    """
    if "://" in str(path):
        raise OutputError(f"{path} is a URL, and output is written to local folders", hint="Name a folder.")
    place = Path(os.path.realpath(path))
    for source in sources:
        _require_apart(path, place, source)
    if place.exists():
        _require_replaceable(path, place, folder=folder, overwrite=overwrite, mark=mark)
    if not place.parent.is_dir():
        raise OutputError(f"{path}: there is no folder {place.parent}", hint="Make it first, or name another place.")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise OutputError(f"{path}: no permission to write to {place.parent}", hint="Name another place.")
    return place


def _require_replaceable(path: str | Path, place: Path, *, folder: bool, overwrite: bool, mark: str | None) -> None:
    if place.is_dir() != folder:
        is_now, wanted = ("a file", "a folder") if folder else ("a folder", "a file")
        raise OutputError(f"{path} is {is_now}, and {wanted} is to be written", hint="Name another place.")
    if not overwrite:
        raise OutputError(f"{path} exists", hint=_REPLACE)
    if place in (Path.home(), *_and_parents(Path.cwd())):
        raise OutputError(f"{path} holds the folder that you work in", hint="Name another place.")
    if folder and mark is not None and any(place.iterdir()) and not (place / mark).is_file():
        message = f"{path} is not empty, and nothing that nearsame wrote: it has no {mark}"
        raise OutputError(message, hint="Empty it yourself, or name another place.")


def _require_apart(path: str | Path, place: Path, source: str) -> None:
    if source == "-" or "://" in source:
        return
    read = Path(os.path.realpath(source))
    if place in _and_parents(read):
        raise OutputError(f"{path} is or holds the source {source}", hint="Name a place outside of what is read.")
    if read.is_dir() and read in place.parents:
        message = f"{path} is inside the source {source}, where the next run would read it"
        raise OutputError(message, hint="Name a place outside of what is read.")


def _and_parents(path: Path) -> tuple[Path, ...]:
    return (path, *path.parents)


@contextlib.contextmanager
def appearing(place: Path) -> Iterator[Path]:
    """A path beside `place` to write a folder or a file at; it is renamed when the block ends without an error."""
    made = place.with_name(f".{place.name}.{secrets.token_hex(4)}.partial")
    try:
        with _told(place):
            yield made
            _to_disk(made)
            _put(made, place)
            _sync(place.parent)
    finally:
        _delete(made)
        if os.path.lexists(place):
            _delete(_aside(made))


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    """What the system says about writing, as an error that names the place."""
    try:
        yield
    except NearSameError:
        raise
    except OSError as error:
        raise OutputError.at(place, error) from error


def _put(made: Path, place: Path) -> None:
    """Rename, with what was there set aside until it is done."""
    if not os.path.lexists(place):
        made.rename(place)
        return
    old = _aside(made)
    place.rename(old)
    try:
        made.rename(place)
    except BaseException:
        old.rename(place)
        raise


def _aside(made: Path) -> Path:
    return made.with_suffix(".old")


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _to_disk(made: Path) -> None:
    """Without this a crash soon after the renaming could leave empty files under the final name."""
    if not made.is_dir():
        _sync(made)
        return
    for folder, _, names in os.walk(made):
        for name in names:
            _sync(Path(folder, name))
        _sync(Path(folder))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_table(table: pa.Table, path: Path) -> None:
    """A table as Parquet."""
    pq.write_table(table, path, compression="zstd")


def write_json(record: Mapping[str, Any], path: Path) -> None:
    """A record as JSON for people."""
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")
