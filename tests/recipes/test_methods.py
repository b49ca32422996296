"""Recipes: what cannot be run is refused with its values, what can be is its record, thresholds are as typed."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.errors import ConfigError
from nearsame.recipes import methods
from nearsame.recipes.methods import Containment, Cosine, Digest, Hyperplane, Jaccard, MinHash, ModP, SimHash, by_name

EVERY = [Jaccard, Cosine, Containment, MinHash, ModP, Digest, SimHash]
SHINGLED = [Jaccard, Cosine, Containment, MinHash, ModP]


@pytest.mark.parametrize("method", SHINGLED)
@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        (0, "threshold=0: 0 is not above 0 and at most 1"),
        (-0.5, "threshold=-0.5: -0.5 is not above 0 and at most 1"),
        (1.0001, "threshold=1.0001: 1.0001 is not above 0 and at most 1"),
        ("80%", "threshold='80%': '80%' is not a number"),
        ("4/0", "threshold='4/0': '4/0' is not a number"),
        ("", "threshold='': '' is not a number"),
        (None, "threshold=None: None is not a number"),
        (float("nan"), "threshold=nan: nan is not a number"),
        (float("inf"), "threshold=inf: inf is not a number"),
        ([0.8], "threshold=[0.8]: [0.8] is not a number"),
        (True, "threshold=True: True is not a number"),
    ],
)
def test_a_threshold_that_cannot_be_is_an_error_that_names_it(method, threshold, said):
    """Not above 0, above 1, no number."""
    with pytest.raises(ConfigError) as caught:
        method(threshold=threshold)
    assert f"{method.__name__}: {said}" == str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        *((method, {"shingle_size": 0}, "shingle_size=0: ") for method in SHINGLED),
        *((method, {"shingle_size": 1001}, "shingle_size=1001: ") for method in SHINGLED),
        *((method, {"unit": "bytes"}, "unit='bytes': ") for method in SHINGLED),
        *((method, {"seed": -1}, "seed=-1: ") for method in SHINGLED),
        *((method, {"seed": 2**128}, f"seed={2**128}: ") for method in SHINGLED),
        *((method, {"unicode": "15.0.0"}, "unicode='15.0.0': ") for method in EVERY),
        *((method, {"colour": "red"}, "colour='red': ") for method in EVERY),
        *((method, {"keep_case": "perhaps"}, "keep_case='perhaps': ") for method in EVERY),
        (Jaccard, {"shingle_size": 2.5}, "shingle_size=2.5: "),
        (Jaccard, {"num_perm": 64}, "num_perm=64: "),
        (MinHash, {"recall": 0}, "recall=0: "),
        (MinHash, {"recall": 1}, "recall=1: "),
        (MinHash, {"recall": float("nan")}, "recall=nan: "),
        (MinHash, {"num_perm": 0}, "num_perm=0: "),
        (MinHash, {"num_perm": 4097}, "num_perm=4097: "),
        (MinHash, {"sketch": "slow"}, "sketch='slow': "),
        (MinHash, {"choice": "best"}, "choice='best': "),
        (MinHash, {"verify": "no"}, "verify='no': "),
        (MinHash, {"bands": 0, "rows": 1}, "bands=0: "),
        (MinHash, {"bands": 1, "rows": 0}, "rows=0: "),
        (MinHash, {"bands": 5}, "bands=5 and rows=None must be given together"),
        (MinHash, {"rows": 5}, "bands=None and rows=5 must be given together"),
        (MinHash, {"bands": 5, "rows": 5, "recall": 0.99}, "recall=0.99 does nothing with bands=5 and rows=5"),
        (Hyperplane, {"bands": 5, "rows": 5, "recall": 0.9}, "recall=0.9 does nothing with bands=5 and rows=5"),
        (MinHash, {"bands": 1, "rows": 129}, "rows=129 is above num_perm=128"),
        (MinHash, {"bands": 33, "rows": 4}, "bands=33 of rows=4 need 132 values, num_perm=128"),
        (MinHash, {"choice": "random", "bands": 1, "rows": 129}, "rows=129 is above num_perm=128"),
        (Digest, {"algorithm": "sha257"}, "algorithm='sha257': "),
        (Digest, {"threshold": 0.5}, "threshold=0.5: "),
        *(
            (Digest, {name: value}, f"{name} does nothing to raw text: it needs normalise=True")
            for name, value in [
                ("keep_case", True), ("keep_punctuation", True), ("stop_words", ("en",)), ("nfkc", True),
                ("strip_accents", True),
            ]
        ),
        (Containment, {"threshold": 0.5, "jaccard_floor": 0.6}, "jaccard_floor=0.6 is not below threshold=0.5"),
        (Cosine, {"threshold": 0.5**0.5}, f"threshold={0.5**0.5} has a denominator above 10**9: round it"),
        (ModP, {"modulus": 0}, "modulus=0: "),
        (ModP, {"modulus": 2**63}, f"modulus={2**63}: "),
        (ModP, {"floor": -1}, "floor=-1: "),
        (ModP, {"floor": 2**20 + 1}, f"floor={2**20 + 1}: "),
        (SimHash, {"weights": "idf"}, "weights='idf': "),
        (SimHash, {"weights": "tf", "frequencies": "f.parquet"}, "frequencies=f.parquet does nothing with weights=tf"),
        (SimHash, {"threshold": 0.9}, "threshold=0.9 does nothing without confirm: k=3 decides"),
        (SimHash, {"threshold": 1.5, "confirm": "edit"}, "threshold=1.5: 1.5 is not above 0 and at most 1"),
        (SimHash, {"confirm": "dice"}, "confirm='dice': "),
        (SimHash, {"bits": 63}, "bits=63 is not 32, 64 or 128"),
        (SimHash, {"bits": 0}, "bits=0: "),
        (SimHash, {"bits": 32, "k": -1}, "k=-1: "),
        (SimHash, {"k": 17}, "k=17: "),
        (SimHash, {"bits": 4, "k": 4, "table": {}}, "k=4 is not below bits=4"),
        (SimHash, {"feature_hash": "crc32"}, "feature_hash='crc32': "),
        (SimHash, {"zero_bit": 2}, "zero_bit=2: "),
        (SimHash, {"bits": 4, "k": 1, "table": {"the": 16}}, "the table's hash of 'the', 16, does not fit bits=4"),
        (SimHash, {"table": {}, "feature_hash": "md5"}, "feature_hash=md5 does nothing with a table of hashes"),
        (SimHash, {"blocks": 3}, "blocks=3 is not above k=3 and at most bits=64"),
        (SimHash, {"blocks": 65}, "blocks=65 is not above k=3 and at most bits=64"),
        (SimHash, {"blocks": 5, "header": 3}, "header=3 is above 2, which is blocks=5 less k=3"),
        (SimHash, {"header": 62}, "header=62 is above 61, which is bits=64 less k=3"),
        (SimHash, {"blocks": 5, "search": "brute"}, "blocks=5 does nothing with search=brute"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_an_error_that_names_it(method, settings, said):
    """The recipe, the setting and the value; what to do stands in the hint."""
    with pytest.raises(ConfigError) as caught:
        method(**settings)
    assert str(caught.value).startswith(f"{method.__name__}: {said}")
    assert "\n" not in str(caught.value)
    assert caught.value.hint.endswith(".")


def test_a_method_that_is_not_there_is_an_error_that_lists_them():
    """And what a method does not have is one of that method."""
    with pytest.raises(ConfigError, match=r"method='jacard' is not one of .*jaccard, .*minhash"):
        by_name("jacard")
    with pytest.raises(ConfigError, match="Digest: shingle_size=3: "):
        by_name("digest", shingle_size=3)


@pytest.mark.parametrize("method", EVERY)
def test_methods_are_found_by_their_names(method):
    """With settings or without."""
    assert method() == by_name(method.name)
    assert method(nfkc=method is not Digest) == by_name(method.name, nfkc=method is not Digest)


THRESHOLDS = (
    st.fractions(0, 1).filter(bool) | st.floats(1e-6, 1) | st.sampled_from(["0.8", "4/5", "1/3", "2/3", 1, "1e-3"])
)


@st.composite
def recipes(draw):  # noqa: PLR0911  (one for each method)
    """Valid recipes of every kind."""
    text = {name: draw(st.booleans()) for name in ("keep_case", "keep_punctuation", "nfkc", "strip_accents")}
    text["stop_words"] = draw(st.sampled_from([(), ("en",), ("en", "de")]))
    cut = {"shingle_size": draw(st.integers(1, 1000)), "unit": draw(st.sampled_from(["words", "chars"]))}
    cut |= {"whitespace": draw(st.sampled_from([None, True, False])), "overlapping": draw(st.booleans())}
    sets = {"repeats": draw(st.booleans()), "seed": draw(st.integers(0, 2**128 - 1))}
    match draw(st.sampled_from([method.name for method in EVERY])):
        case "jaccard":
            return Jaccard(**text, **cut, **sets, threshold=draw(THRESHOLDS))
        case "cosine":
            threshold = draw(st.fractions("0.001", 1, max_denominator=10**9) | st.sampled_from(["0.8", "1/3", 1]))
            weights = "one" if sets["repeats"] else draw(st.sampled_from(["one", "tf", "tfidf"]))
            return Cosine(**text, **cut, **sets, threshold=threshold, weights=weights)
        case "containment":
            floor = draw(st.none() | st.fractions(0, Fraction(1, 2)).filter(bool))
            return Containment(**text, **cut, **sets, threshold=draw(st.fractions("0.51", 1)), jaccard_floor=floor)
        case "minhash":
            shape = draw(st.sampled_from([{}, {"bands": 9, "rows": 13}, {"choice": "random", "bands": 99, "rows": 5}]))
            recall = {} if shape else {"recall": draw(st.floats(0.001, 0.999))}
            return MinHash(**text, **cut, **sets, **shape, **recall, threshold=draw(THRESHOLDS))
        case "modp":
            return ModP(**text, **cut, **sets, threshold=draw(THRESHOLDS), modulus=draw(st.integers(1, 99)))
        case "digest":
            return Digest(**text, normalise=True, algorithm=draw(st.sampled_from(["md5", "crc32", "xxh3_128"])))
        case _:
            table = draw(st.none() | st.dictionaries(st.text(max_size=3), st.integers(0, 2**64 - 1), max_size=3))
            sure = draw(
                st.just({}) | st.builds(dict, confirm=st.sampled_from(["jaccard", "edit"]), threshold=THRESHOLDS)
            )
            return SimHash(**text, **cut, **sure, table=table, k=draw(st.integers(0, 16)), weights="tf")


@given(recipes())
def test_a_record_makes_the_same_recipe_again(recipe):
    """Through JSON: nothing is rounded, nothing is lost."""
    record = recipe.record()
    read = json.loads(json.dumps(record))
    again = by_name(read.pop("method"), **read)
    assert recipe == again
    assert record == again.record()


@given(recipes())
def test_a_record_has_every_setting(recipe):
    """Those that were left to their defaults, too: a later default changes no old record.

    A setting that old records do not know stands there only if it was made: left out, it means none.
    """
    newer = {"boilerplate_per_host"} if getattr(recipe, "boilerplate_per_host", None) is None else set()
    if recipe.get("confirm") is None and recipe.name != "simhash":
        newer |= {"confirm", "confirm_threshold"} & set(type(recipe).model_fields)
    if recipe.name == "cosine" and recipe.weights == "one":
        newer |= {"weights", "frequencies"}
    assert {"method", *type(recipe).model_fields} - newer == set(recipe.record())


@pytest.mark.parametrize("typed", [0.8, "0.8", "4/5", " .8 ", "8e-1", Decimal("0.8"), Fraction(4, 5), np.float64(0.8)])
def test_a_threshold_is_what_was_typed(typed):
    """Not the float next to it."""
    assert Fraction(4, 5) == Jaccard(threshold=typed).threshold
    assert Jaccard() == Jaccard(threshold=typed)
    assert 0.8 == Jaccard(threshold=typed).record()["threshold"]


def test_a_threshold_that_no_float_says_is_written_as_a_fraction():
    """A third stays a third."""
    assert "1/3" == Jaccard(threshold="1/3").record()["threshold"]
    assert 0.1 + 0.2 == float(Fraction(Jaccard(threshold=0.1 + 0.2).record()["threshold"]))


@given(THRESHOLDS, st.fractions("0.9", 1))
def test_raising_changes_the_threshold_and_nothing_else(threshold, higher):
    """Not even by a rounding of what stands beside it."""
    floor = min(Fraction(str(threshold)), Fraction(1, 2)) * Fraction(2, 3)
    recipe = Containment(threshold=threshold, jaccard_floor=floor, shingle_size=3)
    raised = recipe.raised(higher)
    assert (higher, floor, 3) == (raised.threshold, raised.jaccard_floor, raised.shingle_size)
    assert recipe == raised.raised(threshold)


def test_raising_what_has_no_threshold_is_an_error():
    """A digest is equal or not."""
    with pytest.raises(ConfigError, match="method=digest has no threshold"):
        Digest().raised(0.9)


@pytest.mark.parametrize(("threshold", "k"), [(1, 0), ("63/64", 1), (0.96, 2), (0.953, 3), ("61/64", 3), (0.8, 12)])
def test_a_threshold_of_hamming_similarity_is_a_k(threshold, k):
    """The most bits in which codes differ that are so similar."""
    raised = SimHash(k=16).raised(threshold)
    assert k == raised.k
    assert Fraction(64 - k, 64) == raised.least >= Fraction(str(threshold))


def test_recipes_are_frozen():
    """A run's recipe is what it was begun with."""
    recipe = Jaccard()
    with pytest.raises(AttributeError, match="make another Jaccard"):
        recipe.threshold = Fraction(1, 2)
    with pytest.raises(AttributeError, match="make another Jaccard"):
        del recipe.threshold
    assert Jaccard() == recipe


