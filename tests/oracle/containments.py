"""Containment by brute force: which sets are in others, which documents go for it, and who is the witness of each.

1. `share(a, b)` is how much of a is in b; a floor asks for a Jaccard similarity as well.
2. Larger sets come first within a side, then the given order; so none is judged by a smaller one of its own side.
3. Equal sets are one document, the best of them, as in `decisions.decide`.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

from tests.oracle.decisions import Decisions, Sets
from tests.oracle.measures import containment, jaccard

__all__ = ["Directions", "decide", "pairs"]

Directions = dict[tuple[int, int], tuple[Fraction, Fraction]]  # (a, b) -> how much of a is in b, of b in a


def pairs(sets: Sets, threshold: Fraction, floor: Fraction | None = None) -> Directions:
    """Every pair a < b of non-empty sets of which either holds the threshold's share of the other."""
    full = [row for row, items in enumerate(sets) if items]
    every = {(a, b): (containment(sets[a], sets[b]), containment(sets[b], sets[a])) for a, b in combinations(full, 2)}
    return {
        (a, b): both
        for (a, b), both in every.items()
        if max(both) >= threshold and (floor is None or jaccard(sets[a], sets[b]) >= floor)
    }


def decide(
    sets: Sets,
    threshold: Fraction,
    order: Sequence[int],
    *,
    num_against: int = 0,
    within: bool = True,
    floor: Fraction | None = None,
    container: bool = False,
    keys: Sequence[object] | None = None,
    also: Callable[[int, int], bool] = lambda _a, _b: True,
) -> Decisions:
    """The removed rows with their witnesses; with `container`, those that contain a row of the other side.

    `keys` are what makes two rows one (None: their sets), and `also` is what must hold of a pair beside.
    """
    keys = sets if keys is None else keys
    ranked = sorted(order, key=lambda row: (row >= num_against, -len(sets[row])))  # stable: ties stay in order
    keepers: list[int] = []
    removed: Decisions = {}
    for row in filter(lambda row: sets[row], ranked):
        twin = next(other for other in ranked if sets[other] and keys[other] == keys[row])
        found = []
        for keeper in keepers if twin == row else []:
            share = containment(sets[keeper], sets[row]) if container else containment(sets[row], sets[keeper])
            alike = floor is None or jaccard(sets[row], sets[keeper]) >= floor
            if share >= threshold and alike and also(row, keeper):
                found.append((share, keeper))
        if row < num_against:
            keepers.append(row)
        elif found:
            share, witness = max(found, key=lambda pair: pair[0])  # max takes the first: the higher priority
            removed[row] = (witness, share)
        elif twin != row:
            if twin in removed:
                removed[row] = removed[twin]
            elif within or twin < num_against:
                removed[row] = (twin, Fraction(1))
        elif within:
            keepers.append(row)
    return removed
