"""A WACZ without some records: its archives, and what it says of them.

1. The index keeps its lines but for removed records; where a record moved to is found by reading the new archive. Of
   records that share a compressed member a line is about the one of its URL and time.
2. A page goes when its URL is removed and no record of it stays.
3. Digests are those of what is written. A signature is left out: it was of something else.
"""

import gzip
import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from nearsame.errors import SourceError
from nearsame.files.compressions import Compression
from nearsame.named import NamedTuple
from nearsame.sources import packages
from nearsame.sources.archive_copies import ASIDE, RecordPlace, Span, copy_without, places_of, stored_spans
from nearsame.sources.streams import sink

__all__ = ["Archive", "write_without"]

_BLOCK = 1_024  # lines of an index in a compressed block
_PACKAGE, _PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"
_ALGORITHMS = ("md5", "sha1", "sha256", "sha512")


class Archive(NamedTuple):
    """One of the archives of a WACZ, and what goes of it."""

    member: zipfile.ZipInfo
    places: Sequence[RecordPlace]
    gone: set[int]


class _Moved(NamedTuple):
    """A record that a line may be about: its number, what it says, where it stood, and where it stands now."""

    archive: str
    number: int
    is_aside: bool
    url: str
    time: str
    before: Span
    now: Span | None


def write_without(
    path: str, archives: Sequence[Archive], name: str, target: Path, compression: Compression | None
) -> None:
    """Write a WACZ without what goes.

    Raises:
        SourceError: Its index or its list of files cannot be read, so what stays could not be described.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
            made = _Copy(path, archives, name, Path(home)).write()
            with made.open("rb") as raw, sink(target, compression) as out:
                shutil.copyfileobj(raw, out)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{name} cannot be copied without some of its records: {error}"
        raise SourceError(message, hint="Write it again with a tool that makes WACZ files.") from error


class _Copy:
    """What is made of one WACZ."""

    def __init__(self, path: str, archives: Sequence[Archive], name: str, home: Path) -> None:
        self.path, self.name, self.home = path, name, home
        self.archives = {archive.member.filename: archive for archive in archives}
        self.digests: dict[str, tuple[Path, int]] = {}  # of what was written: where it is, how long
        self.moved: dict[str, dict[int, list[_Moved]]] = {}  # by the archive's name, by the old offset
        self.indexes: dict[str, list[tuple[str, int, int, str]]] = {}  # blocks of compressed indexes

    def write(self) -> Path:
        """The file, in a folder of its own."""
        members = packages.contents(self.path)
        order = sorted(members, key=lambda member: _rank(member.filename))  # what tells of others comes after them
        made = {member.filename: self._made(member, number) for number, member in enumerate(order)}
        target = self.home / "made.wacz"
        with zipfile.ZipFile(target, "w", allowZip64=True) as out:
            for member in members:
                info = zipfile.ZipInfo(member.filename, member.date_time)
                info.compress_type, info.external_attr = member.compress_type, member.external_attr
                with made[member.filename].open("rb") as raw, out.open(info, "w", force_zip64=True) as stream:
                    shutil.copyfileobj(raw, stream)
        return target

    def _made(self, member: zipfile.ZipInfo, number: int) -> Path:
        """One member as it is to be, in a file."""
        name, place = member.filename, self.home / str(number)
        archive = self.archives.get(name)
        if archive is not None:
            self._archive(archive, place)
            return place
        data = packages.read(self.path, member)
        maker = self._maker(name)
        place.write_bytes(data if maker is None else maker(data, name))
        self.digests[name] = (place, place.stat().st_size)
        return place

    def _maker(self, name: str) -> Callable[[bytes, str], bytes] | None:
        plain = name.removesuffix(".gz")
        if name.startswith("indexes/") and plain.endswith((".cdx", ".cdxj")):
            return self._index
        if name.startswith("indexes/") and name.endswith(".idx"):
            return self._blocks
        if name.startswith("pages/") and name.endswith(".jsonl"):
            return self._pages
        return {_PACKAGE: self._package, _PACKAGE_DIGEST: self._package_digest}.get(name)

    def _archive(self, archive: Archive, place: Path) -> None:
        form, name = packages.form_of(archive.member), archive.member.filename
        with packages.spooled(self.path, archive.member) as spool:
            if archive.gone:
                copy_without(spool, (f"{self.name}: {name}", form), archive.places, archive.gone, place, None)
                self.moved[name] = _moved(archive, name, spool, str(place))
            else:
                shutil.copyfile(spool, place)
        self.digests[name] = (place, place.stat().st_size)

    def _index(self, data: bytes, name: str) -> bytes:
        """The lines of what stays, with the places where it stands now."""
        packed = name.endswith(".gz")
        plain = gzip.decompress(data) if packed else data
        taken: set[_Moved] = set()
        made = (self._line(line, name, taken) for line in plain.splitlines(keepends=True))
        lines = [line for line in made if line]
        if not packed:
            return b"".join(lines)
        compressed, blocks = b"", []
        for some in _batched(lines):
            block = gzip.compress(b"".join(some), mtime=0)
            key = some[0].partition(b" {")[0].decode()
            blocks.append((key, len(compressed), len(block), hashlib.sha256(block).hexdigest()))
            compressed += block
        self.indexes[PurePosixPath(name).name] = blocks
        return compressed

    def _line(self, line: bytes, name: str, taken: set[_Moved]) -> bytes:
        """A line of an index as it is to be; nothing, where its record goes. `taken`: those that had theirs."""
        if not line.strip() or line.startswith((b"!", b" ", b"@")):
            return line
        key, brace, rest = line.partition(b" {")
        if not brace:
            raise ValueError(f"{name} is not CDXJ")
        entry = orjson.loads(b"{" + rest)
        of_member = self._records(str(entry.get("filename"))).get(int(entry["offset"]), [])
        time = _digits(key.rpartition(b" ")[2].decode("ascii", "replace"))
        record = _meant(of_member, str(entry.get("url", "")), time, taken)
        if record is not None:
            taken.add(record)
        if record is None or record.now == record.before:
            return line
        if record.now is None:
            return b""
        (start, end), (old_start, old_end) = record.now, record.before
        entry["offset"] = type(entry["offset"])(start)
        if str(entry.get("length")) == str(old_end - old_start):
            entry["length"] = type(entry["length"])(end - start)
        return key + b" " + orjson.dumps(entry) + b"\n"

    def _records(self, said: str) -> Mapping[int, list[_Moved]]:
        """Of the archive that an index names, by its path in the file or below archive/, or by its last name alone."""
        names = [name for name in (said, f"archive/{said}") if name in self.archives]
        names = names or [name for name in self.archives if PurePosixPath(name).name == PurePosixPath(said).name]
        if len(names) > 1:
            raise ValueError(f"its index says {said}, which may be {' or '.join(names)}")
        return self.moved.get(names[0], {}) if names else {}

    def _blocks(self, data: bytes, name: str) -> bytes:
        """The list of the blocks of a compressed index."""
        head = [line for line in data.splitlines(keepends=True) if line.startswith(b"!")]
        header: dict[str, Any] = next((orjson.loads(line[line.index(b"{") :]) for line in head if b"{" in line), {})
        index = PurePosixPath(str(header.get("filename", f"{PurePosixPath(name).stem}.cdx.gz"))).name
        if index not in self.indexes:
            raise ValueError(f"{name} is about {index}, which is missing")
        lines = [
            f"{key} ".encode()
            + orjson.dumps({"offset": offset, "length": length, "digest": f"sha256:{digest}", "filename": index})
            + b"\n"
            for key, offset, length, digest in self.indexes[index]
        ]
        return b"".join([*head, *lines])

    def _pages(self, data: bytes, name: str) -> bytes:  # noqa: ARG002  (as for the others)
        places = [
            (place, at in archive.gone) for archive in self.archives.values() for at, place in enumerate(archive.places)
        ]
        stay = {
            place.target[0]
            for place, is_gone in places
            if not is_gone and place.kind in {"response", "resource", "revisit"}
        }
        gone = {place.target[0] for place, is_gone in places if is_gone} - stay
        lines = data.splitlines(keepends=True)
        return b"".join(line for line in lines if not (line.strip() and orjson.loads(line).get("url") in gone))

    def _package(self, data: bytes, name: str) -> bytes:  # noqa: ARG002  (as for the others)
        """The list of files, with the sizes and digests of what was written."""
        package = orjson.loads(data)
        for resource in package["resources"]:
            if resource.get("path") in self.digests:
                place, size = self.digests[resource["path"]]
                resource["hash"], resource["bytes"] = _digest(place, str(resource.get("hash", ""))), size
        return orjson.dumps(package, option=orjson.OPT_INDENT_2)

    def _package_digest(self, data: bytes, name: str) -> bytes:  # noqa: ARG002  (as for the others)
        record: Mapping[str, Any] = orjson.loads(data)
        digest = _digest(self.digests[_PACKAGE][0], str(record.get("hash", "")))
        return orjson.dumps({"path": _PACKAGE, "hash": digest}, option=orjson.OPT_INDENT_2)


def _moved(archive: Archive, name: str, old: str, new: str) -> dict[int, list[_Moved]]:
    """Where the records of an archive stood, by the offset that an index has of them, and where they stand now."""
    form = packages.form_of(archive.member)
    written = places_of(new, form)
    if len(archive.places) - len(archive.gone) != len(written):
        raise ValueError(f"of {name} other records were written than should stay")
    after = iter(stored_spans(new, form, written))
    found: dict[int, list[_Moved]] = {}
    for at, (record, before) in enumerate(zip(archive.places, stored_spans(old, form, archive.places), strict=True)):
        now, (url, date) = None if at in archive.gone else next(after), record.target
        if before is not None and (now is not None or at in archive.gone):
            told = _Moved(name, at, record.kind in ASIDE, url, _digits(date), before, now)
            found.setdefault(before[0], []).append(told)
    return found


def _meant(records: Sequence[_Moved], url: str, time: str, taken: AbstractSet[_Moved]) -> _Moved | None:
    """The record of a member that a line is about: of its URL and time, a page rather than its request."""

    def likeness(record: _Moved) -> tuple[bool, bool, bool, bool, int]:
        return record.url == url, record.time == time, record not in taken, not record.is_aside, -record.number

    found = max(records, key=likeness, default=None)
    return None if found is not None and len(records) > 1 and found.url != url else found


def _digits(date: str) -> str:
    """A date as an index has it.

    >>> _digits("2024-01-31T12:00:07.25Z")
    '20240131120007'
    """
    return "".join(filter(str.isdigit, date))[:14]


def _rank(name: str) -> int:
    if name.startswith("archive/"):
        return 0
    late = {_PACKAGE: 3, _PACKAGE_DIGEST: 4}
    return late.get(name, 2 if name.endswith(".idx") else 1)


def _digest(place: Path, before: str) -> str:
    """The digest of a file, by the algorithm of the one before."""
    kind = before.partition(":")[0].lower()
    kind = kind if kind in _ALGORITHMS else "sha256"
    with place.open("rb") as raw:
        return f"{kind}:{hashlib.file_digest(raw, kind).hexdigest()}"


def _batched(lines: Sequence[bytes]) -> Any:
    return (lines[at : at + _BLOCK] for at in range(0, len(lines), _BLOCK))
