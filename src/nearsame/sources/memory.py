"""Documents that are already in memory, or were spooled from what is not a file: one Arrow table (kinds.py makes it).

1. A copy is a Parquet file.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.arrow import Rows, held_bytes
from nearsame.dataclass import dataclass
from nearsame.errors import OutputError, SourceError
from nearsame.files.inputs import Files
from nearsame.sources.base import Annotations, Columns, Skip, TextChange
from nearsame.sources.columns import Chosen, choose, is_stringlike, records
from nearsame.sources.items import plain_records
from nearsame.sources.kinds import splits_of, taken
from nearsame.sources.parts import strictly
from nearsame.sources.streams import sink
from nearsame.sources.tables import annotated, annotated_schema, without_removed_rows

__all__ = ["Memory", "giving_back", "in_memory"]

_GROUP_ROWS = 131_072
_PLAIN = r"\w[\w.-]*"  # the name of a split that can be one of a file


@dataclass(frozen=True)
class Memory:
    """A table in memory."""

    table: pa.Table
    name: str = "memory"
    target: str = "documents.parquet"
    strict: bool = False
    pick: Callable[[Rows], Any] | None = field(default=None, repr=False, compare=False)  # gives rows back as they came
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
        return held_bytes(self.table.column(str(chosen.content)))

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

    def objects(self, columns: Columns, skip: Skip) -> Iterator[tuple[int, dict[str, Any]]]:  # noqa: ARG002  (whole)
        """The readable records, whole, with their positions."""
        skip, start = strictly(skip, strict=self.strict), 0
        for batch in self.table.to_batches():
            yield from plain_records(batch, np.arange(start, start + len(batch)), skip, self.name)
            start += len(batch)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | TextChange | None = None,
        *,
        drop_unread: bool = False,  # noqa: ARG002  (whatever is unread here has a position)
    ) -> None:
        """Write the table to `target` as Parquet without the `removed` positions (ascending), or with annotations."""
        from pyarrow import parquet  # noqa: PLC0415  (few tables in memory are written)

        schema = self.table.schema
        schema = schema if annotations is None else annotated_schema(schema, annotations, self.name)
        _require_parquet(schema, self.name)
        with sink(target, None) as out, parquet.ParquetWriter(out, schema) as writer:
            for start in range(0, len(self.table), _GROUP_ROWS):
                table = self.table.slice(start, _GROUP_ROWS)
                edited = table if annotations is None else annotated(table, annotations, start)
                writer.write_table(without_removed_rows(edited, removed, start))

    def _chosen(self, columns: Columns) -> Chosen:
        strings = [field.name for field in self.table.schema if is_stringlike(field.type)]
        return choose(columns, self.table.column_names, strings, self.name)


def in_memory(source: Any, before: int | None, *, strict: bool) -> list[Memory]:
    """The parts of what is in memory: one, or of a data set one for each split.

    Args:
        source: One of the kinds of kinds.py.
        before: How many parts in memory are before it; None where it is alone.
        strict: Whether a record that cannot be read is an error.

    Raises:
        SourceError: It is of no such kind.
    """
    splits = splits_of(source)
    if splits is not None and not splits:
        raise SourceError(f"the {type(source).__name__} has no splits", hint="Give one that has some.")
    parts = []
    for number, (split, thing) in enumerate((splits or {"": source}).items()):
        name = f"memory-{before + number + 1}" if before is not None else f"memory/{split}" if splits else "memory"
        target = f"{split}.parquet" if re.fullmatch(_PLAIN, split) else "documents.parquet"
        table, pick = taken(thing)
        parts.append(Memory(table, name, target, strict, pick))
    return parts


def giving_back(source: Any, parts: Sequence[Any]) -> Callable[[Sequence[Rows]], Any] | None:
    """What makes of some rows of each part what their source was; None where that is nothing to be made."""
    if not all(isinstance(part, Memory) and part.pick is not None for part in parts):
        return None
    splits = splits_of(source)
    if splits is None:
        return lambda rows: parts[0].pick(rows[0])
    names, made = list(splits), type(source)
    return lambda rows: made({name: part.pick(some) for name, part, some in zip(names, parts, rows, strict=True)})


def _require_parquet(schema: pa.Schema, name: str) -> None:
    """Refuse columns that Parquet has no type for, as pyarrow has it."""
    from pyarrow import parquet  # noqa: PLC0415  (few tables in memory are written)

    for column in schema:
        try:
            parquet.write_table(pa.table([pa.array([], column.type)], pa.schema([column])), pa.BufferOutputStream())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            message = f"{name}: column {column.name!r} is {column.type}, which cannot be written to Parquet"
            raise OutputError(message, hint="Cast the column to another type, or leave it out.") from None
