"""Agreement of pairs and of clusters, against counting by hand."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.stages.pairs.agreement import adjusted_rand, agreement, clusters_of, pack
from tests.oracle.corpora import sets_of_numbers, thresholds
from tests.oracle.decisions import greedy, pairs

PAIRS = st.frozensets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]))
LABELS = st.integers(2, 12).flatmap(
    lambda num: st.tuples(*(st.lists(st.integers(0, 3), min_size=num, max_size=num) for _ in range(2)))
)


def columns(found):
    """Pairs as two arrays, each pair the wrong way round."""
    listed = sorted(found)
    return np.array([b for _, b in listed], np.int64), np.array([a for a, _ in listed], np.int64)


@given(PAIRS, PAIRS)
def test_precision_recall_and_f1_are_those_of_sets(found, true):
    """Whichever way round the pairs stand; nothing found and nothing to be found are no errors."""
    counts = agreement(pack(*columns(found)), pack(*columns(true)))
    both = len(found & true)
    assert (len(found), len(true), both) == counts
    assert (both / len(found) if found else 1.0) == counts.precision
    assert (both / len(true) if true else 1.0) == counts.recall
    harmonic = 2 * counts.precision * counts.recall / (counts.precision + counts.recall or 1)
    assert (harmonic if found and true else float(not (found or true))) == pytest.approx(counts.f1)


def slow_adjusted_rand(labels, others):
    """Hubert and Arabie's index, from the four kinds of pairs of documents."""
    kinds = [(labels[i] == labels[j], others[i] == others[j]) for i, j in combinations(range(len(labels)), 2)]
    tt, tf, ft, ff = (kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False)))
    below = (tt + tf) * (tf + ff) + (tt + ft) * (ft + ff)
    return 2 * (tt * ff - tf * ft) / below if below else 1.0


@given(LABELS)
def test_the_rand_index_is_counted_over_pairs_of_documents(sides):
    """Against the formula over the four kinds of pairs; symmetric; 1 for the same partition under other names."""
    labels, others = (np.array(side) for side in sides)
    index = adjusted_rand(labels, others)
    assert slow_adjusted_rand(*sides) == pytest.approx(index)
    assert index == pytest.approx(adjusted_rand(others, labels))
    assert 1.0 == adjusted_rand(labels, labels + 7)


def test_a_partition_known_from_the_literature():
    """Three against three clusters of six documents: 0.2424 (the example of scikit-learn's manual)."""
    assert 0.2424 == round(adjusted_rand(np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 2, 2])), 4)


@given(sets_of_numbers(), thresholds())
def test_clusters_are_those_of_the_greedy_order(sets, threshold):
    """Each removed document has the most similar keeper before it; the others keep themselves."""
    found = pairs(sets, Fraction(threshold))
    listed = sorted(found)
    a, b = (np.array([pair[side] for pair in listed], np.int64) for side in (0, 1))
    similarity = np.array([float(found[pair]) for pair in listed])
    removed = greedy(sets, Fraction(threshold), range(len(sets)))
    expected = [removed[row][0] if row in removed else row for row in range(len(sets))]
    assert expected == clusters_of(len(sets), a, b, similarity).tolist()
