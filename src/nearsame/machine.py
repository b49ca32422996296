"""What the systems that Python runs on call otherwise, or do not have: processors, users, locks of files."""

import errno
import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["lock", "num_processors", "user"]


def num_processors() -> int:
    """Those that this process may use, where the system says it; else those that there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def user() -> int | None:
    """The number of whoever runs the process; None where users have none."""
    asked = getattr(os, "getuid", None)
    return asked() if asked else None


def lock(file: int, *, wait: bool = True) -> None:
    """Hold an open file or folder against all others that lock it, until it is closed.

    Args:
        file: Its descriptor.
        wait: Whether to wait while somebody else holds it.

    Raises:
        BlockingIOError: Somebody does, and `wait` is false.
        OSError: The system, or where the file lies, has no locks.
    """
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
