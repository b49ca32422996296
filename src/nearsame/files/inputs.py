"""What a run reads: the names that were given, and the files that were found by them.

1. Every source, and every other file that is read, is in here before anything is written: see outputs/apart.py.
2. A name is a path, a pattern or a URL. Only what lies in a local file system counts, however it is spelled.
3. What is in memory, on a server or comes through standard input cannot be replaced by an output, and is left out.
"""

import glob
import os
from collections.abc import Iterator
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.named import NamedTuple

__all__ = [
    "NAMED_TWICE", "Files", "Inputs", "is_address", "is_folder", "local_paths", "local_stamp", "name_as_text",
    "names_of", "no_path", "several",
]  # fmt: skip

NAMED_TWICE = "Name each file once; a folder or a pattern may have it, too."
_LOCAL = ("file://", "local://", "file:", "local:")  # the longer one first
_LOGS = ("-wal", "-shm")  # of SQLite, beside a file
_LAST = (1 << 63) - 1  # nanosecond, in the year 2262
_NOTHING_WRITTEN = "nothing was written"


class Files(NamedTuple):
    """Files below a root, and what told each from others when it was listed; no stamps: they are not known."""

    root: str
    paths: tuple[str, ...]
    stamps: tuple[Any, ...] = ()

    def names(self) -> Iterator[str]:
        """Each as the user would write it."""
        head = self.root if not self.root or self.root.endswith("://") else f"{self.root.rstrip('/')}/"
        return (f"{head}{path}" for path in self.paths)


@dataclass(frozen=True)
class Inputs:
    """Names and files.

    Attributes:
        named: files, folders, patterns and URLs as they were given.
        against: of the side that is only compared with.
        files: what was found.
    """

    named: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    files: tuple[Files, ...] = ()

    @classmethod
    def of(cls, sources: Any, against: Any = ()) -> "Inputs":
        """The names among some sources, and the files that they find now."""
        named, other = names_of(sources), names_of(against)
        return cls(named, other, tuple(files for name in (*named, *other) for files in _found(name)))

    @classmethod
    def index(cls, where: str) -> "Inputs":
        """The files of an index: they may change meanwhile."""
        return cls((), (), (Files("", (where, *(where + log for log in _LOGS))),))

    def changing(self) -> "Inputs":
        """The same, which may change before the output appears."""
        return Inputs(self.named, self.against, tuple(files._replace(stamps=()) for files in self.files))

    def __add__(self, other: "Inputs") -> "Inputs":
        return Inputs(self.named + other.named, self.against + other.against, self.files + other.files)

    def paths(self) -> Iterator[tuple[str, str]]:
        """Each file as the user would write it, and its path in the local file system."""
        for name in self.names():
            for path in local_paths(name):
                yield name, path

    def names(self) -> Iterator[str]:
        """Each file as the user would write it, wherever it is."""
        return (name for files in self.files for name in files.names())

    def require_unchanged(self, outcome: str = _NOTHING_WRITTEN) -> None:
        """See that every file is still the one that was listed.

        Args:
            outcome: What has come of it where one is not.

        Raises:
            SourceError: One is gone, or another.
        """
        for files in self.files:
            for name, stamp in zip(files.names(), files.stamps, strict=False):
                for path in local_paths(name) if stamp else ():
                    now = _stamp(path)
                    if now != tuple(stamp):
                        what = "is gone" if now is None else "changed"
                        old = "; the old output is still there" if outcome == _NOTHING_WRITTEN else ""
                        hint = f"Run again when nothing writes to it any more{old}."
                        raise SourceError(f"{name} {what} since it was read, and {outcome}", hint=hint)


def several(source: Any) -> list[Any]:
    """The sources of a call: a tuple is several, and so is a list of `Path`s; a list of strings is one, of texts.

    Example:
        >>> several(("a.jsonl", ["a text"])), several([Path("a"), Path("b")]) == [Path("a"), Path("b")]
        (['a.jsonl', ['a text']], True)
    """
    sources = source if isinstance(source, tuple) else (source,)
    return [single for one in sources for single in (one if _is_of_paths(one) else (one,))]


