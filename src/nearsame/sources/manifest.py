"""What a run read, as a table: by it `verify` finds the sources again, and sees whether they have changed.

1. A line for each part; of a folder of text files a line for each file.
2. Paths are bytes, as the system has them: a file may have a name that is not a text.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pyarrow as pa

from nearsame.files.systems import is_url
from nearsame.sources.base import Columns, Part
from nearsame.sources.folder import TextFolder
from nearsame.sources.lined import Lined
from nearsame.sources.parts import FilePart

__all__ = ["MANIFEST", "manifest"]

MANIFEST = pa.schema(
    [
        pa.field("part", pa.int32(), nullable=False),  # in the order of reading, the `against` side first
        pa.field("against", pa.bool_(), nullable=False),
        pa.field("source", pa.string(), nullable=False),  # as the other tables call it
        pa.field("target", pa.string(), nullable=False),  # its path below kept/; of the other side nothing is copied
        pa.field("format", pa.string(), nullable=False),
        pa.field("compression", pa.string()),
        pa.field("path", pa.binary()),  # absolute, or a URL; null: it was in memory, or came from standard input
        pa.field("file", pa.binary()),  # of a folder of text files: the path below it
        pa.field("size_bytes", pa.int64()),
        pa.field("mtime_ns", pa.int64()),
    ]
)
_KEY = b"nearsame"
# Only said where they are asked for: older outputs have none.
_NEW = ("against_text", "against_id", "encoding", "codes")


def manifest(  # noqa: PLR0913, PLR0917  (a part of the list each)
    parts: Sequence[Part],
    num_against: int,
    columns: Columns,
    written: dict[str, Any],
    num_ignored: int,
    call: Mapping[str, Any],
) -> pa.Table:
    """MANIFEST of some parts, of which the first `num_against` are the other side.

    Args:
        parts: All of them.
        num_against: How many are the `against` side.
        columns: What was read of them.
        written: How the output was written: annotated, copied, with or without what could not be read, with pairs.
        num_ignored: How many files of no known format were passed over.
        call: What was asked.
    """
    lines = [
        (number, number < num_against, part.name, "" if number < num_against else part.target, *line)
        for number, part in enumerate(parts)
        for line in _lines(part)
    ]
    values = list(zip(*lines, strict=True)) or [()] * len(MANIFEST)
    arrays = [pa.array(column, field.type) for column, field in zip(values, MANIFEST, strict=True)]
    read = asdict(replace(columns, room=None))
    for name in ("room", "may_lack", "exact"):  # of the machine, of a part, and of what was asked
        del read[name]
    read = {name: value for name, value in read.items() if value is not None or name not in _NEW}
    if columns.codes is None:
        del read["bits"], read["decimal"]
    codecs = {part.name: part.codec for part in parts if isinstance(part, Lined) and part.codec}
    encodings = {"encodings": codecs} if codecs else {}  # likewise
    known = {part.name: part.stamp for part in parts if isinstance(part, FilePart) and is_url(part.file.url)}
    tags = {"tags": known} if known and written.get("mask") else {}  # what servers tell a file by
    about = {"columns": read, "written": written, "ignored": num_ignored, "call": call, **encodings, **tags}
    return pa.Table.from_arrays(arrays, schema=MANIFEST.with_metadata({_KEY: json.dumps(about, default=str).encode()}))


def _lines(part: Any) -> Iterator[tuple[Any, ...]]:
    """(format, compression, path, file, size, time) of each file."""
    if isinstance(part, TextFolder):
        stamps: Sequence[tuple[Any, ...]] = part.stamps or [(None, None)] * len(part.paths)
        for number, path in enumerate(part.paths):
            yield part.format, None, _absolute(part.file(number).url), os.fsencode(path), *stamps[number][:2]
    elif isinstance(part, FilePart) and part.spool is None:
        stamp = part.stamp if part.stamp and not is_url(part.file.url) else (None, None)
        yield part.format, part.compression, _absolute(part.file.url), None, *stamp[:2]
    else:
        yield part.format, None, None, None, None, None


def _absolute(path: str) -> bytes:
    return path.encode() if is_url(path) else os.fsencode(os.path.abspath(path))  # noqa: PTH100  (it keeps links)
