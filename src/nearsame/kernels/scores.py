"""How alike two documents are, in integers: one function for each measure, one entry for all of them.

1. A score is a fraction num/den; num = -1 says "below the threshold", found as early as possible.
2. The threshold is p/q with p, q ≤ 10**9; nothing is compared in floating point.
3. `least_overlap` says how many items two sets must share; candidates are filtered by the same numbers as scored.
"""

from typing import NamedTuple

from nearsame.kernels._jit import jit, popcount
from nearsame.kernels.cosine import cosine, cosine_of_sets, least_shared, sharing_reaches
from nearsame.kernels.hyperplanes import angle
from nearsame.kernels.indel import indel
from nearsame.kernels.sets import count_common, intersect_small, intersect_sorted, same_items

__all__ = [
    "AGREEMENT",
    "ANGLE",
    "CONTAINER",
    "CONTAINMENT",
    "COSINE",
    "EQUAL",
    "HAMMING",
    "JACCARD",
    "KIND",
    "KINDS",
    "NEAR_COSINE",
    "NEAR_EDIT",
    "NEAR_JACCARD",
    "OF_SETS",
    "Bound",
    "enough",
    "least_overlap",
    "of_codes",
    "score",
    "unbounded",
]

JACCARD = 0  # |A∩B| / |A∪B| ≥ p/q
EQUAL = 1  # all items the same
AGREEMENT = 2  # equal places of two signatures of one length, over that length
HAMMING = 3  # equal bits of two codes, over all bits
CONTAINMENT = 4  # |A∩B| / |A| ≥ p/q: how much of the first is in the second
CONTAINER = 5  # |A∩B| / |B| ≥ p/q: how much of the second is in the first
# Of documents whose codes are within k bits, what follows their codes: a set, a weighted set, a text.
NEAR_JACCARD, NEAR_COSINE, NEAR_EDIT = 6, 7, 8
ANGLE = 9  # cosine of two vectors ≥ p/q
COSINE = 10  # |A∩B| / √(|A|·|B|) ≥ p/q

KINDS = frozenset(
    {JACCARD, EQUAL, AGREEMENT, HAMMING, CONTAINMENT, CONTAINER, NEAR_JACCARD, NEAR_COSINE, NEAR_EDIT, ANGLE, COSINE}
)

OF_SETS = frozenset(
    {JACCARD, CONTAINMENT, CONTAINER, COSINE}
)  # whose items are those of two sets, whatever each of them is

KIND = 0xFF  # the low byte of a measure; what a measure of codes must know of them stands above it


def of_codes(kind: int, bits: int, k: int) -> int:
    """The measure `kind` of codes: their length is part of it, and the greatest distance that may be confirmed."""
    return kind | bits << 8 | k << 16


class Bound(NamedTuple):
    """A measure and the least value of it that counts, p/q; for containment also the least Jaccard, 0/1 for any."""

    measure: int
    p: int
    q: int
    floor_p: int = 0
    floor_q: int = 1


def unbounded(bound: Bound) -> Bound:
    """The measure alone: of any two documents, however far apart."""
    kind, bits = bound.measure & KIND, bound.measure >> 8 & 0xFF
    return Bound(of_codes(kind, bits, bits) if bits else kind, 0, 1)


@jit
def _distance(items, a, b, bits):
    """In how many bits the codes at items[a] and items[b] differ."""
    total = 0
    for word in range((bits + 63) >> 6):
        total += popcount(items[a + word] ^ items[b + word])
    return total


@jit
def least_overlap(bound, size_a, size_b, p, q):
    """How many items sets of these sizes share at least, to reach p/q of a measure of overlap (and the floor)."""
    if bound.measure == JACCARD:
        return (p * (size_a + size_b) + p + q - 1) // (p + q)
    if bound.measure == COSINE:
        return least_shared(size_a, size_b, p, q)
    size = size_a if bound.measure == CONTAINMENT else size_b
    need = (p * size + q - 1) // q
    if bound.floor_p == 0:
        return need
    p, q = bound.floor_p, bound.floor_q
    return max(need, (p * (size_a + size_b) + p + q - 1) // (p + q))


@jit
def enough(bound, shared, size_a, size_b):
    """Whether sets of these sizes that share so many items reach the bound: `least_overlap`, for cosines cheaper."""
    if bound.measure == COSINE:
        return sharing_reaches(shared, size_a, size_b, bound.p, bound.q)
    return shared >= least_overlap(bound, size_a, size_b, bound.p, bound.q)


@jit
def _score_codes(measure, items, a0, a1, b0, b1, p, q):
    kind, bits, k = measure & KIND, (measure >> 8) & 0xFF, measure >> 16
    distance = _distance(items, a0, b0, bits)
    if kind == HAMMING:
        near = bits - distance
        return (near, bits) if q * near >= p * bits else (-1, bits)
    if distance > k:
        return -1, 1
    a0 += (bits + 63) >> 6
    b0 += (bits + 63) >> 6
    if kind == NEAR_COSINE:
        return cosine(items, a0, a1, b0, b1, p, q)
    if kind == NEAR_EDIT:
        return indel(items, a0, b0, p, q)
    if kind != NEAR_JACCARD:
        return -1, 1
    total = a1 - a0 + b1 - b0
    shared = intersect_sorted(items, a0, a1, b0, b1, (p * total + p + q - 1) // (p + q))
    return shared, total - shared


@jit
def score(bound, items, offsets, a, b, p, q):
    """The similarity of documents a and b as (num, den, items), num = -1 if it is below p/q.

    `items` is how many items of both sets were passed; of measures that are not of sets it is 0.

    Args:
        bound: a Bound; its p/q may be lower than the p/q that is asked for.
        items: uint64.
        offsets: int64; document i has items[offsets[i]:offsets[i + 1]].
        a: a document.
        b: another.
        p: numerator of the threshold.
        q: its denominator.
    """
    a0, a1, b0, b1 = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    measure = bound.measure
    if measure == JACCARD:
        need = least_overlap(bound, a1 - a0, b1 - b0, p, q)
        shared, passed = count_common(items, a0, a1, items, b0, b1, need)
        return shared, a1 - a0 + b1 - b0 - shared, passed
    if measure == COSINE:
        return cosine_of_sets(items, a0, a1, b0, b1, p, q)
    if measure == EQUAL:
        return (1, 1, 0) if same_items(items, a0, a1, b0, b1) else (-1, 1, 0)
    if measure == ANGLE:
        num, den = angle(items, a0, a1, b0, b1, p, q)
        return num, den, 0
    if measure & KIND == HAMMING or measure & KIND >= NEAR_JACCARD:
        num, den = _score_codes(measure, items, a0, a1, b0, b1, p, q)
        return num, den, 0
    if measure == CONTAINMENT:
        shared, passed = intersect_small(items, a0, a1, b0, b1, least_overlap(bound, a1 - a0, b1 - b0, p, q))
        return shared, a1 - a0, passed
    if measure == CONTAINER:
        shared, passed = intersect_small(items, b0, b1, a0, a1, least_overlap(bound, a1 - a0, b1 - b0, p, q))
        return shared, b1 - b0, passed
    if measure != AGREEMENT:
        return -1, 1, 0
    length = a1 - a0
    equal = 0
    for i in range(length):
        equal += 1 if items[a0 + i] == items[b0 + i] else 0
    return (equal, length, 0) if q * equal >= p * length else (-1, length, 0)
