"""Pairs that somebody has told apart: similar or not, neither is removed for the other.

1. What is told of two documents is told of their copies, too: of all that the method cannot tell from them. Of two that
   it cannot tell from each other, it is told of these two alone.
2. Their similarity does not count, and all else does: the later one goes if another kept document removes it.
3. Who stands for a copy stays if it is of the `against` side, whoever resembles it. So a copy that was told apart from
   it meets the others itself, and where several were, the first of them does for all.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.kernels.buckets import Meeting

__all__ = ["Apart", "keepers_of", "marked", "with_copies"]


@dataclass(frozen=True, eq=False)
class Apart:
    """Pairs of documents, by row."""

    a: Rows
    b: Rows

    @cached_property
    def _known(self) -> Rows:
        return _undirected(self.a, self.b)

    def holds(self, a: Rows, b: Rows) -> Mask:
        """Which pairs (a[i], b[i]) are among them."""
        return np.isin(_undirected(a, b), self._known)

    def also_of(self, copies: Mapping[int, int]) -> "Apart":
        """The same, told of some copies as well, each by the document that stands for it; and of it and that one."""
        told = [*zip(self.a.tolist(), self.b.tolist(), strict=True), *copies.items()]
        both = {(x, y) for a, b in told for x in {a, copies.get(a, a)} for y in {b, copies.get(b, b)} if x != y}
        a, b = np.array(sorted(both), np.int64).reshape(-1, 2).T
        return Apart(a, b)

    def at(self, rows: Rows) -> "Apart | None":
        """The same by places in some rows, which ascend; None where there is no such pair."""
        here = np.isin(self.a, rows) & np.isin(self.b, rows)
        a, b = (np.searchsorted(rows, side[here]) for side in (self.a, self.b))
        return Apart(a, b) if here.any() else None

    def earlier(self, rows: Rows) -> dict[int, Rows]:
        """By number of a document those before it that it is apart from; document i is rows[i]."""
        wanted = np.isin(rows, np.concatenate([self.a, self.b]))
        number = dict(zip(rows[wanted].tolist(), np.flatnonzero(wanted).tolist(), strict=True))
        before: dict[int, list[int]] = {}
        for a, b in zip(self.a.tolist(), self.b.tolist(), strict=True):
            if a in number and b in number:
                first, later = sorted((number[a], number[b]))
                before.setdefault(later, []).append(first)
        return {later: np.array(before[later]) for later in sorted(before)}


def _undirected(a: Rows, b: Rows) -> Rows:
    return np.asarray(np.minimum(a, b) << 32 | np.maximum(a, b))


def marked(stamps: npt.NDArray[np.int32], document: int, earlier: Rows) -> npt.NDArray[np.int32]:
    """Stamps by which a kernel takes some documents for such as this one has met already, and passes over them."""
    stamps[earlier] = document + 1
    return stamps


def keepers_of(
    members: Iterable[int],
    before: Mapping[int, Collection[int]],
    protected: int,
    *,
    within: bool,
    other: int | None = None,
) -> dict[int, int]:
    """Of documents that are all duplicates but for those that are apart, the keeper of each; who stays is its own.

    Args:
        members: In the order of priority.
        before: Of each the earlier ones that it is apart from.
        protected: Those below this number stay, and come first.
        within: Whether others can be keepers of each other.
        other: Who is no member, and removes whoever no protected one does.
    """
    keepers: dict[int, int] = {}
    kept: list[int] = []
    outside = [] if other is None else [other]
    for member in members:
        others = before.get(member, ())
        goes = [] if member < protected else [keeper for keeper in kept + outside if keeper not in others]
        keepers[member] = goes[0] if goes else member
        if not goes and (within or member < protected):
            kept.append(member)
    return keepers


def with_copies(meeting: Meeting, copies: Mapping[int, int], ranks: Rows) -> Meeting:
    """A meeting that some copies come to as well, each by the row of the document that stands for it."""
    entries = meeting.entries
    met = np.flatnonzero(np.isin(entries.rows, [*copies]))
    if not met.size:
        return meeting
    rows = np.concatenate([entries.rows, [copies[row] for row in entries.rows[met].tolist()]]).astype(np.int64)
    order = np.argsort(ranks[rows])
    take = np.concatenate([np.arange(entries.rows.size), met])[order]
    (buckets, places), starts = _taken((entries.doc_buckets, entries.doc_places), entries.doc_starts, take)
    fills = np.bincount(buckets, minlength=entries.bucket_starts.size - 1)
    several = np.arange(0, meeting.offsets.size - 1, entries.rows.size)[:, np.newaxis]  # second lists are behind
    (items,), offsets = _taken((meeting.items,), meeting.offsets, (several + take).ravel())
    return Meeting.of((rows[order], starts, buckets, places, np.concatenate([[0], np.cumsum(fills)]), items, offsets))


def _taken(columns: tuple[npt.NDArray[Any], ...], starts: Rows, take: Rows) -> tuple[list[npt.NDArray[Any]], Rows]:
    """Some of the lists that stand one behind the other in columns, and where they start."""
    sizes = np.diff(starts)[take]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    at = np.repeat(starts[take] - ends[:-1], sizes) + np.arange(ends[-1])
    return [column[at] for column in columns], ends
