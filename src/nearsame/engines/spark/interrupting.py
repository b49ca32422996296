"""Ctrl-C while Spark works: its jobs are ended, and what waits for them is a KeyboardInterrupt.

pyspark's own handler asks Java for that over the connection on which an answer is being waited for: Java hears it when
the work is done, and what comes of it is an error of the network. Here another thread asks, and goes on asking until
the run has ended, since one question to Java may begin several jobs. Who presses twice does not wait for the answer.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

__all__ = ["interruptible", "is_interrupting"]

_PAUSE = 0.2  # seconds until the jobs that have begun since are ended, too
_PATIENCE = 5  # seconds for a question under way, so that no job is ended which began after the run


class _Handler:
    """What hears Ctrl-C during a run."""

    def __init__(self) -> None:
        """Nobody has pressed anything yet."""
        self.presses = 0
        self.is_over = threading.Event()
        self.asking: threading.Thread | None = None

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        """End all jobs; and raise, unless Java's answer is being waited for, which ends by that."""
        self.presses += 1
        if self.asking is None:
            self.asking = threading.Thread(target=self._end_jobs, daemon=True)
            self.asking.start()
        if self.presses > 1 or not _awaits_java(frame):
            raise KeyboardInterrupt

    def end(self) -> None:
        """The run is over: jobs that others begin are theirs."""
        self.is_over.set()
        if self.asking is not None:
            self.asking.join(_PATIENCE)

    def _end_jobs(self) -> None:
        from pyspark import SparkContext

        while not self.is_over.is_set():
            context: Any = SparkContext._active_spark_context  # noqa: SLF001  (there is no public word for it)
            if context is not None:
                with suppress(Exception):  # its process may have ended
                    context.cancelAllJobs()
            self.is_over.wait(_PAUSE)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C in the block is a KeyboardInterrupt, soon, and no job of Spark's goes on.

    Where the program hears Ctrl-C in a way of its own, that stays. Within another such block this one does nothing.

    Raises:
        KeyboardInterrupt: Somebody interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    if not (threading.current_thread() is threading.main_thread() and _is_usual(before)):
        yield
        return
    handler = _Handler()
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    except Exception:
        if not handler.presses:
            raise
    finally:
        signal.signal(signal.SIGINT, before)
        handler.end()
    if handler.presses:
        raise KeyboardInterrupt


def is_interrupting() -> bool:
    """Whether somebody has interrupted the run under way, so that its errors may come of that."""
    handler = signal.getsignal(signal.SIGINT)
    return isinstance(handler, _Handler) and handler.presses > 0


def _is_usual(handler: Any) -> bool:
    """Whether it is Python's handler, or the one that a session of Spark puts in its place."""
    return handler is signal.default_int_handler or str(getattr(handler, "__module__", None)).startswith("pyspark.")


def _awaits_java(frame: FrameType | None) -> bool:
    """Whether what was interrupted waits for an answer of Java's: to leave there is to lose the connection."""
    while frame is not None:
        if frame.f_code.co_name == "send_command" and frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False
