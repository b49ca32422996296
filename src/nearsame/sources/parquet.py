"""Parquet: only the needed columns are read; a copy keeps schema, codecs, row groups, and encodings that paid.

1. Batches are sized by the bytes that the file's own statistics promise, then cut by the bytes that came.
2. A copy goes row group by row group, read ahead by one thread, so that decoding and encoding overlap;
   a row group above `_GROUP_BYTES` becomes several of one size, so that memory stays bounded.
3. A row group without removed rows is not filtered; a file without removed rows is copied as it is.
"""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.arrow import held_bytes
from nearsame.files.systems import is_url
from nearsame.sources.base import BATCH_BYTES, Annotations, Columns, TextChange
from nearsame.sources.columnar import Columnar
from nearsame.sources.columns import BATCH_ROWS, Chosen, choose, is_stringlike
from nearsame.sources.footers import largest_page, why_not_readable
from nearsame.sources.limits import LARGE, require_page_room
from nearsame.sources.streams import seekable
from nearsame.sources.tables import annotated, require_sound, told, without_removed_rows

__all__ = ["Parquet"]

_GROUP_BYTES = 64 << 20  # a copy takes about five times as much memory
_READ_BYTES = 1 << 20
_NUMBER_BYTES, _HEADER_BYTES = 8, 1 << 16  # in pages at most: of a value's place in the dictionary, and besides
_PROBED_ROWS, _PIECES = 256, 8
_ENCODINGS = ("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT")
# Names under which a file says what its columns are: to Arrow, and to Spark, which would not see others.
_ARROW, _SPARK = b"ARROW:schema", b"org.apache.spark.sql.parquet.row.metadata"


class Parquet(Columnar):
    """A Parquet file, read row group by row group."""

    kind = "Parquet"

    def reader(self, source: Any) -> pq.ParquetFile:
        """Open it, unless its footer says that Arrow cannot read it safely."""
        if reason := why_not_readable(source):
            raise pa.ArrowInvalid(reason)
        remote = is_url(self.file.url)  # many small reads cost time there; here, a whole row group costs memory
        held = {"pre_buffer": remote, "buffer_size": 0 if remote else _READ_BYTES}
        opened = pq.ParquetFile(source, **held)
        if _has_far_times(opened, source):
            return pq.ParquetFile(source, coerce_int96_timestamp_unit="us", **held)
        return opened

    def schema(self, opened: pq.ParquetFile) -> pa.Schema:
        """All columns, with the Arrow types that their Parquet types are read as."""
        return opened.schema_arrow

    def batches(self, opened: pq.ParquetFile, chosen: Chosen) -> Iterator[pa.RecordBatch]:
        """The chosen columns, row group by row group."""
        for group in range(opened.num_row_groups):
            rows, left = _batch_rows(opened, group, chosen), opened.metadata.row_group(group).num_rows
            for batch in opened.iter_batches(rows, row_groups=[group], columns=chosen.names()):
                left -= len(batch)
                yield batch
            if left:
                raise pa.ArrowInvalid(f"{left} records of row group {group} are missing")

    def require_room(self, opened: pq.ParquetFile, source: Any, chosen: Chosen, columns: Columns) -> None:
        """No page may be too large: a row group is read by pages, and a value stands in one."""
        room, roots = columns.room, set(chosen.names())
        for group in range(opened.num_row_groups if room is not None and not is_url(self.file.url) else 0):
            meta = opened.metadata.row_group(group)
            for column in map(meta.column, range(meta.num_columns)):
                if column.total_uncompressed_size > LARGE and column.path_in_schema.split(".")[0] in roots:
                    first = column.dictionary_page_offset or column.data_page_offset
                    size = largest_page(source, min(first, column.data_page_offset), column.total_compressed_size)
                    place = f"{self.name}, row group {group}, column {column.path_in_schema!r}"
                    require_page_room(size, columns, place)

    def text_bytes(self, columns: Columns) -> int:
        """The uncompressed size of the column; of repeated texts that are stored once, an underestimate."""
        if self.compression is not None or is_url(self.file.url):  # there a footer costs a round trip
            return super().text_bytes(columns)
        with seekable(self.file, None) as source:
            if why_not_readable(source):
                return 0
            file = pq.ParquetFile(source)
            strings = [field.name for field in file.schema_arrow if is_stringlike(field.type)]
            chosen = choose(columns, file.schema_arrow.names, strings, self.name)
            groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
            chunks = (group.column(number) for group in groups for number in range(group.num_columns))
            wanted = {chosen.content}
            return sum(
                chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema.split(".")[0] in wanted
            )

    def writer(self, out: Any, schema: pa.Schema, opened: pq.ParquetFile, source: Any) -> pq.ParquetWriter:
        """Something that writes as the file was written."""
        del source
        settings = _settings(opened)
        stale = {_ARROW, _SPARK} if len(schema) > len(opened.schema_arrow) else {_ARROW}
        said = {key: value for key, value in (schema.metadata or {}).items() if key not in stale}
        writer = pq.ParquetWriter(out, schema.with_metadata(said), **settings)
        written = said if settings["store_schema"] else {}
        said = {key: value for key, value in (opened.metadata.metadata or {}).items() if key not in stale} | said
        writer.add_key_value_metadata({key: value for key, value in said.items() if key not in written})
        return writer

    def edited(
        self, opened: pq.ParquetFile, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None
    ) -> Iterator[pa.Table]:
        """What stays, row group by row group."""
        return _ahead(_edited(opened, removed, annotations, self.name))

    def put(self, writer: Any, some: pa.Table) -> None:
        """As a row group."""
        writer.write_table(some, row_group_size=max(len(some), 1))


