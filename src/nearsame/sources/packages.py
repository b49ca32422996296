"""Zip files that hold archives: what is in them, read without trust in what they say of themselves.

1. Nothing is ever unpacked to a place that a name says; names are only compared, and written into copies.
2. What could inflate beyond measure, lies over something else, or cannot be read by everybody is refused as a whole.
"""

import contextlib
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nearsame.sources.members import ARC, WARC, ArchiveForm

__all__ = ["PackageError", "archives_in", "check", "contents", "form_of", "read", "spooled"]

_FORMS: dict[str, ArchiveForm] = {".warc": WARC, ".warc.gz": WARC, ".arc": ARC, ".arc.gz": ARC}
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
_MOST, _MOST_RATIO = 64 << 20, 32  # bytes, and times its stored size, that a member is inflated to
_CHUNK = 1 << 20


class PackageError(Exception):
    """A zip file that is not read, and why."""


def contents(path: str) -> list[zipfile.ZipInfo]:
    """What a zip file holds, in its own order.

    Raises:
        PackageError: It is damaged, or not one to be trusted.
    """
    try:
        with zipfile.ZipFile(path) as package:
            members = [member for member in package.infolist() if not member.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
        raise PackageError(str(error) or "its directory cannot be read") from error
    size = Path(path).stat().st_size
    if sum(member.compress_size for member in members) > size:
        raise PackageError("its members overlap")
    names = [member.filename for member in members]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise PackageError(f"two members are called {twice!r}")
    with Path(path).open("rb") as raw:
        for member in members:
            if problem := _problem(member) or ("" if _begins(raw, member, size) else "is not where its directory says"):
                raise PackageError(f"its member {member.filename!r} {problem}")
    return members


def _problem(member: zipfile.ZipInfo) -> str:
    pieces = member.filename.replace("\\", "/").split("/")
    if ".." in pieces or not pieces[0] or ":" in pieces[0] or "\0" in member.orig_filename:
        return "has a name that leads out of it"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        return f"is compressed by method {member.compress_type}, which is neither stored nor deflated"
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        return "is stored, and has two sizes"
    if member.file_size > _MOST + _MOST_RATIO * member.compress_size:
        return f"would inflate from {member.compress_size:,} bytes to {member.file_size:,}"
    return ""


def _begins(raw: Any, member: zipfile.ZipInfo, size: int) -> bool:
    return 0 < _data_start(raw, member) <= size - member.compress_size


def _data_start(raw: Any, member: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin; 0: nothing begins where the directory says."""
    raw.seek(member.header_offset)
    head = raw.read(_LOCAL_HEADER.size)
    if len(head) < _LOCAL_HEADER.size:
        return 0
    magic, name, extra = _LOCAL_HEADER.unpack(head)
    return member.header_offset + len(head) + name + extra if magic == _LOCAL_MAGIC else 0


def archives_in(members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The web archives among the members.

    Raises:
        PackageError: There is none.
    """
    chosen = [member for member in members if member.filename.startswith("archive/") and _forms(member)]
    if not chosen:
        inner = next((member.filename for member in members if member.filename.lower().endswith(".wacz")), None)
        raise PackageError(
            "it holds no archive/*.warc.gz" + (f", but {inner}: unpack it, and give that" if inner else "")
        )
    return chosen


def form_of(archive: zipfile.ZipInfo) -> ArchiveForm:
    """WARC or ARC, of a member that is one of the two."""
    return _forms(archive)[0]


def _forms(member: zipfile.ZipInfo) -> list[ArchiveForm]:
    """What its name says that it is; nothing for what is no archive."""
    return [form for suffix, form in _FORMS.items() if member.filename.lower().endswith(suffix)]


def _pieces(path: str, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The bytes of a member. Of what is stored all: archives know by themselves what is damaged in them."""
    if member.compress_type == zipfile.ZIP_STORED:
        with Path(path).open("rb") as raw:
            raw.seek(_data_start(raw, member))
            left = member.file_size
            while left and (piece := raw.read(min(left, _CHUNK))):
                left -= len(piece)
                yield piece
        return
    try:
        with zipfile.ZipFile(path) as package, package.open(member) as inflated:
            while piece := inflated.read(_CHUNK):
                yield piece
    except (zipfile.BadZipFile, EOFError, OSError, zlib.error) as error:
        raise PackageError(f"its member {member.filename!r} is damaged: {error}") from error


def check(path: str, member: zipfile.ZipInfo) -> None:
    """Read a deflated member to its end.

    Raises:
        PackageError: It is damaged.
    """
    if member.compress_type == zipfile.ZIP_DEFLATED:
        for _ in _pieces(path, member):
            pass


def read(path: str, member: zipfile.ZipInfo) -> bytes:
    """A member, as a whole."""
    return b"".join(_pieces(path, member))


@contextlib.contextmanager
def spooled(path: str, member: zipfile.ZipInfo) -> Iterator[str]:
    """A temporary file that holds a member."""
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        for piece in _pieces(path, member):
            spool.write(piece)
        spool.flush()
        yield spool.name
