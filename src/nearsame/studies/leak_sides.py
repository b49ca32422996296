"""Leaked items with their passages beside each other: some of them, as a page prints them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from nearsame.outputs.marking import MarkedPiece, of_a, of_b, pieces
from nearsame.recipes.methods import Jaccard
from nearsame.studies.compare import compare

__all__ = ["beside_each_other"]

_ITEMS, _SPANS = 200, 3  # that a page has, and of each
_CHARACTERS = 5_000  # of a passage that are compared


def beside_each_other(items: pa.Table, spans: pa.Table, shingle_size: int, *, texts: bool) -> list[dict[str, Any]]:
    """The items of the largest scores, each with some of its places; with texts, both passages in pieces."""
    shown: list[dict[str, Any]] = items.slice(0, _ITEMS).to_pylist()
    wanted, places = {_key(item) for item in shown}, defaultdict[Any, list[dict[str, Any]]](list)
    for line in _first_of(spans, wanted):
        places[_key(line)].append(line)
    for item in shown:
        item["spans"] = [{**line, "sides": _sides(line, shingle_size) if texts else ()} for line in places[_key(item)]]
    return shown


def _key(line: Mapping[str, Any]) -> tuple[str, str]:
    return line["benchmark"], line["item"]


def _first_of(spans: pa.Table, wanted: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The first lines of each wanted item; they come by text, the largest score first."""
    counts = defaultdict[tuple[str, str], int](int)
    names = zip(spans.column("benchmark").to_pylist(), spans.column("item").to_pylist(), strict=True)
    for at, key in enumerate(names):
        if key in wanted and counts[key] < _SPANS:
            counts[key] += 1
            yield spans.slice(at, 1).to_pylist()[0]


def _sides(line: Mapping[str, Any], size: int) -> tuple[list[MarkedPiece], list[MarkedPiece]]:
    """The passage of the item and that of the document, with what they share marked."""
    own, other = (line[name][:_CHARACTERS] for name in ("item_passage", "passage"))
    passages = compare(own, other, method=Jaccard(shingle_size=size), edits=False).passages
    return pieces(own, of_a(passages), everything=False), pieces(other, of_b(passages), everything=False)
