"""Documents read a second time, without the texts that nobody asks for any more.

1. Of web pages the text is taken out once for all who ask for it, and kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Self

import numpy as np
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.sources.reading import Reading

__all__ = ["Left", "changed"]


@dataclass
class Left(Reading):
    """The documents again, with null in place of texts (or of pages) that are already removed."""

    gone: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    priority: Rows = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, reading: Reading, gone: Mask, priority: Rows) -> Self:
        """The documents of a reading again, without those that are gone."""
        return cls(
            reading.parts,
            reading.columns,
            reading.against,
            reading.batch_rows,
            reading.progress,
            strict=reading.strict,
            gone=gone,
            priority=priority,
        )

    @staticmethod
    def out_of(reading: Reading, texts: Iterable[pa.RecordBatch] | None, gone: Mask, priority: Rows) -> "Left":
        """The same; nothing is read where the texts have been taken out of pages."""
        return Left.of(reading, gone, priority) if texts is None else Taken.holding(reading, texts, gone, priority)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Batches as of any reading; rows keep their numbers."""
        for batch in super().__iter__():
            rows = batch.column("row").to_numpy()
            if int(rows[-1]) >= self.gone.size:
                raise changed()
            at = batch.schema.get_field_index("body" if self.pages else "text")
            content = batch.column(at)
            left = computing.if_else(pa.array(self.gone[rows]), pa.scalar(None, content.type), content)
            yield batch.set_column(at, batch.schema.field(at), left)

    @property
    def orders(self) -> dict[str, pa.ChunkedArray]:
        """What the method's priority goes by."""
        return {"priority": pa.chunked_array([self.priority])}


@dataclass
class Taken(Left):
    """Documents whose texts have been taken out of pages, again; nothing is read."""

    texts: Iterable[pa.RecordBatch] = ()

    pages = False  # what comes is text by now

    @classmethod
    def holding(cls, reading: Reading, texts: Iterable[pa.RecordBatch], gone: Mask, priority: Rows) -> Self:
        """The documents of a reading, whose texts are there."""
        taken = replace(cls.of(reading, gone, priority), texts=texts)
        taken.num_against, taken.num_documents = reading.num_against, reading.num_documents
        taken._origins, taken._beside = reading._origins, reading._beside  # noqa: SLF001  (the same documents)
        return taken

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """The documents, in batches of DOCUMENTS."""
        for batch in self.texts:
            content = batch.column("text")
            left = computing.if_else(
                pa.array(self.gone[batch["row"].to_numpy()]), pa.scalar(None, content.type), content
            )
            yield pa.RecordBatch.from_arrays([batch.column("row"), left], schema=schemas.DOCUMENTS)


def changed() -> SourceError:
    """The error where a source is another one the second time."""
    message = "a source changed while it was being read for the second time"
    return SourceError(message, hint="Run again when nothing writes to it any more.")
