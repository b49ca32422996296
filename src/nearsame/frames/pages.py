"""Web pages in a column of DataFrames: the text is taken out of them where they lie, by the stage of one machine.

1. Everything else of a row passes by; what is counted of pages stands behind it, in the columns FOUND.
2. A page of an archive stands in `text` as it came, in whatever encoding, and what its header says beside it, in the
   columns HEADER.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import schemas
from nearsame.dataclass import dataclass
from nearsame.engines.spark.verbs import Verbs
from nearsame.sources import Columns
from nearsame.sources.page_records import are_cut, as_pages
from nearsame.stages.texts.page_content import ELSEWHERE, NOWHERE, VISIBLE
from nearsame.stages.texts.page_text import TALLIES, PageTexts

__all__ = ["FOUND", "HEADER", "AsBytes", "extracted", "page_counts", "page_sums"]

FOUND = ("found", "bounded", "cut")  # of EXTRACTED, and whether `max_document` cut markup of a column
HEADER = ("charset", "mime")  # of PAGES
_PLACES = (VISIBLE, ELSEWHERE, NOWHERE)
_CONDITIONS = dict(zip((*TALLIES, "cut"), (*(f"found = {place}" for place in _PLACES), "bounded", "cut"), strict=True))


def extracted(records: Any, columns: Columns) -> Any:
    """Rows whose `text` is what a reader sees of the page in it, and FOUND."""
    types = [(name, kind) for name, kind in records.dtypes if name not in HEADER]
    types += zip(FOUND, ("tinyint", "boolean", "boolean"), strict=True)
    schema = ", ".join(f"`{name}` {kind}" for name, kind in types)
    return Verbs.map_batches(records, _Extracting(columns), schema)


@dataclass(frozen=True)
class AsBytes:
    """The stage that takes pages for their bytes, as many of each as are read."""

    columns: Columns

    output = schemas.DOCUMENTS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """DOCUMENTS of a batch of rows with markup."""
        body = as_pages(batch.column("row"), batch, self.columns).column("body")
        return pa.RecordBatch.from_arrays([batch.column("row"), body.view(pa.large_string())], schema=schemas.DOCUMENTS)


@dataclass(frozen=True)
class _Extracting:
    """Batches of rows with pages to the same with texts."""

    columns: Columns

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        stage = PageTexts(self.columns.extract)
        for batch in batches:
            made = stage(_pages(batch, self.columns))
            values = {name: batch.column(name) for name in batch.schema.names if name not in HEADER}
            values |= {name: made.column(name) for name in ("text", "found", "bounded")}
            of_column = HEADER[0] not in batch.schema.names
            values["cut"] = pa.array(are_cut(batch, self.columns) if of_column else np.zeros(len(batch), np.bool_))
            yield pa.RecordBatch.from_arrays([*values.values()], names=[*values])


def _pages(batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """PAGES of a batch of rows."""
    if HEADER[0] not in batch.schema.names:
        return as_pages(batch.column("row"), batch, columns)
    body = batch.column("text").cast(pa.large_string()).view(pa.large_binary())
    return pa.RecordBatch.from_arrays([batch.column("row"), body, *map(batch.column, HEADER)], schema=schemas.PAGES)


def page_sums() -> dict[str, str]:
    """What is counted of documents that are pages: a number for each, in SQL."""
    return {name: f"if({condition}, copies, 0)" for name, condition in _CONDITIONS.items()}


def page_tallies(tables: Iterable[pa.Table]) -> dict[str, int]:
    """The same of documents that stand in tables, those of them that are pages."""
    counts = Counter[str]()
    for table in tables:
        if {*FOUND} <= {*table.column_names}:
            for batch in table.select(FOUND).drop_null().to_batches():
                counts.update(PageTexts.tally(batch))
    return counts


def page_counts(counts: Mapping[str, int], aside: Counter[str]) -> dict[str, Any]:
    """The same as statistics have it, with what stood aside in archives."""
    others = {what: number for what, number in sorted(aside.items(), key=_most_first) if what != "cut"}
    cut = aside["cut"] + counts.get("cut", 0)
    return {"passed_over": others, "cut": cut, **{name: counts.get(name, 0) for name in TALLIES}}


def _most_first(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]
