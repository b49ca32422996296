"""Curves against the textbooks' figures, against integration by hand, and against drawn codes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import bdtr

from nearsame.stages.keys.bands import choose_bands, collision_probability, offers
from nearsame.stages.keys.curves import areas, bit_differs, least_area, within_distance

SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 40))
THRESHOLDS = st.floats(0.05, 0.99)


@pytest.mark.parametrize(
    ("similarity", "printed"), [(0.2, 0.006), (0.4, 0.186), (0.5, 0.470), (0.6, 0.802), (0.7, 0.975), (0.8, 0.9996)]
)
def test_the_s_curve_is_the_textbook_s(similarity, printed):
    """20 bands of 5 rows."""
    places = 4 if similarity == 0.8 else 3
    assert printed == round(float(collision_probability(similarity, 20, 5)), places)


def test_at_0_3_the_curve_is_0_0475():
    """The printed .047 is cut off, not rounded."""
    assert 0.0475 == round(float(collision_probability(0.3, 20, 5)), 4)


def test_one_pair_in_three_thousand_is_lost_at_0_8():
    """One band agrees with .328, all twenty disagree with .00036."""
    assert 0.328 == round(float(collision_probability(0.8, 1, 5)), 3)
    assert 0.00036 == round(1 - float(collision_probability(0.8, 20, 5)), 5)
    assert 2500 < 1 / (1 - float(collision_probability(0.8, 20, 5))) < 3500


def test_fewer_bands_mean_fewer_false_positives_and_more_false_negatives():
    """Fifteen bands of five rows against twenty."""
    fewer, more = areas(0.5, 15, 5), areas(0.5, 20, 5)
    assert fewer[0] < more[0]
    assert fewer[1] > more[1]


@given(THRESHOLDS, SHAPES)
def test_areas_are_the_integrals(threshold, shape):
    """Each to a part in ten thousand, by an integration that is not ours."""
    below, _ = quad(lambda s: 1 - (1 - s ** shape[1]) ** shape[0], 0, threshold, limit=200)
    above, _ = quad(lambda s: (1 - s ** shape[1]) ** shape[0], threshold, 1, limit=200)
    assert (pytest.approx(below, abs=1e-4), pytest.approx(above, abs=1e-4)) == areas(threshold, *shape)


@given(THRESHOLDS, st.integers(1, 40))
def test_no_shape_has_a_smaller_sum_of_areas(threshold, num_perm):
    """Whatever fits into the signature was looked at."""
    best = sum(areas(threshold, *least_area(threshold, num_perm)))
    shapes = ((bands, rows) for rows in range(1, num_perm + 1) for bands in range(1, num_perm // rows + 1))
    assert best == min(sum(areas(threshold, *shape)) for shape in shapes)


def test_what_popular_tools_take_for_a_threshold_of_0_8_finds_two_pairs_of_five():
    """9 x 13 for 128 permutations: P(candidate at .8) = .399."""
    assert (9, 13) == least_area(0.8, 128)
    assert 0.399 == round(float(collision_probability(0.8, 9, 13)), 3)


@pytest.mark.parametrize(("bands", "rows", "found"), [(14, 8, 0.924), (16, 8, 0.947), (32, 8, 0.997), (20, 6, 0.998)])
def test_the_chance_at_0_8_is_as_tabled(bands, rows, found):
    """The figures of the notes on MinHash."""
    assert found == round(float(collision_probability(0.8, bands, rows)), 3)


@given(st.floats(0.2, 0.99), st.floats(0.5, 0.999), st.integers(8, 128))
def test_every_offer_reaches_the_recall_with_the_fewest_bands(threshold, recall, num_perm):
    """One band less does not, and the choice is the offer of the least area."""
    found = offers(threshold, recall, num_perm)
    for bands, rows, _ in found:
        assert bands * rows <= num_perm
        assert collision_probability(threshold, bands, rows) >= recall
        assert bands == 1 or collision_probability(threshold, bands - 1, rows) < recall
    if found:
        assert min(found, key=lambda offer: offer.area)[:2] == choose_bands(threshold, recall, num_perm)


@pytest.mark.parametrize(
    ("k", "percents"),
    [
        (3, {0.8: 0.9, 0.9: 9, 0.95: 31, 0.98: 67, 0.99: 85}),
        (6, {0.8: 13, 0.9: 50, 0.95: 82, 0.98: 97.5, 0.99: 99.6}),
        (10, {0.8: 63, 0.9: 94}),
    ],
)
def test_the_chance_to_be_within_k_of_64_bits_is_as_tabled(k, percents):
    """Three bits find near-identical pages, not "80 % similar" ones."""
    found = {similarity: 100 * float(within_distance(similarity, k, 64)) for similarity in percents}
    assert percents == {similarity: pytest.approx(percent, abs=0.55) for similarity, percent in found.items()}


def test_equal_sets_have_equal_codes_and_disjoint_ones_share_half_of_their_bits():
    """The ends of the curve."""
    assert [0.0, 0.5] == bit_differs([1.0, 0.0]).tolist()
    assert [1.0, 1.0] == [float(within_distance(1.0, 0, 64)), float(within_distance(0.3, 64, 64))]


@pytest.mark.parametrize("jaccard", [0.5, 0.8, 0.95])
def test_drawn_codes_behave_as_the_curve_says(jaccard):
    """Sums of random signs over two sets that share a part: bits differ as often as the angle says."""
    chance = np.random.Generator(np.random.PCG64(7))
    union, draws = 600, 4000
    shared = round(jaccard * union)
    only = (union - shared) // 2
    both = chance.choice([-1, 1], (draws, shared + 2 * only)).cumsum(axis=1)
    common, a, b = both[:, shared - 1], both[:, shared + only - 1], both[:, -1]
    differs = float(((a > 0) != (common + b - a > 0)).mean())
    assert float(bit_differs(shared / (shared + 2 * only))) == pytest.approx(differs, abs=0.03)


@given(st.lists(st.floats(0, 1), max_size=4), st.integers(0, 130), st.integers(1, 128))
def test_a_distance_is_binomial(similarities, k, bits):
    """As scipy has it, for every similarity and one alone, equal sets and disjoint ones among them."""
    for asked in (np.array([0.0, 1.0, *similarities]), np.float64(0.5)):
        expected = bdtr(min(k, bits), bits, bit_differs(asked))
        np.testing.assert_allclose(within_distance(asked, k, bits), expected, rtol=1e-9, atol=1e-300)
