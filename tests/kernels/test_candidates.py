"""Chosen pairs of rows that lie anywhere in memory, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.candidates import score_pairs
from nearsame.kernels.scores import AGREEMENT, CONTAINER, CONTAINMENT, COSINE, EQUAL, HAMMING, JACCARD, Bound, of_codes
from tests.oracle.corpora import thresholds
from tests.oracle.measures import containment, cosine, cosine_squared, jaccard

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])
ITEMS = st.one_of(*[st.integers(0, 5)] * 4, WORDS)
SETS = st.lists(st.sets(ITEMS, max_size=12).map(sorted), min_size=1, max_size=6)
THRESHOLDS = thresholds().map(Fraction)
CANARY = 0x5A5A5A5A5A5A5A5A

MEASURES = {
    JACCARD: lambda a, b, _: jaccard(a, b),
    CONTAINMENT: lambda a, b, _: containment(a, b),
    CONTAINER: lambda a, b, _: containment(b, a),
    COSINE: cosine,
}


def _similar(kind, a, b, threshold):
    """The similarity of two sets, or None below the threshold."""
    reached = cosine_squared(a, b) >= threshold**2 if kind == COSINE else MEASURES[kind](a, b, 0) >= threshold
    return MEASURES[kind](a, b, threshold) if reached else None


def _scored(bound, rows, order, pairs, threshold):
    """What the kernel says, with the rows in some order in memory and strangers before each: fractions, or None."""
    items, starts, ends = [], np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
    for row in order:
        items.append(0)
        starts[row], ends[row] = len(items), len(items) + len(rows[row])
        items += rows[row]
    sides = [frozen(np.array([pair[side] for pair in pairs], np.int64)) for side in (0, 1)]
    out = np.full((len(pairs) + 1, 2), CANARY, np.int64)
    views = frozen(np.array(items, np.uint64)), frozen(starts), frozen(ends)
    score_pairs(bound, *views, *sides, threshold.numerator, threshold.denominator, out[:-1])
    assert [CANARY] * 2 == out[-1].tolist()
    return [Fraction(num, den) if num >= 0 else None for num, den in out[:-1].tolist()]


def _laid(data, rows):
    """Some order of the rows, and pairs of them."""
    row = st.integers(0, len(rows) - 1)
    return data.draw(st.permutations(range(len(rows)))), data.draw(
        st.lists(st.tuples(row, row), min_size=5, max_size=15)
    )


@pytest.mark.parametrize("kind", MEASURES)
@given(SETS, THRESHOLDS, st.data())
def test_sets_are_as_similar_as_fractions_say(kind, rows, threshold, data):
    """Where they reach the threshold of the call, which may be above the bound's; a row without items is like none."""
    order, pairs = _laid(data, rows)
    sets = [(set(rows[a]), set(rows[b])) for a, b in pairs]
    expected = [_similar(kind, a, b, threshold) if a and b else None for a, b in sets]
    bound = Bound(kind, threshold.numerator, 2 * threshold.denominator)
    assert expected == _scored(bound, rows, order, pairs, threshold)


@given(SETS, THRESHOLDS, THRESHOLDS, st.sampled_from(sorted(MEASURES)), st.data())
def test_a_second_measure_of_the_same_sets_must_be_reached_too(rows, threshold, least, kind, data):
    """What is told is the first one."""
    order, pairs = _laid(data, rows)
    sets = [(set(rows[a]), set(rows[b])) for a, b in pairs]
    expected = [
        _similar(JACCARD, a, b, threshold) if a and b and _similar(kind, a, b, least) is not None else None
        for a, b in sets
    ]
    bound = Bound(JACCARD, 0, 1, kind, least.numerator, least.denominator)
    assert expected == _scored(bound, rows, order, pairs, threshold)


@given(SETS, st.data())
def test_equal_rows_are_those_with_the_same_items(rows, data):
    """All of them, in order; two rows without any are not equal."""
    order, pairs = _laid(data, rows)
    expected = [Fraction(1) if rows[a] and rows[a] == rows[b] else None for a, b in pairs]
    assert expected == _scored(Bound(EQUAL, 1, 1), rows, order, pairs, Fraction(1))


@given(st.lists(st.lists(st.integers(0, 2) | WORDS, min_size=5, max_size=5), min_size=1), THRESHOLDS, st.data())
def test_signatures_agree_place_by_place(rows, threshold, data):
    """Equal places over all places; an item elsewhere does not count."""
    order, pairs = _laid(data, rows)
    shares = [Fraction(sum(x == y for x, y in zip(rows[a], rows[b], strict=True)), 5) for a, b in pairs]
    expected = [share if share >= threshold else None for share in shares]
    bound = Bound(AGREEMENT, threshold.numerator, threshold.denominator)
    assert expected == _scored(bound, rows, order, pairs, threshold)


@given(st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=1), THRESHOLDS, st.data())
def test_codes_agree_bit_by_bit(rows, threshold, data):
    """Equal bits of 128 over 128."""
    order, pairs = _laid(data, rows)
    distances = [sum((x ^ y).bit_count() for x, y in zip(rows[a], rows[b], strict=True)) for a, b in pairs]
    shares = [Fraction(128 - distance, 128) for distance in distances]
    expected = [share if share >= threshold else None for share in shares]
    bound = Bound(of_codes(HAMMING, 128, 0), threshold.numerator, threshold.denominator)
    assert expected == _scored(bound, rows, order, pairs, threshold)


def test_a_pair_at_the_threshold_is_similar_and_one_below_is_not():
    """Also where floats would not tell: 55 of 100, at 0.55 and a billionth above it."""
    rows = [list(range(100)), list(range(55))]
    for kind in (JACCARD, CONTAINMENT):
        for threshold, expected in ((Fraction("0.55"), Fraction(11, 20)), (Fraction("0.550000001"), None)):
            bound = Bound(kind, threshold.numerator, threshold.denominator)
            assert [expected] == _scored(bound, rows, [1, 0], [(0, 1)], threshold)
