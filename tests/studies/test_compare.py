"""ns.compare: every measure as its own stage has it, exact decisions, passages in the texts as they were given."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame.studies import compare as study
from nearsame.studies.compare import DECIDING, compare
from tests.oracle.measures import containment, jaccard
from tests.oracle.passages import common_runs, covered
from tests.oracle.shingles import Raw, features
from tests.oracle.simhash import FUNCTIONS, code_of, features_of
from tests.oracle.tokens import tokens

ROSE = "a rose is a rose is a rose"
TEXTS = st.lists(st.sampled_from(["a", "rose", "Is", "漢字", "--", "ß", "é"]), max_size=30).map(" ".join)
RECIPES = st.builds(
    ns.Jaccard,
    shingle_size=st.integers(1, 4),
    unit=st.sampled_from(["words", "chars"]),
    keep_case=st.booleans(),
    keep_punctuation=st.booleans(),
    repeats=st.booleans(),
    overlapping=st.booleans(),
    nfkc=st.booleans(),
    strip_accents=st.booleans(),
)
SHARED = ("unit", "keep_case", "keep_punctuation", "nfkc", "strip_accents")


def settings_of(recipe: ns.Jaccard) -> dict[str, object]:
    """What the oracle's tokeniser has to know."""
    return {name: getattr(recipe, name) for name in SHARED}


@given(a=TEXTS, b=TEXTS, recipe=RECIPES)
def test_sets_are_those_of_the_oracle(a, b, recipe):
    """Jaccard and containment both ways, for any recipe."""
    found = compare(a, b, method=recipe)
    shape = dict(size=recipe.shingle_size, overlapping=recipe.overlapping, repeats=recipe.repeats)
    sets = [features(text, **shape, **settings_of(recipe)) for text in (a, b)]
    expected = [
        jaccard(*sets) if any(sets) else 1,
        containment(*sets) if sets[0] else 1,
        containment(*reversed(sets)) if sets[1] else 1,
    ]
    assert expected == [found[name].similarity for name in ("jaccard", "containment_a", "containment_b")]
    shingles = [{item.text if isinstance(item, Raw) else item for item in side} for side in sets]  # itself: one
    assert [len(side) for side in shingles] == [found.a.shingles, found.b.shingles]


@given(a=TEXTS, b=TEXTS, recipe=RECIPES, passage=st.integers(1, 9))
def test_every_shared_run_is_in_a_passage(a, b, recipe, passage):
    """The tokens that the passages cover, on both sides, are those of all common runs of that length."""
    found = compare(a, b, method=recipe, passage=passage)
    sides = [tokens(text, **settings_of(recipe)) for text in (a, b)]
    expected = covered(common_runs(*sides, passage))
    assert [len(side) for side in expected] == [found.a.in_passages, found.b.in_passages]
    for part in found.passages:
        assert (a[part.a_start : part.a_end], b[part.b_start : part.b_end]) == (part.a_text, part.b_text)
        assert part.tokens >= passage


@given(a=TEXTS, b=TEXTS)
def test_it_is_symmetric(a, b):
    """The two texts change places, and nothing else does but which of equal words is taken for the one that stayed."""
    one, other = compare(a, b).record(), compare(b, a).record()
    for record in (one["a"], one["b"], other["a"], other["b"]):
        del record["alone"]
    names = {"containment_a": "containment_b", "containment_b": "containment_a"}
    mirrored = {names.get(measured["name"], measured["name"]): measured["similarity"] for measured in other["measures"]}
    assert {measured["name"]: measured["similarity"] for measured in one["measures"]} == mirrored
    assert (one["a"], one["b"], one["similar"]) == (other["b"], other["a"], other["similar"])


@given(text=TEXTS)
def test_a_text_is_its_own_near_duplicate_unless_it_is_empty(text):
    """At any threshold, by any measure; marks without a word are a copy of their like."""
    assert [bool(text)] * len(DECIDING) == [
        compare(text, text, measure=name, threshold=1, clusters=[]).similar for name in DECIDING
    ]


