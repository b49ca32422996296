"""The measures: the textbooks' figures, and what makes a distance one."""

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.stages.pairs import likeness
from tests.oracle import measures as oracle

SETS = st.frozensets(st.integers(0, 6))
VECTORS = st.dictionaries(st.integers(0, 4), st.integers(1, 5), min_size=1)
CODES = st.integers(0, 255)
TEXTS = st.text("ab漢", max_size=6)
TINY = 1e-12

A, B = frozenset({0, 1, 2, 5, 6}), frozenset({0, 2, 3, 5, 7, 9})


def direction(vector: dict[int, int]) -> tuple[tuple[int, Fraction], ...]:
    """What vectors of one direction have in common."""
    return tuple(sorted((item, Fraction(weight, sum(vector.values()))) for item, weight in vector.items()))


DISTANCES = {
    "jaccard": (likeness.jaccard_distance, SETS, lambda x: x),
    "cosine as an angle": (likeness.cosine_angle, VECTORS, direction),
    "euclidean": (likeness.euclidean_distance, VECTORS, lambda x: tuple(sorted(x.items()))),
    "hamming": (likeness.hamming_distance, CODES, lambda x: x),
    "indel": (likeness.indel_distance, TEXTS, lambda x: x),
    "levenshtein": (likeness.levenshtein_distance, TEXTS, lambda x: x),
}


@pytest.mark.parametrize("name", DISTANCES)
@given(data=st.data())
def test_a_distance_is_one(name, data):
    """Never negative, zero for equals and only for them, symmetric, never longer than a detour."""
    distance, points, identity = DISTANCES[name]
    x, y, z = (data.draw(points) for _ in range(3))
    assert distance(x, y) >= 0
    assert (distance(x, y) <= TINY) == (identity(x) == identity(y))
    assert distance(x, x) <= TINY
    assert distance(x, y) == pytest.approx(distance(y, x), abs=TINY)
    assert distance(x, z) <= distance(x, y) + distance(y, z) + TINY


def test_an_edit_distance_by_length_is_none():
    """The textbook's counterexample: from ab to ba it is 1 - or 1/2 of the sum - and by way of aba less."""

    def divided(a: str, b: str) -> Fraction:
        return Fraction(likeness.indel_distance(a, b), max(len(a), len(b)))

    assert Fraction(1) == divided("ab", "ba")
    assert Fraction(2, 3) == divided("ab", "aba") + divided("aba", "ba")

    def by_sum(a: str, b: str) -> Fraction:
        return 1 - likeness.edit_similarity(likeness.indel_distance(a, b), len(a) + len(b))

    assert by_sum("ab", "ba") > by_sum("ab", "aba") + by_sum("aba", "ba")


@given(a=TEXTS, b=TEXTS)
def test_edit_distances_are_those_of_the_recurrence(a, b):
    """Indel and Levenshtein, by the table that defines them."""

    def table(replace: int) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row = [i, *row]
            for j, y in enumerate(b, 1):
                cost = row[j] + (0 if x == y else replace)
                row[j] = min(cost, row[j - 1] + 1, row[j + 1] + 1)
            row.pop()
        return row[-1]

    assert table(2) == likeness.indel_distance(a, b)
    assert table(1) == likeness.levenshtein_distance(a, b)


def test_the_textbook_sets():
    """Three shared of eight; containment both ways; by clusters, five items of ten."""
    assert Fraction(3, 8) == likeness.jaccard(A, B)
    assert (Fraction(3, 5), Fraction(1, 2)) == (likeness.containment(A, B), likeness.containment(B, A))
    assert Fraction(3, 8) == likeness.jaccard(frozenset("abcde"), frozenset("cdefgh"))
    assert Fraction(9, 30) == likeness.cosine_of_sets_squared(A, B)


CLUSTERS = [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}]


def test_jaccard_by_clusters_is_the_textbooks():
    """A touches C1 and C3, B all four: the items of shared clusters over those of touched ones."""
    assert Fraction(1, 2) == likeness.cluster_jaccard(A, B, CLUSTERS)


