"""The transitive reading: what chains of similar pairs join, who stays of it, and what would break it."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tests.oracle.decisions import Decisions, Sets
from tests.oracle.measures import jaccard

__all__ = ["Largest", "bridges", "components", "decide", "largest"]

Measure = Callable[[AbstractSet[object], AbstractSet[object]], Fraction]
Edges = Sequence[tuple[int, int]]
Pairs = Mapping[tuple[int, int], Fraction]


class Largest(NamedTuple):
    """What there is to say of the largest component."""

    number: int
    documents: int
    distinct: int
    least_similarity: Fraction
    bridges: int


def components(rows: Sequence[int], edges: Edges) -> dict[int, int]:
    """Union-find: for each row the first, in the given order, that a chain of edges leads to."""
    parent = {row: row for row in rows}
    place = {row: number for number, row in enumerate(rows)}

    def find(row: int) -> int:
        while parent[row] != row:
            row = parent[row]
        return row

    for a, b in edges:
        one, other = sorted((find(a), find(b)), key=place.__getitem__)
        parent[other] = one
    return {row: find(row) for row in rows}


def bridges(edges: Edges) -> int:
    """How many edges leave more components when they are taken away."""
    rows = sorted({row for edge in edges for row in edge})
    whole = len(set(components(rows, edges).values()))
    return sum(
        len(set(components(rows, [*edges[:number], *edges[number + 1 :]]).values())) > whole
        for number in range(len(edges))
    )


def _graph(
    sets: Sequence[object],
    similarities: Pairs,
    order: Sequence[int],
    num_against: int,
    *,
    within: bool,
) -> tuple[dict[int, int], list[int], list[tuple[int, int]]]:
    """(best of the rows with equal sets, or keys, the best ones in order, the pairs of these that count)."""
    best = {row: next(other for other in order if sets[other] == sets[row]) if sets[row] else row for row in order}
    distinct = [row for row in order if best[row] == row]
    sides = {row: row < num_against for row in order}
    edges = [
        (a, b)
        for a, b in similarities
        if best[a] == a and best[b] == b and (sides[a] != sides[b] or (within and not sides[a]))
    ]
    return best, distinct, edges


def decide(
    sets: Sets,
    similarities: Pairs,
    order: Sequence[int],
    *,
    num_against: int = 0,
    within: bool = True,
    measure: Measure = jaccard,
    keys: Sequence[object] | None = None,
) -> Decisions:
    """The removed rows with the keepers of their components, and how similar they are to them.

    `keys` are what makes two rows one (None: their sets).
    """
    best, distinct, edges = _graph(sets if keys is None else keys, similarities, order, num_against, within=within)
    keeper = components(distinct, edges)
    removed: Decisions = {}
    for row in order:
        leader = best[row]
        if row < num_against:
            continue
        if leader >= num_against and keeper[leader] != leader:
            removed[row] = (keeper[leader], measure(sets[row], sets[keeper[leader]]))
        elif leader != row and (within or leader < num_against):
            removed[row] = (leader, Fraction(1))
    return removed


def largest(
    sets: Sets,
    similarities: Pairs,
    order: Sequence[int],
    *,
    num_against: int = 0,
    within: bool = True,
) -> Largest | None:
    """Of the components of distinct sets that have at least two, the one of most documents."""
    best, distinct, edges = _graph(sets, similarities, order, num_against, within=within)
    keeper = components(distinct, edges)
    groups = {row: [other for other in distinct if keeper[other] == row] for row in distinct if keeper[row] == row}
    groups = {row: members for row, members in groups.items() if len(members) > 1}
    if not groups:
        return None
    sizes = {row: sum(keeper[best[other]] == row for other in order) for row in groups}
    chosen = max(groups, key=lambda row: sizes[row])  # max takes the first: the higher priority
    members = groups[chosen]
    least = min(jaccard(sets[a], sets[b]) for a, b in combinations(members, 2))
    held = bridges([(a, b) for a, b in edges if keeper[a] == chosen])
    return Largest(len(groups), sizes[chosen], len(members), least, held)
