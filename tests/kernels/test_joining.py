"""The join of sets by size against brute force, and against the pairs that filters leave in any order of documents.

Small universes and sets of few items, so that many are of one size; thresholds that pairs just reach.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.arrow import frozen
from nearsame.kernels import buckets, deciding, joining, scores
from nearsame.stages.pairs.measures import bound
from tests.oracle.corpora import thresholds
from tests.oracle.measures import jaccard

SETS = st.integers(2, 25).flatmap(
    lambda most: st.lists(
        st.frozensets(st.integers(0, most), min_size=1, max_size=3)
        | st.frozensets(st.integers(0, most), min_size=1, max_size=18),
        max_size=12,
    )
)


def _keys(docs, threshold, *, placed, prefix):
    """[(item, place), …] of each, in the order of (how many have it, its number); what only one has is left out."""
    counts = {item: sum(item in doc for doc in docs) for doc in docs for item in doc}
    listed = []
    for doc in docs:
        ordered = sorted(doc, key=lambda item: (counts[item], item))
        length = len(doc) + 1 + (-threshold * len(doc)).__floor__() if prefix else len(doc)
        keys = [(item, place) for place, item in enumerate(ordered[:length]) if counts[item] > 1]
        listed.append(keys if placed else [(item, -1) for item, _ in keys])
    return listed


def _meeting(docs, listed, beside=None):
    """The documents by number, in the buckets of their keys; `beside` are second lists."""
    names = sorted({item for keys in listed for item, _ in keys})
    flat = [(names.index(item), place) for keys in listed for item, place in keys]
    bucket_starts = np.cumsum([0, *(sum(bucket == b for b, _ in flat) for bucket in range(len(names)))])
    lists = [sorted(doc) for doc in docs] + (beside or [])
    return buckets.Meeting.of((
        np.arange(len(docs)), np.cumsum([0, *map(len, listed)]), np.array([bucket for bucket, _ in flat], np.int64),
        np.array([place for _, place in flat], np.int32), bucket_starts,
        np.array([item for items in lists for item in items], np.uint64), np.cumsum([0, *map(len, lists)]),
    ))  # fmt: skip


def _joined(meeting, limit, parts, room=4):
    """{(a, b): similarity}, of parts of the ranks, and what it took; what does not fit begins anew."""
    num, found, work = meeting.entries.rows.size, [], deciding.Work.room()
    ranked = joining.by_size(meeting, limit, np.empty)
    for first, high in parts:
        low, stamps = first, np.zeros(num, np.int32)
        while low < high:
            out = deciding.PairRoom(*(np.empty(room, np.int64) for _ in range(4)))
            start, arguments = low, (ranked, *meeting[1:], limit, stamps, out, work)
            low, filled = joining.pairs_of_ranks(start, high, *arguments)
            found += zip(*(column[:filled].tolist() for column in out), strict=True)
            room += 3 * (low == start)
    pairs = {(a, b): Fraction(shared, union) for a, b, shared, union in found}
    assert len(pairs) == len(found)
    return pairs, deciding.Work.of(work)


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(("placed", "prefix"), [(True, True), (False, True), (True, False), (False, False)])
@given(docs=SETS, threshold=thresholds(), data=st.data())
def test_pairs_are_those_of_brute_force(*, is_long, placed, prefix, docs, threshold, data):
    """Each once, whatever is known of keys, wherever ranks are cut; and places leave what they always do."""
    limit = Fraction(threshold)
    met = sorted({jaccard(a, b) for a, b in combinations(docs, 2)} - {0})
    if met and data.draw(st.booleans()):
        limit = data.draw(st.sampled_from(met))  # that pairs just reach
    meeting = _meeting(docs, _keys(docs, limit, placed=placed, prefix=prefix))
    cut, jaccard_bound = data.draw(st.integers(0, len(docs))), bound(scores.JACCARD, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "_SHORT", 0 if is_long else 64)  # whether sets are copied
        parts = [(cut, len(docs)), (0, cut)]
        pairs, work = _joined(meeting, jaccard_bound, parts, data.draw(st.integers(1, 4)))
    every = {(a, b): jaccard(docs[a], docs[b]) for b in range(len(docs)) for a in range(b)}
    assert {pair: value for pair, value in every.items() if value >= limit} == pairs
    assert len(pairs) <= work.left_by_bits <= work.left_by_places <= work.met
    if placed:
        assert work.left_by_places == _left(meeting, jaccard_bound)


def _left(meeting, limit):
    """Pairs that places leave, by each of two in every bucket."""
    entries, sizes, left = meeting.entries, np.diff(meeting.offsets), set()
    owners = np.repeat(np.arange(entries.rows.size), np.diff(entries.doc_starts))
    for bucket in range(entries.bucket_starts.size - 1):
        here = np.flatnonzero(entries.doc_buckets == bucket)
        for i, j in combinations(here.tolist(), 2):
            a, b = (
                (int(sizes[owners[e]]), int(deciding.standing(limit, sizes[owners[e]], int(entries.doc_places[e]))))
                for e in (i, j)
            )
            if deciding.may_reach(limit, *a, *b):
                left.add((owners[i], owners[j]))
    return len(left)


@given(docs=SETS, threshold=thresholds(), data=st.data())
def test_what_confirms_pairs_stands_apart(docs, threshold, data):
    """Lists of whatever size, not in the order of the sets."""
    others = data.draw(st.lists(st.frozensets(st.integers(0, 9), max_size=4), min_size=len(docs), max_size=len(docs)))
    limit, least = Fraction(threshold), Fraction(1, 2)
    meeting = _meeting(docs, _keys(docs, limit, placed=True, prefix=True), [sorted(other) for other in others])
    asked = scores.Bound(scores.JACCARD, *limit.as_integer_ratio(), scores.JACCARD + scores.APART, 1, 2)
    pairs, _ = _joined(meeting, asked, [(0, len(docs))])
    every = {(a, b): jaccard(docs[a], docs[b]) for b in range(len(docs)) for a in range(b)}
    alike = {pair for pair in every if _alike(*(others[i] for i in pair), least)}
    assert {pair: value for pair, value in every.items() if value >= limit and pair in alike} == pairs


def _alike(one, other, least):
    return len(one & other) >= least * len(one | other)


def test_a_set_without_items_meets_nobody():
    """It has no keys, and is the first by size."""
    docs = [frozenset({1, 2}), frozenset(), frozenset({1, 2})]
    meeting = _meeting(docs, _keys(docs, Fraction(1, 2), placed=True, prefix=True))
    assert {(0, 2): 1} == _joined(meeting, bound(scores.JACCARD, Fraction(1, 2)), [(0, 3)])[0]


def test_of_ranks_the_smaller_and_the_first_come_first():
    """So that a block of them has sets of like size."""
    docs = [frozenset(range(size)) for size in (3, 1, 3, 2, 1)]
    meeting = _meeting(docs, _keys(docs, Fraction(1, 2), placed=True, prefix=True))
    ranked = joining.by_size(meeting, bound(scores.JACCARD, Fraction(1, 2)), np.empty)
    assert ([1, 4, 3, 0, 2], [1, 1, 2, 3, 3], [0, 0, 2, 3, 5]) == tuple(
        column.tolist() for column in (ranked.docs, ranked.sizes, ranked.firsts)
    )
    assert frozen(ranked.items).size == 10
