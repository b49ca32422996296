"""The cosine of two sets, plain or weighted, decided without rounding.

1. A weighted set is the sum of its weights' squares, its items ascending, and its weights beside them, all uint64. The
   sum is below 2**62, so is every product of two such sets (Cauchy and Schwarz), and nothing overflows.
2. cos ≥ p/q is (dot·q)² ≥ p²·(sum of one)·(sum of the other), compared in 256 bits.
3. Of plain sets it is shared² · q² ≥ p² · size · size, in 128 bits: sizes are below 2**33, so shared · q and p · size
   are below 2**63.
4. Floats guess, and integers decide: a bound that is guessed is too low by more than floats err.
5. A cosine is no fraction. It is reported as the greatest multiple of 10⁻⁹ that is not above it, or as the threshold
   that it reaches, if that is higher.
"""

import math

import numpy as np

from nearsame.kernels._jit import jit, mulhi

__all__ = [
    "PLACES",
    "SHARE",
    "cosine",
    "dot_across",
    "least_shared",
    "reaches",
    "rest_reaches",
    "share_of",
    "sharing_reaches",
    "told",
    "told_across",
]

PLACES = 10**9
SHARE = 1 << 30  # parts in which shares of a sum of squares are counted
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_BELOW = 1 - 1e-12  # of a product of roots: thousands of times the error of floats
_EXACT = np.uint64(1 << 33)  # sums of squares below it have shares without rounding
_BOUNDED = 64  # steps of a merge between two looks at what is left


@jit
def _add(a, b):
    """The sum of two words, as (carry, sum)."""
    total = a + b
    return (_ONE if total < a else _ZERO), total


@jit
def _product(a_high, a_low, b_high, b_low):
    """The 256-bit product of two 128-bit numbers, the highest word first."""
    w0 = a_low * b_low
    carry_1, w1 = _add(mulhi(a_low, b_low), a_low * b_high)
    carry_2, w1 = _add(w1, a_high * b_low)
    carry_3, w2 = _add(mulhi(a_low, b_high), mulhi(a_high, b_low))
    carry_4, w2 = _add(w2, a_high * b_high)
    carry_5, w2 = _add(w2, carry_1 + carry_2)
    return mulhi(a_high, b_high) + carry_3 + carry_4 + carry_5, w2, w1, w0


@jit
def reaches(dot, one, other, p, q):
    """Whether dot / sqrt(one · other) ≥ p/q: uint64 below 2**62, p and q at most 10**9."""
    top, bottom = np.uint64(q), np.uint64(p)
    left = _product(mulhi(dot, top), dot * top, mulhi(dot, top), dot * top)
    right = _product(mulhi(one, bottom), one * bottom, mulhi(other, bottom), other * bottom)
    return left >= right


@jit
def _dot(values, a, b, num_a, num_b):
    """The product of two weighted sets whose items begin at a and b, and whose weights follow."""
    i, j = 0, 0
    total = _ZERO
    while i < num_a and j < num_b:
        x, y = values[a + i], values[b + j]
        if x == y:
            total += values[a + num_a + i] * values[b + num_b + j]
        i += 1 if x <= y else 0
        j += 1 if y <= x else 0
    return total


