"""Five ways to equal texts: one answer, and an honest count of what it took."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.stages.pairs.exact_baselines import WAYS
from tests.oracle.corpora import corpora

TEXTS = st.one_of(corpora(), st.lists(st.sampled_from(["a", "ab", "b" * 40, "b" * 39 + "c", "", None]), max_size=12))


def strings(texts):
    """Texts as the ways read them, from a slice that does not begin at 0."""
    return arrow.strings(pa.array(["before", *texts], pa.large_string()).slice(1))


@given(TEXTS)
def test_all_five_find_the_equal_texts(texts):
    """Each text has the first one that equals it; empty ones have none."""
    expected = [texts.index(text) if text else row for row, text in enumerate(texts)]
    assert dict.fromkeys(WAYS, expected) == {name: way(strings(texts)).leaders.tolist() for name, way in WAYS.items()}


@given(TEXTS)
def test_what_is_compared_either_is_equal_or_was_in_vain(texts):
    """Candidates are the found copies and the false candidates; a cryptographic digest needs no comparison."""
    for name, way in WAYS.items():
        found = way(strings(texts))
        equal = int((found.leaders != np.arange(len(texts))).sum())
        assert found.candidates == equal + found.false_candidates, name
        assert 0 == found.false_candidates or name not in ("whole-hash", "sorted-digests")


def test_the_first_way_compares_everything_with_everything():
    """Four different texts: six comparisons, all wasted."""
    assert (6, 6) == WAYS["characters"](strings(["a", "b", "c", "d"]))[1:]


@pytest.mark.parametrize(("name", "false"), [("first-characters", 1), ("whole-hash", 0), ("positions", 1)])
def test_a_hash_of_less_than_the_text_has_false_candidates(name, false):
    """Two long texts that differ in their last letter only: unless it is hashed, they are compared for nothing."""
    long = "the same beginning of two long texts. " * 60
    assert (false, false) == WAYS[name](strings([long + "x", long + "y"]))[1:]
