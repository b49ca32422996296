"""The keys of very many documents, brought into order: sorted runs, in files where memory is short, then merged.

1. What is held at a time depends neither on how many keys there are nor on how often one of them occurs.
2. Documents come in the order of their numbers, and so do runs: of equal keys, an earlier run has the smaller numbers.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Int64s
from nearsame.engines.space import Space, mishaps

__all__ = ["KEYED", "Firsts", "KeyRuns"]

KEYED = np.dtype([("key", np.int64), ("number", np.int64), ("kind", np.uint8)])
_SORTING_BYTES = 64  # of memory for each key while a run is sorted: as it came, its place in order, as it goes
_LEAST_RUN = 1 << 16  # keys, however little memory there is
_READ = 1 << 19  # keys at a time, of all runs together
_LEAST_READ = 1 << 10  # of each

Keyed = npt.NDArray[Any]  # of KEYED


class KeyRuns:
    """Keys with the number of their document and a kind; put in any order, read by key and then by number."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._most = max(_LEAST_RUN, space.budget // _SORTING_BYTES)
        self._parts: list[Keyed] = []
        self._size = 0
        self._runs: list[Keyed] = []

    def add(self, kind: int, keys: Int64s, numbers: Int64s) -> None:
        """Those of some documents, none of which has a smaller number than those before them."""
        if self._size + keys.size > self._most:
            self._spill()
        part = np.empty(keys.size, KEYED)
        part["key"], part["number"], part["kind"] = keys, numbers, kind
        self._parts.append(part)
        self._size += keys.size

    def close(self) -> "KeyRuns":
        """Nothing more is put."""
        if self._runs:
            self._spill()
        elif self._size:
            self._runs.append(self._sorted())
        return self

    def __iter__(self) -> Iterator[Keyed]:
        """All of them, some at a time, as often as they are wanted."""
        runs, places = self._runs, [0] * len(self._runs)
        at_once = max(_LEAST_READ, min(self._most, _READ) // max(1, len(runs)))
        while heads := [
            (at, runs[at][done : done + at_once]) for at, done in enumerate(places) if done < runs[at].size
        ]:
            taken = np.concatenate(_up_to(min(head["key"][-1] for _, head in heads), heads, places, runs))
            yield taken[np.argsort(taken["key"], kind="stable")]

    def _spill(self) -> None:
        """Write what is held to a file."""
        if not self._size:
            return
        run, path = self._sorted(), self._space.path("keys")
        with mishaps(path):
            run.tofile(path)
        self._space.spilled_bytes += run.nbytes
        self._runs.append(_mapped(path))

    def _sorted(self) -> Keyed:
        run = np.concatenate(self._parts)
        self._parts, self._size = [], 0
        return run[np.lexsort((run["number"], run["key"]))]


def _mapped(path: Path) -> Keyed:
    """A file's content; it has no name any more, and goes with the array."""
    with mishaps(path):
        run = np.memmap(path, KEYED, "r")
        path.unlink()
    return run


def _up_to(key: int, heads: Sequence[tuple[int, Keyed]], places: list[int], runs: Sequence[Keyed]) -> list[Keyed]:
    """What comes next of each run: keys up to this one, and of this one nothing behind what a run has not given yet."""
    taken, is_open = [], True
    for at, head in heads:
        end = int(np.searchsorted(head["key"], key, "right" if is_open else "left"))
        taken.append(head[:end])
        places[at] += end
        is_open &= end < head.size or places[at] == runs[at].size
    return taken


class Firsts:
    """Which of ascending keys, given some at a time, are the first of equal ones."""

    def __init__(self) -> None:
        self._last: Int64s = np.zeros(0, np.int64)

    def __call__(self, keys: Int64s) -> npt.NDArray[np.bool_]:
        """Of the next keys."""
        joined = np.concatenate([self._last, keys])
        self._last = joined[-1:]
        is_first = np.ones(joined.size, np.bool_)
        is_first[1:] = joined[1:] != joined[:-1]
        return is_first[joined.size - keys.size :]
