"""What pages say, for the layers that ask for it and for the counts: the text is taken out of those that are asked for.

1. The text is taken out of a page once, for all who ask for it, and kept.
2. Pages of one header, one body and one name in the first layer have one text, and but for the first of them the layer
   removes them, if there is a text: so the first one answers for the others.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
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
from nearsame.stages.features.document_facts import About, Describe
from nearsame.stages.texts.page_text import PageTexts
from nearsame.stages.texts.raw import Texts

__all__ = ["Contents", "digested", "first_of_one_text"]


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
    def of_pages(  # noqa: PLR0913, PLR0917  (which pages, in which order, where)
        cls, reading: Reading, asked: Mask, firsts: Rows, priority: Rows, engine: Machine, seed: int
    ) -> "Contents":
        """The texts of the pages that are asked for; those that are not their own first are not read.

        Raises:
            SourceError: A source changed since it was read.
        """
        again = Left.of(reading, ~asked | (firsts != np.arange(firsts.size)), priority)
        again.columns = replace(reading.columns, room=RecordRoom(engine.record_bytes))
        kept = engine.keep(engine.map(engine.load(again), PageTexts(reading.columns.extract)), "texts")
        if again.num_documents != asked.size:
            raise changed()
        for name, number in _tallied_again(kept.batches, firsts).items():
            engine.tallies[name] += number
        reading.require_unchanged()
        flow = digested(_documents(kept.batches), engine, seed)
        about = Describe.close(engine.fold(flow, Describe()))
        known = {name: getattr(about, name)[firsts] for name in ("digest_a", "digest_b", "sizes")}
        return cls(replace(about, **known), kept.batches, flow)


def first_of_one_text(groups: Sequence[Rows], priority: Rows, few: Mask) -> Rows:
    """By row the first of a few documents that are one in all respects: itself, if there is no other.

    Args:
        groups: what documents are one in: of each a number by row.
        priority: who comes first.
        few: whom it is about.

    >>> first_of_one_text([np.array([5, 7, 5, 7])], np.array([3, 2, 1, 0]), np.array([True, True, True, False]))
    array([2, 1, 2, 3])
    """
    rows, firsts = np.flatnonzero(few), np.arange(few.size)
    keys = [group[rows] for group in groups]
    order = np.lexsort((priority[rows], *keys))
    begins = np.ones(rows.size, np.bool_)
    begins[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in keys])
    firsts[rows[order]] = rows[order[np.maximum.accumulate(np.where(begins, np.arange(rows.size), 0))]]
    return firsts


def _tallied_again(texts: Iterable[pa.RecordBatch], firsts: Rows) -> Mapping[str, int]:
    """What is counted of the pages that others answer for."""
    counts, copies = Counter[str](), np.flatnonzero(firsts != np.arange(firsts.size))
    if copies.size:
        times = np.bincount(firsts[copies], minlength=firsts.size)
        for batch in texts:
            here = np.repeat(np.arange(len(batch)), times[batch.column("row").to_numpy()])
            counts.update(PageTexts.tally(batch.select(["found", "bounded"]).take(pa.array(here))))
    return counts


def digested(batches: Iterable[pa.RecordBatch], engine: Machine, seed: int) -> Any:
    """The digest of each text as its only feature."""
    flow = engine.load(batches)
    for stage in (Texts(seed=seed), *steps(Digest()).features[1:]):
        flow = engine.map(flow, stage)
    return engine.keep(flow)


def _documents(texts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in texts:
        yield pa.RecordBatch.from_arrays([batch.column("row"), batch.column("text")], schema=schemas.DOCUMENTS)
