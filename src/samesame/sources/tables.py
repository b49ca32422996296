"""Arrow tables edited: rows removed by position, and the three columns of --annotate."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame.errors import ColumnError
from samesame.sources.base import Annotations

__all__ = ["ANNOTATIONS", "annotated", "annotated_schema", "values_of", "without_removed_rows"]

ANNOTATIONS = pa.schema([("cluster", pa.int64()), ("witness_id", pa.string()), ("num_duplicates", pa.int64())])


def without_removed_rows(table: pa.Table, removed: npt.NDArray[np.int64], start: int) -> pa.Table:
    """The table, whose first row has position `start`, without the removed positions; itself when it has none."""
    low, high = np.searchsorted(removed, [start, start + len(table)])
    if low == high:
        return table
    stays = np.ones(len(table), np.bool_)
    stays[removed[low:high] - start] = False
    return table.filter(pa.array(stays))


def annotated_schema(schema: pa.Schema, name: str) -> pa.Schema:
    """The schema with the three fields more."""
    for field in ANNOTATIONS:
        if field.name in schema.names:
            raise ColumnError(
                f"{name} already has a column {field.name!r}", hint="Rename the column, or run without --annotate."
            )
        schema = schema.append(field)
    return schema


def annotated(table: pa.Table, annotations: Annotations, start: int) -> pa.Table:
    """The table with the three columns more."""
    for field, column in zip(ANNOTATIONS, values_of(annotations, start, len(table)), strict=True):
        table = table.append_column(field, column)
    return table


def values_of(annotations: Annotations, start: int, count: int) -> list[pa.Array]:
    """The three columns for some positions; null beyond the last."""
    found = []
    for field, column in zip(ANNOTATIONS, annotations.__dict__.values(), strict=True):
        part = column.slice(start, count).cast(field.type)
        whole = part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part
        found.append(pa.concat_arrays([whole, pa.nulls(count - len(whole), field.type)]))
    return found
