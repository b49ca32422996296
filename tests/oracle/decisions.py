"""Which pairs are similar, which documents stay, and who is the witness of each that goes.

1. `pairs` compares everything with everything.
2. `greedy` is the rule without any refinement: from the best to the worst, a document like a keeper goes, else
   it becomes a keeper; its witness is the most similar keeper of higher priority (ties: the higher priority).
3. `decide` is the rule as nearsame applies it: equal sets are one document, the best of them; where that one is
   removed, the others inherit its witness, even if a keeper that stands between them is more similar.
   Both rules keep the same documents.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import combinations

from tests.oracle.measures import cosine, jaccard

__all__ = ["Decisions", "Sets", "cosine_pairs", "decide", "decide_similar", "greedy", "pairs"]

Sets = Sequence[AbstractSet[object]]
Decisions = dict[int, tuple[int, Fraction]]  # removed row -> (its witness, their similarity)


def pairs(sets: Sets, threshold: Fraction) -> dict[tuple[int, int], Fraction]:
    """Every pair a < b of non-empty sets whose Jaccard similarity reaches the threshold."""
    full = [row for row, items in enumerate(sets) if items]
    every = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(full, 2)}
    return {pair: similarity for pair, similarity in every.items() if similarity >= threshold}


def cosine_pairs(sets: Sets, threshold: Fraction) -> dict[tuple[int, int], Fraction]:
    """The same by cosine."""
    full = [row for row, items in enumerate(sets) if items]
    every = {(a, b): cosine(sets[a], sets[b], threshold) for a, b in combinations(full, 2)}
    return {pair: similarity for pair, similarity in every.items() if similarity >= threshold}


def greedy(
    sets: Sets, threshold: Fraction, order: Sequence[int], *, num_against: int = 0, within: bool = True
) -> Decisions:
    """The removed rows with their witnesses, document by document."""
    similar = _both_ways(pairs(sets, threshold))
    return _greedy(similar, order, num_against=num_against, within=within)


def decide(
    sets: Sets, threshold: Fraction, order: Sequence[int], *, num_against: int = 0, within: bool = True
) -> Decisions:
    """The removed rows with their witnesses, equal sets collapsed to the best of them."""
    features = [items or None for items in sets]
    return decide_similar(features, pairs(sets, threshold), order, num_against=num_against, within=within)


def decide_similar(
    features: Sequence[object],
    similarities: Mapping[tuple[int, int], Fraction],
    order: Sequence[int],
    *,
    num_against: int = 0,
    within: bool = True,
) -> Decisions:
    """`decide` for any features (None: there are none) whose similar pairs a < b are known."""
    first_rows = {row: features[row] for row in order if features[row] is not None}
    best = {row: next(other for other in order if features[other] == value) for row, value in first_rows.items()}
    similar = _both_ways(similarities)
    among_best = {(a, b): value for (a, b), value in similar.items() if a == best[a] and b == best[b]}
    collapsed = [row for row in order if best.get(row, row) == row]
    removed = _greedy(among_best, collapsed, num_against=num_against, within=within)
    for row in order:
        first = best.get(row, row)
        if first == row or row < num_against:
            continue
        if first in removed:
            removed[row] = removed[first]
        elif within or first < num_against:
            removed[row] = (first, Fraction(1))
    return removed


def _greedy(
    similar: Mapping[tuple[int, int], Fraction], order: Sequence[int], *, num_against: int, within: bool
) -> Decisions:
    keepers: list[int] = []  # of those that may remove others, the best first
    removed: Decisions = {}
    for row in order:
        alike = [(similar[keeper, row], keeper) for keeper in keepers if (keeper, row) in similar]
        if row < num_against:
            keepers.append(row)
        elif alike:
            similarity, witness = max(alike, key=lambda pair: pair[0])  # max takes the first: the higher priority
            removed[row] = (witness, similarity)
        elif within:
            keepers.append(row)
    return removed


def _both_ways(found: Mapping[tuple[int, int], Fraction]) -> dict[tuple[int, int], Fraction]:
    return {**found, **{(b, a): similarity for (a, b), similarity in found.items()}}
