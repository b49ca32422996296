"""Places in the file systems that Spark knows, reached through Hadoop's own interface.

1. A path without a scheme is in the session's default file system, for writing as for reading.
2. A place has one address however it is spelled: qualified, and on this machine's disk with its links followed.
3. What Java says when something fails is an error that names the place.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import NO_ROOT, NO_ROOT_HINT, first_line, has_no_root, hint_about
from nearsame.errors import OutputError

__all__ = [
    "HadoopPlace",
    "as_name",
    "as_path",
    "as_pattern",
    "matches",
    "on_disk",
    "place_at",
    "places_of",
    "target_at",
]

_GLOB = re.compile(r"([\][{}*?\\])")
_ONE_STORE = {"s3n": "s3a", "s3": "s3a"}  # names of one store
_PORTS = {"hdfs": 8020}
_COPYING = {"s3a", "gs", "oss", "cosn", "obs", "swift", "wasb", "wasbs"}  # stores of objects, that know no folders


@dataclass(frozen=True, eq=False)
class HadoopPlace:
    """A file or folder, there or not.

    Attributes:
        session: whose file systems.
        address: where it is, as Spark reads and writes it.
    """

    session: Any
    address: str

    @cached_property
    def _path(self) -> Any:
        return self.session._jvm.org.apache.hadoop.fs.Path(self.address)  # noqa: SLF001  (no public way to Hadoop)

    @cached_property
    def _system(self) -> Any:
        return self._path.getFileSystem(_conf(self.session))

    @property
    def name(self) -> str:
        """The last part of its path."""
        return str(self._path.getName())

    @property
    def local(self) -> str | None:
        """The path on this machine's disk, if it is there."""
        uri = self._path.toUri()
        return str(uri.getPath()) if uri.getScheme() == "file" else None

    @cached_property
    def key(self) -> tuple[str, str, str]:
        """What distinguishes it from all other places: the store, and the path there."""
        uri = self._mounted().toUri()
        scheme = _ONE_STORE.get(str(uri.getScheme()).lower(), str(uri.getScheme()).lower())
        port = uri.getPort() if uri.getPort() >= 0 else _PORTS.get(scheme, -1)
        host = str(uri.getHost() or uri.getAuthority() or "").lower()
        return scheme, f"{host}:{port}", str(uri.getPath()).rstrip("/")

    @property
    def is_copied(self) -> bool:
        """Whether the store renames a folder by copying what is in it, which is not one step."""
        return self.key[0] in _COPYING

    def _mounted(self) -> Any:
        """The path in the file system that is mounted there, where one is."""
        if not self.address.startswith("viewfs:"):
            return self._path
        path, rest = self._path, []
        with _told(self):
            while not self._system.exists(path):
                rest.append(str(path.getName()))
                path = path.getParent()
            mounted = self._system.resolvePath(path)
        return place_at(self.session, "/".join([str(mounted.toString()), *reversed(rest)]))._path  # noqa: SLF001  (own class)

    def holds(self, other: "HadoopPlace") -> bool:
        """Whether the other one is this one, or inside."""
        *store, path = self.key
        *other_store, other_path = other.key
        return store == other_store and f"{other_path}/".startswith(f"{path}/")

    def linked(self) -> Iterator["HadoopPlace"]:
        """The places that links in this folder lead to, however deep they lie; on this machine's disk only."""
        left, seen = [self.local] if self.local is not None else [], set[str]()
        while left:
            with suppress(OSError), os.scandir(left.pop()) as entries:  # it is a file, or nobody may look into it
                for entry in entries:
                    path = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                    if entry.is_symlink() and path not in seen:
                        seen.add(path)
                        yield HadoopPlace(self.session, f"file://{path}")
                        left.append(path)
                    elif entry.is_dir(follow_symlinks=False):
                        left.append(path)

    def beside(self, name: str) -> "HadoopPlace":
        """The place of another name in the same folder."""
        return HadoopPlace(self.session, f"{self.address.rpartition('/')[0]}/{name}")

    def inside(self, name: str) -> "HadoopPlace":
        """The place of a name in this folder."""
        return HadoopPlace(self.session, f"{self.address}/{name}")

    def exists(self) -> bool:
        """Whether anything is there."""
        with _told(self):
            return bool(self._system.exists(self._path))

    def is_file(self) -> bool:
        """Whether it is there, and no folder."""
        with _told(self):
            return self.exists() and bool(self._system.getFileStatus(self._path).isFile())

    def names(self) -> list[str]:
        """What is in this folder, oldest first; nothing if there is none."""
        with _told(self):
            if not self.exists():
                return []
            known = self._system.listStatus(self._path)
            return [
                str(entry.getPath().getName()) for entry in sorted(known, key=lambda one: one.getModificationTime())
            ]

    def parent(self) -> "HadoopPlace":
        """The folder that it is in."""
        above = self._path.getParent()  # of what lies in the root of a store, the root, which has a path of its own
        return self if above is None else HadoopPlace(self.session, str(above.toString()))

    def move_to(self, other: "HadoopPlace") -> None:
        """Rename, where nothing is.

        Raises:
            OutputError: That failed, or something is there.
        """
        if other.exists():
            raise OutputError(f"{other.address} has appeared meanwhile", hint="See what else writes there.")
        # a folder in an answer may be called like it; in a file HDFS lets nobody look for anything
        own = self.is_file() or self.inside(self.name).exists()
        with _told(other):
            moved = self._system.rename(self._path, other._path)  # noqa: SLF001  (of the same class)
        if not moved:
            message = f"{self.address} could not be renamed to {other.name}"
            raise OutputError(message, hint="Check that there is permission to write.")
        stray = other.inside(self.name)  # what Hadoop does where a folder appeared in this moment
        if not own and stray.exists():
            stray.delete()
            raise OutputError(f"{other.address} has appeared meanwhile", hint="See what else writes there.")

    def delete(self) -> None:
        """See that nothing is there."""
        with _told(self):
            self._system.delete(self._path, True)

    def read_text(self) -> str | None:
        """A file in UTF-8; None if there is none."""
        with _told(self):
            if not self.exists():
                return None
            stream = self._system.open(self._path)
            try:
                return str(self.session._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))  # noqa: SLF001  (likewise)
            finally:
                stream.close()

    def read_json(self) -> Any:
        """What a file of JSON says; None if there is none, or it is none."""
        text = self.read_text()
        try:
            return None if text is None else json.loads(text)
        except (RecursionError, ValueError):
            return None

    def write_text(self, text: str) -> None:
        """Write a file in UTF-8, over one that is there."""
        with _told(self):
            stream = self._system.create(self._path)
            stream.write(bytearray(text.encode()))
            stream.close()
        self.beside(f".{self.name}.crc").delete()  # what Hadoop adds on a local disk


