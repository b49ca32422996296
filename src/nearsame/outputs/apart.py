"""Whether an output would touch what is read: the files that were found are looked at, not how they were spelled.

1. Nothing that is read is replaced: neither the output's place is one of the files nor does one lie in it, through
   whatever links, spellings and mounts. Files and folders are told apart by device and inode.
2. Nothing appears where the same run, made again, would read it: inside a folder that is a source, or where a pattern
   matches. One thing may: `--against "days/*/kept/*.jsonl" -o days/today` is how one adds a day to others.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path

from nearsame.errors import OutputError
from nearsame.files.inputs import Inputs, is_address, is_folder, local_paths
from nearsame.files.remote import Remote, qualified

__all__ = ["require_apart", "require_apart_remotely"]

_OUTSIDE = "Name a place outside of what is read."
_TABLES = ("removed", "clusters", "pairs", "skipped", "frequencies")  # of a folder that dedup writes, beside kept/
_MEMBERS = (*(f"{name}.parquet" for name in _TABLES), "stats.json")

_Id = tuple[int, int]


def require_apart(typed: str, place: Path, read: Inputs, *, folder: bool) -> None:
    """See that an output touches nothing that is read, and is not read itself by the next run.

    Args:
        typed: The place as the user named it.
        place: The same, without links.
        read: What is read.
        folder: Whether a folder is to be written.

    Raises:
        OutputError: It does, or would be.
    """
    for name in (*read.named, *read.against):
        for path in local_paths(name):
            _require_unread(typed, place, name, path, folder=folder and name in read.against)
    here = _id(str(place))
    if here is None:
        return
    above: dict[str, bool] = {}
    for name, path in read.paths():
        if _id(path) == here or any(_is_in(way, here, above) for way in _ways(path)):
            raise OutputError(f"{typed} is or holds the source {name}", hint=_OUTSIDE)


def require_apart_remotely(typed: str, place: Remote, read: Inputs, *, folder: bool) -> None:
    """The same where the output is to be at an address: names of stores are qualified, and compared."""
    (here,) = qualified(place.url)
    for name in (*read.named, *read.against):
        for source in qualified(name) if is_address(name) else ():
            fixed = tuple(takewhile(lambda piece: not glob.has_magic(piece), source))
            if here[: len(fixed)] != fixed:
                continue
            if fixed == source:
                raise OutputError(f"{typed} is or is inside the source {name}", hint=_OUTSIDE)
            members = folder and name in read.against
            _require_unmatched(typed, name, (source[len(fixed) :], here[len(fixed) :]), folder=members)
    for name in read.names():
        if any(source[: len(here)] == here for source in (qualified(name) if is_address(name) else ())):
            raise OutputError(f"{typed} is or holds the source {name}", hint=_OUTSIDE)


def _ways(path: str) -> Iterator[str]:
    """The folder of a file by the way that was named, and by the one without links."""
    full = os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118  (a Path would take `..` for granted)
    yield os.path.dirname(full)  # noqa: PTH120  (likewise)
    if os.path.islink(full):  # noqa: PTH114  (likewise)
        yield os.path.dirname(os.path.realpath(full))  # noqa: PTH120  (likewise)
    yield os.path.realpath(os.path.dirname(full))  # noqa: PTH120  (likewise)


def _is_in(folder: str, here: _Id, above: dict[str, bool]) -> bool:
    """Whether a folder is, or lies in, the one of this device and inode; `above` remembers."""
    if folder not in above:
        upper = os.path.dirname(folder)  # noqa: PTH120  (likewise)
        above[folder] = _id(folder) == here or (upper != folder and _is_in(upper, here, above))
    return above[folder]


def _require_unread(typed: str, place: Path, name: str, path: str, *, folder: bool) -> None:
    """Refuse a place inside a source; `folder`: one that a pattern of the against side may match in its kept/."""
    if is_folder(path):
        if _holds(path, place):
            message = f"{typed} is inside the source {name}, where the next run would read it"
            raise OutputError(message, hint=_OUTSIDE)
        return
    if not glob.has_magic(path) or os.path.lexists(path):
        return
    pieces = Path(path).parts
    fixed = next(number for number, piece in enumerate(pieces) if glob.has_magic(piece))
    base = Path(os.path.realpath(Path(*pieces[:fixed])))
    if base != place and base not in place.parents:
        return
    _require_unmatched(typed, name, (pieces[fixed:], place.relative_to(base).parts), folder=folder)


def _require_unmatched(typed: str, name: str, pieces: tuple[tuple[str, ...], tuple[str, ...]], *, folder: bool) -> None:
    """Refuse a place of which the pieces match those of a pattern."""
    pattern, place = pieces
    rests = _rests([pattern], place)
    if folder:
        rests = [rest for member in _MEMBERS for rest in _rests(rests, [member]) if not set(rest) - {"**"}]
    if rests:
        message = f"{name} matches {typed}, which the next run would read"
        raise OutputError(message, hint="Name a place that the pattern does not match, or a narrower pattern.")


def _holds(folder: str, place: Path) -> bool:
    """Whether a place, there or not, is a folder or lies in it."""
    outer = _id(folder)
    return any(_id(str(path)) == outer for path in (place, *place.parents))


def _rests(patterns: Sequence[tuple[str, ...]], path: Sequence[str]) -> list[tuple[str, ...]]:
    """What is left of patterns once they have matched the pieces of a path, in every way that they can."""
    rests = list(_opened(patterns))
    for piece in path:
        rests = list(_opened([rest for pattern in rests if pattern for rest in _after(pattern, piece)]))
    return rests


def _after(pattern: tuple[str, ...], piece: str) -> Iterator[tuple[str, ...]]:
    first, *rest = pattern
    if piece.startswith(".") and not first.startswith("."):
        return  # wildcards pass over what is hidden
    if "**" in first:
        yield pattern
    elif fnmatchcase(piece, first):
        yield tuple(rest)


def _opened(patterns: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The same, and what they are where `**` stands for nothing."""
    for pattern in patterns:
        yield pattern
        rest = pattern
        while rest and "**" in rest[0]:
            rest = rest[1:]
            yield rest


def _id(path: str) -> _Id | None:
    """Device and inode; None where there is nothing."""
    try:
        status = os.stat(path)  # noqa: PTH116  (a million of them)
    except OSError:
        return None
    return status.st_dev, status.st_ino
