"""Texts that are looked for inside of others, against every window of every document; the tables, against Python's."""

import itertools
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.arrow import frozen
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.leaks import FIELDS, LeakRoom, Sought, fill_slots, find, mark_words, pieces
from nearsame.kernels.tokens import KEEP_CASE
from tests.oracle import mixing as twin
from tests.oracle.corpora import corpora
from tests.oracle.tokens import tokens

HASHES = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 63, 2**63 - 1, 2**63, 2**64 - 64, 2**64 - 1])
SEEDS = st.sampled_from([0, 2**128 - 1])
WORDS = st.lists(st.sampled_from(["a", "b", "c", "A", "the"]), max_size=14)
FOLDS = st.tuples(st.sampled_from([0, KEEP_CASE]), st.sampled_from([frozenset(), frozenset(["the"])]))
PLAIN = (0, frozenset())
CANARY = 0x5A5A5A5A5A5A5A5A


def _words(text, fold):
    return tokens(text or "", keep_case=bool(fold[0] & KEEP_CASE), stop=fold[1])


def _shingles(words, size):
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]


def _hashed(words, seed):
    return [twin.hash_bytes(word.encode(), seed) for word in words]


def _run(shingle, seed):
    return twin.run_of_tokens(_hashed(shingle, seed), seed)


def _numbers(values):
    return frozen(np.array(values, np.int64))


def _hashes(values):
    return frozen(np.array(values, np.uint64))


@given(st.lists(HASHES, max_size=12), st.integers(1, 8), st.lists(HASHES, max_size=3))
@example([], 1, [])
@example([2**64 - 1, 0], 1, [])
def test_a_hash_marks_three_bits_of_its_word(hashes, bits, before):
    """Numbered by its lowest three times six bits; the word by its highest ones; what was marked before stays."""
    marked, expected = np.full((1 << bits) + 1, CANARY, np.uint64), [0] * (1 << bits)
    marked[:-1] = 0
    for some in (before, hashes):
        mark_words(_hashes(some), np.uint64(64 - bits), marked[:-1])
    for h in before + hashes:
        for part in (h, h >> 6, h >> 12):
            expected[h >> 64 - bits] |= 1 << part % 64
    assert [*expected, CANARY] == marked.tolist()


@given(st.lists(HASHES | st.integers(0, 9), max_size=20, unique=True), st.integers(0, 2))
@example([], 0)
@example([7, 15, 23, 2**64 - 1, 6], 0)
def test_each_hash_gets_the_first_free_slot(hashes, more):
    """From its own on, around the end of the table; those that stood there before keep theirs."""
    size = 1 << len(hashes).bit_length() + more
    slots, expected = np.zeros(size + 2, np.int32), dict[int, int]()
    slots[size:] = 77
    fill_slots(_hashes(hashes), slots[:size])
    for number, h in enumerate(hashes, 1):
        free = (place for place in itertools.chain(range(h % size, size), range(size)) if place not in expected)
        expected[next(free)] = number
    assert [*(expected.get(place, 0) for place in range(size)), 77, 77] == slots.tolist()


@given(corpora(8), st.integers(1, 6), FOLDS, SEEDS)
@example([], 1, PLAIN, 0)
@example([None, "", "a", "a b", "a b c"], 2, PLAIN, 0)
def test_pieces_are_tokens_and_their_shingles_in_order(texts, size, fold, seed):
    """Repeats included; a text with fewer tokens than a shingle has none."""
    column = arrow.strings(pa.array(["x y z", *texts], pa.large_string()).slice(1))
    lengths = np.diff(column.offsets)
    longest, room = int(lengths.max(initial=0)), int(lengths.sum()) + 66
    found = [np.full(room + 2, CANARY, np.uint64) for _ in range(2)]
    ends = [np.full(len(texts) + 3, CANARY, np.int64) for _ in range(2)]
    pieces(
        column.data, column.offsets, size, fold[0], hash_keys(seed), _hashes(sorted(_hashed(fold[1], seed))),
        *unicode.tables(), np.zeros((2, 2 * longest + 128), np.uint8),
        found[0][:room], ends[0][:-2], found[1][:room], ends[1][:-2],
    )  # fmt: skip
    assert {CANARY} == {int(each) for array in (*found, *ends) for each in array[-2:]}
    words = [_words(text, fold) for text in texts]
    expected = (
        [_hashed(each, seed) for each in words],
        [[_run(run, seed) for run in _shingles(each, size)] for each in words],
    )
    for rows, values, edges in zip(expected, found, ends, strict=True):
        assert rows == [values[a:b].tolist() for a, b in itertools.pairwise(edges[:-2].tolist())]


