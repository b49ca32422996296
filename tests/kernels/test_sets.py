"""Sets as ascending arrays, against Python's sets and lists; scratch is never overrun."""

from bisect import bisect_left
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.sets import (
    count_common,
    digest_set,
    digest_sets,
    first_at_least,
    intersect_across,
    intersect_small,
    intersect_sorted,
    mark_repeats,
    same_items,
    sort_distinct,
)
from tests.oracle import mixing as twin

WORDS = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1])
FEW = st.integers(0, 12)
CANARY = 0x5A5A5A5A5A5A5A5A


def _words(values):
    return np.array(values, np.uint64)


def _sorted_distinct(values, *, in_place=False):
    """What the kernel makes of the values, with exactly the scratch that it asks for."""
    n = values.size
    given_values = values.copy()
    spare, out = np.full(n + 4, CANARY, np.uint64), np.full(n + 4, CANARY, np.uint64)
    counts = np.full(2 * n + 6, CANARY, np.int64)
    target = given_values if in_place else out[:n]
    kept = sort_distinct(given_values, n, spare[:n], counts[: 2 * n + 2], target)
    assert [CANARY] * 12 == [*spare[n:].tolist(), *out[n:].tolist(), *counts[2 * n + 2 :].tolist()]
    assert in_place or values.tolist() == given_values.tolist()
    return target[:kept].tolist()


@given(st.lists(WORDS | FEW, max_size=200), st.booleans())
def test_sort_distinct_is_sorted_of_set(values, in_place):
    """Into another array, which leaves the values as they are, or into their own."""
    assert sorted(set(values)) == _sorted_distinct(_words(values), in_place=in_place)


HARD = {
    "all equal": np.full(5000, 7, np.uint64),
    "two values in turn": np.tile(_words([2**63, 1]), 2500),
    "one bucket, descending": np.arange(5000, 0, -1).astype(np.uint64),
    "one bucket, all high": np.uint64(2**64 - 1) - np.arange(5000).astype(np.uint64),
    "two buckets, descending": np.concatenate(
        [np.arange(3000, 0, -1).astype(np.uint64), np.arange(3000, 0, -1).astype(np.uint64) + np.uint64(2**63)]
    ),
    "few distinct": np.random.default_rng(0).integers(0, 9, 5000).astype(np.uint64) << np.uint64(60),
    "half in one bucket": np.concatenate(
        [
            np.random.default_rng(1).integers(0, 2**64, 4000, np.uint64),
            np.random.default_rng(2).integers(0, 2**40, 4000).astype(np.uint64),
        ]
    ),
    "a million": np.random.default_rng(3).integers(0, 2**64, 1_000_000, np.uint64),
    "a million, half repeated": np.random.default_rng(4).integers(0, 2**19, 1_000_000).astype(np.uint64)
    * np.uint64(twin.K0),
}


@pytest.mark.parametrize("name", HARD)
def test_values_that_are_not_spread_are_sorted_all_the_same(name):
    """What the insertion sort would take forever over goes to quicksort."""
    assert np.unique(HARD[name]).tolist() == _sorted_distinct(HARD[name])


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 127, 128, 129, 255, 256, 257])
def test_every_size_around_a_power_of_two_has_room(size):
    """The number of buckets doubles there."""
    for values in (
        np.full(size, 2**64 - 1, np.uint64),
        np.random.default_rng(size).integers(0, 2**64, size, np.uint64),
    ):
        assert np.unique(values).tolist() == _sorted_distinct(values)


@given(st.lists(WORDS | FEW, max_size=60))
def test_the_copies_of_a_value_become_values_of_their_own(values):
    """The first stays as it is; as many distinct values as there were values."""
    marked, spare = _words(values), np.zeros(len(values), np.uint64)
    mark_repeats(marked, len(values), spare)
    expected = [twin.nth_copy(value, nth) for value, times in Counter(values).items() for nth in range(times)]
    assert sorted(expected) == sorted(marked.tolist())
    assert len(values) == len(set(expected))


@given(st.lists(FEW, max_size=40), st.lists(FEW, max_size=40))
def test_marked_bags_share_what_bags_share(one, two):
    """The size of the common part of two multisets."""
    sets = []
    for values in (one, two):
        marked = _words(values)
        mark_repeats(marked, len(values), np.zeros(len(values), np.uint64))
        sets.append(set(marked.tolist()))
    assert (Counter(one) & Counter(two)).total() == len(sets[0] & sets[1])


