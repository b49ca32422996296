"""Records of web archives, each with its place: WARC by FastWARC, ARC by hand (FastWARC reads none).

1. What is damaged comes as a record of kind DAMAGE with its offset, and the reading goes on at the next record that
   can be found: the next compressed member, or the next line that begins a record, also inside a shared member.
2. A record is whole when what follows it begins another: a wrong Content-Length is damage, never part of a text.
3. Of a block at most `most` bytes are held, whatever it inflates to.
4. The same file gives the same records and offsets, however often it is walked: copies are made by them.
"""

import contextlib
import itertools
import mmap
import re
import tempfile
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from nearsame.errors import MissingExtraError
from nearsame.sources.files import File, is_url
from nearsame.sources.streams import BrokenStreamError, chunks

__all__ = ["ARC", "DAMAGE", "WARC", "Archived", "local", "walk"]

ARC, WARC = ".arc", ".warc"
DAMAGE = "damage"

_MAGIC = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_STARTS = {
    WARC: re.compile(rb"(?:\A|(?<=\n))WARC/\d\.\d+\r?\n"),
    ARC: re.compile(rb"(?:\A|(?<=\n))[a-z][a-z0-9+.-]*:[^\n]*? \d{12,14} [^\n]* \d+\r?\n"),
}
_HEADS = {WARC: re.compile(rb"\r?\n\r?\n"), ARC: re.compile(rb"\n")}
_ARC_HEADER = re.compile(rb"(.+?) (\S*) (\d{12,14}) (\S+)(?: .*)? (\d+)\s*\Z", re.DOTALL)
_ARC_FIELDS_MOST = 16 << 10
_CHUNK = 256 << 10
_HEADERS_MOST = 64 << 10
_MOST_SHARED, _MOST_RATIO = 64 << 20, 32  # bytes, and times the file's, that a shared member is inflated to


class Archived(NamedTuple):
    """A record, or a damaged stretch."""

    offset: int  # in the file as it is stored; several records of one compressed member share its offset
    kind: str  # the record's type in lower case, or DAMAGE
    headers: dict[str, str]  # names in lower case, those of WARC also for ARC
    block: bytes  # at most so many bytes as were asked for
    length: int  # as the record says it
    reason: str = ""  # of damage


_Stretch = Generator[Archived, None, int | None]  # returns where the next stretch begins


class _BrokenError(Exception):
    """No record can be read here."""

    def __init__(self, reason: str, offset: int = 0) -> None:
        super().__init__(reason)
        self.offset = offset  # of the compressed member


@contextlib.contextmanager
def local(file: File, compression: str | None = None, broken: list[str] | None = None) -> Iterator[str]:
    """The path of a file on this machine; a temporary copy where it is elsewhere, or to be decompressed first.

    Args:
        file: The file.
        compression: What is to be undone.
        broken: Gets the reason where it cannot be undone to the end: then what comes before stands in the copy.

    Raises:
        BrokenStreamError: Nothing of it can be decompressed.
    """
    if compression is None and not is_url(file.url):
        yield file.url
        return
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        try:
            for piece in chunks(file, compression):
                spool.write(piece)
        except BrokenStreamError as error:
            if not spool.tell():
                raise
            if broken is not None:
                broken.append(str(error))
        spool.flush()
        yield spool.name


def walk(path: str, form: str, most: int) -> Iterator[Archived]:
    """The records of a file.

    Args:
        path: Where it is.
        form: WARC or ARC.
        most: Bytes to hold of a block.
    """
    number, before, last = 0, -1, None
    with _mapped(path) as data:
        packed = _packing(data, form)
        for record in _stretches(path, data, packed, form, most):
            number, before, last = number + 1, -1 if last is None else last.offset, record
            yield record
        if last is None or last.kind != DAMAGE or packed != "gzip":
            return
        if number == 1 or last.offset == before or not _begins_record(data, packed, form, last.offset):
            yield from _behind(last, number, data, form, most)


def _stretches(path: str, data: Any, packed: str | None, form: str, most: int) -> Iterator[Archived]:
    """The records of a file, from one damage to the next."""
    records = _warc if form == WARC else _arc
    start: int | None = 0 if len(data) else None
    while start is not None:
        start = yield from _run(data, records(path, data, packed, start, most), packed, form, start)


def _behind(last: Archived, number: int, data: Any, form: str, most: int) -> Iterator[Archived]:
    """What stands behind a damaged record in a member that several records share; found in a decompressed copy."""
    with tempfile.NamedTemporaryFile(prefix="nearsame-") as spool:
        left = _MOST_SHARED + _MOST_RATIO * len(data)
        with contextlib.suppress(_BrokenError):
            for _, piece in _Plain.pieces(data, 0):
                spool.write(piece[:left])
                left -= len(piece)
                if left <= 0:
                    break  # a bomb, not an archive
        spool.flush()
        for record in itertools.islice(walk(spool.name, form, most), number, None):
            yield record._replace(offset=last.offset)


