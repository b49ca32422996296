"""Who is kept in the transitive reading: of documents joined by chains of similar pairs one, the best.

1. Components are those of the graph whose edges are the verified pairs; a component is never split, however long.
2. The keeper of a component is its best document by priority; the others go, but for those of the `against` side. Their
   similarity to the keeper is measured, and may be below the threshold.
3. What a chain has joined is looked at: size, least similarity and bridges of the largest component.
4. Two that were told apart are no edge, and if a chain joins them all the same, neither is the keeper of the other.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from nearsame import arrow
from nearsame.answers.stats import Component
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import components as kernel
from nearsame.kernels import deciding
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import Bound, alone, unbounded
from nearsame.kernels.stamps import Array, Each
from nearsame.stages.clusters.apart import Apart, keepers_of
from nearsame.stages.clusters.keepers import Decided

__all__ = ["Connected"]

_PIECE = 1 << 14  # pairs that a thread measures at a time
_MOST_PAIRS = 2_000_000  # within a component; of one with more, a sample is measured
_SAMPLED_PAIRS = 200_000
_SEED = 0


@dataclass(frozen=True)
class Connected:
    """The rule of deciding by components.

    Attributes:
        joining: the rule that lists pairs.
        bound: the measure and the threshold.
        weights: how many documents each row stands for.
        num_against: rows below this number (the `against` side) are always kept.
        within: whether pairs within the other side count.
        apart: pairs whose similarity does not count.
    """

    joining: Any
    bound: Bound
    weights: Rows
    num_against: int = 0
    within: bool = True
    apart: Apart | None = None

    def decide(self, meeting: Meeting, each: Each, threads: int, array: Array = np.empty) -> Decided:
        """Decide all documents of a meeting."""
        rows = meeting.entries.rows
        protected = int((rows < self.num_against).sum())
        graph = _Graph(rows.size)
        parts = self.joining.join(meeting, each, threads, array)
        work = Work.total(graph.add(*pairs) for pairs in self._pairs(parts, rows, protected))
        keepers = graph.best()
        if self.apart is not None:
            self._tell_apart(keepers, self.apart.earlier(rows), protected)
        removed = np.flatnonzero(keepers != np.arange(rows.size))
        removed = removed[removed >= protected]
        nums, dens = _measured(meeting, self.bound, removed, keepers[removed], each)
        order = np.argsort(rows[removed])
        gone, witnesses = rows[removed][order], rows[keepers[removed]][order]
        largest = self._largest(meeting, keepers, graph, each)
        return Decided(gone, witnesses, nums[order], dens[order], work, largest)

    def _pairs(self, parts: Iterable[Any], rows: Rows, protected: int) -> Iterator[tuple[Rows, Rows, Work]]:
        """The pairs that count, by number of the documents, and what it took to find them."""
        numbers = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
        numbers[rows] = np.arange(rows.size)
        for part in parts:
            a, b = numbers[part.a], numbers[part.b]
            sides = (a < protected).astype(np.int8) + (b < protected)
            counts = (sides == 1) | ((sides == 0) & self.within)
            if self.apart is not None:
                counts &= ~self.apart.holds(part.a, part.b)
            yield a[counts], b[counts], part.work

    def _tell_apart(self, keepers: Rows, before: dict[int, Rows], protected: int) -> None:
        """Give those that are apart from the keeper of their component another one, or let them stay."""
        split = np.array([d for d, earlier in before.items() if (keepers[earlier] == keepers[d]).any()], np.int64)
        order = np.argsort(keepers, kind="stable")
        ends = (np.searchsorted(keepers[order], np.unique(keepers[split]), side) for side in ("left", "right"))
        for low, high in zip(*ends, strict=True):
            members = order[low:high].tolist()
            for member, keeper in keepers_of(members, before, protected, within=self.within).items():
                keepers[member] = keeper if member >= protected else keepers[member]

    def _largest(self, meeting: Meeting, keepers: Rows, graph: "_Graph", each: Each) -> Component | None:
        """What there is to say of the component of most documents; of equals, the one of the best keeper."""
        members = np.bincount(keepers, minlength=keepers.size)
        documents = np.bincount(keepers, self.weights[meeting.entries.rows], keepers.size).astype(np.int64)
        if not (members > 1).any():
            return None
        keeper = int(np.argmax(np.where(members > 1, documents, 0)))
        those = np.flatnonzero(keepers == keeper)
        a, b = _some_pairs(those)
        nums, dens = _measured(meeting, self.bound, a, b, each)
        return Component(
            number=int((members > 1).sum()),
            documents=int(documents[keeper]),
            distinct=those.size,
            least_similarity=float((nums / dens).min()),
            pairs_measured=a.size,
            pairs=those.size * (those.size - 1) // 2,
            bridges=graph.num_bridges(those),
        )


class _Graph:
    """What is joined with what: two forests, and their edges."""

    def __init__(self, size: int) -> None:
        self._forests = [np.stack([np.arange(size, dtype=np.int32), np.ones(size, np.int32)]) for _ in range(2)]
        self._edges: list[tuple[Rows, Rows]] = []

    def add(self, a: Rows, b: Rows, work: Work) -> Work:
        """Add edges; gives back what it took to find them."""
        used = np.empty(a.size, np.bool_)
        kernel.add_edges(a, b, *self._forests, used)
        self._edges.append((a[used], b[used]))
        return work

    def best(self) -> Rows:
        """For each document the first of its component."""
        size = self._forests[0].shape[1]
        roots, first = np.empty(size, np.int64), np.full(size, size)
        kernel.roots(self._forests[0], roots)
        np.minimum.at(first, roots, np.arange(size))
        return np.asarray(first[roots])

    def num_bridges(self, members: Rows) -> int:
        """How many edges hold a component together, each alone."""
        a, b = (np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*self._edges, strict=True))
        here = np.isin(a, members) & np.isin(b, members)  # of a component with pairs that are apart, only a part may be
        ends = np.searchsorted(members, np.concatenate([a[here], b[here], b[here], a[here]]).reshape(2, -1))
        order = np.argsort(ends[0], kind="stable")
        starts = np.searchsorted(ends[0][order], np.arange(members.size + 1))
        edges = order % max(1, ends.shape[1] // 2)
        scratch = (np.zeros(members.size, np.int64) for _ in range(5))
        return int(kernel.count_bridges(starts, ends[1][order], edges, *scratch))


def _some_pairs(members: Rows) -> tuple[Rows, Rows]:
    """All pairs of a component; of a giant one those with its keeper, and as many again as may be, drawn by chance."""
    size = members.size
    if size * (size - 1) // 2 <= _MOST_PAIRS:
        a, b = np.triu_indices(size, 1)
        return members[a], members[b]
    chance = np.random.default_rng(_SEED)
    a, step = chance.integers(0, size, _SAMPLED_PAIRS), chance.integers(1, size, _SAMPLED_PAIRS)
    a, b = np.concatenate([np.zeros(size - 1, np.int64), a]), np.concatenate([np.arange(1, size), (a + step) % size])
    return members[a], members[b]


def _measured(meeting: Meeting, bound: Bound, a: Rows, b: Rows, each: Each) -> tuple[Rows, Rows]:
    """The similarity of documents a[i] and b[i], however low."""
    nums, dens = np.empty(a.size, np.int64), np.empty(a.size, np.int64)
    a, b = arrow.frozen(a), arrow.frozen(b)

    def measure(ends: tuple[int, int]) -> None:
        part = slice(*ends)
        deciding.measure_pairs(a[part], b[part], *meeting[1:], alone(bound), unbounded(bound), nums[part], dens[part])

    for _ in each(pairwise([*range(0, a.size, _PIECE), a.size]), measure):
        pass
    return nums, dens
