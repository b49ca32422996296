"""A file or a folder that appears at an address (s3://…, gs://…), where stores cannot rename, complete or not at all.

1. It is made on this machine, and uploaded when it is complete.
2. A file is uploaded under another name, and then takes its own in one step.
3. A folder is there when it has `_nearsame.json`, the list of its files, which is written last. Without it, or where it
   says that the folder is not complete, nothing is there for whoever reads.
4. In place of an old folder, the new one is first uploaded whole to a hidden folder in it; then the list says so, its
   files are copied to their places, and what else is there is deleted. Should the process be killed meanwhile, the
   next one that writes there goes on with it.
5. What an upload that fails has left is deleted.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nearsame.dataclass import dataclass
from nearsame.errors import NearSameError, OutputError, SourceError
from nearsame.files.inputs import is_address, local_paths
from nearsame.files.systems import filesystem, mishaps

__all__ = ["LISTED", "Remote", "Upload", "at_hand", "finish", "is_remote", "qualified"]

LISTED = "_nearsame.json"
_PARTIAL = ".partial"
_ONE_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "az": "abfs", "adl": "abfs"}  # by other names
_MAGIC = frozenset("*?[")  # in names that are to be deleted, these are taken for patterns
_PERMITTED = "Name another place, or use credentials that may write there."


def is_remote(name: str) -> bool:
    """Whether a name is an address that leads to no local path.

    Example:
        >>> is_remote("s3://bucket/clean"), is_remote("file:///data/clean"), is_remote("clean")
        (True, False, False)
    """
    return is_address(name) and not local_paths(name)


def qualified(address: str) -> list[tuple[str, ...]]:
    """What tells places at addresses apart, of each link of a chain: the store, and the pieces of the path there.

    Example:
        >>> qualified("memory://a/b"), qualified("zip://x::memory:///a//b.zip")[1:]
        ([('memory', 'a', 'b')], [('memory', 'a', 'b.zip')])
    """
    return [_pieces(link) for link in address.split("::")]


def _pieces(link: str) -> tuple[str, ...]:
    import fsspec  # noqa: PLC0415  (with asyncio and ssl, which local files have no use for)

    scheme, _, rest = link.partition("://")
    try:
        path = str(fsspec.get_filesystem_class(scheme)._strip_protocol(link))  # noqa: SLF001  (no public way)
    except (ImportError, ValueError):
        path = rest
    pieces = [piece for piece in path.split("/") if piece]
    host = rest.partition("/")[0].rpartition("@")[2]
    return (_ONE_STORE.get(scheme, scheme), *([] if host in pieces[:1] or not host else [host]), *pieces)


@dataclass(frozen=True)
class Remote:
    """A place at an address, there or not; where it cannot be used, an OutputError says why."""

    url: str

    def __str__(self) -> str:
        return self.url

    @cached_property
    def _at(self) -> tuple[Any, str]:
        system, path = filesystem(self.url)
        return system, path.rstrip("/")

    @property
    def system(self) -> Any:
        """The file system."""
        return self._at[0]

    @property
    def path(self) -> str:
        """The path on it."""
        return self._at[1]

    @contextmanager
    def told(self) -> Iterator[None]:
        """What a store says, as an error that names the place."""
        try:
            with mishaps(self.url, PermissionError, FileExistsError, NotImplementedError):
                yield
        except PermissionError:
            raise OutputError(f"{self.url}: no permission to write there", hint=_PERMITTED) from None
        except NotImplementedError:
            raise OutputError(f"{self.url}: nothing can be written to such addresses", hint="Name a path.") from None
        except SourceError as error:
            raise OutputError(error.message, hint=error.hint) from error

    @property
    def bucket(self) -> str:
        """Of a store that has such; nothing where the file system has folders."""
        return "" if self.path.startswith("/") else self.path.partition("/")[0]

    @property
    def is_root(self) -> bool:
        """Whether it is all of a store."""
        return self.path.strip("/") == self.bucket

    def inside(self, name: str) -> str:
        """The path of a name in this folder."""
        return f"{self.path}/{name}"

    def beside(self) -> str:
        """A free, hidden path in the same folder."""
        folder, _, name = self.path.rpartition("/")
        return f"{folder}/.{name}.{os.urandom(4).hex()}{_PARTIAL}"

    def kind(self) -> str | None:
        """`file`, `directory`, or None where nothing is."""
        self.system.invalidate_cache()  # of what others may have changed
        try:
            return str(self.system.info(self.path)["type"])
        except FileNotFoundError:
            return None

    def sizes(self, below: str = "") -> dict[str, int]:
        """The files of the folder, or of one in it, by their paths there."""
        self.system.invalidate_cache()
        home = self.inside(below).rstrip("/")
        listed: Mapping[str, Any] = self.system.find(home, detail=True)
        return {path.removeprefix(f"{home}/"): one["size"] for path, one in listed.items() if one["type"] == "file"}

    def said(self, below: str = "") -> Mapping[str, Any] | None:
        """What the list of the folder, or of one in it, says; None where there is none."""
        try:
            record = json.loads(self.read(below + LISTED))
        except (FileNotFoundError, ValueError):
            return None
        return record if isinstance(record, dict) else None

    def read(self, name: str) -> bytes:
        """The bytes of a file in the folder."""
        return bytes(self.system.cat_file(self.inside(name)))

    def say(self, record: Mapping[str, Any], below: str = "") -> None:
        """Write the list."""
        if not self.bucket:
            self.system.makedirs(self.inside(below).rstrip("/"), exist_ok=True)
        self.system.pipe_file(self.inside(below + LISTED), json.dumps(record).encode())

    def require_writable(self) -> None:
        """Write something beside the place, and delete it: a long run is not to fail at its end.

        Raises:
            OutputError: It could not be written.
        """
        folder, _, name = self.path.rpartition("/")
        trial = f"{folder}/.{name}.trial{_PARTIAL}"  # of one name: it stays for whoever may not delete it
        with self.told():
            try:
                self.system.pipe_file(trial, b"\n")
            except FileNotFoundError:
                missing = f"bucket {self.bucket}" if self.bucket else f"folder {trial.rpartition('/')[0]}"
                message = f"{self.url}: there is no {missing}"
                raise OutputError(message, hint="Make it first, or name another.") from None
            with suppress(Exception):  # who may write need not be one who may delete
                self.system.rm_file(trial)

    def delete(self, paths: Iterable[str]) -> None:
        """Delete some files."""
        every = list(paths)
        plain = [path for path in every if _MAGIC.isdisjoint(path)]
        if plain:
            self.system.rm(plain)
        for path in set(every).difference(plain):
            self.system.rm_file(path)

    def copy(self, source: str, target: str) -> None:
        """Copy one file over another, by way of this machine where the store cannot."""
        try:
            self.system.cp_file(source, target)
        except NotImplementedError:
            with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
                self.system.get_file(source, f"{home}/file")
                self.system.put_file(f"{home}/file", target)


class Upload:
    """What is to appear at an address; `made` is the path on this machine to write at, before it is `put` there."""

    def __init__(self, place: Remote, *, folder: bool) -> None:
        self.place, self._folder = place, folder
        self._home = tempfile.TemporaryDirectory(prefix="nearsame-")
        self.made = Path(self._home.name, "new")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._home.cleanup()

    def put(self, *, replace: bool) -> None:
        """Upload what was made.

        Args:
            replace: Whether it takes the place of what is there.

        Raises:
            FileExistsError: There is something, and it may not be replaced.
            OutputError: It could not be uploaded.
        """
        with self.place.told():
            if self._folder:
                self._put_folder(replace=replace)
            else:
                self._put_file(replace=replace)

    def _put_file(self, *, replace: bool) -> None:
        place, aside = self.place, self.place.beside()
        try:
            place.system.put_file(str(self.made), aside)
            size = place.system.info(aside)["size"]
            _require_whole(place, {place.path: self.made.stat().st_size}, {place.path: size})
            if not replace and place.kind() is not None:
                raise FileExistsError(place.url)
            try:
                place.system.cp_file(aside, place.path)
            except NotImplementedError:
                place.system.mv(aside, place.path)
        finally:
            with suppress(Exception):
                place.system.rm_file(aside)

    def _put_folder(self, *, replace: bool) -> None:
        place = self.place
        if not place.sizes():
            self._upload("")
            return
        if not replace:
            raise FileExistsError(place.url)
        stage = f".{os.urandom(4).hex()}{_PARTIAL}"
        self._upload(f"{stage}/")
        place.say({"complete": False, "replaced_by": stage})
        finish(place)

    def _upload(self, below: str) -> None:
        """All files to the place, or to a folder in it; the list last."""
        place = self.place
        files = {path.relative_to(self.made).as_posix(): path for path in self.made.rglob("*") if path.is_file()}
        sizes = {name: path.stat().st_size for name, path in files.items()}
        try:
            place.say({"complete": False}, below)
            place.system.put([str(path) for path in files.values()], [place.inside(below + name) for name in files])
            _require_whole(place, sizes, place.sizes(below))
            place.say({"complete": True, "files": sizes}, below)
        except BaseException:
            with suppress(Exception):
                place.delete(place.inside(below + name) for name in place.sizes(below))
            raise


def _require_whole(place: Remote, made: Mapping[str, int], there: Mapping[str, int]) -> None:
    for name, size in made.items():
        if there.get(name) != size:
            message = f"{place.url}: {name} has {size:,} bytes, and {there.get(name, 0):,} arrived"
            raise OutputError(message, hint="Run again, and see what else writes there.")


def finish(place: Remote) -> None:
    """Go on with replacing a folder, where the new one is there whole.

    Raises:
        OutputError: It was, and could not be put in its place.
    """
    stage = str((place.said() or {}).get("replaced_by") or "")
    whole = place.said(f"{stage}/") if stage else None
    if whole is None or not whole.get("complete"):
        return
    new = {name for name in whole["files"] if isinstance(name, str)}
    try:
        for name in new:
            place.copy(place.inside(f"{stage}/{name}"), place.inside(name))
        others = set(place.sizes()) - new - {LISTED}
        place.delete(place.inside(name) for name in others if not name.startswith(f"{stage}/"))
        place.say(whole)
    except Exception as error:
        message = f"{place.url} could not be replaced, but the new one is whole in {place.url}/{stage} ({error})"
        raise OutputError(message, hint="Run again with --overwrite, which begins with putting it there.") from error
    with suppress(Exception):
        place.delete(place.inside(f"{stage}/{name}") for name in place.sizes(stage))
        if not place.bucket:
            place.system.rm(place.inside(stage), recursive=True)


@contextmanager
def at_hand(output: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder of an output, for reading: one at an address as a copy on this machine, which is deleted afterwards.

    Raises:
        SourceError: At the address there is none, or one that is not complete.
    """
    name = os.fspath(output)
    if not is_remote(name):
        yield Path(local_paths(name)[0] if is_address(name) else name)
        return
    with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
        try:
            _fetch(Remote(name), Path(home))
            yield Path(home)
        except NearSameError as error:
            error.message, error.hint = error.message.replace(home, name), error.hint.replace(home, name)
            error.args = (error.message,)
            raise


def _fetch(place: Remote, home: Path) -> None:
    with mishaps(place.url):
        if place.kind() is None:
            raise SourceError(f"{place.url} does not exist", hint="Check the address.")
        said = place.said()
        if said is None or not said.get("complete"):
            message = f"{place.url} is no complete output: it has no {LISTED} that says so"
            stage = None if said is None else said.get("replaced_by")
            now = f"Read {place.url}/{stage}, which is complete" if stage else "Write it again"
            raise SourceError(message, hint=f"{now}; of a folder that was copied there, read the copy on this machine.")
        names = [name for name in place.sizes() if name != LISTED and not name.startswith(".")]
        for name in names:
            if ".." in name.split("/"):
                raise SourceError(f"{place.url} holds {name}, which leads out of it", hint="Delete that file.")
            (home / name).parent.mkdir(parents=True, exist_ok=True)
        place.system.get([place.inside(name) for name in names], [str(home / name) for name in names])
