"""Intervals of shares, against scipy's and against draws from populations that are known whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from nearsame.stages.pairs.shares import beta_quantile, bunched_share, share

SIZES = st.floats(-1, 6).map(lambda power: 10**power)


@pytest.mark.parametrize(("num", "of"), [(0, 10), (3, 10), (10, 10), (973, 1000), (4_999_000, 5_000_000)])
def test_the_interval_is_that_of_clopper_and_pearson(num, of):
    """As scipy's exact binomial test has it."""
    found, expected = share(num, of), binomtest(num, of).proportion_ci(method="exact")
    assert pytest.approx((expected.low, expected.high)) == (found.low, found.high)


@given(SIZES, SIZES, st.sampled_from([0.025, 0.975]))
def test_a_quantile_is_scipy_s(a, b, chance):
    """Of any beta distribution that a count may ask for."""
    assert beta_quantile(chance, a, b) == pytest.approx(beta.ppf(chance, a, b), rel=1e-6, abs=1e-9)


def test_nothing_has_no_share():
    """No document, no pair."""
    assert share(0, 0) is None
    assert bunched_share(np.zeros(5, np.int64), np.zeros(5, np.int64)) is None


def test_pairs_that_come_one_by_one_have_the_interval_of_single_draws():
    """A pair a document: no bunches."""
    totals = np.ones(2_000, np.int64)
    hits = (np.arange(2_000) % 10 > 0).astype(np.int64)
    one, other = bunched_share(hits, totals), share(int(hits.sum()), 2_000)
    assert (one.value, one.num, one.of) == (other.value, other.num, other.of)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-4)


def test_bunches_that_are_all_alike_have_an_interval() -> None:
    """Their variance is nothing, and that they are all pairs there are is not believed for it."""
    found = bunched_share(np.full(10, 50), np.full(10, 100))
    assert found == share(5, 10)._replace(num=500, of=1_000)
    many = bunched_share(np.full(100, 50), np.full(100, 100))
    assert many.low < 0.5 < many.high


def test_where_nothing_is_missed_the_documents_count_and_not_the_pairs():
    """A thousand pairs of ten documents say no more than ten draws."""
    of_ten = share(10, 10)
    found = bunched_share(np.full(10, 100), np.full(10, 100))
    assert (1.0, 1000) == (found.value, found.num)
    assert (of_ten.low, 1.0) == pytest.approx((found.low, found.high))


def _population(kind, chance):
    """(true pairs, of them found) of some 4,000 documents in groups of up to 80 that are all alike."""
    sizes = np.minimum(chance.zipf(1.7, 4_000), 80)
    sizes = sizes[np.cumsum(sizes) <= 4_000]
    rates = {"alike": 0.97, "rare": 0.999, "some lose all": 1.0}
    totals, hits = [], []
    for size in sizes:
        rate = rates.get(kind, 1 - 0.2 * size / 80)
        found = np.triu(chance.random((size, size)) < rate, 1)
        if kind == "some lose all":
            keeps = chance.random(size) >= 0.02
            found &= keeps & keeps[:, None]
        totals.append(np.full(size, size - 1))
        hits.append((found | found.T).sum(axis=0))
    return np.concatenate(totals), np.concatenate(hits)


@pytest.mark.parametrize("kind", ["alike", "some lose all", "large groups are worse", "rare"])
def test_the_interval_has_the_truth_where_pairs_of_one_document_are_alike(kind):
    """400 of 4,000 documents: at least 92 of 100 draws, where an interval of single pairs would have far fewer."""
    chance = np.random.Generator(np.random.PCG64(3))
    totals, hits = _population(kind, chance)
    truth, covered = hits.sum() / totals.sum(), 0
    for _ in range(200):
        drawn = chance.choice(totals.size, 400, replace=False)
        found = bunched_share(hits[drawn], totals[drawn])
        covered += found.low <= truth <= found.high
    assert covered >= 184


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_documents_is_no_matter(seed):
    """To the last bit: another engine has them in another one, and one answer."""
    drawn = np.random.default_rng(seed)
    totals = drawn.integers(1, 50, 300)
    hits = drawn.integers(0, totals + 1)
    orders = (drawn.permutation(300) for _ in range(20))
    assert {bunched_share(hits, totals)} == {bunched_share(hits[order], totals[order]) for order in orders}
