"""The decompressed bytes of a file, up to where it breaks off, and what lies behind its end."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import pyarrow as pa

__all__ = ["BROKEN_STREAM", "goes_on", "unpacked"]

BROKEN_STREAM = (EOFError, OSError, lzma.LZMAError, zlib.error, pa.ArrowException, ValueError)
_CHUNK = 1 << 20
_XZ_CHUNK = 256 << 10  # where a stream breaks off, what the last step has made is lost to everybody
_ZSTD = b"\x28\xb5\x2f\xfd"
_DECODERS: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(zlib.MAX_WBITS | 16),
    "bz2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}


def unpacked(opened: Callable[[], BinaryIO], compression: str) -> Iterator[bytes]:
    """What a file holds before it ends or breaks off.

    Raises:
        BROKEN_STREAM: It breaks off, or something else follows.
    """
    if compression == "xz":
        with opened() as file:
            yield from _xz(file)
        return
    done = 0
    try:
        with opened() as file, pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression) as stream:
            while chunk := stream.read(_CHUNK):
                done += len(chunk)
                yield bytes(chunk)
    except BROKEN_STREAM:
        yield _before_break(opened, compression, done)
        if compression != "gzip" or not _ends_in_zeros(opened):
            raise


def _before_break(opened: Callable[[], BinaryIO], compression: str, done: int) -> bytes:
    """What Arrow drops when it breaks off, since it has half done it: read byte by byte."""
    tail = bytearray()
    with opened() as file, pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression) as stream:
        while done:
            done -= len(stream.read(min(done, _CHUNK)))
        with suppress(*BROKEN_STREAM):
            while byte := stream.read(1):
                tail += byte
    return bytes(tail)


def _ends_in_zeros(opened: Callable[[], BinaryIO]) -> bool:
    """Whether a gzip member is whole, and zeros alone follow: they hold nothing."""
    decoder = _DECODERS["gzip"]()
    with opened() as file, suppress(zlib.error):
        while piece := file.read(_CHUNK):
            while piece:
                if decoder.eof and piece[0] == 0:
                    return not piece.strip(b"\0") and not any(rest.strip(b"\0") for rest in file)
                decoder = _DECODERS["gzip"]() if decoder.eof else decoder
                decoder.decompress(piece)
                piece = decoder.unused_data
    return False


def _xz(file: BinaryIO) -> Iterator[bytes]:
    """One stream after the other, with zeros between and behind them."""
    decoder = None
    while piece := file.read(_XZ_CHUNK):
        while piece or (decoder is not None and not (decoder.needs_input or decoder.eof)):
            if decoder is None or decoder.eof:
                piece = piece if decoder is None else piece.lstrip(b"\0")
                if not piece:
                    break
                decoder = lzma.LZMADecompressor()
            yield decoder.decompress(piece, _XZ_CHUNK)
            piece = decoder.unused_data if decoder.eof else b""
    if decoder is not None and not decoder.eof:
        raise EOFError("it ends before its compressed stream does")


def goes_on(file: BinaryIO, compression: str | None) -> bool:
    """Whether anything lies behind the first compressed stream of a file, be it empty; not of what is not a stream."""
    if compression == "zstd":
        return _zstd_goes_on(file)
    if compression not in _DECODERS:
        return False
    decoder = _DECODERS[compression]()
    while piece := file.read(_XZ_CHUNK):
        if decoder.eof:
            return True
        decoder.decompress(piece)
    return decoder.eof and bool(decoder.unused_data)


def _zstd_goes_on(file: BinaryIO) -> bool:
    """By the lengths of the blocks of the first frame, as RFC 8878 has them."""
    if file.read(4) != _ZSTD:
        return bool(file.read(1))
    descriptor = int.from_bytes(file.read(1), "little")
    is_single = bool(descriptor & 32)
    num_size = (int(is_single), 2, 4, 8)[descriptor >> 6]
    file.seek((not is_single) + (0, 1, 2, 4)[descriptor & 3] + num_size, 1)
    is_last = False
    while not is_last:
        block = file.read(3)
        if not block:
            return False  # cut off, which who decompresses it says
        head = int.from_bytes(block, "little")
        is_last, kind, size = bool(head & 1), head >> 1 & 3, head >> 3
        file.seek(1 if kind == 1 else size, 1)
    file.seek(4 if descriptor & 4 else 0, 1)
    return bool(file.read(1))