def _conf(session: Any) -> Any:
    return session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001  (no public way to Hadoop)


@contextmanager
def _told(place: HadoopPlace) -> Iterator[None]:
    """What Java says, as an error that names the place."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        said = first_line(str(error.java_exception.toString()))
        hint = hint_about(said, "Check the address, and that there is room and permission to write.")
        raise OutputError(f"{place.address}: {said}", hint=hint) from None


def place_at(session: Any, address: str | os.PathLike[str]) -> HadoopPlace:
    """The place of an address or a path.

    Raises:
        OutputError: It is not one, or of a file system that Spark does not know.
    """
    given = os.fspath(address).rstrip("/")
    given = os.fspath(address) if given[-1:] in {"", ":"} else given  # a root
    if not given:
        raise OutputError("an output needs a name", hint="Name a folder.")
    if has_no_root(given):
        raise OutputError(f"{given} {NO_ROOT}", hint=NO_ROOT_HINT)
    place = HadoopPlace(session, given)
    with _told(HadoopPlace(session, given)):
        whole = place._system.makeQualified(place._path)  # noqa: SLF001  (of the same class)
    uri = whole.toUri()
    if uri.getScheme() == "file":
        return HadoopPlace(session, f"file://{os.path.realpath(uri.getPath())}")
    return HadoopPlace(session, str(whole.toString()))


def target_at(session: Any, address: str | os.PathLike[str]) -> HadoopPlace:
    """The place of what is to be written.

    Raises:
        OutputError: It is none, or nothing can be written there.
    """
    place = place_at(session, address)
    if place.key[0] in {"http", "https"}:
        hint = "Name a folder, or an address of a store, as in s3a://bucket/clean."
        raise OutputError(f"{os.fspath(address)}: Spark writes nothing over HTTP", hint=hint)
    return place


def places_of(session: Any, source: str) -> list[HadoopPlace]:
    """The place of a source, or those of all that its pattern matches; none where it is not an address."""
    from py4j.protocol import Py4JJavaError

    try:
        place = place_at(session, source)
    except OutputError:
        return []
    if not _GLOB.search(source):
        return [place]
    pattern = session._jvm.org.apache.hadoop.fs.Path(source)  # noqa: SLF001  (likewise)
    try:
        known = pattern.getFileSystem(_conf(session)).globStatus(pattern) or []
    except Py4JJavaError:
        known = []
    return [place, *(place_at(session, str(entry.getPath().toString())) for entry in known)]


def matches(session: Any, pattern: str, place: HadoopPlace) -> bool:
    """Whether a pattern would match a place, or a folder that it is in."""
    if not _GLOB.search(pattern):
        return False
    glob = session._jvm.org.apache.hadoop.fs.GlobPattern  # noqa: SLF001  (likewise)
    try:
        asked = place_at(session, pattern)
    except OutputError:
        return False
    wanted, there = asked.key[2].split("/"), place.key[2].split("/")
    if asked.key[:2] != place.key[:2] or len(wanted) > len(there):
        return False
    return all(one == other or glob(one).matches(other) for one, other in zip(wanted, there, strict=False))


def as_pattern(address: str) -> str:
    r"""An address for what reads patterns.

    >>> print(as_pattern("file:///a[1]/b c"))
    file:///a\[1\]/b c
    """
    return _GLOB.sub(r"\\\1", address)


def as_name(pattern: str) -> str:
    r"""The address that was made a pattern.

    >>> print(as_name(r"file:///a\[1\]/b c"))
    file:///a[1]/b c
    """
    return re.sub(r"\\([\][{}*?\\])", r"\1", pattern)


def as_path(uri: str) -> str:
    """What Spark calls a file, as people write it: on a disk without a scheme, and no sign escaped.

    >>> as_path("file:///crawl/a%20b.parquet")
    '/crawl/a b.parquet'
    """
    return unquote(on_disk(uri))


def on_disk(address: str) -> str:
    """An address without the scheme that a disk has."""
    return re.sub("^file:/+", "/", address)