def _packing(data: Any, form: str) -> str | None:
    """How members are compressed; told by the first that begins a record where the very first bytes are damaged."""
    if not len(data) or _STARTS[form].match(data[: 1 << 16].lstrip(b"\r\n")):
        return None
    for magic, name in _MAGIC.items():
        if data[: len(magic)] == magic:
            return name
    damaged = next((name for name in _MAGIC.values() if _next_start(data, name, form, 0) is not None), None)
    return None if _STARTS[form].search(data) else damaged


def _run(data: Any, records: Iterator[Archived], packed: str | None, form: str, start: int) -> _Stretch:
    """The records from a start on; where they break off, the damage, and where to begin again."""
    last, reason = yield from _but_the_last(records)
    if last is not None and last.kind == DAMAGE and not reason:
        yield last
        return _next_start(data, packed, form, last.offset + 1)
    begins: int | None = start
    if last is not None:
        if reason or packed is None:
            begins, said = _end(data, packed, form, last), f"its Content-Length of {last.length:,} is not where it ends"
        else:
            shared = last.offset >= len(data)  # records that share a member may have its end for a place
            begins, said = _unread(data, packed, start if shared else last.offset)
        if begins is None or (said and begins == last.offset):
            yield last._replace(kind=DAMAGE, block=b"", reason=said)
            return _next_start(data, packed, form, last.offset + 1)
        yield last
        reason = reason or ("" if packed is None else said)
    if begins is None or not data[begins : begins + _HEADERS_MOST].strip(b"\r\n") or _only_zeros(data, begins, start):
        return None
    yield Archived(begins, DAMAGE, {}, b"", 0, reason or "no record begins here")
    return _next_start(data, packed, form, begins + 1)


def _unread(data: Any, packed: str, start: int) -> tuple[int, str]:
    """The first compressed member from a start on that breaks off, and how; the end of all where none does."""
    try:
        if packed == "gzip":
            for _ in _Plain.pieces(data, start):
                pass
        else:
            with pa.CompressedInputStream(pa.BufferReader(memoryview(data)[start:]), packed) as stream:
                while stream.read(_CHUNK):
                    pass
    except _BrokenError as error:
        return error.offset, str(error)
    except (OSError, pa.ArrowException) as error:
        return start, str(error)
    return len(data), ""


def _but_the_last(records: Iterator[Archived]) -> Generator[Archived, None, tuple[Archived | None, str]]:
    """The records before the last; returns that (or the first that is damaged), and why no more can be read."""
    last: Archived | None = None
    try:
        for record in records:
            if last is not None:
                yield last
            last = record
            if record.kind == DAMAGE:
                break
    except (_BrokenError, OSError, ValueError) as error:
        return last, str(error) or type(error).__name__
    return last, ""


def _next_start(data: Any, packed: str | None, form: str, after: int) -> int | None:
    """Where the next record may begin; a false one is found out by reading it, at the cost of another search."""
    if packed is None:
        found = _STARTS[form].search(data, max(after - 1, 0))
        if found is not None and found.start() < after:
            found = _STARTS[form].search(data, after)
        return None if found is None else found.start()
    magic = next(magic for magic, name in _MAGIC.items() if name == packed)
    while (at := data.find(magic, after)) >= 0:
        if _begins_record(data, packed, form, at):
            return int(at)
        after = at + 1
    return None


def _begins_record(data: Any, packed: str, form: str, at: int) -> bool:
    """Whether a compressed member that begins here holds the beginning of a record."""
    if packed != "gzip":
        return True
    try:
        head = zlib.decompressobj(31).decompress(data[at : at + 4096], 4096)
    except zlib.error:
        return False
    return bool(_STARTS[form].match(head.lstrip(b"\r\n")))


def _end(data: Any, packed: str | None, form: str, last: Archived) -> int | None:
    """The byte behind a record that was read without complaint; None if it is not where its length says."""
    if packed is None:
        head = _HEADS[form].search(data, last.offset)
        behind = 0 if head is None else head.end() + last.length
        ending = data[behind : behind + (1 if form == ARC else 4)]  # as far as the file goes
        whole = head is not None and behind <= len(data) and not ending.strip(b"\r\n")
        return behind + len(ending) if whole else None
    if packed != "gzip":
        behind = data.find(next(magic for magic, name in _MAGIC.items() if name == packed), last.offset + 1)
        return behind if behind >= 0 else len(data)
    return _member_end(data, last, b"\n" if form == ARC else b"\r\n\r\n")


