"""Arrow IPC, as a file (Feather version 2) or as a stream: read and copied batch by batch.

1. A copy has the same schema, the same kind, the same compression of its buffers and the same batches, but
   for the removed rows; a batch without removed rows is written as it came, an empty one not at all.
2. What follows the end of a stream (another stream, or what a zeroed length makes unreadable) is reported, and copied.
"""

import collections
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.sources.base import Annotations, TextChange
from nearsame.sources.columnar import Columnar
from nearsame.sources.columns import Chosen
from nearsame.sources.tables import annotated, require_sound, told, without_removed_rows

__all__ = ["Feather"]

_MAGIC = b"ARROW1"


class Feather(Columnar):
    """A file in Arrow's own format."""

    kind = "Arrow"

    def reader(self, source: Any) -> Any:
        """A reader of the file, or of the stream; both know `schema`."""
        return _reader(source)

    def schema(self, opened: Any) -> pa.Schema:
        """All columns with their types, which file and stream name before the first batch."""
        return opened.schema

    def batches(self, opened: Any, chosen: Chosen) -> Iterator[pa.RecordBatch]:
        """The chosen columns, batch by batch."""
        return (batch.select(chosen.names()) for batch in _batches(opened))

    def unread(self, opened: Any, source: Any) -> int:
        """Read to the end; how many bytes are left behind it, which a footer rules out."""
        if isinstance(opened, pa.RecordBatchFileReader):
            return 0
        collections.deque(opened, maxlen=0)
        return int(source.size() - source.tell())

    def writer(self, out: Any, schema: pa.Schema, opened: Any, source: Any) -> Any:
        """Something that writes as the file was written."""
        is_file = isinstance(opened, pa.RecordBatchFileReader)
        options = pa.ipc.IpcWriteOptions(compression=_buffer_compression(source, 8 if is_file else 0))
        return (pa.ipc.new_file if is_file else pa.ipc.new_stream)(out, schema, options=options)

    def edited(
        self, opened: Any, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None
    ) -> Iterator[pa.RecordBatch]:
        """What stays, batch by batch."""
        start = 0
        for batch in told(_batches(opened), self.name):
            require_sound(batch, self.name)
            yield from _edited(batch, removed, annotations, start)
            start += len(batch)

    def put(self, writer: Any, some: pa.RecordBatch) -> None:
        """As a batch."""
        writer.write_batch(some)


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
    batch: pa.RecordBatch, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None, start: int
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
    place = source.tell()  # a reader of a stream goes on from here
    source.seek(start)
    try:
        for message in pa.ipc.MessageReader.open_stream(source):
            if message.type == "record batch":
                return _codec(message.metadata.to_pybytes())
    finally:
        source.seek(place)
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
