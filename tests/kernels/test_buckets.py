"""Buckets against dictionaries of lists; grouping with digests that collide."""

from collections import defaultdict
from random import Random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels.buckets import (
    Entries,
    Meeting,
    count_entries,
    count_parts,
    deal,
    gather,
    group_equal,
    mark_ranks,
    mark_shared,
    order_entries,
)

KEYS = st.integers(0, 2**64 - 1) | st.integers(0, 5) | st.integers(0, 5).map(lambda part: part << 61)
ENTRIES = st.lists(st.tuples(KEYS, st.integers(0, 50), st.integers(-1, 30), st.booleans()), max_size=30)
KINDS = (np.uint64, np.int64, np.int32, np.uint8)


def _columns(entries):
    return [frozen(np.array([entry[place] for entry in entries], kind)) for place, kind in enumerate(KINDS)]


@given(ENTRIES, st.integers(0, 30))
def test_entries_are_dealt_to_the_parts_of_their_top_bits_in_order(entries, cut):
    """In two batches: each part holds its own, whole, as they came."""
    shift = np.uint64(61)
    counts = np.zeros(9, np.int64)
    batches = [_columns(entries[:cut]), _columns(entries[cut:])]
    for keys, *_ in batches:
        count_parts(keys, shift, counts)
    ends = np.cumsum(counts)
    at, out = ends[:-1].copy(), [np.zeros(len(entries), kind) for kind in KINDS]
    for batch in batches:
        deal(*batch, shift, at, *out)
    assert ends[1:].tolist() == at.tolist()
    parts = defaultdict(list)
    for entry in entries:
        parts[entry[0] >> 61].append(entry)
    assert [entry for part in range(8) for entry in parts[part]] == list(zip(*(c.tolist() for c in out), strict=True))
    assert [sum(len(parts[p]) for p in range(part)) for part in range(9)] == ends.tolist()


@given(ENTRIES, st.randoms(use_true_random=False))
@example([(1, 0, 0, True), (1, 1, 0, False), (2, 0, 1, False), (2, 1, 1, False), (3, 5, 0, True)], Random(0))
def test_buckets_are_keys_that_stand_twice_where_somebody_probes(entries, random):
    """Numbered from 0 in the order of the keys; whoever stands in them keeps row and place."""
    keys, rows, places, probes = _columns(entries)
    order = sorted(range(len(entries)), key=lambda i: (entries[i][0], random.random()))
    out = np.zeros(len(entries), np.int64), np.zeros(len(entries), np.int32), np.zeros(len(entries), np.int64)
    filled, num_buckets = mark_shared(keys, np.array(order, np.int64), rows, places, probes, *out)
    groups = defaultdict(list)
    for i in order:
        groups[entries[i][0]].append(entries[i])
    shared = [group for _, group in sorted(groups.items()) if len(group) > 1 and any(entry[3] for entry in group)]
    expected = [(row, place, bucket) for bucket, group in enumerate(shared) for _, row, place, _ in group]
    assert len(shared) == num_buckets
    assert expected == list(zip(*(column[:filled].tolist() for column in out), strict=True))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(-1, 2**31 - 2)), max_size=40),
    st.permutations(range(6)),
)
def test_entries_are_ordered_by_document_place_and_bucket(entries, ranks):
    """Documents are numbered by priority; place -1, which says nothing, comes first; the greatest does not wrap.

    Buckets are numbered as they are met in that order, and begin where those before them end.
    """
    n, kinds = len(entries), (np.int64, np.int64, np.int32)
    rows, buckets, places = (np.array([entry[i] for entry in entries], kind) for i, kind in enumerate(kinds))
    ranks = np.array(ranks, np.int64)
    by_rank = np.zeros(6, np.bool_)
    mark_ranks(rows, ranks, by_rank)
    chosen = sorted({int(ranks[row]) for row, _, _ in entries})
    assert chosen == np.flatnonzero(by_rank).tolist()
    numbers = np.cumsum(by_rank, dtype=np.int32)
    starts, sizes = np.zeros(len(chosen) + 1, np.int64), np.zeros(10, np.int64)
    count_entries(rows, buckets, ranks, numbers, starts, sizes)
    assert [sum(bucket == b for _, bucket, _ in entries) for b in range(10)] == sizes.tolist()
    starts = np.cumsum(starts)
    out_buckets, out_places, fill = np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(len(chosen), np.int64)
    out = out_buckets.view(np.uint64), out_places, np.zeros(11, np.int64)
    order_entries(rows, buckets, places, ranks, numbers, starts, fill, sizes, *out)
    expected = sorted((ranks[row], place, bucket) for row, bucket, place in entries)
    met = list(dict.fromkeys(bucket for *_, bucket in expected))
    assert [(place, met.index(bucket)) for _, place, bucket in expected] == list(
        zip(out_places.tolist(), out_buckets.tolist(), strict=True)
    )
    ends = np.cumsum([0, *(sum(bucket == b for _, bucket, _ in entries) for b in met)])
    assert ends.tolist() == out[2][: len(met) + 1].tolist()
    assert [sum(ranks[row] == rank for row, _, _ in entries) for rank in chosen] == fill.tolist()


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=6), st.data())
def test_lists_are_gathered_where_they_are_wanted(rows, data):
    """Some of them, in any order, some twice, each to a place of its own."""
    which = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    ends = np.cumsum([len(row) for row in rows]).astype(np.int64)
    starts = ends - [len(row) for row in rows]
    items = frozen(np.array([item for row in rows for item in row], np.uint64))
    sizes = [len(rows[w]) for w in which]
    targets = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    out = np.full(sum(sizes), 99, np.uint64)
    gather(items, frozen(starts), frozen(ends), np.array(which, np.int64), targets, out)
    assert [item for w in which for item in rows[w]] == out.tolist()


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([(1,), (2,), (1, 2), (3,)])), max_size=10),
    st.randoms(use_true_random=False),
)
@example([(0, 0, (1,)), (0, 0, (2,)), (0, 0, (1,)), (0, 0, (2,)), (0, 1, (1,))], Random(0))
def test_equal_digests_are_not_believed(documents, random):
    """Digests of one bit collide all the time: the best row is the first with the same digests and the same items."""
    ranks = list(range(len(documents)))
    random.shuffle(ranks)
    order = sorted(range(len(documents)), key=lambda row: (*documents[row][:2], ranks[row]))
    best = np.arange(len(documents))
    a, b = (np.array([documents[row][part] for row in order], np.int64) for part in range(2))
    offsets = np.cumsum([0, *(len(documents[row][2]) for row in order)])
    items = np.array([item for row in order for item in documents[row][2]], np.uint64)
    group_equal(a, b, np.array(order, np.int64), items, offsets, best)
    expected = [
        min((other for other in order if documents[other] == documents[row]), key=lambda other: ranks[other])
        for row in range(len(documents))
    ]
    assert expected == best.tolist()


def test_a_meeting_comes_back_from_its_arrays():
    """As it went, but nothing in it can be written to."""
    arrays = [np.arange(3), np.arange(4), np.arange(5), np.arange(5, dtype=np.int32), np.arange(2)]
    meeting = Meeting(Entries(*arrays), np.arange(9, dtype=np.uint64), np.arange(4))
    again = Meeting.of(meeting.flat())
    assert [part.tolist() for part in meeting.flat()] == [part.tolist() for part in again.flat()]
    assert not any(part.flags.writeable for part in again.flat())
