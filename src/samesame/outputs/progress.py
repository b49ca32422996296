"""Progress on standard error: a live line on a terminal, a plain one every few seconds elsewhere.

1. Standard output is for results; nothing here writes to it.
2. Steps of the flow are called by what they do for the user.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from samesame import results

__all__ = ["Lines", "Live", "watched"]

_STEPS = {
    "features": "reading",
    "identical": "grouping identical ones",
    "counts": "counting",
    "keys": "making keys",
    "meeting": "finding candidates",
    "deciding": "comparing and deciding",
    "joining": "comparing",
}
_EVERY_SECONDS = 5.0
_MOST_PER_SECOND = 10.0


@contextmanager
def watched(*, quiet: bool = False) -> Iterator[results.Progress]:
    """What to show while something runs."""
    progress: results.Progress
    if quiet:
        progress = results.Silent()
    elif sys.stderr.isatty():
        progress = Live(Console(stderr=True))
    else:
        progress = Lines()
    try:
        yield progress
    finally:
        progress.end()


class _Counts:
    """What has been read, and when that began."""

    def __init__(self) -> None:
        self.documents = 0
        self.num_bytes = 0
        self.began = time.monotonic()

    def speed(self) -> float:
        """Megabytes per second."""
        return self.num_bytes / 1e6 / max(time.monotonic() - self.began, 1e-3)

    def __str__(self) -> str:
        return f"{self.documents:,} documents, {self.num_bytes / 1e6:,.0f} MB, {self.speed():,.0f} MB/s"


class Lines:
    """Plain lines, one every few seconds at most."""

    def __init__(self) -> None:
        self._last = time.monotonic()
        self._stage = ""
        self._counts = _Counts()

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step begins."""
        self._stage, self._total = _STEPS.get(stage, stage), total_bytes
        self._counts = _Counts()
        self._say()

    def add(self, documents: int, num_bytes: int) -> None:
        """So many more documents, of so many bytes of text, have been read."""
        self._counts.documents += documents
        self._counts.num_bytes += num_bytes
        self._say()

    def end(self) -> None:
        """Say no more."""

    def _say(self) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY_SECONDS:
            self._last = now
            left = ""
            if self._total and self._counts.num_bytes:
                seconds = (self._total - self._counts.num_bytes) / 1e6 / self._counts.speed()
                left = f", about {max(seconds, 0):.0f} s left"
            counts = f": {self._counts}{left}" if self._counts.documents else ""
            sys.stderr.write(f"{self._stage}{counts}\n")
            sys.stderr.flush()


class Live:
    """One line that renews itself, gone at the end."""

    def __init__(self, console: Console) -> None:
        self._display = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}"),
            BarColumn(20),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            refresh_per_second=_MOST_PER_SECOND,
        )
        self._task: TaskID | None = None
        self._counts = _Counts()
        self._last = 0.0
        self._display.start()

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step begins."""
        if self._task is not None:
            self._display.remove_task(self._task)
        self._counts = _Counts()
        self._task = self._display.add_task(_STEPS.get(stage, stage), total=total_bytes, counts="")

    def add(self, documents: int, num_bytes: int) -> None:
        """So many more documents, of so many bytes of text, have been read."""
        self._counts.documents += documents
        self._counts.num_bytes += num_bytes
        now = time.monotonic()
        if self._task is not None and now - self._last > 1 / _MOST_PER_SECOND:
            self._last = now
            self._display.update(self._task, completed=self._counts.num_bytes, counts=str(self._counts))

    def end(self) -> None:
        """Give the terminal back."""
        self._display.stop()
