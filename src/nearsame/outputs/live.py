"""The line of progress that renews itself on a terminal."""

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TaskID, TextColumn
from rich.text import Text

from nearsame.outputs.steps import RunSoFar, time_left
from nearsame.printable import printable

__all__ = ["Live"]

_MOST_PER_SECOND = 10.0


class Live:
    """One line that renews itself, gone at the end."""

    def __init__(self, console: Console | None = None, *, writes: bool = False) -> None:
        self._run = RunSoFar(writes=writes)
        self.expect, self.foreseen = self._run.expect, self._run.foreseen
        self._display = Progress(
            SpinnerColumn("line"),
            TextColumn("{task.description}", markup=False),
            BarColumn(12),
            TextColumn("{task.fields[counts]}", markup=False),
            _TimeLeft(self._run),
            console=console or Console(stderr=True, markup=False, emoji=False),
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
