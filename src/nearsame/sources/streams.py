"""Bytes in and out: compression, and blocks that end where records do.

1. A stream that breaks off gives up everything before the break, then says why (`BrokenStreamError`).
2. A block holds whole records. One that is longer than a bound is not held: its bytes go past in pieces (`Passing`).
3. What is between records (blank lines) belongs to a block's data and to no record: copies keep it.
"""

import contextlib
import itertools
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.errors import NearSameError, OutputError
from nearsame.files.compressions import MOST_MAGIC, Compression, begins_as, compressor
from nearsame.files.ending import opened
from nearsame.files.systems import BrokenStreamError, File, is_url, mishaps
from nearsame.named import NamedTuple
from nearsame.sources.base import BATCH_BYTES, MAX_RECORD, Skipped

__all__ = [
    "Block",
    "BrokenStreamError",
    "Passing",
    "RecordSpans",
    "begun",
    "blocks",
    "chunks",
    "copy_raw",
    "looks_compressed",
    "seekable",
    "sink",
    "unread_rest",
    "unused",
    "with_edits",
    "without_bom",
    "without_removed",
]

_RAW_CHUNK = 4 << 20
_CHUNK = 256 << 10  # of decompressed bytes: also what is read again, byte by byte, before a break
_BOM = b"\xef\xbb\xbf"


class RecordSpans(NamedTuple):
    """Where the whole records of some bytes are."""

    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]  # after the line end
    lines: npt.NDArray[np.int64]  # of each record's start, from 0
    num_lines: int  # in the consumed bytes
    consumed: int  # the bytes up to the end of the last whole record, or of the last blank line
    num_fields: npt.NDArray[np.int64] | None = None  # where a record has fields; -1: a quote never closed


_ONE = RecordSpans(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64), 0, 0)
_NO_RECORDS = RecordSpans(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), 0, 0)


class Block(NamedTuple):
    """Some whole records of a stream, as they stand there."""

    data: memoryview
    records: RecordSpans
    position: int  # of the first record
    line: int  # 1-based, of the first byte
    tail: bytes = b""  # the partial record before a break
    broken: str = ""  # why the stream ends here
    passing: "Passing | None" = None  # the one record of the block, where it is too long to be held

    def raw(self, index: int) -> bytes:
        """The bytes of a record, its line end included."""
        return bytes(self.data[self.records.starts[index] : self.records.ends[index]])

    def line_of(self, index: int) -> int:
        """The 1-based line on which a record starts."""
        return int(self.records.lines[index]) + self.line


def chunks(file: File, compression: Compression | None) -> Iterator[bytes]:
    """The decompressed bytes of a file, in pieces."""
    with mishaps(file.url):
        if compression is not None and compression != "xz":
            yield from _arrow_codec(file, compression)
            return
        with file.open() as raw:
            yield from _xz(raw) if compression == "xz" else iter(lambda: raw.read(_RAW_CHUNK), b"")


def begun(stream: Iterator[bytes]) -> Iterator[bytes]:
    """The same stream, read up to its first byte: where it breaks before, BrokenStreamError comes at once."""
    return itertools.chain([next(filter(None, stream), b"")], stream)


def looks_compressed(file: File, compression: Compression | None) -> bool:
    """Whether a file begins as its compression demands, as far as it goes."""
    if compression is None:
        return True
    with file.open() as raw:
        return begins_as(raw.read(MOST_MAGIC), compression)


def _arrow_codec(file: File, codec: Compression) -> Iterator[bytes]:
    done = 0
    with file.open() as raw, pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec) as stream:
        try:
            while piece := stream.read(_CHUNK):
                done += len(piece)
                yield piece
        except NearSameError:
            raise
        except (OSError, pa.ArrowException) as error:
            reason = str(error)
        else:
            return
    yield _before_break(file, codec, done)
    if codec == "gzip" and _ends_in_zeros(file):
        return
    raise BrokenStreamError(reason)


def _before_break(file: File, codec: Compression, done: int) -> bytes:
    """What a failed read had decompressed and dropped: read again, a byte at a time."""
    dropped = bytearray()
    with file.open() as raw, pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), codec) as stream:
        while done:
            done -= len(stream.read(min(done, _CHUNK)))
        with contextlib.suppress(OSError, pa.ArrowException):
            while byte := stream.read(1):
                dropped += byte
    return bytes(dropped)


