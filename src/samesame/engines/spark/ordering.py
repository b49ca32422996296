"""Dense numbers in a total order of a frame's rows: what Spark sorts, counted partition by partition.

1. The order is by content, and total, so that a task that runs again gives the same numbers.
2. Counts of partitions are all that comes to the driver.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from samesame.engines.spark.mapping import map_batches

__all__ = ["numbered"]


def numbered(verbs: Any, frame: Any, order: Sequence[tuple[str, bool]], name: str) -> Any:
    """The frame with its rows' places in an order of (column, ascending), in a new column."""
    columns, ascending = zip(*order, strict=True)
    ordered = verbs.keep(frame.sort(*columns, ascending=list(ascending)))
    counts = ordered.selectExpr("spark_partition_id() as part").groupBy("part").count().collect()
    sizes = {row["part"]: row["count"] for row in counts}
    parts = range(max(sizes, default=-1) + 1)
    starts = list(accumulate((sizes.get(part, 0) for part in parts), initial=0))
    types = ", ".join(f"`{column}` {kind}" for column, kind in ordered.dtypes)
    return map_batches(ordered, _Numbers(starts, name), f"{types}, {name} bigint")


class _Numbers:
    """Adds the numbers of one partition."""

    def __init__(self, starts: list[int], name: str) -> None:
        self.starts = starts
        self.name = name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext  # noqa: PLC0415  (an extra)

        at = self.starts[TaskContext.get().partitionId()]  # type: ignore[union-attr]
        for batch in batches:
            numbers = pa.array(np.arange(at, at + len(batch)))
            at += len(batch)
            yield pa.RecordBatch.from_arrays([*batch.columns, numbers], names=[*batch.schema.names, self.name])
