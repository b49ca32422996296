"""The one writer: changes from many clients, grouped into transactions by one thread.

1. A change is answered when the transaction that holds it is durable, never before.
2. While one transaction is written the next changes gather, and those of one kind go together, in their order: nobody
   waits for company that may not come.
3. What waits is bounded; who comes on top of that is sent away at once, to come back.
4. A change that fails does so alone: its group is written again without company, unless it may have been written.
5. While others write to the index a change goes on waiting, for as long as its client does: the index gives up soon.
6. A change is withdrawn while it waits or not at all, so "not written" is never a guess.
7. At the end what was accepted is written first. The index is closed when nobody reads it any more: whoever closes it
   last writes its log back, and readers cannot.
"""

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from nearsame.dataclass import dataclass
from nearsame.errors import InterruptedChangeError, StoreBusyError, StoreError
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem, busy, interrupted

__all__ = ["Change", "GroupWriter", "WritableIndex", "settle"]

_PAUSE = 0.01  # seconds between two tries


class WritableIndex(Protocol):
    """What the writer needs of an index, besides what changes do with it."""

    def close(self) -> None:
        """Let go of it."""


class Change(Protocol):
    """What a client wants changed."""

    @property
    def documents(self) -> int:
        """How many it is about."""

    @property
    def kind(self) -> object:
        """Changes of one kind can be made together."""

    def apply(self, index: Any, changes: Sequence[Any]) -> list[Any]:
        """Make these changes of its kind, in this order and in one transaction; the answer to each."""


class Asker(Protocol):
    """Somebody who waits for an answer."""

    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]


@dataclass(eq=False)
class _Waiting:
    change: Change
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    since: float
    until: float

    def overdue(self) -> HttpProblem:
        """What its client is told who waited in vain."""
        detail = f"the change waited {time.monotonic() - self.since:.1f} s and was not written"
        return HttpProblem(503, "timeout", detail, hint="Send it again.", headers={"Retry-After": "1"})


