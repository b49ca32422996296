"""Connections, and the process that they are of: one that is forked from it must not use them.

A lock on a file is not inherited, so SQLite in the other process would take the log for its own; and two that speak to
a PostgreSQL server by one connection get each other's answers.
"""

import os
from typing import Any

from nearsame.errors import StoreError

__all__ = ["Owner"]


class Owner:
    """The process that opened something."""

    _left: list[Any] = []  # noqa: RUF012  (of all: what is never closed here, as it is another process's)

    def __init__(self) -> None:
        self._pid = os.getpid()

    def is_here(self) -> bool:
        """Whether this is that process."""
        return os.getpid() == self._pid

    def require(self, name: str) -> None:
        """Refuse to go on in another one.

        Raises:
            StoreError: This is one that was forked from it.
        """
        if not self.is_here():
            message = f"{name} was opened by the process that this one was forked from"
            raise StoreError(message, hint="Open it in this process, too.")

    def leave(self, connection: Any) -> None:
        """Keep a connection of that process from ever being closed in this one."""
        self._left.append(connection)
