"""The similar pairs that connected components are made of: not all of them, but as good as all.

A document is compared with those before it that share a key with it, but not with one to which pairs found before lead
it in two ways: a pair more between them would change neither the components nor which pairs hold them together. So in a
template of n documents some 2n pairs are compared, not n² / 2.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.dataclass import dataclass
from nearsame.kernels import components as kernel
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.scores import Bound
from nearsame.kernels.stamps import Array, Each, Stamps
from nearsame.stages.pairs.join import JoinedPairs, found_in, grouped, in_rows

__all__ = ["Linking"]

_FIRST, _MOST = 64, 4096  # documents in a block: small ones first, so that the next know what is joined already


@dataclass(frozen=True)
class Linking:
    """The rule of listing them.

    Attributes:
        bound: the measure and the threshold.
        num_against: rows below this number are one side, whose documents are not compared with each other.
        within: whether those of the other side are.
    """

    bound: Bound
    num_against: int = 0
    within: bool = True

    def join(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Iterator[JoinedPairs]:
        """The pairs, a block of documents at a time."""
        rows, shared = meeting.entries.rows, grouped(meeting, self.bound, array)
        n = rows.size
        forests = [np.stack([np.arange(n, dtype=np.int32), np.ones(n, np.int32)]) for _ in range(2)]
        sides = int((rows < self.num_against).sum()), self.within
        stamps, low = Stamps(3 * n), 0
        while low < n:
            high = min(low + max(_FIRST, min(low, _MOST)), n)
            for inside in (False, True):  # with what came before, then, that being joined, among themselves
                settled = kernel.Joined(low, inside, *sides, *forests)
                for piece in stamps.run(each, low, high, threads, partial(_linking, settled, shared)):
                    used = np.empty(piece.a.size, np.bool_)
                    kernel.add_edges(piece.a, piece.b, *forests, used)
                    yield in_rows(piece, rows)
            low = high


def _linking(
    settled: kernel.Joined, shared: tuple[Any, ...], low: int, high: int, stamps: npt.NDArray[np.int32]
) -> JoinedPairs:
    return found_in(low, high, lambda a, b, *room: kernel.linking_pairs(a, b, settled, *shared, stamps, *room))
