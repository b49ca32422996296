"""Who stays where people have told pairs apart, or chosen who stays: document by document, copies and all."""

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from tests.oracle.components import components
from tests.oracle.decisions import Sets

__all__ = ["chosen_first", "decide", "is_apart"]

Rows = Collection[tuple[int, int]]


def is_apart(x: int, y: int, sets: Sets, apart: Rows) -> bool:
    """Whether two documents, or documents with the same sets, were told apart; of equal ones, these two alone."""
    for a, b in [*apart, *((b, a) for a, b in apart)]:
        if (x, y) == (a, b) or (
            sets[a] != sets[b] and sets[x] and sets[x] == sets[a] and sets[y] and sets[y] == sets[b]
        ):
            return True
    return False


def chosen_first(order: Sequence[int], chosen: Rows, num_against: int = 0) -> list[int]:
    """The order of priority with the chosen ones first, behind the other side; who beats another of them before it."""

    def depth(row: int) -> int:
        if not any(row == winner for winner, _ in chosen):
            return len(order)
        return max((1 + depth(winner) for winner, loser in chosen if loser == row), default=0)

    return sorted(order, key=lambda row: (row >= num_against, depth(row)))


def decide(
    sets: Sets,
    similar: Mapping[tuple[int, int], Fraction],
    order: Sequence[int],
    apart: Rows,
    *,
    num_against: int = 0,
    within: bool = True,
    linked: bool = False,
) -> set[int]:
    """Who goes. `linked`: what chains join is one cluster; else what is similar to a keeper goes."""
    edges = [
        pair for pair in similar
        if 0 < (judged := sum(row >= num_against for row in pair)) and (judged == 1 or within)
        and not is_apart(*pair, sets, apart)
    ]  # fmt: skip
    cluster = components(order, edges)
    joined = {frozenset(edge) for edge in edges}
    keepers: list[int] = []
    gone = set()
    for row in order:

        def goes(keeper: int, row: int = row) -> bool:
            if linked:
                return cluster[keeper] == cluster[row] and not is_apart(keeper, row, sets, apart)
            return frozenset((keeper, row)) in joined

        if row >= num_against and any(map(goes, keepers)):
            gone.add(row)
        elif within or row < num_against:
            keepers.append(row)
    return gone
