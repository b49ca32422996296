"""Leaked items with their passages beside each other: some of them, as a page has room for.

1. Names are cut where they are longer than a page can use. Those items are there, of the largest scores, whose names
   have room.
2. Texts come by turns: the first place of each item, then the second ones, as far as there is room.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearsame.outputs.marking import MarkedPiece, of_a, of_b, pieces
from nearsame.outputs.page_data import as_text_bytes
from nearsame.printable import shortened
from nearsame.recipes.methods import Jaccard
from nearsame.studies.compare import compare
from nearsame.studies.report_room import fitting

__all__ = ["beside_each_other"]

_ITEMS, _SPANS = 200, 3  # that a page has, and of each
_CHARACTERS = 5_000  # of a passage that are compared
_LONGEST = 200  # characters of a name
_NAMES_ROOM, _TEXTS_ROOM = 700_000, 1_200_000  # bytes of a page
_ITEM, _SPAN, _PIECE = 300, 1_000, 60  # bytes of what stands around each

Sides = tuple[list[MarkedPiece], list[MarkedPiece]]


def beside_each_other(items: pa.Table, spans: pa.Table, shingle_size: int, *, texts: bool) -> list[dict[str, Any]]:
    """The items of the largest scores, each with some of its places; with texts, both passages in pieces."""
    some: list[dict[str, Any]] = items.slice(0, _ITEMS).to_pylist()
    wanted, places = {_key(item) for item in some}, defaultdict[Any, list[dict[str, Any]]](list)
    for line in _first_of(spans, wanted):
        places[_key(line)].append(line)
    shown = [_named(item, places[_key(item)]) for item in some]
    del shown[fitting(list(map(_size, shown)), _NAMES_ROOM) :]
    if texts:
        _add_sides(shown, [places[_key(item)] for item in some], shingle_size)
    return shown


def _named(item: Mapping[str, Any], places: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """An item and its places, by names that a page has room for."""
    names = {"benchmark": item["benchmark"], "item": item["item"], "columns": ", ".join(item["columns"])}
    spans = [{**place, **_short({"column": place["column"], "id": place["id"]}), "sides": ()} for place in places]
    return {**item, **_short(names), "spans": spans}


def _short(names: Mapping[str, str]) -> dict[str, str]:
    return {name: shortened(value, _LONGEST) for name, value in names.items()}


def _size(item: Mapping[str, Any]) -> int:
    """Bytes of a page that an item takes without texts; beside each text both names stand twice."""
    name = as_text_bytes(item["item"])
    spans = (_SPAN + as_text_bytes(span["column"]) + 2 * name + 2 * as_text_bytes(span["id"]) for span in item["spans"])
    return _ITEM + name + as_text_bytes(item["benchmark"]) + as_text_bytes(item["columns"]) + sum(spans)


def _add_sides(shown: Sequence[Mapping[str, Any]], places: Sequence[Sequence[Mapping[str, Any]]], size: int) -> None:
    """Both passages of the first places, then of the second ones, while there is room."""
    left = _TEXTS_ROOM
    for turn in range(_SPANS):
        for item, lines in zip(shown, places, strict=False):
            if turn < len(item["spans"]):
                sides = _sides(lines[turn], size)
                left -= (cost := sum(_PIECE + as_text_bytes(piece.text) for side in sides for piece in side))
                if left < 0:
                    left += cost
                    continue
                item["spans"][turn]["sides"] = sides


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


def _sides(line: Mapping[str, Any], size: int) -> Sides:
    """The passage of the item and that of the document, with what they share marked."""
    own, other = (line[name][:_CHARACTERS] for name in ("item_passage", "passage"))
    passages = compare(own, other, method=Jaccard(shingle_size=size), edits=False).passages
    return pieces(own, of_a(passages), everything=False), pieces(other, of_b(passages), everything=False)
