"""All similar pairs of the documents that meet.

1. Every document is compared with the documents before it that share a key with it, each once.
2. Pairs come out as rows a < b, ascending by (b, a) within a batch of documents.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import PairRoom, Work
from nearsame.kernels.scores import OF_SETS, Bound
from nearsame.kernels.stamps import Array, Each, Stamps

__all__ = ["AllPairs", "JoinedPairs", "found_in", "grouped", "in_rows"]

_BLOCK = 4096
_ROOM = 1 << 14
_SAMPLED, _RUN = 256, 8  # a prediction looks at so many runs of so many documents
_ENOUGH = 1 << 22  # comparisons, and so pairs: a template may have 100,000 for each document


class JoinedPairs(NamedTuple):
    """Some of the pairs: rows a < b, similarities as fractions."""

    a: Rows
    b: Rows
    nums: Rows
    dens: Rows
    work: Work = Work()

    @staticmethod
    def joined(parts: "Sequence[JoinedPairs]") -> "JoinedPairs":
        """Several parts as one, in their order; what they took is summed."""
        if len(parts) == 1:
            return parts[0]
        a, b, nums, dens = (np.concatenate([part[i] for part in parts] or [np.zeros(0, np.int64)]) for i in range(4))
        return JoinedPairs(a, b, nums, dens, Work.total(part.work for part in parts))


@dataclass(frozen=True)
class AllPairs:
    """The rule of joining.

    Attributes:
        bound: the measure and the threshold.
    """

    bound: Bound

    def join(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Iterator[JoinedPairs]:
        """The pairs, a block of documents at a time."""
        rows, shared = meeting.entries.rows, grouped(meeting, self.bound, array)
        stamps = Stamps(rows.size)
        for low in range(0, rows.size, _BLOCK):
            high = min(low + _BLOCK, rows.size)
            for piece in stamps.run(each, low, high, threads, lambda a, b, s: _all(shared, a, b, s)):
                yield in_rows(piece, rows)

    def sample(self, meeting: Meeting, array: Array = np.empty) -> tuple[list[JoinedPairs], float]:
        """The pairs of some documents with those before them, and by what to multiply for all."""
        rows, shared = meeting.entries.rows, grouped(meeting, self.bound, array)
        if rows.size <= _SAMPLED * _RUN:
            return [], 0.0
        starts = np.linspace(0, rows.size - _RUN, _SAMPLED).astype(np.int64)
        stamps, pieces, total = np.zeros(rows.size, np.int32), [], 0
        for low in starts.reshape(16, -1).T.ravel():  # all over the documents, should it end early
            pieces.append(in_rows(_all(shared, int(low), int(low) + _RUN, stamps), rows))
            total += pieces[-1].work.left_by_places
            if total > _ENOUGH:
                break
        return pieces, rows.size / (len(pieces) * _RUN)


def grouped(meeting: Meeting, bound: Bound, array: Array) -> tuple[Any, ...]:
    """The arguments that all calls of a kernel over the buckets have in common."""
    members = meeting.nobody(array, sets=bound.measure in OF_SETS)
    deciding.fill_members(members, meeting.offsets, bound)
    return members, *meeting[1:], bound


def in_rows(piece: JoinedPairs, rows: Rows) -> JoinedPairs:
    """Pairs of documents by number as pairs of rows."""
    a, b = rows[piece.a], rows[piece.b]
    return JoinedPairs(np.minimum(a, b), np.maximum(a, b), *piece[2:])


def found_in(low: int, high: int, fill: Callable[[int, int, PairRoom, Rows], tuple[int, int]]) -> JoinedPairs:
    """The pairs of a range of documents, in as many calls of a kernel as the output needs."""
    parts: list[list[Any]] = [[], [], [], []]
    room, work = _ROOM, Work.room()
    while low < high:
        out = PairRoom(*(np.empty(room, np.int64) for _ in range(4)))
        start, (low, filled) = low, fill(low, high, out, work)
        for part, column in zip(parts, out, strict=True):
            part.append(column[:filled].copy())
        room = room * 4 if low == start else room
    a, b, nums, dens = (np.concatenate(part) if part else np.zeros(0, np.int64) for part in parts)
    return JoinedPairs(a, b, nums, dens, Work.of(work))


def _all(shared: tuple[Any, ...], low: int, high: int, stamps: npt.NDArray[np.int32]) -> JoinedPairs:
    return found_in(low, high, lambda a, b, *room: deciding.all_pairs(a, b, *shared, stamps, *room))
