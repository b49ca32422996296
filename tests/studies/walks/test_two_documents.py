"""ns.explain of two documents: every method's walk ends in what a run decides, and its figures are the oracles'."""

import json
import math
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from tests.oracle import measures
from tests.oracle.shingles import shingle_list
from tests.oracle.simhash import FUNCTIONS, code_of, features_of
from tests.oracle.tokens import tokens

WORDS = st.lists(st.sampled_from(["a", "Rose", "is", "漢", "--", "not", "é"]), max_size=12)
FOX = ("The quick brown fox jumps over the lazy dog", "The fast brown fox jumps over a lazy dog")
METHODS = [
    ns.Jaccard(shingle_size=2, threshold=0.4),
    ns.Cosine(shingle_size=2, threshold=0.5),
    ns.Cosine(shingle_size=1, threshold=0.7, weights="tf"),
    ns.Containment(shingle_size=2, threshold=0.6),
    ns.Containment(shingle_size=1, threshold=0.8, jaccard_floor=0.4),
    ns.MinHash(shingle_size=2, threshold=0.3, num_perm=16, bands=8, rows=2),
    ns.MinHash(shingle_size=1, threshold=0.5, num_perm=16, bands=4, rows=2, verify="estimate", sketch="classic"),
    ns.ModP(shingle_size=1, modulus=3, floor=2, threshold=0.5),
    ns.ModP(shingle_size=2, modulus=1000, floor=0),
    ns.SimHash(k=12),
    ns.SimHash(k=16, bits=128, weights="tf", confirm="jaccard", threshold=0.6),
    ns.Digest(),
    ns.Digest(normalise=True, algorithm="md5"),
    ns.Digest(algorithm="bytesum"),
]


@st.composite
def pairs_of_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts of a few words, often nearly the same."""
    words = draw(WORDS)
    other = draw(st.one_of(st.just(words), st.permutations(words), WORDS))
    return " ".join(words), " ".join([*other, *draw(st.lists(st.sampled_from(["a", "is"]), max_size=1))])


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{method.reports}")
@given(texts=pairs_of_texts())
def test_two_texts_are_near_duplicates_in_the_walk_when_they_are_in_a_run(method, texts):
    """Of all methods, with empty texts, texts without words and copies among them."""
    walk = ns.explain(*texts, method=method)
    assert bool(len(ns.pairs(list(texts), method=method, ties="reading").table)) == walk.answer["together"]["similar"]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: f"{method.name}-{method.reports}")
@pytest.mark.parametrize("texts", [FOX, ("***", "***"), ("", "a"), ("a", "***")], ids=str)
def test_each_side_is_what_a_walk_with_it_alone_says(method, texts):
    """But for keys that only a corpus can tell, and all of it is JSON."""
    alone = type(method)(
        **{k: v for k, v in method.settings.items() if k not in ("confirm", "verify", "jaccard_floor", "threshold")}
    )
    walk = ns.explain(*texts, method=method)
    for side, text in zip("ab", texts, strict=True):
        answer = ns.explain(text, method=alone).answer
        told = ("signature", "binary", "sums", "digest", "sha256", "fingerprint", "shingles")
        assert {name: answer[name] for name in told if name in answer} == {
            name: walk.answer[side][name] for name in told if name in walk.answer[side]
        }
    json.dumps(walk.record())


@given(texts=pairs_of_texts(), size=st.integers(1, 3))
def test_the_measures_of_two_sets_are_the_oracles(texts, size):
    """Jaccard as a fraction, containment both ways, and the estimates' true values."""
    a, b = ({tuple(run) for run in shingle_list(tokens(text), size)} for text in texts)
    if not a or not b:
        return
    jaccard = measures.jaccard(a, b)
    how: dict[str, Any] = {"shingle_size": size}
    assert str(jaccard) == ns.explain(*texts, method=ns.Jaccard(**how)).answer["together"]["exact"]
    inside = ns.explain(*texts, method=ns.Containment(**how)).answer["together"]
    assert [float(measures.containment(*way)) for way in ((a, b), (b, a))] == [inside["a_in_b"], inside["b_in_a"]]
    for method in (ns.MinHash(num_perm=16, bands=4, rows=4, **how), ns.ModP(**how)):
        assert float(jaccard) == ns.explain(*texts, method=method).answer["together"]["jaccard"]


