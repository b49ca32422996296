"""Pairs that somebody has told apart: similar or not, neither is removed for the other.

1. What is told of two documents is told of their copies, too: of all that the method cannot tell from them. Of two that
   it cannot tell from each other, it is told of these two alone.
2. Their similarity does not count, and all else does: the later one goes if another kept document removes it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Mask, Rows

__all__ = ["Apart", "keepers_of", "marked"]


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
    members: Iterable[int], before: Mapping[int, Collection[int]], protected: int, *, within: bool
) -> dict[int, int]:
    """Of documents that are all duplicates but for those that are apart, the keeper of each; who stays is its own.

    Args:
        members: In the order of priority.
        before: Of each the earlier ones that it is apart from.
        protected: Those below this number stay, and come first.
        within: Whether others can be keepers of each other.
    """
    keepers: dict[int, int] = {}
    kept: list[int] = []
    for member in members:
        others = before.get(member, ())
        goes = [] if member < protected else [keeper for keeper in kept if keeper not in others]
        keepers[member] = goes[0] if goes else member
        if not goes and (within or member < protected):
            kept.append(member)
    return keepers
