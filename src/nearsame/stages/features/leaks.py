"""DOCUMENTS to LEAKS: which of the texts that are looked for stand in a document, and where.

1. The kernel goes by hashes; what it finds is held to the words themselves. A share that the words do not have is
   looked for again, word by word: so nothing is found that is not there, and nothing lost to a collision.
2. Of each text a document has one line: the window with the largest share, of these the shortest, of these the first;
   of a text that stands there word for word, the first place.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Bytes, Int64s
from nearsame.kernels import leaks as kernel
from nearsame.kernels import unicode
from nearsame.stages.features.sought import FLAGS, KEYS, WHOLE, SoughtTexts, Words
from nearsame.stages.features.token_spans import located
from nearsame.stages.features.words import join_words

__all__ = ["LeakStage", "Window", "best_window"]

_ROOM = 1 << 12  # hits of one document; more where it has more
_LEAST_LINES = 1 << 10


class Window(NamedTuple):
    """A part of a document, by its tokens, and how many of a text's distinct shingles it has."""

    shared: int
    first: int
    behind: int


class _Line(NamedTuple):
    """A row of LEAKS."""

    text: int
    shared: int
    start: int
    end: int
    text_start: int
    text_end: int
    passage: bytes


@dataclass(frozen=True, eq=False)
class LeakStage:
    """The stage that looks for texts."""

    sought: SoughtTexts

    output = schemas.LEAKS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """LEAKS of a batch of DOCUMENTS."""
        texts = arrow.strings(batch.column("text"))
        candidates = _candidates(texts, self.sought)
        rows, lines = list[int](), list[_Line]()
        numbers = arrow.ints(batch.column("row"))
        ends = np.searchsorted(candidates[:, 0], np.arange(len(batch) + 1))
        for at in np.flatnonzero(np.diff(ends)).tolist():
            document = texts.data[texts.offsets[at] : texts.offsets[at + 1]]
            own = candidates[ends[at] : ends[at + 1], 1:]
            some = list(_lines(document, own[np.argsort(own[:, 0])], self.sought))
            lines += some
            rows += [int(numbers[at])] * len(some)
        columns = [rows, *(list(column) for column in zip(*lines, strict=True))] if lines else [[]] * len(self.output)
        arrays = [pa.array(column, field.type) for column, field in zip(columns[:-1], self.output, strict=False)]
        passages = pa.array(columns[-1], pa.large_binary()).view(pa.large_string())
        return pa.RecordBatch.from_arrays([*arrays, passages], schema=self.output)


def _candidates(texts: arrow.Strings, sought: SoughtTexts) -> Int64s:
    """[n, kernel.FIELDS]: what the hashes say, document by document."""
    longest = int(np.diff(texts.offsets).max(initial=0))
    num_texts, most_tokens = len(sought.folded), longest + 66
    scratch = np.zeros((2, 2 * longest + 128), np.uint8), np.empty((2, longest + 66), np.uint64)
    hits = kernel.LeakRoom(
        places=np.empty(most_tokens, np.int64),
        shingles=np.empty(most_tokens, np.int64),
        counts=np.zeros(num_texts, np.int64),
        nexts=np.zeros(num_texts, np.int64),
        touched=np.zeros(num_texts, np.int64),
        seen=np.zeros(int(sought.sizes.max(initial=0)), np.int64),
        by_text=np.empty((2, _ROOM), np.int64),
    )
    out = np.empty((max(num_texts, _LEAST_LINES), kernel.FIELDS), np.int64)
    found, at = [], 0
    while at < texts.offsets.size - 1:
        at, filled, needed = kernel.find(
            texts.data, texts.offsets, at, sought.rule.shingle_size, FLAGS, KEYS, arrow.NO_HASHES, *unicode.tables(),
            *scratch, sought.table, hits, out,
        )  # fmt: skip
        found.append(out[:filled].copy())
        if needed:
            hits = hits._replace(by_text=np.empty((2, needed), np.int64))
    return np.concatenate([np.zeros((0, kernel.FIELDS), np.int64), *found])


