"""Broder's fingerprints by definition, and what they decide: estimates stand where similarities stood."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from itertools import combinations

from tests.oracle.decisions import Decisions
from tests.oracle.measures import jaccard

__all__ = ["decide", "fingerprint", "pairs"]

Hashes = Sequence[AbstractSet[int]]


def fingerprint(hashes: AbstractSet[int], modulus: int, floor: int) -> frozenset[int]:
    """The multiples of the modulus, filled up to the floor with the smallest of the others."""
    order = sorted(hashes, key=lambda value: (value % modulus != 0, value))
    return frozenset(order[: max(floor, sum(value % modulus == 0 for value in hashes))])


def pairs(hashes: Hashes, prints: Hashes, threshold: Fraction) -> dict[tuple[int, int], Fraction]:
    """Every pair a < b of which the fingerprints reach the threshold, or which are equal."""
    found = {}
    for a, b in combinations(range(len(hashes)), 2):
        if hashes[a] and hashes[a] == hashes[b]:
            found[a, b] = Fraction(1)
        elif prints[a] and prints[b] and jaccard(prints[a], prints[b]) >= threshold:
            found[a, b] = jaccard(prints[a], prints[b])
    return found


def decide(hashes: Hashes, prints: Hashes, threshold: Fraction) -> Decisions:
    """The removed rows with their witnesses, in order of reading; documents with equal hashes are one."""
    similar = pairs(hashes, prints, threshold)
    keepers: list[int] = []
    removed: Decisions = {}
    for row in filter(lambda row: hashes[row], range(len(hashes))):
        first = next(other for other in range(row + 1) if hashes[other] == hashes[row])
        alike = [(similar[keeper, row], keeper) for keeper in keepers if (keeper, row) in similar]
        if first != row:
            removed[row] = removed.get(first, (first, Fraction(1)))
        elif alike:
            similarity, witness = max(alike, key=lambda pair: pair[0])  # max takes the first: the higher priority
            removed[row] = (witness, similarity)
        else:
            keepers.append(row)
    return removed
