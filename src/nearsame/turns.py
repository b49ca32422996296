"""Threads that share what only one of them may use at a time: an open index, or a connection to a service.

A thread that has its turn may take it again, within a transaction as well; others wait for its end. What is pickled is
nobody's turn where it is read again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from nearsame.errors import StoreBusyError

__all__ = ["Turns"]


class Turns:
    """Whose turn it is.

    Args:
        name: Of what is shared.
        seconds: How long others wait.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._lock = threading.RLock()

    def __reduce__(self) -> tuple[type["Turns"], tuple[str, float]]:
        return Turns, (self._name, self._seconds)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """This thread's turn.

        Raises:
            StoreBusyError: Another thread has not ended its own in time.
        """
        if not self._lock.acquire(timeout=min(max(self._seconds, 0), threading.TIMEOUT_MAX)):
            message = f"{self._name} is in use by another thread of this process; gave up after {self._seconds:g} s"
            raise StoreBusyError(message, hint="Leave its transaction first, or open it once for each thread.")
        try:
            yield
        finally:
            self._lock.release()
