"""How alike two documents are, in integers: one function for each measure, one entry for all of them.

1. A score is a fraction num/den; num = -1 says "below the threshold", found as early as possible.
2. The threshold is p/q with p, q ≤ 10**9; nothing is compared in floating point.
"""

from typing import NamedTuple

from samesame.kernels._jit import jit, popcount
from samesame.kernels.sets import intersect_sorted, same_items

__all__ = ["AGREEMENT", "EQUAL", "HAMMING", "JACCARD", "Bound", "of_codes", "score", "score_pairs"]

JACCARD = 0  # |A∩B| / |A∪B| ≥ p/q
EQUAL = 1  # all items the same
AGREEMENT = 2  # equal places of two signatures of one length, over that length
HAMMING = 3  # equal bits of two codes, over all bits

_KIND = 0xFF  # the low byte of a measure; what a measure of codes must know of them stands above it


def of_codes(kind: int, bits: int, k: int) -> int:
    """The measure `kind` of codes: their length is part of it, and the greatest distance that may be confirmed."""
    return kind | bits << 8 | k << 16


class Bound(NamedTuple):
    """A measure and the least value of it that counts, p/q."""

    measure: int
    p: int
    q: int


@jit
def _distance(items, a, b, bits):
    """In how many bits the codes at items[a] and items[b] differ."""
    total = 0
    for word in range((bits + 63) >> 6):
        total += popcount(items[a + word] ^ items[b + word])
    return total


@jit
def score(measure, items, offsets, a, b, p, q):
    """The similarity of documents a and b as (num, den), num = -1 if it is below p/q.

    Args:
        measure: one of the constants above, or `of_codes`.
        items: uint64.
        offsets: int64; document i has items[offsets[i]:offsets[i + 1]].
        a: a document.
        b: another.
        p: numerator of the threshold.
        q: its denominator.
    """
    a0, a1, b0, b1 = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    total = a1 - a0 + b1 - b0
    if measure == JACCARD:
        need = (p * total + p + q - 1) // (p + q)
        shared = intersect_sorted(items, a0, a1, b0, b1, need)
        return shared, total - shared
    if measure == EQUAL:
        return (1, 1) if same_items(items, a0, a1, b0, b1) else (-1, 1)
    if measure & _KIND == HAMMING:
        bits = (measure >> 8) & 0xFF
        near = bits - _distance(items, a0, b0, bits)
        return (near, bits) if q * near >= p * bits else (-1, bits)
    length = a1 - a0
    equal = 0
    for i in range(length):
        equal += 1 if items[a0 + i] == items[b0 + i] else 0
    return (equal, length) if q * equal >= p * length else (-1, length)


@jit
def score_pairs(measure, items, offsets, a, b, nums, dens):
    """The similarity of each pair of documents a[i], b[i] as nums[i] / dens[i], however low.

    Args:
        measure: as for `score`.
        items: uint64.
        offsets: int64.
        a: int64, documents.
        b: int64, as many.
        nums: int64; filled.
        dens: int64; filled. 0 where both have no items.
    """
    for i in range(a.size):
        nums[i], dens[i] = score(measure, items, offsets, a[i], b[i], 0, 1)