@pytest.mark.parametrize("method", EVERY)
def test_every_setting_says_what_it_is(method):
    """In a sentence, for the reference and the command line."""
    for name, field in method.model_fields.items():
        assert field.description, name
        assert field.description.endswith((".", ")")), name


def test_characters_have_spaces_unless_told_otherwise():
    """Words have none unless told otherwise."""
    assert (True, False) == (Jaccard(unit="chars").space_is_token, Jaccard().space_is_token)
    assert (False, True) == (
        Jaccard(unit="chars", whitespace=False).space_is_token,
        Jaccard(whitespace=True).space_is_token,
    )


def test_what_similarities_are_called():
    """An estimate says so, in every row."""
    assert ["jaccard", "jaccard", "estimated", "digest", "hamming", "containment", "container"] == [
        recipe.reports
        for recipe in (
            Jaccard(), MinHash(), MinHash(verify="estimate"), Digest(), SimHash(), Containment(),
            Containment(remove="container"),
        )
    ]  # fmt: skip
    assert ["estimated", "cosine", "cosine"] == [ModP().reports, SimHash(confirm="cosine").reports, Cosine().reports]
    assert [False, False, True, True] == [recipe.may_miss for recipe in (Jaccard(), Cosine(), MinHash(), ModP())]
    assert [True, False, False] == [recipe.raw_bytes for recipe in (Digest(), Digest(normalise=True), Jaccard())]