def _is_of_paths(source: Any) -> bool:
    return isinstance(source, list) and bool(source) and all(isinstance(one, os.PathLike) for one in source)


def names_of(sources: Any) -> tuple[str, ...]:
    """What of some sources (one, or a tuple of them) are names.

    Example:
        >>> names_of(("a.jsonl", Path("b"), ["a text"], "-"))
        ('a.jsonl', 'b')
    """
    names = (os.fspath(source) for source in several(sources) if isinstance(source, (str, os.PathLike)))
    named = tuple(str(name) for name in names if name != "-")
    for name in named:
        if not name:
            raise SourceError("the name of a source is empty", hint="Give the path of a file or folder.")
        if wrong := no_path(name):
            raise SourceError(
                f"{name!r} has {wrong}, which no path can have", hint="Give the path of a file or folder."
            )
    return named


def no_path(name: str) -> str:
    r"""What a name has that no path can have; nothing, where it may be one.

    Example:
        >>> no_path("a\0"), no_path("a.csv")
        ('a NUL', '')
    """
    try:
        return "a NUL" if b"\0" in os.fsencode(name) else ""
    except UnicodeEncodeError:
        return "half of a surrogate pair"


def name_as_text(path: str) -> str:
    r"""A path as text: names of files may hold bytes that are none; what is typed, halves of surrogate pairs.

    Example:
        >>> name_as_text("caf\udce9.jsonl"), name_as_text("\ud800.csv")
        ('caf\\xe9.jsonl', '\\ud800.csv')
    """
    errors = "backslashreplace" if no_path(path) else "surrogateescape"
    return path.encode("utf-8", errors).decode("utf-8", "backslashreplace")


def is_folder(path: str) -> bool:
    """Whether a path leads to a folder; no path that is too long does."""
    return os.path.isdir(path)  # noqa: PTH112  (a Path raises for it)


def is_address(name: str) -> bool:
    """Whether a name is an address, `s3://…` or `file:/…`, and not a path.

    Example:
        >>> is_address("file:/data/a.csv"), is_address("./file:a.csv")
        (True, False)
    """
    return "://" in name or name.startswith(_LOCAL)


def local_paths(name: str) -> tuple[str, ...]:
    """The local paths that a path or URL leads to; of a chained URL (`zip://a::file:///b.zip`) each link's.

    A `~` of a URL is the home folder, as fsspec has it; that of a path is one that a shell has left.

    Example:
        >>> local_paths("zip://a.csv::file:///data/a.zip"), local_paths("https://example.org/a"), local_paths("a.csv")
        (('/data/a.zip',), (), ('a.csv',))
    """
    if not is_address(name):
        return (name,)
    return tuple(path for link in name.split("::") if (path := _local_path(link)))


def _local_path(link: str) -> str:
    for scheme in _LOCAL:
        if link.startswith(scheme):
            return os.path.expanduser(link.removeprefix(scheme))  # noqa: PTH111  (a Path raises for some)
    return os.path.expanduser(link) if "://" not in link and ("/" in link or "." in link) else ""  # noqa: PTH111


def _found(name: str) -> Iterator[Files]:
    """The files that a name leads to now."""
    for path in local_paths(name):
        if is_folder(path):
            paths = tuple(_walked(path))
        elif glob.has_magic(path) and not os.path.lexists(path):
            paths = tuple(glob.glob(path, recursive=True))  # noqa: PTH207  (it would rewrite the pattern)
        else:
            paths = (path,)
        yield Files("", paths, tuple(_stamp(file) for file in paths))


def _walked(root: str) -> Iterator[str]:
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".")]
        yield from (os.path.join(folder, name) for name in names)  # noqa: PTH118  (a million of them)


def local_stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Size, time, and when the system saw the last change, which no program sets back.

    The numbers of the file and its device are not part of it: some file systems give the same file another one.
    A time that no column holds, as of the year 2300, is the last that one does.
    """
    return status.st_size, max(-_LAST, min(status.st_mtime_ns, _LAST)), status.st_ctime_ns


def _stamp(path: str) -> tuple[int, ...] | None:
    """As sources stamp their files; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116  (likewise)
    except OSError:
        return None
    return local_stamp(status)