def _ends_in_zeros(file: File) -> bool:
    """Whether zeros alone follow a gzip member, as on a tape: gzip itself passes over them."""
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    with file.open() as raw:
        while piece := raw.read(_CHUNK):
            while piece:
                if decoder.eof and piece[:1] == b"\0":
                    rest = itertools.chain([piece], iter(lambda: raw.read(_CHUNK), b""))
                    return not any(chunk.strip(b"\0") for chunk in rest)
                decoder = zlib.decompressobj(zlib.MAX_WBITS | 16) if decoder.eof else decoder
                try:
                    decoder.decompress(piece)
                except zlib.error:
                    return False
                piece = decoder.unused_data
    return False


def _xz(raw: Any) -> Iterator[bytes]:
    decoder = lzma.LZMADecompressor()
    begun = False
    while piece := raw.read(_CHUNK):
        while piece or not (decoder.needs_input or decoder.eof):
            if decoder.eof:
                piece = piece.lstrip(b"\0")  # padding between streams
                decoder = lzma.LZMADecompressor() if piece else decoder
                if not piece:
                    break
            begun = True
            try:
                out = decoder.decompress(piece, _CHUNK)
            except lzma.LZMAError as error:
                raise BrokenStreamError(str(error)) from None
            piece = decoder.unused_data if decoder.eof else b""
            yield out
    if begun and not decoder.eof:
        raise BrokenStreamError("Truncated compressed stream")


