"""What a long run will take, said while it has just begun: time, memory and disk, by what it has read so far.

1. The sample is what was read in the first seconds; the rest is taken for more of the same. Of a run that will be over
   within LONG_SECONDS nothing is said.
2. What follows reading is reckoned by what its steps took for a second of reading in runs of 2 GB of text (Jaccard,
   MinHash: docs/performance.md); comparing is more where much is similar. The same shares give the time left.
3. Memory is what the run will hold, and at most its budget, beyond which features are kept in files; but no less than
   it has held so far.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from nearsame.clock import Clock, Progress, Silent, peak_memory
from nearsame.engines.local import Local
from nearsame.outputs.promises import in_bytes
from nearsame.outputs.steps import READS, StepSoFar
from nearsame.recipes.methods import Method
from nearsame.sources.reading import Reading

__all__ = ["Forecast", "foretelling", "shares_of"]

LONG_SECONDS, SAMPLE_SECONDS = 60.0, 5.0
_SHARES = {
    "identical": 0.04, "counts": 0.3, "keys": 0.15, "meeting": 0.1, "deciding": 0.04, "joining": 0.04, "audit": 0.2,
}  # fmt: skip
_HELD = 2  # times as much as features: what documents share, while it is brought together


def foretelling(
    clock: Clock, reading: Reading, engine: Local, shares: Sequence[tuple[str, float]], *, growth: float
) -> None:
    """From now on tell whoever watches a run also what it will take.

    Args:
        clock: That of the run.
        reading: What is read.
        engine: What has its memory and disk.
        shares: The steps to come, the one that reads first, and what each takes for a second of reading.
        growth: Bytes that are held until the end for each byte of text.
    """
    if type(clock.progress) is not Silent:
        clock.progress = reading.progress = Forecast(clock.progress, engine, shares, growth)


def shares_of(method: Method, *, layered: bool, listing: bool) -> list[tuple[str, float]]:
    """The steps of a run, and what each takes for a second of reading; after layers the sources are read once more."""
    reading = [(READS, 1.0)] * (2 if layered else 1)
    if method.least == 1:  # only equal ones are similar: little is left to do
        return [*reading, ("identical", _SHARES["identical"])]
    without = {"deciding" if listing else "joining", "counts" if method.may_miss else "audit"}
    return [*reading, *((name, share) for name, share in _SHARES.items() if name not in without)]


class Forecast:
    """Who watches a run, and is told what it will take."""

    def __init__(self, watcher: Progress, engine: Local, shares: Sequence[tuple[str, float]], growth: float) -> None:
        self._watcher, self._engine, self._growth = watcher, engine, growth
        self._reads, self._in_all = shares[0][0], sum(share for _, share in shares)
        self._step: StepSoFar | None = None
        self._began, self._text_bytes = 0.0, 0
        self.tick, self.foreseen, expect = (getattr(watcher, name, None) for name in ("tick", "foreseen", "expect"))
        if expect is not None:
            expect(shares)

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """The sample is taken from the step that reads."""
        self._step = StepSoFar(stage, total_bytes) if stage == self._reads and total_bytes else None
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
            if share > 0 and seconds / share * self._in_all >= LONG_SECONDS:
                self._watcher.note(self._said(seconds / share * self._in_all, share))

    def note(self, text: str) -> None:
        """A line of its own."""
        self._watcher.note(text)

    def end(self) -> None:
        """The run is over."""
        self._watcher.end()

    def _said(self, seconds: float, share: float) -> str:
        space = self._engine.space
        features = int(self._growth * self._text_bytes / share)
        fixed = space.memory - space.budget
        memory = max(min(space.memory, fixed + _HELD * features), peak_memory() or 0)
        home = self._engine.workdir or Path(tempfile.gettempdir())
        stored = features if self._engine.checkpoints or features > space.budget // 2 else 0
        disk = f", {in_bytes(stored)} of disk in {home}" if stored else ""
        return (
            f"about {_duration(seconds)} until all is decided, up to {in_bytes(memory)} of memory{disk}"
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
