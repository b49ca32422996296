"""Priority over DataFrames: the total order that says which of two similar documents stays.

1. The order is that of `order_of`, with ties by content: a DataFrame has no order of its own.
2. Nulls come last, whichever way the others are ordered; a text that is not a date is null where dates are needed.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from nearsame.frames.inputs import quoted
from nearsame.stages.clusters import policies
from nearsame.stages.clusters.policies import Keep, Order, moments

__all__ = ["prioritised", "unread_dates", "with_moments"]

_NULLABLE = ("value", "id")


def with_moments(frame: Any, keep: Keep, verbs: Any) -> Any:
    """The frame whose `value` is a number where dates are written as texts, with `undated`: what could not be read."""
    if not keep.by_date or dict(frame.dtypes)["value"] != "string":
        return frame
    types = {name: "bigint" if name == "value" else kind for name, kind in frame.dtypes}
    return verbs.map_batches(frame, _dated, ", ".join(f"{name} {kind}" for name, kind in types.items()))


def _dated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        at = batch.schema.names.index("value")
        column = pa.array(moments(batch.column(at).to_pylist()), pa.int64())
        columns = [*batch.columns[:at], column, *batch.columns[at + 1 :]]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def unread_dates(sides: tuple[Any, ...], about: Any, keep: Keep) -> tuple[str, ...]:
    """What one must know of dates that could not be read.

    Raises:
        ConfigError: None could.
    """
    if not keep.by_date:
        return ()
    given = 0
    for side in sides:
        kinds = dict(side.frame.dtypes)
        if keep.column is None or keep.column not in kinds:
            continue
        if kinds[keep.column] != "string":
            return ()
        given += side.frame.filter(f"trim({quoted(keep.column)}) <> ''").count()
    read = about.filter("value is not null").selectExpr("coalesce(sum(copies), 0) as num").first()["num"]
    return policies.unread_dates(keep, given, read)


def prioritised(about: Any, order: Order) -> tuple[Any, list[tuple[str, bool]]]:
    """The frame with what its order goes by, and the order, nulls last."""
    marks, columns = [], list[tuple[str, bool]]()
    for name, ascending in order:
        if name not in about.columns:  # no document has a value
            continue
        if name in _NULLABLE:
            marks.append(f"{name} is null as no_{name}")
            columns.append((f"no_{name}", True))
        columns.append((name, ascending))
    return about.selectExpr("*", *marks), columns