def _has_far_times(file: pq.ParquetFile, source: Any) -> bool:
    """Whether times of Spark's own kind lie beyond what nanoseconds of 64 bits reach, where Arrow changes the years."""
    columns = [file.schema.column(at) for at in range(len(file.schema))]
    names = {column.path.split(".")[0] for column in columns if column.physical_type == "INT96"}
    if not names:
        return False
    whole = pq.ParquetFile(source, metadata=file.metadata, coerce_int96_timestamp_unit="us")
    fine = pa.schema([field for field in file.schema_arrow if field.name in names])
    with suppress(pa.ArrowException, OSError):  # damage is told by who reads it all
        for batch in whole.iter_batches(columns=fine.names):
            try:
                batch.cast(fine)
            except pa.ArrowInvalid:
                return True
    return False


def _batch_rows(file: pq.ParquetFile, group: int, chosen: Chosen) -> int:
    """As many rows as should make BATCH_BYTES of text."""
    mean = _row_bytes(file, group, [chosen.content] if chosen.content else [])
    return int(min(max(BATCH_BYTES / mean, 1), BATCH_ROWS))


def _row_bytes(file: pq.ParquetFile, group: int, names: list[str] | None = None) -> float:
    """About how much a row takes once it is decoded: repeated values are stored once, and only decoding shows them."""
    meta = file.metadata.row_group(group)
    columns = [meta.column(index) for index in range(meta.num_columns)]
    stored = [column for column in columns if names is None or column.path_in_schema.split(".")[0] in names]
    mean = sum(column.total_uncompressed_size for column in stored) / max(meta.num_rows, 1)
    if _is_encoded(stored):
        probe = next(file.iter_batches(_PROBED_ROWS, row_groups=[group], columns=names), None)
        mean = max(mean, held_bytes(probe) / max(len(probe), 1)) if probe is not None else mean
    return float(max(mean, 1))


def _is_encoded(columns: list[Any]) -> bool:
    """Whether equal values may be stored once."""
    return any("DICTIONARY" in encoding for column in columns for encoding in column.encodings)


def _edited(
    file: pq.ParquetFile, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None, name: str
) -> Iterator[pa.Table]:
    """The tables to write, one for each row group or part of a large one."""
    start = 0
    for table in told(_groups(file), name):
        require_sound(table, name)
        edited = table if annotations is None else annotated(table, annotations, start)
        edited = without_removed_rows(edited, removed, start)
        start += len(table)
        if len(edited):
            yield edited