def test_texts_without_words_resemble_nothing_else():
    """No measure makes near-duplicates of marks, or of an empty text."""
    assert not any(compare("***", "!!!", measure=name, threshold="0.01", clusters=[]).similar for name in DECIDING)
    assert not any(compare("", "a", measure=name, threshold="0.01", clusters=[]).similar for name in DECIDING)


def test_the_worked_rose():
    """Three shingles of four words, of five; three of them shared with themselves alone."""
    found = compare(ROSE, "a rose is a rose", method=ns.Jaccard(shingle_size=4))
    assert (3, 2) == (found.a.shingles, found.b.shingles)
    assert Fraction(2, 3) == found["jaccard"].similarity
    assert (Fraction(2, 3), Fraction(1)) == (found["containment_a"].similarity, found["containment_b"].similarity)


@pytest.mark.parametrize(("threshold", "similar"), [("0.8", True), ("0.80000000000000000001", False), (0.8, True)])
def test_decisions_are_exact(threshold, similar):
    """A cosine of exactly 4/5 reaches 0.8, although both are floating-point numbers elsewhere; so does Jaccard."""
    found = compare("a b b", "a a b", method=ns.Jaccard(shingle_size=1), measure="cosine", threshold=threshold)
    assert similar == found.similar
    half = ns.Jaccard(shingle_size=1, threshold="0.5")
    words = [compare("a b c", "a b d", method=half, threshold=threshold) for threshold in (None, 0.6)]
    assert [True, False] == [found.similar for found in words]
    assert Fraction(4, 5) == compare("a", "b", method=half, measure="indel").threshold


def test_a_recipe_with_weights_measures_the_cosine_by_these():
    """Of its own shingles; frequencies in documents come from a corpus."""
    recipe = ns.Cosine(shingle_size=2, weights="tf", threshold=0.6)
    found = compare("a b a b a", "b a b c", method=recipe, measure="cosine")
    assert ("2-word shingles, by tf", pytest.approx(4 / 24**0.5)) == (found["cosine"].of, found["cosine"].similarity)
    assert (Fraction(3, 5), True) == (found.threshold, found.similar)
    with pytest.raises(ns.ConfigError, match="weights=tfidf needs a corpus"):
        compare("a", "b", method=ns.Cosine(weights="tfidf"))


def test_passages_point_into_the_original():
    """Ligatures, capitals, accents and marks of the original stay in what is shown."""
    a, b = "Das «Café» ﬁn de siècle", "x y: das cafe. FIN DE SIECLE!"
    (passage,) = compare(a, b, method=ns.Jaccard(nfkc=True, strip_accents=True), passage=5).passages
    assert ("Das «Café» ﬁn de siècle", "das cafe. FIN DE SIECLE") == (passage.a_text, passage.b_text)


def test_a_record_is_json():
    """With the exact fraction beside the rounded one."""
    record = json.loads(json.dumps(compare(ROSE, "a daisy", method="minhash").record()))
    assert ("0", 0.8) == (record["measures"][0]["exact"], record["threshold"])


def test_the_signature_is_the_methods():
    """The estimate is that of as many values as asked for; its error that of the true Jaccard."""
    measured = compare("a b c", "b c d", method=ns.MinHash(shingle_size=1, num_perm=200, sketch="classic"))["minhash"]
    assert 0 == measured.similarity * 200 % 1
    assert measured.error == pytest.approx((0.25 / 200) ** 0.5)


@pytest.mark.parametrize("settings", [{}, {"verify": "estimate"}, {"choice": "random"}])
def test_given_bands_are_no_matter_of_two_texts(settings):
    """The recall that is then left out is not asked for either."""
    found = compare("a b", "a c", method=ns.MinHash(bands=20, rows=5, shingle_size=1, **settings))
    assert Fraction(1, 3) == found["jaccard"].similarity