class Text(NamedTuple):
    """A text that is looked for: by its distinct shingles in the order of their places, or word for word (`whole`)."""

    words: list[str]
    asked: list[tuple[str, ...]]  # none: it is not looked for
    least: int
    width: int
    whole: bool


@st.composite
def _texts(draw, size, fold):
    """Texts of some words, some of whose shingles are left out; those with few have to stand there as they are."""
    found = []
    for _ in range(draw(st.integers(0, 4))):
        words = _words(" ".join(draw(WORDS)), fold)
        every = list(dict.fromkeys(_shingles(words, size)))
        left_out = draw(st.sets(st.sampled_from(every), max_size=2)) if every else set()
        asked = [shingle for shingle in every if shingle not in left_out]
        whole = draw(st.booleans())
        least = len(asked) if whole else draw(st.integers(1, max(len(asked), 1)))
        found.append(Text(words, asked, least, draw(st.integers(size, 2 * len(words) + size)), whole))
    return found


def _best(text, document, size):
    """(distinct shingles, first token, the token behind the last) of the best window of a document, or None."""
    if not text.asked:
        return None
    if text.whole:
        length = len(text.words)
        places = [at for at in range(len(document)) if document[at : at + length] == text.words]
        return (text.least, places[0], places[0] + length) if places else None
    windows = [
        (len(set(text.asked).intersection(_shingles(document[first:behind], size))), first, behind)
        for first in range(len(document))
        for behind in range(first + size, min(first + text.width, len(document)) + 1)
    ]
    best = min(windows, key=lambda each: (-each[0], each[2] - each[1], each[1]), default=(0, 0, 0))
    return best if best[0] >= text.least else None


def _sought(texts, size, seed, bits):
    """The tables, filled as tightly as they may be."""
    every = [(shingle, text, at) for text, each in enumerate(texts) for at, shingle in enumerate(each.asked)]
    rows = sorted((_run(shingle, seed), text, number) for shingle, text, number in every)
    hashes = sorted({row[0] for row in rows})
    marks, slots = np.zeros(1 << bits, np.uint64), np.zeros(1 << len(hashes).bit_length(), np.int32)
    mark_words(_hashes(hashes), np.uint64(64 - bits), marks)
    fill_slots(_hashes(hashes), slots)
    runs = [_hashed(each.words, seed) if each.whole and each.asked else [] for each in texts]
    anchors = [_shingles(each.words, size).index(each.asked[0]) if each.asked else 0 for each in texts]
    return Sought(
        np.uint64(64 - bits),
        frozen(marks),
        frozen(slots),
        _hashes(hashes),
        _numbers([*(next(at for at, row in enumerate(rows) if row[0] == h) for h in hashes), len(rows)]),
        _numbers([row[1] for row in rows]),
        _numbers([row[2] for row in rows]),
        _numbers([each.least for each in texts]),
        _numbers([each.width for each in texts]),
        _numbers(anchors),
        _numbers(np.cumsum([0, *map(len, runs)])),
        _hashes([h for run in runs for h in run]),
    )