def test_only_the_first_of_many_is_marked():
    """Beyond `size` nothing is touched."""
    values = _words([5, 5, 5, 1])
    mark_repeats(values, 2, np.zeros(2, np.uint64))
    assert [5, twin.nth_copy(5, 1), 5, 1] == values.tolist()


@given(st.lists(st.lists(WORDS | FEW, max_size=9).map(sorted), max_size=6))
def test_digests_are_their_twins(rows):
    """Of each run, and of all of them at once."""
    values, offsets = frozen(_words([value for row in rows for value in row])), np.cumsum([0, *map(len, rows)])
    out = np.zeros((2, len(rows)), np.int64)
    digest_sets(values, offsets, out)
    for row, start in zip(rows, offsets.tolist(), strict=False):
        assert twin.digest_set(row) == digest_set(values, start, start + len(row))
    assert [twin.digest_set(row) for row in rows] == [tuple(pair) for pair in out.view(np.uint64).T.tolist()]


def test_runs_of_zeros_have_digests_of_their_own():
    """The length counts: {0} is not the empty set, and cut elsewhere the same numbers are other sets."""
    digests = [digest_set(_words([0] * length), 0, length) for length in range(50)]
    assert 50 == len(set(digests))
    assert twin.digest_set([1, 2]) != twin.digest_set([1]) != twin.digest_set([2])


@given(st.sets(FEW | WORDS, max_size=14), st.sets(FEW | WORDS, max_size=14))
def test_what_two_runs_share_is_counted_or_given_up(one, two):
    """With every number that could be needed, by every way to count; from one array and from two."""
    first, second = frozen(_words(sorted(one))), frozen(_words(sorted(two)))
    both = frozen(np.concatenate([first, second]))
    shared = len(one & two)
    for need in range(max(len(one), len(two)) + 3):
        expected = shared if shared >= need else -1
        assert expected == intersect_sorted(both, 0, len(one), len(one), both.size, need)
        assert expected == intersect_across(first, 0, len(one), second, 0, len(two), need)
        assert expected == intersect_small(both, 0, len(one), len(one), both.size, need)[0]
        counted, passed = count_common(first, 0, len(one), second, 0, len(two), need)
        assert (expected, True) == (counted, passed <= len(one) + len(two))
        assert passed >= 2 * shared or counted < 0


@given(st.sets(st.integers(0, 400), max_size=6), st.sets(st.integers(0, 400), min_size=100), st.integers(0, 8))
def test_a_small_run_is_looked_up_in_a_large_one(one, two, need):
    """Sixteen times larger and more: each value is searched for."""
    both = frozen(_words(sorted(one) + sorted(two)))
    shared = len(one & two)
    assert (shared if shared >= need else -1) == intersect_small(both, 0, len(one), len(one), both.size, need)[0]


def test_a_run_is_cut_from_the_middle():
    """Neighbours of the runs do not count."""
    values = frozen(_words([1, 2, 3, 1, 2, 3, 4, 1]))
    assert 1 == intersect_sorted(values, 1, 3, 3, 5, 0)
    assert 1 == intersect_across(values, 1, 2, values, 3, 7, 1)


@given(st.lists(FEW | WORDS, max_size=20).map(sorted), FEW | WORDS, st.data())
def test_the_first_at_least_is_found_by_halving(values, x, data):
    """Within bounds, which are the answer where nothing is there."""
    start = data.draw(st.integers(0, len(values)))
    end = data.draw(st.integers(start, len(values)))
    assert bisect_left(values, x, start, end) == first_at_least(frozen(_words(values)), start, end, np.uint64(x))


@given(st.lists(st.integers(0, 2), max_size=12), st.data())
def test_the_same_items_are_equal_runs(values, data):
    """As slices of a list are."""
    a, a_end, b, b_end = (data.draw(st.integers(0, len(values))) for _ in range(4))
    a, a_end, b, b_end = min(a, a_end), max(a, a_end), min(b, b_end), max(b, b_end)
    assert (values[a:a_end] == values[b:b_end]) == same_items(frozen(_words(values)), a, a_end, b, b_end)