def test_the_unicode_version_is_that_of_the_tables():
    """Part of every record, so that an answer can be told from one of other tables."""
    from nearsame.kernels import unicode

    assert unicode.VERSION == methods.UNICODE_VERSION == Jaccard().record()["unicode"]


def test_stop_words_are_codes_as_a_list_or_as_people_write_them():
    """One text, a list or a tuple: one recipe."""
    for codes in ("en,de", "en, de", ["en", "de"], ("en", "de")):
        assert ("en", "de") == Jaccard(stop_words=codes).stop_words
    assert () == Jaccard(stop_words="").stop_words


def test_a_setting_that_was_made_does_nothing_to_ready_items_even_if_it_is_the_default():
    """What was said is not ignored."""
    assert ["shingle_size"] == Jaccard(shingle_size=5).for_texts
    assert [] == Jaccard(threshold=0.7).for_texts == Jaccard(threshold=0.7).raised(0.9).for_texts
    assert ["shingle_size"] == Jaccard(shingle_size=5).raised(0.9).for_texts


def test_given_bands_leave_no_recall_in_the_record():
    """It would say what nothing goes by; the recipe raised has the same bands."""
    assert (None, 0.99) == (MinHash(bands=5, rows=5).record()["recall"], MinHash().record()["recall"])
    raised = MinHash(bands=5, rows=5).raised(0.9)
    assert (5, 5) == (raised.bands, raised.rows)


@pytest.mark.parametrize("threshold", [0, 2, "x", -1])
def test_a_threshold_of_codes_that_is_none_names_its_method(threshold):
    """It is asked of a run that has ended, and becomes a k."""
    with pytest.raises(ConfigError, match=r"^SimHash: threshold="):
        SimHash().raised(threshold)