def test_long_texts_count_few_edits_unless_all_are_asked_for(monkeypatch):
    """What has more is said, never silent; a measure that was to decide and was not computed is an error."""
    monkeypatch.setattr(study, "_MOST_CELLS", 20)
    found = compare("abcdefghij", "jihgfedcba")
    assert (None, "more than 2 edits in long texts: ask for edits") == (
        found["indel"].similarity,
        found["indel"].note,
    )
    assert ("indel", "levenshtein") == found.left_out
    assert ["indel", "levenshtein"] == found.record()["left_out"]
    assert 18 == compare("abcdefghij", "jihgfedcba", edits=True)["indel"].distance
    close = compare("abcdefghij", "abcdeghijk")
    assert ((2, 2), ()) == ((close["indel"].distance, close["levenshtein"].distance), close.left_out)
    with pytest.raises(ns.ConfigError, match="measure=indel was not computed: the texts have 10 and 10 characters"):
        compare("abcdefghij", "jihgfedcba", measure="indel")


def test_long_repetitive_texts_are_compared_in_a_bounded_number_of_steps(monkeypatch):
    """A text of one repeated pair of words against the same begun elsewhere: no table of all pairs of places."""
    cells = []
    monkeypatch.setattr(study.likeness, "indel_distance", lambda a, b, most: cells.append(max(len(a), len(b)) * most))
    found = compare("a b " * 200_000, "b a " * 200_000)
    assert [True] == [total <= study._MOST_CELLS for total in cells]
    assert (400_000, 2) == (found.a.in_passages, len(found.passages))  # all but one word, and the first one again


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(measure="euclidean"), "measure='euclidean' is not one of jaccard, containment"),
        (dict(threshold=1.5), "threshold=1.5: 1.5 is not above 0 and at most 1"),
        (dict(passage=0), "passage=0 is below 1 token"),
        (dict(method="jacard"), "method='jacard' is not one of"),
    ],
)
def test_bad_settings_name_their_values(settings, message):
    """Errors of the caller."""
    with pytest.raises(ns.ConfigError, match=message):
        compare("a", "b", **settings)


@given(a=TEXTS, b=TEXTS, unit=st.sampled_from(["words", "chars"]))
def test_the_distance_of_codes_is_the_oracles(a, b, unit):
    """Of words (of shingles, where characters count), 64 bits; a text without tokens has none."""
    size = 1 if unit == "words" else 3
    measured = compare(a, b, method=ns.Jaccard(unit=unit, shingle_size=size))["simhash"]
    features = [dict.fromkeys(features_of(text, unit=unit, size=size), 1) for text in (a, b)]
    codes = [code_of(weights, lambda feature: FUNCTIONS["xxh3"](feature.encode(), 64), 64) for weights in features]
    distance = (codes[0] ^ codes[1]).bit_count()
    assert (distance if all(features) else None) == measured.distance
    assert (1 - Fraction(distance, 64) if all(features) else int(a == b)) == measured.similarity


def test_the_worked_codes_differ_in_one_bit():
    """Two foxes, four bits: 1101 and 1111 (printed as 0111); the recipe's own k decides."""
    table = {
        "the": 0b1101, "quick": 0b1010, "brown": 0b1001, "fox": 0b1111, "jumps": 0b0110, "over": 0b1011,
        "lazy": 0b1100, "dog": 0b0101, "fast": 0b0011, "a": 0b0111,
    }  # fmt: skip
    foxes = ["the quick brown fox jumps over the lazy dog", "the fast brown fox jumps over a lazy dog"]
    for k, similar in ((0, False), (1, True)):
        found = compare(*foxes, method=ns.SimHash(bits=4, table=table, weights="tf", k=k), measure="simhash")
        assert (1, Fraction(3, 4), similar) == (found["simhash"].distance, found["simhash"].similarity, found.similar)


def test_the_worked_clusters():
    """Items as words: A touches C1 and C3, B all four clusters; five items of ten."""
    one, other = "i0 i1 i2 i5 i6", "i0 i2 i3 i5 i7 i9"
    clusters = [["i0", "i1", "I2"], ["i3", "i4"], ["i5", "i6"], ["i7", "i8", "i9"]]
    found = compare(one, other, clusters=clusters, measure="clusters", threshold=0.5)
    assert (Fraction(1, 2), True) == (found["clusters"].similarity, found.similar)
    assert Fraction(3, 8) == compare(one, other, method=ns.Jaccard(shingle_size=1))["jaccard"].similarity


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([["New York", "Gotham"]], "'New York' in a cluster is not one token"),
        (None, "measure=clusters was not computed"),
        ([[1]], "must be a list of lists of strings"),
        (["ab"], "clusters must be a list of lists of strings, got \\('ab',\\)"),
        ([{"a", "b"}, {"b"}], "is in two clusters"),
    ],
)
def test_bad_clusters_are_named(clusters, message):
    """A cluster is of single words, each in one of them."""
    with pytest.raises(ns.ConfigError, match=message):
        compare("a", "b", clusters=clusters, measure="clusters")


