"""The workers: processes for what can take long by itself, pages and long texts, so that it can be ended.

1. A task has until its time is over; then its process is killed, and the next task gets a new one. A process also ends
   itself then, so it never outlives the one that started it by much.
2. A process has a bound on its memory. One that dies of it takes nothing else with it.
3. Processes are started when they are first needed: most services never compare long texts.
"""

import asyncio
import contextlib
import os
import pickle
import queue
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from nearsame.engines.processes import python
from nearsame.errors import NearSameError
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem, busy, late

__all__ = ["WorkerProcesses", "serve"]

_SIZE = 8
_MEMORY = 1 << 30  # bytes that a process may take besides what it has when it is ready
_STARTING_SECONDS = 60.0

T = TypeVar("T")


class WorkerProcesses:
    """At most so many processes, and the queue before them."""

    def __init__(self, most: int, most_waiting: int, metrics: Metrics, memory: int = _MEMORY) -> None:
        self._most = most
        self._memory = memory
        self._queue: queue.Queue[_Task | None] = queue.Queue(most_waiting)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._processes: set[_Process] = set()
        self._closing = False
        metrics.watch("work", self._queue.qsize)

    async def run(self, seconds: float, task: Callable[..., T], *given: Any) -> T:
        """What a function of a module returns, computed by a process.

        Raises:
            Problem: There are too many, it took too long, or more memory than it may.
            NearSameError: The task says so.
        """
        asked = _Task(pickle.dumps((task, given)), time.monotonic() + seconds, Future())
        try:
            self._put(asked)
        except queue.Full:
            raise busy(f"{self._queue.maxsize:,} texts wait to be worked on") from None
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
        process: _Process | None = None
        while not self._closing and (task := self._queue.get()) is not None:
            if task.left <= 0 or not task.answer.set_running_or_notify_cancel():
                continue  # nobody waits for it any more
            try:
                process = process or self._started()
                outcome = process(task)
            except Exception as error:  # noqa: BLE001  (whoever asked gets it)
                outcome = error
            if isinstance(outcome, _Ended):
                self._forget(process)
                process, outcome = None, _stopping() if self._closing else outcome.problem
            if isinstance(outcome, BaseException):
                task.answer.set_exception(outcome)
            else:
                task.answer.set_result(outcome)
        self._forget(process)

    def _started(self) -> "_Process":
        process = _Process(self._memory)
        with self._lock:
            self._processes.add(process)
            if self._closing:
                process.kill()
        return process

    def _forget(self, process: "_Process | None") -> None:
        if process is not None:
            with self._lock:
                self._processes.discard(process)
            process.kill()
            process.close()


class _Task:
    """What is asked of a process."""

    def __init__(self, message: bytes, deadline: float, answer: "Future[Any]") -> None:
        self.message = message
        self.deadline = deadline
        self.answer = answer

    @property
    def left(self) -> float:
        """Seconds until the deadline, negative after it."""
        return self.deadline - time.monotonic()


class _Ended(Exception):  # noqa: N818  (it is not an error of ours)
    """A process was ended, and what its client is told."""

    def __init__(self, problem: HttpProblem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


class _Process:
    """One process, and the pipes to it."""

    def __init__(self, memory: int) -> None:
        self._run = python(__name__)
        self._send(memory.to_bytes(_SIZE, "little"))
        self._is_ready = False

    def __call__(self, task: _Task) -> Any:
        """What came of a task, or what it raised."""
        if not self._is_ready:
            if isinstance(ended := self._receive(_STARTING_SECONDS), _Ended):
                return ended
            self._is_ready = True
        if task.left <= 0:
            return late(0)
        milliseconds = max(1, int(1000 * task.left))
        size = len(task.message)
        try:
            self._send(milliseconds.to_bytes(_SIZE, "little") + size.to_bytes(_SIZE, "little"))
            self._send(task.message)
        except OSError:
            return _Ended(_too_large())
        return self._receive(task.left)

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(OSError):
            self._run.kill()

    def close(self) -> None:
        """Take note of its end."""
        self._run.wait()
        for pipe in (self._run.stdin, self._run.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _send(self, content: bytes) -> None:
        assert self._run.stdin is not None  # noqa: S101  (a pipe was asked for)
        self._run.stdin.write(content)
        self._run.stdin.flush()

    def _receive(self, seconds: float) -> Any:
        assert self._run.stdout is not None  # noqa: S101  (likewise)
        began = time.monotonic()
        is_there, _, _ = select.select([self._run.stdout], [], [], max(0, seconds))
        head = self._run.stdout.read(_SIZE) if is_there else b""
        content = self._run.stdout.read(int.from_bytes(head, "little")) if len(head) == _SIZE else b""
        if not content:
            is_late = not is_there or time.monotonic() - began >= seconds
            return _Ended(late(seconds) if is_late else _too_large())
        return pickle.loads(content)  # noqa: S301  (from a process that was started here)


def _stopping() -> HttpProblem:
    return HttpProblem(503, "stopping", "the service is about to stop")


def _too_large() -> HttpProblem:
    detail = "a text or page takes more memory than there is for one request"
    return HttpProblem(413, "too-large", detail, hint="Send less at once.")


def serve() -> None:
    """What a process does: one task after the other, until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, whatever it is computing
    given, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among answers
    memory = int.from_bytes(given.read(_SIZE), "little")
    _warm_up()
    _bound(memory)
    with contextlib.suppress(BrokenPipeError):
        _answer(out, None)
        while len(head := given.read(2 * _SIZE)) == 2 * _SIZE:
            seconds = int.from_bytes(head[:_SIZE], "little") / 1000
            signal.setitimer(signal.ITIMER_REAL, seconds + 1)
            _answer(out, _done(given.read(int.from_bytes(head[_SIZE:], "little"))))
            signal.setitimer(signal.ITIMER_REAL, 0)


def _warm_up() -> None:
    from nearsame.studies.compare import compare  # noqa: PLC0415  (most modules of a service need no compiler)

    compare("what every comparison loads", "is loaded before there is a bound on the memory")


def _bound(memory: int) -> None:
    """Let it take so much more memory."""
    page = resource.getpagesize()
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123  (no Path is needed for it)
        most = int(status.read().split()[0]) * page + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _done(message: bytes) -> Any:
    try:
        task, given = pickle.loads(message)  # noqa: S301  (from the process that started this one)
        return task(*given)
    except MemoryError:
        os._exit(1)
    except NearSameError as error:
        return error
    except Exception as error:  # noqa: BLE001  (whatever it is, it is raised again where it was asked for)
        return RuntimeError(f"{type(error).__name__} in a worker")


def _answer(out: Any, outcome: Any) -> None:
    content = pickle.dumps(outcome)
    out.write(len(content).to_bytes(_SIZE, "little") + content)
    out.flush()
