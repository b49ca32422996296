"""Processes that stand in for threads, for stages that keep Python's lock while they work.

1. A worker is a Python of its own that knows one stage: batches go in, results come out, in Arrow's stream format.
2. Workers are started when so much has gone through a stage that their start pays; until one is free, and if one dies,
   the caller computes for itself. So they change no answer, only its time.
3. A worker ends when its input does: with the engine, or when the process that started it is no more.
"""

import contextlib
import fcntl
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from typing import Any, BinaryIO

import pyarrow as pa

from nearsame.arrow import held_bytes
from nearsame.engines.base import Stage

__all__ = ["STARTING_BYTES", "StageProcesses", "python", "serve"]

STARTING_BYTES = 128 << 20  # that one process computes in a second or two: about what a worker takes to be ready
_DONE, _FAILED = b"\1", b"\0"
_SIZE = 8
_PIPE_BYTES = 1 << 20


class StageProcesses:
    """At most so many workers for one stage."""

    def __init__(self, stage: Stage, most: int, starting_bytes: int | None = None) -> None:
        self._stage = stage
        self._most = most
        self._left = STARTING_BYTES if starting_bytes is None else starting_bytes
        self._lock = threading.Lock()
        self._free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._all: list[_Worker] = []

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The stage's result, from a worker that is free, or computed here."""
        self._start(held_bytes(batch))
        try:
            worker = self._free.get_nowait()
        except queue.Empty:
            return self._stage(batch)
        try:
            answer = worker(batch)
        except (OSError, EOFError, ValueError, pa.ArrowException):  # it is no more
            worker.close()
            return self._stage(batch)
        self._free.put(worker)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def close(self) -> None:
        """End the processes, if any were started."""
        with self._lock:
            for worker in self._all:
                worker.close()
            self._all.clear()

    def _start(self, num_bytes: int) -> None:
        with self._lock:
            self._left -= num_bytes
            if self._left > 0 or self._all:
                return
            self._all += [_Worker(self._stage, self._free) for _ in range(self._most)]


def python(module: str) -> "subprocess.Popen[bytes]":
    """A Python of its own that runs `serve()` of a module, its input and output pipes; it finds what this one finds."""
    paths = os.pathsep.join(path for path in sys.path if path)
    call = [sys.executable, "-c", f"from {module} import serve; serve()"]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.Popen(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603  (our own)


class _Worker:
    """One process, and the pipes to it."""

    def __init__(self, stage: Stage, ready: "queue.SimpleQueue[_Worker]") -> None:
        self._process = python(__name__)
        self._widen()
        known = pickle.dumps(stage)
        with contextlib.suppress(OSError):
            self._input.write(len(known).to_bytes(_SIZE, "little") + known)
            self._input.flush()
        threading.Thread(target=self._wait, args=(ready,), name="nearsame-worker", daemon=True).start()

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch | BaseException:
        """The stage's result, or what it raised."""
        _write(self._input, batch)
        return _read(self._output)

    def close(self) -> None:
        """Close the input of the process, at which it ends; one that has not ended within a second is killed."""
        with contextlib.suppress(OSError):
            self._input.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def _wait(self, ready: "queue.SimpleQueue[_Worker]") -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._output.read(1) == _DONE:
                ready.put(self)

    def _widen(self) -> None:
        """Larger pipes, where the system has them: fewer switches for each batch."""
        for pipe in (self._input, self._output):
            with contextlib.suppress(AttributeError, OSError):
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    @property
    def _input(self) -> Any:
        return self._process.stdin

    @property
    def _output(self) -> Any:
        return self._process.stdout


def serve() -> None:
    """What a worker does: read the stage, say that it is ready, and compute until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    given, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among batches
    stage = pickle.loads(given.read(int.from_bytes(given.read(_SIZE), "little")))  # noqa: S301  (from the process that started this one)
    with contextlib.suppress(BrokenPipeError):
        out.write(_DONE)
        out.flush()
        while mark := given.read(1):
            if mark != _DONE:
                return
            _answer(stage, _batch(given), out)


def _answer(stage: Stage, batch: pa.RecordBatch, out: BinaryIO) -> None:
    try:
        made = stage(batch)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is raised again where it was asked for)
        known = pickle.dumps(error)
        out.write(_FAILED + len(known).to_bytes(_SIZE, "little") + known)
        out.flush()
    else:
        _write(out, made)


def _write(out: Any, batch: pa.RecordBatch) -> None:
    out.write(_DONE)
    with pa.ipc.new_stream(pa.PythonFile(out, mode="w"), batch.schema) as stream:
        stream.write_batch(batch)
    out.flush()


def _read(given: Any) -> pa.RecordBatch | BaseException:
    mark = given.read(1)
    if mark == _DONE:
        return _batch(given)
    if mark != _FAILED:
        raise EOFError
    error = pickle.loads(given.read(int.from_bytes(given.read(_SIZE), "little")))  # noqa: S301  (from a process that was started here)
    return error if isinstance(error, BaseException) else RuntimeError(repr(error))


def _batch(given: Any) -> pa.RecordBatch:
    with pa.ipc.open_stream(pa.PythonFile(given, mode="r")) as stream:
        batch = stream.read_next_batch()
        with contextlib.suppress(StopIteration):
            stream.read_next_batch()  # the end of the stream has bytes, too
    return batch
