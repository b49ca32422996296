"""Shared passages: every long enough common run is covered, nothing else is given, and the work is bounded."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.kernels import passages as kernel
from nearsame.stages.pairs import passages
from nearsame.stages.pairs.passages import shared_passages
from tests.oracle.passages import common_runs, covered

TOKENS = st.lists(st.integers(0, 2), max_size=40)
ONCE = st.permutations(range(30))


def hashed(tokens: list[int]) -> np.ndarray:
    """Small numbers as hashes, so that their order is none."""
    return np.array([token * 0x9E3779B97F4A7C15 % 2**64 for token in tokens], np.uint64)


def found(a: list[int], b: list[int], least: int) -> list[tuple[int, int, int]]:
    """The passages of two lists of small numbers."""
    return [tuple(run) for run in shared_passages(hashed(a), hashed(b), least).tolist()]


@given(a=TOKENS, b=TOKENS, least=st.integers(1, 9))
def test_every_common_run_is_covered(a, b, least):
    """Of texts full of repeats the passages cover just what all common runs cover, and each is one of these."""
    every = common_runs(a, b, least)
    passages = found(a, b, least)
    assert covered(every) == covered(passages)
    assert set(passages) <= set(every)


@given(a=TOKENS, b=TOKENS, least=st.integers(1, 9), steps=st.integers(0, 2))
def test_every_common_run_is_covered_when_no_steps_are_left(a, b, least, steps):
    """What the bound cuts is the length of passages that overlap others, never what they cover."""
    every = common_runs(a, b, least)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passages, "STEPS", steps)
        cut = found(a, b, least)
    assert covered(every) == covered(cut)
    for i, j, size in cut:
        assert a[i : i + size] == b[j : j + size]
        assert size >= least


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


@pytest.mark.parametrize("size", [1_000, 10_000, 100_000])
@pytest.mark.parametrize(
    "pair",
    [
        lambda size: ([0, 1] * size, [1, 0] * size),
        lambda size: ([0] * size, ([0] * 40 + [1]) * (size // 41)),
        lambda size: (list(range(9)) * (size // 9) + [20], [21] + list(range(9)) * (size // 9)),
        lambda size: (
            np.random.Generator(np.random.PCG64(1)).integers(0, 2, size).tolist(),
            np.random.Generator(np.random.PCG64(2)).integers(0, 2, size).tolist(),
        ),
    ],
)
def test_the_work_is_proportional_to_the_lengths(pair, size, monkeypatch):
    """The steps that are taken, and all tokens of all passages, stay within a multiple of the tokens."""
    a, b = pair(size)
    taken = []

    def watched(*given):
        left, count = kernel.shared_runs(*given)
        taken.append(given[9] - left)
        return left, count

    monkeypatch.setattr(passages, "kernel", SimpleNamespace(shared_runs=watched, needed_runs=kernel.needed_runs))
    runs = found(a, b, 8)
    tokens = len(a) + len(b)
    assert sum(taken) <= (passages.STEPS + 1) * tokens
    assert sum(length for _, _, length in runs) <= (passages.STEPS + 8) * tokens


def common(a: list[int], b: list[int]) -> int:
    """The length of a longest common subsequence, by the textbook's table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(a=TOKENS, b=TOKENS)
def test_what_is_unmatched_is_all_but_a_longest_common_subsequence(a, b):
    """Where there are no passages, both without what is unmatched are the same, and as long as can be."""
    runs = passages.unmatched(hashed(a), hashed(b), np.zeros((0, 3), np.int64))
    left = [
        [token for at, token in enumerate(side) if not any(first <= at < first + size for first, size in found)]
        for side, found in zip((a, b), runs, strict=True)
    ]
    assert left[0] == left[1]
    assert common(a, b) == len(left[0])


@given(a=TOKENS, b=TOKENS)
def test_no_token_of_a_passage_is_unmatched(a, b):
    """What is unmatched lies outside of passages, on both sides."""
    shared = shared_passages(hashed(a), hashed(b), 2)
    for side, runs in enumerate(passages.unmatched(hashed(a), hashed(b), shared)):
        inside = {at for run in shared.tolist() for at in range(run[side], run[side] + run[2])}
        assert not inside & {at for first, size in runs.tolist() for at in range(first, first + size)}
