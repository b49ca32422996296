"""How alike two documents are, in integers: one function for each measure, one entry for all of them.

1. A score is a fraction num/den; num = -1 says "below the threshold", found as early as possible.
2. The threshold is p/q with p, q ≤ 10**9; nothing is compared in floating point.
3. `least_overlap` says how many items two sets must share; candidates are filtered by the same numbers as scored.
4. A pair may have to reach a second measure, too, of the same sets or of what stands apart from them: of n documents
   the second lists are behind the first ones, and document i has items[offsets[n + i]:offsets[n + i + 1]] there.
"""

from typing import NamedTuple

import numpy as np

from nearsame.kernels._jit import jit, popcount
from nearsame.kernels.cosine import cosine, dot_across, least_shared, sharing_reaches, told, told_across
from nearsame.kernels.hyperplanes import angle
from nearsame.kernels.indel import indel
from nearsame.kernels.sets import count_common, intersect_small, intersect_sorted, same_items

__all__ = [
    "AGREEMENT",
    "ANGLE",
    "APART",
    "CONTAINER",
    "CONTAINMENT",
    "COSINE",
    "EDIT",
    "EQUAL",
    "HAMMING",
    "JACCARD",
    "KIND",
    "KINDS",
    "NEAR_COSINE",
    "NEAR_EDIT",
    "NEAR_JACCARD",
    "NOTHING",
    "OF_SETS",
    "WEIGHTED",
    "Bound",
    "alone",
    "confirmed",
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
EDIT = 11  # only as the second measure: of two texts by insertions and deletions
WEIGHTED = 12  # cosine ≥ p/q of two sets whose weights stand apart: behind their sum of squares, letters behind them

NOTHING = -1  # there is no second measure
APART = 0x100  # the second measure is about lists of its own, not about the sets of the first

KINDS = frozenset(
    {
        JACCARD, EQUAL, AGREEMENT, HAMMING, CONTAINMENT, CONTAINER, NEAR_JACCARD, NEAR_COSINE, NEAR_EDIT, ANGLE, COSINE,
        WEIGHTED,
    }
)  # fmt: skip

OF_SETS = frozenset(
    {JACCARD, CONTAINMENT, CONTAINER, COSINE}
)  # whose items are those of two sets, whatever each of them is

KIND = 0xFF  # the low byte of a measure; what a measure of codes must know of them stands above it


def of_codes(kind: int, bits: int, k: int) -> int:
    """The measure `kind` of codes: their length is part of it, and the greatest distance that may be confirmed."""
    return kind | bits << 8 | k << 24


class Bound(NamedTuple):
    """A measure and the least value of it that counts, p/q; and a second one, with its own."""

    measure: int
    p: int
    q: int
    second: int = NOTHING
    second_p: int = 0
    second_q: int = 1


def alone(bound: Bound) -> Bound:
    """The same without a second measure."""
    return Bound(bound.measure, bound.p, bound.q)


def unbounded(bound: Bound) -> Bound:
    """The measure alone: of any two documents, however far apart."""
    kind, bits = bound.measure & KIND, bound.measure >> 8 & 0xFFFF
    return Bound(of_codes(kind, bits, bits) if bits else kind, 0, 1)


@jit
def _distance(items, a, b, bits):
    """In how many bits the codes at items[a] and items[b] differ."""
    total = 0
    for word in range((bits + 63) >> 6):
        total += popcount(items[a + word] ^ items[b + word])
    return total


@jit
def _least(kind, size_a, size_b, p, q):
    """How many items sets of these sizes share at least, to reach p/q of a measure of overlap."""
    if kind == JACCARD:
        return (p * (size_a + size_b) + p + q - 1) // (p + q)
    if kind == COSINE:
        return least_shared(size_a, size_b, p, q)
    return (p * (size_a if kind == CONTAINMENT else size_b) + q - 1) // q


@jit
def _reaches(kind, shared, size_a, size_b, p, q):
    """Whether sets of these sizes that share so many items reach p/q: `_least`, for cosines cheaper."""
    if kind == COSINE:
        return sharing_reaches(shared, size_a, size_b, p, q)
    return shared >= _least(kind, size_a, size_b, p, q)


@jit
def _is_of_sets(second):
    """Whether there is a second measure, and it is about the sets of the first."""
    return second != NOTHING and second < APART


@jit
def least_overlap(bound, size_a, size_b, p, q):
    """How many items sets of these sizes share at least, to reach p/q of the measure, and the second one."""
    need = _least(bound.measure, size_a, size_b, p, q)
    if not _is_of_sets(bound.second):
        return need
    return max(need, _least(bound.second, size_a, size_b, bound.second_p, bound.second_q))


@jit
def enough(bound, shared, size_a, size_b):
    """Whether sets of these sizes that share so many items reach the bound: `least_overlap`, for cosines cheaper."""
    if not _reaches(bound.measure, shared, size_a, size_b, bound.p, bound.q):
        return False
    if not _is_of_sets(bound.second):
        return True
    return _reaches(bound.second, shared, size_a, size_b, bound.second_p, bound.second_q)


@jit
def confirmed(bound, items, offsets, a, b):
    """Whether documents a and b reach the second measure, of what stands apart."""
    n = (offsets.size - 1) // 2
    a0, a1, b0, b1 = offsets[n + a], offsets[n + a + 1], offsets[n + b], offsets[n + b + 1]
    kind, p, q = bound.second - APART, bound.second_p, bound.second_q
    if bound.measure == WEIGHTED:  # the weights come first
        a0 += 1 + offsets[a + 1] - offsets[a]
        b0 += 1 + offsets[b + 1] - offsets[b]
    if kind == EDIT:
        return a0 < a1 and b0 < b1 and indel(items, a0, items, b0, p, q)[0] >= 0
    return intersect_sorted(items, a0, a1, b0, b1, _least(kind, a1 - a0, b1 - b0, p, q)) >= 0


@jit
def _score_weighted(bound, items, offsets, a, b, p, q):
    """The cosine of two weighted sets; their plain sets reach the second measure of these, if there is one."""
    n = (offsets.size - 1) // 2
    a0, a1, b0, b1 = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    at_a, at_b = offsets[n + a], offsets[n + b]
    dot, shared, passed = dot_across(items, a0, a1, b0, b1, at_a, at_b, p, q)
    num, den = told_across(dot, items[at_a], items[at_b], p, q)
    if not _is_of_sets(bound.second) or _reaches(
        bound.second, shared, a1 - a0, b1 - b0, bound.second_p, bound.second_q
    ):
        return num, den, passed
    return -1, den, passed


@jit
def _score_codes(measure, items, a0, a1, b0, b1, p, q):
    kind, bits, k = measure & KIND, (measure >> 8) & 0xFFFF, measure >> 24
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
        return indel(items, a0, items, b0, p, q)
    if kind != NEAR_JACCARD:
        return -1, 1
    total = a1 - a0 + b1 - b0
    shared = intersect_sorted(items, a0, a1, b0, b1, (p * total + p + q - 1) // (p + q))
    return shared, total - shared


@jit
def score(bound, items, offsets, a, b, p, q):
    """The similarity of documents a and b as (num, den, items), num = -1 if it is below p/q, or is not confirmed.

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
    num, den, passed = _score(bound, items, offsets, a, b, p, q)
    if num >= 0 and bound.second >= APART and not confirmed(bound, items, offsets, a, b):
        return -1, den, passed
    return num, den, passed


@jit
def _score(bound, items, offsets, a, b, p, q):
    """`score` by the first measure; of sets, by the second one of the same sets as well."""
    a0, a1, b0, b1 = offsets[a], offsets[a + 1], offsets[b], offsets[b + 1]
    measure = bound.measure
    if measure == JACCARD:
        need = least_overlap(bound, a1 - a0, b1 - b0, p, q)
        shared, passed = count_common(items, a0, a1, items, b0, b1, need)
        return shared, a1 - a0 + b1 - b0 - shared, passed
    if measure == COSINE:
        shared, passed = count_common(items, a0, a1, items, b0, b1, least_overlap(bound, a1 - a0, b1 - b0, p, q))
        if shared < 0:
            return -1, 1, passed
        num, den = told(np.uint64(shared), np.uint64(a1 - a0), np.uint64(b1 - b0), p, q)
        return num, den, passed
    if measure == WEIGHTED:
        return _score_weighted(bound, items, offsets, a, b, p, q)
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
