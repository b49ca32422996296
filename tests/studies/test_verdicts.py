"""Curves, cuts, groups and resamples, against brute force."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.studies import verdicts
from nearsame.studies.verdicts import Verdicts
from tests.examples import share

PAIRS = st.lists(st.tuples(st.sampled_from([0, 0.25, 0.5, 0.5, 1.0]), st.booleans(), st.integers(1, 3)), min_size=1)


def judged(pairs):
    """Verdicts and scores of (score, is true, weight)."""
    scores, is_true, weights = (np.array(column) for column in zip(*pairs, strict=True))
    return scores.astype(float), Verdicts(is_true.astype(bool), weights.astype(float), np.arange(len(pairs)))


@settings(max_examples=share(100))
@given(PAIRS, st.sampled_from([0.0, 0.5]))
def test_a_curve_has_a_line_for_each_score(pairs, floor):
    """Precision and recall at each, by counting; what is below the floor, or nothing, is no threshold."""
    scores, known = judged(pairs)
    lines = verdicts.curve(scores, known, floor).trades()
    assert sorted({score for score, _, _ in pairs if score > 0 and score >= floor}, reverse=True) == [
        line.threshold for line in lines
    ]
    for threshold, precision, recall, f1 in lines:
        found = sum(weight for score, _, weight in pairs if score >= threshold)
        both = sum(weight for score, true, weight in pairs if score >= threshold and true)
        true = sum(weight for _, is_true, weight in pairs if is_true)
        assert both / found == pytest.approx(precision)
        assert (both / true if true else 1.0) == pytest.approx(recall)
        assert 2 * both / (found + true) == pytest.approx(f1)


@settings(max_examples=share(100))
@given(PAIRS)
def test_the_best_threshold_is_the_highest_of_the_best(pairs):
    """No other line has a greater F1, and no higher one the same."""
    scores, known = judged(pairs)
    line = verdicts.curve(scores, known)
    place = verdicts.best(line)
    if place < 0:
        assert not line.thresholds.size
        return
    assert all(f1 < line.f1[place] for f1 in line.f1[:place])
    assert max(line.f1) == line.f1[place]


@settings(max_examples=share(100))
@given(st.fractions(0, 1, max_denominator=50), st.fractions(0, 1, max_denominator=50))
def test_a_cut_parts_two_similarities(one, other):
    """As the product reads it: the upper one is let in, the lower one is not."""
    if one == other:
        return
    above, below = float(max(one, other)), float(min(one, other))
    assert below < Fraction(repr(verdicts.cut_between(above, below))) <= Fraction(above)


@settings(max_examples=share(60))
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=12, max_size=60))
def test_groups_are_pairs_joined_by_documents(pairs):
    """As a plain walk finds them, unless one has more than a fifth of all pairs: then each is alone."""
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    neighbours = {}
    for x, y in pairs:
        neighbours.setdefault(x, set()).add(y)
        neighbours.setdefault(y, set()).add(x)

    def reached(start):
        seen, waiting = {start}, [start]
        while waiting:
            for node in neighbours[waiting.pop()] - seen:
                seen.add(node)
                waiting.append(node)
        return min(seen)

    roots = [reached(x) for x, _ in pairs]
    groups, drawn = verdicts.grouped(a, b, 61)
    if max(roots.count(root) for root in roots) > len(pairs) / 5:
        assert ("single pairs", len(pairs)) == (drawn, len(set(groups.tolist())))
    else:
        assert len(set(zip(roots, groups.tolist(), strict=True))) == len(set(roots)) == len(set(groups.tolist()))


def test_a_long_chain_of_documents_is_one_group():
    """However far its ends are apart."""
    chain = np.arange(3000)
    others = 10_000 + 2 * np.arange(20_000)
    groups, _ = verdicts.grouped(np.append(chain, others), np.append(chain + 1, others + 1), 60_000)
    assert 1 == len(set(groups[:3000].tolist()))


def test_folds_hold_out_each_pair_once_with_its_group():
    """Five of them."""
    known = Verdicts(np.ones(40, bool), np.ones(40), np.arange(40) // 4)
    held = np.stack(list(verdicts.folds(known, 5)))
    assert [1] * 40 == held.sum(axis=0).tolist()
    assert all(len(set(held[:, 4 * group : 4 * group + 4].T.argmax(axis=1))) == 1 for group in range(10))


def test_a_resample_draws_groups_whole():
    """As many as there are; intervals have the value between them, and are narrow where there is much."""
    known = Verdicts(np.arange(400) % 2 == 0, np.ones(400), np.arange(400) // 2)
    for weights in verdicts.resampled(known, 5):
        assert 400 == weights.sum()
        assert (weights[::2] == weights[1::2]).all()
    found = np.arange(400) % 4 == 0
    precision, recall, f1 = verdicts.shares(found, known, 200)
    assert (1.0, 1.0, 1.0) == precision
    assert recall.low < recall.value == 0.5 < recall.high < recall.low + 0.2
    assert f1.low < f1.value < f1.high
    assert pytest.approx(2 / 3) == f1.value
