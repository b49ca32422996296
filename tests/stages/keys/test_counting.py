"""Counting in whole bytes, half bytes and passes says the same as a dictionary, as far as its counters reach."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.stages.keys import prefix
from nearsame.stages.keys.prefix import Counting, CountItems, ItemCounts, plan_counting
from nearsame.stages.pairs import measures

SETS = st.lists(
    st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 40).map(lambda n: n << 56), max_size=30), max_size=25
)
COUNTINGS = st.builds(Counting, st.integers(4, 10), st.booleans(), st.sampled_from([1, 2, 4, 16]))


def features(sets: list[set[int]]) -> pa.RecordBatch:
    """FEATURES of some sets."""
    items = np.array([item for each in sets for item in sorted(each)], np.uint64)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    numbers = pa.array(np.arange(len(sets)))
    return pa.RecordBatch.from_arrays([*[numbers] * 7, arrow.items(items, offsets)], schema=schemas.FEATURES)


def counted(batch: pa.RecordBatch, counting: Counting, number: int, parts: int) -> np.ndarray:
    """The table of one pass, each part counting its share of the slots."""
    fold = CountItems(counting, number)
    state = fold.start()
    for part in range(parts):
        fold.add(state, batch, part, parts)
    return state


@given(st.integers(0, 2**36), st.integers(1 << 15, 2**34))
def test_a_planned_table_fits_and_has_slots_enough(num_items, most_bytes):
    """At most what it may take; a slot for each item, or with half bytes and passes one for two items at least."""
    plan = plan_counting(num_items, most_bytes)
    slots = plan.passes << plan.bits
    assert plan.table_bytes <= most_bytes
    assert slots >= num_items * (0.5 if plan.nibbles else 1)
    assert plan.nibbles or plan.passes == 1
    assert plan.shift >= 0


@pytest.mark.parametrize(
    ("num_items", "most_bytes", "expected"),
    [
        (1 << 20, 1 << 20, Counting(20)),
        ((1 << 20) + 1, 1 << 20, Counting(21, nibbles=True)),
        (1 << 22, 1 << 20, Counting(21, nibbles=True)),
        ((1 << 22) + 2, 1 << 20, Counting(21, nibbles=True, passes=2)),
        (0, 1 << 15, Counting(16, nibbles=True)),
    ],
)
def test_a_table_is_whole_while_it_fits_then_halved_then_filled_in_passes(num_items, most_bytes, expected):
    """The steps, at their edges."""
    assert expected == plan_counting(num_items, most_bytes)


@given(SETS, COUNTINGS, st.integers(1, 5))
def test_counts_are_those_of_a_dictionary(sets, counting, parts):
    """Of each slot, over all passes; counters stop at 255 or 15."""
    slots = Counter(item >> counting.shift for each in sets for item in each)
    most = 15 if counting.nibbles else 255
    batch = features(sets)
    for number in range(counting.passes):
        batch = ItemCounts(counting, number, counted(batch, counting, number, parts))(batch)
    expected = [[min(most, slots[item >> counting.shift]) for item in sorted(each)] for each in sets]
    assert expected == batch.column("counts").to_pylist()
    assert [sorted(each) for each in sets] == [
        [item % 2**64 for item in row] for row in batch.column("items").to_pylist()
    ]


@pytest.mark.parametrize(("nibbles", "most"), [(False, 255), (True, 15)])
def test_counters_stop_where_they_are_full(nibbles, most):
    """300 sets of the same two items."""
    counting = Counting(8, nibbles)
    batch = features([{1, 1 << 63}] * 300)
    counts = ItemCounts(counting, 0, counted(batch, counting, 0, 3))(batch).column("counts").to_pylist()
    assert [[most, most]] * 300 == counts


@given(SETS, SETS, COUNTINGS)
def test_tables_of_two_shares_merge_to_that_of_all(a, b, counting):
    """As on several machines."""
    fold = CountItems(counting)
    merged = fold.merge(counted(features(a), counting, 0, 1), counted(features(b), counting, 0, 1))
    assert counted(features(a + b), counting, 0, 1).tolist() == merged.tolist()


def test_narrowed_features_are_counted_as_their_rows_alone():
    """A list view over the items of others counts only its own."""
    sets = [{1 << 60, 2 << 60}, {3 << 60}, {1 << 60, 4 << 60}]
    whole = features(sets)
    chosen = np.array([True, False, True])
    others = [whole.column(name).filter(pa.array(chosen)) for name in whole.schema.names[:-1]]
    view = arrow.some_lists(whole.column("items"), chosen)
    batch = pa.RecordBatch.from_arrays([*others, view], names=whole.schema.names)
    counting = Counting(6)
    assert prefix.CountItems(counting).start().size == 64
    assert [[2, 1], [2, 1]] == ItemCounts(counting, 0, counted(batch, counting, 0, 2))(batch).column(
        "counts"
    ).to_pylist()


@given(st.lists(SETS, max_size=4), st.integers(1, 3), st.integers(5, 9), st.integers(2, 5), st.integers(0, 3))
def test_batches_counted_together_count_as_each_alone(groups, parts, bits, stretch_bits, spare):
    """Whatever the stretches, the shares and the room in which slots wait; also where all fall into one slot."""
    batches = [features(sets) for sets in groups]
    fold = CountItems(Counting(bits))
    alone, together = fold.start(), fold.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefix, "_LARGE_BITS", 1)
        patch.setattr(prefix, "_STRETCH_BITS", stretch_bits)
        patch.setattr(prefix, "_WAITING_BYTES", (4 << bits >> stretch_bits) * (1 + spare) or 4)
        for part in range(parts):
            fold.add_many(together, batches, part, parts)
            for batch in batches:
                fold.add(alone, batch, part, parts)
    assert np.array_equal(alone, together)


@given(SETS, st.integers(4, 10), st.sampled_from([(1, 2), (4, 5), (1, 1)]), st.booleans())
def test_keys_are_the_same_from_a_table_and_from_a_column_of_counts(sets, bits, threshold, everything):
    """A whole table is read no further than a set has keys to offer."""
    batch, counting = features(sets), Counting(bits)
    counts = ItemCounts(counting, 0, counted(batch, counting, 0, 1))
    shares = measures.shares(measures.bound(measures.JACCARD, Fraction(*threshold)))
    expected = prefix.PrefixKeys(shares, None, everything)(counts(batch))
    assert expected == prefix.PrefixKeys(shares, counts, everything)(batch)
