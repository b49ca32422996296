"""Indexes that store no texts, asked about documents: their own methods decide, and each answer says by what.

1. An index answers as in `nearsame index query`; where it and the run go by Jaccard, by the higher of both thresholds.
2. A witness is a document that was there when the run began: what is added meanwhile is none.
3. The index is made above, and loaded when it is asked.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from fractions import Fraction
from importlib import import_module
from typing import Any, Self, get_args

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.answers.matches import Match, Matches
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple
from nearsame.recipes.choices import ReportedMeasure
from nearsame.recipes.given import Number
from nearsame.recipes.methods import METHODS, Method
from nearsame.sources.memory import Memory
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.keepers import Decided

__all__ = ["MEASURES", "Known", "asked", "documents_of", "similarity_of"]

MEASURES: tuple[ReportedMeasure, ...] = get_args(ReportedMeasure)  # what a similarity may be, by number

_BY_EQUALITY = ("bytes", "text", "url")  # evidence that has no similarity of its own
_AT_ONCE = 256
_FEW = 4  # of the best matches are looked at first
_MOST_PARTS = 1 << 26  # of a similarity of an index


class _Answer(NamedTuple):
    row: int  # of the document
    witness: int = -1  # none: not all that could have been one was compared
    similarity: Fraction = Fraction(0)
    measure: int = 0


@dataclass(frozen=True)
class Known:
    """An index that is asked.

    Attributes:
        where: its path or address.
        part: its documents as a source, which have no texts.
        record: what the recipe of a run says of it: its name, its methods, what it stores.
        threshold: that of the run, where it is higher than its own.
    """

    where: str
    part: Memory
    record: Mapping[str, Any]
    threshold: Number | None = None

    @classmethod
    def of(cls, where: str, part: Memory, method: Method | None) -> Self:
        """An index as a run asks it that compares by a method (None: by none)."""
        with _opened(where) as index:
            stats = index.stats()
        methods = [dict(one) for one in stats.methods]
        by_sets = [one for one in methods if one["method"] in METHODS and METHODS[one["method"]].measure == "jaccard"]
        record = {"name": part.name, "documents": len(part.table), "store": stats.store, "methods": methods}
        raised = method is not None and method.measure == "jaccard"
        if method is None or not by_sets or not raised or method.least <= Fraction(str(by_sets[0]["threshold"])):
            return cls(where, part, record)
        by_sets[0]["threshold"] = method.record()["threshold"]
        return cls(where, part, record, by_sets[0]["threshold"])

    @property
    def remark(self) -> str:
        """What one must know of it."""
        names = ", ".join(dict.fromkeys(one["method"] for one in self.record["methods"]))
        number, where = self.record["documents"], self.part.name.removeprefix("against/")
        documents = f"{number:,} {'document' if number == 1 else 'documents'} of the index {where}"
        return f"{documents}, which stores no texts: it was asked, and went by its own methods, {names}"

    def asking(self) -> AbstractContextManager[Any]:
        """The index, open."""
        return _opened(self.where)

    def matches(
        self, index: Any, documents: Sequence[Mapping[str, Any]], is_wanted: Callable[[Match], bool]
    ) -> list[tuple[Match | None, bool]]:
        """Of each document the best match that is wanted, and whether all that could be one were compared."""
        first = self._asked(index, documents, _FEW)
        return [self._chosen(index, *both, is_wanted) for both in zip(documents, first, strict=True)]

    def _chosen(
        self, index: Any, document: Mapping[str, Any], matches: Matches, is_wanted: Callable[[Match], bool]
    ) -> tuple[Match | None, bool]:
        """The best match that is wanted, if need be of more matches than these."""
        limit = _FEW
        while True:
            wanted = next(filter(is_wanted, matches), None)
            if wanted is not None or len(matches) < limit:
                return wanted, matches.complete
            limit *= 8
            (matches,) = self._asked(index, [document], limit)

    def _asked(self, index: Any, documents: Sequence[Mapping[str, Any]], limit: int) -> list[Matches]:
        answers: list[Matches] = index.query(list(documents), limit=limit, threshold=self.threshold)
        return answers


def _opened(where: str) -> AbstractContextManager[Any]:
    opened: AbstractContextManager[Any] = import_module("nearsame.index.index").Index.open(where, read_only=True)
    return opened


def similarity_of(match: Match) -> tuple[Fraction, ReportedMeasure]:
    """What a match removes a document by: the contents, if they speak for it, or an equal digest or URL."""
    if match.measure and match.similarity is not None and match.found_by[0] not in _BY_EQUALITY:
        return Fraction(match.similarity).limit_denominator(_MOST_PARTS), match.measure
    return Fraction(1), "digest" if {"bytes", "text"} & {*match.found_by} else "url"


def documents_of(texts: Sequence[str], urls: Sequence[str | None]) -> list[dict[str, Any]]:
    """Documents as an index is asked about them."""
    whole = (None if url is not None and "\0" in url else url for url in urls)  # which no index can have
    return [{"id": "", "text": text, "url": url} for text, url in zip(texts, whole, strict=True)]


def asked(
    indexes: Sequence[Known], reading: Reading, batches: Iterable[pa.RecordBatch], entering: Mask
) -> tuple[Decided, Rows, int]:
    """Who goes since an index has it: (decided, by row its measure's number, how many in a crowd no index knows).

    Args:
        indexes: Which are asked, each about what those before it do not know.
        reading: That has read all documents, theirs among them.
        batches: DOCUMENTS.
        entering: By row, whether a document is asked about.
    """
    entering = entering & (np.arange(entering.size) >= reading.num_against)
    told = sorted(_answers(indexes, reading, batches, entering))
    answers = [answer for answer in told if answer.witness >= 0]
    crowded = len({answer.row for answer in told} - {answer.row for answer in answers})
    rows, witnesses = (np.array([answer[at] for answer in answers], np.int64) for at in (0, 1))
    nums, dens = (
        np.array([getattr(answer.similarity, name) for answer in answers], np.int64)
        for name in ("numerator", "denominator")
    )
    return Decided(rows, witnesses, nums, dens), np.array([answer.measure for answer in answers], np.int64), crowded


def _answers(
    indexes: Sequence[Known], reading: Reading, batches: Iterable[pa.RecordBatch], entering: Mask
) -> Iterator[_Answer]:
    urls = reading.beside(reading.columns.beside[0])
    with ExitStack() as stack:
        opened = [(known, stack.enter_context(known.asking()), _Places(known, reading)) for known in indexes]
        for batch in batches:
            rows = batch.column("row").to_numpy()
            of_batch = pa.array(np.flatnonzero(entering[rows]))
            left, texts = rows[of_batch], batch.column("text").take(of_batch)
            for start in range(0, left.size, _AT_ONCE):
                some = left[start : start + _AT_ONCE]
                documents = documents_of(
                    texts.slice(start, _AT_ONCE).to_pylist(), urls.take(pa.array(some)).to_pylist()
                )
                yield from _best(opened, some.tolist(), documents)


class _Places:
    """The row of each document of an index, by its id; in memory are the ids and their order, and no table of them."""

    def __init__(self, known: Known, reading: Reading) -> None:
        number = next(at for at, part in enumerate(reading.all_parts) if part is known.part)
        self._first = int(np.searchsorted(reading.origins.column("source").to_numpy(), number))
        self._ids = known.part.table.column(0).cast(pa.large_string()).combine_chunks()
        self._order = computing.sort_indices(self._ids)

    def row(self, name: str) -> int | None:
        """The row of a document; None where it was not there when the run began."""
        at = bisect_left(range(len(self._order)), name, key=self._name)
        return self._first + self._order[at].as_py() if at < len(self._order) and self._name(at) == name else None

    def _name(self, at: int) -> str:
        name: str = self._ids[self._order[at].as_py()].as_py()
        return name


def _best(opened: Sequence[Any], rows: list[int], documents: list[dict[str, Any]]) -> Iterator[_Answer]:
    """The answers of the first index that knows each document."""
    for known, index, places in opened:
        found = known.matches(index, documents, lambda match, places=places: places.row(match.id) is not None)
        for row, (match, complete) in zip(rows, found, strict=True):
            if match is not None:
                similarity, measure = similarity_of(match)
                yield _Answer(row, places.row(match.id), similarity, MEASURES.index(measure))
            elif not complete:
                yield _Answer(row)
        unknown = [at for at, (match, _) in enumerate(found) if match is None]
        rows, documents = [rows[at] for at in unknown], [documents[at] for at in unknown]
