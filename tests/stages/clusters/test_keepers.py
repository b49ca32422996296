"""Greedy over whole meetings, in blocks and threads of any number, and what copies inherit."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.kernels import scores
from nearsame.kernels.buckets import Entries, Meeting
from nearsame.kernels.stamps import Stamps
from nearsame.stages.clusters import keepers
from nearsame.stages.clusters.keepers import NOBODY, Decided, Greedy, inherit
from nearsame.stages.pairs.join import AllPairs
from nearsame.stages.pairs.measures import bound
from tests.examples import share
from tests.oracle.corpora import thresholds
from tests.oracle.decisions import decide, greedy, pairs


def _meeting(sets, rows):
    """Documents of these sets in the order of their priority, where every item is a key."""
    items = sorted(set().union(*sets))
    found = [[items.index(item) for item in sorted(sets[row])] for row in rows]
    flat = np.array([bucket for doc in found for bucket in doc], np.int64)
    entries = Entries(
        np.array(rows, np.int64),
        np.cumsum([0, *map(len, found)]),
        flat,
        np.full(flat.size, -1, np.int32),
        np.searchsorted(np.sort(flat), np.arange(len(items) + 1)),
    )
    hashes = np.array([item for row in rows for item in sorted(sets[row])], np.uint64)
    return Meeting.of(Meeting(entries, hashes, entries.doc_starts).flat())


@st.composite
def priorities(draw, min_size=1):
    """Sets that are not empty, rows by priority, and how many of them are the other side."""
    sets = draw(st.lists(st.frozensets(st.integers(0, 7), min_size=1), min_size=min_size, max_size=12))
    num_against = draw(st.integers(0, len(sets)))
    rows = draw(st.permutations(range(len(sets))))
    return sets, sorted(rows, key=lambda row: row >= num_against), num_against


def _each(threads):
    def each(things, work):
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(work, things)

    return each


def _named(decided):
    columns = (column.tolist() for column in (decided.rows, decided.witnesses, decided.nums, decided.dens))
    return {row: (witness, Fraction(num, den)) for row, witness, num, den in zip(*columns, strict=True)}


@pytest.mark.parametrize("block", [1, 3, 8192])
@given(priorities(), thresholds(), st.booleans(), st.sampled_from([1, 2, 4]))
@settings(max_examples=share(60))
def test_blocks_and_threads_decide_as_one(block, chosen, threshold, within, threads):
    """The witness is the most similar keeper of higher priority; rows come out ascending."""
    sets, rows, num_against = chosen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keepers, "_BLOCK", block)
        rule = Greedy(bound(scores.JACCARD, Fraction(threshold)), num_against, within)
        decided = rule.decide(_meeting(sets, rows), _each(threads), threads)
    expected = greedy(sets, Fraction(threshold), rows, num_against=num_against, within=within)
    assert expected == _named(decided)
    assert sorted(expected) == decided.rows.tolist()


@given(priorities(), thresholds(), st.booleans())
def test_copies_inherit_what_became_of_the_best_of_them(chosen, threshold, within):
    """Its witness where it is removed, itself where it stays; without `within` only one of the other side."""
    sets, rows, num_against = chosen
    best = np.array([next(other for other in rows if sets[other] == sets[row]) for row in range(len(sets))], np.int64)
    distinct = [row for row in rows if best[row] == row]
    rule = Greedy(bound(scores.JACCARD, Fraction(threshold)), num_against, within)
    decided = rule.decide(_meeting(sets, distinct), _each(1), 1)
    found = inherit(decided, best, num_against, within=within)
    assert decide(sets, Fraction(threshold), rows, num_against=num_against, within=within) == _named(found)
    assert sorted(found.rows.tolist()) == found.rows.tolist()


def test_nobody_is_removed_from_nothing():
    """No documents, and documents of which none has a copy."""
    for size in (0, 3):
        assert [] == inherit(NOBODY, np.arange(size), 0, within=True).rows.tolist()


def test_copies_of_the_other_side_stay():
    """Ours go for them; they never go."""
    found = inherit(NOBODY, np.array([0, 0, 0, 3, 3]), 2, within=False)
    assert {2: (0, Fraction(1))} == _named(found)
    assert {2: (0, Fraction(1)), 4: (3, Fraction(1))} == _named(
        inherit(NOBODY, np.array([0, 0, 0, 3, 3]), 2, within=True)
    )


def test_a_copy_of_a_removed_document_has_its_similarity():
    """Not that of the copy to the document which it equals."""
    one = (np.array([value]) for value in (1, 0, 4, 5))
    assert {1: (0, Fraction(4, 5)), 2: (0, Fraction(4, 5))} == _named(
        inherit(Decided(*one), np.array([0, 1, 1]), 0, within=True)
    )


@given(priorities(), thresholds(), st.sampled_from([1, 2, 4]))
def test_all_pairs_of_a_meeting_are_those_of_brute_force(chosen, threshold, threads):
    """As rows a < b, however the documents are numbered."""
    sets, rows, _ = chosen
    found = list(
        AllPairs(bound(scores.JACCARD, Fraction(threshold))).join(_meeting(sets, rows), _each(threads), threads)
    )
    listed = [
        ((a, b), Fraction(num, den))
        for part in found
        for a, b, num, den in zip(*(column.tolist() for column in part[:4]), strict=True)
    ]
    assert pairs(sets, Fraction(threshold)) == dict(listed)
    assert len(dict(listed)) == len(listed)


@given(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 4))
@settings(max_examples=share(40))
def test_a_range_is_shared_out_without_a_gap(low, high, threads):
    """In order, each piece with stamps of its own."""
    low, high = min(low, high), max(low, high)
    found = Stamps(high).run(_each(threads), low, high, threads, lambda a, b, stamps: (a, b, stamps.size))
    assert list(range(low, high)) == [row for a, b, _ in found for row in range(a, b)]
    assert {high} >= {size for *_, size in found}
