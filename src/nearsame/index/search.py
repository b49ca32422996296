"""Documents to what resembles them: candidates by key, each one verified.

1. The only place of the index where anything is compared. It asks a store for keys and rows, a few times for a whole
   batch, never once for each document.
2. A candidate by a key other than a set key stands for all documents with its items: they follow once it is verified.
3. Whom a document follows is decided as `dedup` decides it: the most similar of those that follow nobody.
4. Similarities are floats: rounded quotients of numbers below 2**26 are ordered, and differ, as the quotients do.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nearsame.answers.matches import FoundBy, Match, Matches
from nearsame.arrow import Int64s, frozen
from nearsame.dataclass import dataclass
from nearsame.index.candidates import DistinctKeys, Pairs, bound, candidates, rank, unique_pairs
from nearsame.index.columns import column_keys, unpacked
from nearsame.index.facet import Facet, Facets, Keys
from nearsame.index.shelves import BlobShelf, same_items
from nearsame.kernels.candidates import score_pairs
from nearsame.kernels.scores import EQUAL, Bound, unbounded
from nearsame.named import NamedTuple
from nearsame.recipes.choices import ReportedMeasure
from nearsame.stores.base import Reader, Row

__all__ = [
    "Likenesses",
    "Questioned",
    "Resembling",
    "ask",
    "evidence_of",
    "followed",
    "look_up",
    "matches_of",
    "mosts",
    "similar_pairs",
]

_EQUAL = Bound(EQUAL, 1, 1)


@dataclass(frozen=True)
class Questioned:
    """Documents that are asked about, as they would be stored."""

    facets: Facets
    blobs: Sequence[bytes]
    shelf: BlobShelf
    keys: Sequence[Keys]  # by facet that is searched by
    searched: Sequence[int]  # which ones these are

    @cached_property
    def column_keys(self) -> Pairs:
        """(keys, rows) of the values of columns that are kept."""
        return column_keys(self.facets, self.blobs)

    def all_keys(self) -> Int64s:
        """Every key of every document, ascending and distinct."""
        return np.unique(np.concatenate([part for keys in self.keys for part in (keys.sets[keys.present], keys.keys)]))


class Hit(NamedTuple):
    """A document of the store that is similar to one that was asked about."""

    number: int
    value: float  # of its facet's measure
    is_copy: bool = False  # has the same items
    is_first: bool = False  # the first of all that have its items: only that one may be followed


class Likenesses(NamedTuple):
    """What holds between a document and a row."""

    found_by: tuple[FoundBy, ...]
    similarity: float | None
    measure: ReportedMeasure | Literal[""]
    distance: int | None


@dataclass(frozen=True)
class Resembling:
    """What resembles documents that were asked about.

    Attributes:
        hits: by document and facet.
        blobs: of the documents.
        rows: of every hit.
        shelf: of the documents, and behind them what was fetched.
        places: where on it a number is, of those that are.
        is_cut: of each document, whether it has more candidates than were compared with it.
    """

    hits: Sequence[Sequence[list[Hit]]]
    blobs: Sequence[bytes]
    rows: dict[int, Row]
    shelf: BlobShelf
    places: dict[int, int]
    is_cut: npt.NDArray[np.bool_]

    def numbers(self, at: int) -> list[int]:
        """All that resemble a document, each once."""
        return list(dict.fromkeys(hit.number for hits in self.hits[at] for hit in hits))

    def evidence(self, facets: Facets, at: int, rows: Sequence[Row]) -> list[Likenesses]:
        """What holds between a document, by what it was searched by, and some rows that resemble it."""
        if not all(row.number in self.places for row in rows):  # some are copies of what was compared
            return evidence_of(facets, self.blobs[at], rows)
        return _evidence(facets, self.shelf, at, [self.places[row.number] for row in rows])

    def has_equal(self, at: int) -> bool:
        """Whether anything is equal to a document for some facet: without that, it is for no stricter one."""
        return any(hit.value == 1 for hits in self.hits[at] for hit in hits)


def ask(facets: Facets, blobs: Sequence[bytes], searched: Sequence[int] | None = None) -> Questioned:
    """Make ready to ask about documents, by all facets, or by those of some by which any document has items."""
    shelf = BlobShelf(facets, blobs)
    by = range(len(facets)) if searched is None else [number for number in searched if shelf.has_items(number)]
    return Questioned(facets, blobs, shelf, [facets[number].keys(shelf.items(number)) for number in by], by)


def look_up(  # noqa: PLR0913  (how the answer is used decides what has to be looked at)
    reader: Reader,
    facets: Facets,
    asked: Questioned,
    most: int,
    *,
    ranked: bool = True,
    filtered: bool = False,
) -> Resembling:
    """What resembles each document: all different ones, and of those with the same items the first `most`.

    Of `ranked` answers the best `most` are among them: documents that have the same items for one method, an address
    say, and are ranked by another one, are all looked at; so they are where answers are `filtered` afterwards. In a
    crowd all this is bounded: see candidates.py.
    """
    limits = [bound(most)] * len(facets) if filtered else mosts(facets, most) if ranked else [most] * len(facets)
    by_search = [limits[number] for number in asked.searched]
    sets, others, is_cut = candidates(reader, len(asked.blobs), asked.keys, by_search, bound(most))
    rows = reader.rows(_distinct(pairs[1] for pairs in (*sets, *others)))
    hits = [[[] for _ in facets] for _ in asked.blobs]  # type: list[list[list[Hit]]]
    if not rows:
        return Resembling(hits, asked.blobs, rows, asked.shelf, {}, is_cut)
    numbers = list(rows)
    shelf = BlobShelf(facets, [*asked.blobs, *(rows[number].items for number in numbers)])
    places = {number: len(asked.blobs) + at for at, number in enumerate(numbers)}
    copied: list[tuple[int, int, Hit]] = []  # document, facet, of a candidate that stands for others
    for number, of_sets, of_others in zip(asked.searched, sets, others, strict=True):
        pairs = _merged(of_sets, of_others)
        if not pairs[0].size:
            continue
        own = set(zip(*(part.tolist() for part in of_sets), strict=True))
        first = set(zip(*(part.tolist() for part in _first_of_each(of_sets)), strict=True))
        stands_for = most if limits[number] == most else bound(most)  # of the similar ones so many, the best
        for at, other, value, place in _verified(facets[number], shelf.items(number), pairs, places):
            is_copy = (at, other) in own and same_items(facets, number, asked.blobs[at], rows[other].items)
            hit = Hit(other, value, is_copy, not is_copy or (at, other) in first)
            hits[at][number].append(hit)
            if not is_copy and most > 1 and place < stands_for:
                copied.append((at, number, hit))
    answer = Resembling(hits, asked.blobs, rows, shelf, places, is_cut)
    for limit in sorted(set(limits)):
        if some := [copy for copy in copied if limits[copy[1]] == limit]:
            _add_copies(reader, facets, answer, some, limit, bound(most))
    return answer


def mosts(facets: Facets, most: int) -> list[int]:
    """Of documents with the same items, by facet, how many the best `most` can be among, or how many are looked at."""
    return [most if able else bound(most) for able in facets.in_order]


def _first_of_each(pairs: Pairs) -> Pairs:
    """Of each document the smallest number."""
    if pairs[0].size < 2:
        return pairs
    a, b = unique_pairs(*pairs)
    new = np.ones(a.size, np.bool_)
    new[1:] = a[1:] != a[:-1]
    return a[new], b[new]


def _merged(one: Pairs, other: Pairs) -> Pairs:
    if not one[0].size or not other[0].size:
        return one if one[0].size else other
    return unique_pairs(np.concatenate([one[0], other[0]]), np.concatenate([one[1], other[1]]))


def _distinct(parts: Iterable[Int64s]) -> list[int]:
    return sorted({number for part in parts if part.size for number in part.tolist()})


def _verified(facet: Facet, items: Any, pairs: Pairs, places: dict[int, int]) -> Iterator[tuple[int, int, float, int]]:
    """(document, number, similarity, how many are better) of those pairs that are similar, of each the best first."""
    documents, numbers = pairs
    rows = np.array([places[number] for number in numbers.tolist()], np.int64)
    num, den = _scored(facet, facet.bound, items, documents, rows).T
    similar = (num >= 0).nonzero()[0]
    documents, numbers, values = documents[similar], numbers[similar], num[similar] / den[similar]
    if similar.size > 1:
        order = np.lexsort((numbers, -values, documents))
        documents, numbers, values = documents[order], numbers[order], values[order]
    columns = (documents, numbers, values, rank(documents))
    return zip(*(column.tolist() for column in columns), strict=True)


def _scored(facet: Facet, bound: Bound, items: Any, a: Int64s, b: Int64s) -> Int64s:
    """(num, den) of each pair of rows, num = -1 where it does not reach the bound."""
    alone = facet.only_equal(items)
    if alone is None or not (alone[a] | alone[b]).any():
        return _run(bound, items, a, b)
    out = np.full((a.size, 2), (-1, 1), np.int64)
    neither, both = ~(alone[a] | alone[b]), alone[a] & alone[b]
    out[neither] = _run(bound, items, a[neither], b[neither])
    out[both] = _run(_EQUAL, items, a[both], b[both])
    return out


def _run(bound: Bound, items: Any, a: Int64s, b: Int64s) -> Int64s:
    out = np.empty((a.size, 2), np.int64)
    score_pairs(bound, items.items, items.starts, items.ends, frozen(a), frozen(b), bound.p, bound.q, out)
    return out


def similar_pairs(facet: Facet, items: Any, a: Int64s, b: Int64s) -> list[float | None]:
    """Of pairs of rows, the similarity where it counts."""
    return [num / den if num >= 0 else None for num, den in _scored(facet, facet.bound, items, a, b).tolist()]


def _add_copies(  # noqa: PLR0913, PLR0917  (what look_up knows by then)
    reader: Reader,
    facets: Facets,
    answer: Resembling,
    copied: list[tuple[int, int, Hit]],
    limit: int,
    most: int,
) -> None:
    """Let the documents with the same items follow those that stand for them, the most similar first."""
    copied.sort(key=lambda copy: copy[0])
    documents = np.array([at for at, _, _ in copied], np.int64)
    keys = np.array(
        [facets[facet].set_key(answer.shelf.row(facet, answer.places[hit.number])) for _, facet, hit in copied],
        np.int64,
    )
    asked = DistinctKeys(keys)
    hits = reader.postings(asked.keys, limit)
    if len(copied) <= most and {hit.number for _, _, hit in copied}.issuperset(hits.numbers.tolist()):
        return  # as nearly always: they stand for themselves only
    at, of = asked.places(hits.places)
    order = np.argsort(of, kind="stable")
    of, numbers = of[order], hits.numbers[at][order]
    is_near = rank(documents[of]) < most
    answer.is_cut[documents[of[~is_near]]] |= limit == most
    of, numbers = of[is_near], numbers[is_near]
    rows = answer.rows
    rows |= reader.rows([number for number in _distinct([numbers]) if number not in rows])
    for at, number in zip(of.tolist(), numbers.tolist(), strict=True):
        document, facet, hit = copied[at]
        is_there = number in rows and number != hit.number
        if is_there and same_items(facets, facet, rows[hit.number].items, rows[number].items):
            answer.hits[document][facet].append(Hit(number, hit.value))


def followed(hits_by_facet: Sequence[list[Hit]], leaders: Callable[[int], int | None]) -> int | None:
    """Whom a document follows: the most similar one that follows nobody; None if there is none.

    Args:
        hits_by_facet: the hits of the document; the first facet that has one decides.
        leaders: whom a number follows; None: nobody.
    """
    for hits in hits_by_facet:
        able = [(hit.value, -hit.number) for hit in hits if hit.is_first and leaders(hit.number) is None]
        if able:
            return -max(able)[1]
    return None


def evidence_of(facets: Facets, blob: bytes, rows: Sequence[Row]) -> list[Likenesses]:
    """What holds between a document, whose blob it is, and others."""
    return _evidence(facets, BlobShelf(facets, [blob, *(row.items for row in rows)]), 0, range(1, len(rows) + 1))


def _evidence(facets: Facets, shelf: BlobShelf, at: int, places: Sequence[int]) -> list[Likenesses]:
    """What holds between one document on a shelf and others."""
    a, b = np.full(len(places), at), np.array(places, np.int64)
    kinds: list[list[FoundBy]] = [[] for _ in places]
    values: list[tuple[float | None, ReportedMeasure | Literal[""]]] = [(None, "")] * len(places)
    distances: list[int | None] = [None] * len(places)
    for number, facet in enumerate(facets):
        items = shelf.items(number)
        if items.starts[at] == items.ends[at]:
            continue  # what has no items is like nothing
        scored = _scored(facet, facet.bound, items, a, b)
        for place in np.flatnonzero(scored[:, 0] >= 0).tolist():
            kinds[place].append(facet.name)
        if facet.measure:
            if (scored[:, 0] < 0).any():
                scored = _scored(facet, unbounded(facet.bound), items, a, b)
            for place, (num, den) in enumerate(scored.tolist()):
                if values[place][0] is None and num >= 0 and den > 0:
                    values[place] = num / den, facet.measure
        if hasattr(facet, "hamming"):
            bits = _scored(facet, facet.hamming, items, a, b).tolist()
            distances = [den - num if num >= 0 and den > 1 else None for num, den in bits]
    return [
        Likenesses(tuple(names), value, measure, distance)
        for names, (value, measure), distance in zip(kinds, values, distances, strict=True)
    ]


def matches_of(  # noqa: PLR0913  (what is known of them)
    facets: Facets,
    rows: Sequence[Row],
    evidence: Sequence[Likenesses],
    limit: int,
    *,
    is_cut: bool,
    but: str | None = None,
) -> Matches:
    """The best of them that hold, best first; among equals the older one; without the one of an id."""
    able = [
        (likeness.similarity or 0, -row.number, row, likeness)
        for row, likeness in zip(rows, evidence, strict=True)
        if likeness.found_by and row.id != but
    ]
    able.sort(key=lambda scored: scored[:2], reverse=True)
    matches = [
        Match(row.id, *likeness[1:3], likeness.found_by, likeness.distance, row.url, unpacked(facets, row.items))
        for _, _, row, likeness in able[:limit]
    ]
    are_best = len(matches) == limit and able[limit - 1][0] == 1  # nothing that was left out is better
    return Matches(matches, complete=are_best or not is_cut)
