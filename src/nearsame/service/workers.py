"""The workers: processes for what can take long by itself, pages and long texts, so that it can be ended.

1. A task has until its time is over; then its process is killed, and the next task gets a new one. A process also ends
   itself then, so it never outlives the one that started it by much. (The processes are those of engines/processes.py;
   but a run's may take as long as they need, and as much memory.)
2. A process has a bound on its memory. One that dies of it takes nothing else with it.
3. Processes are started when they are first needed: most services never compare long texts.
"""

import asyncio
import contextlib
import queue
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from nearsame.engines.processes import Ended, Process
from nearsame.errors import NearSameError
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem, busy, late

__all__ = ["WorkerProcesses"]

_MEMORY = 1 << 30  # bytes that a process may take besides what it has when it is ready
_STARTING_SECONDS = 600  # of a process: a machine may be very busy, and what waits for it has a time of its own

T = TypeVar("T")


class WorkerProcesses:
    """At most so many processes, and the queue before them."""

    def __init__(self, most: int, most_waiting: int, metrics: Metrics, memory: int = _MEMORY) -> None:
        self._most = most
        self._memory = memory
        self._queue: queue.Queue[_Task | None] = queue.Queue(most_waiting)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._processes: set[Process] = set()
        self._closing = False
        metrics.watch("work", self._queue.qsize)

    async def run(self, seconds: float, task: Callable[..., T], *given: Any) -> T:
        """What a function of a module returns, computed by a process.

        Raises:
            Problem: There are too many, it took too long, or more memory than it may.
            NearSameError: The task says so.
        """
        asked = _Task(task, given, seconds)
        try:
            self._put(asked)
        except queue.Full:
            raise busy(f"{self._queue.maxsize:,} texts are waiting to be processed") from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(asked.answer), seconds)
        except TimeoutError:
            raise late(seconds) from None

    def close(self) -> None:
        """End all processes, whatever they are doing."""
        with self._lock:
            self._closing = True
            for process in self._processes:
                process.kill()
            for _ in self._threads:
                with contextlib.suppress(queue.Full):
                    self._queue.put_nowait(None)
        for thread in self._threads:
            thread.join()
        with contextlib.suppress(queue.Empty):
            while True:
                if (task := self._queue.get_nowait()) is not None and task.answer.set_running_or_notify_cancel():
                    task.answer.set_exception(_stopping())

    def _put(self, task: "_Task") -> None:
        """Into the queue, for one more thread, each of which has a process, unless there are enough."""
        with self._lock:
            if self._closing:
                raise _stopping()
            self._queue.put_nowait(task)
            if len(self._threads) < self._most:
                thread = threading.Thread(target=self._work, name="nearsame-worker", daemon=True)
                thread.start()
                self._threads.append(thread)

    def _work(self) -> None:
        process: Process | None = None
        while not self._closing and (task := self._queue.get()) is not None:
            if task.left <= 0 or not task.answer.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                process = process or self._started()
                task.answer.set_result(_answer(process, task))
            except Ended as ended:
                self._forget(process)
                process = None
                task.answer.set_exception(self._problem(ended, task))
            except Exception as error:  # noqa: BLE001  (whoever asked gets it)
                task.answer.set_exception(error)
        self._forget(process)

    def _started(self) -> Process:
        process = Process()
        with self._lock:
            self._processes.add(process)
            if self._closing:
                process.kill()
        try:
            process(_prepare, self._memory, seconds=_STARTING_SECONDS)
        except BaseException:
            self._forget(process)
            raise
        return process

    def _forget(self, process: Process | None) -> None:
        if process is not None:
            with self._lock:
                self._processes.discard(process)
            process.close()

    def _problem(self, ended: Ended, task: "_Task") -> HttpProblem:
        if self._closing:
            return _stopping()
        return late(task.seconds) if ended.is_late else _too_large()


class _Task:
    """What is asked of a process."""

    def __init__(self, function: Callable[..., Any], given: tuple[Any, ...], seconds: float) -> None:
        self.function = function
        self.given = given
        self.seconds = seconds
        self.answer: Future[Any] = Future()
        self._deadline = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline, negative after it."""
        return self._deadline - time.monotonic()


def _answer(process: Process, task: _Task) -> Any:
    if (seconds := task.left) <= 0:
        raise late(0)
    try:
        return process(task.function, *task.given, seconds=seconds)
    except (Ended, NearSameError):
        raise
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__} in a worker") from error


def _stopping() -> HttpProblem:
    return HttpProblem(503, "stopping", "the service is about to stop")


def _too_large() -> HttpProblem:
    detail = "a text or page needs more memory than one request may use"
    return HttpProblem(413, "too-large", detail, hint="Send less at once.")


def _prepare(memory: int) -> None:
    """What a process does before its first task: load what every comparison needs, then bound its memory."""
    from nearsame.studies.compare import compare  # noqa: PLC0415  (most modules of a service need no compiler)

    compare("what every comparison loads", "is loaded before there is a bound on the memory")
    _bound(memory)


def _bound(memory: int) -> None:
    """Let it take so much more memory."""
    page = resource.getpagesize()
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123  (no Path is needed for it)
        most = int(status.read().split()[0]) * page + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
