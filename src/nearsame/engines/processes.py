"""Worker processes, which stand in for threads where work keeps Python's lock.

1. A worker is a Python of its own (worker.py): a function of a module and plain values go in, plain values come out.
2. All runs of a process use the same workers. They are started when they are needed, and end when nothing has come for
   a while, or with the process, however that ends: a worker ends when its input does.
3. Where a worker cannot be started, or dies, the work is done here. So workers change no answer, only its time.
"""

import atexit
import contextlib
import fcntl
import os
import pickle
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nearsame.engines.worker import SIZE
from nearsame.installation import import_folders

if TYPE_CHECKING:
    import subprocess

__all__ = ["Ended", "Process", "Workers", "workers"]

_IDLE_SECONDS = 60
_MOST_FAILURES = 3
_PIPE_BYTES = 1 << 20


class Ended(Exception):  # noqa: N818  (no user sees it)
    """A process ended before it had answered, or had to be ended since its time was over."""

    def __init__(self, *, is_late: bool = False) -> None:
        super().__init__("a worker process ended")
        self.is_late = is_late


class Process:
    """One worker, and the pipes to it; one that has an idle time ends itself after it."""

    def __init__(self, idle_seconds: float | None = None) -> None:
        self._run = _started(f"from nearsame.engines.worker import serve; serve({idle_seconds})")
        self._input: Any = self._run.stdin
        self._output: Any = self._run.stdout
        self.has_answered = False
        self.was_killed = False
        for pipe in (self._input, self._output):
            assert pipe is not None  # noqa: S101  (both were asked for)
            with contextlib.suppress(AttributeError, OSError):  # larger ones, where the system has them
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        _LIVING.add(self)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._run.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._run.poll() is not None

    def __call__(self, function: Callable[..., Any], *given: Any, seconds: float | None = None) -> Any:
        """What a function of a module returns there, or what it raises.

        Raises:
            Ended: There is no answer, nor a process any more.
        """
        try:
            is_good, answer = self._asked(function, given, seconds)
        except Ended:
            self.close()
            raise
        self.has_answered = True
        if is_good:
            return answer
        raise answer

    def _asked(self, function: Callable[..., Any], given: tuple[Any, ...], seconds: float | None) -> tuple[bool, Any]:
        deadline = None if seconds is None else time.monotonic() + seconds
        message = pickle.dumps((function, given), pickle.HIGHEST_PROTOCOL)
        milliseconds = 0 if seconds is None else max(1, int(1000 * seconds))
        try:
            self._input.write(milliseconds.to_bytes(SIZE, "little") + len(message).to_bytes(SIZE, "little"))
            self._input.write(message)
            self._input.flush()
        except (OSError, ValueError):
            raise Ended from None
        answer: tuple[bool, Any] = pickle.loads(self._received(deadline))  # noqa: S301  (from a process that was started here)
        return answer

    def kill(self) -> None:
        """End it at once; who waits for its answer gets `Ended`."""
        self.was_killed = True
        with contextlib.suppress(OSError):
            self._run.kill()

    def close(self) -> None:
        """End it at once, and take note of its end."""
        with contextlib.suppress(OSError):
            self._run.kill()
        self._run.wait()
        _LIVING.discard(self)
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError):
                pipe.close()

    def disown(self) -> None:
        """In a copy of the process that started it: let go of what is the original's."""
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (self._input, self._output):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nothing, pipe.fileno())
        os.close(nothing)
        self._run.returncode = 0

    def _received(self, deadline: float | None) -> bytes:
        with contextlib.suppress(OSError, ValueError):
            if deadline is not None and not select.select([self._output], [], [], deadline - time.monotonic())[0]:
                raise Ended(is_late=True)
            size = int.from_bytes(self._output.read(SIZE), "little")
            content: bytes = self._output.read(size)
            if content and len(content) == size:
                return content
        raise Ended(is_late=deadline is not None and time.monotonic() >= deadline)


def _started(program: str) -> "subprocess.Popen[bytes]":
    """A Python of its own, which finds what this one finds."""
    import subprocess  # noqa: PLC0415  (most runs start none)

    paths = os.pathsep.join(folder for folder in import_folders() if folder)
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "PYTHONPATH": paths}  # NumPy's threads wait busily
    # Ctrl-C goes to all processes of a terminal: until a worker is so far that it ignores it, its mask holds it back
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
    try:
        call = [sys.executable or "", "-P", "-c", program]
        return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603  (our own)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_LIVING: set[Process] = set()


class Workers:
    """The processes that have nothing to do, for whoever needs one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Process] = []
        self._num_failures = 0  # of processes, one after the other, that ended of themselves before their first answer

    def take(self) -> Process | None:
        """One that is free, or a new one; None where none can be had."""
        with self._lock:
            while self._free:
                process = self._free.pop()
                if not process.has_ended:
                    return process
                process.close()
            if self._num_failures >= _MOST_FAILURES:
                return None
        try:
            return Process(_IDLE_SECONDS)
        except OSError:
            return None

    def put_back(self, process: Process) -> None:
        """It has nothing to do any more, or it has ended."""
        with self._lock:
            if process.has_answered:
                self._num_failures = 0
            elif process.has_ended and not process.was_killed:
                self._num_failures += 1
            if process.has_ended:
                process.close()
            else:
                self._free.append(process)


_workers = Workers()


def workers() -> Workers:
    """Those of this process."""
    return _workers


def _end_all() -> None:
    for process in list(_LIVING):
        process.close()


def _disown_all() -> None:
    """In a copy of this process, which has no workers."""
    global _workers  # noqa: PLW0603  (a lock that another thread held is held for ever in a copy)
    for process in _LIVING:
        process.disown()
    _LIVING.clear()
    _workers = Workers()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_disown_all)
