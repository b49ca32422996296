"""Counting against a Counter, prefixes against sorted lists, and the theorem that the exact join stands on."""

import itertools
from collections import Counter
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.prefixes import (
    Shares,
    add_counts,
    add_nibbles,
    add_waiting,
    count_frequent,
    deal_counts,
    find_full,
    find_shared,
    look_up,
    look_up_until_alone,
    mark_alone,
    prefix_keys,
    write_classes,
)
from nearsame.stages.pairs import measures
from tests.oracle.corpora import thresholds
from tests.oracle.measures import containment, cosine, jaccard

NO_CLASSES = tuple(frozen(np.zeros(0, kind)) for kind in (np.int64, np.uint64, np.uint8))
BITS = 5  # of the tables here: slots are the top five bits
HASHES = st.integers(0, 2**64 - 1) | st.integers(0, 31).map(lambda slot: slot << 59) | st.just(2**64 - 1)
LARGER = st.fractions("1/50", 1, max_denominator=2 * 10**9)  # 2t/(1 + t) of any threshold; products fit 64 bits
SETS = st.lists(st.sets(HASHES, max_size=12).map(sorted), max_size=8)


def _flat(rows, gap=0):
    """The rows one behind the other, with strangers between them: (items, starts, ends)."""
    items, starts, ends = [], [], []
    for row in rows:
        items += [3 << 61] * gap
        starts.append(len(items))
        items += row
        ends.append(len(items))
    return (
        frozen(np.array(items, np.uint64)),
        frozen(np.array(starts, np.int64)),
        frozen(np.array(ends, np.int64)),
    )


def _nibbles(table):
    return [value for byte in table.tolist() for value in (byte & 15, byte >> 4)]


@given(SETS, st.integers(0, 2), st.lists(st.integers(0, 16), max_size=4))
def test_counts_are_those_of_a_counter_whoever_counts(rows, gap, cuts):
    """Shares of the slots, each by itself, add up to all; what stands between the lists is not counted."""
    lists = _flat(rows, gap)
    shift = np.uint64(64 - BITS)
    bytes_, halves = np.zeros(1 << BITS, np.uint8), np.zeros(1 << BITS - 1, np.uint8)
    edges = [0, *sorted(2 * cut for cut in cuts), 32]
    for low, high in itertools.pairwise(edges):
        add_counts(*lists, np.uint64(0), shift, low, high, bytes_)
        add_nibbles(*lists, np.uint64(0), shift, low, high, halves)
    counted = Counter(item >> 64 - BITS for row in rows for item in row)
    assert [counted[slot] for slot in range(32)] == bytes_.tolist()
    assert [min(15, counted[slot]) for slot in range(32)] == _nibbles(halves)


@given(SETS, st.integers(0, 3))
def test_a_pass_counts_its_own_range_of_hashes(rows, number):
    """Of four passes with a quarter of the hashes each: the slots of all, at four times the resolution."""
    shift = 64 - BITS - 2
    base = np.uint64(number << (shift + BITS))
    table, halves = np.zeros(1 << BITS, np.uint8), np.zeros(1 << BITS - 1, np.uint8)
    add_counts(*_flat(rows), base, np.uint64(shift), 0, 32, table)
    add_nibbles(*_flat(rows), base, np.uint64(shift), 0, 32, halves)
    counted = Counter(item >> shift for row in rows for item in row)
    expected = [counted[32 * number + slot] for slot in range(32)]
    assert expected == table.tolist()
    assert [min(15, count) for count in expected] == _nibbles(halves)


@pytest.mark.parametrize("times", [14, 15, 16, 254, 255, 256, 300])
def test_counters_stop_where_they_are_full(times):
    """At 255, and at 15 in half bytes, whose other half is left alone."""
    lists = _flat([[7 << 59, 2**64 - 1]] * times)
    shift = np.uint64(59)
    table, halves = np.zeros(32, np.uint8), np.zeros(16, np.uint8)
    add_counts(*lists, np.uint64(0), shift, 0, 32, table)
    add_nibbles(*lists, np.uint64(0), shift, 0, 32, halves)
    assert {7: min(times, 255), 31: min(times, 255)} == {slot: n for slot, n in enumerate(table.tolist()) if n}
    assert {7: min(times, 15), 31: min(times, 15)} == {slot: n for slot, n in enumerate(_nibbles(halves)) if n}


