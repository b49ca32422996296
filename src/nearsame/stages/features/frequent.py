"""The items that stand in most documents, counted in a sample of these: where no table has room for all of them.

1. Which documents are in the sample depends on their rows alone, and an item is counted there exactly, but for what
   rule 2 drops.
2. No state has more items than it may: the rarest are dropped.
3. What is left tells the frequent from the others, and nothing else: no answer may depend on it.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.kernels import buckets
from nearsame.stages.features.tallies import NO_COUNTS, Counts, dealt, summed

__all__ = ["SAMPLED", "CountOften", "SampleCounts", "most_frequent"]

SAMPLED = 16  # one of so many documents: of what is shuffled for the exact join, a tenth
_LEAST = 4  # documents of the sample: what stands in fewer is rare enough
_PENDING = 1 << 20  # items that wait to be counted


@dataclass
class SampleCounts:
    """Items with their counts, those that wait to be counted, and how many parts share the room for all of them."""

    counts: Counts = NO_COUNTS
    waiting: tuple[arrow.UInt64s, ...] = ()
    parts: int = 1

    def settled(self) -> Counts:
        """The counts of all items."""
        items, times = np.unique(np.concatenate([arrow.NO_HASHES, *self.waiting]), return_counts=True)
        return summed([self.counts, (items, times)])


@dataclass(frozen=True)
class CountOften:
    """The fold that counts them.

    Attributes:
        most: items of a state.
        sampled: of so many documents one is looked at.
        least: documents of the sample that an item stands in, at least.
    """

    most: int
    sampled: int = SAMPLED
    least: int = _LEAST

    def start(self) -> SampleCounts:
        """Nothing yet."""
        return SampleCounts()

    def add(self, state: SampleCounts, batch: pa.RecordBatch, part: int, _parts: int) -> SampleCounts:
        """Look at the documents of the sample; there is nothing to share out, so part 0 does it."""
        chosen = np.flatnonzero(arrow.ints(batch.column("row")) % self.sampled == 0)
        if part or not chosen.size:
            return state
        lists = arrow.lists(batch.column("items"))
        ends = np.cumsum(lists.sizes[chosen])
        items = np.empty(int(ends[-1]), np.uint64)
        buckets.gather(*lists, chosen, ends - lists.sizes[chosen], items)
        state = SampleCounts(state.counts, (*state.waiting, items))
        if sum(part.size for part in state.waiting) > _PENDING + state.counts[0].size:
            return SampleCounts(most_frequent(state.settled(), self.most))
        return state

    def merge(self, a: SampleCounts, b: SampleCounts) -> SampleCounts:
        """Both."""
        return SampleCounts(most_frequent(summed([a.settled(), b.settled()]), self.most))

    @staticmethod
    def cut(state: SampleCounts, parts: int) -> Iterator[tuple[int, SampleCounts]]:
        """The state in pieces, each with a share of the items and its number."""
        return ((number, SampleCounts(piece, parts=parts)) for number, piece in dealt(state.settled(), parts))

    def joined(self, pieces: Sequence[SampleCounts]) -> SampleCounts:
        """What several count of one share: those that are frequent, no more than its part of the room."""
        parts = max((piece.parts for piece in pieces), default=1)
        counts = summed([piece.settled() for piece in pieces])
        return SampleCounts(most_frequent(counts, self.most // parts, self.least))


def most_frequent(counts: Counts, most: int, least: int = 1) -> Counts:
    """The items of at least so many, without the rarest if there are more than `most`; of equals, the first stay.

    >>> items, counts = np.arange(5, dtype=np.uint64), np.array([9, 2, 2, 1, 7])
    >>> [most_frequent((items, counts), most)[0].tolist() for most in (5, 4, 3, 1)]
    [[0, 1, 2, 3, 4], [0, 1, 2, 4], [0, 1, 4], [0]]
    """
    items, numbers = counts
    chosen = np.flatnonzero(numbers >= least)
    if chosen.size > most:
        chosen = np.sort(chosen[np.argsort(-numbers[chosen], kind="stable")[:most]])
    return arrow.frozen(items[chosen]), arrow.frozen(numbers[chosen])
