"""Chains of the rarest items: similar sets share one whatever is split, and places refuse no pair that is similar."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels import deciding
from nearsame.kernels.chains import chain_keys
from nearsame.stages.keys.chains import Splitting, plan_splitting
from nearsame.stages.pairs.measures import JACCARD, bound, shares
from tests.examples import share
from tests.oracle.corpora import thresholds
from tests.oracle.measures import jaccard

SETS = st.lists(st.sets(st.integers(0, 11), min_size=1, max_size=9), min_size=2, max_size=8)
CHAINS = st.tuples(st.integers(1, 3), st.integers(1, 9), st.integers(0, 12))


def _keys(sets: list[set[int]], classes: list[int], threshold: Fraction, chains: Splitting) -> list[dict[int, tuple]]:
    """By set: each of its keys with its place, and whether a pair may begin there."""
    rows = [sorted(items) for items in sets]
    ends = np.cumsum([len(row) for row in rows])
    starts = frozen(ends - [len(row) for row in rows])
    items = np.array([item for row in rows for item in row], np.uint64)
    counts = np.array([classes[item] for row in rows for item in row], np.uint8)
    weights = frozen(np.arange(256, dtype=np.int64))
    room = 4096 * len(rows)
    out = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room, np.uint8)
    filled = chain_keys(
        frozen(items), starts, frozen(ends), frozen(counts), frozen(np.arange(len(rows))),
        shares(bound(JACCARD, threshold)), chains.largest,
        (chains.depth, chains.limit, max(1, len(sets)), weights), out,
    )  # fmt: skip
    found: list[dict[int, tuple]] = [{} for _ in rows]
    for key, row, place, probes in zip(*(column[:filled].tolist() for column in out), strict=True):
        assert key not in found[row]
        found[row][key] = (place, probes)
    return found


def _may_reach(least, a, b):
    """Whether places leave a pair of (size, place)."""
    (size_a, standing_a), (size_b, standing_b) = ((size, deciding.standing(least, size, at)) for size, at in (a, b))
    return deciding.may_reach(least, size_a, standing_a, size_b, standing_b)


@given(SETS, st.lists(st.integers(0, 9), min_size=12, max_size=12), thresholds(), CHAINS)
@settings(max_examples=share(400))
def test_similar_sets_share_a_chain_that_places_leave(sets, drawn, threshold, splitting):
    """Whatever the classes of items are, if only those of an item that two have are above 1."""
    exact = Fraction(threshold)
    shared = [sum(item in items for items in sets) > 1 for item in range(12)]
    classes = [max(2, number) if often else number for number, often in zip(drawn, shared, strict=True)]
    keys = _keys(sets, classes, exact, Splitting(*splitting))
    least = bound(JACCARD, exact)
    for a, b in combinations(range(len(sets)), 2):
        if jaccard(sets[a], sets[b]) < exact:
            continue
        common = keys[a].keys() & keys[b].keys()
        near = [key for key in common if _may_reach(least, *((len(sets[c]), keys[c][key][0]) for c in (a, b)))]
        assert near
        assert any(keys[a][key][1] or keys[b][key][1] for key in near)
        first = [min(keys[c][key][0] for key in common) for c in (a, b)]  # as Spark's joins see it
        assert _may_reach(least, (len(sets[a]), first[0]), (len(sets[b]), first[1]))


@given(SETS, thresholds(), thresholds(), CHAINS)
@settings(max_examples=share(100))
def test_keys_of_a_threshold_hold_those_of_a_higher_one(sets, one, other, splitting):
    """So that a result can be asked for a higher threshold."""
    low, high = sorted([Fraction(one), Fraction(other)])
    few, many = (_keys(sets, [5] * 12, threshold, Splitting(*splitting)) for threshold in (high, low))
    assert all(less.keys() <= more.keys() for less, more in zip(few, many, strict=True))


def test_what_is_split_meets_less():
    """Of all sets of three of twelve items at .5, two that have one item in common do not meet."""
    sets = [set(items) for items in combinations(range(12), 3)]
    meetings = []
    for depth in (1, 2):
        keys = _keys(sets, [55] * 12, Fraction(1, 2), Splitting(depth, 2, 12))
        meetings.append(sum(len(one.keys() & other.keys()) for one, other in combinations(keys, 2)))
    shares_two = sum(len(one & other) == 2 for one, other in combinations(sets, 2))
    assert meetings[1] == shares_two < meetings[0]


@pytest.mark.parametrize(("mean", "depth"), [(10, 3), (20, 2), (200, None)])
def test_large_sets_have_no_chains(mean, depth):
    """There would be too many of them."""
    splitting = plan_splitting(shares(bound(JACCARD, Fraction(1, 2))), 1000, 1000 * mean)
    assert depth == (splitting and splitting.depth)
