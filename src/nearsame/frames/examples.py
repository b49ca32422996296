"""Some removals with the texts of both sides: a few rows come to the driver because they were asked for."""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.engines.spark.failures import CHANGED, STEADY
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.frames.corpus import Frames
from nearsame.frames.documents import content_of
from nearsame.frames.naming import renamed
from nearsame.outputs.examples import spread

__all__ = ["chosen_removals", "texts"]

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


def texts(corpus: Frames, numbers: list[int]) -> Mapping[int, str | None]:
    """The texts of a few documents, by their numbers; None where only features are at hand.

    Raises:
        SourceError: One is not in the source any more.
    """
    name, _ = content_of(corpus.sides[-1].columns)
    row = renamed(corpus.names)
    rows = corpus.documents.filter(corpus.documents["number"].isin(numbers)).select("row", "number")
    named = [side.records().withColumn("row", Verbs.expression(row)).join(rows, "row") for side in corpus.sides]
    chosen = [
        side.as_texts(records).selectExpr("number", f"cast({name} as string) as text")
        for side, records in zip(corpus.sides, named, strict=True)
    ]
    table = reduce(lambda a, b: a.unionByName(b), chosen).toArrow()
    known = dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    if corpus.remembered is not None:
        return {number: known.get(number) for number in numbers}
    if not known.keys() >= set(numbers):
        raise SourceError(CHANGED, hint=STEADY)
    return known
