"""What an engine is: a few verbs over tables of batches, and no idea of what a duplicate is.

1. A flow is the engine's own handle on a table that may not have been computed yet.
2. Stages, folds and rules are handed in by the pipeline; an engine decides only where and when they run.
3. It may fuse, spill and partition as it likes; the answers don't change.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.arrow import Rows

__all__ = ["Engine", "Fold", "Machine", "MeetingRule", "SplitStage", "Stage"]


class Stage(Protocol):
    """A pure function from a batch to a batch: what Spark's mapInArrow wants, one batch at a time."""

    @property
    def output(self) -> pa.Schema:
        """The schema of what it returns."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """A batch with the columns of `output`, made of this one alone."""


@runtime_checkable
class SplitStage(Stage, Protocol):
    """A stage that does its rows one by one, by a function of plain values, which another process may run.

    stage(batch) is stage.result(batch, [stage.work(*task) for task in stage.tasks(batch)]).
    """

    work: Callable[..., Any]  # of a module

    @property
    def holds_lock(self) -> bool:
        """Whether the work keeps Python's lock, so that only another process runs alongside it."""

    def tasks(self, batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        """The arguments of `work`, for each row that needs it."""

    def result(self, batch: pa.RecordBatch, answers: Iterable[Any]) -> pa.RecordBatch:
        """What the stage returns, of what `work` has returned."""


class Fold(Protocol):
    """A reduction whose result goes back to every worker."""

    def start(self) -> Any:
        """The state of nothing."""

    def add(self, state: Any, batch: pa.RecordBatch, part: int, parts: int, /) -> Any:
        """The state with a share of a batch added; different parts may run at once on one state."""

    def merge(self, a: Any, b: Any) -> Any:
        """The state of both."""

    # A fold that does better with several batches at once also has
    # add_many(state, batches, part, parts): the same as `add` with each.
    # One whose state is a table of any size, and no array, also has two static methods:
    # cut(state, parts): numbered pieces of the state, each with its share of the table, and
    # joined(pieces): the piece, or the state, that several add up to.


class MeetingRule(Protocol):
    """What is done with documents that meet in buckets; see stages/clusters/keepers.py and stages/pairs/join.py."""


class Engine(Protocol):
    """The verbs of every engine."""

    room: dict[str, Any]  # where named steps are kept, and what else was chosen by what the memory holds

    @property
    def table_bytes(self) -> int:
        """The most that a table which all workers share may take."""

    def map(self, flow: Any, *stages: Stage) -> Any:
        """Each batch through stages; lazy."""

    def keep(self, flow: Any, step: str = "") -> Any:
        """Compute a flow once, to be read many times; a step with a name may be resumed."""

    def fold(self, flow: Any, fold: Fold) -> Any:
        """Reduce a flow to one state."""


class Machine(Engine, Protocol):
    """The verbs of an engine whose rows have numbers, and whose memory all workers share."""

    threads: int
    seconds: Any  # time that workers spent in each stage
    tallies: Any  # what stages that have a `tally` count of their batches, by name
    groups: Rows | None  # by row: documents of two groups neither equal each other nor meet

    @property
    def record_bytes(self) -> int:
        """What one record may take of the memory while it is read and prepared."""

    @property
    def free_bytes(self) -> int:
        """What of the memory is free for other things while no step runs."""

    def ending(self) -> AbstractContextManager[None]:
        """What ends the block early, an error or an interruption, ends all that was begun."""

    def expect(self, num_bytes: int) -> None:
        """About so much will be kept: say now if there is no place for it."""

    def load(self, batches: Any) -> Any:
        """A flow over batches that can be read once."""

    def once(self, step: str, compute: Callable[[], tuple[npt.NDArray[Any], ...]]) -> tuple[npt.NDArray[Any], ...]:
        """The arrays of a step, computed or, where an earlier run got so far, found."""

    def only(self, flow: Any, chosen: npt.NDArray[np.bool_]) -> Any:
        """The rows of a flow that are chosen, by row number."""

    def take(self, flow: Any, rows: Rows, columns: Sequence[str] = ...) -> tuple[Any, Rows]:
        """The items of a few rows, in their order, and another column's behind them: (items as uint64, offsets)."""

    def collect(self, flow: Any) -> pa.Table:
        """All rows of a flow that is known to be small."""

    def collapse(self, flow: Any, ranks: Rows) -> Rows:
        """For each row the best row with equal features, or itself: shuffled by digest, then compared."""

    def meet(self, keys: Any, features: Any, ranks: Rows, columns: Sequence[str] = ...) -> Any:
        """Documents that share a key, grouped by it, what they are compared by beside them (shuffle and attach)."""

    def decide(self, meeting: Any, rule: MeetingRule) -> Any:
        """Who is removed, and by whose witness."""

    def sample(self, meeting: Any, rule: MeetingRule) -> Any:
        """Some of the pairs, and by what to multiply their number to predict that of all."""

    def join(self, meeting: Any, rule: MeetingRule) -> Any:
        """All pairs that are similar, in parts."""
