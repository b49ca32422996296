"""Priority over DataFrames: the total order that says which of two similar documents stays.

1. The order is that of `order_of`, with ties by content: a DataFrame has no order of its own. Records of archives have
   one, and go by it last.
2. Nulls come last, whichever way the others are ordered; a text that is not a date is null where dates are needed.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from nearsame.engines.spark.mapping import quoted
from nearsame.frames.documents import GROUP, STANDS
from nearsame.stages.clusters import policies
from nearsame.stages.clusters.dates import moments
from nearsame.stages.clusters.policies import Keep, Order
from nearsame.stages.pairs.evidence import hosts

__all__ = ["prioritised", "unread_dates", "with_numbers"]


def with_numbers(frame: Any, keep: Keep, verbs: Any, *, of_hosts: bool = False) -> Any:
    """The frame whose dates that are written as texts are numbers, and so are the groups; these may come as URLs."""
    types = dict(frame.dtypes)
    changed: dict[str, Callable[[pa.Array], pa.Array]] = {GROUP: hosts} if of_hosts else {}
    written = [name for name, policy in keep.values.items() if policy.by_date and types[name] == "string"]
    if changed := changed | dict.fromkeys(written, _dated):
        types |= dict.fromkeys(written, "bigint")
        schema = ", ".join(f"{name} {kind}" for name, kind in types.items())
        frame = verbs.map_batches(frame, partial(_changed, changed), schema)
    if GROUP not in types:
        return frame
    return frame.withColumn(GROUP, verbs.expression(f"if({GROUP} is null, 0L, xxhash64({GROUP}))"))


def _changed(
    changed: Mapping[str, Callable[[pa.Array], pa.Array]], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        columns = [
            changed[name](column) if name in changed else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _dated(written: pa.Array) -> pa.Array:
    return pa.array(moments(written.cast(pa.large_binary()).to_pylist()), pa.int64())


def unread_dates(sides: tuple[Any, ...], about: Any, keep: Keep) -> tuple[str, ...]:
    """What one must know of dates that could not be read.

    Raises:
        ConfigError: None could.
    """
    notes: tuple[str, ...] = ()
    for name, policy in keep.values.items():
        column = str(policy.column)
        written = [side.frame for side in sides if column in side.frame.columns]
        if not policy.by_date or any(dict(frame.dtypes)[column] != "string" for frame in written):
            continue
        given = sum(frame.filter(f"trim({quoted(column)}) <> ''").count() for frame in written)
        read = about.filter(f"{name} is not null").selectExpr("coalesce(sum(copies), 0) as num").first()["num"]
        notes += policies.unread_dates(policy, given, read)
    return notes


def prioritised(about: Any, order: Order) -> tuple[Any, list[tuple[str, bool]]]:
    """The frame with what its order goes by, and the order, nulls last."""
    marks, columns = [], list[tuple[str, bool]]()
    if STANDS in about.columns:
        order = (*order[:-1], (STANDS, True), *order[-1:])
    for name, ascending in order:
        if name == "id" or name.startswith("value"):
            marks.append(f"{name} is null as no_{name}")
            columns.append((f"no_{name}", True))
        columns.append((name, ascending))
    return about.selectExpr("*", *marks), columns