@jit
def cosine(values, a, a_end, b, b_end, p, q):
    """The cosine of values[a:a_end] and values[b:b_end] as (num, den); num = -1 if it is below p/q."""
    dot = _dot(values, a + 1, b + 1, (a_end - a - 1) // 2, (b_end - b - 1) // 2)
    return told(dot, values[a], values[b], p, q)


@jit
def dot_across(values, a, a_end, b, b_end, wa, wb, p, q):
    """The product of two sets whose weights stand apart: (dot, shared, passed), dot = 0 as soon as it is too small.

    What is left of both bounds what their product still grows by (Cauchy and Schwarz): of numbers below 2**62, in 128
    bits. The bound is looked at every _BOUNDED steps.

    Args:
        values: uint64; the sets are values[a:a_end] and values[b:b_end], ascending.
        a: where the one begins.
        a_end: where it ends.
        b: where the other begins.
        b_end: where it ends.
        wa: where the sum of squares of the one stands, its weights behind it.
        wb: the same of the other.
        p: of the least cosine p/q.
        q: the same.
    """
    rest_a, rest_b = values[wa], values[wb]
    root = math.sqrt(np.float64(rest_a)) * math.sqrt(np.float64(rest_b))
    least = np.uint64(root * (np.float64(p) / np.float64(q)) * _BELOW)  # never above what is asked for
    i, j, wa, wb = a, b, wa + 1 - a, wb + 1 - b
    dot, shared = _ZERO, 0
    while i < a_end and j < b_end:
        stop = i + j + _BOUNDED
        while i < a_end and j < b_end and i + j < stop:
            x, y = values[i], values[j]
            u, v = values[wa + i], values[wb + j]
            if x == y:
                dot += u * v
                shared += 1
            if x <= y:
                rest_a -= u * u
                i += 1
            if y <= x:
                rest_b -= v * v
                j += 1
        if dot < least:
            gap = least - dot
            high, most = mulhi(gap, gap), mulhi(rest_a, rest_b)
            if high > most or (high == most and gap * gap > rest_a * rest_b):
                return _ZERO, shared, i - a + j - b
    return dot, shared, i - a + j - b


@jit
def told_across(dot, one, other, p, q):
    """`told` of a product that may be 0, which reaches nothing that is asked for."""
    if dot == _ZERO and p > 0:
        return -1, 1
    return told(dot, one, other, p, q)


@jit
def share_of(rest, whole):
    """How much of a sum of squares below 2**62 is left, in parts of SHARE, rounded up; `whole` is not 0."""
    lift = _ZERO
    while (whole >> lift) >= _EXACT:
        lift += _ONE
    down = rest >> lift
    if (down << lift) < rest:
        down += _ONE
    whole >>= lift
    parts = ((down << np.uint64(30)) + whole - _ONE) // whole
    return min(np.int64(parts), SHARE)


@jit
def rest_reaches(share_a, share_b, p, q):
    """Whether what is left of two weighted sets, in shares of their sums of squares, can reach a cosine of p/q."""
    left, right = np.uint64(share_a) * np.uint64(share_b), np.uint64(p) * np.uint64(p)
    squared = np.uint64(q) * np.uint64(q)
    high, least = mulhi(left, squared), right >> np.uint64(4)  # right · 2**60, in two words
    return high > least or (high == least and left * squared >= right << np.uint64(60))


@jit
def told(dot, one, other, p, q):
    """The cosine dot / sqrt(one · other) as (num, den); num = -1 if it is below p/q; arguments as for `reaches`."""
    if not reaches(dot, one, other, p, q):
        return -1, 1
    # A guess, put right in integers: floats decide nothing.
    guess = np.float64(dot) / (math.sqrt(np.float64(one)) * math.sqrt(np.float64(other)))
    num = np.int64(PLACES * min(guess, 1.0))
    while num > 0 and not reaches(dot, one, other, num, PLACES):
        num -= 1
    while num < PLACES and reaches(dot, one, other, num + 1, PLACES):
        num += 1
    return (p, q) if num * q < p * PLACES else (num, PLACES)


@jit
def sharing_reaches(shared, size_a, size_b, p, q):
    """Whether sets of these sizes that share so many items reach a cosine of p/q; p and q at most 10**9."""
    left = np.uint64(shared) * np.uint64(q)
    one, other = np.uint64(p) * np.uint64(size_a), np.uint64(p) * np.uint64(size_b)
    high, least = mulhi(left, left), mulhi(one, other)
    return high > least or (high == least and left * left >= one * other)


@jit
def least_shared(size_a, size_b, p, q):
    """How many items sets of these sizes share at least, to reach a cosine of p/q: ⌈p/q · √(size_a · size_b)⌉."""
    root = math.sqrt(np.float64(size_a)) * math.sqrt(np.float64(size_b))
    need = np.int64(np.float64(p) / np.float64(q) * root)  # a guess, put right in integers
    while need > 0 and sharing_reaches(need - 1, size_a, size_b, p, q):
        need -= 1
    while not sharing_reaches(need, size_a, size_b, p, q):
        need += 1
    return need