def without_bom(stream: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The byte order mark at the start, if there is one, and the rest."""
    head = b""
    broken: BrokenStreamError | None = None
    try:
        while len(head) < len(_BOM) and (piece := next(stream, None)) is not None:
            head += piece
    except BrokenStreamError as error:
        broken = error
    bom = _BOM if head.startswith(_BOM) else b""

    def rest() -> Iterator[bytes]:
        yield head[len(bom) :]
        if broken is not None:
            raise broken
        yield from stream

    return bom, rest()


class Passing:
    """A record that is too long to be held: `pieces` gives its bytes, once."""

    def __init__(self, begins: bytearray, stream: Iterator[bytes], past: "Past") -> None:
        self.head = bytes(begins[:64])
        self.size = 0  # bytes so far; the record's own once the pieces are through
        self.past = past
        self.rest = bytearray()  # what was read behind it
        self.ended = False  # the stream, not only the record
        self.broken = ""
        self.pieces = self._pieces(itertools.chain([begins], stream))

    def _pieces(self, stream: Iterator[bytes | bytearray]) -> Iterator[bytes | bytearray]:
        piece: bytes | bytearray | None = b""
        while not self.past.ended and piece is not None:
            try:
                piece = next(stream, None)
            except BrokenStreamError as error:
                piece, self.broken = None, str(error) or "Broken compressed stream"
            if piece is not None:
                own = self.past(piece)
                self.size += own
                self.rest = bytearray(piece[own:])
                yield piece if own == len(piece) else piece[:own]
        self.ended = piece is None

    def finish(self) -> None:
        """Let what nobody has asked for go past."""
        for _ in self.pieces:
            pass


class Past(Protocol):
    """Finds the end of a record that comes in pieces."""

    @property
    def ended(self) -> bool:
        """Whether its end was found."""

    @property
    def num_lines(self) -> int:
        """How many lines ended in it."""

    def __call__(self, piece: bytes | bytearray) -> int:
        """How many bytes of the piece belong to the record."""


def blocks(
    stream: Iterator[bytes],
    split: Callable[[bytes | bytearray, bool], RecordSpans],
    past: Callable[[], Past],
    most: int = MAX_RECORD,
) -> Iterator[Block]:
    """Blocks of about BATCH_BYTES that end with a record.

    Args:
        stream: The bytes.
        split: Called with some of them, and whether they are the last; finds the records.
        past: Makes what finds the end of a record that is longer than `most`.
        most: Bytes of a record that may be held.
    """
    data, wanted, position, line = bytearray(), BATCH_BYTES, 0, 1
    ended = False
    while not ended:
        ended, broken = _fill(data, stream, wanted)
        spans = split(data, ended and not broken)
        if not spans.consumed and not ended and len(data) <= most:
            wanted = min(2 * len(data), max(most, len(data)) + 1)  # doubled, so that the search stays linear
            continue
        if not spans.consumed and not ended:
            passing = Passing(data, stream, past())
            data = bytearray()
            yield Block(memoryview(b""), _ONE, position, line, passing=passing)
            passing.finish()
            position, line, data, ended = position + 1, line + passing.past.num_lines, passing.rest, passing.ended
            if passing.broken:
                yield Block(memoryview(b""), _NO_RECORDS, position, line, b"", passing.broken)
            continue
        whole, data, wanted = [data], data[spans.consumed :], BATCH_BYTES  # nothing here holds on to what was given
        yield Block(
            memoryview(whole.pop())[: spans.consumed], spans, position, line, bytes(data) if ended else b"", broken
        )
        position, line = position + len(spans.starts), line + spans.num_lines


def _fill(data: bytearray, stream: Iterator[bytes], wanted: int) -> tuple[bool, str]:
    """Read on until there is so much; whether the stream ends there, and why if it breaks."""
    try:
        while len(data) < wanted:
            piece = next(stream, None)
            if piece is None:
                return True, ""
            data += piece
    except BrokenStreamError as error:
        return True, str(error) or "Broken compressed stream"
    return False, ""


def unread_rest(block: Block, source: str) -> Skipped:
    """What to report for a stream that broke off after this block."""
    return Skipped(source, None, block.line + block.records.num_lines, f"unread from here on: {block.broken}")


def without_removed(
    block: Block, removed: npt.NDArray[np.int64], first: int
) -> Iterable[memoryview | bytes | bytearray]:
    """The bytes of a block but for the records whose positions are removed, as few runs."""
    if block.passing is not None:
        return () if first in removed else block.passing.pieces
    last = first + len(block.records.starts)
    low, high = np.searchsorted(removed, [first, last])
    runs: list[memoryview] = []
    at = 0
    for index in (removed[low:high] - first).tolist():
        start = int(block.records.starts[index])
        if start > at:
            runs.append(block.data[at:start])
        at = int(block.records.ends[index])
    runs.append(block.data[at:])
    return runs


def with_edits(
    block: Block, removed: npt.NDArray[np.int64], edit: Callable[[int, bytes], bytes], at: int = 0
) -> Iterator[memoryview | bytes]:
    """The bytes of a block from `at` on, but for the removed positions, with each record (by its index) edited."""
    low, high = np.searchsorted(removed, [block.position, block.position + len(block.records.starts)])
    gone = set((removed[low:high] - block.position).tolist())
    for index, (start, end) in enumerate(zip(block.records.starts.tolist(), block.records.ends.tolist(), strict=True)):
        yield block.data[at:start]
        if index not in gone:
            yield edit(index, block.raw(index))
        at = end
    yield block.data[at:]


@contextlib.contextmanager
def sink(target: Path, compression: Compression | None) -> Iterator[Any]:
    """A file to write to, with its folders made, compressed as asked."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened(target) as raw, compressor(raw, compression) as out:
            yield out
    except NearSameError:
        raise
    except OSError as error:
        raise OutputError.at(target, error) from error


def unused(path: Path) -> Path:
    """The path, or one with a number that no file has."""
    number, candidate = 1, path
    while candidate.exists():
        candidate, number = path.with_stem(f"{path.stem}-{number}"), number + 1
    return candidate


@contextlib.contextmanager
def seekable(file: File, compression: Compression | None) -> Iterator[Any]:
    """A file that formats with a footer can read: itself, or a temporary copy of what cannot seek.

    Raises:
        BrokenStreamError: It cannot be decompressed to its end.
    """
    if compression is None and not is_url(file.url):
        with mishaps(file.url), pa.OSFile(os.fsencode(file.url)) as source:
            yield source
        return
    with mishaps(file.url), contextlib.ExitStack() as stack:
        raw = stack.enter_context(file.open()) if compression is None else None
        if raw is None or not raw.seekable():
            spool = stack.enter_context(tempfile.TemporaryFile())
            _spool(file, compression, spool)
            raw = spool
        yield stack.enter_context(pa.PythonFile(raw, mode="r"))


def _spool(file: File, compression: Compression | None, spool: Any) -> None:
    for piece in chunks(file, compression):
        spool.write(piece)
    spool.seek(0)


def copy_raw(file: File, target: Path) -> None:
    """The file as it is."""
    with file.open() as raw, sink(target, None) as out:
        while piece := _piece(raw, file):
            out.write(piece)


def _piece(raw: Any, file: File) -> bytes:
    """The next bytes of a file; what fails here is the source, not what is written."""
    with mishaps(file.url):
        return bytes(raw.read(_RAW_CHUNK))
