"""About how many different items there are: near the truth, and the same however batches are cut."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.kernels.hyperloglog import PLACES, mark_longest
from nearsame.stages.features.distinct import DistinctItems


def batch(items: np.ndarray, rows: int = 1) -> pa.RecordBatch:
    """A batch of lists that hold the items one after the other."""
    ends = np.linspace(0, items.size, rows + 1).astype(np.int64)
    return pa.RecordBatch.from_arrays([arrow.items(items, ends)], names=["items"])


def folded(*batches: pa.RecordBatch) -> np.ndarray:
    """The registers of some batches."""
    fold = DistinctItems()
    state = fold.start()
    for each in batches:
        state = fold.add(state, each, 0, 1)
    return state


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=60))
@settings(deadline=None)
def test_a_register_holds_the_longest_run_of_zeros(values):
    """As counted bit by bit in Python."""
    expected = np.zeros(1 << PLACES, np.uint8)
    for value in values:
        rest = value & ((1 << (64 - PLACES)) - 1)
        zeros = (rest & -rest).bit_length() - 1 if rest else 64 - PLACES
        place = value >> (64 - PLACES)
        expected[place] = max(expected[place], zeros + 1)
    found = np.zeros(1 << PLACES, np.uint8)
    items = arrow.frozen(np.array(values, np.uint64))
    mark_longest(items, arrow.frozen(np.array([0])), arrow.frozen(np.array([len(values)])), found)
    assert expected.tolist() == found.tolist()


@pytest.mark.parametrize("number", [0, 1, 100, 5_000, 200_000, 2_000_000])
def test_the_estimate_is_near(number):
    """Within three percent, repeats not counted."""
    items = np.random.default_rng(7).integers(0, 1 << 64, number, np.uint64)
    found = DistinctItems.close(folded(batch(np.concatenate([items, items[: number // 2]]))))
    assert abs(found - number) <= 0.03 * number


def test_parts_and_merges_change_nothing():
    """Counted whole, in rows, in batches or apart and merged."""
    items = np.random.default_rng(8).integers(0, 1 << 64, 1_000, np.uint64)
    whole = folded(batch(items))
    assert whole.tolist() == folded(batch(items, 13)).tolist()
    assert whole.tolist() == DistinctItems().merge(folded(batch(items[:300])), folded(batch(items[300:]))).tolist()