def _found(texts, documents, size, fold=PLAIN, *, seed=0, bits=2):
    """What the kernel finds, call after call, with as much room as it asks for; its scratch is left as it was."""
    column = arrow.strings(pa.array(["a b c", *documents], pa.large_string()).slice(1))
    longest = int(np.diff(column.offsets).max(initial=0))
    most = max((len(_words(each, fold)) for each in documents), default=0)
    seen = max((len(each.asked) for each in texts), default=0)
    rooms = [np.zeros(number + 2, np.int64) for number in (most, most, *[len(texts)] * 3, seen)]
    out, by_text = np.full((len(texts) + 1, FIELDS), CANARY, np.int64), np.zeros((2, 0), np.int64)
    for room in rooms:
        room[-2:] = CANARY
    stops, scratch = _hashes(sorted(_hashed(fold[1], seed))), np.zeros((2, 2 * longest + 128), np.uint8)
    tempting = _hashed(next((each.words[:1] for each in texts if each.words), ["a"]), seed)[0]
    words = np.full(2 * longest + 133, tempting, np.uint64)[1:].reshape(2, -1)  # and so is what stands before it
    at, found = 0, []
    while at < len(documents):
        before, had = at, by_text.shape[1]
        at, filled, needed = find(
            column.data, column.offsets, at, size, fold[0], hash_keys(seed), stops, *unicode.tables(), scratch,
            words, _sought(texts, size, seed, bits),
            LeakRoom(*(room[:-2] for room in rooms), by_text), out[:-1],
        )  # fmt: skip
        assert needed > had if needed else at > before
        assert {CANARY} == {int(each) for behind in (*(room[-2:] for room in rooms), out[-1]) for each in behind}
        assert not rooms[2][:-2].any()
        assert not rooms[5][:-2].any()
        found += [tuple(row) for row in out[:filled].tolist()]
        by_text = np.zeros((2, needed), np.int64) if needed else by_text
    return sorted(found)


def _expected(texts, documents, size, fold):
    every = ((at, number, _best(text, _words(document, fold), size))
             for at, document in enumerate(documents) for number, text in enumerate(texts))  # fmt: skip
    return [(at, number, *best) for at, number, best in every if best]


@given(st.integers(1, 4), FOLDS, SEEDS, st.integers(1, 6), st.data())
def test_what_is_found_is_the_best_window_of_each_document(size, fold, seed, bits, data):
    """The most distinct shingles, the shortest of these, the first; or the first place of a text that stands there."""
    texts = data.draw(_texts(size, fold))
    whole = [" ".join(each.words) for each in texts] or [""]
    parts = st.lists(st.sampled_from(whole) | WORDS.map(" ".join), max_size=3).map(" ".join)
    documents = data.draw(st.lists(st.none() | parts, max_size=5))
    assert _expected(texts, documents, size, fold) == _found(texts, documents, size, fold, seed=seed, bits=bits)


def _text(words, size, least=1, width=None, *, whole=False):
    """A text of one-letter words, all of whose shingles are looked for."""
    asked = list(dict.fromkeys(_shingles(list(words), size)))
    return Text(list(words), asked, len(asked) if whole else least, width or len(words), whole)


def test_of_windows_with_as_many_shingles_the_shortest_counts_and_then_the_first():
    """What lies between is counted, what stands twice does not help; one token more than the width is too far."""
    text = _text("abcd", 2, least=2, width=5)
    for document, expected in (
        ("a b x b c x a b c x a b c", (2, 6, 9)),
        ("a b c x a b c", (2, 0, 3)),
        ("a b a b a b b c", (2, 4, 8)),
        ("a b x b c", (2, 0, 5)),
        ("x a b x x b c", None),
        ("a b a b a b", None),
        ("a b c d", (3, 0, 4)),
    ):
        assert ([(0, 0, *expected)] if expected else []) == _found([text], [document], 2)
        assert expected == _best(text, document.split(), 2)


def test_a_whole_text_has_to_stand_there_word_for_word():
    """At its first place, also where its first shingle stands elsewhere, or would begin outside of the document."""
    text = _text("abab", 2, whole=True)._replace(asked=[("b", "a")], least=1)
    for document, expected in (
        ("a b a b", (1, 0, 4)),
        ("b a b a b a b", (1, 1, 5)),
        ("b a b", None),
        ("b a x a b a", None),
        ("a b a x a b a b", (1, 4, 8)),
    ):
        assert ([(0, 0, *expected)] if expected else []) == _found([text], [document], 2)
        assert expected == _best(text, document.split(), 2)


def test_many_texts_share_their_shingles():
    """Each document has them all, and none of the documents between has any: it goes on where there was no room."""
    texts = [_text("abc", 1, least=3), *(_text("abcd"[at:], 1, least=1, width=9) for at in range(4))]
    documents = ["a b c", None, "x", *["d c b a"] * 5, "", "c"]
    assert _expected(texts, documents, 1, PLAIN) == _found(texts, documents, 1)
    assert [5 - 1] + [5] * 5 + [3] == [
        sum(row[0] == at for row in _found(texts, documents, 1)) for at in (0, 3, 4, 5, 6, 7, 9)
    ]
