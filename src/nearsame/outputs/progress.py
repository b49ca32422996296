"""Progress on standard error: a live line on a terminal, a plain one every few seconds elsewhere.

1. Standard output is for results; nothing here writes to it.
2. What is said of a step is in steps.py.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.text import Text

from nearsame import clock
from nearsame.outputs.steps import Lines, RunSoFar, time_left
from nearsame.printable import printable

__all__ = ["Live", "watched"]

_MOST_PER_SECOND = 10.0


@contextmanager
def watched(*, quiet: bool = False, writes: bool = False) -> Iterator[clock.Progress]:
    """What to show while something runs, and writes what stays at its end."""
    progress: clock.Progress
    if quiet:
        progress = clock.Silent()
    elif sys.stderr.isatty():
        progress = Live(Console(stderr=True, markup=False, emoji=False), writes=writes)
    else:
        progress = Lines(writes=writes)
    from nearsame.kernels._jit import is_cold  # noqa: PLC0415  (the compiler, which a run needs anyway)

    if is_cold():
        progress.note("first run: compiling for this processor takes a few seconds more; the result is kept")
    try:
        yield progress
    finally:
        progress.end()


class Live:
    """One line that renews itself, gone at the end."""

    def __init__(self, console: Console, *, writes: bool = False) -> None:
        self._run = RunSoFar(writes=writes)
        self.expect, self.foreseen = self._run.expect, self._run.foreseen
        self._display = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(12),
            TextColumn("{task.fields[counts]}", markup=False),
            _TimeLeft(self._run),
            console=console,
            transient=True,
            refresh_per_second=_MOST_PER_SECOND,
        )
        self._task: TaskID | None = None
        self._last = 0.0
        self._display.start()

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Show a bar for the step that begins, in place of the one before."""
        if self._task is not None:
            self._display.remove_task(self._task)
        self._run.begin(stage, total_bytes)
        self._task = self._display.add_task(self._run.step.name, total=total_bytes, counts="")

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""
        step = self._run.step
        step.add(documents, num_bytes)
        now = time.monotonic()
        if self._task is not None and now - self._last > 1 / _MOST_PER_SECOND:
            self._last = now
            self._display.update(self._task, completed=step.done(), counts=str(step))

    def note(self, text: str) -> None:
        """A line of its own, that stays."""
        self._display.console.print(printable(text), highlight=False)

    def end(self) -> None:
        """Give the terminal back."""
        self._display.stop()


class _TimeLeft(ProgressColumn):
    """How long the whole run will take from now on, as often as the line renews itself."""

    def __init__(self, run: RunSoFar) -> None:
        super().__init__()
        self._run = run

    def render(self, task: Task) -> Text:  # noqa: ARG002  (it is about all steps)
        """The time, or nothing."""
        return Text(time_left(self._run.seconds_left()))
