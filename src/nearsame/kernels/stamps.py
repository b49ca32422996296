"""Sharing a range of documents among threads, each with stamps of its own."""

from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Each", "Stamps"]

Each = Callable[[Iterable[Any], Callable[[Any], Any]], Iterator[Any]]  # what an engine lends: run, in order
Array = Callable[[int, Any], Any]  # and room for large results: an uninitialised array of a size and a type

_CHUNK = 256


class Stamps:
    """One int32 array a thread, for `n` documents; made when first needed."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._free: SimpleQueue[npt.NDArray[np.int32]] = SimpleQueue()

    def run(self, each: Each, low: int, high: int, threads: int, work: Callable[[int, int, Any], Any]) -> list[Any]:
        """work(low, high, stamps) over pieces of a range, in order."""
        step = max(_CHUNK, (high - low) // (8 * threads) + 1)

        def piece(start: int) -> Any:
            stamps = self._free.get() if not self._free.empty() else np.zeros(self._n, np.int32)
            try:
                return work(start, min(start + step, high), stamps)
            finally:
                self._free.put(stamps)

        return list(each(range(low, high, step), piece))