def _lines(document: Bytes, candidates: Int64s, sought: SoughtTexts) -> Iterator[_Line]:
    """What the words of a document say of its candidates."""
    spans = _spans(document, candidates[:, 2:])
    row: Words | None = None  # all words of the document, where they have to be looked at
    for (text, *best), span in zip(candidates.tolist(), spans, strict=True):
        window, (start, end) = Window(*best), span
        words, asked = _words(document[start:end]), sought.asked(text)
        if not _confirms(words, asked, window, text, sought):
            row = row or _words(document)
            again = best_window(row, text, sought)
            if again is None:
                continue
            window = again
            words = row[window.first : window.behind]
            start, end = _spans(document, np.array([window[1:]], np.int64))[0]
        whole = sought.kinds[text] == WHOLE
        a, b = (0, len(words)) if whole else _of_text(words, asked, sought)
        before, behind = (int(np.count_nonzero(document[:byte] & 0xC0 != 0x80)) for byte in (start, end))
        yield _Line(text, window.shared, before, behind, a, b, document[start:end].tobytes())


def _spans(document: Bytes, tokens: Int64s) -> list[tuple[int, int]]:
    """The bytes of some rows of tokens, each by its first and the one behind its last."""
    wanted = np.unique(np.concatenate([tokens[:, 0], tokens[:, 1] - 1]))
    starts, ends = located(document, FLAGS, wanted)
    first, last = np.searchsorted(wanted, tokens[:, 0]), np.searchsorted(wanted, tokens[:, 1] - 1)
    return list(zip(starts[first].tolist(), ends[last].tolist(), strict=True))


def _words(text: Bytes) -> Words:
    column = arrow.packed([text.tobytes()])
    folded, ends = join_words(column, FLAGS, arrow.NO_HASHES)
    return tuple(folded[: ends[-1]].tobytes().split())


def _confirms(words: Words, asked: dict[Words, int], window: Window, text: int, sought: SoughtTexts) -> bool:
    """Whether these words have what their hashes have."""
    if sought.kinds[text] == WHOLE:
        return words == sought.words(text)
    return len(set(_runs(words, sought)).intersection(asked)) == window.shared


def _runs(words: Words, sought: SoughtTexts) -> list[Words]:
    size = sought.rule.shingle_size
    return [words[at : at + size] for at in range(len(words) - size + 1)]


def _of_text(words: Words, asked: dict[Words, int], sought: SoughtTexts) -> tuple[int, int]:
    """Which words of a text are in the window: from the first to the one behind the last of its shingles there."""
    starts = [asked[shingle] for shingle in _runs(words, sought) if shingle in asked]
    return min(starts), max(starts) + sought.rule.shingle_size


def best_window(document: Sequence[bytes], text: int, sought: SoughtTexts) -> Window | None:
    """Where a document has the most of a text, by its words alone; None where that is not enough."""
    row, least = tuple(document), int(sought.table.least[text])
    if sought.kinds[text] == WHOLE:
        words = sought.words(text)
        starts = (at for at in range(len(row) - len(words) + 1) if row[at : at + len(words)] == words)
        return next((Window(least, start, start + len(words)) for start in starts), None)
    asked, size, width = sought.asked(text), sought.rule.shingle_size, int(sought.table.widths[text])
    hits = [(at, shingle) for at, shingle in enumerate(_runs(row, sought)) if shingle in asked]
    inside, low, best = Counter[Words](), 0, Window(0, 0, 0)
    for at, shingle in hits:
        inside[shingle] += 1
        while at + size - hits[low][0] > width or inside[hits[low][1]] > 1:
            inside[hits[low][1]] -= 1
            low += 1
        window = Window(sum(1 for count in inside.values() if count), hits[low][0], at + size)
        best = max(best, window, key=lambda one: (one.shared, one.first - one.behind))
    return best if best.shared >= least else None
