"""What a map folds on its way: a small state that comes with the end of each task; what was made is not read for it.

1. A state merged with itself must stay as it is (a maximum does), as Spark may do a task twice.
2. It counts only if it has seen as many rows as there are. It has not where a worker holds the map between tasks, as it
   does large ones: then who asks has to fold.
"""

from typing import Any

import pyarrow as pa

from nearsame.dataclass import dataclass

__all__ = ["FoldedBeside"]


@dataclass(frozen=True, eq=False)
class FoldedBeside:
    """The stage that looks at what passes.

    Attributes:
        fold: what is made of it.
        sums: Spark's accumulator of (the state, how many rows of each partition it has seen).
    """

    fold: Any
    sums: Any

    @classmethod
    def of(cls, session: Any, fold: Any) -> "FoldedBeside":
        """One that has seen nothing."""
        return cls(fold, session.sparkContext.accumulator(None, _States(fold)))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch as it is."""
        self.sums.add(batch)
        return batch

    def state(self, num_rows: int) -> Any:
        """What has become of so many rows; None: it has not seen them all."""
        state, rows = self.sums.value or (None, {})
        return state if sum(rows.values()) == num_rows else None

    def forget(self) -> None:
        """Give back what was folded: Spark itself keeps an accumulator as long as its session."""
        self.sums.value = None


@dataclass(frozen=True)
class _States:
    """How states are added up, as Spark asks for it: batches where tasks run, and their states on the driver."""

    fold: Any

    def zero(self, value: Any) -> Any:
        """What a task begins with: nothing."""

    def addInPlace(self, known: Any, more: Any) -> Any:  # noqa: N802  (the name that Spark calls)
        """What was known, and a batch or the state of a task."""
        if isinstance(more, pa.RecordBatch):
            state, rows = known or (self.fold.start(), {_partition(): 0})
            (partition,) = rows
            return self.fold.add(state, more, 0, 1), {partition: rows[partition] + len(more)}
        if known is None or more is None:
            return known or more
        known[1].update(more[1])  # tasks are many
        return self.fold.merge(known[0], more[0]), known[1]


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context else 0
