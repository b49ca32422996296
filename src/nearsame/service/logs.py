"""The log: one JSON object a line, never with the text of a document.

1. A request's line has its route, not its path: a path has ids, and what a mistaken client puts there.
2. Of an exception it has type and place, not the message: messages of libraries quote what they were given.
"""

import logging
import sys
import time
import traceback
from typing import Any, TextIO

import orjson

__all__ = ["Log", "place"]


class Log:
    """Where events are written."""

    def __init__(self, stream: TextIO | None = None, *, requests: bool = True) -> None:
        self._stream = stream
        self.requests = requests

    def event(self, name: str, **fields: Any) -> None:
        """Write one line of JSON: the time, the name of the event, and these fields."""
        line = orjson.dumps({"time": _now(), "event": name, **fields}, default=str).decode()
        stream = self._stream or sys.stderr
        stream.write(f"{line}\n")
        stream.flush()

    def failure(self, name: str, error: BaseException, **fields: Any) -> None:
        """An exception that nobody foresaw."""
        self.event(name, level="error", error=type(error).__name__, place=place(error), **fields)

    def adopt(self, *names: str) -> None:
        """Write what these loggers of the standard library say, too, from warnings on."""
        for name in names:
            logger = logging.getLogger(name)
            logger.handlers[:] = [_Adopted(self)]
            logger.propagate = False
            logger.setLevel(logging.WARNING)


class _Adopted(logging.Handler):
    """Another library's lines: their format, without what is filled in, unless it is a number."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        kind, place_of = None, []
        if record.exc_info and record.exc_info[1] is not None:
            kind, place_of = type(record.exc_info[1]).__name__, place(record.exc_info[1])
        fields = {"error": kind, "place": place_of} if kind else {}
        self._log.event(
            "library", level=record.levelname.lower(), logger=record.name, message=str(record.msg), **fields
        )


def place(error: BaseException) -> list[str]:
    """Where an exception came from: file, line and function of the innermost frames."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]


def _now() -> str:
    seconds = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{int(seconds % 1 * 1000):03d}Z"
