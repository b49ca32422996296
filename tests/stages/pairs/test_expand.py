"""From distinct features to documents: against itertools, with the number known before."""

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.errors import TooManyPairsError
from nearsame.stages.pairs.expand import Groups, PairCount, check_number
from nearsame.stages.pairs.join import JoinedPairs


@st.composite
def groupings(draw):
    """best[row] for some rows: the representative may be any of its group."""
    labels = draw(st.lists(st.integers(0, 4), max_size=10))
    chosen = {}
    for label in set(labels):
        chosen[label] = draw(st.sampled_from([row for row, other in enumerate(labels) if other == label]))
    return np.array([chosen[label] for label in labels], np.int64)


def _members(best):
    groups = defaultdict(list)
    for row, leader in enumerate(best.tolist()):
        groups[leader].append(row)
    return groups


def _listed(found):
    """{(a, b): (similarity, columns …)}, each pair once and a < b."""
    rows = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert len(rows) == len(set(rows))
    assert all(a < b for a, b in rows)
    return dict(zip(rows, zip(found.similarity.tolist(), *found.columns.tolist(), strict=True), strict=True))


@st.composite
def joined(draw):
    """A grouping, some pairs of its representatives, and what is said of a and of b."""
    best = draw(groupings())
    leaders = sorted(set(best.tolist()))
    every = list(combinations(leaders, 2))
    chosen = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    nums = draw(st.lists(st.integers(1, 8), min_size=len(chosen), max_size=len(chosen)))
    a, b = (np.array([pair[side] for pair in chosen], np.int64) for side in range(2))
    return best, JoinedPairs(a, b, np.array(nums, np.int64), np.full(len(nums), 8, np.int64))


@given(joined())
def test_all_pairs_behind_pairs_are_their_product(case):
    """Every member of one group with every one of the other; what is said of a stays with a."""
    best, found = case
    groups = Groups(best, mirror=(1, 0))
    members = _members(best)
    columns = np.stack([found.a, found.b]).astype(float)
    expected = {}
    for a, b, num in zip(found.a.tolist(), found.b.tolist(), found.nums.tolist(), strict=True):
        for x in members[a]:
            for y in members[b]:
                expected[min(x, y), max(x, y)] = (num / 8, *((a, b) if x < y else (b, a)))
    assert expected == _listed(groups.between(found, columns))
    assert len(expected) == groups.num_between(found.a, found.b)


@given(groupings(), st.sampled_from([(), (0,), (1, 0)]))
def test_all_pairs_within_groups_are_combinations(best, mirror):
    """Each once, similarity 1, and so is every share."""
    groups = Groups(best, mirror=mirror)
    expected = {pair for rows in _members(best).values() for pair in combinations(rows, 2)}
    assert dict.fromkeys(expected, (1.0,) * (1 + len(mirror))) == _listed(groups.within())
    assert len(expected) == groups.num_within()


@given(joined())
def test_a_star_pairs_the_best_with_the_others(case):
    """And groups by their best alone."""
    best, found = case
    groups = Groups(best, star=True)
    nothing = np.zeros((0, found.a.size))
    expected = {(min(row, leader), max(row, leader)) for row, leader in enumerate(best.tolist()) if row != leader}
    assert dict.fromkeys(expected, (1.0,)) == _listed(groups.within())
    assert len(expected) == groups.num_within()
    between = {(a, b): (num / 8,) for a, b, num in zip(*(column.tolist() for column in found[:3]), strict=True)}
    assert between == _listed(groups.between(found, nothing))
    assert len(between) == groups.num_between(found.a, found.b)


@given(joined(), st.integers(0, 10))
def test_of_two_sides_only_pairs_across_are_counted_and_expanded(case, num_against):
    """Those of one side do not count against max_pairs, and are not made."""
    best, found = case
    groups = Groups(best, mirror=(1, 0), num_against=num_against)
    every = Groups(best, mirror=(1, 0))
    columns = np.stack([found.a, found.b]).astype(float)
    for made, expected, number in (
        (groups.within(), every.within(), groups.num_within()),
        (groups.between(found, columns), every.between(found, columns), groups.num_between(found.a, found.b)),
    ):
        across = {pair: said for pair, said in _listed(expected).items() if pair[0] < num_against <= pair[1]}
        assert across == _listed(made)
        assert len(across) == number


@given(*[st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(any)] * 2)
def test_one_arithmetic_counts_for_arrays_and_for_columns(one, other):
    """Of whatever can be added and multiplied: pairs within one group, and between two, of one side and of two."""
    first, second = ([(group, *member) for member in _documents(sizes)] for group, sizes in enumerate((one, other)))
    within, between = [*combinations(first, 2)], [(a, b) for a in first for b in second]
    sides = PairCount(across=True)
    assert 2 * sum(a[1] != b[1] for a, b in within) == sides.twice_within(*one)
    assert sum(a[1] != b[1] for a, b in between) == sides.between(one, other)
    size, other_size = len(first), len(second)
    assert 2 * len(within) == PairCount().twice_within(0, size)
    assert len(between) == PairCount().between((0, size), (0, other_size))
    assert 2 * (size - 1) == PairCount(star=True).twice_within(0, size)
    assert [True, True, False] == [count.by_size for count in (sides, PairCount(), PairCount(star=True))]


def _documents(sizes):
    """(side, number) of the documents of a group."""
    return [(side, number) for side, size in enumerate(sizes) for number in range(size)]


@given(groupings(), st.integers(0, 12))
def test_groups_below_a_row_have_no_member_behind_it(best, num_rows):
    """By their representatives; of no rows there is nothing to say."""
    below = Groups(best).below(num_rows)
    if num_rows == 0:
        assert below is None
        return
    members = _members(best)
    assert [max(members[leader]) < num_rows for leader in members] == [bool(below[leader]) for leader in members]


@given(groupings())
def test_sizes_are_those_of_the_groups(best):
    """Zero for those that another represents."""
    members = _members(best)
    assert [len(members[row]) if row in members else 0 for row in range(best.size)] == Groups(best).sizes.tolist()


def test_a_million_equal_documents_are_counted_not_listed():
    """Half a trillion pairs: known at once, and refused."""
    groups = Groups(np.zeros(10**6, np.int64))
    assert 499_999_500_000 == groups.num_within()
    with pytest.raises(TooManyPairsError, match=r"^499,999,500,000 pairs: above max_pairs=100,000,000") as caught:
        check_number(groups.num_within(), 100_000_000, fewer=["raise the threshold", "write a star"])
    assert "Raise max_pairs, raise the threshold or write a star." == caught.value.hint
    assert 999_999 == Groups(np.zeros(10**6, np.int64), star=True).num_within()


def test_as_many_as_wanted_is_not_too_many():
    """The limit itself is allowed."""
    check_number(100, 100)
    with pytest.raises(TooManyPairsError):
        check_number(100.5, 100)
