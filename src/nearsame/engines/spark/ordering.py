"""Dense numbers in a total order of a frame's rows: what Spark sorts, counted partition by partition.

1. The order is by content, and total, so that a task that runs again gives the same numbers.
2. Each row says in which partition it was sorted: the task that numbers it may have another number, where it runs again
   as a part of something else.
3. Counts of partitions are all that comes to the driver.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.engines.spark.mapping import map_batches

__all__ = ["numbered"]

_PART = "nearsame_part"


def numbered(verbs: Any, frame: Any, order: Sequence[tuple[str, bool]], name: str) -> Any:
    """The frame with its rows' places in an order of (column, ascending), in a new column."""
    columns, ascending = zip(*order, strict=True)
    types = ", ".join(f"`{column}` {kind}" for column, kind in frame.dtypes)
    ordered = frame.sort(*columns, ascending=list(ascending)).selectExpr("*", f"spark_partition_id() as {_PART}")
    ordered = verbs.keep(ordered)
    sizes = {row[_PART]: row["count"] for row in ordered.groupBy(_PART).count().collect()}
    parts = range(max(sizes, default=-1) + 1)
    starts = list(accumulate((sizes.get(part, 0) for part in parts), initial=0))
    return map_batches(ordered, _Numbers(starts), f"{types}, {name} bigint")


class _Numbers:
    """Numbers in place of partitions, the last column: those of each begin at its own start."""

    def __init__(self, starts: list[int]) -> None:
        self.starts = starts

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        next_of = np.array(self.starts, np.int64)
        for batch in batches:
            parts = batch.columns[-1].to_numpy()
            numbers = np.empty(len(batch), np.int64)
            for part in np.unique(parts):
                mine = parts == part
                after = next_of[part] + np.count_nonzero(mine)
                numbers[mine], next_of[part] = np.arange(next_of[part], after), after
            yield pa.RecordBatch.from_arrays([*batch.columns[:-1], pa.array(numbers)], names=batch.schema.names)
