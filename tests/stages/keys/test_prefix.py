"""How items are counted decides what it costs, never who meets: every plan, any sharing, one answer."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.kernels import scores
from nearsame.stages.keys.prefix import Counting, CountItems, ItemCounts, PrefixKeys, plan_counting
from nearsame.stages.pairs.measures import bound
from tests.examples import share
from tests.oracle.measures import jaccard

ITEMS = st.integers(0, 2**64 - 1) | st.integers(0, 9).map(lambda n: (n << 60) + n)
SETS = st.lists(st.sets(ITEMS, max_size=9).map(sorted), max_size=7)


def _features(rows):
    n = len(rows)
    items = np.array([item for row in rows for item in row], np.uint64)
    about = [pa.array(np.zeros(n, np.int64)) for _ in range(6)]
    columns = [pa.array(np.arange(n)), *about, arrow.items(items, np.cumsum([0, *map(len, rows)]))]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


def _table(counting, batches, number=0, parts=1):
    fold = CountItems(counting, number)
    state = fold.start()
    for batch in batches:
        for part in range(parts):
            state = fold.add(state, batch, part, parts)
    return state


@given(st.integers(0, 2**36), st.integers(1 << 16, 2**40))
def test_a_plan_fits_the_memory_and_has_slots_enough(num_items, most_bytes):
    """A slot for each item, or in half bytes as many as fit; passes until there is one for every two items."""
    plan = plan_counting(num_items, most_bytes)
    assert plan.table_bytes <= most_bytes
    assert 2 * (plan.passes << plan.bits) >= min(num_items, 1 << 38)
    if not plan.nibbles:
        assert 1 == plan.passes
        assert 1 << plan.bits >= min(num_items, 1 << 38)
    if plan.passes > 1:
        assert 2 * plan.table_bytes > most_bytes


@given(SETS, st.sampled_from([Counting(16), Counting(16, nibbles=True), Counting(16, nibbles=True, passes=4)]))
@settings(max_examples=share(50))
def test_shares_and_merged_tables_count_alike(rows, counting):
    """Any number of threads, each with its share of the slots, and tables of two halves put together."""
    batch = _features(rows)
    middle = len(rows) // 2
    for number in range(counting.passes):
        whole = _table(counting, [batch], number)
        assert np.array_equal(whole, _table(counting, [batch.slice(0, middle), batch.slice(middle)], number, 3))
        halves = [_table(counting, [part], number) for part in (batch.slice(0, middle), batch.slice(middle))]
        assert np.array_equal(whole, CountItems(counting).merge(*halves))


@pytest.mark.parametrize("nibbles", [False, True])
def test_merged_counters_stop_where_they_are_full(nibbles):
    """They do not begin anew."""
    counting = Counting(16, nibbles=nibbles)
    batch = _features([[5]] * 200)
    half = _table(counting, [batch])
    merged = CountItems(counting).merge(half, half)
    assert (15 if nibbles else 255) == merged[0]
    assert 0 == merged[1:].max()


@given(SETS)
@settings(max_examples=share(50))
def test_counts_of_all_passes_are_those_of_one_table(rows):
    """A range of hashes each; what one pass has written the next leaves as it is, of slices too."""
    batch = _features(rows)
    counting = Counting(16, nibbles=True, passes=4)
    counted = batch
    for number in range(4):
        counted = ItemCounts(counting, number, _table(counting, [batch], number))(counted)
    slots = Counter(item >> counting.shift for row in rows for item in row)
    expected = [[min(15, slots[item >> counting.shift]) for item in row] for row in rows]
    assert expected == counted["counts"].to_pylist()
    assert batch["items"].to_pylist() == counted["items"].to_pylist()
    last = ItemCounts(counting, 3, _table(counting, [batch], 3))
    assert expected[1:] == last(counted.slice(1))["counts"].to_pylist()


def _keys(batch, rows, counting, threshold):
    measure = bound(scores.JACCARD, threshold)
    if counting.passes == 1:
        keys = PrefixKeys(measure, ItemCounts(counting, 0, _table(counting, [batch])))(batch)
    else:
        counted = batch
        for number in range(counting.passes):
            counted = ItemCounts(counting, number, _table(counting, [batch], number))(counted)
        keys = PrefixKeys(measure, None)(counted)
    found = [set() for _ in rows]
    for key, row in zip(arrow.unsigned(arrow.ints(keys["key"])).tolist(), keys["row"].to_pylist(), strict=True):
        found[row].add(key)
    return found


@given(SETS, st.fractions(0, 1, max_denominator=20).filter(bool))
@settings(max_examples=share(60))
def test_similar_sets_meet_however_they_were_counted(rows, threshold):
    """A whole table, half bytes, and passes; a key is always an item of its row."""
    batch = _features(rows)
    for counting in (Counting(16), Counting(16, nibbles=True), Counting(16, nibbles=True, passes=2)):
        keys = _keys(batch, rows, counting, threshold)
        assert all(found <= set(row) for found, row in zip(keys, rows, strict=True))
        for a, one in enumerate(rows):
            for b, two in enumerate(rows[:a]):
                if one and two and jaccard(set(one), set(two)) >= threshold:
                    assert keys[a] & keys[b]


def test_what_stands_alone_is_no_key():
    """Ten documents with nothing in common offer nothing at all."""
    rows = [[(10 * i + j) << 56 for j in range(5)] for i in range(5)]
    assert [set()] * 5 == _keys(_features(rows), rows, Counting(16), Fraction(4, 5))
