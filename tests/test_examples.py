"""The worked examples of the textbooks and slides that nearsame comes from, as far as it does them.

Where a source slipped, the right value stands here with the printed one beside it.
"""

from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest

import nearsame as ns
from tests.oracle.measures import band_chance, containment, jaccard
from tests.oracle.shingles import shingle_list, shingles
from tests.oracle.tokens import tokens

ROSE = "a rose is a rose is a rose"
FISH = (
    "Tropical fish include fish found in tropical environments around the world, including both freshwater and salt "
    "water species"
)


def _similarity(one: str, two: str, **settings: object) -> float | None:
    # What nearsame says of two texts; None below any threshold.
    found = ns.pairs([one, two], method=ns.Jaccard(threshold="0.001", **settings)).table
    return found.column("similarity").to_pylist()[0] if found.num_rows else None


def test_a_rose_is_a_bag_of_5_and_a_set_of_3() -> None:
    """Four words a shingle: (a rose is a), (rose is a rose), (is a rose is), the first two twice."""
    words = tokens(ROSE)
    assert 5 == len(shingle_list(words, 4))
    expected = {("a", "rose", "is", "a"), ("rose", "is", "a", "rose"), ("is", "a", "rose", "is")}
    assert expected == shingles(words, 4)
    assert 5 == len(shingles(words, 4, repeats=True))


def test_nearsame_counts_the_rose_as_the_book_does() -> None:
    """Against the text of the three distinct shingles alone: equal as sets, 3 of 5 as bags."""
    once = "a rose is a rose is"  # the three shingles, each once
    assert 1.0 == _similarity(ROSE, once, shingle_size=4)
    assert 3 / 5 == _similarity(ROSE, once, shingle_size=4, repeats=True)


def test_the_earth_is_moving_in_5_characters() -> None:
    """Case and punctuation kept, the spaces count: The_e, he_ea, e_ear, _eart and so on."""
    characters = tokens("The earth is moving.", unit="chars", keep_case=True, keep_punctuation=True)
    found = ["".join(shingle).replace(" ", "_") for shingle in shingle_list(characters, 5)]
    assert ["The_e", "he_ea", "e_ear", "_eart"] == found[:4]
    assert 16 == len(found)


def test_the_cat_sat_on_a_mat_in_2_characters() -> None:
    """Sixteen different pairs, spaces included."""
    found = {"".join(shingle) for shingle in shingles(tokens("the cat sat on a mat", unit="chars"), 2)}
    expected = {"th", "he", "e ", " c", "ca", "at", "t ", " s", "sa", " o", "on", "n ", " a", "a ", " m", "ma"}
    assert expected == found
    # The first half has nine of them: th, he, "e ", " c", ca, at, "t ", " s", sa.
    assert 9 / 16 == _similarity("the cat sat on a mat", "the cat sat", unit="chars", shingle_size=2)


def test_tropical_fish_has_16_shingles_of_3_words() -> None:
    """All different, so nearsame gives the text and its first half the share that they have by counting."""
    words = tokens(FISH)
    assert (18, 16) == (len(words), len(shingles(words, 3)))
    assert ("tropical", "fish", "include") == shingle_list(words, 3)[0]
    half = " ".join(words[:10])
    assert 8 / 16 == _similarity(FISH, half, shingle_size=3)


def test_tropical_fish_without_stop_words_is_13_terms() -> None:
    """With the source's stop list (in, the, and): tropical and fish twice, the others once."""
    words = tokens(FISH, stop=frozenset({"in", "the", "and"}))
    assert {"tropical", "fish"} == {word for word in words if words.count(word) == 2}
    assert 13 == len(set(words))
    assert 15 == len(words)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}, Fraction(3, 8)),
        ({"s1", "s2", "s3", "a1", "a2"}, {"s1", "s2", "s3", "b1", "b2", "b3"}, Fraction(3, 8)),
    ],
    ids=["numbers", "three shared of eight"],
)
def test_three_shared_of_eight(a: set[object], b: set[object], expected: Fraction) -> None:
    """The slides' two sets, by the definition and by nearsame, as ready items and as words."""
    assert expected == jaccard(a, b)
    lists = [sorted(map(str, items)) for items in (a, b)]
    table = pa.table({"items": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.Jaccard(threshold="3/8"), features_column="items")
    assert [float(expected)] == found.table.column("similarity").to_pylist()
    assert float(expected) == _similarity(*map(" ".join, lists), shingle_size=1)


def test_by_clusters_the_two_sets_share_half() -> None:
    """The items of shared clusters over the items of touched clusters: 5 of 10."""
    clusters = [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}]
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    spread = [set().union(*(cluster for cluster in clusters if cluster & items)) for items in (a, b)]
    assert Fraction(5, 10) == jaccard(*spread)
    lists = [[str(item) for item in items] for items in spread]
    table = pa.table({"items": pa.array(lists, pa.list_(pa.string()))})
    found = ns.pairs(table, method=ns.Jaccard(threshold="0.5"), features_column="items")
    assert [0.5] == found.table.column("similarity").to_pylist()


