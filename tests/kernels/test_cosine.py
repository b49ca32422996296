"""The cosine in integers is the cosine in fractions, also where floats could not tell."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.cosine import PLACES, cosine, reaches

WEIGHTED = st.dictionaries(st.integers(0, 12), st.integers(1, 5) | st.integers(1, 2**28), min_size=1, max_size=8)
NUMBERS = st.integers(1, 2**62 - 1)


def _laid_out(weights: dict[int, int]) -> list[int]:
    items = sorted(weights)
    return [sum(w * w for w in weights.values()), *items, *(weights[item] for item in items)]


@given(WEIGHTED, WEIGHTED, st.fractions(Fraction(1, 100), 1, max_denominator=10**9))
def test_it_is_decided_exactly(a: dict[int, int], b: dict[int, int], threshold: Fraction) -> None:
    """At the threshold or above it by squares of whole numbers; reported to nine places, never below the threshold."""
    dot = sum(weight * b.get(item, 0) for item, weight in a.items())
    squared = Fraction(dot**2, sum(w * w for w in a.values()) * sum(w * w for w in b.values()))
    one, other = _laid_out(a), _laid_out(b)
    values = frozen(np.array(one + other, np.uint64))
    num, den = cosine(values, 0, len(one), len(one), values.size, threshold.numerator, threshold.denominator)
    assert (squared >= threshold**2) == (num >= 0)
    if num >= 0:
        assert threshold <= Fraction(num, den)
        assert Fraction(num, den) ** 2 <= squared < (Fraction(num, den) + Fraction(1, PLACES)) ** 2


@given(NUMBERS, NUMBERS, NUMBERS, st.integers(1, 10**9), st.integers(1, 10**9))
@example(2**62 - 1, 2**62 - 1, 2**62 - 1, 10**9, 10**9)
@example(2**62 - 2, 2**62 - 1, 2**62 - 3, 10**9, 10**9)
def test_comparison_is_of_256_bits(dot: int, one: int, other: int, p: int, q: int) -> None:
    """Nothing wraps, up to the largest numbers."""
    expected = (dot * q) ** 2 >= p * p * one * other
    assert expected == reaches(np.uint64(dot), np.uint64(one), np.uint64(other), p, q)