class GroupWriter:
    """A thread, and the queue before it."""

    def __init__(self, opener: Callable[[], WritableIndex], metrics: Metrics, *, most_waiting: int, group: int) -> None:
        self._opener = opener
        self._metrics = metrics
        self._most_waiting = most_waiting
        self._group = group
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self.ends = False  # the service does: then nobody waits for what takes longer than it has left
        self._closing = False
        self._has_ended, self._may_close = threading.Event(), threading.Event()
        self._is_written = False
        self._failed: BaseException | None = None
        self._thread: threading.Thread | None = None
        metrics.watch("write", lambda: len(self._queue))

    def start(self) -> None:
        """Open the index; whatever keeps it from being opened is raised here."""
        opened = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(opened,), name="nearsame-writer", daemon=True)
        self._thread.start()
        opened.wait()
        if self._failed is not None:
            raise self._failed

    @property
    def works(self) -> bool:
        """Whether changes are taken."""
        return self._thread is not None and not self._has_ended.is_set() and not self._closing

    async def submit(self, change: Change, seconds: float) -> Any:
        """Have a change made, and wait until it is durable.

        Raises:
            Problem: There are too many, it took too long, or the service is about to stop: nothing was written.
        """
        waiting = self._enqueue(change, seconds)
        try:
            return await self._answered(waiting, seconds)
        except asyncio.CancelledError:
            if not self.ends:  # a client of a stream has gone
                raise
            raise interrupted("the service ended while the change was being written") from None

    async def _answered(self, waiting: _Waiting, seconds: float) -> Any:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(waiting.answer)
        except TimeoutError:
            if self._withdraw(waiting):
                raise waiting.overdue() from None
            return await waiting.answer  # it is being written: when that ends the answer is certain

    def finish(self, seconds: float) -> bool:
        """Write what waits within this time, and take nothing more; whether all is written."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        return self._thread is None or (self._has_ended.wait(seconds) and self._is_written)

    def close(self, seconds: float) -> bool:
        """Finish, and let go of the index within this time; whether it did."""
        deadline = time.monotonic() + seconds
        self._may_close.set()
        is_written = self.finish(seconds)
        if self._thread is None:
            return True
        self._thread.join(max(0.0, deadline - time.monotonic()))
        return is_written and not self._thread.is_alive()

    def _enqueue(self, change: Change, seconds: float) -> _Waiting:
        loop, now = asyncio.get_running_loop(), time.monotonic()
        waiting = _Waiting(change, loop, loop.create_future(), now, now + seconds)
        with self._changed:
            if not self.works:
                raise HttpProblem(503, "stopping", "the service is about to stop: nothing was written")
            if len(self._queue) >= self._most_waiting:
                raise busy(f"{self._most_waiting:,} changes are waiting to be written: this one was refused")
            self._queue.append(waiting)
            self._changed.notify()
        return waiting

    def _withdraw(self, waiting: _Waiting) -> bool:
        with self._changed:
            try:
                self._queue.remove(waiting)
            except ValueError:
                return False
            return True

    def _run(self, opened: threading.Event) -> None:
        try:
            index = self._opener()
        except BaseException as error:  # noqa: BLE001  (it is raised where start() was called)
            self._failed = error
            self._is_written = True  # there is nothing to write
            self._has_ended.set()
            return
        finally:
            opened.set()
        try:
            while group := self._next_group():
                self._write(index, group)
            self._is_written = True
        finally:
            self._has_ended.set()
            self._may_close.wait()
            index.close()

    def _next_group(self) -> list[_Waiting]:
        """The next that go together, up to the size of a transaction; a larger one goes alone. None: it is the end."""
        with self._changed:
            while not self._queue and not self._closing:
                self._changed.wait()
            group: list[_Waiting] = []
            documents = 0
            while self._queue and (not group or self._fits(group, documents)):
                group.append(self._queue.popleft())
                documents += group[-1].change.documents
            return group

    def _fits(self, group: Sequence[_Waiting], documents: int) -> bool:
        change = self._queue[0].change
        return change.kind == group[0].change.kind and documents + change.documents <= self._group

    def _write(self, index: WritableIndex, group: Sequence[_Waiting]) -> None:
        answers = self._made(index, group)
        if isinstance(answers, StoreBusyError):
            self._give_back(group)
        elif isinstance(answers, Exception) and len(group) > 1 and not isinstance(answers, InterruptedChangeError):
            for number, waiting in enumerate(group):
                has_time = time.monotonic() < waiting.until  # an index that cannot be reached is asked for a while
                alone = self._made(index, [waiting]) if has_time else _untried(answers, waiting)
                if isinstance(alone, StoreBusyError):
                    self._give_back(group[number:])
                    return
                settle([waiting], [alone] if isinstance(alone, Exception) else alone)
        else:
            settle(group, [answers] * len(group) if isinstance(answers, Exception) else answers)

    def _made(self, index: WritableIndex, group: Sequence[_Waiting]) -> list[Any] | Exception:
        """The answer to each change of a group that is written in one transaction, or why none of it is."""
        began = time.perf_counter()
        answers: list[Any] | Exception
        try:
            answers = group[0].change.apply(index, [waiting.change for waiting in group])
        except Exception as error:  # noqa: BLE001  (whoever sent the change gets it)
            answers = error
        is_told = len(group) == 1 and not isinstance(answers, StoreBusyError)
        if not isinstance(answers, Exception) or is_told or isinstance(answers, InterruptedChangeError):
            self._note(group, time.perf_counter() - began, failed=isinstance(answers, Exception))
        return answers

    def _give_back(self, group: Sequence[_Waiting]) -> None:
        """Let changes wait again, first in the queue, whose clients still do; the others are told."""
        with self._changed:
            now = time.monotonic()
            late = [waiting for waiting in group if waiting.until <= now]
            self._queue.extendleft(reversed([waiting for waiting in group if waiting.until > now]))
            self._changed.wait(_PAUSE)  # where an index does not wait itself
        if late:
            settle(late, [waiting.overdue() for waiting in late])

    def _note(self, group: Sequence[_Waiting], seconds: float, *, failed: bool) -> None:
        self._metrics.transactions.labels("failed" if failed else "done").inc()
        self._metrics.group.observe(sum(waiting.change.documents for waiting in group))
        self._metrics.commit.observe(seconds)


def _untried(error: Exception, waiting: _Waiting) -> Exception:
    """What a change is told whose time the first try of its group took: that of the index, nothing of another's."""
    return error if isinstance(error, StoreError) else waiting.overdue()


def settle(group: Sequence[Asker], answers: Sequence[Any]) -> None:
    """Tell the clients, with one call into the loop for all of them; nobody is there any more where that was closed."""

    def tell() -> None:
        for waiting, answer in zip(group, answers, strict=True):
            if waiting.answer.done():
                continue
            if isinstance(answer, Exception):
                waiting.answer.set_exception(answer)
                waiting.answer.exception()  # it is no fault that nobody asked, where the client has gone
            else:
                waiting.answer.set_result(answer)

    with contextlib.suppress(RuntimeError):
        group[0].loop.call_soon_threadsafe(tell)
