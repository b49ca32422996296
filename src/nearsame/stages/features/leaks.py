"""DOCUMENTS to LEAKS: which of the texts that are looked for stand in a document, and where.

1. The kernel goes by hashes; what it finds is held to the words themselves. A share that the words do not have is
   looked for again, word by word: so nothing is found that is not there, and nothing lost to a collision.
2. Words are those of `plain` texts, on both sides; the places that are told are those of the texts that were given.
3. Of each text a document has one line: the window with the largest share, of these the shortest, of these the first;
   of a text that stands there word for word, the first place.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Bytes, Int64s
from nearsame.dataclass import dataclass
from nearsame.forms.plain import PlainText, plain
from nearsame.kernels import leaks as kernel
from nearsame.kernels import unicode
from nearsame.named import NamedTuple
from nearsame.stages.features.leak_windows import Window, best_window, runs_of
from nearsame.stages.features.sought import FLAGS, KEYS, WHOLE, SoughtTexts, Words
from nearsame.stages.features.token_spans import located
from nearsame.stages.features.words import join_words

__all__ = ["LeakStage", "byte_spans", "covered_by", "words_of"]

_ROOM = 1 << 12  # hits of one document; more where it has more
_LEAST_LINES = 1 << 10
_NOTHING: list[list[Any]] = [[] for _ in schemas.LEAKS.names[1:]]


class _Candidate(NamedTuple):
    """What the hashes say of a text and a document: `at` is the document's place in the batch, start and end bytes."""

    at: int
    document: Bytes  # plain
    text: int
    window: Window
    start: int
    end: int

    @property
    def passage(self) -> bytes:
        """The part of the document."""
        return self.document[self.start : self.end].tobytes()


@dataclass(frozen=True, eq=False)
class LeakStage:
    """The stage that looks for texts."""

    sought: SoughtTexts

    output = schemas.LEAKS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """LEAKS of a batch of DOCUMENTS."""
        given = batch.column("text")
        candidates = list(_placed(arrow.strings(plain(given)), self.sought))
        words = words_of([candidate.passage for candidate in candidates])
        held = (_held(*pair, self.sought) for pair in zip(candidates, words, strict=True))
        lines = list(_lines(filter(None, held), given))
        at, *columns, passages = (list(column) for column in zip(*lines, strict=True)) if lines else ([], *_NOTHING)
        rows = arrow.ints(batch.column("row"))[np.array(at, np.int64)]
        arrays = [pa.array(column, pa.int64()) for column in (rows, *columns)]
        return pa.RecordBatch.from_arrays([*arrays, pa.array(passages, pa.large_string())], schema=self.output)


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


def _placed(texts: arrow.Strings, sought: SoughtTexts) -> Iterator[_Candidate]:
    """The candidates, by document and text, with the bytes of their passages."""
    candidates = _candidates(texts, sought)
    candidates = candidates[np.lexsort((candidates[:, 1], candidates[:, 0]))]
    ends = np.searchsorted(candidates[:, 0], np.arange(texts.offsets.size))
    for at in np.flatnonzero(np.diff(ends)).tolist():
        document = texts.data[texts.offsets[at] : texts.offsets[at + 1]]
        own = candidates[ends[at] : ends[at + 1]]
        for (_, text, *best), span in zip(own.tolist(), byte_spans(document, own[:, 3:]), strict=True):
            yield _Candidate(at, document, text, Window(*best), *span)


def _held(candidate: _Candidate, words: Words, sought: SoughtTexts) -> tuple[_Candidate, Window] | None:
    """A candidate held to its words (itself, another window of the document, or nothing), and its part of the text."""
    _, document, text, window, _, _ = candidate
    covered = covered_by(words, text, sought)
    if covered.shared == window.shared:
        return candidate, covered
    row = words_of([document.tobytes()])[0]
    best = best_window(row, text, sought)
    if best is None:
        return None
    start, end = byte_spans(document, np.array([best[1:]], np.int64))[0]
    covered = covered_by(row[best.first : best.behind], text, sought)
    return candidate._replace(window=best, start=start, end=end), covered


def _lines(found: Iterable[tuple[_Candidate, Window]], given: pa.LargeStringArray) -> Iterator[tuple[Any, ...]]:
    """Rows of LEAKS, with the document's place in the batch for its row."""
    for at, own in groupby(found, lambda pair: pair[0].at):
        lines, text = list(own), given[at].as_py()
        spans = np.array([candidate[-2:] for candidate, _ in lines], np.int64)
        places = zip(*(side.tolist() for side in PlainText.of(text).original(spans[:, 0], spans[:, 1])), strict=True)
        for (candidate, covered), (start, end) in zip(lines, places, strict=True):
            yield at, candidate.text, candidate.window.shared, start, end, *covered[1:], text[start:end]


def byte_spans(document: Bytes, tokens: Int64s) -> list[tuple[int, int]]:
    """The bytes of some rows of tokens, each by its first and the one behind its last."""
    wanted = np.unique(np.concatenate([tokens[:, 0], tokens[:, 1] - 1]))
    starts, ends = located(document, FLAGS, wanted)
    first, last = np.searchsorted(wanted, tokens[:, 0]), np.searchsorted(wanted, tokens[:, 1] - 1)
    return list(zip(starts[first].tolist(), ends[last].tolist(), strict=True))


def words_of(texts: Sequence[bytes]) -> list[Words]:
    """The words of some plain texts."""
    folded, ends = join_words(arrow.packed(texts), FLAGS, arrow.NO_HASHES)
    return [tuple(folded[start:end].tobytes().split()) for start, end in pairwise(ends.tolist())]


def covered_by(words: Words, text: int, sought: SoughtTexts) -> Window:
    """What these words have of a text, as its own tokens: distinct shingles, from the first to behind the last."""
    if sought.kinds[text] == WHOLE:
        is_whole = words == sought.words(text)
        return Window(int(sought.table.least[text]) if is_whole else 0, 0, len(words))
    asked = sought.asked(text)
    starts = {asked[shingle] for shingle in runs_of(words, sought) if shingle in asked}
    return Window(len(starts), min(starts), max(starts) + sought.rule.shingle_size) if starts else Window(0, 0, 0)
