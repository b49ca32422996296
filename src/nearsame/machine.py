"""What the systems that Python runs on do not all tell, and what libraries change in a process."""

import os
import signal

__all__ = ["hear_interrupts", "num_processors"]


def num_processors() -> int:
    """Those that this process may use, where the system says it (Linux); else those that there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def hear_interrupts() -> None:
    """Have Ctrl-C end the wait for a thread or an answer, as it does in Python.

    Polars, once it is imported, has the system go on waiting; then Ctrl-C is heard when the wait is over.
    """
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)
