"""The exact join's sieve: sets that share too few of their first items with all others need no keys.

1. A set shares a = ceil(p·n/q) or more of its n items with any similar one (`Shares`). In an order common to all sets,
   here that of the hashes, the first m of what two sets share are among the first n - a + m of each, for any m up to a.
2. So beginnings alone are looked at, with m a seventh of the smaller set. A set of which fewer than m items stand in
   the beginning of another is similar to none. What is left is counted whole, as ever.
3. Two bits for a slot, and many slots: of what is alone at most one item in five shares its slot by chance, and one in
   three must, for a set to stay (at .8). Who stays in vain costs time; who is similar to another always stays.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.arrow import Int64s, Mask
from nearsame.dataclass import dataclass
from nearsame.kernels import prefixes
from nearsame.kernels.prefixes import Shares
from nearsame.stages.keys.prefix import Counting, deal

__all__ = ["CountBeginnings", "MayBeSimilar", "Sieve", "least_shared", "length", "plan_sieve"]

_PART = 7  # of so many items, one must be shared: with more, fewer sets stay, and more of each is looked at
_MOST = 3  # tenths of a set that similar ones need not have: beyond, beginnings are nearly half of all
_SLOT_BITS = 2  # log2 of the slots for each item of whole sets, as items of beginnings fill a third of them
_LANES = (0, 2, 4, 6)  # of a byte, which is four slots


@dataclass(frozen=True)
class Sieve:
    """A table of 2**bits slots, of two bits each, for the beginnings of sets."""

    bits: int
    shares: Shares

    @property
    def shift(self) -> np.uint64:
        """An item's slot is item >> shift."""
        return np.uint64(64 - self.bits)

    def beginnings(self, lists: arrow.Lists) -> arrow.Lists:
        """What is looked at of some sets."""
        return lists._replace(ends=arrow.frozen(lists.starts + length(lists.sizes, self.shares)))

    def share(self, part: int, parts: int, of: int) -> tuple[int, int]:
        """A share of so many slots: hashes are small in beginnings, and few stand behind their mean length."""
        filled = min(1.0, 1 - self.shares.p / self.shares.q + 1 / _PART)
        low, high = (int(of * filled * at / parts) if at < parts else of for at in (part, part + 1))
        return low, high


def plan_sieve(counting: Counting, shares: Shares) -> Sieve | None:
    """The sieve before a count of whole sets in a table that is as large; None where it would spare no time.

    >>> plan_sieve(Counting(bits=25), Shares(4, 5, 8, 9))
    Sieve(bits=27, shares=Shares(p=4, q=5, larger_p=8, larger_q=9))
    >>> plan_sieve(Counting(bits=25), Shares(1, 2, 2, 3))
    """
    is_short = 10 * (shares.q - shares.p) <= _MOST * shares.q
    return Sieve(counting.bits + _SLOT_BITS, shares) if is_short else None


def length(sizes: Int64s, shares: Shares) -> Int64s:
    """How many items are the beginning of a set of each size."""
    least = _least(sizes, shares)
    return sizes - least + _looked_for(sizes, least)


def least_shared(sizes: Int64s, shares: Shares) -> Int64s:
    """How many items of its beginning a set of each size shares with that of any similar one."""
    least = _least(sizes, shares)  # the smaller of two similar sets has no fewer items than they share
    return _looked_for(least, _least(least, shares))


def _least(sizes: Int64s, shares: Shares) -> Int64s:
    """How many items a set of each size shares with any similar one."""
    return (shares.p * sizes + shares.q - 1) // shares.q


def _looked_for(sizes: Int64s, least: Int64s) -> Int64s:
    """How many of the items that it shares: never fewer of a larger set."""
    return np.minimum(np.maximum(sizes // _PART, 1), least)


@dataclass(frozen=True)
class CountBeginnings:
    """The fold that counts the items of beginnings, up to two."""

    sieve: Sieve

    def start(self) -> npt.NDArray[np.uint8]:
        """A table of zeros."""
        return np.zeros(1 << (self.sieve.bits - 2), np.uint8)

    def add(self, state: npt.NDArray[np.uint8], batch: pa.RecordBatch, part: int, parts: int) -> npt.NDArray[np.uint8]:
        """Count the items of one share of the slots."""
        return self.add_many(state, [batch], part, parts)

    def add_many(
        self, state: npt.NDArray[np.uint8], batches: Iterable[pa.RecordBatch], part: int, parts: int
    ) -> npt.NDArray[np.uint8]:
        """The same of several batches."""
        sieve = self.sieve
        lists = (sieve.beginnings(arrow.lists(batch.column("items"))) for batch in batches)
        deal(lists, sieve.bits, lambda of: sieve.share(part, parts, of), state, twice=True)
        return state

    @staticmethod
    def merge(a: npt.NDArray[np.uint8], b: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Add two tables."""
        added = (np.minimum((a >> lane & 3) + (b >> lane & 3), 2) << lane for lane in _LANES)
        return np.asarray(sum(added), np.uint8)


@dataclass(frozen=True, eq=False)
class MayBeSimilar:
    """The fold that says by row which sets may be similar to another."""

    sieve: Sieve
    table: npt.NDArray[np.uint8]
    num_rows: int

    def start(self) -> Mask:
        """None is known yet."""
        return np.zeros(self.num_rows, np.bool_)

    def add(self, state: Mask, batch: pa.RecordBatch, part: int, parts: int) -> Mask:
        """Ask it of a share of the rows."""
        chosen = slice(part * len(batch) // parts, (part + 1) * len(batch) // parts)
        items, starts, ends = arrow.lists(batch.column("items"))
        some = arrow.Lists(items, starts[chosen], ends[chosen])
        least, found = least_shared(some.sizes, self.sieve.shares), np.zeros(some.starts.size, np.bool_)
        prefixes.find_shared(*self.sieve.beginnings(some), self.sieve.shift, arrow.frozen(least), self.table, found)
        state[arrow.ints(batch.column("row"))[chosen]] = found
        return state

    @staticmethod
    def merge(a: Mask, b: Mask) -> Mask:
        """What either has found."""
        return a | b
