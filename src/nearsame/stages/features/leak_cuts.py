"""DOCUMENTS to CUTS: which passages are to go so that nothing is left in which a text would be found.

1. In each turn all windows go that have enough of a text, the best first. What is left is then looked through as any
   document is: words that a cut brings together may be a leak, too.
2. A document in which there is always another one goes as a whole.
"""

from collections.abc import Iterable
from dataclasses import field
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import schemas
from nearsame.dataclass import dataclass
from nearsame.forms.plain import PlainText
from nearsame.passages import Remainder, Span, merged, without
from nearsame.stages.features.leak_windows import windows
from nearsame.stages.features.leaks import LeakStage, byte_spans, covered_by, words_of
from nearsame.stages.features.sought import SoughtTexts

__all__ = ["CutStage"]

_TURNS = 64


@dataclass(frozen=True, eq=False)
class CutStage:
    """The stage that says what is to be cut out."""

    sought: SoughtTexts

    output = schemas.CUTS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """CUTS of a batch of DOCUMENTS."""
        stage, documents = LeakStage(self.sought), dict[int, _Document]()
        places = pa.array(range(len(batch)), pa.int64())
        found = stage(pa.RecordBatch.from_arrays([places, batch.column("text")], schema=schemas.DOCUMENTS))
        for _ in range(_TURNS):
            pairs = zip(found.column("row").to_pylist(), found.column("text").to_pylist(), strict=True)
            turn = {at: [text for _, text in own] for at, own in groupby(pairs, itemgetter(0))}
            if not turn:
                break
            for at, texts in turn.items():
                documents.setdefault(at, _Document(batch.column("text")[at].as_py())).cut(texts, self.sought)
            left = [documents[at].left.text for at in turn]
            found = stage(pa.RecordBatch.from_pydict({"row": list(turn), "text": left}, schema=schemas.DOCUMENTS))
        endless = set(found.column("row").to_pylist())
        stays = {at: at not in endless and document.has_words for at, document in documents.items()}
        lines = [
            (batch.column("row")[at].as_py(), *line, stays[at])
            for at, document in sorted(documents.items())
            for line in document.lines
        ]
        columns = zip(*lines, strict=True) if lines else ([],) * len(self.output)
        arrays = [pa.array(column, kind.type) for column, kind in zip(columns, self.output, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.output)


@dataclass
class _Document:
    """A document, and what is cut out of it so far."""

    whole: str
    spans: list[Span] = field(default_factory=list)
    lines: list[tuple[Any, ...]] = field(default_factory=list)  # columns of CUTS, but for the first and the last

    @property
    def left(self) -> Remainder:
        """What is left of it."""
        return without(self.whole, self.spans)

    @property
    def has_words(self) -> bool:
        """Whether a word is left."""
        return bool(words_of([PlainText.of(self.left.text).text.tobytes()])[0])

    def cut(self, texts: Iterable[int], sought: SoughtTexts) -> None:
        """Cut out all windows that have enough of these texts."""
        left = self.left
        read = PlainText.of(left.text)
        words = words_of([read.text.tobytes()])[0]
        chosen = list(windows(words, texts, sought))
        spans = np.array(byte_spans(read.text, np.array([window[1:] for _, window in chosen], np.int64)), np.int64)
        places = zip(*(side.tolist() for side in read.original(spans[:, 0], spans[:, 1])), strict=True)
        for (text, window), (first, behind) in zip(chosen, places, strict=True):
            start, end = left.origin(first), left.origin(behind - 1) + 1
            own = covered_by(words[window.first : window.behind], text, sought)
            self.lines.append((text, window.shared, start, end, own.first, own.behind, left.text[first:behind]))
        self.spans = merged([*self.spans, *(line[2:4] for line in self.lines)])
