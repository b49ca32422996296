"""Compressed members of an archive: where they begin, what is in them, and where they break off.

1. A member may hold one record, several, or a piece of one: nothing here goes by records but by their beginnings.
2. What cannot be decompressed raises `BrokenError` with the offset of its member; what comes before it was given.
"""

import contextlib
import mmap
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.files.compressions import Compression
from nearsame.named import NamedTuple

__all__ = [
    "ARC",
    "STARTS",
    "WARC",
    "ArchiveForm",
    "BrokenError",
    "Member",
    "Plain",
    "begins_member",
    "begins_record",
    "first_bytes",
    "first_frame",
    "mapped",
    "member_end",
    "members",
    "needs_dictionary",
    "next_member",
    "next_start",
    "only_zeros",
    "packing",
    "unread",
]

ArchiveForm = Literal[".arc", ".warc"]
ARC: ArchiveForm = ".arc"
WARC: ArchiveForm = ".warc"
STARTS: dict[ArchiveForm, re.Pattern[bytes]] = {
    WARC: re.compile(rb"(?:\A|(?<=\n))WARC/\d\.\d+\r{0,2}\n"),
    ARC: re.compile(rb"(?:\A|(?<=\n))[a-z][a-z0-9+.-]*:[^\n]*? \d{12,14}(?: [^\n]*)? \d+\r{0,2}\n"),
}

_MAGIC: dict[bytes, Compression] = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_SKIPPED, _SKIPPED_FIRST = b"\x2a\x4d\x18", 5  # a member without data, and the first half of the byte before that
_DICTIONARY = b"\x5d" + _SKIPPED  # one that is a dictionary for those behind it
_ARC_FIELDS_MOST = 16 << 10
_CHUNK = 256 << 10
_HEADERS_MOST = 64 << 10
_STEP = 64
_HEAD = 4096  # bytes in which a record's first line stands


class Member(NamedTuple):
    """A compressed member, or a stretch that holds one that cannot be decompressed, and what follows it."""

    start: int
    end: int
    data_start: int  # of what is decompressed
    data_end: int
    is_broken: bool = False


