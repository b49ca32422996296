"""Some of the documents of a source, in memory: for plans and evaluations.

1. A sample is simple, random and repeatable: each document draws a number in the order of reading, the least numbers
   are taken. It depends on the seed and the order, not on batches or texts (by text, copies would be drawn together).
2. Memory is bounded by the sample, not by the source.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.dataclass import dataclass
from nearsame.sources.base import Skipped
from nearsame.sources.reading import Reading

__all__ = ["DocumentSample", "sample"]


@dataclass(frozen=True)
class DocumentSample:
    """Documents as a table of `id`, `text` (or `vector`) and, where any has one, `url`, in the order of reading."""

    table: pa.Table
    num_documents: int  # of the whole source
    all_ids: pa.Array  # of the whole source, by row
    rows: npt.NDArray[np.int64]  # which of them these are
    of_pages: bool = False  # texts were taken out of web pages
    skipped: tuple[Skipped, ...] = ()  # records that could not be read

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return len(self.table) == self.num_documents


@dataclass
class _Drawn:
    """The documents with the least numbers so far."""

    content: str
    most: int | None
    tables: list[pa.Table]
    numbers: npt.NDArray[np.float64]

    def add(self, batch: pa.RecordBatch, numbers: npt.NDArray[np.float64]) -> None:
        """Take what is among the least, and drop what no longer is once there is twice too much."""
        if self.most is not None and self.numbers.size >= self.most:
            chosen = numbers < np.partition(self.numbers, self.most - 1)[self.most - 1]
            batch, numbers = batch.filter(pa.array(chosen)), numbers[chosen]
        self.tables.append(pa.Table.from_batches([batch]))
        self.numbers = np.concatenate([self.numbers, numbers])
        if self.most is not None and self.numbers.size > 2 * self.most:
            self.tables = [self.close()]

    def close(self) -> pa.Table:
        """The least of all, in the order of reading."""
        table = pa.concat_tables(self.tables) if self.tables else pa.table({"row": [], self.content: []})
        if self.most is None or self.numbers.size <= self.most:
            return table
        kept = np.sort(np.argsort(self.numbers, kind="stable")[: self.most])
        self.numbers = self.numbers[kept]
        return table.take(pa.array(kept))


def sample(
    reading: Reading,
    most: int | None,
    *,
    seed: int = 0,
    extract: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None,
) -> DocumentSample:
    """At most so many documents of a reading; None takes all.

    Args:
        reading: What is read.
        most: How many at most.
        seed: Of the numbers that documents draw.
        extract: Takes the texts out of PAGES, where the reading gives pages.

    Example:
        >>> from nearsame.sources import Columns, open_parts
        >>> reading = Reading(open_parts([["a rose", "is a rose", "a daisy"]], columns=Columns()), Columns())
        >>> sample(reading, 2).num_documents
        3
    """
    chance = np.random.Generator(np.random.PCG64(seed))
    content = "text" if reading.columns.vectors is None else "vector"
    drawn = _Drawn(content, most, [], np.zeros(0))
    for batch in reading:
        documents = batch if extract is None else extract(batch).select(["row", "text"])
        drawn.add(documents, chance.random(len(batch)))
    table = drawn.close()
    rows = table.column("row").cast(pa.int64()).to_numpy()
    ids = _ids(reading)
    kind = pa.large_string() if content == "text" else schemas.VECTORS.field(content).type
    columns = {"id": ids.take(pa.array(rows)), content: table.column(content).cast(kind)}
    if reading.columns.beside:
        urls = reading.beside(reading.columns.beside[0])
        columns |= {"url": urls.take(pa.array(rows))} if urls.null_count < len(urls) else {}
    return DocumentSample(pa.table(columns), reading.num_documents, ids, rows, extract is not None, (*reading.skipped,))


def _ids(reading: Reading) -> pa.Array:
    """What all documents are called: by their own ids, or `source:position`."""
    origins = reading.origins.combine_chunks()
    names = pa.array([part.name for part in reading.all_parts], pa.string())
    sources = names.take(origins.column("source").combine_chunks()) if len(origins) else pa.nulls(0, pa.string())
    positions = origins.column("position").combine_chunks().cast(pa.string())
    return computing.coalesce(
        origins.column("id").combine_chunks(), computing.binary_join_element_wise(sources, positions, ":")
    )
