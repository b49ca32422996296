"""Arrow IPC, as a file (Feather version 2) or as a stream: read and copied batch by batch.

1. A copy has the same schema, the same kind, the same compression of its buffers and the same batches, but
   for the removed rows; a batch without removed rows is written as it came, an empty one not at all.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.errors import SourceError
from samesame.sources.base import Annotations, Columns, Skip, Skipped
from samesame.sources.columns import choose, is_stringlike, records
from samesame.sources.parts import FilePart, damage, strictly
from samesame.sources.streams import copy_raw, sink
from samesame.sources.tables import annotated, annotated_schema, without_removed_rows

__all__ = ["Feather"]

_MAGIC = b"ARROW1"


@dataclass(frozen=True)
class Feather(FilePart):
    """A file in Arrow's own format."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = strictly(skip, strict=self.strict)
        with self.whole(skip) as source, damage(self.name):
            reader = self._opened(source, skip)
            if reader is None:
                return
            strings = [field.name for field in reader.schema if is_stringlike(field.type)]
            chosen = choose(columns, reader.schema.names, strings, self.name)
            start = 0
            for batch in _batches(reader):
                wanted = batch.select(chosen.names())
                yield from records(wanted, chosen, np.arange(start, start + len(batch)), skip, self.name)
                start += len(batch)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the same kind of file to `target` without the `removed` positions (ascending), or with annotations."""
        self.require_unchanged()
        with self.whole(lambda _: None) as source, damage(self.name):
            reader = self._opened(source, lambda _: None)
            if reader is None:
                self.copy_unread(target, drop=drop_unread)
                return
            if annotations is None and not len(removed):
                copy_raw(self.file, target)
                return
            schema = reader.schema if annotations is None else annotated_schema(reader.schema, self.name)
            is_file = isinstance(reader, pa.RecordBatchFileReader)
            options = pa.ipc.IpcWriteOptions(compression=_buffer_compression(source, 8 if is_file else 0))
            make = pa.ipc.new_file if is_file else pa.ipc.new_stream
            reader = _reader(source)
            with sink(target, self.compression) as out, make(out, schema, options=options) as writer:
                start = 0
                for batch in _batches(reader):
                    for edited in _edited(batch, removed, annotations, start):
                        writer.write_batch(edited)
                    start += len(batch)

    def _opened(self, source: Any, skip: Skip) -> Any:
        if source is None:
            return None
        try:
            return _reader(source)
        except (pa.ArrowException, OSError) as error:
            reason = f"not a readable Arrow file: {str(error).splitlines()[0]}"
            if not self.lenient:
                raise SourceError(f"{self.name} is {reason}", hint="Check that it was written to its end.") from None
            skip(Skipped(self.name, None, None, reason))
            return None


def _reader(source: Any) -> Any:
    """A reader of the file, or of the stream; both know `schema`."""
    source.seek(0)
    is_file = source.read(len(_MAGIC)) == _MAGIC
    source.seek(0)
    return pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)


def _batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(index) for index in range(reader.num_record_batches))
    return iter(reader)


def _edited(
    batch: pa.RecordBatch, removed: npt.NDArray[np.int64], annotations: Annotations | None, start: int
) -> Iterator[pa.RecordBatch]:
    low, high = np.searchsorted(removed, [start, start + len(batch)])
    if annotations is None and low == high:
        yield batch
        return
    table = pa.Table.from_batches([batch])
    table = table if annotations is None else annotated(table, annotations, start)
    yield from without_removed_rows(table, removed, start).combine_chunks().to_batches()


def _buffer_compression(source: Any, start: int) -> str | None:
    """The codec of the first record batch: the one thing that pyarrow reads and does not tell."""
    source.seek(start)
    for message in pa.ipc.MessageReader.open_stream(source):
        if message.type == "record batch":
            return _codec(message.metadata.to_pybytes())
    return None


def _codec(message: bytes) -> str | None:
    """The codec in a Message flatbuffer: header (field 2), its compression (3), its codec (0, by default LZ4)."""
    (root,) = struct.unpack_from("<I", message)
    header = _field(message, root, 2)
    place = _field(message, header + struct.unpack_from("<I", message, header)[0], 3)
    if not place:
        return None
    codec = _field(message, place + struct.unpack_from("<I", message, place)[0], 0)
    return "zstd" if codec and message[codec] == 1 else "lz4"


def _field(message: bytes, table: int, number: int) -> int:
    """Where a field of a flatbuffer table is; 0 where it is absent."""
    vtable = table - struct.unpack_from("<i", message, table)[0]
    (size,) = struct.unpack_from("<H", message, vtable)
    slot = 4 + 2 * number
    offset = struct.unpack_from("<H", message, vtable + slot)[0] if slot < size else 0
    return table + offset if offset else 0
