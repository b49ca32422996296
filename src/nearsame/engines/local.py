"""One machine: threads over batches, in memory and then in files.

1. Batches are read in order by the calling thread and computed by a pool; results come back in order, and no
   more than a few batches a thread are under way. While there is little to do, the calling thread does it itself: it
   would wait longer for another one than for the work.
2. Filtering copies no features: a narrowed batch is a list view over the same items, made when it is read.
3. Nothing here depends on the number of threads or the size of batches but time.
"""

import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, computing, schemas
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.engines.base import Fold, Stage
from nearsame.engines.checkpoints import Batches, Checkpoints, tallies_of, with_tallies
from nearsame.engines.meeting import apart, assemble, same_features, take_lists
from nearsame.engines.sharing import Sharing
from nearsame.engines.space import ALONE_BYTES, GROWTH, TABLE_BYTES, Space, fitting_threads
from nearsame.kernels.buckets import Meeting
from nearsame.machine import hear_interrupts, num_processors

__all__ = ["Flow", "Local"]

_T = TypeVar("_T")
_LITTLE_BYTES, _FEW_ROWS = 1 << 16, 64  # of a batch, and of all documents: some milliseconds, also where all pairs meet
_WINDOW = 16  # batches that threads fold side by side, each its share of every one


def _nothing(_: pa.RecordBatch) -> dict[str, int]:
    return {}


@dataclass(frozen=True)
class Flow:
    """Batches, and the stages that they have still to go through."""

    batches: Iterable[pa.RecordBatch]
    stages: tuple[Stage, ...] = ()


