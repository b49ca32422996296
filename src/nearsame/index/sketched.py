"""A MinHash signature that somebody else made, against an index that stores sets: theirs are sketched here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearsame.answers.matches import Match, Matches
from nearsame.errors import ConfigError
from nearsame.index.candidates import bound, closest
from nearsame.index.columns import unpacked
from nearsame.index.facet import Facets
from nearsame.index.sets import SetFacet
from nearsame.index.shelves import BlobShelf, same_items
from nearsame.stores.base import Reader, Row

__all__ = ["query_sketch"]


def query_sketch(reader: Reader, facets: Facets, sketch: Sequence[Any], limit: int) -> Matches:
    """The documents whose signature agrees with it, best first.

    Raises:
        ConfigError: The index has no MinHash, or the sketch is of another recipe.
    """
    number = next((number for number, facet in enumerate(facets) if isinstance(facet, SetFacet)), None)
    if number is None:
        raise ConfigError("a sketch is looked up by minhash, which the index does not have", hint="Give the text.")
    facet: Any = facets[number]
    signature = facet.signature(sketch)
    keys, _ = facet.bands(signature[None, :], np.zeros(1, np.int64))
    most = bound(limit)
    hits = reader.postings(np.unique(keys), most + 1)
    (_, numbers), cut = closest(np.zeros_like(hits.numbers), hits.numbers, most)
    is_cut = bool(cut.size) or bool((np.bincount(hits.places) > most).any())
    leads = reader.rows(numbers.tolist())
    able = [(score, row) for score, row in _agreeing(facet, number, facets, signature, list(leads.values()))]
    matches = _listed(reader, facets, number, able, limit)
    return Matches(matches, complete=not is_cut)


def _agreeing(facet: Any, number: int, facets: Facets, signature: Any, rows: Sequence[Row]) -> list[tuple[float, Row]]:
    if not rows:
        return []
    theirs = facet.sketches(BlobShelf(facets, [row.items for row in rows]).items(number))
    equal = (theirs == signature).sum(axis=1).tolist()
    p, q, size = facet.bound.p, facet.bound.q, signature.size
    return [(num / size, row) for num, row in zip(equal, rows, strict=True) if q * num >= p * size]


def _listed(reader: Reader, facets: Facets, number: int, able: list[tuple[float, Row]], limit: int) -> list[Match]:
    """The best of them, each followed by the documents with the same items."""
    matches: list[Match] = []
    for score, row in sorted(able, key=lambda scored: (-scored[0], scored[1].number)):
        key = facets[number].set_key(BlobShelf(facets, [row.items]).row(number, 0))
        copies = reader.rows(reader.postings(np.array([key]), limit).numbers.tolist())
        matches += [
            Match(copy.id, score, "estimated", ("minhash",), None, copy.url, unpacked(facets, copy.items))
            for copy in copies.values()
            if same_items(facets, number, row.items, copy.items)
        ]
        if len(matches) >= limit:
            break
    return matches[:limit]
