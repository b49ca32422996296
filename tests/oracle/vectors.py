"""Vectors the slow way: rounded one number at a time, compared in whole numbers without bounds."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import isqrt

__all__ = ["code", "cosine", "pairs", "rounded", "slices"]

Vector = tuple[int, ...]


def rounded(vector: Sequence[float] | None) -> Vector | None:
    """The vector, stretched until its largest number is 32767, in whole numbers; None if it has no direction."""
    largest = max(map(abs, vector or [0.0]))
    return tuple(round(number / largest * 32767.0) for number in vector or []) if largest else None


def cosine(a: Vector, b: Vector, threshold: Fraction) -> Fraction | None:
    """The cosine, cut after nine decimals but no less than the threshold that it reaches; None if it does not."""
    product = sum(x * y for x, y in zip(a, b, strict=True))
    squares = sum(x * x for x in a) * sum(x * x for x in b)
    if product <= 0 or Fraction(product**2, squares) < threshold**2:
        return None
    return max(threshold, Fraction(isqrt(product**2 * 10**18 // squares), 10**9))


def pairs(vectors: Sequence[Vector | None], threshold: Fraction) -> dict[tuple[int, int], Fraction]:
    """Every pair a < b of vectors whose cosine reaches the threshold."""
    full = [(row, vector) for row, vector in enumerate(vectors) if vector]
    every = {(a, b): cosine(x, y, threshold) for (a, x), (b, y) in combinations(full, 2)}
    return {pair: similarity for pair, similarity in every.items() if similarity is not None}


def code(vector: Vector, planes: Sequence[Sequence[int]]) -> int:
    """A bit for each plane, the first the lowest: 1 where the product is above zero."""
    products = (sum(x * y for x, y in zip(vector, plane, strict=False)) for plane in planes)
    return sum((product > 0) << place for place, product in enumerate(products))


def slices(bits: int, bands: int, rows: int) -> list[tuple[int, int]]:
    """The first `bands` runs of `rows` bits of a code, each with its number."""
    return [(number, bits >> number * rows & (1 << rows) - 1) for number in range(bands)]
