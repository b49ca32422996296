"""Arrow tables edited: rows removed by position, and the three columns of --annotate."""

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import deeply
from nearsame.errors import ColumnError, NearSameError, SourceError
from nearsame.files.systems import File, is_url, mishaps
from nearsame.sources.base import Annotations, TextChange

__all__ = [
    "ANNOTATIONS",
    "annotated",
    "annotated_schema",
    "is_annotations",
    "refuse_annotated",
    "require_sound",
    "told",
    "values_of",
    "without_removed_rows",
    "without_views",
]

_T = TypeVar("_T", pa.Table, pa.RecordBatch)

_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
_LISTS = {
    pa.list_(pa.null()).id: pa.list_,
    pa.large_list(pa.null()).id: pa.large_list,
    pa.list_view(pa.null()).id: pa.list_view,
    pa.large_list_view(pa.null()).id: pa.large_list_view,
}
ANNOTATIONS = pa.schema([("cluster", pa.int64()), ("witness_id", pa.string()), ("num_duplicates", pa.int64())])
_ABOUT_OTHERS = r"(?:^|[/.])annotations(?:-\d+)?\.jsonl$"
_OTHERS = ({"path"}, {"position", "record_id", "url"})  # what a line calls the document that it is about
_MOST_LINE = 1 << 20


def is_annotations(place: str) -> bool:
    """Whether a file has what `--annotate` wrote about text files, or the records of an archive, beside them."""
    if not re.search(_ABOUT_OTHERS, place) or not (is_url(place) or os.path.isfile(place)):  # noqa: PTH113  (a name need not be text)
        return False
    with suppress(OSError, ImportError, NearSameError, ValueError), File(place).open() as file:
        line = orjson.loads(file.readline(_MOST_LINE))
        return isinstance(line, dict) and {*line} - {*ANNOTATIONS.names} in _OTHERS and {*ANNOTATIONS.names} <= {*line}
    return False


def without_removed_rows(table: pa.Table, removed: npt.NDArray[np.int64], start: int) -> pa.Table:
    """The table, whose first row has position `start`, without the removed positions; itself when it has none."""
    low, high = np.searchsorted(removed, [start, start + len(table)])
    if low == high:
        return table
    stays = np.ones(len(table), np.bool_)
    stays[removed[low:high] - start] = False
    try:
        return computing.filter_(table, pa.array(stays))
    except pa.ArrowNotImplementedError:  # views (2026: pyarrow has no take for them) can still be sliced
        edges = np.concatenate([[-1], removed[low:high] - start, [len(table)]]).tolist()
        runs = [table.slice(after + 1, before - after - 1) for after, before in itertools.pairwise(edges)]
        return pa.concat_tables(runs).combine_chunks()


def require_sound(table: pa.Table | pa.RecordBatch, name: str) -> None:
    """Raise a SourceError where a buffer does not hold what its column says: reading it would end the process.

    Bytes that are not UTF-8 are not damage: who reads texts skips those records.
    """
    for field, column in zip(table.schema, table.columns, strict=True):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        try:
            for chunk in chunks:
                plain = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
                plain.view(_as_bytes(plain.type)).validate(full=True)
        except (pa.ArrowException, ValueError) as error:
            message = f"{name} is damaged: column {field.name!r}: {str(error).partition(chr(10))[0]}"
            raise SourceError(message, hint="Write it again from its origin, or leave it out.") from None


def told(tables: Iterator[_T], name: str) -> Iterator[_T]:
    """The same, one after the other: when reading one fails, the error names the source, not what is being written."""
    with mishaps(name):
        yield from tables


def without_views(table: pa.Table) -> pa.Table:
    """The same values with string views (polars gives them) as plain strings, which every kernel knows."""
    schema = pa.schema([field.with_type(deeply(field.type, _plain)) for field in table.schema], table.schema.metadata)
    return table if schema == table.schema else table.cast(schema)


def _plain(kind: pa.DataType) -> pa.DataType:
    """What kernels know for views."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, deeply(kind.value_type, _plain), kind.ordered)
    return kind


def _as_bytes(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911  (a table)
    """The same layout with bytes for strings, however deep they stand."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _as_bytes(kind.storage_type)
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _as_bytes(kind.value_type), kind.ordered)
    if types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, _as_bytes(kind.value_type))
    if types.is_map(kind):
        return pa.map_(_bytes_in(kind.key_field), _bytes_in(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_bytes_in(kind.value_field), kind.list_size)
    if kind.id in _LISTS:
        return _LISTS[kind.id](_bytes_in(kind.value_field))
    if types.is_struct(kind):
        return pa.struct([_bytes_in(kind.field(at)) for at in range(kind.num_fields)])
    if types.is_union(kind):
        return pa.union([_bytes_in(kind.field(at)) for at in range(kind.num_fields)], kind.mode, kind.type_codes)
    return _BYTES.get(kind, kind)


def _bytes_in(field: pa.Field) -> pa.Field:
    return field.with_type(_as_bytes(field.type))


def annotated_schema(schema: pa.Schema, annotations: Annotations | TextChange, name: str) -> pa.Schema:
    """The schema with the three fields more, or after a change of texts."""
    if not isinstance(annotations, Annotations):
        return annotations.schema(schema)
    refuse_annotated(schema.names, name)
    for field in ANNOTATIONS:
        schema = schema.append(field)
    return schema


def refuse_annotated(names: Sequence[str], source: str) -> None:
    """Raise a ColumnError where the source already has one of the three columns."""
    for name in ANNOTATIONS.names:
        if name in names:
            message = f"{source} already has a column {name!r}"
            raise ColumnError(message, hint="Rename the column, or run without --annotate.")


def annotated(table: pa.Table, annotations: Annotations | TextChange, start: int) -> pa.Table:
    """The table with the three columns more, or with its texts changed."""
    if not isinstance(annotations, Annotations):
        return annotations.table(table, start)
    for field, column in zip(ANNOTATIONS, values_of(annotations, start, len(table)), strict=True):
        table = table.append_column(field, column)
    return table


def values_of(annotations: Annotations, start: int, count: int) -> list[pa.Array]:
    """The three columns for some positions; null beyond the last."""
    columns = []
    for field, column in zip(ANNOTATIONS, annotations.__dict__.values(), strict=True):
        part = computing.cast(column.slice(start, count), field.type)
        whole = part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part
        columns.append(pa.concat_arrays([whole, pa.nulls(count - len(whole), field.type)]))
    return columns