class BrokenError(Exception):
    """No record can be read here."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.offset = offset  # of the compressed member


def first_frame(data: Any) -> int:
    """Where the first member begins that is not to be skipped: zstd and lz4 may have others before it."""
    at = 0
    while data[at + 1 : at + 4] == _SKIPPED and data[at] >> 4 == _SKIPPED_FIRST:
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    return at if at <= len(data) else 0


def needs_dictionary(data: Any) -> bool:
    """Whether zstd has compressed the members with a dictionary: before them, as in archives, or elsewhere."""
    at = first_frame(data)
    is_zstd = data[at : at + 4] == _magic("zstd")
    return bool(data[:4] == _DICTIONARY or (is_zstd and len(data) > at + 4 and data[at + 4] & 3))


def packing(data: Any, form: ArchiveForm) -> Compression | None:
    """How members are compressed; told by the first that begins a record where the very first bytes are damaged."""
    at = first_frame(data)
    if not len(data) or STARTS[form].match(data[at : at + (1 << 16)].lstrip(b"\r\n")):
        return None
    for magic, name in _MAGIC.items():
        if data[at : at + len(magic)] == magic:
            return name
    damaged = next((name for name in _MAGIC.values() if next_start(data, name, form, 0) is not None), None)
    return None if STARTS[form].search(data) else damaged


def unread(data: Any, packed: Compression, start: int) -> tuple[int, str]:
    """The first compressed member from a start on that breaks off, and how; the end of all where none does."""
    try:
        if packed == "gzip":
            for _ in Plain.pieces(data, start):
                pass
        else:
            with pa.CompressedInputStream(pa.BufferReader(memoryview(data)[start:]), packed) as stream:
                while stream.read(_CHUNK):
                    pass
    except BrokenError as error:
        return error.offset, str(error)
    except (OSError, pa.ArrowException) as error:
        return start, str(error)
    return len(data), ""


def next_start(data: Any, packed: Compression | None, form: ArchiveForm, after: int) -> int | None:
    """Where the next record may begin; a false one is found out by reading it, at the cost of another search."""
    if packed is None:
        match = STARTS[form].search(data, max(after - 1, 0))
        if match is not None and match.start() < after:
            match = STARTS[form].search(data, after)
        return None if match is None else match.start()
    while (at := data.find(_magic(packed), after)) >= 0:
        if begins_record(data, packed, form, at):
            return int(at)
        after = at + 1
    return None


def next_member(data: Any, packed: Compression, after: int) -> int:
    """Where the next member may begin; the end of all where none does."""
    offset = data.find(_magic(packed), after)
    return int(offset) if offset >= 0 else len(data)


def begins_member(data: Any, packed: Compression, at: int) -> bool:
    """Whether bytes at a place look like the beginning of a compressed member."""
    return bool(data[at : at + len(_magic(packed))] == _magic(packed))


def _magic(packed: Compression) -> bytes:
    return next(magic for magic, name in _MAGIC.items() if name == packed)


def begins_record(data: Any, packed: Compression, form: ArchiveForm, at: int) -> bool:
    """Whether a compressed member that begins here holds the beginning of a record, as far as gzip can tell."""
    return packed != "gzip" or bool(STARTS[form].match(first_bytes(data, packed, at).lstrip(b"\r\n")))


def first_bytes(data: Any, packed: Compression | None, at: int) -> bytes:
    """The first line from an offset on, or more, decompressed; nothing where no member begins there."""
    some = data[at : at + _HEAD]
    if packed is None:
        return bytes(some)
    head = bytearray()
    with contextlib.suppress(zlib.error, OSError, pa.ArrowException):
        if packed == "gzip":
            return zlib.decompressobj(31).decompress(some, _HEAD)
        with pa.CompressedInputStream(pa.BufferReader(memoryview(data)[at:]), packed) as stream:
            while len(head) < _HEAD and b"\n" not in head.lstrip(b"\r\n") and (piece := stream.read(_STEP)):
                head += piece  # in steps, since what is read beside damage is lost with it
    return bytes(head)


def members(data: Any, form: ArchiveForm, out: Any) -> list[Member]:
    """The gzip members of a file, what is in them written to `out`; behind damage, from the next record on."""
    all_members: list[Member] = []
    start: int | None = 0
    while start is not None:
        begun, since = start, out.tell()
        start, behind, is_broken = None, len(data), False
        try:
            for member, piece in Plain.pieces(data, begun):
                if member != begun:
                    all_members.append(Member(begun, member, since, out.tell()))
                    begun, since = member, out.tell()
                out.write(piece)
        except BrokenError as error:
            start = next_start(data, "gzip", form, error.offset + 1)
            behind, is_broken = len(data) if start is None else start, True
            if error.offset != begun:
                all_members.append(Member(begun, error.offset, since, out.tell()))
                begun, since = error.offset, out.tell()
        all_members.append(Member(begun, behind, since, out.tell(), is_broken))
    return all_members


def member_end(data: Any, start: int, length: int, ending: re.Pattern[bytes]) -> int | None:
    """The byte behind a gzip member that holds one record of this length and nothing else; None if it does not."""
    size, tail, head, consumed = 0, b"", b"", start
    decoder = zlib.decompressobj(31)
    try:
        while not decoder.eof and consumed < len(data):
            piece = data[consumed : consumed + _CHUNK]
            consumed += len(piece)
            while piece and (out := decoder.decompress(piece, _CHUNK)):
                size, tail = size + len(out), (tail + out)[-8:]
                head = head if len(head) > _HEADERS_MOST else head + out
                piece = decoder.unconsumed_tail
    except zlib.error:
        return None
    begins = len(head) - len(head.lstrip(b"\r\n"))
    header = ending.search(head, begins)
    behind = -1 if header is None else size - header.end() - length
    whole = decoder.eof and 0 <= behind <= len(b"\r\n\r\n") and not tail[len(tail) - behind :].strip(b"\r\n")
    return consumed - len(decoder.unused_data) if whole else None


def only_zeros(data: Any, at: int, start: int) -> bool:
    """Whether nothing but zeros follows what was read: gzip passes over them."""
    return at > start and data[at : at + 1] == b"\0" and not data[at:].strip(b"\0")


@contextlib.contextmanager
def mapped(path: str) -> Iterator[Any]:
    """The bytes of a file, read as they are needed."""
    try:
        raw = Path(path).open("rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        raise SourceError(f"{path} is gone", hint="Run again when nothing writes there any more.") from None
    with raw:
        if not raw.seek(0, 2):
            yield b""
            return
        with mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


class Plain:
    """The decompressed bytes of a file from an offset on, and where what is being read began."""

    def __init__(self, data: Any, packed: Compression | None, start: int) -> None:
        self.began = start  # of the last line that was read: its own offset, or that of its compressed member
        self.missing = 0  # bytes that the last `take` did not find
        self._packed = packed is not None
        self._pieces = self.pieces(data, start) if packed else self._slices(data, start)
        self._buffer = b""
        self._at = start  # of the buffer's first byte

    def line(self) -> bytes:
        """The next line, with its end; nothing at the end of all."""
        while b"\n" not in self._buffer:
            if len(self._buffer) > _ARC_FIELDS_MOST or not self._more():
                break
        self.began = self._at
        end = self._buffer.find(b"\n") + 1 or len(self._buffer)
        return self._cut(end)

    def take(self, length: int, most: int) -> bytes:
        """So many bytes are read; so many of them at most are held."""
        held: list[bytes] = []
        size = 0
        while length:
            if not self._buffer and not self._more():
                break
            piece = self._cut(min(length, len(self._buffer)))
            length -= len(piece)
            if size < most:
                held.append(piece[: most - size])
                size += len(held[-1])
        self.missing = length
        return b"".join(held)

    def _cut(self, size: int) -> bytes:
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        self._at += 0 if self._packed else size
        return piece

    def _more(self) -> bool:
        pair = next(self._pieces, None)
        if pair is None:
            return False
        offset, piece = pair
        if not self._buffer:
            self._at = offset
        self._buffer += piece
        return True

    @staticmethod
    def _slices(data: Any, start: int) -> Iterator[tuple[int, bytes]]:
        for at in range(start, len(data), _CHUNK):
            yield at, data[at : at + _CHUNK]

    @staticmethod
    def pieces(data: Any, start: int) -> Iterator[tuple[int, bytes]]:
        """Decompressed pieces, each with the offset of its member."""
        at = start
        while at < len(data) and not only_zeros(data, at, start):
            decoder, member = zlib.decompressobj(31), at
            while not decoder.eof and at < len(data):
                piece = data[at : at + _CHUNK]
                at += len(piece)
                try:
                    out = decoder.decompress(piece, _CHUNK)
                    while out:
                        yield member, out
                        out = b"" if decoder.eof else decoder.decompress(decoder.unconsumed_tail, _CHUNK)
                except zlib.error as error:
                    raise BrokenError(str(error), member) from None
            at -= len(decoder.unused_data)
            if not decoder.eof:
                raise BrokenError("the compressed data break off", member)
