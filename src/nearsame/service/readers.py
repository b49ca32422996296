"""The readers: threads that answer questions, each with a connection of its own.

1. A reader sees what was durable when its question began; the writer does not keep it waiting.
2. What waits is bounded; who comes on top of that is sent away at once, to come back.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Literal, Protocol

from nearsame.service.metrics import Metrics
from nearsame.service.problems import busy, late

__all__ = ["Readers"]


class _Closable(Protocol):
    def close(self) -> None:
        """Let go of it."""


class _Question:
    """What a client asks, and who waits for the answer."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.ask = ask
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()

    def run(self, index: Any) -> None:
        """Answer it, unless nobody waits any more."""
        if self.answer.done():
            return
        try:
            answer, failed = self.ask(index), None
        except Exception as error:  # noqa: BLE001  (whoever asked gets it)
            answer, failed = None, error
        self.loop.call_soon_threadsafe(self._tell, answer, failed)

    def _tell(self, answer: Any, failed: Exception | None) -> None:
        if self.answer.done():
            return
        if failed is not None:
            self.answer.set_exception(failed)
        else:
            self.answer.set_result(answer)


class Readers:
    """Some threads, and the queue before them."""

    def __init__(
        self,
        opener: Callable[[], _Closable],
        metrics: Metrics,
        *,
        threads: int,
        most_waiting: int,
        kind: Literal["read", "health"] = "read",
    ) -> None:
        self._opener = opener
        self._queue: queue.Queue[_Question | None] = queue.Queue(most_waiting)
        self._num_threads = threads
        self._threads: list[threading.Thread] = []
        self._most_waiting = most_waiting
        metrics.watch(kind, self._queue.qsize)

    def start(self) -> None:
        """Open the connections; whatever keeps one from being opened is raised here."""
        for number in range(self._num_threads):
            opened: queue.Queue[BaseException | None] = queue.Queue()
            name = f"nearsame-reader-{number}"
            thread = threading.Thread(target=self._run, args=(opened,), name=name, daemon=True)
            thread.start()
            failed = opened.get()
            if failed is not None:
                raise failed
            self._threads.append(thread)

    async def ask(self, question: Callable[[Any], Any], seconds: float) -> Any:
        """The answer to a question about the index.

        Raises:
            Problem: There are too many, or it took too long.
        """
        asked = _Question(question)
        try:
            self._queue.put_nowait(asked)
        except queue.Full:
            raise busy(f"{self._most_waiting:,} requests are waiting for an answer") from None
        try:
            return await asyncio.wait_for(asked.answer, seconds)
        except TimeoutError:
            raise late(seconds) from None

    def close(self, seconds: float) -> bool:
        """Answer what waits, and end within this time; whether it did."""
        deadline = time.monotonic() + seconds
        with contextlib.suppress(queue.Full):
            for _ in self._threads:
                self._queue.put(None, timeout=max(0, deadline - time.monotonic()))
        for thread in self._threads:
            thread.join(max(0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self, opened: "queue.Queue[BaseException | None]") -> None:
        try:
            index = self._opener()
        except BaseException as error:  # noqa: BLE001  (it is raised where start() was called)
            opened.put(error)
            return
        opened.put(None)
        try:
            while (question := self._queue.get()) is not None:
                question.run(index)
        finally:
            index.close()