@given(texts=pairs_of_texts(), bits=st.sampled_from([32, 64, 128]))
def test_the_distance_is_that_of_the_oracles_codes(texts, bits):
    """And the similarity the share of the other bits."""

    def hashed(feature: str) -> int:
        return FUNCTIONS["md5"](feature.encode(), bits) % 2**bits

    features = [dict.fromkeys(features_of(text), 1) for text in texts]
    together = ns.explain(*texts, method=ns.SimHash(bits=bits, feature_hash="md5")).answer["together"]
    if not all(features):
        assert together["distance"] is None
        return
    a, b = (code_of(side, hashed, bits, 0) for side in features)
    assert (a ^ b).bit_count() == together["distance"]
    assert math.isclose(math.cos(math.pi * together["distance"] / bits), together["estimate"])


def test_the_prefix_is_in_the_order_of_rarity():
    """What only one has comes before what both have; of 8 shingles at .5 five are the prefix, as the oracle says."""
    walk = ns.explain(*FOX, method=ns.Jaccard(shingle_size=2, threshold=0.5))
    _, rarity, keys, _ = walk.steps
    counts = [row[rarity.columns.index("counted a")] for row in rarity.rows]
    assert sorted(counts) == counts == [1] * 4 + [2] * 4
    assert measures.prefix_length(Fraction(1, 2), 8) == [row[-2] for row in rarity.rows].count("yes") == 5
    assert ["jumps over"] == [row[1] for row in keys.rows]
    assert 1 == walk.answer["together"]["shared_keys"]


def test_a_container_offers_all_and_a_pair_begins_in_the_prefix_of_what_is_contained():
    """Two of five words are their prefix, and ten have them last; a word in common behind it brings nobody together."""
    method = ns.Containment(shingle_size=1)
    walk = ns.explain("a b c d e", "a b c d e f g h i j", method=method)
    _, rarity, keys, verdict = walk.steps
    assert "is similar enough" not in rarity.note
    assert 2 == [row[rarity.columns.index("in prefix a")] for row in rarity.rows].count("yes")
    assert [6, 7, 8, 9, 10] == sorted(row[keys.columns.index("place b")] for row in keys.rows)
    assert "documents that share a key are compared" == verdict.rows[0][-1]
    late = ns.explain("a b c d z", "e f g h z", method=method).steps[-1].rows[0]
    assert "1" == late[1]
    assert late[2].endswith("never compared")


def test_permuted_values_are_a_x_plus_b_and_their_least_is_kept():
    """By plain integers, with the a and b that are shown."""
    walk = ns.explain(*FOX, method=ns.MinHash(sketch="classic", num_perm=8, bands=4, rows=2, shingle_size=2))
    shingles, drawn, permuted, least = walk.steps[:4]
    hashes = {row[0]: int(str(row[2]), 16) for row in shingles.rows}
    for name, *values in permuted.rows:
        for (_, a, b), value in zip(drawn.rows, values, strict=False):
            assert f"{(int(a, 16) * (hashes[name] >> 3) + int(b, 16)) % (2**61 - 1):016x}" == value
    for at, row in enumerate(least.rows[:4], 1):
        assert min(values[at] for values in permuted.rows) == min(row[1:3])


def test_sets_of_given_items_are_the_textbooks():
    """A = {0,1,2,5,6}, B = {0,2,3,5,7,9}: 3/8; three fifths of A are in B, half of B in A."""
    given = [0, 1, 2, 5, 6], [0, 2, 3, 5, 7, 9]
    assert "3/8" == ns.explain(*given, method="jaccard").answer["together"]["exact"]
    inside = ns.explain(*given, method="containment").answer["together"]
    assert (0.6, 0.5) == (inside["a_in_b"], inside["b_in_a"])


