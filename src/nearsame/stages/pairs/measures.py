"""Measures as integers: which score a method is verified by, and its threshold as p/q."""

from collections.abc import Callable
from fractions import Fraction

from nearsame.kernels import scores
from nearsame.kernels.prefixes import Shares
from nearsame.kernels.scores import Bound
from nearsame.recipes.choices import ConfirmedBy, ReportedMeasure

__all__ = [
    "AGREEMENT",
    "ANGLE",
    "BY_NAME",
    "CONTAINER",
    "CONTAINMENT",
    "COSINE",
    "EQUAL",
    "JACCARD",
    "LARGEST",
    "WEIGHTED",
    "bound",
    "codes",
    "fraction_at_least",
    "second",
    "shares",
]

JACCARD, EQUAL, AGREEMENT = scores.JACCARD, scores.EQUAL, scores.AGREEMENT
CONTAINMENT, CONTAINER = scores.CONTAINMENT, scores.CONTAINER
ANGLE, COSINE, WEIGHTED = scores.ANGLE, scores.COSINE, scores.WEIGHTED
BY_NAME: dict[ReportedMeasure, int] = {"jaccard": JACCARD, "cosine": COSINE}
_CODES: dict[ConfirmedBy | None, int] = {
    None: scores.HAMMING,
    "jaccard": scores.NEAR_JACCARD,
    "cosine": scores.NEAR_COSINE,
    "edit": scores.NEAR_EDIT,
}
_SECOND: dict[ConfirmedBy, int] = {"jaccard": JACCARD, "cosine": COSINE, "edit": scores.EDIT | scores.APART}
LARGEST = 10**9  # denominators that kernels take: products with set sizes stay below 2**63


def codes(confirm: ConfirmedBy | None, bits: int, k: int) -> int:
    """The measure of codes of that length, within k bits, confirmed by another or not."""
    return scores.of_codes(_CODES[confirm], bits, k)


def second(confirm: ConfirmedBy, *, sketched: bool) -> int:
    """The second measure, of the sets that are compared, or of what stands apart: of a sketch its set, or letters."""
    return _SECOND[confirm] | (scores.APART if sketched else 0)


def bound(measure: int, threshold: Fraction, also: tuple[int, Fraction] | None = None) -> Bound:
    """The bound for a threshold, and a second measure with its own: the same decisions, as kernels can take them."""
    if measure & scores.KIND not in scores.KINDS:
        raise ValueError(f"{measure} is not a measure: {', '.join(map(str, sorted(scores.KINDS)))} are")
    exact = fraction_at_least(threshold, LARGEST)
    if also is None:
        return Bound(measure, exact.numerator, exact.denominator)
    least = fraction_at_least(also[1], LARGEST)
    return Bound(measure, exact.numerator, exact.denominator, also[0], least.numerator, least.denominator)


def shares(bound: Bound) -> Shares:
    """What share of a set is in any that is similar to it, by which prefixes are cut, for a measure of sets.

    Of sets of n ≤ m items that share s: a Jaccard similarity ≥ t is s ≥ t/(1 + t) · (n + m), and with s ≤ n both
    s ≥ t·m and s ≥ 2t/(1 + t) · n follow. A cosine ≥ t is s ≥ t·√(n·m): with s ≤ n that is n ≥ t²·m, so s ≥ t²·m, and
    s ≥ t·n. Containment says s ≥ t·n of whichever set is contained.

    >>> shares(bound(COSINE, Fraction(4, 5)))
    Shares(p=16, q=25, larger_p=4, larger_q=5)
    """
    if bound.measure not in _SHARES:
        raise ValueError(f"{bound.measure} does not say what share of a set is in a similar one: see _SHARES")
    return _SHARES[bound.measure](bound.p, bound.q)


def _of_container(p: int, q: int) -> Shares:
    return Shares(p, q, p, q)


def _of_jaccard(p: int, q: int) -> Shares:
    return Shares(p, q, 2 * p, p + q)


def _of_cosine(p: int, q: int) -> Shares:
    squared = fraction_at_least(Fraction(p, q) ** 2, LARGEST)  # shares of up to 10**9 items compare as with t²
    return Shares(squared.numerator, squared.denominator, p, q)


_SHARES: dict[int, Callable[[int, int], Shares]] = {
    JACCARD: _of_jaccard,
    COSINE: _of_cosine,
    CONTAINMENT: _of_container,
    CONTAINER: _of_container,
}


def fraction_at_least(value: Fraction, largest: int) -> Fraction:
    """The least fraction ≥ value with a denominator ≤ largest.

    Every ratio of integers with a denominator up to `largest` compares with it just as with `value`, so a threshold
    of 0.30000000000000004 costs no exactness.

    >>> fraction_at_least(Fraction("0.8"), 10**9)
    Fraction(4, 5)
    """
    near = value.limit_denominator(largest)
    if near >= value:
        return near
    a, b = near.numerator, near.denominator  # the next in the Farey sequence: c·b - a·d = 1 with the largest d
    d = largest - (largest + pow(a, -1, b)) % b if b > 1 else largest
    return Fraction(a * d + 1, b * d)
