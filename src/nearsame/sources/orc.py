"""ORC: read and copied stripe by stripe, with only the columns that are needed.

A copy keeps the schema and the compression; a file without removed rows is copied as it is.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import orc

from nearsame.sources.base import Annotations, TextChange
from nearsame.sources.columnar import Columnar
from nearsame.sources.columns import Chosen
from nearsame.sources.tables import annotated, require_sound, told, without_removed_rows

__all__ = ["Orc"]


class Orc(Columnar):
    """An ORC file, read stripe by stripe."""

    kind = "ORC"

    def reader(self, source: Any) -> orc.ORCFile:
        """Open it, which reads its footer and no stripe."""
        return orc.ORCFile(source)

    def schema(self, opened: orc.ORCFile) -> pa.Schema:
        """All columns, with the Arrow types that their ORC types are read as."""
        return opened.schema

    def batches(self, opened: orc.ORCFile, chosen: Chosen) -> Iterator[pa.RecordBatch]:
        """The chosen columns, stripe by stripe."""
        return _stripes(opened, chosen.names())

    def writer(self, out: Any, schema: pa.Schema, opened: orc.ORCFile, source: Any) -> Any:
        """Something that writes with the same compression."""
        del schema, source
        return orc.ORCWriter(out, compression=opened.compression.lower())

    def edited(
        self, opened: orc.ORCFile, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None
    ) -> Iterator[pa.Table]:
        """What stays, stripe by stripe; where nothing does, a table without rows: a file without any has no columns."""
        start, written = 0, False
        for batch in told(_stripes(opened), self.name):
            require_sound(batch, self.name)
            table = pa.Table.from_batches([batch])
            table = table if annotations is None else annotated(table, annotations, start)
            table = without_removed_rows(table, removed, start)
            start += len(batch)
            if len(table):
                yield table
                written = True
        if not written:
            empty = opened.schema.empty_table()
            yield empty if annotations is None else annotated(empty, annotations, start)

    def put(self, writer: orc.ORCWriter, some: pa.Table) -> None:
        """As a stripe, or several."""
        writer.write(some)


def _stripes(opened: orc.ORCFile, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
    return (opened.read_stripe(number, columns) for number in range(opened.nstripes))