def test_zero_mod_p_of_given_numbers_is_the_textbooks():
    """Sixteen numbers mod 4, in their order."""
    numbers = [938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779]
    walk = ns.explain(numbers, method=ns.ModP(modulus=4, floor=0))
    assert [664, 492, 236, 908] == walk.answer["fingerprint"]
    assert [number % 4 for number in numbers] == [row[2] for row in walk.steps[1].rows]


def test_the_angle_is_that_of_the_vectors():
    """Of rounded numbers, so nearly; bits differ with a chance of angle / pi."""
    walk = ns.explain([1.0, 0.0], [1.0, 1.0], method="hyperplane")
    together = walk.answer["together"]
    assert math.isclose(math.pi / 4, together["angle"], abs_tol=1e-4)
    assert abs(together["estimated_angle"] - together["angle"]) < 4 * math.pi * math.sqrt(3 / 16 / 512)
    assert all([int(product > 0) for product in row[1:3]] == [*row[3:5]] for row in walk.steps[1].rows)
    bits = "".join(f"{int(word, 16):064b}"[::-1] for word in walk.answer["b"]["code"])
    assert bits == "".join(str(row[4]) for row in walk.steps[1].rows)


@given(vectors=st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=2, max_size=2))
def test_vectors_are_near_in_the_walk_when_they_are_in_a_run(vectors):
    """Those of zeros are near to none."""
    method = ns.Hyperplane(threshold=0.8, bits=64)
    found = ns.pairs(pa.table({"vector": [list(map(float, vector)) for vector in vectors]}), method=method)
    assert bool(len(found.table)) == ns.explain(*map(list, vectors), method=method).answer["together"]["similar"]


def test_weights_of_a_corpus_come_from_its_frequencies(tmp_path):
    """With the table of a run, the codes are as far apart as the run found; what is rare weighs more."""
    words = [f"word{number}" for number in range(60)]
    texts = [" ".join(words), " ".join([*words, "rare"]), "word1", "word1 word2"]
    [pair] = ns.pairs(texts[:2] + texts[2:], method=ns.SimHash(weights="tfidf", k=16)).table.to_pylist()
    ns.dedup(texts, method=ns.SimHash(weights="tfidf", k=16)).write(tmp_path / "run")
    [table] = (tmp_path / "run").rglob("frequencies.parquet")
    walk = ns.explain(*texts[:2], method=ns.SimHash(weights="tfidf", k=16, frequencies=str(table)))
    assert 1 - Fraction(walk.answer["together"]["distance"], 64) == Fraction(pair["similarity"])
    weights = {row[1]: row[-1] for row in walk.steps[0].rows}
    assert weights["rare"] > weights["word3"] > weights["word2"] > weights["word1"]


@pytest.mark.parametrize(
    ("given", "method", "message"),
    [
        (([1, 2],), "simhash", "method=simhash takes texts"),
        (("a",), "hyperplane", "method=hyperplane takes vectors"),
        (([1.0], [1.0, 2.0]), "hyperplane", "vectors of 1 and 2 numbers have no angle"),
        (([math.inf],), "hyperplane", "is not finite"),
        (([1.5],), "modp", "1.5 is not a whole number"),
        (([math.inf],), "modp", "inf is not a whole number"),
        (([-1],), "jaccard", "-1 is not a whole number"),
        (("a", [1]), "jaccard", "a text and a list of numbers"),
        (([1],), ns.Jaccard(shingle_size=2), "shingle_size does nothing to numbers"),
    ],
)
def test_what_a_method_cannot_take_is_named(given, method, message):
    """Texts for vectors, vectors for texts."""
    with pytest.raises(ns.ConfigError, match=message):
        ns.explain(*given, method=method)
