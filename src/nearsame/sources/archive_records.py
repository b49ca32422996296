"""Single records of an archive, as they stand there: their bytes taken out, and others put into their place.

1. Only files whose records have a member each, or that are not compressed by members, have records of their own.
2. A record of more than MAX_RECORD bytes is not held, and stays as it is.
"""

import gzip
import itertools
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.files.compressions import Compression
from nearsame.sources.archive_copies import RecordPlace, are_apart, pour
from nearsame.sources.archives import DAMAGE
from nearsame.sources.base import MAX_RECORD
from nearsame.sources.members import ArchiveForm, mapped, packing
from nearsame.sources.streams import sink

__all__ = ["copy_replacing", "have_records", "raw_records"]


def have_records(path: str, form: ArchiveForm, places: Sequence[RecordPlace]) -> bool:
    """Whether all records are whole, and can be taken one by one."""
    with mapped(path) as data:
        packed = packing(data, form)
        return all(place.kind != DAMAGE for place in places) and (
            packed is None or are_apart(data, packed, form, places)
        )


def raw_records(
    path: str, form: ArchiveForm, places: Sequence[RecordPlace], wanted: Collection[int]
) -> Iterator[tuple[int, bytes]]:
    """The bytes of some records, decompressed; those that are too long are left out."""
    with mapped(path) as data:
        packed = packing(data, form)
        ends = [*(place.offset for place in places[1:]), len(data)]
        for position in sorted(wanted):
            record = _inflated(data, places[position].offset, ends[position], packed)
            if record is not None:
                yield position, record


def _inflated(data: Any, start: int, end: int, packed: Compression | None) -> bytes | None:
    """What stands between two places, decompressed; None: it is too long, or not all of it can be."""
    if end - start > MAX_RECORD:
        return None
    some = bytes(data[start:end])
    if packed is None:
        return some
    try:
        if packed == "gzip":
            decoder = zlib.decompressobj(31)
            plain = decoder.decompress(some, MAX_RECORD + 1)
            return plain if decoder.eof and not decoder.unused_data and len(plain) <= MAX_RECORD else None
        with pa.CompressedInputStream(pa.BufferReader(some), packed) as stream:
            plain = bytes(stream.read(MAX_RECORD + 1))
            return plain if len(plain) <= MAX_RECORD else None
    except (zlib.error, OSError, pa.ArrowException):
        return None


def copy_replacing(  # noqa: PLR0913, PLR0917  (what is copied, with what in its place, whereto, how it is packed)
    path: str,
    form: ArchiveForm,
    places: Sequence[RecordPlace],
    replaced: Mapping[int, Callable[[bytes], bytes]],
    target: Path,
    compression: Compression | None,
) -> None:
    """Write all records, some of them as others, which are made of their bytes."""
    with mapped(path) as data, sink(target, compression) as out:
        packed = packing(data, form)
        offsets = [0, *(place.offset for place in places[1:]), len(data)]
        for position, (start, end) in enumerate(itertools.pairwise(offsets)):
            if position not in replaced:
                pour(data, start, end, out)
                continue
            raw = _inflated(data, start, end, packed)
            if raw is None:
                message = f"record {position} of {path} shares a compressed member with others, or is damaged"
                raise SourceError(message, hint="Decompress the archive, and give it without compression.")
            out.write(_packed(replaced[position](raw), packed))


def _packed(raw: bytes, packed: Compression | None) -> bytes:
    if packed is None:
        return raw
    return gzip.compress(raw, 6, mtime=0) if packed == "gzip" else bytes(pa.compress(raw, packed, asbytes=True))
