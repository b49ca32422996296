"""How far a run is, in words: one plain line every few seconds, on standard error or for the logging of a program.

1. Steps of the flow are called by what they do for the user.
2. Time left is estimated from bytes on disk: those of a step against those that this process has read since, for
   compressed and columnar files alike, where bytes of text say nothing; where the system does not count, none is shown.
3. Whoever calls nearsame from Python has the lines in the logger `nearsame`, at the level INFO: who does not ask for
   it sees nothing, and it costs nothing.
"""

import logging
import re
import sys
import time
from pathlib import Path

from nearsame.clock import Progress, Silent
from nearsame.printable import printable

__all__ = ["Lines", "StepSoFar", "logged"]

_STEPS = {
    "features": "reading",
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

_logger = logging.getLogger("nearsame")


def logged(progress: Progress | None) -> Progress:
    """Who watches; if nobody does, the logger of the package, where somebody listens to that."""
    return progress or (_Logged() if _logger.isEnabledFor(logging.INFO) else Silent())


class StepSoFar:
    """What has been read in a step, and how far that is."""

    def __init__(self, stage: str, total_bytes: int | None) -> None:
        self.name = _STEPS.get(stage, stage)
        self.total = total_bytes
        self.documents = 0
        self._text_bytes = 0
        self._began = time.monotonic()
        self._read_before = _bytes_read()

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
        return (time.monotonic() - self._began) * (self.total - done) / done

    def __str__(self) -> str:
        megabytes = self._text_bytes / 1e6
        speed = megabytes / max(time.monotonic() - self._began, 1e-3)
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


class Lines:
    """Plain lines, one every few seconds at most."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._step = StepSoFar("", None)

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Count from zero, as a step begins."""
        self._step = StepSoFar(stage, total_bytes)
        self._say()

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""
        self._step.add(documents, num_bytes)
        self._say()

    def note(self, text: str) -> None:
        """A line of its own."""
        self._write(printable(text))

    def end(self) -> None:
        """Do nothing: the lines that were written stay."""

    def _say(self) -> None:
        if time.monotonic() - self._last < _EVERY_SECONDS:
            return
        self._last = time.monotonic()
        left = self._step.seconds_left()
        said = [str(self._step), "" if left is None else f"about {left:.0f} s left"]
        self._write(": ".join(filter(None, [self._step.name, ", ".join(filter(None, said))])))

    def _write(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


class _Logged(Lines):
    """The same for a logger."""

    def _write(self, line: str) -> None:
        _logger.info("%s", line)
