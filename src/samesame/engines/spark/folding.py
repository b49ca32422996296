"""Reductions whose result goes back to every worker: partial states, merged on the way to the driver.

1. There are no more partial states than tasks that run at once: each task folds many partitions.
2. A state that is an array is cut into chunks, which are merged by the cluster; chunks of zeros do not travel.
3. Any other state is small, and merged by the driver in the order of the partitions.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from samesame.engines.spark.mapping import map_batches

__all__ = ["fold_frame"]

_CHUNK_BYTES = 1 << 20
_STATES = pa.schema([("chunk", pa.int64()), ("state", pa.binary())])


def fold_frame(frame: Any, fold: Any) -> Any:
    """Reduce a frame to one state."""
    slots = max(1, frame.sparkSession.sparkContext.defaultParallelism)
    partial = map_batches(frame.coalesce(slots), _Partial(fold), _STATES)
    start = fold.start()
    return _array(partial, fold, start) if isinstance(start, np.ndarray) else _small(partial, fold, start)


class _Partial:
    """The fold over one partition; each piece of its state with its number."""

    def __init__(self, fold: Any) -> None:
        self.fold = fold

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext, cloudpickle  # noqa: PLC0415  (an extra)

        state = self.fold.start()
        for batch in batches:
            state = self.fold.add(state, batch, 0, 1)
        if not isinstance(state, np.ndarray):
            context = TaskContext.get()
            yield _pieces([(context.partitionId() if context else 0, cloudpickle.dumps(state))])  # type: ignore[no-untyped-call]
            return
        data = state.view(np.uint8)
        for number, start in enumerate(range(0, data.size, _CHUNK_BYTES)):
            chunk = data[start : start + _CHUNK_BYTES]
            if chunk.any():
                yield _pieces([(number, chunk.tobytes())])


def _pieces(found: list[tuple[int, bytes]]) -> pa.RecordBatch:
    numbers, states = zip(*found, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64()), pa.array(states, pa.binary())], schema=_STATES)


def _small(partial: Any, fold: Any, state: Any) -> Any:
    import pickle  # noqa: PLC0415  (what our own workers wrote)

    for row in sorted(partial.collect(), key=lambda row: row.chunk):
        state = fold.merge(state, pickle.loads(bytes(row.state)))  # noqa: S301  (likewise)
    return state


def _array(partial: Any, fold: Any, state: Any) -> Any:
    kind = state.dtype

    def merged(table: pa.Table) -> pa.Table:
        first, *others = (np.frombuffer(each, kind) for each in table.column("state").to_pylist())
        for other in others:
            first = fold.merge(first, other)
        return pa.Table.from_batches([_pieces([(table.column("chunk")[0].as_py(), first.tobytes())])])

    data = state.view(np.uint8)
    for row in partial.groupBy("chunk").applyInArrow(merged, "chunk bigint, state binary").toLocalIterator():
        start = row.chunk * _CHUNK_BYTES
        data[start : start + len(row.state)] = np.frombuffer(bytes(row.state), np.uint8)
    return state