def test_containment_counts_one_side() -> None:
    """A part is contained whole, and resembles the whole by its share of it."""
    part, whole = {1, 2}, {1, 2, 3, 4, 5}
    assert (1, Fraction(2, 5), Fraction(2, 5)) == (
        containment(part, whole),
        containment(whole, part),
        jaccard(part, whole),
    )


@pytest.mark.parametrize(
    ("similarity", "expected", "digits"),
    [
        ("0.2", 0.006, 3),
        ("0.3", 0.0475, 4),  # printed: .047
        ("0.4", 0.186, 3),
        ("0.5", 0.470, 3),
        ("0.6", 0.802, 3),
        ("0.7", 0.975, 3),
        ("0.8", 0.9996, 4),
    ],
)
def test_the_s_curve_of_20_bands_of_5(similarity: str, expected: float, digits: int) -> None:
    """1 - (1 - s^5)^20, as the book tabulates it."""
    assert expected == round(float(band_chance(Fraction(similarity), 20, 5)), digits)


def test_at_08_one_pair_in_3000_is_lost() -> None:
    """One band agrees with .328; that all twenty disagree happens with .00036."""
    assert 0.328 == round(float(band_chance(Fraction(4, 5), 1, 5)), 3)
    lost = 1 - band_chance(Fraction(4, 5), 20, 5)
    assert 0.00036 == round(float(lost), 5)
    assert 2700 < 1 / lost < 3000


def test_fewer_bands_find_fewer_at_every_similarity() -> None:
    """15 bands of 5 against 20 of 5: fewer false positives, more false negatives."""
    for similarity in (Fraction(tenth, 10) for tenth in range(1, 10)):
        assert band_chance(similarity, 15, 5) < band_chance(similarity, 20, 5)
    curve = [band_chance(Fraction(tenth, 10), 10, 5) for tenth in range(11)]
    assert (0, 1) == (curve[0], curve[-1])
    assert all(low < high for low, high in pairwise(curve))


@pytest.mark.parametrize(
    "method",
    [
        ns.Jaccard(threshold=1, shingle_size=1, keep_case=True, keep_punctuation=True, whitespace=True),
        ns.Digest(algorithm="crc32"),
        ns.Digest(algorithm="bytesum"),
        ns.Digest(algorithm="md5"),
        ns.Digest(algorithm="sha256"),
    ],
    ids=["all of the text", "crc32", "bytesum", "md5", "sha256"],
)
def test_exact_duplicates_five_ways(method: ns.Jaccard | ns.Digest) -> None:
    """A checksum that takes two texts for one ("ab" and "ba" have one sum) leads to the same answer as the others."""
    texts = ["ab cd", "ba cd", "ab cd", "ab ce", "ab bd", "ba cd"]
    found = ns.dedup(texts, method=method).removals.select(["row", "witness_row"]).to_pylist()
    assert [{"row": 2, "witness_row": 0}, {"row": 5, "witness_row": 1}] == found


def test_a_million_documents_are_half_a_trillion_comparisons() -> None:
    """10,000 documents: about 50 million; 10^6: 5 · 10^11, six days at a microsecond each."""
    comparisons = {number: number * (number - 1) // 2 for number in (10**4, 10**6)}
    assert (49_995_000, 499_999_500_000) == tuple(comparisons.values())
    assert 6 == round(comparisons[10**6] * 1e-6 / 86_400)
