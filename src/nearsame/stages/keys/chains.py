"""The keys of the exact join where items are frequent: chains of the rarest items that sets may share.

1. In a universe that does not grow every bucket does, and with it the pairs that meet, by the square. A bucket that is
   too large is split by the next item that its sets may share, and that by one more (kernels/chains.py).
2. What is split is told by the counts of items alone, so that all sets do the same on every engine. No pair is lost.
3. Chains are for short sets: one of n items has about n²/8 of two at a threshold of .5. Sets of many times the mean
   have none: their items are offered as ever, and so are those of sets that may resemble one of them.
"""

from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import chains
from nearsame.kernels.prefixes import Shares
from nearsame.stages.keys.prefix import ItemCounts, KeyRoom, PrefixKeys, counted

__all__ = ["ChainKeys", "Splitting", "keys_of_sets", "plan_splitting"]

Sizes = TypeVar("Sizes", int, npt.NDArray[np.int64])

_MOST_TWOS, _MOST_THREES = 1000, 2000  # chains of a set, at most
_LEAST = 64  # sets of a bucket, of which no fewer are worth splitting
_TIMES = 8  # as many sets as a prefix is long, as an entry costs so many times what a meeting does


@dataclass(frozen=True)
class Splitting:
    """Which sets have chains, and which of these are split.

    Attributes:
        depth: the longest chain, 2 or 3.
        limit: sets of a bucket that are enough to split it.
        largest: items of a set that has chains.
    """

    depth: int
    limit: int
    largest: int


def plan_splitting(shares: Shares, num_sets: int, num_items: int) -> Splitting | None:
    """How buckets are split, for sets of this size; None: they are too large for it.

    >>> plan_splitting(Shares(1, 2, 2, 3), 1000, 10_000), plan_splitting(Shares(4, 5, 8, 9), 1000, 60_000)
    (Splitting(depth=3, limit=64, largest=40), Splitting(depth=2, limit=104, largest=150))
    >>> plan_splitting(Shares(1, 2, 2, 3), 1000, 50_000)
    """
    mean = num_items // max(num_sets, 1)
    largest = 2 * mean * shares.q // shares.p
    longest = _length(shares, largest)
    depth = 1 + (_twos(longest) <= _MOST_TWOS) + (_threes(longest) <= _MOST_THREES)
    return Splitting(depth, max(_LEAST, _TIMES * _length(shares, mean)), largest) if depth > 1 and mean else None


def _length(shares: Shares, size: Sizes) -> Sizes:
    """How long a prefix is."""
    return size - (shares.p * size + shares.q - 1) // shares.q + 1


def _twos(length: Sizes) -> Sizes:
    return length * (length + 1) // 2


def _threes(length: Sizes) -> Sizes:
    return length * (length + 1) * (length + 2) // 6


def keys_of_sets(shares: Shares, counts: ItemCounts | None) -> "PrefixKeys | ChainKeys":
    """The stage that offers the keys of sets for a threshold: chains, where many items are frequent."""
    if counts is None or counts.scale is None:
        return PrefixKeys(shares, counts)
    splitting = plan_splitting(shares, counts.scale.num_sets, counts.scale.num_items)
    return PrefixKeys(shares, counts) if splitting is None else ChainKeys(shares, counts, splitting)


@dataclass(frozen=True, eq=False)
class ChainKeys:
    """The stage that offers them."""

    shares: Shares
    counts: ItemCounts
    splitting: Splitting

    output = schemas.KEYS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """KEYS of a batch of FEATURES."""
        lists, rows, scale = arrow.lists(batch.column("items")), arrow.ints(batch.column("row")), self.counts.scale
        counts, _ = counted(batch, lists, partial(self.counts.fill_for, self.shares))
        out = KeyRoom.of(self._room(lists.sizes))
        depth, limit, largest = self.splitting.depth, self.splitting.limit, self.splitting.largest
        filled = 0
        if scale is not None:
            splitting = (depth, limit, scale.num_sets, scale.weights)
            filled = chains.chain_keys(*lists, counts, rows, self.shares, largest, splitting, tuple(out))
        return out.batch(filled)

    def _room(self, sizes: npt.NDArray[np.int64]) -> int:
        """No fewer entries than sets of these sizes can have; room that is not written to costs nothing."""
        lengths = _length(self.shares, sizes)
        short = lengths[sizes <= self.splitting.largest]
        return int(lengths.sum() + _twos(short).sum() + _threes(short).sum())
