"""Waiting in tests: for what is to happen, as long as it takes; only the suite's own limit ends it (pytest-timeout)."""

import time
from collections.abc import Callable
from typing import Any

__all__ = ["PATIENCE", "eventually"]

PATIENCE = 600  # seconds, where a library asks for a number: no test passes or fails by how soon something comes


def eventually(condition: Callable[[], Any], pause: float = 0.01) -> Any:
    """What the condition gives as soon as that is true."""
    while not (found := condition()):
        time.sleep(pause)
    return found
