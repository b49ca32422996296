"""ss.explain: the textbook's tables, with the numbers that a run has."""

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samesame as ss
from samesame import arrow, schemas
from samesame.explaining import explain
from samesame.kernels.minhash import band_keys
from samesame.pipeline import steps
from tests.oracle.shingles import shingle_list
from tests.oracle.tokens import tokens

PRIME = (1 << 61) - 1
TEXTS = st.lists(st.sampled_from(["a", "Rose", "is", "漢字", "--", "ß", "é "]), max_size=20).map(" ".join)
FLAGS = ("keep_case", "keep_punctuation", "overlapping", "repeats")
SMALL = dict(num_perm=8, bands=4, rows=2)


def run_of(text: str, recipe: ss.MinHash) -> tuple[list[int], list[int], list[int]]:
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
    recipe = ss.MinHash(shingle_size=size, unit=unit, sketch=sketch, **flags, **SMALL)
    walk = explain(text, method=recipe)
    items, signature, keys = run_of(text, recipe)
    assert items == sorted(int(row[3], 16) for row in walk.steps[0].rows)
    assert signature == [int(value, 16) for value in walk.answer["signature"]]
    assert keys == [int(band["key"], 16) for band in walk.answer["bands"]]


@given(text=TEXTS, size=st.integers(1, 4), unit=st.sampled_from(["words", "chars"]), overlapping=st.booleans())
def test_its_shingles_are_the_oracles(text, size, unit, overlapping):
    """As they read after folding, in the order of the text, each with its number."""
    recipe = ss.MinHash(shingle_size=size, unit=unit, overlapping=overlapping, **SMALL)
    words = tokens(text, unit=unit)
    glue = "" if unit == "chars" else " "
    expected = [glue.join(run) for run in shingle_list(words, size, overlapping=overlapping)]
    found = {row[1]: row[2] for row in explain(text, method=recipe).steps[0].rows} if words else {}
    assert {shingle: expected.count(shingle) for shingle in expected} == found
    assert list(dict.fromkeys(expected)) == list(found)


def test_the_classic_minima_can_be_computed_on_paper():
    """(a x + b) mod (2^61 - 1) of the named shingle is the value, and no shingle has a lesser one."""
    walk = explain("a rose is a rose is a rose", method=ss.MinHash(shingle_size=2, sketch="classic", num_perm=30))
    items = [int(row[3], 16) >> 3 for row in walk.steps[0].rows]
    for _, a, b, value, winner in walk.steps[1].rows:
        values = [(int(a, 16) * x + int(b, 16)) % PRIME for x in items]
        assert int(value, 16) == min(values) == values[winner - 1]


def test_the_fast_minima_name_their_shingle():
    """A place's value is that shingle's own, as its signature alone has it."""
    text = "one two three four five six"
    recipe = ss.MinHash(shingle_size=1, num_perm=16)
    alone = {word: explain(word, method=recipe).answer["signature"] for word in text.split()}
    walk = explain(text, method=recipe)
    for place, row in enumerate(walk.steps[1].rows):
        assert walk.answer["signature"][place] == alone[text.split()[row[3] - 1]][place]


@pytest.mark.parametrize(("text", "minima"), [("mouse dog", ["dog", "mouse"]), ("cat mouse", ["cat", "mouse"])])
def test_the_minima_under_the_textbooks_orders(text, minima):
    """Words banana, cat, dog, mouse under cat < dog < mouse < banana and banana < mouse < cat < dog."""
    orders = [["cat", "dog", "mouse", "banana"], ["banana", "mouse", "cat", "dog"]]
    assert minima == explain(text, method=ss.MinHash(shingle_size=1), orders=orders).answer["minima"]


def test_bands_of_chosen_values_share_no_bucket():
    """Minima (horse, mouse, ant, dog) and (cat, mouse, ice, shoe): values 1, 3, 4 and 2, 3, 4 meet nowhere."""
    words = {word: i for i, word in enumerate(["horse", "mouse", "ant", "dog", "cat", "ice", "shoe"])}
    minima = ["horse mouse ant dog", "cat mouse ice shoe"]
    signatures = np.array([[words[word] for word in line.split()] for line in minima], np.uint64)
    keys, rows = np.zeros(6, np.uint64), np.zeros(6, np.int64)
    for chosen, most in (([[0, 2, 3], [1, 2, 3]], 4), ([[1]], 1)):
        unused = np.zeros((2, 6), np.int32)
        count = band_keys(signatures, np.arange(2), np.ones(2, np.int64), np.array(chosen), keys, rows, *unused)
        assert most == len(set(keys[:count].tolist()))


def test_a_record_is_json():
    """Hashes are texts there: a number of 64 bits is none in JavaScript."""
    record = json.loads(json.dumps(ss.explain("a b c", method="minhash").record()))
    assert 128 == len(record["answer"]["signature"])
    assert ["minhash", "minhash"] == [record["method"], record["recipe"]["method"]]


def test_a_text_without_words_is_one_shingle_or_none():
    """As in a run: marks are themselves, an empty text has nothing."""
    marks, empty = (explain(text, method=ss.MinHash(**SMALL)) for text in ("***", ""))
    assert "(the whole text: it has no token)" == marks.steps[0].rows[0][1]
    assert {"signature": [], "bands": []} == empty.answer


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(method="digest"), "method=digest cannot be walked through"),
        (dict(orders=[["a", "b"]]), "order 1 of 2 items lacks 'c'"),
        (dict(orders={"a": 1}), "is not a list of lists of texts"),
        (dict(orders=["abc"]), "is not a list of lists of texts"),
    ],
)
def test_bad_settings_name_their_values(settings, message):
    """Errors of the caller."""
    with pytest.raises(ss.ConfigError, match=message):
        explain("a b c", **{"method": ss.MinHash(shingle_size=1), **settings})