@given(a=SETS, b=SETS)
def test_jaccard_by_clusters_of_one_is_jaccard(a, b):
    """An item in no cluster is one by itself."""
    assert likeness.jaccard(a, b) == likeness.cluster_jaccard(a, b, [])
    assert likeness.jaccard(a, b) == likeness.cluster_jaccard(a, b, [{item} for item in range(5)])


@given(a=SETS, b=SETS, c=SETS, homes=st.lists(st.integers(0, 2), min_size=7, max_size=7))
def test_jaccard_by_clusters_obeys_the_triangle(a, b, c, homes):
    """It is a Jaccard of larger sets, so one less it is a distance between what they touch."""
    clusters = [{item for item in range(7) if homes[item] == home} for home in range(3)]
    distance = [1 - likeness.cluster_jaccard(x, y, clusters) for x, y in ((a, c), (a, b), (b, c))]
    assert 0 <= distance[0] <= distance[1] + distance[2]


def test_an_item_in_two_clusters_is_an_error():
    """The message names it."""
    with pytest.raises(ConfigError, match="item 2 is in two clusters"):
        likeness.cluster_jaccard(A, B, [{0, 2}, {2, 3}])


@given(a=SETS.filter(bool), b=SETS.filter(bool))
def test_measures_of_sets_are_the_oracles(a, b):
    """Each between 0 and 1, and what its definition says."""
    assert oracle.jaccard(a, b) == likeness.jaccard(a, b)
    assert oracle.containment(a, b) == likeness.containment(a, b)
    assert oracle.cosine_squared(a, b) == likeness.cosine_of_sets_squared(a, b)
    assert likeness.cosine_of_sets_squared(a, b) == likeness.cosine_squared(dict.fromkeys(a, 1), dict.fromkeys(b, 1))


def test_the_cosine_of_term_frequencies():
    """(1, 2)·(2, 1) over √5·√5."""
    a, b = Counter("abb"), Counter("aab")
    assert Fraction(16, 25) == likeness.cosine_squared(a, b)
    assert math.acos(0.8) == pytest.approx(likeness.cosine_angle(a, b))
    assert math.sqrt(2) == pytest.approx(likeness.euclidean_distance(a, b))


@given(a=VECTORS, b=VECTORS)
def test_the_angle_is_bounded_as_goemans_and_williamson_say(a, b):
    """θ/π ≥ 0.878 · (1 - cos θ)/2, the bound on how often random hyperplanes separate two vectors."""
    angle = likeness.cosine_angle(a, b)
    assert angle / math.pi >= 0.878 * (1 - math.cos(angle)) / 2 - TINY


def test_a_hundred_of_two_hundred_permutations_estimate_a_half():
    """With a standard error of √(.5 · .5 / 200)."""
    assert Fraction(1, 2) == likeness.agreement([1] * 200, [1] * 100 + [2] * 100)
    assert math.sqrt(0.25 / 200) == pytest.approx(likeness.agreement_error(Fraction(1, 2), 200))


def test_signatures_of_two_lengths_are_an_error():
    """They come from two recipes."""
    with pytest.raises(ConfigError, match="signatures of 1 and 2 values"):
        likeness.agreement([1], [1, 2])


@pytest.mark.parametrize(
    ("codes", "distance"), [((851459198, 847263864), 4), ((847263864, 984968088), 12), ((851459198, 984968088), 16)]
)
def test_hamming_distances_of_the_cat_sentences(codes, distance):
    """Two sentences about a cat and one about ice cream, 32 bits each."""
    assert distance == likeness.hamming_distance(*codes)


def test_nothing_equals_nothing():
    """Two empty sets, vectors or texts are as alike as can be; one of the two is not alike at all."""
    assert 1 == likeness.jaccard(frozenset(), frozenset()) == likeness.cosine_of_sets_squared(frozenset(), frozenset())
    assert 1 == likeness.cosine_squared({}, {}) == likeness.length_ratio(0, 0) == likeness.edit_similarity(0, 0)
    assert 0 == likeness.jaccard(A, frozenset()) == likeness.cosine_squared({1: 1}, {}) == likeness.length_ratio(0, 3)
    assert 0 == likeness.cosine_of_sets_squared(A, frozenset())
