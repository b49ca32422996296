"""How alike two sets are, in exact fractions; and how likely bands are to bring them together."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import ceil, isqrt, prod

__all__ = [
    "band_chance",
    "containment",
    "cosine",
    "cosine_squared",
    "jaccard",
    "least_overlap",
    "prefix_length",
    "weighted_cosine",
]


def jaccard(a: AbstractSet[object], b: AbstractSet[object]) -> Fraction:
    """Resemblance: the common items over all items."""
    return Fraction(len(a & b), len(a | b))


def containment(a: AbstractSet[object], b: AbstractSet[object]) -> Fraction:
    """How much of `a` is in `b`."""
    return Fraction(len(a & b), len(a))


def cosine_squared(a: AbstractSet[object], b: AbstractSet[object]) -> Fraction:
    """The square (to stay a fraction) of the cosine of two sets."""
    return Fraction(len(a & b) ** 2, len(a) * len(b))


def cosine(a: AbstractSet[object], b: AbstractSet[object], threshold: Fraction = Fraction(0)) -> Fraction:
    """The cosine of two sets to nine places, downwards; the threshold, where it is reached between two of them."""
    return _rooted(cosine_squared(a, b), threshold)


def weighted_cosine(
    a: Mapping[object, int], b: Mapping[object, int], threshold: Fraction = Fraction(0)
) -> Fraction:  # fmt: skip
    """The same of items with whole weights."""
    dot = sum(weight * b.get(item, 0) for item, weight in a.items())
    squares = (sum(weight**2 for weight in each.values()) for each in (a, b))
    return _rooted(Fraction(dot**2, prod(squares)), threshold)


def _rooted(squared: Fraction, threshold: Fraction) -> Fraction:
    below = Fraction(isqrt(10**18 * squared.numerator // squared.denominator), 10**9)
    return max(below, threshold) if squared >= threshold**2 else below


def least_overlap(threshold: Fraction, a_size: int, b_size: int) -> int:
    """How many items two sets of these sizes share at least, to reach the threshold: by trying."""
    for overlap in range(min(a_size, b_size) + 1):
        if Fraction(overlap, a_size + b_size - overlap) >= threshold:
            return overlap
    return min(a_size, b_size) + 1


def prefix_length(threshold: Fraction, size: int) -> int:
    """How many of a set's items, in any total order, are sure to hold one of each similar set's."""
    return size - ceil(threshold * size) + 1


def band_chance(similarity: Fraction, bands: int, rows: int) -> Fraction:
    """The S-curve: the chance that two documents of this similarity agree on all rows of a band."""
    return 1 - (1 - similarity**rows) ** bands
