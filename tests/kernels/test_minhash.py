"""Signatures against Python's integers, and what they promise: merging, no bias, the spread that is tabled."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.minhash import band_keys, classic_sketch, fast_sketch
from nearsame.recipes.methods import MinHash
from nearsame.stages.sketches.minhash import Signatures
from tests.examples import share
from tests.oracle import minhash as twin

ITEMS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63, 2**64 - 8, 2**64 - 1])
ROWS = st.lists(st.lists(ITEMS, max_size=40), max_size=4)
SIZES = [1, 2, 3, 7, 16, 100, 128, 200]  # values in a signature, most of them no power of two


def _seeds(kind, m):
    return Signatures(MinHash(num_perm=m, sketch=kind, bands=1, rows=1)).seeds


def _sketches(kind, rows, m):
    ends = np.cumsum([0, *map(len, rows)])
    flat = frozen(np.array([item for row in rows for item in row], np.uint64))
    out = np.zeros((len(rows), m), np.uint64)
    sketch = fast_sketch if kind == "fast" else classic_sketch
    sketch(flat, frozen(ends[:-1]), frozen(ends[1:]), *_seeds(kind, m), out)
    return out


@given(ROWS, st.sampled_from(SIZES))
@example([[], [0], [0, 0, 0]], 128)
@settings(max_examples=share(60))
def test_fast_sketches_are_their_twins(rows, m):
    """Empty sets, single items, repeats; any number of values."""
    seeds = _seeds("fast", m)[0].tolist()
    assert [twin.fast_sketch(row, seeds) for row in rows] == _sketches("fast", rows, m).tolist()


@pytest.mark.parametrize("m", [1, 100, 128])
def test_a_set_of_thousands_is_sketched_in_one_round(m):
    """All values are of round 0, and those of the twin."""
    row = np.random.default_rng(m).integers(0, 2**64, 5000, np.uint64).tolist()
    found = _sketches("fast", [row], m).tolist()
    assert [twin.fast_sketch(row, _seeds("fast", m)[0].tolist())] == found
    assert {0} == {value >> 48 for value in found[0]}


def test_a_single_item_fills_every_bin():
    """In the rounds from m on it is offered to each."""
    found = _sketches("fast", [[42]], 4096)
    assert (0, 4096) <= (int(found.min() >> np.uint64(48)), int(found.max() >> np.uint64(48)))
    assert twin.EMPTY not in found


@given(ROWS, st.sampled_from(SIZES))
@example([[2**64 - 1], [2**64 - 8, 7], []], 200)
@settings(max_examples=share(60))
def test_classic_sketches_are_their_twins(rows, m):
    """Modulo 2**61 - 1, also where an item is that prime itself."""
    seeds = [part.tolist() for part in _seeds("classic", m)]
    assert [twin.classic_sketch(row, *seeds) for row in rows] == _sketches("classic", rows, m).tolist()


@given(st.lists(st.integers(1, 2**61 - 2), min_size=3, max_size=3), st.lists(ITEMS, min_size=1, max_size=9), st.data())
@example([1, 2**61 - 2, 2**60], [2**64 - 1, 2**64 - 9, 8, 0], None)
def test_any_multipliers_and_increments_stay_below_the_prime(multipliers, items, data):
    """The extremes of both among them."""
    below = st.integers(0, 2**61 - 2)
    increments = [2**61 - 2, 0, 1] if data is None else data.draw(st.lists(below, min_size=3, max_size=3))
    out = np.zeros((1, 3), np.uint64)
    columns = [frozen(np.array(column, np.uint64)) for column in (items, multipliers, increments)]
    classic_sketch(columns[0], frozen(np.array([0])), frozen(np.array([len(items)])), *columns[1:], out)
    assert [twin.classic_sketch(items, multipliers, increments)] == out.tolist()


@pytest.mark.parametrize("kind", ["fast", "classic"])
@given(st.lists(ITEMS, max_size=60), st.lists(ITEMS, max_size=60), st.sampled_from(SIZES))
def test_the_sketch_of_a_union_is_the_least_of_the_sketches(kind, one, two, m):
    """Value by value; an empty set changes nothing."""
    a, b, both = _sketches(kind, [one, two, one + two], m)
    assert both.tolist() == np.minimum(a, b).tolist()


@given(st.lists(ITEMS, max_size=40), st.randoms(use_true_random=False))
def test_order_and_repeats_do_not_matter(items, random):
    """A sketch is of a set."""
    other = [*items, *items[:5]]
    random.shuffle(other)
    for kind in ("fast", "classic"):
        a, b = _sketches(kind, [items, other], 128)
        assert a.tolist() == b.tolist()


def _estimates(kind, m, n, shared, times):
    """The share of equal values, for many pairs of sets of n items that have `shared` in common."""
    random = np.random.default_rng(20)
    rows = []
    for _ in range(times):
        pool = random.integers(0, 2**64, 2 * n - shared, np.uint64).tolist()
        rows += [pool[:n], pool[n - shared :]]
    found = _sketches(kind, rows, m)
    return (found[0::2] == found[1::2]).mean(axis=1)


@pytest.mark.parametrize(("kind", "tabled"), [("fast", 0.0256), ("classic", 0.0352)])
def test_the_estimate_has_no_bias_and_the_spread_that_is_tabled(kind, tabled):
    """With m = 128, 100 items in the union, J = .8, 4,000 pairs, and a seed that is fixed.

    The spread is known to about 1.1 %, 4 % are allowed; the mean to a 63rd of the spread, four times that are allowed.
    """
    estimates = _estimates(kind, 128, 90, 80, 4000)
    assert abs(estimates.mean() - 0.8) < 4 * tabled / 63
    assert tabled == pytest.approx(estimates.std(), rel=0.04)


@pytest.mark.parametrize("kind", ["fast", "classic"])
@pytest.mark.parametrize(("n", "shared"), [(1, 0), (2, 1), (3, 2), (30, 10), (1000, 500)])
def test_the_estimate_has_no_bias_at_any_size(kind, n, shared):
    """Sets of one item and of a thousand: the mean of 1,500 estimates is within four of its errors of the truth."""
    estimates = _estimates(kind, 64, n, shared, 1500 if n < 1000 else 150)
    truth = shared / (2 * n - shared)
    assert abs(estimates.mean() - truth) <= 4 * estimates.std() / estimates.size**0.5 + 1e-12


def test_the_textbooks_200_permutations_estimate_a_half():
    """Sets of 100 that share 50 of 75 each: 100 of 200 values are equal, give or take; J = 1/2."""
    estimates = _estimates("classic", 200, 75, 50, 400)
    assert estimates.mean() == pytest.approx(0.5, abs=0.01)
    assert 100 in (estimates * 200).round().tolist()


@given(st.lists(st.lists(ITEMS, min_size=6, max_size=6), max_size=5), st.sampled_from([(1, 6), (2, 3), (3, 2), (6, 1)]))
def test_band_keys_hash_the_band_and_its_number(signatures, shape):
    """One key for each band of each signature, in order, beside the row that it is of."""
    chosen = np.arange(6).reshape(shape)
    rows = np.arange(len(signatures)) * 7
    keys, key_rows = np.zeros(len(signatures) * shape[0], np.uint64), np.zeros(len(signatures) * shape[0], np.int64)
    values = frozen(np.array(signatures, np.uint64).reshape(-1, 6))
    band_keys(values, frozen(rows), chosen, keys, key_rows)
    bands = chosen.tolist()
    expected = [twin.band_key(n, [row[i] for i in band]) for row in signatures for n, band in enumerate(bands)]
    assert expected == keys.tolist()
    assert np.repeat(rows, shape[0]).tolist() == key_rows.tolist()


def test_bands_of_chosen_values_are_the_textbooks():
    """(horse, mouse, ant, dog) and (cat, mouse, ice, shoe), values 1, 3, 4 and 2, 3, 4: no common bucket."""
    words = ["horse", "mouse", "ant", "dog", "cat", "ice", "shoe"]
    one, two = (
        [words.index(w) for w in doc] for doc in (["horse", "mouse", "ant", "dog"], ["cat", "mouse", "ice", "shoe"])
    )
    chosen = np.array([[0, 2, 3], [1, 2, 3]])
    keys, rows = np.zeros(4, np.uint64), np.zeros(4, np.int64)
    band_keys(frozen(np.array([one, two], np.uint64)), frozen(np.array([0, 1])), chosen, keys, rows)
    assert 4 == len(set(keys.tolist()))


def test_the_same_values_in_another_band_are_another_key():
    """Or documents would meet by their first band against the other's second."""
    keys, rows = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    band_keys(frozen(np.ones((1, 4), np.uint64)), frozen(np.array([0])), np.arange(4).reshape(2, 2), keys, rows)
    assert 2 == len(set(keys.tolist()))
