"""Files whose writing ends early: what threads write for a run that was interrupted is not waited for."""

import io
import os
from collections.abc import Callable
from contextvars import ContextVar
from threading import Event
from typing import Any, BinaryIO

__all__ = ["EndedError", "opened", "until"]

_ENDED: ContextVar[Event | None] = ContextVar("ended", default=None)


class EndedError(Exception):
    """Nobody wants any more what is being written."""


def until(ended: Event, call: Callable[[], None]) -> None:
    """Call what writes files; once it has `ended`, the next write to one that it has `opened` raises EndedError."""
    _ENDED.set(ended)
    try:
        call()
    finally:
        _ENDED.set(None)


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A file to write to."""
    return io.BufferedWriter(_File(path, "wb"))


class _File(io.FileIO):
    def __init__(self, path: str | os.PathLike[str], mode: str) -> None:
        super().__init__(path, mode)
        self._ended = _ENDED.get()

    def write(self, data: Any) -> int:
        """Write, unless it has ended."""
        if self._ended is not None and self._ended.is_set():
            raise EndedError
        return super().write(data)
