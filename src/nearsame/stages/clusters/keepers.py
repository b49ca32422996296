"""Who is kept: greedy by priority, every removed document with its witness.

1. A document similar to a keeper of higher priority is removed, else it is a keeper: decided in order, so that no two
   keepers are similar and every removed document has a kept witness.
2. In parallel, the same set: blocks in priority order are probed by all threads against the keepers so far, and what
   survives is settled among itself in order.
3. The witness is the most similar keeper of higher priority; of equals, the one of highest priority.
4. A document that was told apart from an earlier one is decided alone, as if the two had been compared already.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.answers.stats import Component
from nearsame.arrow import Mask, Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import deciding
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import OF_SETS, Bound
from nearsame.kernels.stamps import Array, Each, Stamps
from nearsame.named import NamedTuple
from nearsame.stages.clusters.apart import Apart, marked

__all__ = ["NOBODY", "Decided", "Greedy", "inherit"]

_BLOCK = 2048


class Decided(NamedTuple):
    """The removed rows, ascending, each with its witness and their similarity as a fraction."""

    rows: Rows
    witnesses: Rows
    nums: Rows
    dens: Rows
    work: Work = Work()  # on the way
    component: Component | None = None  # what there is to say of the largest, where documents go by components

    def gone(self, num_rows: int) -> Mask:
        """Of all rows which are removed."""
        gone = np.zeros(num_rows, np.bool_)
        gone[self.rows] = True
        return gone

    def instead(self, keepers: Mapping[int, tuple[int, int, int]]) -> "Decided":
        """The same, in which some removed copies have another witness, as similar as is said; who is its own stays."""
        told = np.flatnonzero(np.isin(self.rows, [*keepers]))
        columns = [column.copy() for column in (self.witnesses, self.nums, self.dens)]
        for at, row in zip(told.tolist(), self.rows[told].tolist(), strict=True):
            for column, value in zip(columns, keepers[row], strict=True):
                column[at] = value
        stays = columns[0] != self.rows
        witnesses, nums, dens = (column[stays] for column in columns)
        return self._replace(rows=self.rows[stays], witnesses=witnesses, nums=nums, dens=dens)

    def of(self, rows: Iterable[int]) -> dict[int, tuple[int, int, int]]:
        """By row the witness of some that are removed, and the similarity."""
        here = np.isin(self.rows, [*rows])
        found = zip(*(column[here].tolist() for column in self[:4]), strict=True)
        return {row: (witness, num, den) for row, witness, num, den in found}


_NONE = np.zeros(0, np.int64)
NOBODY = Decided(_NONE, _NONE, _NONE, _NONE)


@dataclass(frozen=True)
class Greedy:
    """The rule of deciding.

    Attributes:
        bound: the measure and the threshold.
        num_against: rows below this number (the `against` side) are always kept.
        within: whether documents of the other side can be each other's witnesses.
        apart: pairs whose similarity does not count.
    """

    bound: Bound
    num_against: int = 0
    within: bool = True
    apart: Apart | None = None

    def decide(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Decided:
        """Decide all documents of a meeting."""
        entries = meeting.entries
        n = entries.rows.size
        protected = int((entries.rows < self.num_against).sum())  # they come first: priority begins with the side
        removed = np.zeros(n, np.bool_)
        shared = (meeting.nobody(array, sets=self.bound.measure in OF_SETS), *meeting[1:], self.bound)
        probing, settling = Stamps(n), np.zeros(n, np.int32)
        settled, parts = Work.room(), []
        apart = {} if self.apart is None else self.apart.earlier(entries.rows)
        alone = np.zeros(n if apart else 0, np.int32)
        deciding.settle(0, protected, protected, self.within, *shared, settling, removed, settled)
        for low, high in _blocks(protected, n, apart):
            probe = partial(_worked, deciding.probe, shared, (removed,))
            if low in apart:
                parts.append(probe(low, high, marked(alone, low, apart[low])))
            else:
                parts += probing.run(each, low, high, threads, probe)
            deciding.settle(low, high, protected, self.within, *shared, settling, removed, settled)
        best = deciding.Best(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
        witness = partial(_worked, deciding.witness, shared, (removed, best))
        parts += Stamps(n).run(each, 0, n, threads, witness)
        alone = np.zeros_like(alone)
        parts += [witness(d, d + 1, marked(alone, d, earlier)) for d, earlier in apart.items()]
        return _by_row(entries.rows, removed, *best)._replace(work=Work.total([Work.of(settled), *parts]))


def _blocks(start: int, stop: int, alone: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Where blocks begin and end, so that each of some documents is a block of its own."""
    ends = {*range(start, stop, _BLOCK), stop, *(end for d in alone for end in (d, d + 1))}
    return pairwise(sorted(end for end in ends if start <= end <= stop))


def _worked(  # noqa: PLR0913, PLR0917  (three of the kernel, three of the piece)
    kernel: Any, shared: tuple[Any, ...], out: tuple[Any, ...], low: int, high: int, stamps: npt.NDArray[np.int32]
) -> Work:
    """What a kernel takes over a range of documents."""
    work = Work.room()
    kernel(low, high, *shared, stamps, *out, work)
    return Work.of(work)


def _by_row(rows: Rows, removed: npt.NDArray[np.bool_], best: Rows, nums: Rows, dens: Rows) -> Decided:
    order = np.argsort(rows[removed])
    a, b, num, den = (column[removed][order] for column in (rows, rows[best], nums, dens))
    return Decided(a, b, num, den)


def inherit(decided: Decided, best: Rows, num_against: int, *, within: bool) -> Decided:
    """Add the copies: a document with the same features as a better one shares its fate, or has it as its witness.

    Args:
        decided: about the representatives, the documents with best[row] == row.
        best: for each row the best row with equal features.
        num_against: rows below it are always kept.
        within: without it a copy needs a witness of the `against` side.
    """
    copies = np.flatnonzero(best != np.arange(best.size))
    copies = copies[copies >= num_against]
    witness = np.full(best.size, -1)
    num, den = np.ones(best.size, np.int64), np.ones(best.size, np.int64)
    witness[decided.rows], num[decided.rows], den[decided.rows] = decided.witnesses, decided.nums, decided.dens
    leader = best[copies]
    follows = witness[leader] >= 0
    stands = ~follows & (within | (leader < num_against))
    witness[copies] = np.where(follows, witness[leader], np.where(stands, leader, -1))
    num[copies], den[copies] = num[leader], den[leader]
    rows = np.flatnonzero(witness >= 0)
    return decided._replace(rows=rows, witnesses=witness[rows], nums=num[rows], dens=den[rows])
