"""How files are compressed: what their names end in, how they begin, and what compresses what is written."""

import bz2
import contextlib
import gzip
import lzma
from typing import Any, Literal

import pyarrow as pa

__all__ = ["COMPRESSIONS", "MAGIC", "MOST_MAGIC", "Compression", "begins_as", "compressor", "recognised"]

Compression = Literal["gzip", "zstd", "bz2", "xz", "lz4"]  # the last one of archives only

COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}
MAGIC: dict[Compression, bytes] = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "bz2": b"BZh", "xz": b"\xfd7zXZ\0"}
MOST_END = 11  # bytes at the end of bz2: a mark, a sum of 32 bits, and up to seven bits behind these
MOST_MAGIC = 10  # bytes that tell a compression from a text: of bz2 more than its three letters
_SKIPPABLE = b"\x2a\x4d\x18"  # a frame of zstd without data; the byte before it varies
_BLOCK, _NO_BLOCK = b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"  # what follows the level of bz2
_BEGINS: dict[Compression, tuple[bytes, ...]] = {
    "gzip": (MAGIC["gzip"] + b"\x08",),
    "zstd": (MAGIC["zstd"], *(bytes([first]) + _SKIPPABLE for first in range(0x50, 0x60))),
    "bz2": tuple(MAGIC["bz2"] + b"%d" % level + rest for level in range(1, 10) for rest in (_BLOCK, _NO_BLOCK)),
    "xz": (MAGIC["xz"],),
}


def recognised(head: bytes) -> Compression | None:
    r"""The compression of a stream that begins so; None if it is not compressed.

    Args:
        head: Its first `MOST_MAGIC` bytes, or all where it has fewer.

    Example:
        >>> recognised(b"\x1f\x8b\x08\0\0\0\0\0\0\0"), recognised(b"BZhang and")
        ('gzip', None)
    """
    return next((name for name, begins in _BEGINS.items() if head.startswith(begins)), None)


def ends_as(last: bytes, compression: Compression) -> bool:
    """Whether the last MOST_END bytes of a file can be its compression's, as far as their bits say: bz2 tells its end.

    >>> ends_as(bz2.compress(b"a")[-MOST_END:], "bz2"), ends_as(bz2.compress(b"a")[-MOST_END - 1 : -1], "bz2")
    (True, False)
    """
    bits = int.from_bytes(last)
    mark = int.from_bytes(_NO_BLOCK)
    return compression != "bz2" or any(bits >> (32 + pad) & (1 << 48) - 1 == mark for pad in range(8))


def begins_as(head: bytes, compression: Compression) -> bool:
    """Whether a file whose first bytes are these (MOST_MAGIC, or all of a shorter one) may be compressed so."""
    magic = MAGIC[compression]
    return magic.startswith(head[: len(magic)]) or (compression == "zstd" and head[1:4] == _SKIPPABLE)


def compressor(raw: Any, compression: Compression | None) -> Any:
    """What compresses, as asked, all that is written to it on its way to `raw`; a context."""
    match compression:
        case "gzip":  # no name and no time: the same documents give the same bytes
            return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0)
        case "bz2":
            return bz2.BZ2File(raw, "wb")
        case "xz":
            return lzma.LZMAFile(raw, "wb")
        case "zstd" | "lz4":
            return pa.CompressedOutputStream(pa.PythonFile(raw, mode="w"), compression)
        case None:
            return contextlib.nullcontext(raw)
