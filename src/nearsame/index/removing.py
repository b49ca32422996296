"""Documents out of an index, and what that means for those that stay.

1. If the first of the documents with the same items goes, the next one of them takes over its keys.
2. Whoever followed a document that goes is decided anew, in order: it follows another, or leads.
"""

from collections.abc import Sequence

import numpy as np

from nearsame.arrow import Int64s
from nearsame.index.facet import Facets
from nearsame.index.search import Questioned, ask, followed, look_up
from nearsame.stores.base import Row, Writer

__all__ = ["follow_anew", "remove"]

_AT_ONCE = 256


def remove(writer: Writer, facets: Facets, numbers: Sequence[int]) -> None:
    """Take documents out, by number; all of them are there."""
    going = set(numbers)
    orphans = {follower for number in numbers for follower in writer.followers(number)} - going
    for start in range(0, len(numbers), _AT_ONCE):
        rows = list(writer.rows(numbers[start : start + _AT_ONCE]).values())
        _remove(writer, rows, ask(facets, [row.items for row in rows]))
    follow_anew(writer, facets, np.array(sorted(orphans), np.int64))


def _remove(writer: Writer, rows: Sequence[Row], asked: Questioned) -> None:
    numbers = np.array([row.number for row in rows], np.int64)
    parts = [(keys.sets[keys.present], numbers[keys.present]) for keys in asked.keys]
    parts += [(keys, numbers[rows]) for keys, rows in (*(some[2:] for some in asked.keys), asked.column_keys)]
    leads = [_first_of(writer, keys.sets) == numbers if keys.keys.size else None for keys in asked.keys]
    writer.delete(numbers.tolist(), *(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    for keys, led in zip(asked.keys, leads, strict=True):
        if led is None:
            continue
        heirs = _first_of(writer, keys.sets)
        chosen = np.zeros(heirs.size, np.bool_)
        chosen[np.flatnonzero(led & (heirs >= 0) & keys.present)] = True
        passed = chosen[keys.rows]
        writer.post(keys.keys[passed], heirs[keys.rows[passed]])


def _first_of(writer: Writer, keys: Int64s) -> Int64s:
    """The smallest number of each key; -1 where there is none."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    first = np.full(distinct.size, -1, np.int64)
    hits = writer.postings(distinct, 1)
    first[hits.places] = hits.numbers
    return first[inverse]


def follow_anew(writer: Writer, facets: Facets, numbers: Int64s, *, earlier_only: bool = False) -> None:
    """Decide for documents, by number and ascending, whom they follow; `earlier_only`: nobody that came later."""
    pending = set() if earlier_only else set(numbers.tolist())
    for start in range(0, numbers.size, _AT_ONCE):
        some = numbers[start : start + _AT_ONCE].tolist()
        rows = writer.rows(some)
        resembling = look_up(writer, facets, ask(facets, [rows[number].items for number in some]), 2, ranked=False)
        leaders = {number: row.leader for number, row in resembling.rows.items()}
        decided: dict[int, int | None] = {}
        for at, number in enumerate(some):
            hits = [
                [hit for hit in facet_hits if hit.number < number or not (earlier_only or hit.number in pending)]
                for facet, facet_hits in zip(facets, resembling.hits[at], strict=True)
                if facet.name != "url"
            ]
            decided[number] = followed(hits, leaders.get)
            leaders[number] = decided[number]
            pending.discard(number)
        writer.lead((number, leader) for number, leader in decided.items() if leader != rows[number].leader)
