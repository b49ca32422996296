"""Progress on standard error: a live line on a terminal, a plain one every few seconds elsewhere.

1. Standard output is for results; nothing here writes to it.
2. What is said of a step is in steps.py, the live line in live.py.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from nearsame import clock
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
    from nearsame.kernels._jit import is_cold  # noqa: PLC0415  (the compiler, which a run needs anyway)

    if is_cold():
        progress.note("first run: compiling for this processor takes a few seconds more; the result is kept")
    try:
        yield progress
    finally:
        progress.end()
