"""How items are counted decides what it costs, never who meets: every plan, any sharing, one answer."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import arrow, schemas
from nearsame.stages.keys.prefix import (
    CountFrequent,
    Counting,
    CountItems,
    ItemCounts,
    PrefixKeys,
    class_edges,
    plan_counting,
)
from nearsame.stages.pairs.measures import COSINE, JACCARD, bound, shares
from tests.examples import share
from tests.oracle.measures import cosine_squared, jaccard

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


def _counts(counting, batch, number=0, *, ranked=True):
    """What a pass says of each item, by the same steps as in a run."""
    counts = ItemCounts(counting, number, _table(counting, [batch], number))
    frequent = CountFrequent.of(counts, len(arrow.ints(batch.column("items").values)))
    if frequent is None or not ranked:
        return counts
    state = frequent.start()
    for part in range(3):
        state = frequent.add(state, batch, part, 3)
    return counts.ranked(frequent, state)


def _keys(batch, rows, counting, threshold, *, kind=JACCARD, ranked=True):
    measure = shares(bound(kind, threshold))
    if counting.passes == 1:
        keys = PrefixKeys(measure, _counts(counting, batch, ranked=ranked))(batch)
    else:
        counted = batch
        for number in range(counting.passes):
            counted = _counts(counting, batch, number, ranked=ranked)(counted)
        keys = PrefixKeys(measure, None)(counted)
    found = [set() for _ in rows]
    for key, row in zip(arrow.unsigned(arrow.ints(keys["key"])).tolist(), keys["row"].to_pylist(), strict=True):
        found[row].add(key)
    return found


def _jaccard_reaches(a, b, threshold):
    return jaccard(a, b) >= threshold


def _cosine_reaches(a, b, threshold):
    return cosine_squared(a, b) >= threshold**2


@pytest.mark.parametrize(("kind", "reaches"), [(JACCARD, _jaccard_reaches), (COSINE, _cosine_reaches)])
@given(rows=SETS, threshold=st.fractions(0, 1, max_denominator=20).filter(bool))
@settings(max_examples=share(60))
def test_similar_sets_meet_however_they_were_counted(kind, reaches, rows, threshold):
    """A whole table, half bytes, and passes; a key is always an item of its row."""
    batch = _features(rows)
    for counting in (Counting(16), Counting(16, nibbles=True), Counting(16, nibbles=True, passes=2)):
        keys = _keys(batch, rows, counting, threshold, kind=kind)
        assert all(found <= set(row) for found, row in zip(keys, rows, strict=True))
        for a, one in enumerate(rows):
            for b, two in enumerate(rows[:a]):
                if one and two and reaches(set(one), set(two), threshold):
                    assert keys[a] & keys[b]


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 5), min_size=1).map(sorted), st.integers(1, 400)), min_size=1, max_size=5
    ),
    st.fractions(0, 1, max_denominator=20).filter(bool),
    st.booleans(),
)
@settings(max_examples=share(60))
def test_similar_sets_of_frequent_items_meet(drawn, threshold, nibbles):
    """Of six items, each in hundreds of sets, all of whose counters are full."""
    rows = [[item << 60 for item in row] for row, times in drawn for _ in range(times)]
    batch = _features(rows)
    for counting in (Counting(16, nibbles=nibbles), Counting(16, nibbles=True, passes=2)):
        keys = _keys(batch, rows, counting, threshold)
        different = {tuple(row): found for row, found in zip(rows, keys, strict=True)}
        for one, ours in different.items():
            for two, theirs in different.items():
                if one < two and jaccard(set(one), set(two)) >= threshold:
                    assert ours & theirs


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=12), st.booleans())
@settings(max_examples=share(40))
def test_what_is_more_frequent_is_never_ranked_below(times, nibbles):
    """Sets of one item each: classes ascend with the counts, and stand apart where counts differ by a quarter."""
    rows = [[item << 58] for item, number in enumerate(times) for _ in range(number)]
    counts = _counts(Counting(16, nibbles=nibbles), _features(rows))
    said = np.zeros(len(rows), np.uint8)
    counts.fill(arrow.lists(_features(rows).column("items")), said, np.arange(len(rows)))
    of_item = dict(zip((row[0] for row in rows), said.tolist(), strict=True))
    ranks = sorted((number, of_item[item << 58]) for item, number in enumerate(times))
    full = 15 if nibbles else 255
    ranked = 64 * sum(number for number in times if number >= full) >= len(rows)  # enough stand in slots that are full
    for (fewer, below), (more, above) in itertools.pairwise(ranks):
        assert below <= above
        assert below < above or 4 * more < 5 * fewer + 4 or not ranked


def test_classes_are_counts_up_to_128_and_end_at_the_largest():
    """In 127 steps of one ratio, whatever the largest count is."""
    for most in (1, 128, 255, 256, 1000, 10**5, 10**9, 1 << 40):
        edges = class_edges(most)
        assert 256 == len(set(edges))
        assert list(range(129)) == edges[:129]
        assert edges == sorted(edges)
        assert most <= edges[-1] <= max(1.1 * most, 255)


def test_frequent_items_meet_less_where_the_rarest_come_first():
    """3,000 sets of 12 items by a power law: less than half as many pairs of entries meet as with ties among them."""
    random = np.random.default_rng(1)
    weights = np.arange(1, 401) ** -1.1
    sets = [random.choice(400, 12, replace=False, p=weights / weights.sum()) for _ in range(3000)]
    rows = [sorted((int(item) * 0x9E3779B97F4A7C15) % 2**64 for item in row) for row in sets]
    meeting = []
    for ranked in (True, False):
        keys = _keys(_features(rows), rows, Counting(16), Fraction(1, 2), ranked=ranked)
        meeting.append(sum(number * (number - 1) // 2 for number in Counter(k for row in keys for k in row).values()))
    assert 2 * meeting[0] < meeting[1]


def test_what_stands_alone_is_no_key():
    """Ten documents with nothing in common offer nothing at all."""
    rows = [[(10 * i + j) << 56 for j in range(5)] for i in range(5)]
    assert [set()] * 5 == _keys(_features(rows), rows, Counting(16), Fraction(4, 5))
