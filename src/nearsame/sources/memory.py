"""Documents that are already in memory: Arrow tables, lists of strings or of dicts, matrices of vectors.

1. Whatever comes is one Arrow table from the start: a stream that can be read once is read then.
2. A copy is a Parquet file.
3. A string with a lone surrogate is stored as the bytes it stands for: not UTF-8, hence skipped, not lost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.arrow import held_bytes
from nearsame.errors import NearSameError, OutputError, SourceError
from nearsame.inputs import Files
from nearsame.sources.base import Annotations, Columns, Skip
from nearsame.sources.columns import Chosen, choose, is_stringlike, records
from nearsame.sources.parts import strictly
from nearsame.sources.streams import sink
from nearsame.sources.tables import annotated, annotated_schema, require_sound, without_removed_rows, without_views

__all__ = ["Memory", "table_of"]

_GROUP_ROWS = 131_072
_MATRIX = 2  # dimensions
_HINT = "Give a path, a table or column of texts with __arrow_c_stream__, a list of strings or of dicts, a 2-D array."


@dataclass(frozen=True)
class Memory:
    """A table in memory."""

    table: pa.Table
    name: str = "memory"
    target: str = "documents.parquet"
    strict: bool = False
    format: ClassVar[str] = "memory"
    pages: ClassVar[bool] = False

    @property
    def files(self) -> Files:
        """No files: what is in memory is read from none."""
        return Files("", ())

    def size_bytes(self) -> int | None:
        """Bytes of all columns: for progress."""
        return held_bytes(self.table)

    def text_bytes(self, columns: Columns) -> int:
        """What the column holds."""
        chosen = self._chosen(columns)
        return held_bytes(self.table.column(str(chosen.text or chosen.items or chosen.vectors)))

    def require_unchanged(self, positions: npt.NDArray[np.int64] | None = None) -> None:
        """A table does not change."""

    def take(
        self,
        positions: npt.NDArray[np.int64],  # noqa: ARG002  (the others are left out)
        others: npt.NDArray[np.int64],
        columns: Columns,  # noqa: ARG002  (all of them)
    ) -> pa.Table:
        """The rows without the `others`."""
        return without_removed_rows(self.table, others, 0)

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = strictly(skip, strict=self.strict)
        chosen = self._chosen(columns)
        start = 0
        for batch in self.table.select(chosen.names()).to_batches():
            yield from records(batch, chosen, np.arange(start, start + len(batch)), skip, self.name, columns)
            start += len(batch)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,  # noqa: ARG002  (whatever is unread here has a position)
    ) -> None:
        """Write the table to `target` as Parquet without the `removed` positions (ascending), or with annotations."""
        schema = self.table.schema if annotations is None else annotated_schema(self.table.schema, self.name)
        _require_parquet(schema, self.name)
        with sink(target, None) as out, pq.ParquetWriter(out, schema) as writer:
            for start in range(0, len(self.table), _GROUP_ROWS):
                table = self.table.slice(start, _GROUP_ROWS)
                edited = table if annotations is None else annotated(table, annotations, start)
                writer.write_table(without_removed_rows(edited, removed, start))

    def _chosen(self, columns: Columns) -> Chosen:
        strings = [field.name for field in self.table.schema if is_stringlike(field.type)]
        return choose(columns, self.table.column_names, strings, self.name)


def _require_parquet(schema: pa.Schema, name: str) -> None:
    """Refuse columns that Parquet has no type for, as pyarrow has it."""
    for field in schema:
        try:
            pq.write_table(pa.table([pa.array([], field.type)], pa.schema([field])), pa.BufferOutputStream())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            message = f"{name}: column {field.name!r} is {field.type}, which cannot be written to Parquet"
            raise OutputError(message, hint="Cast the column to another type, or leave it out.") from None


def table_of(thing: Any) -> pa.Table:
    """An in-memory source as a table.

    Raises:
        SourceError: It is nothing that a table can be made of.
    """
    try:
        table = _table(thing)
        require_sound(table, _described(thing))
        return without_views(table)
    except UnicodeEncodeError as error:
        message = f"{_described(thing)} has half of a surrogate pair, {error.object[error.start]!a}"
        raise SourceError(message, hint="Mend the text, or the name of a column, that has it.") from error
    except NearSameError:
        raise
    except Exception as error:  # whatever the library of a foreign object raises
        message = f"documents cannot be read from {_described(thing)}: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint=_HINT) from error


def _table(thing: Any) -> pa.Table:  # noqa: PLR0911  (a line for each kind of thing)
    match thing:
        case np.ndarray() if thing.ndim == _MATRIX and thing.dtype.kind in "fiu":
            return _vectors(thing)
        case pa.Table():
            return thing
        case pa.RecordBatch():
            return pa.Table.from_batches([thing])
        case _ if hasattr(thing, "__arrow_c_stream__"):
            return _streamed(thing)
        case _ if hasattr(thing, "__arrow_c_array__"):
            return _batched(thing)
        case list() | tuple() if all(value is None or isinstance(value, str) for value in thing):
            return pa.table({"text": _strings(thing)})
        case list() | tuple() if all(isinstance(value, dict) for value in thing):
            return _rows(thing)
    raise SourceError(f"documents cannot be read from {_described(thing)}", hint=_HINT)


def _streamed(thing: Any) -> pa.Table:
    """What gives an Arrow stream: a table, or a column of texts."""
    try:
        return pa.RecordBatchReader.from_stream(thing).read_all()
    except pa.ArrowInvalid:  # no stream of rows
        return _texts(pa.chunked_array(thing), thing)


def _batched(thing: Any) -> pa.Table:
    """What gives an Arrow array: rows, or a column of texts."""
    try:
        return pa.Table.from_batches([pa.record_batch(thing)])
    except pa.ArrowInvalid:
        return _texts(pa.array(thing), thing)


def _texts(column: Any, thing: Any) -> pa.Table:
    kind = column.type
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind)
    if not (is_stringlike(kind) or is_bytes or pa.types.is_null(kind)):
        raise SourceError(f"documents cannot be read from {_described(thing)} of {kind}", hint=_HINT)
    return pa.table({"text": column})


def _vectors(matrix: npt.NDArray[Any]) -> pa.Table:
    """A table with a vector for each row of the matrix."""
    values = pa.array(np.ascontiguousarray(matrix, matrix.dtype.newbyteorder("=")).reshape(-1))
    kind = pa.list_(values.type, matrix.shape[1])
    return pa.table({"vector": pa.Array.from_buffers(kind, len(matrix), [None], children=[values])})


def _rows(records: Sequence[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: _column(name, [record.get(name) for record in records]) for name in names})


def _column(name: str, values: list[Any]) -> pa.Array:
    if all(value is None or isinstance(value, str) for value in values) and any(value is not None for value in values):
        return _strings(values)
    try:
        return pa.array(values)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        raise SourceError(
            f"the values of {name!r} are not of one type: {error}", hint="Give all records the same type for a key."
        ) from None


def _strings(values: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError:
        encoded = [None if value is None else value.encode("utf-8", "surrogatepass") for value in values]
        return pa.array(encoded, pa.large_binary()).view(pa.large_string())


def _described(thing: Any) -> str:
    if isinstance(thing, (list, tuple)):
        return f"a list of {', '.join(sorted({type(value).__name__ for value in thing}))}"
    return f"a {type(thing).__name__}"
