"""The theorem that the exact join by weighted cosine stands on, and its decisions, in Python's integers."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.cosine import SHARE, rest_reaches, share_of
from nearsame.kernels.deciding import may_reach
from nearsame.kernels.scores import JACCARD, NOTHING, WEIGHTED, Bound, score
from nearsame.kernels.weighted import follow, weighted_keys
from tests.oracle.corpora import thresholds
from tests.oracle.measures import jaccard, weighted_cosine

WEIGHTS = st.integers(1, 4) | st.integers(1, 2**27) | st.just(100_000)
WEIGHTED_SETS = st.dictionaries(st.integers(0, 9), WEIGHTS, min_size=1, max_size=8)
LARGE_SETS = st.dictionaries(st.integers(0, 199), st.integers(1, 3), min_size=60, max_size=200)
THRESHOLDS = thresholds().map(Fraction)
COUNTS = st.lists(st.integers(2, 4), min_size=10, max_size=10)


def _laid_out(*sets):
    """Sets, and behind them all their weights behind the sums of their squares: (values, offsets)."""
    rows = [sorted(each) for each in sets]
    rows += [[sum(w * w for w in each.values()), *(each[item] for item in sorted(each))] for each in sets]
    offsets = np.cumsum([0, *map(len, rows)])
    return frozen(np.array([value for row in rows for value in row], np.uint64)), frozen(offsets)


def _keys(weights, counts, threshold):
    """Of each key its place, and whether a pair may begin there."""
    values, offsets = _laid_out(weights)
    n = len(weights)
    out = [np.empty(n, kind) for kind in (np.uint64, np.int64, np.int32, np.uint8)]
    numbers = frozen(np.array([counts[item] for item in sorted(weights)], np.uint8))
    filled = weighted_keys(
        values, offsets[:1], offsets[1:2], values, offsets[1:2], numbers, offsets[:1], frozen(np.array([7])),
        threshold.numerator, threshold.denominator, *out,
    )  # fmt: skip
    assert [7] * filled == out[1][:filled].tolist()
    keys, _, places, probes = (column[:filled].tolist() for column in out)
    return dict(zip(keys, zip(places, probes, strict=True), strict=True))


@given(WEIGHTED_SETS, WEIGHTED_SETS, COUNTS, THRESHOLDS)
@example({0: 3, 1: 4}, {0: 3}, [2] * 10, Fraction(3, 5))  # just reached
@example({0: 100_000, 1: 1}, {0: 1, 1: 1}, [3, 2, *[2] * 8], Fraction(7, 10))
def test_similar_sets_share_a_key_that_places_let_pass(a, b, counts, threshold):
    """The first item that they share, in the order of counts: one of them may begin there."""
    if weighted_cosine(a, b, threshold) < threshold:
        return
    first = min(a.keys() & b.keys(), key=lambda item: (counts[item], item))
    (place_a, probes_a), (place_b, probes_b) = (_keys(each, counts, threshold)[first] for each in (a, b))
    assert probes_a or probes_b
    bound = Bound(WEIGHTED, threshold.numerator, threshold.denominator)
    assert may_reach(bound, len(a), place_a, len(b), place_b)


@given(WEIGHTED_SETS, COUNTS, THRESHOLDS)
def test_keys_end_where_the_rest_is_too_light(weights, counts, threshold):
    """No key more than the theorem asks for; items that stand in one set use up their share, and are no keys."""
    counts[3] = 1
    rest = whole = sum(weight**2 for weight in weights.values())
    expected = {}
    for item in sorted(weights, key=lambda item: (counts[item], item)):
        share = Fraction(rest, whole)
        if share >= threshold**2 and counts[item] > 1:
            expected[item] = share
        rest -= weights[item] ** 2
    found = _keys(weights, counts, threshold)
    assert expected.keys() == found.keys()
    for item, (place, probes) in found.items():
        assert 0 <= Fraction(SHARE - place, SHARE) - expected[item] < Fraction(3, SHARE)
        assert (expected[item] >= threshold) == bool(probes)


@given(st.integers(1, 2**62 - 1), st.integers(1, 2**62 - 1))
@example(2**62 - 1, 2**62 - 1)
def test_a_share_is_rounded_up(one, other):
    """Never above the whole."""
    rest, whole = sorted((one, other))
    share = share_of(np.uint64(rest), np.uint64(whole))
    assert Fraction(rest, whole) <= Fraction(share, SHARE) <= 1


@given(st.integers(0, SHARE), st.integers(0, SHARE), st.integers(1, 10**9), st.integers(1, 10**9))
@example(SHARE, SHARE, 10**9, 10**9)
def test_rests_are_compared_in_128_bits(one, other, p, q):
    """Nothing wraps."""
    assert (one * other * q * q >= p * p * SHARE * SHARE) == rest_reaches(one, other, p, q)


@given(
    st.tuples(WEIGHTED_SETS, WEIGHTED_SETS) | st.tuples(LARGE_SETS, LARGE_SETS),
    THRESHOLDS,
    st.none() | THRESHOLDS,
)
def test_a_score_is_that_of_fractions(sets, threshold, second):
    """Decided exactly, also where the merge ends early; and confirmed by the plain sets, where that is asked for."""
    a, b = sets
    also = (NOTHING, 0, 1) if second is None else (JACCARD, second.numerator, second.denominator)
    values, offsets = _laid_out(a, b)
    p, q = threshold.numerator, threshold.denominator
    num, den, _ = score(Bound(WEIGHTED, p, q, *also), values, offsets, 0, 1, p, q)
    expected = weighted_cosine(a, b, threshold)
    if second is not None and jaccard(a.keys(), b.keys()) < second:
        expected = Fraction(0)
    assert (expected if expected >= threshold else None) == (Fraction(num, den) if num >= 0 else None)


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), WEIGHTS, st.booleans()), max_size=9, unique_by=lambda row: row[0]))
def test_what_stood_beside_an_item_follows_it(rows):
    """In whatever order items are; beside what was not there stands 1."""
    items, beside, stay = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    kept = [item for item, stays in zip(items, stay, strict=True) if stays] + [11]
    out = np.zeros(len(kept), np.uint64)
    starts, ends = (frozen(np.array([number])) for number in (0, len(items)))
    values = frozen(np.array(beside, np.uint64))
    follow(
        frozen(np.array(items, np.uint64)), starts, ends, values, starts,
        frozen(np.array(kept, np.uint64)), starts, frozen(np.array([len(kept)])), out,
    )  # fmt: skip
    assert [dict(zip(items, beside, strict=True)).get(item, 1) for item in kept] == out.tolist()
