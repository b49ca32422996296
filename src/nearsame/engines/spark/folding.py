"""Reductions whose result goes back to every worker: partial states, merged on the way to the driver.

1. There are no more partial states than tasks that run at once: each task folds many partitions.
2. A state that is an array is cut into chunks, and one that is a table into shares of its hashes: these are merged by
   the cluster, and the driver collects each once. Chunks of zeros do not travel. However many tasks there are, no task
   that merges takes more than a few dozen megabytes, or a quarter of a table.
3. Any other state is small, and merged by the driver in the order of the partitions.
"""

import pickle  # what our own workers wrote
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.engines.spark.mapping import map_batches

__all__ = ["chunk_bytes", "fold_frame", "num_tasks"]

_CHUNK_BYTES = 1 << 20, 1 << 14  # at most, at least
_GROUP_BYTES = 1 << 26  # the same chunk of all tasks
_SHARES = 4  # of a table, for each task
_STATES = pa.schema([("piece", pa.int64()), ("state", pa.binary())])
_DDL = "piece bigint, state binary"
Pieces = Iterator[tuple[int, bytes]]


def fold_frame(frame: Any, fold: Any) -> Any:
    """Reduce a frame to one state."""
    slots = num_tasks(frame.sparkSession)
    frame, start = frame.coalesce(slots), fold.start()
    if isinstance(start, np.ndarray):
        return _array(frame, fold, start, chunk_bytes(slots))
    return _table(frame, fold, _SHARES * slots) if hasattr(fold, "cut") else _small(frame, fold, start)


def num_tasks(session: Any) -> int:
    """How many tasks fold at once, each a state of its own."""
    return max(1, int(session.sparkContext.defaultParallelism))


def chunk_bytes(slots: int) -> int:
    """The size of chunks of which one task can merge one for each slot.

    >>> [chunk_bytes(slots) >> 10 for slots in (2, 1000, 100_000)]
    [1024, 64, 16]
    """
    most, least = _CHUNK_BYTES
    return max(least, min(most, 1 << (max(1, _GROUP_BYTES // slots).bit_length() - 1)))


@dataclass(frozen=True)
class _Partial:
    """The fold over one partition; each piece of its state with its number."""

    fold: Any
    pieces: Callable[[Any], Pieces]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        state, many = self.fold.start(), getattr(self.fold, "add_many", None)
        if many is not None:
            state = many(state, batches, 0, 1)
        for batch in batches:  # which `add_many` has used up
            state = self.fold.add(state, batch, 0, 1)
        for piece in self.pieces(state):
            yield _batch(*piece)


@dataclass(frozen=True)
class _Chunks:
    """The chunks of an array that are not all zeros."""

    size: int

    def __call__(self, state: Any) -> Pieces:
        data = state.view(np.uint8)
        for number, start in enumerate(range(0, data.size, self.size)):
            chunk = data[start : start + self.size]
            if chunk.any():
                yield number, chunk.tobytes()


@dataclass(frozen=True)
class _Shares:
    """The shares of a table."""

    cut: Callable[[Any, int], Iterator[tuple[int, Any]]]
    parts: int

    def __call__(self, state: Any) -> Pieces:
        return ((number, pickle.dumps(piece, 5)) for number, piece in self.cut(state, self.parts))


def _whole(state: Any) -> Pieces:
    """A state as it is, with the number of its partition."""
    from pyspark import TaskContext, cloudpickle

    context = TaskContext.get()
    yield context.partitionId() if context else 0, cloudpickle.dumps(state)  # type: ignore[no-untyped-call]


def _batch(number: int, state: bytes) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([number], pa.int64()), pa.array([state], pa.binary())], schema=_STATES)


def _states(frame: Any, fold: Any, pieces: Callable[[Any], Pieces]) -> Any:
    return map_batches(frame, _Partial(fold, pieces), _STATES)


def _small(frame: Any, fold: Any, state: Any) -> Any:
    for row in sorted(_states(frame, fold, _whole).collect(), key=lambda row: row.piece):
        state = fold.merge(state, pickle.loads(bytes(row.state)))  # noqa: S301  (what our own workers wrote)
    return state


def _merged(states: Any, merge: Callable[[list[bytes]], bytes]) -> Iterator[Any]:
    """All pieces of one number merged to one, by the cluster; one partition after the other comes here."""

    def merged(table: pa.Table) -> pa.Table:
        number = table.column("piece")[0].as_py()
        return pa.Table.from_batches([_batch(number, merge(table.column("state").to_pylist()))])

    rows: Iterator[Any] = states.groupBy("piece").applyInArrow(merged, _DDL).toLocalIterator(prefetchPartitions=True)
    return rows


def _table(frame: Any, fold: Any, parts: int) -> Any:
    joined = fold.joined  # without the fold, that may hold a table of its own

    def merge(pieces: list[bytes]) -> bytes:
        return pickle.dumps(joined([pickle.loads(piece) for piece in pieces]), 5)  # noqa: S301  (likewise)

    rows = _merged(_states(frame, fold, _Shares(fold.cut, parts)), merge)
    return joined([pickle.loads(bytes(row.state)) for row in rows])  # noqa: S301  (likewise)


def _array(frame: Any, fold: Any, state: Any, size: int) -> Any:
    kind = state.dtype

    def merge(chunks: list[bytes]) -> bytes:
        first, *others = (np.frombuffer(chunk, kind) for chunk in chunks)
        for other in others:
            first = fold.merge(first, other)
        return bytes(first.tobytes())

    data = state.view(np.uint8)
    for row in _merged(_states(frame, fold, _Chunks(size)), merge):
        data[row.piece * size : row.piece * size + len(row.state)] = np.frombuffer(bytes(row.state), np.uint8)
    return state
