"""Progress on standard error: a live line on a terminal, a plain one every few seconds elsewhere.

1. Standard output is for results; nothing here writes to it.
2. Steps of the flow are called by what they do for the user.
3. Time left is estimated from bytes on disk: those of a step against those that this process has read since, for
   compressed and columnar files alike, where bytes of text say nothing; where the system does not count, none is shown.
"""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

from nearsame import clock
from nearsame.printable import printable

__all__ = ["Lines", "Live", "watched"]

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
    "audit": "measuring recall",
    "verifying kept": "reading sources and copies",
    "verifying witnesses": "comparing with witnesses",
}
_EVERY_SECONDS = 3.0
_MOST_PER_SECOND = 10.0


@contextmanager
def watched(*, quiet: bool = False) -> Iterator[clock.Progress]:
    """What to show while something runs."""
    progress: clock.Progress
    if quiet:
        progress = clock.Silent()
    elif sys.stderr.isatty():
        progress = Live(Console(stderr=True, markup=False, emoji=False))
    else:
        progress = Lines()
    from nearsame.kernels._jit import is_cold  # noqa: PLC0415  (the compiler, which a run needs anyway)

    if is_cold():
        progress.note("first run: compiling for this processor takes a few seconds more; the result is kept")
    try:
        yield progress
    finally:
        progress.end()


class _Step:
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
        self._step = _Step("", None)

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Count from zero, as a step begins."""
        self._step = _Step(stage, total_bytes)
        self._say()

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""
        self._step.add(documents, num_bytes)
        self._say()

    def note(self, text: str) -> None:
        """A line of its own."""
        sys.stderr.write(f"{printable(text)}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Do nothing: the lines that were written stay."""

    def _say(self) -> None:
        if time.monotonic() - self._last < _EVERY_SECONDS:
            return
        self._last = time.monotonic()
        left = self._step.seconds_left()
        said = [str(self._step), "" if left is None else f"about {left:.0f} s left"]
        sys.stderr.write(": ".join(filter(None, [self._step.name, ", ".join(filter(None, said))])) + "\n")
        sys.stderr.flush()


class Live:
    """One line that renews itself, gone at the end."""

    def __init__(self, console: Console) -> None:
        self._display = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(16),
            TextColumn("{task.fields[counts]}", markup=False),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console,
            transient=True,
            refresh_per_second=_MOST_PER_SECOND,
        )
        self._task: TaskID | None = None
        self._step = _Step("", None)
        self._last = 0.0
        self._display.start()

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Show a bar for the step that begins, in place of the one before."""
        if self._task is not None:
            self._display.remove_task(self._task)
        self._step = _Step(stage, total_bytes)
        self._task = self._display.add_task(self._step.name, total=total_bytes, counts="")

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""
        self._step.add(documents, num_bytes)
        now = time.monotonic()
        if self._task is not None and now - self._last > 1 / _MOST_PER_SECOND:
            self._last = now
            self._display.update(self._task, completed=self._step.done(), counts=str(self._step))

    def note(self, text: str) -> None:
        """A line of its own, that stays."""
        self._display.console.print(printable(text), highlight=False)

    def end(self) -> None:
        """Give the terminal back."""
        self._display.stop()
