"""Batches shared out: pages of a batch go to worker processes, and what they return becomes the batch of results.

1. A share is a part of a batch by its bytes, so that all workers have something to do until the end, and the last one
   is not waited for long. Answers come in order.
2. While there is little to do, nothing is shared out: a worker has its price.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, Self

import pyarrow as pa

from nearsame.arrow import held_bytes
from nearsame.engines.base import SplitStage, Stage
from nearsame.engines.processes import Ended, Process, workers
from nearsame.engines.worker import each
from nearsame.machine import num_processors

__all__ = ["STARTING_BYTES", "Sharing"]

STARTING_BYTES = 3 << 20  # of pages: .15 to .4 s of work, which is more than what starting workers takes
_SHARE_BYTES = 1 << 20  # less makes hand-overs too many, and the C library gives memory back after each page
_MOST_TASKS = 256

Work = Callable[..., Any]
Tasks = list[tuple[Any, ...]]


class Sharing:
    """At most so many workers at once, for the stages of one run; by default as many as there are processors."""

    def __init__(self, most: int = 0) -> None:
        self._most = most or num_processors()
        self._bytes_left = STARTING_BYTES
        self._threads = ThreadPoolExecutor(self._most, "nearsame-worker")  # each has a worker while it needs one
        self._busy: set[Process] = set()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, stage: Stage, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The stage's result, with the help of workers where that pays."""
        if self._most == 1 or not isinstance(stage, SplitStage) or not stage.holds_lock:
            return stage(batch)
        self._bytes_left -= held_bytes(batch)
        if self._bytes_left > 0:
            return stage(batch)
        return stage.result(batch, self._answers(stage.work, _shares(stage.tasks(batch))))

    def close(self) -> None:
        """Let go of the workers; what they still do is given up."""
        self._is_closed = True
        for process in list(self._busy):
            process.kill()
        self._threads.shutdown(cancel_futures=True)

    def _answers(self, work: Work, shares: Iterable[Tasks]) -> Iterator[Any]:
        under_way: deque[Future[list[Any]]] = deque()
        try:
            for share in shares:
                under_way.append(self._submitted(work, share))
                if len(under_way) > self._most:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()

    def _submitted(self, work: Work, share: Tasks) -> "Future[list[Any]]":
        try:
            return self._threads.submit(self._done, work, share)
        except RuntimeError:
            if self._is_closed:  # by another thread, since the last share
                raise CancelledError from None
            raise

    def _done(self, work: Work, share: Tasks) -> list[Any]:
        """By a worker if there is one, else here."""
        process = None if self._is_closed else workers().take()
        if process is not None:
            try:
                return self._done_by(process, work, share)
            except Ended:
                pass
        if self._is_closed:
            raise CancelledError
        return each(work, share)

    def _done_by(self, process: Process, work: Work, share: Tasks) -> list[Any]:
        self._busy.add(process)
        try:
            if self._is_closed:  # since it was taken
                raise Ended
            answers: list[Any] = process(each, work, share)
        finally:
            self._busy.discard(process)
            workers().put_back(process)
        return answers


def _shares(tasks: Iterable[tuple[Any, ...]]) -> Iterator[Tasks]:
    share: Tasks = []
    num_bytes = 0
    for task in tasks:
        share.append(task)
        num_bytes += sum(len(value) for value in task if isinstance(value, bytes))
        if num_bytes >= _SHARE_BYTES or len(share) == _MOST_TASKS:
            yield share
            share, num_bytes = [], 0
    if share:
        yield share
