"""Rules for codes that have all met: searched by tables cut for speed, or sorted and compared with their neighbours.

1. `NearCodes` finds the pairs that any tables find: it only goes about it in memory order, where all codes are at hand.
2. `Neighbours` is rotate and sort as the textbook has it: lossy, and for one machine only, since it sorts all codes. It
   makes a bucket of every two neighbours, and hands them to the rule that would have read the buckets.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding
from nearsame.kernels.buckets import Entries, Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.hamming_rotations import adjacent
from nearsame.kernels.hamming_search import chunks
from nearsame.kernels.scores import Bound
from nearsame.kernels.stamps import Array, Each
from nearsame.stages.pairs.join import JoinedPairs

__all__ = ["ADJACENT_NOTE", "NearCodes", "Neighbours", "codes_of"]

ADJACENT_NOTE = "search=adjacent compares neighbours in sorted order only: it loses pairs, and runs on one machine only"

_PIECE = 1 << 14
_COUNTED = 1 << 18  # entries of tables of which candidates are counted, so that counting takes no time
_LOW32, _U32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@dataclass(frozen=True)
class NearCodes:
    """The rule of joining where all codes have met.

    Attributes:
        bound: the measure and the threshold.
        bits: of a code.
        k: the greatest distance.
        tables: the headers to search by, from the codes.
        one_side: rows (bool, by row) whose pairs with each other nobody wants; None: all pairs are wanted.
    """

    bound: Bound
    bits: int
    k: int
    tables: Callable[[arrow.UInt64s], arrow.UInt64s]
    one_side: npt.NDArray[np.bool_] | None = None

    def join(self, meeting: Meeting, each: Each, _threads: int, _array: Array = np.empty) -> Iterator[JoinedPairs]:
        """The pairs, as they are found."""
        codes = codes_of(meeting, self.bits)
        among = np.zeros(len(codes), np.bool_) if self.one_side is None else self.one_side[meeting.entries.rows]
        order = np.argsort(~among, kind="stable")  # the one side first
        split = int(among.sum())
        rest = order[split:]

        def run(work: Callable[[Any], Any], things: Iterable[Any]) -> Iterator[Any]:
            return each(things, work)

        tables = self.tables(codes)
        searches = [(rest, 0)] if split in (0, len(codes)) else [(rest, 0), (order, split)]
        for docs, first in searches:
            for packed in chunks(codes[docs], self.k, tables, split=first, run=run):
                pieces = [packed[low : low + _PIECE] for low in range(0, packed.size, _PIECE)]
                yield from each(pieces, partial(self._verified, docs, meeting))

    def sample(self, _meeting: Meeting, _array: Array = np.empty) -> tuple[list[JoinedPairs], float]:
        """No prediction: the search is quick, and counts as it goes."""
        return [], 0.0

    def candidates(self, codes: arrow.UInt64s, meeting: Meeting) -> dict[str, int]:
        """Pairs of codes that agree on a table's header, once in each: of many codes estimated from a sample."""
        tables = self.tables(codes)
        step = -(-len(codes) * len(tables) // _COUNTED)
        few = codes[::step]
        among = np.zeros(len(few), np.bool_) if self.one_side is None else self.one_side[meeting.entries.rows[::step]]
        pairs = sum(_pairs_within(few & header) - _pairs_within(few[among] & header) for header in tables)
        return {"candidates": pairs} if step == 1 else {"candidates": pairs * step**2, "sampled": len(few)}

    def _verified(self, docs: npt.NDArray[np.int64], meeting: Meeting, packed: arrow.UInt64s) -> JoinedPairs:
        nums, dens = np.empty(packed.size, np.int64), np.empty(packed.size, np.int64)
        a, b = docs[(packed >> _U32).view(np.int64)], docs[(packed & _LOW32).view(np.int64)]
        items = deciding.verify_pairs(a, b, *meeting[1:], self.bound, nums, dens)
        good, work = nums >= 0, Work(packed.size, packed.size, packed.size, items)
        one, other = meeting.entries.rows[a[good]], meeting.entries.rows[b[good]]
        return JoinedPairs(np.minimum(one, other), np.maximum(one, other), nums[good], dens[good], work)


@dataclass(frozen=True)
class Neighbours:
    """A rule applied to the neighbours in the sorted order of each rotation, of all documents of one bucket.

    Attributes:
        rule: what decides or joins.
        bits: of a code.
        k: the greatest distance.
    """

    rule: Any
    bits: int
    k: int

    def decide(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Any:
        """As the rule decides."""
        return self.rule.decide(self._beside(meeting), each, threads, array)

    def join(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Any:
        """As the rule joins."""
        return self.rule.join(self._beside(meeting), each, threads, array)

    def sample(self, meeting: Meeting, array: Array = np.empty) -> Any:
        """As the rule samples."""
        return self.rule.sample(self._beside(meeting), array)

    def candidates(self, _codes: arrow.UInt64s, meeting: Meeting) -> dict[str, int]:
        """Neighbours in each order."""
        return {"candidates": self.bits * sum(max(here.size - 1, 0) for here in _gathered(meeting))}

    def _beside(self, meeting: Meeting) -> Meeting:
        """The same documents, every two neighbours within k bits in a bucket of their own."""
        rows, codes = meeting.entries.rows, codes_of(meeting, self.bits)
        pairs = [np.zeros((2, 0), np.int64)]
        for here in _gathered(meeting):
            found = adjacent(arrow.frozen(codes[here]), self.bits, self.k)
            pairs.append(here[np.stack([found.a, found.b])])
        docs = np.concatenate(pairs, axis=1).ravel()
        order = np.argsort(docs, kind="stable")
        starts = np.searchsorted(docs[order], np.arange(rows.size + 1))
        buckets = order % max(docs.size // 2, 1)
        places = np.full(docs.size, -1, np.int32)
        entries = Entries(rows, starts, buckets, places, np.arange(0, docs.size + 1, 2))
        return Meeting(entries, *meeting[1:])


def _gathered(meeting: Meeting) -> Iterator[npt.NDArray[np.int64]]:
    """The documents of each bucket, where each stands in one: all that may be compared."""
    ends, order = meeting.entries.bucket_starts, np.argsort(meeting.entries.doc_buckets, kind="stable")
    return (order[start:end] for start, end in pairwise(ends.tolist()))


def codes_of(meeting: Meeting, bits: int) -> npt.NDArray[np.uint64]:
    """The code of each document, uint64[n, w]."""
    return arrow.frozen(meeting.items[meeting.offsets[:-1, None] + np.arange(-(-bits // 64))])


def _pairs_within(codes: npt.NDArray[np.uint64]) -> int:
    """Pairs of equal ones."""
    values = codes[:, 0] if codes.shape[1] == 1 else codes.view(f"V{8 * codes.shape[1]}")[:, 0]
    _, sizes = np.unique(values, return_counts=True)
    return int((sizes * (sizes - 1) // 2).sum())
