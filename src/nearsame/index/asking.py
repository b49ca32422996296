"""What is wanted of an answer, and the answer: the best of what a store has that resembles documents.

1. A condition on columns chooses among what resembles a document. In a crowd more of it is looked at than is wanted,
   and of a value that few documents have, all these, so that a crowd does not hide them.
2. A threshold below the index's own is verified as any other; what its keys find of it is computed, and said.
"""

from collections.abc import Sequence

import numpy as np

from nearsame.answers.matches import Matches
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.index.columns import Condition, Where, conditions, key_of, passes, unpacked
from nearsame.index.facet import Facets
from nearsame.index.search import Resembling, ask, evidence_of, look_up, matches_of
from nearsame.index.shelves import Blobs, WholeBlob
from nearsame.index.sketched import query_sketch
from nearsame.recipes.arguments import require_number
from nearsame.recipes.given import Number
from nearsame.shares import exactly
from nearsame.stores.base import Reader, Row

__all__ = ["Wanting", "answers", "asked", "of_sketch"]

_CHOSEN_FROM = 2048  # documents, at least: so many of a crowd are looked at for those that fulfil a condition


@dataclass(frozen=True)
class Wanting:
    """What is wanted.

    Attributes:
        facets: of the index, with the threshold that is asked for.
        limit: matches of each document, at most.
        where: what they must fulfil.
        recall: the chance to find a document at the threshold, where that is below the index's own.
        but: the id of a document that is not wanted.
    """

    facets: Facets
    limit: int
    where: Sequence[Condition] = ()
    recall: float | None = None
    but: str | None = None

    @property
    def enough(self) -> int:
        """How many of the best are looked at."""
        return (max(self.limit, _CHOSEN_FROM) if self.where else self.limit) + (self.but is not None)

    @property
    def searched(self) -> Sequence[int]:
        """By which facets: in a crowd each may show another part of those that a condition chooses among."""
        return range(len(self.facets)) if self.where else self.facets.sufficient

    def chosen(self, rows: Sequence[Row]) -> list[Row]:
        """Those that fulfil what they must."""
        if not self.where:
            return list(rows)
        return [row for row in rows if passes(self.where, unpacked(self.facets, row.items))]


def asked(facets: Facets, kept: Sequence[str], limit: int, threshold: Number | None, where: Where | None) -> Wanting:
    """What is wanted, as a caller says it.

    Raises:
        ConfigError: It cannot be had of this index.
    """
    require_number("limit", limit, 1)
    lowered, recall = (facets, None) if threshold is None else _with_threshold(facets, threshold)
    return Wanting(lowered, limit, conditions(where, kept), recall)


def answers(reader: Reader, blobs: Blobs | WholeBlob, wanted: Wanting) -> list[Matches]:
    """What resembles each document."""
    facets = wanted.facets
    questions = ask(facets, blobs.of(wanted.searched), wanted.searched)
    resembling = look_up(reader, facets, questions, wanted.enough, filtered=bool(wanted.where))
    few = _few(reader, wanted) if resembling.is_cut.any() else None
    chosen = [
        (few, False) if is_cut and few is not None else (_rows(resembling, at, wanted), is_cut)
        for at, is_cut in enumerate(resembling.is_cut.tolist())
    ]
    equal = [at for at, (rows, _) in enumerate(chosen) if rows and resembling.has_equal(at)]
    # by the facets that were not searched nothing is alike that is not equal by those that were
    whole = dict(zip(equal, blobs.whole(equal), strict=True)) if equal else {}
    found: list[Matches] = []
    for at, (rows, is_cut) in enumerate(chosen):
        if at in whole:
            evidence = evidence_of(facets, whole[at], rows)
        else:
            evidence = resembling.evidence(facets, at, rows) if rows else []
        matches = matches_of(facets, rows, evidence, wanted.limit, is_cut=is_cut, but=wanted.but)
        matches.recall = wanted.recall
        found.append(matches)
    return found


def of_sketch(reader: Reader, sketch: Sequence[object], wanted: Wanting) -> Matches:
    """What resembles a document of which only the sketch is known, in an index of sets."""
    found = query_sketch(reader, wanted.facets, sketch, wanted.enough)
    matches = [match for match in found if passes(wanted.where, match.columns)]
    may_lack = bool(wanted.where) and len(found) >= wanted.enough  # others of them were not looked at
    return Matches(matches[: wanted.limit], complete=found.complete and not may_lack, recall=wanted.recall)


def _rows(resembling: Resembling, at: int, wanted: Wanting) -> list[Row]:
    return wanted.chosen([resembling.rows[number] for number in resembling.numbers(at)])


def _few(reader: Reader, wanted: Wanting) -> list[Row] | None:
    """All documents that fulfil the conditions, if one of these says that they are few."""
    for condition in wanted.where:
        if condition.operator == "=" and "" not in condition.values:
            keys = np.unique(np.array([key_of(condition.name, value) for value in condition.values], np.int64))
            numbers = reader.postings(keys, _CHOSEN_FROM + 1).numbers
            if numbers.size <= _CHOSEN_FROM:
                return wanted.chosen(list(reader.rows(np.unique(numbers).tolist()).values()))
    return None


def _with_threshold(facets: Facets, threshold: Number) -> tuple[Facets, float | None]:
    """The facets, the first one that compares contents with another threshold; and what is found of it, if less."""
    at = next((at for at, facet in enumerate(facets) if facet.measure), None)
    if at is None:
        message = f"threshold={threshold} does nothing in an index of {', '.join(f.name for f in facets)}"
        raise ConfigError(message, hint="Leave it out.")
    own, other = facets[at], facets[at].with_threshold(threshold)
    recall = None
    if other.bound.p * own.bound.q < own.bound.p * other.bound.q:
        recall = own.recall_of(other)
        if recall is None:
            least = exactly(own.bound.p / own.bound.q)
            message = f"threshold={threshold} is below {least}, by which the index finds candidates"
            raise ConfigError(message, hint="Create an index with a lower threshold.")
    return Facets((*facets[:at], other, *facets[at + 1 :])), recall
