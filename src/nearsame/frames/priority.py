"""Priority over DataFrames: the total order that says which of two similar documents stays.

1. The `against` side first, then (for containment) larger sets, then the value of `keep`, then the order column, then
   id and the 128-bit hash of the text: a DataFrame has no order of its own.
2. Nulls come last, whichever way the others are ordered; a text that is no date counts as null where dates are needed.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from nearsame.errors import ConfigError
from nearsame.frames.parts import quoted
from nearsame.stages.clusters.policies import Keep, moments

__all__ = ["prioritised", "unread_dates", "with_moments"]

_DATES = ("newest", "oldest")
_DESCENDING = ("newest", "max", "last")


def with_moments(frame: Any, keep: Keep, verbs: Any) -> Any:
    """The frame whose `ord` is a number where dates are written as texts, with `undated`: what could not be read."""
    if keep.policy not in _DATES or dict(frame.dtypes)["ord"] != "string":
        return frame
    types = {name: "bigint" if name == "ord" else kind for name, kind in frame.dtypes}
    return verbs.map_batches(frame, _dated, ", ".join(f"{name} {kind}" for name, kind in types.items()))


def _dated(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        at = batch.schema.names.index("ord")
        column = pa.array(moments(batch.column(at).to_pylist()), pa.int64())
        columns = [*batch.columns[:at], column, *batch.columns[at + 1 :]]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def unread_dates(sides: tuple[Any, ...], about: Any, keep: Keep) -> tuple[str, ...]:
    """What one must know of dates that could not be read.

    Raises:
        ConfigError: None could.
    """
    if keep.policy not in _DATES:
        return ()
    given = 0
    for side in sides:
        kinds = dict(side.frame.dtypes)
        if keep.column is None or keep.column not in kinds:
            continue
        if kinds[keep.column] != "string":
            return ()
        given += side.frame.filter(f"trim({quoted(keep.column)}) <> ''").count()
    read = about.filter("ord is not null").selectExpr("coalesce(sum(copies), 0) as num").first()["num"]
    unread = given - read
    if not unread:
        return ()
    counted = f"{unread:,} of {given:,} values of {keep.column!r} are no ISO 8601 dates"
    if not read:
        raise ConfigError(f"keep={keep.policy}:{keep.column}: {counted}", hint="Write them as in 2024-12-31.")
    return (f"{counted}: they come last",)


def prioritised(about: Any, keep: Keep, *, larger_first: bool, by_side: bool) -> tuple[Any, list[tuple[str, bool]]]:
    """The frame with the columns of the order, and the order: (column, ascending), most important first."""
    extra, order = [], []
    if by_side:
        order.append(("side", True))
    if larger_first:
        order.append(("size", False))
    if keep.policy in ("longest", "shortest"):
        order.append(("text_bytes", keep.policy == "shortest"))
    if "ord" in about.columns:
        extra.append("ord is null as no_ord")
        order += [("no_ord", True), ("ord", keep.policy not in _DESCENDING)]
    extra.append("id is null as no_id")
    order += [(name, True) for name in ("no_id", "id", "digest_a", "digest_b", "row")]
    return about.selectExpr("*", *extra), order