def _member_end(data: Any, last: Archived, ending: bytes) -> int | None:
    """The same for a gzip member, which holds one record and nothing else."""
    size, tail, head, consumed = 0, b"", b"", last.offset
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
    behind = size - head.find(ending, begins) - len(ending) - last.length
    whole = decoder.eof and 0 <= behind <= len(b"\r\n\r\n") and not tail[len(tail) - behind :].strip(b"\r\n")
    return consumed - len(decoder.unused_data) if whole else None


def _only_zeros(data: Any, at: int, start: int) -> bool:
    """Whether nothing but zeros follows what was read: gzip passes over them."""
    return at > start and data[at : at + 1] == b"\0" and not data[at:].strip(b"\0")


@contextlib.contextmanager
def _mapped(path: str) -> Iterator[Any]:
    """The bytes of a file, read as they are needed."""
    with Path(path).open("rb") as raw:
        if not raw.seek(0, 2):
            yield b""
            return
        with mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def _warc(path: str, data: Any, packed: str | None, start: int, most: int) -> Iterator[Archived]:
    """The records of a WARC file from an offset on, as FastWARC reads them, and what it passes over as damage."""
    iterator = _fastwarc().ArchiveIterator
    quirks = packed is None and b"\r" not in data[start : start + 80].partition(b"\n")[0]
    behind = start  # the record before, where the file is not compressed
    with Path(path).open("rb") as raw:
        raw.seek(start)
        for record in iterator(path if start == 0 else raw, parse_http=False, quirks_mode=quirks):
            headers: dict[str, str] = {}
            for name, value in record.headers.items():
                headers.setdefault(name.lower(), value)
            block = record.reader.read(most)
            found = Archived(
                record.stream_pos, headers.get("warc-type", "unknown").lower(), headers, block, record.content_length
            )
            if "content-length" not in headers:
                reason = "its header breaks off, or says no Content-Length"
                found = found._replace(kind=DAMAGE, block=b"", reason=reason)
            elif len(block) < min(most, found.length):
                reason = f"breaks off after {len(block):,} of {found.length:,} bytes"
                found = found._replace(kind=DAMAGE, block=b"", reason=reason)
            if packed is None:
                if data[behind : found.offset].strip(b"\r\n"):
                    yield Archived(behind, DAMAGE, {}, b"", 0, "no record begins here")
                head = _HEADS[WARC].search(data, found.offset)
                behind = found.offset if head is None else head.end() + found.length
            yield found


def _fastwarc() -> Any:
    try:
        from fastwarc import warc  # noqa: PLC0415  (an optional package)
    except ImportError as error:
        raise MissingExtraError.of("fastwarc is not installed", "web") from error
    return warc


def _arc(path: str, data: Any, packed: str | None, start: int, most: int) -> Iterator[Archived]:  # noqa: ARG001  (as for WARC)
    """The records of an ARC file from an offset on."""
    plain = _Plain(data, packed, start)
    while True:
        line = plain.line()
        while line in {b"\n", b"\r\n"}:
            line = plain.line()
        if not line:
            return
        found = _ARC_HEADER.match(line)
        if found is None:
            raise _BrokenError(f"no header of a record: {line[:40].decode('utf-8', 'replace')!r}")
        offset, length = plain.began, int(found[5])
        block = plain.take(length, most)
        url, date = found[1].decode("utf-8", "replace"), found[3].decode()
        kind = "warcinfo" if url.startswith("filedesc:") else "response" if block.startswith(b"HTTP/") else "resource"
        headers = {
            "warc-target-uri": url,
            "warc-date": f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[8:10]}:{date[10:12]}:{date[12:14] or '00'}Z",
            "content-type": found[4].decode("utf-8", "replace"),
        }
        if plain.missing:
            reason = f"breaks off after {length - plain.missing:,} of {length:,} bytes"
            yield Archived(offset, DAMAGE, headers, b"", length, reason)
            return
        yield Archived(offset, kind, headers, block, length)


class _Plain:
    """The decompressed bytes of a file from an offset on, and where what is being read began."""

    def __init__(self, data: Any, packed: str | None, start: int) -> None:
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
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        self._at += 0 if self._packed else size
        return found

    def _more(self) -> bool:
        found = next(self._pieces, None)
        if found is None:
            return False
        offset, piece = found
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
        while at < len(data) and not _only_zeros(data, at, start):
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
                    raise _BrokenError(str(error), member) from None
            at -= len(decoder.unused_data)
            if not decoder.eof:
                raise _BrokenError("the compressed data break off", member)
