"""Counts of hashes add up, and are cut in parts that have nothing in common."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.stages.features.tallies import Counts, dealt, summed

HASHES = st.integers(0, 2**64 - 1) | st.integers(0, 20)
COUNTS = st.dictionaries(HASHES, st.integers(1, 9), max_size=20)


def arrays(counts: dict[int, int]) -> Counts:
    """The same, ascending."""
    items = sorted(counts)
    values = [counts[item] for item in items]
    return arrow.frozen(np.array(items, np.uint64)), arrow.frozen(np.array(values, np.int64))


@given(st.lists(COUNTS, max_size=4))
def test_counts_add_up(several: list[dict[int, int]]) -> None:
    """As those of a Counter do, in ascending order."""
    items, counts = summed([arrays(each) for each in several])
    expected: Counter[int] = Counter()
    for each in several:
        expected.update(each)
    assert sorted(expected.items()) == list(zip(items.tolist(), counts.tolist(), strict=True))


@given(COUNTS, COUNTS, st.integers(1, 7))
def test_a_hash_goes_to_one_part_whatever_is_beside_it(one: dict[int, int], other: dict[int, int], parts: int) -> None:
    """Parts are ascending, and together they are all."""
    places: dict[int, int] = {}
    for counts in (one, other):
        found = {number: part[0].tolist() for number, part in dealt(arrays(counts), parts)}
        assert sorted(counts) == sorted(item for items in found.values() for item in items)
        assert all(items == sorted(items) for items in found.values())
        for number, items in found.items():
            assert 0 <= number < parts
            assert all(places.setdefault(item, number) == number for item in items)


def test_hashes_of_one_range_go_to_all_parts() -> None:
    """About as many to each: a share of a table may be a narrow range."""
    items = np.arange(8_000, dtype=np.uint64) + np.uint64(1 << 63)
    sizes = [part[0].size for _, part in dealt((items, np.ones(8_000, np.int64)), 8)]
    assert 8 == len(sizes)
    assert 900 < min(sizes) <= max(sizes) < 1100
