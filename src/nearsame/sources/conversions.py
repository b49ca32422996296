"""How things of other libraries become Arrow tables: one function for each way.

1. What is in memory is taken as it is; what is read piece by piece is spooled (spool.py).
2. No library is imported: each thing brings its own.
"""

import tempfile
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.sources.columns import CODE, is_stringlike
from nearsame.sources.elements import described, is_missing, table_of_elements
from nearsame.sources.listed import require_texts
from nearsame.sources.spool import spooled
from nearsame.sources.tables import without_views

__all__ = [
    "HINT",
    "of_array",
    "of_arrow_dataset",
    "of_dataset",
    "of_delta_table",
    "of_iceberg_table",
    "of_lazy_frame",
    "of_mapping",
    "of_matrix",
    "of_numbers",
    "of_pandas",
    "of_reader",
    "of_relation",
    "of_stream",
    "of_streamed_dataset",
]

HINT = (
    "Give a path, a table or column of texts with __arrow_c_stream__, a list of texts, of records (dicts) or of pairs"
    " (id, text), a dict of id to text, a 2-D array."
)
_OF_A_RECORD = ("id", "text", "content", "url")  # names of columns, and hardly ids
_ROWS = 1000  # that are read at once: records may be long


def of_stream(thing: Any) -> pa.Table:
    """What gives an Arrow stream: a table, or a column of texts."""
    try:
        return pa.RecordBatchReader.from_stream(thing).read_all()
    except pa.ArrowInvalid:  # no stream of rows
        return _texts(pa.chunked_array(thing), thing)


def of_array(thing: Any) -> pa.Table:
    """What gives an Arrow array: rows, or a column of texts."""
    try:
        return pa.Table.from_batches([pa.record_batch(thing)])
    except pa.ArrowInvalid:
        return _texts(pa.array(thing), thing)


def _texts(values: Any, thing: Any) -> pa.Table:
    """A column of texts; or of codes of bits, as whole numbers or bytes of one length."""
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.table({CODE: values})
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    if not (is_stringlike(kind) or is_bytes or pa.types.is_null(kind)):
        raise SourceError(f"documents cannot be read from {described(thing)} of {kind}", hint=HINT)
    return pa.table({"text": values})


def _batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch], thing: Any) -> pa.Table:
    """Record batches of one schema, read once."""
    tables = (without_views(pa.Table.from_batches([batch])) for batch in batches)
    return spooled(chain([without_views(schema.empty_table())], tables), described(thing))


def of_reader(reader: Any) -> pa.Table:
    """A stream of rows that may be larger than memory."""
    opened = pa.RecordBatchReader.from_stream(reader)
    return _batches(opened.schema, opened, reader)


def of_relation(relation: Any) -> pa.Table:
    """What a query gives: it runs now, once."""
    return of_reader(relation if hasattr(relation, "__arrow_c_stream__") else relation.fetch_arrow_reader())


def of_arrow_dataset(dataset: Any) -> pa.Table:
    """All rows of its files, or of a scan of them."""
    schema = getattr(dataset, "projected_schema", None) or dataset.schema
    return _batches(schema, dataset.to_batches(), dataset)


def of_delta_table(table: Any) -> pa.Table:
    """The rows of the version that was opened."""
    return of_arrow_dataset(table.to_pyarrow_dataset())


def of_iceberg_table(table: Any) -> pa.Table:
    """The rows of its newest snapshot, or of a scan of some."""
    return of_reader((table.scan() if hasattr(table, "scan") else table).to_arrow_batch_reader())


def of_dataset(dataset: Any) -> pa.Table:
    """The rows that `shuffle`, `select` and their like have left, in their order."""
    given = dataset.with_format("arrow")
    if getattr(dataset, "_indices", None) is None:  # a whole table, mapped or in memory
        return given[:]
    return spooled(chain([given[:0]], given.iter(batch_size=_ROWS)), described(dataset))


def of_streamed_dataset(dataset: Any) -> pa.Table:
    """What comes, in the order in which it comes; of types that it knows."""
    known = dataset.features.arrow_schema.empty_table()
    return spooled(chain([known], dataset.with_format("arrow").iter(batch_size=_ROWS)), described(dataset))


def of_lazy_frame(frame: Any) -> pa.Table:
    """What it computes, which may be larger than memory."""
    from pyarrow import parquet  # noqa: PLC0415  (few hand us such a frame)

    with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
        path = Path(home) / "frame.parquet"
        frame.sink_parquet(path)
        with parquet.ParquetFile(path) as file:
            return _batches(file.schema_arrow, file.iter_batches(_ROWS), frame)


def of_pandas(thing: Any) -> pa.Table:
    """A frame, or a column of texts; pandas has Arrow streams since 2.2."""
    if hasattr(thing, "__arrow_c_stream__"):
        return of_stream(thing)
    return _texts(pa.Array.from_pandas(thing), thing) if thing.ndim == 1 else pa.Table.from_pandas(thing)


def of_matrix(matrix: npt.NDArray[Any]) -> pa.Table:
    """A table with a vector for each row of the matrix; what is masked is null."""
    mask = np.ma.getmaskarray(matrix).reshape(-1) if isinstance(matrix, np.ma.MaskedArray) else None
    values = pa.array(np.ascontiguousarray(matrix, matrix.dtype.newbyteorder("=")).reshape(-1), mask=mask)
    kind = pa.list_(values.type, matrix.shape[1])
    return pa.table({"vector": pa.Array.from_buffers(kind, len(matrix), [None], children=[values])})


def of_numbers(numbers: npt.NDArray[Any]) -> pa.Table:
    """Codes of bits as whole numbers."""
    return pa.table({CODE: pa.array(numbers.astype(numbers.dtype.newbyteorder("=")))})


def of_mapping(given: Mapping[Any, Any]) -> pa.Table:
    """Texts by id, or values by column."""
    values = list(given.values())
    if all(is_missing(value) or isinstance(value, str) for value in values):
        if keys := [key for key in _OF_A_RECORD if key in given]:
            message = f"a dict with the key {keys[0]!r} reads like one record, and a dict of texts has ids for keys"
            raise SourceError(message, hint='Give records in a list, [{"id": "a", "text": "…"}], or {"a": "…"}.')
        require_texts([None if is_missing(value) else value for value in values], what="a dict of strings")
        return table_of_elements(list(given.items()))[0]
    if all(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        return _of_columns({name: list(value) for name, value in given.items()})
    hint = "Give a dict of id to text, one of column to list of values, or the values as a list of records."
    raise SourceError(
        f"documents cannot be read from a dict of {described(values).removeprefix('a list of ')}", hint=hint
    )


def _of_columns(columns: Mapping[Any, list[Any]]) -> pa.Table:
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        message = (
            f"the columns of a dict are not of one length: {', '.join(f'{n!r} {k:,}' for n, k in lengths.items())}"
        )
        raise SourceError(message, hint="Give each column a value for each document.")
    return table_of_elements([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])[0]
