"""What pages say, for the layers that ask for it and for the counts: the text is taken out of those that are asked for.

1. A page is asked for if it may still be compared, or if a layer removed it for one of other bytes: only then can it be
   told whether both have one text.
2. Pages of equal bytes have equal texts, so the witness answers for the page.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from nearsame import schemas
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.engines.base import Machine
from nearsame.flow.rereading import Left, changed
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Digest
from nearsame.sources.base import RecordRoom
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.features.document_facts import About, Describe
from nearsame.stages.texts.page_text import PageTexts
from nearsame.stages.texts.raw import Texts

__all__ = ["Contents", "digested"]


@dataclass(frozen=True)
class Contents:
    """Documents by what they say.

    Attributes:
        about: their sizes and digests, of those that were asked for; of a page, of the text in it.
        texts: DOCUMENTS batches, where they were taken out of pages.
        flow: their digests, as a layer compares them.
    """

    about: About
    texts: Iterable[pa.RecordBatch] | None = None
    flow: Any = None

    @classmethod
    def of_pages(cls, reading: Reading, asked: Mask, priority: Rows, engine: Machine, seed: int) -> "Contents":
        """The texts of the pages that are asked for.

        Raises:
            SourceError: A source changed since it was read.
        """
        again = Left.of(reading, ~asked, priority)
        again.columns = replace(reading.columns, room=RecordRoom(engine.record_bytes))
        kept = engine.keep(engine.map(engine.load(again), PageTexts(reading.columns.extract)), "texts")
        if again.num_documents != asked.size:
            raise changed()
        reading.require_unchanged()
        flow = digested(_documents(kept.batches), engine, seed)
        return cls(Describe.close(engine.fold(flow, Describe())), kept.batches, flow)

    def passed_on(self, done: Sequence[Decided], bytes_of: About) -> "Contents":
        """The same, known also of documents that were removed for one of equal bytes; the last layer first."""
        columns = {name: getattr(self.about, name).copy() for name in ("digest_a", "digest_b", "sizes")}
        for decided in reversed(done):
            same = bytes_of.same_text(decided.rows, decided.witnesses)
            for column in columns.values():
                column[decided.rows[same]] = column[decided.witnesses[same]]
        return replace(self, about=replace(self.about, **columns))


def digested(batches: Iterable[pa.RecordBatch], engine: Machine, seed: int) -> Any:
    """The digest of each text as its only feature."""
    flow = engine.load(batches)
    for stage in (Texts(seed=seed), *steps(Digest()).features[1:]):
        flow = engine.map(flow, stage)
    return engine.keep(flow)


def _documents(texts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in texts:
        yield pa.RecordBatch.from_arrays([batch.column("row"), batch.column("text")], schema=schemas.DOCUMENTS)
