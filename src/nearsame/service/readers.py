"""The readers: threads that answer questions, each with a connection of its own.

1. A reader sees what was durable when its question began; the writer does not keep it waiting.
2. What waits is bounded; who comes on top of that is sent away at once, to come back.
3. Questions of one kind that wait one behind the other are asked together: what a question costs by itself is shared.
   Where one of them fails each is asked alone.
4. One reader answers at a time, as Python has one lock, and the others' questions come together meanwhile; behind an
   answer that takes longer than a moment the next reader goes on.
"""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

from nearsame.service.metrics import Metrics
from nearsame.service.problems import busy, late
from nearsame.service.writer import settle

__all__ = ["Readers"]

_TOGETHER = 32  # questions
_MOMENT = 0.02  # seconds for which a reader leaves another one alone


class _Closable(Protocol):
    def close(self) -> None:
        """Let go of it."""


class _Question:
    """What a client asks, and who waits for the answer."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.ask = ask
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()

    @property
    def kind(self) -> object:
        """Questions of one kind can be asked together; None: this one is asked alone."""
        return getattr(self.ask, "kind", None)


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
        self._queue: queue.SimpleQueue[_Question | None] = queue.SimpleQueue()  # whose bound is looked at by `ask`
        self._num_threads = threads
        self._threads: list[threading.Thread] = []
        self._most_waiting = most_waiting
        self._turn = threading.Lock()
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
        if self._queue.qsize() >= self._most_waiting:
            raise busy(f"{self._most_waiting:,} requests are waiting for an answer")
        asked = _Question(question)
        self._queue.put(asked)
        try:
            async with asyncio.timeout(seconds):
                return await asked.answer
        except TimeoutError:
            raise late(seconds) from None

    def close(self, seconds: float) -> bool:
        """Answer what waits, and end within this time; whether it did."""
        deadline = time.monotonic() + seconds
        for _ in self._threads:
            self._queue.put(None)
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
            first = self._queue.get()
            while first is not None:
                has_turn = self._turn.acquire(timeout=_MOMENT)
                try:
                    some, behind = self._company(first)
                    _answer(index, some)
                finally:
                    if has_turn:
                        self._turn.release()
                first = behind or self._queue.get()
        finally:
            index.close()

    def _company(self, first: _Question) -> tuple[list[_Question], _Question | None]:
        """(a question and those of its kind that wait behind it, the next one that was taken with them)."""
        some = [first]
        with contextlib.suppress(queue.Empty):
            while first.kind is not None and len(some) < _TOGETHER:
                following = self._queue.get_nowait()
                if following is None:
                    self._queue.put(None)
                    break
                if following.kind != first.kind:
                    return some, following
                some.append(following)
        return some, None


def _answer(index: Any, questions: Sequence[_Question]) -> None:
    """Answer those that somebody waits for."""
    waiting = [question for question in questions if not question.answer.done()]
    if not waiting:
        return
    answers: list[Any] | Exception
    try:
        first: Any = waiting[0].ask
        answers = [first(index)] if len(waiting) == 1 else first.together(index, [one.ask for one in waiting])
    except Exception as error:  # noqa: BLE001  (whoever asked gets it)
        answers = error
    if not isinstance(answers, Exception):
        settle(waiting, answers)
    elif len(waiting) == 1:
        settle(waiting, [answers])
    else:
        for question in waiting:
            _answer(index, [question])
