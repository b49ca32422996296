"""Shingle hashes are those of the oracle's shingles; the sets made of them are the oracle's sets."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.shingles import NOT_OVERLAPPING, REPEATS, list_sets, shingle, shingle_sets
from nearsame.kernels.tokens import CHARS, SPACE
from tests.oracle import mixing as twin
from tests.oracle.corpora import corpora, item_lists
from tests.oracle.shingles import shingle_list
from tests.oracle.tokens import tokens

WORDS = st.integers(0, 2**64 - 1) | st.integers(0, 3)
CANARY = 0x5A5A5A5A5A5A5A5A
NONE = arrow.frozen(np.zeros(0, np.uint64))
KEYS = hash_keys(0)


def _signed(values):
    return np.array(values, np.uint64).view(np.int64).tolist()


def _shingled(values, size, step):
    out = np.full(len(values) + 2, CANARY, np.uint64)
    count = shingle(np.array(values, np.uint64), len(values), size, step, KEYS, out)
    assert [CANARY] * 2 == out[len(values) :].tolist()
    return out[:count].tolist()


@given(st.lists(WORDS, max_size=40), st.integers(1, 45))
@example([], 1)
@example([1, 2, 3], 3)
@example([0, 0, 0, 0], 2)
def test_shingles_are_rolled_as_if_each_were_hashed_alone(values, size):
    """Overlapping and not, shorter than the size, as long, and longer."""
    for step in (1, size):
        expected = [twin.run_of_tokens(list(run)) for run in shingle_list(values, size, overlapping=step == 1)]
        assert expected == _shingled(values, size, step)


@given(st.lists(WORDS, min_size=9, max_size=30), st.integers(1, 8), st.integers(2, 9))
def test_any_step_begins_a_shingle_there(values, size, step):
    """Shingle i begins with token i · step; the last ones may be short."""
    expected = [twin.run_of_tokens(values[at : at + size]) for at in range(0, len(values), step)]
    assert expected == _shingled(values, size, step)


def test_a_thousand_rolls_do_not_drift():
    """The last shingle of many is that of its tokens alone."""
    values = np.random.default_rng(0).integers(0, 2**64, 10_000, np.uint64).tolist()
    for size in (1, 2, 5, 1000):
        found = _shingled(values, size, 1)
        assert 10_001 - size == len(found)
        assert twin.run_of_tokens(values[-size:]) == found[-1]


NO_TIMES = np.zeros(0, np.int64)


def _text_sets(found, size, flags, *, seed=0, stops=NONE, times=None):
    column = arrow.strings(pa.array(["x y z", *found], pa.large_string()).slice(1))
    lengths = np.diff(column.offsets)
    longest, total = int(lengths.max(initial=0)), int(lengths.sum()) + len(found) + 1
    items, ends = np.full(total + 4, CANARY, np.uint64), np.zeros(len(found) + 1, np.int64)
    about = np.zeros((3, len(found)), np.int64)
    bare = arrow.frozen(np.stack([np.arange(len(found)) + 11, np.arange(len(found)) + 7]))
    shingle_sets(
        column.data, column.offsets, bare, size, flags, hash_keys(seed), stops, *unicode.tables(),
        np.zeros((2, 2 * longest + 128), np.uint8), np.empty((3, longest + 66), np.uint64),
        np.empty(2 * longest + 130, np.int64), items[:total], NO_TIMES if times is None else times, ends, about,
    )  # fmt: skip
    assert [CANARY] * 4 == items[total:].tolist()
    return [items[a:b].tolist() for a, b in itertools.pairwise(ends)], about.tolist()


def _numbered(hashes):
    return [twin.nth_copy(h, hashes[:place].count(h)) for place, h in enumerate(hashes)]


@given(
    found=corpora(),
    size=st.integers(1, 6),
    chars=st.booleans(),
    repeats=st.booleans(),
    overlapping=st.booleans(),
    seed=st.integers(0, 2**128 - 1),
)
def test_the_set_of_a_text_is_its_shingles_hashes(*, found, size, chars, repeats, overlapping, seed):
    """Ascending, distinct, of every text of a batch; a text without tokens is its digest, an empty one has none."""
    flags = (CHARS | SPACE) * chars | REPEATS * repeats | NOT_OVERLAPPING * (not overlapping)
    expected, about = [], []
    for row, text in enumerate(found):
        words = [twin.hash_bytes(t.encode(), seed) for t in tokens(text or "", unit="chars" if chars else "words")]
        hashes = [twin.run_of_tokens(list(run), seed) for run in shingle_list(words, size, overlapping=overlapping)]
        if text and not words:
            hashes = [row + 11, row + 7]
        items = sorted(set(_numbered(hashes) if repeats else hashes))
        expected.append(items)
        about.append([len(words), *_signed(twin.digest_set(items))])
    sets, columns = _text_sets(found, size, flags, seed=seed)
    assert expected == sets
    assert about == [list(column) for column in zip(*columns, strict=True)]


def test_stop_words_go_before_shingles_are_made():
    """So the shingles of what is left run over the gap."""
    stops = arrow.frozen(np.array([twin.hash_bytes(b"in")], np.uint64))
    assert _text_sets(["fish water"], 2, 0)[0] == _text_sets(["fish in water"], 2, 0, stops=stops)[0]


@pytest.mark.parametrize("text", ["a" * 100_000, "a " * 50_000, "漢" * 30_000], ids=lambda t: t[:2])
def test_a_long_text_of_one_thing_is_a_set_of_one(text):
    """All shingles equal: what an insertion sort would never end with; each occurrence is counted."""
    times = np.zeros(2 * len(text.encode()) + 2, np.int64)
    sets, (num_tokens, *_) = _text_sets([text], 5, CHARS, times=times)
    assert [1] == [len(items) for items in sets]
    assert num_tokens[0] - 4 == times[0]


@given(item_lists(), st.booleans(), st.integers(0, 2**63 - 1))
def test_ready_items_are_hashed_as_they_stand(rows, repeats, seed):
    """Ascending and distinct, whatever the order of the list."""
    flat = [item for row in rows for item in row]
    column = arrow.strings(pa.array([*flat, ""], pa.large_string()))
    lists = np.cumsum([0, *map(len, rows)])
    longest = max(map(len, rows), default=0)
    items, ends = np.empty(len(flat) + 1, np.uint64), np.zeros(len(rows) + 1, np.int64)
    about, times = np.zeros((3, len(rows)), np.int64), np.zeros(len(flat) + 1, np.int64)
    list_sets(
        column.data, column.offsets, arrow.frozen(lists), REPEATS * repeats, hash_keys(seed),
        np.empty((3, longest + 66), np.uint64), np.empty(2 * longest + 130, np.int64), items, times, ends, about,
    )  # fmt: skip
    for row, words in enumerate(rows):
        hashes = [twin.hash_bytes(word.encode(), seed) for word in words]
        expected = sorted(set(_numbered(hashes) if repeats else hashes))
        assert expected == items[ends[row] : ends[row + 1]].tolist()
        assert [len(words), *_signed(twin.digest_set(expected))] == about[:, row].tolist()
        if not repeats:
            assert [hashes.count(item) for item in expected] == times[ends[row] : ends[row + 1]].tolist()