@pytest.mark.parametrize("parts", [1, 3])
def test_a_table_of_millions_of_slots_is_gone_through_in_stretches(parts):
    """Of two million slots each, with a cursor for each set; shares need not begin where stretches do."""
    rows = np.sort(np.random.default_rng(5).integers(0, 2**64, (40, 500), np.uint64), axis=1)
    rows[7] = rows[8]
    items, shift, slots = frozen(rows.ravel()), np.uint64(41), 1 << 23
    ends = frozen(np.arange(500, 20_001, 500))
    lists = items, frozen(ends - 500), ends
    table, halves = np.zeros(slots, np.uint8), np.zeros(slots >> 1, np.uint8)
    for part in range(parts):
        low, high = (2 * (edge * (slots >> 1) // parts) for edge in (part, part + 1))
        add_counts(*lists, np.uint64(0), shift, low, high, table)
        add_nibbles(*lists, np.uint64(0), shift, low, high, halves)
    expected = np.bincount((items >> shift).astype(np.int64), minlength=slots)
    assert np.array_equal(expected, table)
    assert np.array_equal(expected, np.stack([halves & 15, halves >> 4], axis=1).ravel())
    for nibbles, counted in ((False, table), (True, halves)):
        counts = np.zeros(20_000, np.uint8)
        look_up(*lists, np.uint64(0), shift, slots, nibbles, counted, NO_CLASSES, counts, lists[1])
        assert np.array_equal(expected[(items >> shift).astype(np.int64)], counts)


@given(SETS, st.booleans(), st.integers(0, 2), st.randoms(use_true_random=False))
def test_what_is_looked_up_is_what_was_counted(rows, nibbles, gap, random):
    """Over all passes, each writing where its hashes are; the lists may be views, in any order, and overlap."""
    items, starts, ends = _flat(rows, gap)
    chosen = [random.randrange(len(rows)) for _ in range(5)] if rows else []
    views = items, frozen(starts[chosen]), frozen(ends[chosen])
    shift = np.uint64(64 - BITS - 1)
    sizes = (ends - starts)[chosen]
    places = frozen((np.cumsum(sizes) - sizes).astype(np.int64))
    counts = np.full(int(sizes.sum()), 77, np.uint8)
    for number in range(2):
        base = np.uint64(number << 63)
        table = np.zeros(16 if nibbles else 32, np.uint8)
        (add_nibbles if nibbles else add_counts)(items, starts, ends, base, shift, 0, 32, table)
        look_up(*views, base, shift, 32, nibbles, table, NO_CLASSES, counts, places)
    counted = Counter(item >> int(shift) for row in rows for item in row)
    most = 15 if nibbles else 255
    assert [min(most, counted[item >> int(shift)]) for i in chosen for item in rows[i]] == counts.tolist()


@given(st.lists(st.sampled_from([0, 1, 1, 2, 3, 127, 128, 129, 254, 255]), max_size=200))
def test_a_bit_says_which_slots_are_alone(counters):
    """Of any counters, also those whose highest bit is set; behind the last slot stands no bit."""
    marks = np.full(4, 99, np.uint64)
    mark_alone(frozen(np.array(counters, np.uint8)), marks)
    bits = [int(marks[slot // 64]) >> (slot % 64) & 1 for slot in range(256)]
    assert [*(int(count <= 1) for count in counters), *[0] * (256 - len(counters))] == bits


@given(
    SETS, st.lists(st.sampled_from([0, 1, 1, 1, 2, 9, 255]), min_size=64, max_size=64), thresholds(), st.integers(0, 2)
)
def test_sets_that_may_have_keys_are_looked_up_and_others_are_not(rows, counters, threshold, gap):
    """Whoever has fewer items alone than its prefix is long has all its counts; the others have none."""
    items, starts, ends = _flat(rows, gap)
    table, shift, sizes = frozen(np.array(counters, np.uint8)), np.uint64(58), ends - starts
    places = frozen((np.cumsum(sizes) - sizes).astype(np.int64))
    alone, counts, shares = np.zeros(1, np.uint64), np.zeros(int(sizes.sum()), np.uint8), _shares(Fraction(threshold))
    mark_alone(table, alone)
    look_up_until_alone(items, starts, ends, shift, shares, frozen(alone), table, counts, places)
    expected = []
    for row in rows:
        own = [counters[item >> 58] for item in row]
        length = len(row) - ceil(Fraction(shares.p, shares.q) * len(row)) + 1
        expected += own if sum(count <= 1 for count in own) < length else [0] * len(row)
    assert expected == counts.tolist()


@given(
    st.lists(st.integers(0, 70) | st.just(255), min_size=256, max_size=256), st.booleans(), st.integers(0, 256), SETS
)
def test_items_of_full_slots_are_counted_by_themselves(counters, nibbles, cut, rows):
    """Their slots are numbered in order; shares of the slots add up; each gets its class, and so do all others."""
    full = 15 if nibbles else 255
    slots = [min(full, count) for count in counters]
    table = np.array(slots, np.uint8)
    if nibbles:
        table = table[::2] | table[1::2] << 4
    firsts, marks = np.zeros(4, np.int64), np.zeros(4, np.uint64)
    number = {slot: k for k, slot in enumerate(slot for slot, count in enumerate(slots) if count == full)}
    assert (len(number), sum(slots) - full * len(number)) == find_full(256, nibbles, table, firsts, marks)
    lists, base, shift = _flat(rows), np.uint64(1 << 61), np.uint64(53)
    out = np.zeros(len(number), np.int64)
    for low, high in ((0, cut), (cut, 256)):
        count_frequent(*lists, base, shift, low, high, firsts, marks, out)
    of_pass = [item - int(base) >> 53 for row in rows for item in row if 0 <= item - int(base) < 256 << 53]
    counted = Counter(number[slot] for slot in of_pass if slot in number)
    assert [counted[k] for k in range(len(number))] == out.tolist()

    classes = np.array([100 + k % 100 for k in range(len(number))], np.uint8)
    expected = [int(classes[number[slot]]) if slot in number else slots[slot] // 2 for slot in range(256)]
    if not nibbles:
        write_classes(table, np.arange(255, dtype=np.uint8) // 2, classes)
        assert expected == table.tolist()
        return
    items = frozen((np.arange(256, dtype=np.uint64) << shift) + base)
    found = np.zeros(256, np.uint8)
    one = frozen(np.zeros(1, np.int64)), frozen(np.full(1, 256))
    look_up(items, *one, base, shift, 256, nibbles, table, (firsts, marks, classes), found, one[0])
    assert [classes[number[slot]] if slot in number else slots[slot] for slot in range(256)] == found.tolist()


def _shares(threshold, kind=measures.JACCARD):
    return measures.shares(measures.bound(kind, threshold))


def _keys(rows, counts, shares, *, everything=False):
    """(key, row, place, probes) of each entry; the counts of each set stand at places of their own."""
    items, starts, ends = _flat(rows, 1)
    sizes = ends - starts
    begins = (np.cumsum(sizes) - sizes + 2 * np.arange(len(rows))).astype(np.int64)
    table = np.full(int(sizes.sum()) + 2 * len(rows), 99, np.uint8)
    for row, begin in zip(rows, begins.tolist(), strict=True):
        table[begin : begin + len(row)] = [counts[item] for item in row]
    most = int(sizes.sum())
    out = np.zeros(most, np.uint64), np.zeros(most, np.int64), np.zeros(most, np.int32), np.zeros(most, np.uint8)
    filled = prefix_keys(
        items, starts, ends, frozen(table), frozen(begins), frozen(np.arange(len(rows)) * 3), shares, everything, *out
    )
    return [tuple(entry) for entry in zip(*(column[:filled].tolist() for column in out), strict=True)]


def _expected(rows, counts, shares, *, everything):
    share, larger = Fraction(shares.p, shares.q), Fraction(shares.larger_p, shares.larger_q)
    found = []
    for number, row in enumerate(rows):
        ordered = sorted(row, key=lambda item: (max(1, counts[item]), item))
        n = len(row)
        length = n if everything else n + 1 - ceil(share * n)
        short = n - ceil(larger * n)
        found += [
            (item, 3 * number, place, int(place <= short))
            for place, item in enumerate(ordered[:length])
            if counts[item] > 1
        ]
    return found


@given(
    st.lists(st.sets(st.integers(0, 40) | HASHES, max_size=30).map(sorted), max_size=6),
    thresholds(),
    st.booleans(),
    st.data(),
)
def test_keys_are_the_rarest_items_with_their_places(rows, threshold, everything, data):
    """By (count, hash); those that stand alone use up their places and are left out; the counts may be anything."""
    known = sorted({item for row in rows for item in row})
    count = st.integers(1, 4) | st.sampled_from([0, 1, 2, 254, 255])
    counts = dict(zip(known, data.draw(st.lists(count, min_size=len(known), max_size=len(known))), strict=True))
    shares = Shares(*Fraction(threshold).as_integer_ratio(), *data.draw(LARGER).as_integer_ratio())
    expected = _expected(rows, counts, shares, everything=everything)
    assert sorted(expected) == sorted(_keys(rows, counts, shares, everything=everything))
    assert [row for _, row, _, _ in expected] == [
        row for _, row, _, _ in _keys(rows, counts, shares, everything=everything)
    ]


@st.composite
def near_sets(draw):
    """Sets of some size that differ in a few items, and how often each item is said to occur."""
    base = draw(st.sets(st.integers(0, 60), min_size=1, max_size=30))
    rows = []
    for _ in range(draw(st.integers(2, 5))):
        gone, new = draw(st.sets(st.integers(0, 60), max_size=5)), draw(st.sets(st.integers(0, 60), max_size=5))
        rows.append(sorted(base - gone | new))
    return rows


def _counted(rows, slots):
    """Counts as a table of few slots has them: never too low."""
    counted = Counter(item % slots for row in rows for item in row)
    return {item: min(255, counted[item % slots]) for row in rows for item in row}


MEASURES = {"jaccard": (measures.JACCARD, lambda a, b, _: jaccard(a, b)), "cosine": (measures.COSINE, cosine)}


@pytest.mark.parametrize("measure", MEASURES)
@given(near_sets(), st.sampled_from([1, 7, 64]), st.fractions(0, 1, max_denominator=60).filter(bool), st.data())
def test_similar_sets_share_a_key_at_which_one_of_them_probes(measure, rows, slots, threshold, data):
    """Whatever the threshold, one that a pair just reaches above all, and however much is over-counted."""
    kind, similarity = MEASURES[measure]
    met = sorted({similarity(set(a), set(b), Fraction(0)) for a in rows for b in rows if a and b} - {0})
    threshold = data.draw(st.sampled_from(met)) if met and data.draw(st.booleans()) else threshold
    entries = _keys(rows, _counted(rows, slots), _shares(threshold, kind))
    probing = {key for key, _, _, probes in entries if probes}
    keys = [{key for key, row, _, _ in entries if row == 3 * number} for number in range(len(rows))]
    where = {(key, row // 3): (place, probes) for key, row, place, probes in entries}
    for a, one in enumerate(rows):
        for b, two in enumerate(rows[:a]):
            if not (one and two) or similarity(set(one), set(two), threshold) < threshold:
                continue
            shared = keys[a] & keys[b]
            assert shared & probing
            smaller = a if len(one) <= len(two) else b
            first = min(shared, key=lambda key: where[key, smaller])
            assert where[first, smaller][1]
            assert first == min(shared, key=lambda key: where[key, a]) == min(shared, key=lambda key: where[key, b])


@given(near_sets(), st.fractions(0, 1, max_denominator=60).filter(bool))
def test_a_contained_set_probes_at_a_key_that_its_container_offers(rows, threshold):
    """Where everything of count two and more is offered."""
    entries = _keys(rows, _counted(rows, 64), _shares(threshold, measures.CONTAINMENT), everything=True)
    offered = {(key, row // 3): probes for key, row, _, probes in entries}
    for a, one in enumerate(rows):
        for b, two in enumerate(rows):
            if a != b and one and containment(set(one), set(two)) >= threshold:
                assert any(offered.get((key, a)) and (key, b) in offered for key in one)


@given(SETS, st.integers(0, 2), st.integers(1, 3), st.booleans(), st.lists(st.integers(0, 13), min_size=8, max_size=8))
def test_what_waits_is_counted_as_at_once_and_up_to_two_where_that_is_enough(rows, gap, room, twice, least):
    """Stretches of four slots, lists of any room; of the small counters it is known who was counted twice."""
    items, starts, ends = _flat(rows, gap)
    shift, low, high, bits = np.uint64(64 - BITS), 4, 28, 2
    table = np.zeros(1 << BITS >> 2 if twice else 1 << BITS, np.uint8)
    waiting, numbers = np.zeros((6, room), np.uint32), np.zeros(6, np.int64)
    deal_counts(items, starts, ends, shift, low, high, bits, waiting, numbers, twice, table)
    add_waiting(low, bits, waiting, numbers, twice, table)
    slots = Counter(slot for row in rows for item in row if low <= (slot := item >> 64 - BITS) < high)
    counted = [value >> lane & 3 for value in table.tolist() for lane in (0, 2, 4, 6)] if twice else table.tolist()
    assert [min(slots[slot], 2 if twice else 255) for slot in range(1 << BITS)] == counted
    if twice:
        out, wanted = np.zeros(len(rows), np.bool_), frozen(np.array(least[: len(rows)], np.int64))
        find_shared(items, starts, ends, shift, wanted, table, out)
        shared = [sum(slots[item >> 64 - BITS] > 1 for item in row) for row in rows]
        assert [number >= enough for number, enough in zip(shared, least, strict=False)] == out.tolist()
