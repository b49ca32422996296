"""Scores against Fractions, at exact ties above all: there floats are wrong."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels import scores
from nearsame.kernels.scores import Bound, least_overlap, of_codes, score
from nearsame.stages.pairs.measures import bound, fraction_at_least, second, shares
from tests.oracle import measures as twin
from tests.oracle.corpora import THRESHOLDS, thresholds

SETS = st.sets(st.integers(0, 30), min_size=1, max_size=20)
BELOW_1 = st.fractions(0, 1, max_denominator=10**12).filter(bool)


def _pair(a, b):
    """Two documents and a stranger between them: (items, offsets)."""
    a, b = sorted(a), sorted(b)
    items = frozen(np.array([*a, 5, *b], np.uint64))
    return items, frozen(np.array([0, len(a), len(a) + 1, len(a) + 1 + len(b)]))


def _score(bound_, a, b, threshold=None):
    p, q = (bound_.p, bound_.q) if threshold is None else (threshold.numerator, threshold.denominator)
    num, den, _ = score(bound_, *_pair(a, b), 0, 2, p, q)
    return None if num < 0 else Fraction(num, den)


MEASURES = {
    "jaccard": (scores.JACCARD, twin.jaccard),
    "containment": (scores.CONTAINMENT, twin.containment),
    "container": (scores.CONTAINER, lambda a, b: twin.containment(b, a)),
}


@pytest.mark.parametrize("name", MEASURES)
@given(a=SETS, b=SETS, threshold=thresholds())
def test_a_score_is_the_oracles_fraction_or_below_the_threshold(name, a, b, threshold):
    """At any threshold, at the value itself, and just above it."""
    measure, exact = MEASURES[name][0], MEASURES[name][1](a, b)
    step = Fraction(1, 10**9)
    for least in {Fraction(threshold), exact, min(exact + step, Fraction(1)), max(exact - step, step)} - {0}:
        expected = exact if exact >= least else None
        assert expected == _score(bound(measure, least), a, b)
        assert expected == _score(bound(measure, step), a, b, threshold=fraction_at_least(least, 10**9))


ALIKE = st.sets(st.integers(0, 5), min_size=1)


@given(SETS | ALIKE, SETS | ALIKE, thresholds())
def test_a_cosine_is_the_oracles_at_every_threshold_near_it(a, b, threshold):
    """It is no fraction: asked for are its nine places, the next ones, and those of others."""
    step, below = Fraction(1, 10**9), twin.cosine(a, b)
    for least in {Fraction(threshold), below, min(below + step, Fraction(1)), max(below - step, step)} - {0}:
        value = twin.cosine(a, b, least)
        expected = value if value >= least else None
        assert (twin.cosine_squared(a, b) >= least**2) == (expected is not None)
        assert expected == _score(bound(scores.COSINE, least), a, b)
        assert expected == _score(bound(scores.COSINE, step), a, b, threshold=least)


SECONDS = {"jaccard": twin.jaccard, "cosine": twin.cosine}


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("confirm", SECONDS)
@pytest.mark.parametrize("name", [*MEASURES, "cosine"])
@given(a=SETS, b=SETS, x=SETS, y=SETS, data=st.data())
def test_a_second_measure_asks_for_more(name, confirm, apart, a, b, x, y, data):  # noqa: PLR0917  (two pairs)
    """Whether the pair just reaches it or just misses it; the score stays that of the first; `apart`, of other sets."""
    fifth = Fraction(1, 5)
    measure, exact = MEASURES.get(name, (scores.COSINE, lambda one, other: twin.cosine(one, other, fifth)))
    x, y = (x, y) if apart else (a, b)
    alike = SECONDS[confirm](x, y)
    least = data.draw(st.sampled_from([alike, min(alike + Fraction(1, 10**9), Fraction(1)), Fraction(1, 3)]))
    if least:
        confirmed = alike >= least if confirm == "jaccard" else twin.cosine_squared(x, y) >= least**2
        both = bound(measure, fifth, (second(confirm, sketched=apart), least))
        items, offsets = _pair(a, b)
        others, ends = _pair(x, y)
        items = frozen(np.concatenate([items, others]))
        offsets = frozen(np.concatenate([offsets, offsets[-1] + ends[1:]]))
        num, den, _ = score(both, items, offsets, 0, 2, both.p, both.q)
        assert (exact(a, b) if confirmed and exact(a, b) >= fifth else None) == (
            Fraction(num, den) if num >= 0 else None
        )


def test_what_floats_get_wrong_at_80_percent_is_right():
    """31 and 32 shingles that share 28 have J = .8; in floats, ceil(.8/1.8·63) is 29."""
    assert 29 == ceil(0.8 / 1.8 * 63)
    exact = bound(scores.JACCARD, Fraction("0.8"))
    assert 28 == least_overlap(exact, 31, 32, exact.p, exact.q)
    assert Fraction(4, 5) == _score(exact, range(31), range(3, 35))
    assert _score(exact, range(31), range(4, 36)) is None


def test_what_floats_get_wrong_at_55_percent_is_right():
    """55 of 100 are contained at .55; in floats, ceil(.55·100) is 56."""
    assert 56 == ceil(0.55 * 100)
    for measure in (scores.CONTAINMENT, scores.CONTAINER):
        exact = bound(measure, Fraction("0.55"))
        assert 55 == least_overlap(exact, 100, 100, exact.p, exact.q)
        assert Fraction(11, 20) == _score(exact, range(100), range(45, 145))
        assert _score(exact, range(100), range(46, 146)) is None


@given(st.sampled_from(THRESHOLDS).map(Fraction), st.integers(1, 200), st.integers(1, 200))
def test_the_overlap_that_is_needed_is_the_least_that_suffices(threshold, a, b):
    """Of every measure, by trying."""
    for measure, reached in (
        (scores.JACCARD, lambda shared: Fraction(shared, a + b - shared)),
        (scores.CONTAINMENT, lambda shared: Fraction(shared, a)),
        (scores.CONTAINER, lambda shared: Fraction(shared, b)),
    ):
        exact = bound(measure, threshold)
        need = least_overlap(exact, a, b, exact.p, exact.q)
        assert need >= 1
        assert need > min(a, b) or reached(need) >= threshold
        assert need - 1 > min(a, b) or reached(need - 1) < threshold


LARGE = st.integers(1, 100) | st.integers(1, 2**33 - 1)
PARTS = st.integers(1, 30) | st.integers(1, 10**9)


@given(LARGE, LARGE, PARTS, PARTS)
@example(2**33 - 1, 2**33 - 1, 10**9 - 1, 10**9)
@example(2**33 - 1, 1, 1, 10**9)
@example(2, 1, 707_106_781, 10**9)
def test_the_overlap_that_a_cosine_needs_is_the_least_that_suffices(a, b, p, q):
    """In whole numbers of any size; and what any set needs of a partner is in its share."""
    p, q = min(p, q), max(p, q)
    exact = Bound(scores.COSINE, p, q)
    need = least_overlap(exact, a, b, p, q)
    assert (need - 1) ** 2 * q**2 < p**2 * a * b <= need**2 * q**2
    assert [False, True] == [scores.enough(exact, shared, a, b) for shared in (need - 1, need)]


@given(st.integers(1, 300), st.integers(1, 300), thresholds())
def test_no_similar_pair_shares_less_than_its_shares_say(a, b, threshold):
    """Of either set, and of the one that is not the larger; some pair shares no more, so no prefix is too long."""
    for measure in (scores.JACCARD, scores.COSINE):
        exact = bound(measure, Fraction(threshold))
        need = least_overlap(exact, a, b, exact.p, exact.q)
        if need > min(a, b):
            continue
        told = shares(exact)
        for size, other in ((a, b), (b, a)):
            assert need * told.q >= told.p * size
            assert need * told.larger_q >= told.larger_p * size or size > other
        needs = {size: least_overlap(exact, a, size, exact.p, exact.q) for size in range(1, a + 1)}
        assert -(-told.p * a // told.q) == min(need for size, need in needs.items() if need <= size)


@pytest.mark.parametrize("size", [10**6, 2**31, 4 * 10**9])
def test_the_largest_sets_and_denominators_do_not_overflow(size):
    """A threshold just below 1 in billionths, of sets as large as memory has them."""
    exact = bound(scores.JACCARD, Fraction(10**9 - 1, 10**9))
    assert -(-exact.p * 2 * size // (exact.p + exact.q)) == least_overlap(exact, size, size, exact.p, exact.q)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.data())
def test_equals_are_equal_item_by_item(a, data):
    """The order counts: items are the words of a digest."""
    b = data.draw(st.just(a) | st.permutations(a) | st.lists(st.integers(0, 3), max_size=8))
    items = frozen(np.array([*a, *b], np.uint64))
    offsets = frozen(np.array([0, len(a), len(a) + len(b)]))
    num, den, _ = score(Bound(scores.EQUAL, 1, 1), items, offsets, 0, 1, 1, 1)
    assert ((1, 1) if a == b else (-1, 1)) == (num, den)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12), thresholds())
def test_agreement_is_the_share_of_equal_places(places, threshold):
    """Of two signatures; at ties too."""
    items = frozen(np.array([a for a, _ in places] + [b for _, b in places], np.uint64))
    offsets = frozen(np.array([0, len(places), 2 * len(places)]))
    exact = Fraction(sum(a == b for a, b in places), len(places))
    for least in {Fraction(threshold), exact} - {0}:
        num, den, _ = score(Bound(scores.AGREEMENT, 1, 10**9), items, offsets, 0, 1, *least.as_integer_ratio())
        assert ((exact.numerator * den, True) if exact >= least else (-exact.denominator, False)) == (
            num * exact.denominator,
            num >= 0,
        )


@given(
    st.sampled_from([1, 32, 64, 65, 100, 128, 255, 256, 512]), st.integers(0, 2**512), st.integers(0, 2**512), st.data()
)
@example(128, 0, 2**128 - 1, None)
def test_near_codes_are_scored_by_their_equal_bits(bits, a, b, data):
    """Of codes of one word and of two, whatever stands behind the code."""
    mask = (1 << bits) - 1
    a, b = a & mask, (a ^ b & b >> 1 & b >> 3) & mask
    words = [(code >> at & 2**64 - 1) for code in (a, b) for at in range(0, bits, 64)]
    half = len(words) // 2
    items = frozen(np.array([*words[:half], 7, *words[half:], 9, 9], np.uint64))
    offsets = frozen(np.array([0, half + 1, 2 * half + 3]))
    near = bits - (a ^ b).bit_count()
    k = bits - near if data is None else data.draw(st.integers(0, bits - 1))
    num, den, _ = score(Bound(of_codes(scores.HAMMING, bits, 0), 0, 1), items, offsets, 0, 1, bits - k, bits)
    assert ((near if bits - near <= k else -1), bits) == (num, den)


def test_what_is_no_measure_of_codes_has_no_score():
    """It is not the last one that there is: a measure that is added is answered once its score is."""
    unknown = of_codes(max(scores.KINDS) + 1, 64, 64)
    items, offsets = _pair({1, 2, 3}, {1, 2, 3})
    assert score(Bound(unknown, 0, 1), items, offsets, 0, 2, 0, 1)[0] < 0
    assert score(Bound(of_codes(scores.NEAR_JACCARD, 64, 64), 0, 1), items, offsets, 0, 2, 0, 1)[0] > 0


@given(SETS, SETS, st.integers(0, 5), st.integers(0, 5), thresholds())
def test_near_codes_are_confirmed_by_the_sets_behind_them(a, b, distance, k, threshold):
    """Where they are within k bits; a code is no item of the set."""
    items = frozen(np.array([0, *sorted(a), (1 << distance) - 1, *sorted(b)], np.uint64))
    offsets = frozen(np.array([0, len(a) + 1, len(a) + len(b) + 2]))
    exact = twin.jaccard(a, b)
    for least in {Fraction(threshold), exact} - {0}:
        confirmed = bound(of_codes(scores.NEAR_JACCARD, 64, k), least)
        num, den, _ = score(confirmed, items, offsets, 0, 1, confirmed.p, confirmed.q)
        assert (exact if exact >= least and distance <= k else None) == (Fraction(num, den) if num >= 0 else None)


@given(BELOW_1, st.integers(1, 60))
@example(Fraction("0.30000000000000004"), 60)
@example(Fraction(1, 10**12), 60)
@example(Fraction(10**12 - 1, 10**12), 60)
@example(Fraction(1), 1)
def test_the_next_fraction_is_that_of_trying_them_all(value, largest):
    """The least p/q ≥ the value with q ≤ largest."""
    assert min(Fraction(ceil(value * q), q) for q in range(1, largest + 1)) == fraction_at_least(value, largest)


@given(BELOW_1, st.integers(1, 500), st.integers(0, 500))
def test_a_threshold_that_is_made_simpler_decides_the_same(value, den, num):
    """Of every ratio that two sets can have."""
    ratio = Fraction(min(num, den), den)
    simpler = fraction_at_least(value, 10**9)
    assert simpler.denominator <= 10**9
    assert (ratio >= value) == (ratio >= simpler)


def test_a_threshold_read_from_a_float_decides_as_its_digits_do():
    """0.1 + 0.2 is a little more than .3, so 3 of 10 do not reach it; .3 they do."""
    assert Fraction(3, 10) == _score(bound(scores.JACCARD, Fraction(str(0.3))), range(3), range(10))
    assert _score(bound(scores.JACCARD, Fraction(str(0.1 + 0.2))), range(3), range(10)) is None
