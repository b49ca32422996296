"""What people decide on the pages: a file of pairs that is only ever added to, as `dedup --decisions` reads it.

1. A decision is on disk before its page is shown, with who (the name of the token) and when.
2. Others write to the same file, another service or `nearsame review`: a page shows what they have decided.
3. One request at a time waits for their lock, and none for longer than its own time: the threads are others', too.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from nearsame.answers.doubts import Undecided
from nearsame.answers.reports import SeenDocument
from nearsame.errors import StoreBusyError
from nearsame.files.inputs import Inputs
from nearsame.service.problems import HttpProblem
from nearsame.sources.judged import DECISION_COLUMNS, JudgedPair
from nearsame.studies.decision_log import DecisionLog, unfit

__all__ = ["CHOICES", "PageDecisions", "said", "undecidable"]

CHOICES: Final = {  # of a form: what its button says, the label, which one is to stay
    "duplicates": ("Duplicates", "yes", ""),
    "keep-a": ("Duplicates, a stays", "yes", "a"),
    "keep-b": ("Duplicates, b stays", "yes", "b"),
    "different": ("Not duplicates: keep both", "no", ""),
    "unsure": ("Unsure", "unknown", ""),
}
_BACK = "back"
_SAID = {"yes": "duplicates", "no": "not duplicates", "unknown": "unsure"}

T = TypeVar("T")


class PageDecisions:
    """The file, opened with the first decision; one that is there is read at the start."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._turns = asyncio.Lock()
        self._lock = threading.Lock()
        self._log: DecisionLog | None = None

    @property
    def name(self) -> str:
        """What the file is called, without its folder."""
        return self._path.name

    def start(self, seconds: float) -> None:
        """Read what was decided before.

        Raises:
            NearSameError: The file cannot be used, or another process holds it for so many seconds.
        """
        self._look(seconds)

    async def look(self, seconds: float) -> None:
        """See what others have decided; the file may have come, or gone, since.

        Raises:
            HttpProblem: Another process holds it for so many seconds.
            NearSameError: The file cannot be used.
        """
        await self._alone(seconds, self._look)

    async def decide(self, pair: tuple[str, str], choice: str, note: str, who: str, seconds: float) -> None:
        """Write a decision.

        Raises:
            HttpProblem: There is no such choice, no line can hold these ids, or another process holds the file.
            OutputError: It could not be written.
        """
        if choice != _BACK and choice not in CHOICES:
            raise HttpProblem(422, "invalid", f"{choice[:40]!r} is not a decision")
        if problem := undecidable(*pair):
            raise HttpProblem(422, "invalid", problem)
        await self._alone(seconds, self._write, pair, choice, note, who)

    def about(self, a: str, b: str) -> JudgedPair | None:
        """What was decided about a pair."""
        return self._log.known.get(JudgedPair(0, a, b).pair) if self._log else None

    def latest(self, start: int, number: int) -> list[JudgedPair]:
        """Some of the last words on all pairs, those of the latest first."""
        known = list(self._log.known.values())[::-1] if self._log else []  # of one second the last one is the latest
        return sorted(known, key=lambda one: one.when, reverse=True)[start : start + number]

    async def exported(self, seconds: float) -> bytes:
        """The file.

        Raises:
            HttpProblem: Another process holds it for so many seconds.
        """
        return await self._alone(seconds, self._read)

    async def _alone(self, seconds: float, work: Callable[..., T], *given: Any) -> T:
        """What is done while no other request waits for the file, in the seconds that are left."""
        deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                await self._turns.acquire()
        except TimeoutError:
            raise _busy() from None
        try:
            return await asyncio.to_thread(work, max(0.0, deadline - time.monotonic()), *given)
        except StoreBusyError:
            raise _busy() from None
        finally:
            self._turns.release()

    def _read(self, seconds: float) -> bytes:
        self._look(seconds)
        with self._lock:
            if self._log is None:
                return ("\t".join(DECISION_COLUMNS) + "\n").encode()
            return self._path.read_bytes()

    def _look(self, seconds: float) -> None:
        with self._lock:
            if not self._path.exists():
                self._log = None
            elif self._log is None:
                self._log = DecisionLog.open(self._path, Inputs(), seconds=seconds)
            else:
                self._log.seconds = seconds
                self._log.look()

    def _write(self, seconds: float, pair: tuple[str, str], choice: str, note: str, who: str) -> None:
        a, b = pair
        _, label, side = CHOICES.get(choice, ("", "", ""))
        keep = {"a": a, "b": b}.get(side, "")
        self._look(seconds)
        with self._lock:
            if self._log is None:
                self._log = DecisionLog.open(self._path, Inputs(), seconds=seconds)
            self._log.decide(_pair(a, b), label, keep=keep, note="" if choice == _BACK else note, who=who)


def undecidable(a: str, b: str) -> str:
    """Why nothing can be decided about a pair, if that is so."""
    return unfit(_pair(a, b))


def said(one: JudgedPair) -> str:
    """A decision in words."""
    word = _SAID.get(one.label or "", one.label or "")
    return f"{word}, {one.keep} stays" if one.keep else word


def _pair(a: str, b: str) -> Undecided:
    return Undecided(SeenDocument(a, "", 0), SeenDocument(b, "", 0))


def _busy() -> HttpProblem:
    detail, hint = "another process is writing to the file of decisions", "Try again when it is done."
    return HttpProblem(503, StoreBusyError.code, detail, hint=hint, headers={"Retry-After": "1"})
