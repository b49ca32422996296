"""What a long run will take, said while it has just begun: time, memory and disk, by what it has read so far.

1. The sample is what was read in the first seconds; the rest is taken for more of the same. Of a run that will be over
   within LONG_SECONDS nothing is said.
2. Reading and preparing took 78 to 85 % of the time of runs of 300 MB of text (Jaccard, MinHash, SimHash): what follows
   is reckoned as 30 % on top of that, and compared is more where much is similar.
3. Memory is what the run will hold, and at most its budget; beyond it features are kept in files.
"""

import tempfile
import time
from pathlib import Path

from nearsame.clock import Clock, Progress, Silent
from nearsame.engines.local import Local
from nearsame.outputs.promises import in_bytes
from nearsame.outputs.steps import StepSoFar
from nearsame.sources.reading import Reading

__all__ = ["Forecast", "foretelling"]

LONG_SECONDS, SAMPLE_SECONDS = 60.0, 5.0
_REST = 0.3  # of the time of reading
_HELD = 2  # times as much as features: what documents share, while it is brought together


def foretelling(clock: Clock, reading: Reading, engine: Local) -> None:
    """From now on tell whoever watches a run also what it will take."""
    if type(clock.progress) is not Silent:
        clock.progress = reading.progress = Forecast(clock.progress, engine)


class Forecast:
    """Who watches a run, and is told what it will take."""

    def __init__(self, watcher: Progress, engine: Local) -> None:
        self._watcher, self._engine = watcher, engine
        self._step: StepSoFar | None = None
        self._began, self._text_bytes = 0.0, 0

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """The sample is taken from the step that reads."""
        self._step = StepSoFar(stage, total_bytes) if stage == "features" and total_bytes else None
        self._began, self._text_bytes = time.monotonic(), 0
        self._watcher.begin(stage, total_bytes)

    def add(self, documents: int, num_bytes: int) -> None:
        """Say it once, when there is a sample."""
        self._watcher.add(documents, num_bytes)
        self._text_bytes += num_bytes
        step, seconds = self._step, time.monotonic() - self._began
        if step is not None and seconds >= SAMPLE_SECONDS:
            self._step = None
            share = step.done() / (step.total or 1)
            if share > 0 and seconds / share * (1 + _REST) >= LONG_SECONDS:
                self._watcher.note(self._said(seconds / share * (1 + _REST), share))

    def note(self, text: str) -> None:
        """A line of its own."""
        self._watcher.note(text)

    def end(self) -> None:
        """The run is over."""
        self._watcher.end()

    def _said(self, seconds: float, share: float) -> str:
        space = self._engine.space
        features = int(self._engine.growth * self._text_bytes / share)
        fixed = space.memory - space.budget
        memory = min(space.memory, fixed + _HELD * features)
        home = self._engine.workdir or Path(tempfile.gettempdir())
        stored = features if self._engine.checkpoints or features > space.budget // 2 else 0
        disk = f", {in_bytes(stored)} of disk in {home}" if stored else ""
        return (
            f"about {_duration(seconds)} in all, up to {in_bytes(memory)} of memory{disk}"
            f" (by the first {share:.0%} of the sources; less certain if much is similar)"
        )


def _duration(seconds: float) -> str:
    """In the unit that one would say it in.

    >>> _duration(95), _duration(6000), _duration(200_000)
    ('2 minutes', '1.7 hours', '2.3 days')
    """
    if seconds < 90:
        return "1 minute"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 36 * 3600 else f"{seconds / 86400:.1f} days"
