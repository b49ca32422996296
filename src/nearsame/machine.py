"""What the systems that Python runs on do not all tell."""

import os

__all__ = ["num_processors"]


def num_processors() -> int:
    """Those that this process may use, where the system says it (Linux); else those that there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
