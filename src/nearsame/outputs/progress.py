"""Progress on standard error: a live line on a terminal, a plain one every few seconds elsewhere.

1. Standard output is for results; nothing here writes to it.
2. What is said of a step is in steps.py, the live line in live.py.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from nearsame import clock
from nearsame.kernels.waiting import telling
from nearsame.outputs.steps import Lines

__all__ = ["watched"]


@contextmanager
def watched(*, quiet: bool = False, writes: bool = False) -> Iterator[clock.Progress]:
    """What to show while something runs, and writes what stays at its end."""
    progress: clock.Progress
    if quiet:
        progress = clock.Silent()
    elif sys.stderr.isatty():
        from nearsame.outputs.live import Live  # noqa: PLC0415  (what draws, where there is a terminal)

        progress = Live(writes=writes)
    else:
        progress = Lines(writes=writes)
    try:
        with telling(progress.note):
            yield progress
    finally:
        progress.end()
