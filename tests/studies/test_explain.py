"""ns.explain: the textbook's tables, with the numbers that a run has."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nearsame as ns
from nearsame import arrow, schemas
from nearsame.flow.pipeline import steps
from nearsame.kernels.minhash import band_keys
from nearsame.studies.explain import explain
from tests.oracle.shingles import shingle_list
from tests.oracle.simhash import FUNCTIONS, bit_sums, code_of, features_of
from tests.oracle.tokens import tokens

PRIME = (1 << 61) - 1
TEXTS = st.lists(st.sampled_from(["a", "Rose", "is", "漢字", "--", "ß", "é ", "\u0301"]), max_size=20).map(" ".join)
FLAGS = ("keep_case", "keep_punctuation", "overlapping", "repeats")
SMALL = dict(num_perm=8, bands=4, rows=2)


def run_of(text: str, recipe: ns.MinHash) -> tuple[list[int], list[int], list[int]]:
    """(items, signature, keys) as a run has them."""
    columns = [pa.array([0], pa.int64()), pa.array([text], pa.large_string())]
    batch = pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)
    step = steps(recipe)
    for stage in step.features:
        batch = stage(batch)
    sketches = step.sketches(batch)
    lists = [arrow.lists(each.column("items")).items.tolist() for each in (batch, sketches)]
    return *lists, arrow.unsigned(arrow.ints(step.keys(None)(sketches).column("key"))).tolist()


@given(
    text=TEXTS,
    size=st.integers(1, 4),
    unit=st.sampled_from(["words", "chars"]),
    sketch=st.sampled_from(["fast", "classic"]),
    flags=st.fixed_dictionaries({name: st.booleans() for name in FLAGS}),
)
def test_its_numbers_are_those_of_a_run(text, size, unit, sketch, flags):
    """Shingles, signature and keys are what the stages make of the text."""
    recipe = ns.MinHash(shingle_size=size, unit=unit, sketch=sketch, **flags, **SMALL)
    walk = explain(text, method=recipe)
    items, signature, keys = run_of(text, recipe)
    assert items == sorted(int(row[3], 16) for row in walk.steps[0].rows)
    assert signature == [int(value, 16) for value in walk.answer["signature"]]
    assert keys == [int(band["key"], 16) for band in walk.answer["bands"]]


@given(
    text=TEXTS,
    size=st.integers(1, 4),
    unit=st.sampled_from(["words", "chars"]),
    overlapping=st.booleans(),
    keep_punctuation=st.booleans(),
)
def test_its_shingles_are_the_oracles(text, size, unit, overlapping, keep_punctuation):
    """As they read after folding, in the order of the text, each with its number."""
    settings = dict(unit=unit, keep_punctuation=keep_punctuation)
    recipe = ns.MinHash(shingle_size=size, overlapping=overlapping, **settings, **SMALL)
    words = tokens(text, **settings)
    glue = "" if unit == "chars" else " "
    expected = [glue.join(run) for run in shingle_list(words, size, overlapping=overlapping)]
    found = {row[1]: row[2] for row in explain(text, method=recipe).steps[0].rows} if words else {}
    assert {shingle: expected.count(shingle) for shingle in expected} == found
    assert list(dict.fromkeys(expected)) == list(found)


def test_the_classic_minima_can_be_computed_on_paper():
    """(a x + b) mod (2^61 - 1) of the named shingle is the value, and no shingle has a lesser one."""
    walk = explain("a rose is a rose is a rose", method=ns.MinHash(shingle_size=2, sketch="classic", num_perm=30))
    items = [int(row[3], 16) >> 3 for row in walk.steps[0].rows]
    least = next(step for step in walk.steps if step.title == "Each permutation keeps its least")
    for _, a, b, value, winner in least.rows:
        values = [(int(a, 16) * x + int(b, 16)) % PRIME for x in items]
        assert int(value, 16) == min(values) == values[winner - 1]


def test_the_fast_minima_name_their_shingle():
    """A place's value is that shingle's own, as its signature alone has it."""
    text = "one two three four five six"
    recipe = ns.MinHash(shingle_size=1, num_perm=16)
    alone = {word: explain(word, method=recipe).answer["signature"] for word in text.split()}
    walk = explain(text, method=recipe)
    for place, row in enumerate(walk.steps[1].rows):
        assert walk.answer["signature"][place] == alone[text.split()[row[3] - 1]][place]


@pytest.mark.parametrize(("text", "minima"), [("mouse dog", ["dog", "mouse"]), ("cat mouse", ["cat", "mouse"])])
def test_the_minima_under_the_textbooks_orders(text, minima):
    """Words banana, cat, dog, mouse under cat < dog < mouse < banana and banana < mouse < cat < dog."""
    orders = [["cat", "dog", "mouse", "banana"], ["banana", "mouse", "cat", "dog"]]
    assert minima == explain(text, method=ns.MinHash(shingle_size=1), orders=orders).answer["minima"]


def test_bands_of_chosen_values_share_no_bucket():
    """Minima (horse, mouse, ant, dog) and (cat, mouse, ice, shoe): values 1, 3, 4 and 2, 3, 4 meet nowhere."""
    words = {word: i for i, word in enumerate(["horse", "mouse", "ant", "dog", "cat", "ice", "shoe"])}
    minima = ["horse mouse ant dog", "cat mouse ice shoe"]
    signatures = np.array([[words[word] for word in line.split()] for line in minima], np.uint64)
    keys, rows = np.zeros(6, np.uint64), np.zeros(6, np.int64)
    for chosen, most in (([[0, 2, 3], [1, 2, 3]], 4), ([[1]], 1)):
        band_keys(signatures, np.arange(2), np.array(chosen), keys, rows)
        count = 2 * len(chosen)
        assert most == len(set(keys[:count].tolist()))


def test_a_record_is_json():
    """Hashes are texts there: a number of 64 bits is none in JavaScript."""
    record = json.loads(json.dumps(ns.explain("a b c", method="minhash").record()))
    assert 128 == len(record["answer"]["signature"])
    assert ["minhash", "minhash"] == [record["method"], record["recipe"]["method"]]


def test_a_text_without_words_is_one_shingle_or_none():
    """As in a run: marks are themselves, an empty text has nothing."""
    marks, empty = (explain(text, method=ns.MinHash(**SMALL)) for text in ("***", ""))
    assert "(the whole text: it has no token)" == marks.steps[0].rows[0][1]
    assert {"signature": [], "bands": []} == empty.answer


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(method=ns.MinHash(verify="estimate")), "verify is about two documents, and there is one"),
        (dict(method=ns.SimHash(search="brute")), "search is about many codes"),
        (dict(method=ns.SimHash(weights="tfidf")), "weights=tfidf needs a corpus"),
        (dict(method=ns.MinHash(drop_boilerplate=3)), "is about a corpus"),
        (dict(orders=[["a", "b"]]), "order 1 of 2 items lacks 'c'"),
        (dict(orders={"a": 1}), "must be a list of lists of strings"),
        (dict(orders=["abc"]), "must be a list of lists of strings"),
        (dict(orders=[]), "must be a list of lists of strings"),
    ],
)
def test_bad_settings_name_their_values(settings, message):
    """Errors of the caller."""
    with pytest.raises(ns.ConfigError, match=message):
        explain("a b c", **{"method": ns.MinHash(shingle_size=1), **settings})


THE_TABLE = {
    "the": 0b1101, "quick": 0b1010, "brown": 0b1001, "fox": 0b1111, "jumps": 0b0110, "over": 0b1011,
    "lazy": 0b1100, "dog": 0b0101, "fast": 0b0011, "a": 0b0111,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "sums", "code"),
    [
        ("The quick brown fox jumps over the lazy dog", [5, 3, -1, 3], "1101"),  # the last printed as 2
        ("The fast brown fox jumps over a lazy dog", [1, 3, 1, 5], "1111"),  # printed as 0 3 1 4, 0111
    ],
)
def test_the_worked_example_of_four_bits(text, sums, code):
    """Its words, bits, sums and fingerprint, all right."""
    walk = explain(text, method=ns.SimHash(bits=4, table=THE_TABLE, weights="tf", k=0))
    words = text.lower().split()
    assert [(word, words.count(word)) for word in dict.fromkeys(words)] == [row[1:3] for row in walk.steps[0].rows]
    assert [f"{THE_TABLE[word]:04b}" for word in dict.fromkeys(words)] == [row[2] for row in walk.steps[1].rows]
    assert (sums, code) == (walk.answer["sums"], walk.answer["binary"])
    assert ("3-0", " ".join(f"{value:+d}" for value in sums), code) == walk.steps[2].rows[0]


@given(
    text=TEXTS,
    bits=st.sampled_from([32, 64, 128]),
    weights=st.sampled_from(["one", "tf"]),
    feature_hash=st.sampled_from(sorted(FUNCTIONS)),
    zero_bit=st.sampled_from([0, 1]),
    size=st.integers(1, 3),
    unit=st.sampled_from(["words", "chars"]),
    overlapping=st.booleans(),
)
def test_the_sums_are_the_oracles_and_their_signs_the_code_of_a_run(text, bits, size, feature_hash, **recipe):
    """Features, sums and signs made bit by bit; the fingerprint is what the stage says."""
    method = ns.SimHash(shingle_size=size, bits=bits, feature_hash=feature_hash, **recipe)
    answer = explain(text, method=method).answer
    how = dict(unit=recipe["unit"], overlapping=recipe["overlapping"])
    features = features_of(text, size=size, **how)
    weights = dict(features) if recipe["weights"] == "tf" else dict.fromkeys(features, 1)

    def hashed(feature: str) -> int:
        return FUNCTIONS[feature_hash](feature.encode(), bits) % 2**bits

    if not features:
        assert ([], None) == (answer["sums"], answer["number"])
        return
    assert bit_sums(weights, hashed, bits)[::-1] == answer["sums"]
    code = code_of(weights, hashed, bits, recipe["zero_bit"])
    assert (str(code), code, code) == (answer["number"], int(answer["binary"], 2), int(answer["fingerprint"], 16))


def test_the_signs_of_each_row_are_the_fingerprint():
    """Zeros by the setting, eight bits to a row, the highest first."""
    for zero_bit in (0, 1):
        walk = explain("to be or not to be", method=ns.SimHash(zero_bit=zero_bit))
        assert walk.answer["binary"] == "".join(row[2] for row in walk.steps[2].rows)


def test_a_table_without_a_word_is_an_error_that_names_it():
    """As in a run."""
    with pytest.raises(ns.ConfigError, match="has none for the feature 'cat'"):
        explain("the cat", method=ns.SimHash(bits=4, table=THE_TABLE, k=0))


def test_orders_are_for_minhash():
    """They do nothing to codes."""
    with pytest.raises(ns.ConfigError, match="orders do nothing to method=simhash"):
        explain("a", orders=[["a"]])
