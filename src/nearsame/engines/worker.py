"""What a worker process runs: functions and their arguments come in, what they return goes out, until the input ends.

1. Nothing is loaded here but what the functions need, so a worker is there in a few hundredths of a second.
2. A message is its size and a pickle. Before a task stands how many milliseconds it has; 0: no bound.
3. A worker that exceeds its time or its memory ends itself; who started it takes note.
"""

import contextlib
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["SIZE", "each", "serve"]

SIZE = 8  # bytes of a number


def each(work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
    """What a function returns for each of several tasks."""
    return [work(*task) for task in tasks]


def serve(idle_seconds: float | None = None) -> None:
    """One task after the other, until the input ends, or none has come for so long."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process, whatever it is computing
    given, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among answers
    with contextlib.suppress(BrokenPipeError):
        while select.select([given], [], [], idle_seconds)[0] and len(head := given.read(2 * SIZE)) == 2 * SIZE:
            milliseconds, size = int.from_bytes(head[:SIZE], "little"), int.from_bytes(head[SIZE:], "little")
            if milliseconds:
                signal.setitimer(signal.ITIMER_REAL, milliseconds / 1000 + 1)
            content = _outcome(given.read(size))
            out.write(len(content).to_bytes(SIZE, "little"))
            out.write(content)
            out.flush()
            signal.setitimer(signal.ITIMER_REAL, 0)


def _outcome(message: bytes) -> bytes:
    """What came of a task: (True, what it returned), or (False, what it raised)."""
    try:
        function, given = pickle.loads(message)  # noqa: S301  (from the process that started this one)
        return pickle.dumps((True, function(*given)), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        os._exit(1)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is raised again where it was asked for)
        return _raised(error)


def _raised(error: Exception) -> bytes:
    try:
        content = pickle.dumps((False, error))
        pickle.loads(content)  # noqa: S301  (our own: there are errors that can be written, and not be read)
    except Exception:  # noqa: BLE001  (likewise)
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__} in a worker: {error}")))
    return content
