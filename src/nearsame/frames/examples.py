"""Some removals with the texts of both sides: a few rows come to the driver because they were asked for."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.engines.spark.failures import CHANGED, STEADY
from nearsame.engines.spark.places import as_path
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.frames.corpus import Frames
from nearsame.frames.documents import FrameSide
from nearsame.frames.naming import renamed
from nearsame.named import NamedTuple
from nearsame.outputs.examples import spread

__all__ = ["ShownDocument", "chosen_removals", "shown", "sources_of"]

_CONSIDERED = 2000  # removals, drawn by their documents' numbers, always the same


def chosen_removals(gone: Any, measure: str, count: int) -> pa.Table:
    """Some removals over the whole range of similarity: number, witness, similarity, measure."""
    columns = ("number", "witness", "num / den as similarity", f"{measure} as measure", "same")
    some = gone.orderBy("number").selectExpr(*columns)
    removals = some.limit(_CONSIDERED).toArrow().sort_by([("similarity", "ascending"), ("number", "ascending")])
    places = spread(
        removals.column("similarity").to_numpy(), np.asarray(removals.column("same")).astype(np.bool_), count
    )
    return removals.take(pa.array(places))


class ShownDocument(NamedTuple):
    """What is shown of a document.

    Attributes:
        text: null where only features are at hand.
        sources: the first and the last file that it stands in; null where Spark does not tell.
    """

    text: str | None = None
    sources: tuple[str | None, str | None] = (None, None)


def shown(corpus: Frames, numbers: list[int]) -> Mapping[int, ShownDocument]:
    """A few documents, by their numbers.

    Raises:
        SourceError: One is not in the source any more.
    """
    name, _ = corpus.sides[-1].content
    row = renamed(corpus.names)
    rows = corpus.documents.filter(corpus.documents["number"].isin(numbers)).select("row", "number")
    named = [side.records(placed=True).withColumn("row", Verbs.expression(row)).join(rows, "row")
             for side in corpus.sides]  # fmt: skip
    chosen = [
        side.as_texts(records).selectExpr("number", f"cast({name} as string) as text", "source")
        for side, records in zip(corpus.sides, named, strict=True)
    ]
    table = reduce(lambda a, b: a.unionByName(b), chosen).toArrow()
    texts = dict(zip(*(table.column(name).to_pylist() for name in ("number", "text")), strict=True))
    files = _first_and_last(table, "number")
    known = {number: ShownDocument(text, files[number]) for number, text in texts.items()}
    if corpus.remembered is not None:
        return {number: known.get(number, ShownDocument()) for number in numbers}
    if not known.keys() >= set(numbers):
        raise SourceError(CHANGED, hint=STEADY)
    return known


def sources_of(
    sides: Sequence[FrameSide], rows: list[int], verbs: Verbs
) -> Mapping[int, tuple[str | None, str | None]]:
    """The first and the last file that some rows stand in, by what they are called."""
    few = verbs.frame(pa.table({"row": pa.array(sorted(set(rows)), pa.int64())})).hint("broadcast")
    placed = [side.records(placed=True).select("row", "source").join(few, "row") for side in sides]
    found = _first_and_last(reduce(lambda a, b: a.unionByName(b), placed).toArrow(), "row")
    return {row: found.get(row, (None, None)) for row in rows}


def _first_and_last(table: pa.Table, key: str) -> dict[int, tuple[str | None, str | None]]:
    """Of each document the first and the last of its files: rows that are the same may stand in several."""
    files = table.group_by(key).aggregate([("source", "min"), ("source", "max")])
    columns = (files.column(name).to_pylist() for name in (key, "source_min", "source_max"))
    return {document: (_plain(first), _plain(last)) for document, first, last in zip(*columns, strict=True)}


def _plain(file: str | None) -> str | None:
    return None if file is None else as_path(file)
