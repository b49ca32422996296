"""Seconds of each step of a run, the memory that it came to, and a word to whoever watches."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Protocol, runtime_checkable

__all__ = ["Clock", "Progress", "Silent", "peak_memory"]

_TICK_SECONDS = 1.0


@runtime_checkable
class Progress(Protocol):
    """Who watches a run."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step of this name begins; of this many bytes, where their number is known before."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Called when this many more documents, and bytes of text, have been read."""

    def note(self, text: str) -> None:
        """Something was chosen on the way that one may want to know."""

    def end(self) -> None:
        """The run is over."""


class Silent:
    """The progress of a run that nobody watches: every call does nothing."""

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """Say nothing: nobody watches."""

    def add(self, documents: int, num_bytes: int) -> None:
        """Say nothing: nobody watches."""

    def note(self, text: str) -> None:
        """Say nothing: nobody watches."""

    def end(self) -> None:
        """Say nothing: nobody watches."""


class Clock:
    """Seconds and peaks of memory of each step of a run, and a word to whoever watches."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Silent()
        self.seconds: dict[str, float] = {}
        self.peaks: dict[str, int] = {}  # bytes that the process had held at most, at the end of each step
        self.around: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext()  # what a step runs in

    def unwatched(self) -> "Clock":
        """Another that nobody watches, whose steps run in the same."""
        clock = Clock()
        clock.around = self.around
        return clock

    def foreseen(self, **seconds: float) -> None:
        """Tell who wants to know it how long steps will take."""
        tell = getattr(self.progress, "foreseen", None)
        if tell is not None:
            tell(seconds)

    def note(self, room: Mapping[str, Any]) -> None:
        """Tell what had to be done for want of memory, of all that `Stats.room` says."""
        if room.get("features") == "files":
            self.progress.note("features do not fit in memory: they are kept in files")
        slots, slot_bits, passes = room.get("count_table", {"slots": 0, "slot_bits": 8, "passes": 1}).values()
        if slot_bits < 8 or passes > 1:
            times = f"{passes} passes" if passes > 1 else "one pass"
            self.progress.note(f"counting in {times}: {slots:,} slots of {slot_bits} bits")

    @contextmanager
    def __call__(self, step: str, total_bytes: int | None = None) -> Iterator[None]:
        """Announce a step, and add the seconds of what runs inside to those of its name."""
        self.progress.begin(step, total_bytes)
        began = time.perf_counter()
        try:
            with self.around(step), _ticking(getattr(self.progress, "tick", None)):
                yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began
            if (peak := peak_memory()) is not None:
                self.peaks[step] = peak


def peak_memory() -> int | None:
    """Bytes that this process has held at most, where Linux tells; what its children hold is not in it."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123  (no Path is needed for it)
        return next((1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:")), None)
    return None


@contextmanager
def _ticking(tick: Callable[[], None] | None) -> Iterator[None]:
    """Call whoever wants that now and then while something runs, which may be long and tell nothing itself."""
    if tick is None:
        yield
        return
    over = threading.Event()

    def call() -> None:
        while not over.wait(_TICK_SECONDS):
            tick()

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