def _groups(file: pq.ParquetFile) -> Iterator[pa.Table]:
    for group in range(file.num_row_groups):
        meta = file.metadata.row_group(group)
        columns = [meta.column(index) for index in range(meta.num_columns)]
        encoded, row_bytes = _is_encoded(columns), _row_bytes(file, group)
        parts = max(math.ceil(meta.num_rows * row_bytes / _GROUP_BYTES), 1)
        if not encoded and parts == 1:
            yield file.read_row_group(group)
            continue
        rows = max(int(_GROUP_BYTES / _PIECES / row_bytes), 1)
        batches = file.iter_batches(min(rows, _PROBED_ROWS) if encoded else rows, row_groups=[group])
        yield from _parts(batches, meta.num_rows, parts)


def _parts(batches: Iterator[pa.RecordBatch], num_rows: int, parts: int) -> Iterator[pa.Table]:
    """So many tables of about as many rows each, or more of them where rows turn out to be larger.

    Of parts of one size each is read while the one before is written; a small one behind each large one would have both
    wait for each other.
    """
    each = math.ceil(num_rows / parts)
    some: list[pa.RecordBatch] = []
    size = rows = 0
    for batch in batches:
        some.append(batch)
        size += held_bytes(batch)
        rows += len(batch)
        if rows >= each or size >= _GROUP_BYTES:
            yield pa.Table.from_batches(some)
            some, size, rows = [], 0, 0
    if some:
        yield pa.Table.from_batches(some)


def _ahead(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The same tables, the next one made while this one is used."""
    with ThreadPoolExecutor(1, "nearsame-read") as pool:
        coming = pool.submit(next, tables, None)
        while (table := coming.result()) is not None:
            coming = pool.submit(next, tables, None)
            yield table


def _settings(file: pq.ParquetFile) -> dict[str, Any]:
    """How the file was written, as far as its metadata says."""
    meta = file.metadata
    settings: dict[str, Any] = {"version": "1.0" if meta.format_version == "1.0" else "2.6"}
    settings["store_schema"] = _ARROW in (meta.metadata or {})
    if not meta.num_row_groups:
        return settings
    group = meta.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    codecs = {column.path_in_schema: _codec(column.compression) for column in columns}
    settings["compression"] = codecs if len(set(codecs.values())) > 1 else next(iter(codecs.values()), "none")
    in_dictionary = {column.path_in_schema for column in columns if _is_dictionary(column)}
    settings["use_dictionary"] = sorted(in_dictionary)
    encodings = {column.path_in_schema: _encoding(column) for column in columns}
    settings["column_encoding"] = {
        path: encoding for path, encoding in encodings.items() if encoding and path not in in_dictionary
    }
    settings["write_statistics"] = [column.path_in_schema for column in columns if column.is_stats_set]
    settings["use_deprecated_int96_timestamps"] = any(column.physical_type == "INT96" for column in columns)
    settings["use_compliant_nested_type"] = not any(path.endswith(".list.item") for path in codecs)
    settings["write_page_index"] = any(column.has_offset_index for column in columns)
    settings["sorting_columns"] = group.sorting_columns or None
    return settings


def _is_dictionary(column: Any) -> bool:
    """Whether a column's values are numbers of a dictionary: one that grew too large is given up, which costs time."""
    if not _is_encoded([column]):
        return False
    first = column.dictionary_page_offset or column.data_page_offset
    numbers = column.total_compressed_size - max(column.data_page_offset - first, 0)
    return bool(numbers <= _NUMBER_BYTES * column.num_values + _HEADER_BYTES)


def _encoding(column: Any) -> str | None:
    """How values stand where it is neither plainly nor by numbers of a dictionary."""
    return next((encoding for encoding in _ENCODINGS if encoding in column.encodings), None)


def _codec(name: str) -> str:
    return {"UNCOMPRESSED": "none", "LZ4_RAW": "lz4", "LZ4_HADOOP": "lz4"}.get(name, name.lower())
