"""How far a run is, in words: one plain line every few seconds, on standard error or for the logging of a program.

1. Steps of the flow are called by what they do for the user.
2. Time left is that of the whole run. Of a step that reads it is estimated from bytes on disk: those of the step
   against those that this process has read since, for compressed and columnar files alike, where bytes of text say
   nothing; where the system does not count, none is shown. What follows is reckoned by what such steps take for each
   second of reading, and corrected by each of them that ends; of a step that takes longer, no time is told.
3. Whoever calls nearsame from Python has the lines in the logger `nearsame`, at the level INFO: who does not ask for
   it sees nothing, and it costs nothing.
"""

import logging
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from nearsame.clock import Progress, Silent
from nearsame.printable import printable

__all__ = ["READS", "WRITES", "Lines", "RunSoFar", "StepSoFar", "logged", "time_left"]

READS, WRITES = "features", "writing"  # the step that others are measured by where none is named, and the last one

_STEPS = {
    "features": "reading",
    "benchmarks": "reading benchmarks",
    "training": "looking for items",
    "cutting": "cutting out what was found",
    "boilerplate": "counting boilerplate",
    "foretelling": "estimating the cost",
    "identical": "grouping identical ones",
    "counts": "counting",
    "keys": "making keys",
    "meeting": "finding candidates",
    "deciding": "comparing and deciding",
    "joining": "comparing",
    "templates": "looking for templates",
    "audit": "measuring recall",
    "verifying kept": "reading sources and copies",
    "verifying witnesses": "comparing with witnesses",
}
_EVERY_SECONDS = 3.0
_WRITING = 1.4  # seconds for one of reading
_SURE = 0.1  # of the seconds of reading: what was reckoned weighs as much as steps of so many that are over

_logger = logging.getLogger("nearsame")


def logged(progress: Progress | None) -> Progress:
    """Who watches; if nobody does, the logger of the package, where somebody listens to that."""
    return progress or (_Logged() if _logger.isEnabledFor(logging.INFO) else Silent())


class StepSoFar:
    """What has been read in a step, and how far that is."""

    def __init__(self, stage: str, total_bytes: int | None) -> None:
        self.stage, self.name = stage, _STEPS.get(stage, stage)
        self.total = total_bytes
        self.documents = 0
        self._text_bytes = 0
        self._began = time.monotonic()
        self._read_before = _bytes_read()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._began

    def add(self, documents: int, num_bytes: int) -> None:
        """Count documents that were read, and the bytes of their text."""
        self.documents += documents
        self._text_bytes += num_bytes

    def done(self) -> int:
        """Bytes read from disk; 0 where that is not known."""
        return min(_bytes_read() - self._read_before, self.total or 0)

    def seconds_left(self) -> float | None:
        """By what is left on disk; None where that is not known, or nothing has been read, or all."""
        done = self.done()
        if not self.total or not 0 < done < self.total:
            return None  # files that were read ahead say nothing of the work that they make
        return self.seconds * (self.total - done) / done

    def __str__(self) -> str:
        megabytes = self._text_bytes / 1e6
        speed = megabytes / max(self.seconds, 1e-3)
        if not self.documents:
            return ""
        return f"{self.documents:,} documents, {_short(megabytes)} MB, {_short(speed)} MB/s"


def _short(number: float) -> str:
    """With a decimal where there are few."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def _bytes_read() -> int:
    """By this process until now, where Linux counts it."""
    try:
        line = re.match(r"rchar: (\d+)", Path("/proc/self/io").read_text("ascii"))
    except OSError:
        return 0
    return int(line[1]) if line else 0


class RunSoFar:
    """Which step a run is at, and how long what is left of it will take."""

    def __init__(self, *, writes: bool = False) -> None:
        self._writes, self._reads = writes, READS
        self.step = StepSoFar("", None)
        self._ahead: list[tuple[str, float]] = []  # steps, and what each takes for a second of reading
        self._share = 0.0  # the same of this one
        self._reading = self._taken = self._reckoned = 0.0  # seconds: of reading, and of steps behind it that are over

    def expect(self, shares: Sequence[tuple[str, float]]) -> None:
        """These steps are to come, in this order, first the one that reads; each takes so long for a second of it."""
        self._reads = shares[0][0]
        self._ahead = [*shares, *([(WRITES, _WRITING)] if self._writes else [])]

    def foreseen(self, seconds: Mapping[str, float]) -> None:
        """Steps of these names will take so long, if they come."""
        unit = self._reading * self._pace() or 1.0
        self._ahead = [(name, seconds[name] / unit if name in seconds else share) for name, share in self._ahead]

    def begin(self, stage: str, total_bytes: int | None) -> None:
        """A step begins, and the one before is over."""
        if self.step.stage == self._reads:
            self._reading = self.step.seconds
        elif self._share:
            self._taken += self.step.seconds
            self._reckoned += self._share * self._reading
        names = [name for name, _ in self._ahead]
        at = names.index(stage) if stage in names else -1
        self._share = self._ahead[at][1] if at >= 0 else 0.0
        self._ahead = self._ahead[at + 1 :]
        self.step = StepSoFar(stage, total_bytes)

    def seconds_left(self) -> float | None:
        """Of the whole run; None where that is not known."""
        own, reading = self.step.seconds_left(), self._reading * self._pace()
        if own is None and self._share and not self.step.total:
            own = self._share * reading - self.step.seconds
        if own is None or own < 0:
            return None
        if self.step.stage == self._reads:
            reading = self.step.seconds + own
        return own + reading * sum(share for _, share in self._ahead)

    def _pace(self) -> float:
        """How much longer than reckoned steps take, by those that are over."""
        sure = _SURE * self._reading
        return (self._taken + sure) / (self._reckoned + sure) if sure else 1.0


def time_left(seconds: float | None) -> str:
    """In words; nothing where it is not known.

    >>> time_left(12), time_left(600), time_left(9000), time_left(None)
    ('12 s left', '10 min left', '2.5 h left', '')
    """
    if seconds is None:
        return ""
    if seconds < 120:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 7200 else f"{seconds / 3600:,.1f} h left"


class Lines:
    """Plain lines, one every few seconds at most."""

    def __init__(self, *, writes: bool = False) -> None:
        self._last = time.monotonic()
        self._run = RunSoFar(writes=writes)
        self.expect, self.foreseen = self._run.expect, self._run.foreseen

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Count from zero, as a step begins."""
        self._run.begin(stage, total_bytes)
        self.tick()

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""
        self._run.step.add(documents, num_bytes)
        self.tick()

    def note(self, text: str) -> None:
        """A line of its own."""
        self._write(printable(text))

    def end(self) -> None:
        """Do nothing: the lines that were written stay."""

    def tick(self) -> None:
        """Say how far it is, if that was long ago; called now and then, from any thread."""
        if time.monotonic() - self._last < _EVERY_SECONDS:
            return
        self._last = time.monotonic()
        step, left = self._run.step, time_left(self._run.seconds_left())
        said = ", ".join(filter(None, [str(step), left and f"about {left}"]))
        self._write(": ".join(filter(None, [step.name, said])))

    def _write(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class _Logged(Lines):
    """The same for a logger."""

    def _write(self, line: str) -> None:
        _logger.info("%s", line)
