"""Ctrl-C while Spark works: its jobs are ended, and what waits for them is a KeyboardInterrupt.

1. pyspark's own handler asks Java for that over the connection on which an answer is being waited for: Java hears it
   when the work is done, and what comes of it is an error of the network. Here another thread asks, and goes on asking
   until the run has ended, since one question to Java may begin several jobs. Who presses twice does not wait.
2. Tasks go on for a moment when their job has ended, and may write until then (`settled`).
3. While a process of Java is being started, nobody could end it: Ctrl-C is heard when it is there (`held`).
"""

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any

__all__ = ["Listening", "held", "interruptible", "is_interrupting", "settled"]

_PAUSE = 0.2  # seconds until the jobs that have begun since are ended, too
_PATIENCE = 5.0  # seconds for a question under way
_TASKS_PATIENCE = 10.0  # seconds for tasks whose job has ended: Spark ends a Python worker after two
_LOGGERS = ("", "py4j.clientserver", "py4j.java_gateway")  # which tell of a connection that is left, with a traceback


class Listening:
    """What hears Ctrl-C in a block, and ends what is waited for there."""

    def __init__(self, end: Callable[[], object]) -> None:
        self.presses = 0
        self._end, self._is_over = end, False
        self._told: SimpleQueue[bool] = SimpleQueue()  # the one way to tell a thread from a handler, also within it
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        """End it; and raise, unless Java's answer is being waited for, which ends by that."""
        self.presses += 1
        self._told.put(True)
        if not self._is_over and (self.presses > 1 or not _awaits_java(frame)):
            raise KeyboardInterrupt

    def begin(self) -> None:
        """Hear it from now on, or again, where somebody has put another handler there."""
        if not self._thread.ident:
            self._thread.start()
        signal.signal(signal.SIGINT, self)

    def end(self, before: Any) -> None:
        """The block is over: what others begin is theirs."""
        self._is_over = True
        signal.signal(signal.SIGINT, before)
        self._told.put(False)
        if self._thread.ident:
            self._thread.join(_PATIENCE)

    def _work(self) -> None:
        if not self._told.get():
            return
        with _hushed():
            while not self._is_over:
                with suppress(Exception):  # its process may have ended
                    self._end()
                with suppress(Empty):
                    self._told.get(timeout=_PAUSE)


@contextmanager
def interruptible(end: Callable[[], object] | None = None) -> Iterator[Listening | None]:
    """Ctrl-C in the block is a KeyboardInterrupt, soon, and no job of Spark's goes on.

    Where the program hears Ctrl-C in a way of its own, that stays. Within another such block this one does nothing.

    Args:
        end: Ends what is waited for; default: all jobs.

    Raises:
        KeyboardInterrupt: Somebody interrupted.
    """
    before = _usual()
    if before is None:
        yield None
        return
    listening = Listening(_end_jobs if end is None else end)
    try:
        listening.begin()
        yield listening
    except Exception:
        if not listening.presses:
            raise
    finally:
        listening.end(before)
    if listening.presses:
        raise KeyboardInterrupt


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C in the block is heard at its end.

    Raises:
        KeyboardInterrupt: Somebody interrupted.
    """
    before, presses = _usual(), list[int]()
    if before is None:
        yield
        return
    signal.signal(signal.SIGINT, lambda number, _frame: presses.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if presses:
        raise KeyboardInterrupt


def is_interrupting() -> bool:
    """Whether somebody has interrupted the run under way, so that its errors may come of that."""
    handler = signal.getsignal(signal.SIGINT)
    return isinstance(handler, Listening) and handler.presses > 0


@contextmanager
def settled(session: Any) -> Iterator[None]:
    """An error in the block goes on when no task works any more, so that none writes behind it; or after a while."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # its process may be what failed
            until = time.monotonic() + _TASKS_PATIENCE
            while _num_running(session) and time.monotonic() < until:
                time.sleep(_PAUSE)
        raise


def _num_running(session: Any) -> int:
    """Tasks of all executors, by the scheduler: what the tracker of states says of them comes late."""
    scheduler = session.sparkContext._jsc.sc().taskScheduler()  # noqa: SLF001  (there is no public word for it)
    each, number = scheduler.runningTasksByExecutors().valuesIterator(), 0
    while each.hasNext():
        number += int(each.next())
    return number


def _end_jobs() -> None:
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context  # noqa: SLF001  (there is no public word for it)
    if context is not None:
        context.cancelAllJobs()


def _usual() -> Any:
    """The handler, if it is Python's, or the one that a session of Spark puts in its place; None in other threads."""
    handler = signal.getsignal(signal.SIGINT)
    is_one = handler is signal.default_int_handler or str(getattr(handler, "__module__", "")).startswith("pyspark.")
    return handler if is_one and threading.current_thread() is threading.main_thread() else None


def _awaits_java(frame: FrameType | None) -> bool:
    """Whether what was interrupted waits for an answer of Java's: to leave there is to lose the connection."""
    while frame is not None:
        if frame.f_code.co_name == "send_command" and frame.f_globals.get("__name__", "").startswith("py4j."):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _hushed() -> Iterator[None]:
    """Nothing that py4j says is logged."""

    def is_other(record: logging.LogRecord) -> bool:
        return "py4j" not in record.pathname

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(is_other)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_other)
