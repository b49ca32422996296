"""All similar pairs of the documents that meet.

1. Every document is compared with the documents before it that share a key with it, each once.
2. By Jaccard similarity the documents before it are those that are smaller (kernels/joining.py).
3. Pairs come out as rows a < b.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding, joining
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import PairRoom, Work
from nearsame.kernels.scores import JACCARD, OF_SETS, Bound
from nearsame.kernels.stamps import Array, Each, Stamps
from nearsame.named import NamedTuple

__all__ = ["AllPairs", "JoinedPairs", "found_in", "grouped", "in_rows"]

_BLOCK = 4096
_ROOM = 1 << 14
_SAMPLED, _RUN = 128, 8  # a prediction looks at so many runs of so many documents
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
        rows, listed = meeting.entries.rows, self._listing(meeting, array)
        stamps = Stamps(rows.size)
        for low in range(0, rows.size, _BLOCK):
            for piece in stamps.run(each, low, min(low + _BLOCK, rows.size), threads, listed):
                yield in_rows(piece, rows)

    def sample(self, meeting: Meeting, array: Array = np.empty) -> tuple[list[JoinedPairs], float]:
        """The pairs of some documents with those before them, and by what to multiply for all."""
        rows = meeting.entries.rows
        if rows.size <= _SAMPLED * _RUN:
            return [], 0.0
        listed = self._listing(meeting, array)
        starts = np.linspace(0, rows.size - _RUN, _SAMPLED).astype(np.int64)
        stamps, pieces, total = np.zeros(rows.size, np.int32), [], 0
        for low in starts.reshape(16, -1).T.ravel():  # all over the documents, should it end early
            pieces.append(in_rows(listed(int(low), int(low) + _RUN, stamps), rows))
            total += pieces[-1].work.left_by_places
            if total > _ENOUGH:
                break
        return pieces, rows.size / (len(pieces) * _RUN)

    def _listing(self, meeting: Meeting, array: Array) -> Callable[[int, int, Any], JoinedPairs]:
        """What lists the pairs of a range of documents, made once for a sample and for all."""
        if self._known.get("meeting") is not meeting:
            self._known.update(meeting=meeting, listing=_listing(meeting, self.bound, array))
        listing: Callable[[int, int, Any], JoinedPairs] = self._known["listing"]
        return listing

    @cached_property
    def _known(self) -> dict[str, Any]:
        return {}


def _listing(meeting: Meeting, bound: Bound, array: Array) -> Callable[[int, int, Any], JoinedPairs]:
    """By Jaccard similarity of the ranks of documents, else of their numbers."""
    if bound.measure == JACCARD:
        kernel, shared = joining.pairs_of_ranks, (joining.by_size(meeting, bound, array), *meeting[1:], bound)
    else:
        kernel, shared = deciding.all_pairs, grouped(meeting, bound, array)
    return lambda low, high, stamps: found_in(low, high, lambda a, b, *room: kernel(a, b, *shared, stamps, *room))


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