@dataclass
class Local:
    """The engine of one machine; `threads` defaults to all processors this process may use."""

    threads: int = 0
    memory: int | None = None  # bytes; half of what is free if None
    workdir: Path | None = None  # where what does not fit goes; the system's folder for temporary files if None
    checkpoints: Checkpoints | None = None
    growth: float = GROWTH  # bytes of features for each byte of text
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # thread seconds spent in each stage
    tallies: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # what stages count
    room: dict[str, Any] = field(default_factory=dict)  # what was chosen by what the memory holds
    groups: Rows | None = None  # by row: documents of two groups neither equal each other nor meet

    def __post_init__(self) -> None:
        hear_interrupts()
        self.threads = self.threads or self._fitting()
        self._lock = threading.Lock()
        self._is_closed = False
        self._is_little = _LITTLE_BYTES > 0  # until more was seen
        self._num_rows = 0
        self._sharing = Sharing(self.threads)
        self._pool = self._new_pool()
        self.space = Space(self.memory, self.threads, self.workdir, self.growth)

    def _fitting(self) -> int:
        """How many threads there are, where nobody says it: in a small container of many processors, not all."""
        processors = num_processors()
        return processors if self.memory is not None else fitting_threads(processors, self.growth)

    @property
    def table_bytes(self) -> int:
        """The most that a table which all workers share may take."""
        return TABLE_BYTES + self.space.free_bytes // 2

    @property
    def record_bytes(self) -> int:
        """What one record may take while it is read and prepared."""
        return self.space.record_bytes

    @property
    def free_bytes(self) -> int:
        """What of the memory is free for other things while no step runs."""
        return self.space.free_bytes + self.space.working_bytes

    def close(self) -> None:
        """End the threads: of what they are at, they finish one batch."""
        self._is_closed = True
        self._sharing.close()
        self._pool.shutdown(cancel_futures=True)

    def expect(self, num_bytes: int) -> None:
        """About so much will be kept: an error if that must go to a disk with less room."""
        if self.checkpoints:
            self.space.require_disk(num_bytes - self.checkpoints.num_bytes())
        elif num_bytes > self.space.free_bytes:
            self.space.require_disk(num_bytes)

    def load(self, batches: Iterable[pa.RecordBatch]) -> Flow:
        """A flow over batches that can be read once."""
        return Flow(batches)

    def map(self, flow: Flow, *stages: Stage) -> Flow:
        """Each batch through stages; runs when the flow is read."""
        return Flow(flow.batches, (*flow.stages, *stages))

    def keep(self, flow: Flow, step: str = "") -> Flow:
        """Compute a flow now; of a step that has a name, batches that were finished before are not computed again."""
        if step:
            flow = replace(flow, batches=self._numbered(flow.batches))
            if self.checkpoints:
                self.room[step] = "workdir"
                return self._resumed(flow, step, self.checkpoints)
        shelf = self.space.shelf()
        for batch in self.read(flow):
            shelf.put(batch)
        if step:
            self.room[step] = "files" if shelf.on_disk else "memory"
        return Flow(shelf.close())

    def _numbered(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches of a named step are documents: what is known of each takes memory until the end."""
        for batch in batches:
            self.space.number(len(batch))
            self._num_rows += len(batch)
            self._is_little &= self._num_rows <= _FEW_ROWS
            yield batch

    def _is_large(self, batch: pa.RecordBatch) -> bool:
        size = arrow.held_bytes(batch)
        self._is_little &= size <= _LITTLE_BYTES
        return size > ALONE_BYTES

    def _resumed(self, flow: Flow, step: str, checkpoints: Checkpoints) -> Flow:
        """The batches of a step, each in a file of its own: those that are not there yet are computed."""

        def work(numbered: tuple[int, pa.RecordBatch]) -> tuple[Path, int]:
            number, batch = numbered
            made = checkpoints.batch(step, number, batch, lambda: with_tallies(*self._counted(batch, flow.stages)))
            self._count(tallies_of(made))  # also of what an earlier process has made
            return made, len(batch)

        done = list(self.each(enumerate(flow.batches), work, alone=lambda numbered: self._is_large(numbered[1])))
        checkpoints.complete(step, batches=len(done), documents=sum(size for _, size in done))
        return Flow(Batches(tuple(path for path, _ in done)))

    def once(self, step: str, compute: Callable[[], tuple[npt.NDArray[Any], ...]]) -> tuple[npt.NDArray[Any], ...]:
        """The arrays of a step; of one that was finished before, those that it left."""
        return self.checkpoints.once(step, compute) if self.checkpoints else compute()

    def read(self, flow: Flow) -> Iterator[pa.RecordBatch]:
        """The batches of a flow, computed by the pool, in order."""
        return self.each(flow.batches, lambda batch: self._through(batch, flow.stages), alone=self._is_large)

    def _through(self, batch: pa.RecordBatch, stages: tuple[Stage, ...]) -> pa.RecordBatch:
        made, tallies = self._counted(batch, stages)
        self._count(tallies)
        return made

    def _counted(self, batch: pa.RecordBatch, stages: tuple[Stage, ...]) -> tuple[pa.RecordBatch, Counter[str]]:
        """A batch through stages, and what these count."""
        tallies = Counter[str]()
        for stage in stages:
            began = time.perf_counter()
            batch = self._sharing(stage, batch)
            self.seconds[type(stage).__name__] += time.perf_counter() - began
            tallies.update(getattr(stage, "tally", _nothing)(batch))
        return batch, tallies

    def _count(self, tallies: Mapping[str, int]) -> None:
        with self._lock:
            for name, count in tallies.items():
                self.tallies[name] += count

    def each(
        self, things: Iterable[Any], work: Callable[[Any], Any], alone: Callable[[Any], bool] = lambda _: False
    ) -> Iterator[Any]:
        """`work` on each thing, by the pool, in order, a few at a time; on some `alone`, for the memory they need."""
        under_way: deque[Future[Any]] = deque()
        try:
            for thing in things:
                by_itself = alone(thing)
                if self._is_little and not self._is_closed:
                    yield work(thing)
                    continue
                while by_itself and under_way:
                    yield under_way.popleft().result()
                under_way.append(self._submitted(work, thing))
                del thing  # what is read next needs the memory
                while under_way and (by_itself or len(under_way) > 2 * self.threads):
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()

    @contextmanager
    def ending(self) -> Iterator[None]:
        """What ends the block early, an error or Ctrl-C, ends the threads, too."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """The same for the steps that a work directory keeps, which is let go of behind them."""
        try:
            with self.ending():
                yield
        finally:
            if self.checkpoints:
                self.checkpoints.close()

    def _aside(self, work: Callable[[], _T]) -> _T:
        """What `work` gives, by a thread of its own: the main one hears Ctrl-C only between two of its own steps.

        A step that was interrupted ends when it next asks for a thread of the pool; nobody waits for that.
        """
        if self._is_little or threading.current_thread() is not threading.main_thread():
            return work()
        answer: Future[_T] = Future()

        def answered() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:  # noqa: BLE001  (whatever it is, the main thread raises it)
                answer.set_exception(error)

        threading.Thread(target=answered, name="nearsame-step", daemon=True).start()
        return answer.result()

    def _while_open(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return takewhile(lambda _: not self._is_closed, batches)

    def _new_pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, "nearsame")

    def _submitted(self, work: Callable[[Any], Any], thing: Any) -> "Future[Any]":
        pool = self._pool
        try:
            return pool.submit(work, thing)
        except BaseException:
            # Ctrl-C may have come while a thread was starting: the pool does not know that thread, for which the
            # process would wait at its end; only closing the pool ends it
            self._pool = self._new_pool()
            pool.shutdown(wait=False)
            raise

    def fold(self, flow: Flow, fold: Fold) -> Any:
        """Reduce: the pool's threads share one state, each with a share of its own of every batch."""

        def run(part: int) -> None:
            if many:
                many(state, self._while_open(window), part, parts)
                return
            for batch in self._while_open(window):
                fold.add(state, batch, part, parts)

        many = getattr(fold, "add_many", None)
        state = fold.start()
        if isinstance(state, np.ndarray):
            self.space.hold(state)
        batches = iter(self.read(flow) if flow.stages else flow.batches)
        while window := list(islice(batches, _WINDOW)):
            parts = 1 if self._is_little else self.threads
            for _ in self.each(range(parts), run):
                pass
        return state

    def only(self, flow: Flow, chosen: npt.NDArray[np.bool_]) -> Flow:
        """The chosen rows of a kept flow of features."""
        return Flow(_Narrowed(flow.batches, chosen), flow.stages)

    def take(self, flow: Flow, rows: Rows, columns: Sequence[str] = schemas.COMPARED[:1]) -> tuple[arrow.UInt64s, Rows]:
        """The items of a few rows, in their order; of another column behind all of them."""
        return take_lists(lambda: self.read(flow), rows, self.each, self.space, columns)

    def collect(self, flow: Flow) -> pa.Table:
        """All rows of a flow that is known to be small."""
        return pa.Table.from_batches(list(self.read(flow)), flow.stages[-1].output if flow.stages else None)

    def collapse(self, flow: Flow, ranks: Rows) -> Rows:
        """For each row the best row with equal features."""
        batches = apart(flow.batches, "set_a", self.groups)
        return self._aside(lambda: same_features(batches, ranks, self.each, self.space))

    def meet(self, keys: Flow, features: Flow, ranks: Rows, columns: Sequence[str] = schemas.COMPARED[:1]) -> Meeting:
        """Group the entries by key, number the documents by priority, and put their features in that order."""

        def met() -> Meeting:
            entries = assemble(lambda: iter(apart(self.read(keys), "key", self.groups)), ranks, self.each, self.space)
            items, offsets = take_lists(lambda: self.read(features), entries.rows, self.each, self.space, columns)
            return Meeting(entries, items, offsets)

        return self._aside(met)

    def decide(self, meeting: Meeting, rule: Any) -> Any:
        """Greedy by priority: blocks are probed in parallel and settled in order, then witnesses are found."""
        return self._aside(lambda: rule.decide(meeting, self.each, self.threads, self.space.array))

    def sample(self, meeting: Meeting, rule: Any) -> Any:
        """Some of the similar pairs, for a prediction."""
        return self._aside(lambda: rule.sample(meeting, self.space.array))

    def join(self, meeting: Meeting, rule: Any) -> Any:
        """All similar pairs of the documents that meet."""
        return rule.join(meeting, self.each, self.threads, self.space.array)


@dataclass(frozen=True, eq=False)
class _Narrowed(Iterable[pa.RecordBatch]):
    """Some rows of batches, chosen anew each time that they are read."""

    batches: Iterable[pa.RecordBatch]
    chosen: npt.NDArray[np.bool_]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return (_narrow(batch, self.chosen) for batch in self.batches)


def _narrow(batch: pa.RecordBatch, chosen: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    mask = chosen[arrow.ints(batch.column("row"))]
    if mask.all():
        return batch
    chosen_rows = arrow.numbers(mask)
    columns = [
        arrow.some_lists(column, mask) if name in schemas.COMPARED else computing.filter_(column, chosen_rows)
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
