"""Broder's fingerprints, against a sorted list; nothing is written behind them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.modp import select_multiples

LAST = 2**64 - 1
WORDS = st.integers(0, LAST) | st.sampled_from([0, 1, 2**63 - 1, 2**63, LAST - 1, LAST])
SETS = st.lists(st.sets(st.integers(0, 40) | WORDS, max_size=20), max_size=6)
MODULI = st.integers(1, 9) | st.sampled_from([2**63 - 1, 2**63, LAST]) | st.integers(1, LAST)
CANARY = 0x5A5A5A5A5A5A5A5A


def _fingerprint(items, modulus, floor):
    """The first items in the order of multiples, then of size: the slow, obvious way."""
    order = sorted(items, key=lambda item: (item % modulus != 0, item))
    multiples = [item for item in items if item % modulus == 0]
    return sorted(order[: max(floor, len(multiples))])


def _selected(rows, modulus, floor, gap=0):
    """What the kernel makes of sets with strangers between them, with room for no more than all their items."""
    items, starts, ends = [], [], []
    for row in rows:
        items += [0] * gap
        starts.append(len(items))
        items += sorted(row)
        ends.append(len(items))
    total = sum(map(len, rows))
    out, out_ends = np.full(total + 3, CANARY, np.uint64), np.full(len(rows) + 3, CANARY, np.int64)
    views = frozen(np.array(items, np.uint64)), frozen(np.array(starts, np.int64)), frozen(np.array(ends, np.int64))
    select_multiples(*views, np.uint64(modulus), floor, out[:total], out_ends[: len(rows) + 1])
    assert [CANARY] * 5 == [*out[total:].tolist(), *out_ends[len(rows) + 1 :].tolist()]
    edges = out_ends[: len(rows) + 1].tolist()
    assert edges[0] == 0
    assert [CANARY] * (total - edges[-1]) == out[edges[-1] : total].tolist()
    return [out[edges[i] : edges[i + 1]].tolist() for i in range(len(rows))]


@given(SETS, MODULI, st.integers(0, 25), st.integers(0, 2))
@example([], 1, 0, 0)
@example([set()], 3, 5, 0)
@example([{0}], LAST, 0, 1)
@example([{0, LAST, LAST - 1}, set(), {0, LAST, LAST - 1}], LAST, 1, 1)
def test_a_fingerprint_is_the_first_items_of_one_order(rows, modulus, floor, gap):
    """All multiples, then the smallest others up to the floor; ascending, and nothing between the sets."""
    assert [_fingerprint(row, modulus, floor) for row in rows] == _selected(rows, modulus, floor, gap)


@pytest.mark.parametrize(
    ("floor", "expected"),
    [(0, [6, 9]), (2, [6, 9]), (3, [1, 6, 9]), (4, [1, 2, 6, 9]), (5, [1, 2, 6, 9, 10]), (9, [1, 2, 6, 9, 10])],
)
def test_what_the_floor_asks_for_is_filled_up_with_the_smallest_others(floor, expected):
    """Multiples count, whatever their size; a set has no more than all its items."""
    assert [expected] == _selected([{1, 2, 6, 9, 10}], 3, floor)


def test_every_item_is_a_multiple_of_one():
    """And only 0 and the modulus itself are multiples of the largest one."""
    assert [[0, 5, LAST]] == _selected([{0, 5, LAST}], 1, 0)
    assert [[0, LAST]] == _selected([{0, 5, LAST}], LAST, 0)
    assert [[5, LAST - 1]] == _selected([{5, LAST - 1}], LAST, 7)
