"""From pairs of distinct features to pairs of documents: groups of equals stand behind each.

1. `all`: every document of one group with every one of the other, and all pairs within a group.
2. `star`: groups are represented by their best document, and within a group only it is paired with the others.
3. Of two sides, only documents of different ones are paired: groups are counted and expanded by side.
   How many pairs that makes is said once (`PairCount`), for arrays and for columns of DataFrames.
4. Numbers are predicted before anything is filled.
5. What else is said of a pair follows it: columns about a and about b change places when a and b do.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import TooManyPairsError
from nearsame.kernels.deciding import Work
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Method
from nearsame.stages.pairs.join import JoinedPairs

__all__ = ["Groups", "Listed", "PairCount", "by_priority", "check_number", "fewer_pairs"]

_Runs = tuple[Rows, Rows]  # where runs of rows start, and how long they are


class Listed(NamedTuple):
    """Pairs of documents: rows a < b, ascending, with similarities, and further columns as a method has them."""

    a: Rows
    b: Rows
    similarity: npt.NDArray[np.float64]
    columns: npt.NDArray[np.float64]  # [columns, pairs]
    work: Work = Work()  # what it took to find them

    @property
    def num_pairs(self) -> int:
        """How many there are."""
        return int(self.a.size)

    @staticmethod
    def joined(parts: "Sequence[Listed]") -> "Listed":
        """All parts as one, by (a, b)."""
        a, b, similarity, columns = (
            np.concatenate(column, axis=-1) for column in zip(*(part[:4] for part in parts), strict=True)
        )
        order = np.argsort(a * (b.max(initial=0) + 1) + b)  # no two are the same: one sort where lexsort makes two
        work = Work.total(part.work for part in parts)
        return Listed(a[order], b[order], similarity[order], columns[:, order], work)


def by_priority(pairs: Listed, earlier: Rows, mirror: Sequence[int]) -> Listed:
    """The pairs with the document first that has the lower place in an order of all."""
    turn = earlier[pairs.a] > earlier[pairs.b]
    a, b = np.where(turn, pairs.b, pairs.a), np.where(turn, pairs.a, pairs.b)
    return Listed(a, b, pairs.similarity, np.where(turn, pairs.columns[list(mirror)], pairs.columns), pairs.work)


class PairCount(NamedTuple):
    """How many pairs of documents stand behind groups of equals, for arrays and for columns of DataFrames alike.

    A group is the numbers of its documents of the `against` side (0 where there is one side only) and of the other.

    Attributes:
        star: whether groups are written as stars.
        across: whether there are two sides, and only pairs of different ones count.
    """

    star: bool = False
    across: bool = False

    @property
    def by_size(self) -> bool:
        """Whether a pair of groups stands for pairs of their members; of stars it is one pair, whatever their size."""
        return self.across or not self.star

    def twice_within(self, against: Any, others: Any) -> Any:
        """Twice the pairs within groups (so that no product is halved before all are added)."""
        if self.across:
            return against * others * 2
        return (others - 1) * 2 if self.star else others * (others - 1)

    def between(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> Any:
        """Pairs of a document of group `a` with one of group `b`, where these count by their size."""
        return a[0] * b[1] + a[1] * b[0] if self.across else a[1] * b[1]


@dataclass(frozen=True, eq=False)
class Groups:
    """Documents with equal features.

    Attributes:
        best: best[row] is the representative of row.
        star: whether groups are written as stars.
        mirror: of the further columns of pairs, which one each becomes when a and b change places.
        num_against: rows below this number are one side, where there are two; None if there are not.
    """

    best: Rows
    star: bool = False
    mirror: tuple[int, ...] = ()
    num_against: int | None = None

    @cached_property
    def sizes(self) -> Rows:
        """By row: how many documents the row stands for; 0 for one that another represents."""
        return np.bincount(self.best, minlength=self.best.size)

    @cached_property
    def _sides(self) -> tuple[Rows, Rows]:
        """Of the sizes, how many are documents of the `against` side, and of the other."""
        against = np.bincount(self.best[: self.num_against or 0], minlength=self.best.size)
        return against, self.sizes - against

    @cached_property
    def _members(self) -> tuple[Rows, Rows]:
        """(rows ordered by representative, where the group of each representative starts)."""
        return np.argsort(self.best, kind="stable"), np.cumsum(self.sizes) - self.sizes

    def below(self, num_rows: int) -> npt.NDArray[np.bool_] | None:
        """By row: whether it stands for rows below `num_rows` only; None if none do."""
        if num_rows == 0:
            return None
        last = np.zeros(self.best.size, np.int64)
        np.maximum.at(last, self.best, np.arange(self.best.size))
        return last < num_rows

    @property
    def _pair_count(self) -> PairCount:
        return PairCount(star=self.star, across=self.num_against is not None)

    def num_within(self) -> int:
        """Pairs of documents with equal features."""
        leaders = np.flatnonzero(self.sizes > 1)
        against, others = self._sides
        return int(self._pair_count.twice_within(against[leaders], others[leaders]).sum()) // 2

    def num_between(self, a: Rows, b: Rows) -> int:
        """Pairs of documents behind pairs of representatives."""
        if not self._pair_count.by_size:
            return a.size
        against, others = self._sides
        return int(self._pair_count.between((against[a], others[a]), (against[b], others[b])).sum())

    def most_between(self, pairs: float) -> float:
        """At most so many pairs of documents are behind so many pairs of representatives."""
        return pairs * int(self.sizes.max(initial=1)) ** 2 if self._pair_count.by_size else pairs

    def between(self, pairs: JoinedPairs, columns: npt.NDArray[np.float64]) -> Listed:
        """The pairs of documents behind pairs of representatives."""
        similarity = pairs.nums / pairs.dens
        if self.star:
            return self._ordered(pairs.a, pairs.b, similarity, columns)
        if self.num_against is None:
            which, a, b = self._product(self._all(pairs.a), self._all(pairs.b))
        else:
            (a_against, a_others), (b_against, b_others) = self._by_side(pairs.a), self._by_side(pairs.b)
            halves = self._product(a_against, b_others), self._product(a_others, b_against)
            which, a, b = (np.concatenate(column) for column in zip(*halves, strict=True))
        return self._ordered(a, b, similarity[which], columns[:, which])

    def _all(self, leaders: Rows) -> _Runs:
        """The members of some groups."""
        return self._members[1][leaders], self.sizes[leaders]

    def _by_side(self, leaders: Rows) -> tuple[_Runs, _Runs]:
        """The members of some groups by side: within a group they are ascending, so the `against` side is first."""
        starts, (against, others) = self._members[1][leaders], self._sides
        return (starts, against[leaders]), (starts + against[leaders], others[leaders])

    def _product(self, one: _Runs, other: _Runs) -> tuple[Rows, Rows, Rows]:
        """Every member of run i of one with every member of run i of the other: (i, rows, rows)."""
        order = self._members[0]
        times = one[1] * other[1]
        which = np.repeat(np.arange(times.size), times)
        nth = np.arange(which.size) - np.repeat(np.cumsum(times) - times, times)
        across = other[1][which]
        return which, order[one[0][which] + nth // across], order[other[0][which] + nth % across]

    def within(self) -> Listed:
        """The pairs of documents with equal features."""
        if self.num_against is not None:
            return self._equal(*self._product(*self._by_side(np.flatnonzero(self.sizes > 1)))[1:])
        copies = np.flatnonzero(self.best != np.arange(self.best.size))
        if self.star:
            return self._equal(self.best[copies], copies)
        order, _ = self._members
        leaders = np.flatnonzero(self.sizes > 1)
        rows = order[self.sizes[self.best[order]] > 1]
        sizes = np.repeat(self.sizes[leaders], self.sizes[leaders])
        nth = np.arange(rows.size) - np.repeat(
            np.cumsum(self.sizes[leaders]) - self.sizes[leaders], self.sizes[leaders]
        )
        later = sizes - nth - 1  # members behind each member of its group
        a = np.repeat(np.arange(rows.size), later)
        b = a + 1 + np.arange(a.size) - np.repeat(np.cumsum(later) - later, later)
        return self._equal(rows[a], rows[b])

    def _equal(self, a: Rows, b: Rows) -> Listed:
        """Pairs of equals: every share is 1."""
        return self._ordered(a, b, np.ones(a.size), np.ones((len(self.mirror), a.size)))

    def _ordered(
        self, a: Rows, b: Rows, similarity: npt.NDArray[np.float64], columns: npt.NDArray[np.float64]
    ) -> Listed:
        turned = np.where(a > b, columns[list(self.mirror)], columns)
        return Listed(np.minimum(a, b), np.maximum(a, b), similarity, turned)


def check_number(number: float, most: int, *, known: str = "", fewer: Sequence[str] = ()) -> None:
    """Refuse to go on with more pairs than wanted.

    Args:
        number: How many there are.
        most: How many are wanted.
        known: How that is known: `about` of a prediction, `at least` of a count that is not over; else it is exact.
        fewer: What would make them fewer, each as an imperative.
    """
    if number > most:
        *others, last = ["raise max_pairs", *fewer]
        hint = f"{', '.join(others)} or {last}." if others else f"{last}."
        message = f"{known} {number:,.0f} pairs: above max_pairs={most:,}".lstrip()
        raise TooManyPairsError(message, hint=hint[0].upper() + hint[1:])


def fewer_pairs(method: Method, *, can_star: bool) -> list[str]:
    """What would make pairs fewer, of what a run can do."""
    stricter = [method.stricter] if method.stricter else []
    return [*stricter, *(["write groups of identical documents as a star"] if can_star else [])]