def test_a_containment_recipe_decides_containment():
    """Its threshold is for that measure, and the greater of the two directions reaches it."""
    method = ns.Containment(shingle_size=1, threshold="0.9")
    found = compare("a b c", "a b c d e f", method=method, measure="containment")
    assert (Fraction(9, 10), True) == (found.threshold, found.similar)


def test_a_recipe_that_estimates_decides_by_its_estimates():
    """Its threshold is for the share of equal values; where sets are compared, it is not."""
    thresholds = [
        compare("a b", "a c", method=ns.MinHash(threshold="0.5", verify=verify), measure="minhash").threshold
        for verify in ("estimate", "exact")
    ]
    assert [Fraction(1, 2), Fraction(4, 5)] == thresholds


@pytest.mark.parametrize(
    ("method", "measure", "message"),
    [
        (ns.SimHash(confirm="jaccard", threshold="0.5"), "simhash", "confirm=jaccard is about the pairs of a run"),
        (ns.Containment(jaccard_floor="0.5"), "containment", "jaccard_floor=0.5 is about the pairs of a run"),
        (ns.Containment(confirm="cosine"), "containment", "confirm=cosine is about the pairs of a run"),
    ],
)
def test_what_else_pairs_must_have_is_no_matter_of_two_texts(method, measure, message):
    """One measure decides; the second of a recipe would be left out without a word."""
    with pytest.raises(ns.ConfigError, match=message):
        compare("a b c", "a b d", method=method, measure=measure)


def test_a_word_in_two_clusters_is_named() -> None:
    """The user's word, not its hash."""
    with pytest.raises(ns.ConfigError, match="'b' is in two clusters"):
        ns.compare("a b", "b c", clusters=[["a", "b"], ["b", "c"]])


def test_codes_have_settings_of_their_own():
    """Those of SimHash, while sets keep theirs; their k may decide."""
    a, b = "the quick brown fox jumps over the lazy dog", "the quick brown fox leaps over the lazy dog"
    codes = ns.SimHash(bits=128, weights="tf", shingle_size=2, k=16)
    found = ns.compare(a, b, method=ns.Jaccard(shingle_size=3), codes=codes, measure="simhash")
    distance = ns.hamming(*(ns.simhash(text, bits=128, weights="tf", shingle_size=2) for text in (a, b)))
    assert (distance, "128 bits of 2-word shingles") == (found["simhash"].distance, found["simhash"].of)
    assert (distance <= 16, "3-word shingles") == (found.similar, found["jaccard"].of)
    assert codes.record() == found.recipe["codes"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"codes": ns.SimHash(weights="tfidf")}, "needs a corpus"),
        ({"method": ns.SimHash(weights="tfidf")}, "needs a corpus"),
        ({"codes": ns.SimHash(k=3)}, "k=3 does nothing to two texts compared by jaccard"),
        ({"codes": ns.SimHash(k=3), "measure": "simhash", "threshold": 0.9}, "k=3 does nothing"),
        ({"codes": ns.SimHash(search="brute"), "measure": "simhash"}, "search=brute does nothing"),
    ],
)
def test_settings_of_codes_that_do_nothing_are_refused(settings, message):
    """And weights that only a corpus can tell."""
    with pytest.raises(ns.ConfigError, match=message):
        ns.compare("a b c", "a b d", **settings)


@pytest.mark.parametrize("method", ["hyperplane", "codes"])
def test_methods_of_what_others_have_made_compare_no_texts(method):
    """The answer would be that of another recipe than the one it names."""
    with pytest.raises(ns.ConfigError, match=f"method={method} compares what others have made of texts"):
        compare("a b c", "a b d", method=method)
