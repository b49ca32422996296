"""Features of texts and of ready items, against a library's hashes of the oracle's shingles; and their bytes again."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.kernels import unicode
from nearsame.kernels.features import list_features, spell, spell_lists, text_features
from nearsame.kernels.tokens import CHARS, KEEP_CASE, PUNCTUATION, SPACE
from tests.oracle import mixing as twin
from tests.oracle.corpora import corpora
from tests.oracle.shingles import shingle_list
from tests.oracle.tokens import tokens

FLAGS = st.sampled_from([0, 0, KEEP_CASE, PUNCTUATION, CHARS, CHARS | SPACE, CHARS | PUNCTUATION | KEEP_CASE])
FOLDS = st.tuples(FLAGS, st.frozensets(st.sampled_from(["a", "b", "the", "cat", "x1", "漢"]), max_size=3))
PLAIN = (0, frozenset())
ITEMS = st.text("abé漢", max_size=3) | st.text(max_size=40)
LISTS = st.lists(st.lists(ITEMS, max_size=8), max_size=6)
CANARY = 0x5A5A5A5A5A5A5A5A


def _tokens(text, flags, stops):
    found = tokens(
        text or "",
        unit="chars" if flags & CHARS else "words",
        keep_case=bool(flags & KEEP_CASE),
        keep_punctuation=bool(flags & PUNCTUATION),
        whitespace=bool(flags & SPACE),
    )
    return [each for each in found if each not in stops]


def _features(words, size, step, flags):
    """The bytes of each shingle, in order: words with a space between, characters with nothing."""
    gap = "" if flags & CHARS else " "
    return [gap.join(run).encode() for run in shingle_list(words, size, overlapping=step == 1)]


def _counted(features):
    """Their hashes, ascending, and how often each occurs."""
    return sorted(Counter(xxhash.xxh3_64_intdigest(each) for each in features).items())


class _Cut:
    """Texts as the kernels take them, behind one that does not count, with the scratch that they ask for."""

    def __init__(self, texts, size, step, flags, stops):
        self.column = arrow.strings(pa.array(["x y z", *texts], pa.large_string()).slice(1))
        lengths = np.diff(self.column.offsets)
        self.longest, self.total = int(lengths.max(initial=0)), int(lengths.sum())
        hashes = arrow.frozen(np.array(sorted(twin.hash_bytes(word.encode()) for word in stops), np.uint64))
        tables = unicode.tables()
        scratch = np.zeros((3, 3 * self.longest + 136), np.uint8), np.empty((2, self.longest + 66), np.int64)
        self.how = (*self.column[:2], size, step, flags, hashes, tables.stage1, tables.stage2, *scratch)


def _made(kernel, how, longest, most, rows, *, counted):
    """What a kernel makes of some rows: their features, how often each occurs, and how many tokens a row has."""
    items, times = np.full(most + 2, CANARY, np.uint64), np.full(most + 2, CANARY, np.int64)
    ends, num_tokens = np.full(rows + 3, CANARY, np.int64), np.full(rows + 2, CANARY, np.int64)
    scratch = np.empty((2, longest + 66), np.uint64), np.empty(2 * longest + 134, np.int64)
    kernel(*how, *scratch, items[:most], times[: most if counted else 0], ends[: rows + 1], num_tokens[:rows])
    behind = [items[most:], times[most:], ends[rows + 1 :], num_tokens[rows:]]
    assert [CANARY] * 8 == [int(each) for array in behind for each in array]
    assert counted or {CANARY} == set(times.tolist())
    edges = list(itertools.pairwise(ends[: rows + 1].tolist()))
    found = [items[a:b].tolist() for a, b in edges]
    return found, [times[a:b].tolist() for a, b in edges] if counted else None, num_tokens[:rows].tolist()


def _spelt(kernel, how, vocabulary, room):
    """The bytes of each feature of a vocabulary (None: not spelt), and what the kernel returned."""
    where, out = np.full((len(vocabulary) + 1, 2), -1, np.int64), np.full(room + 3, 0x5A, np.uint8)
    returned = kernel(*how, arrow.frozen(np.array(vocabulary, np.uint64)), where[:-1], out[:room])
    assert ([-1, -1], [0x5A] * 3) == (where[-1].tolist(), out[room:].tolist())
    return [None if a < 0 else out[a:b].tobytes() for a, b in where[:-1].tolist()], returned


@given(corpora(), st.integers(1, 6), st.booleans(), FOLDS, st.booleans())
@example([], 1, False, PLAIN, True)
@example([None, "", "***"], 2, True, PLAIN, True)
@example(["a b a b a", "the", "the cat the cat the"], 2, False, (0, frozenset(["cat"])), True)
def test_features_are_the_hashes_of_shingles_as_they_are_written(texts, size, overlaps, fold, counted):
    """Ascending and distinct, with how often each occurs if it is asked; a null is an empty text, which has none."""
    step, (flags, stops) = 1 if overlaps else size, fold
    cut = _Cut(texts, size, step, flags, stops)
    words = [_tokens(text, flags, stops) for text in texts]
    expected = [_counted(_features(each, size, step, flags)) for each in words]
    hashes, times = ([[pair[side] for pair in row] for row in expected] for side in (0, 1))
    found = _made(text_features, cut.how, cut.longest, cut.total, len(texts), counted=counted)
    assert (hashes, times if counted else None, [len(each) for each in words]) == found


@given(corpora(8), st.integers(1, 6), st.booleans(), FOLDS)
@example([], 1, True, PLAIN)
@example(["The cat", None, "the CAT the cat"], 2, True, PLAIN)
def test_a_vocabulary_is_spelt_out_once_and_only_where_there_is_room(texts, size, overlaps, fold):
    """The bytes of each feature stand once; with one byte less than they take the kernel says that it had no room."""
    step, (flags, stops) = 1 if overlaps else size, fold
    cut = _Cut(texts, size, step, flags, stops)
    features = {each for text in texts for each in _features(_tokens(text, flags, stops), size, step, flags)}
    by_hash = sorted((xxhash.xxh3_64_intdigest(each), each) for each in features)
    vocabulary, room = [pair[0] for pair in by_hash], sum(map(len, features))
    assert ([pair[1] for pair in by_hash], True) == _spelt(spell, cut.how, vocabulary, room)
    if room:
        assert not _spelt(spell, cut.how, vocabulary, room - 1)[1]


@pytest.mark.parametrize("text", ["a" * 5000, "a " * 3000, "漢" * 2000, "\U0001e900 " * 1000])
@pytest.mark.parametrize("flags", [0, CHARS, CHARS | SPACE])
@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 1), (3, 3), (5000, 1)])
def test_a_long_text_of_one_thing_has_room(text, flags, size, step):
    """As many tokens as there can be, and as long a feature; each occurrence is counted."""
    cut = _Cut([text], size, step, flags, ())
    features = _features(_tokens(text, flags, ()), size, step, flags)
    hashes, times, _ = _made(text_features, cut.how, cut.longest, cut.total, 1, counted=True)
    assert _counted(features) == list(zip(hashes[0], times[0], strict=True))
    room = sum(map(len, set(features)))
    by_hash = {xxhash.xxh3_64_intdigest(each): each for each in features}
    assert ([by_hash[each] for each in hashes[0]], True) == _spelt(spell, cut.how, hashes[0], room)


def _listed(rows, before):
    """Rows of strings behind some that no row has: (data, offsets, lists)."""
    flat = [*before, *(item for row in rows for item in row)]
    column = arrow.strings(pa.array(flat, pa.large_string()))
    return column.data, column.offsets, arrow.frozen(len(before) + np.cumsum([0, *map(len, rows)]))


@given(LISTS, st.lists(ITEMS, max_size=2), st.booleans())
@example([], [], True)
@example([[], [""], ["", "a", ""]], ["a"], True)
def test_ready_items_are_features_as_they_stand(rows, before, counted):
    """Of each row, whatever its order; an empty string is an item, too."""
    expected = [_counted(item.encode() for item in row) for row in rows]
    hashes, times = ([[pair[side] for pair in row] for row in expected] for side in (0, 1))
    longest, most = max(map(len, rows), default=0), sum(map(len, rows))
    found = _made(list_features, _listed(rows, before), longest, most, len(rows), counted=counted)
    assert (hashes, times if counted else None, [len(row) for row in rows]) == found


@given(LISTS, st.lists(ITEMS, max_size=2))
@example([], [])
@example([["a", ""], [], ["", "a", "b"]], ["c"])
def test_ready_items_are_spelt_out_once(rows, before):
    """Into room for the different ones and no more; what no row has is not spelt."""
    features = {item.encode() for row in rows for item in row}
    others = {item.encode() for item in before} - features
    by_hash = sorted((xxhash.xxh3_64_intdigest(each), each) for each in features | others)
    expected = [each if each in features else None for _, each in by_hash]
    vocabulary, room = [pair[0] for pair in by_hash], sum(map(len, features))
    assert (expected, None) == _spelt(spell_lists, _listed(rows, before), vocabulary, room)
