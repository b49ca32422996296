"""Shared passages: every long enough common run is covered, nothing else is given."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.passages import common_runs, covered

from nearsame.stages.features.winnow import Winnow
from nearsame.stages.pairs.passages import Side, shared_passages

TOKENS = st.lists(st.integers(0, 2), max_size=40)
ONCE = st.permutations(range(30))


def found(a: list[int], b: list[int], least: int) -> list[tuple[int, int, int]]:
    """The passages of two lists of small numbers, each hashed so that their order is none."""
    winnow = Winnow.finding(least)
    sides = []
    for tokens in (a, b):
        hashes = np.array([token * 0x9E3779B97F4A7C15 % 2**64 for token in tokens], np.uint64)
        sides.append(Side(hashes, *winnow(hashes)))
    return [tuple(run) for run in shared_passages(*sides, winnow.least).tolist()]


@given(a=TOKENS, b=TOKENS, least=st.integers(1, 9))
def test_every_common_run_is_covered(a, b, least):
    """Of texts full of repeats the passages cover just what all common runs cover, and each is one of these."""
    every = common_runs(a, b, least)
    passages = found(a, b, least)
    assert covered(every) == covered(passages)
    assert set(passages) <= set(every)


@given(a=ONCE, b=ONCE, cut=st.tuples(st.integers(0, 30), st.integers(0, 30)), least=st.integers(1, 6))
def test_without_repeats_the_passages_are_all_common_runs(a, b, cut, least):
    """Where no token repeats within a text, nothing is left out."""
    low, high = sorted(cut)
    b = [token for token in b if token not in a[low:high]]
    b[:0] = a[low:high]
    assert sorted(common_runs(a, b, least)) == found(a, b, least)


def test_lines_repeated_in_both_do_not_multiply():
    """A hundred equal lines in both texts are one passage, not a hundred times a hundred."""
    assert [(0, 0, 900)] == found(list(range(9)) * 100, list(range(9)) * 100, 8)


def test_what_stands_thrice_is_found_thrice():
    """A sentence that stands once in one text and three times in the other gives a passage for each."""
    sentence = list(range(10))
    thrice = [*sentence, 100, *sentence, 101, *sentence]
    assert [(0, 0, 10), (0, 11, 10), (0, 22, 10)] == found(sentence, thrice, 8)
