"""What is called frequent decides what it costs, never who meets; and it is what stands in most documents."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.stages.features.frequent import CountOften, SampleCounts
from nearsame.stages.keys.frequent import FrequentItems
from nearsame.stages.keys.prefix import PrefixKeys
from nearsame.stages.pairs.measures import JACCARD, bound, shares
from tests.examples import share
from tests.oracle.measures import jaccard
from tests.stages.keys.test_prefix import SETS, _features


def _tally(rows, fold):
    return fold.add(fold.start(), _features(rows), 0, 1)


@given(SETS, SETS, st.integers(0, 20), st.integers(0, 3), st.fractions(0, 1, max_denominator=20).filter(bool))
@settings(max_examples=share(60))
def test_similar_sets_meet_whatever_is_called_frequent(rows, others, most, least, threshold):
    """Of these documents, or of others."""
    frequent = FrequentItems.of(*CountOften(most, 1, least).joined([_tally(others, CountOften(most, 1))]).counts)
    keys = PrefixKeys(shares(bound(JACCARD, threshold)), frequent)(_features(rows))
    offered = [set() for _ in rows]
    for key, row in zip(arrow.unsigned(arrow.ints(keys["key"])).tolist(), keys["row"].to_pylist(), strict=True):
        offered[row].add(key)
    for a, b in combinations(range(len(rows)), 2):
        if rows[a] and jaccard(set(rows[a]), set(rows[b])) >= threshold:
            assert offered[a] & offered[b]


@given(st.lists(SETS, max_size=4), st.integers(1, 5), st.integers(0, 30), st.integers(1, 3))
@settings(max_examples=share(60))
def test_what_several_count_adds_up_to_what_is_frequent(batches, parts, most, least):
    """Cut by the items, joined piece by piece and then all together: with room for all, nothing else is left out."""
    for room in (1000, most):
        fold, pieces = CountOften(room, 1, least), {}
        for rows in batches:
            for number, piece in fold.cut(_tally(rows, fold), parts):
                pieces.setdefault(number, []).append(piece)
        items, numbers = fold.joined([*map(fold.joined, pieces.values())]).counts
        found = dict(zip(items.tolist(), numbers.tolist(), strict=True))
        counts = Counter(item for rows in batches for items in rows for item in items)
        assert len(found) <= room
        assert found.items() <= {item: number for item, number in counts.items() if number >= least}.items()
        if room == 1000:
            assert sum(number >= least for number in counts.values()) == len(found)


@pytest.mark.parametrize(("sampled", "expected"), [(1, 8), (2, 4), (8, 1)])
def test_the_sample_is_by_row(sampled, expected):
    """Of 8 documents, each with the same item."""
    fold = CountOften(10, sampled)
    assert expected == fold.merge(_tally([[7]] * 8, fold), SampleCounts()).counts[1].sum()
