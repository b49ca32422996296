"""From bytes to token hashes: the oracle's tokens, whatever the options, the lengths and the neighbours in memory."""

from functools import lru_cache
from itertools import pairwise, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.kernels import unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.tokens import (
    CHARS,
    KEEP_CASE,
    PUNCTUATION,
    SPACE,
    decode,
    fold,
    hash_tokens,
    join_tokens,
    search,
)
from tests.oracle import mixing as twin
from tests.oracle.corpora import corpora, texts
from tests.oracle.tokens import tokens

CANARY = 0xA5
ALL_FLAGS = [sum(flags) for flags in product((0, KEEP_CASE), (0, PUNCTUATION), (0, SPACE), (0, CHARS))]

hashed = lru_cache(maxsize=None)(twin.hash_bytes)

# What takes most room for its bytes: a gap on both sides, a fold that is longer, punctuation between spaces.
ROOMY = [
    "!",
    "a",
    " ",
    "漢",
    "Ⱥ",
    "é",
    "—",
    "\U0001e900",
    "🙂",
    "\u3000",
    "ไ",
    "İ",
    "ẞ",
    "_",
    "Z",
    "0",
    "@",
    "[",
    "`",
    "{",
]


def _recipe(flags):
    return {
        "unit": "chars" if flags & CHARS else "words",
        "keep_case": bool(flags & KEEP_CASE),
        "keep_punctuation": bool(flags & PUNCTUATION),
        "whitespace": bool(flags & SPACE),
    }


def _hashes(text, flags, *, seed=0, stops=(), before=b"a", after=b"z\xcc\x81"):
    """What the kernels make of a text that stands between others, with the scratch that rule 4 asks for."""
    raw = text.encode()
    data = arrow.frozen(np.frombuffer(before + raw + after, np.uint8))
    room = 2 * len(raw) + 128
    scratch = np.full((2, room + 64), CANARY, np.uint8)
    size = fold(
        data, len(before), len(before) + len(raw), flags, *unicode.tables(), scratch[0][:room], scratch[1][:room]
    )
    assert {CANARY} == set(scratch[:, room:].ravel().tolist())
    out = np.full(size // 2 + 2, CANARY, np.uint64)
    known = arrow.frozen(np.array(sorted(stops), np.uint64))
    count = hash_tokens(scratch[0][:room], scratch[1][:room], size, hash_keys(seed), known, out[:-1])
    assert CANARY == out[-1]
    return out[:count].tolist()


def _expected(text, flags, seed=0):
    return [hashed(token.encode(), seed) for token in tokens(text, **_recipe(flags))]


@pytest.mark.parametrize("flags", ALL_FLAGS)
@given(text=st.lists(texts() | st.text(st.sampled_from(ROOMY), max_size=90), max_size=4).map("".join))
@example(text="")
@example(text=" !a  b--c\u3000漢字!! ")
@example(text="".join(ROOMY))
def test_tokens_are_the_oracles_with_every_option(flags, text):
    """Words and characters, case, punctuation and spaces, in all sixteen ways; the neighbours do not count."""
    assert _expected(text, flags) == _hashes(text, flags)
    assert _expected(text, flags) == _hashes(text, flags, before=b"", after=b"")


@given(corpora(), st.sampled_from(ALL_FLAGS))
def test_corpora_have_the_oracles_tokens(found, flags):
    """Texts as people write them, in several scripts."""
    for text in found:
        assert _expected(text or "", flags) == _hashes(text or "", flags)


@pytest.mark.parametrize("stranger", ["é", "漢", "—", "𝒳"])
def test_a_stranger_at_every_place_of_an_ascii_run_of_every_length(stranger):
    """Wherever the steps of eight and of sixty-four begin and end; letters, digits, capitals and gaps beside it."""
    pattern = ("The 7th_Cat, sat (on) a-mat; ZEBRA@home [x] `y` {z} /0:9 " * 4)[:200]
    offset = ["é", "漢", "—", "𝒳"].index(stranger)
    for length in range(201):
        is_edge = length <= 24 or length % 64 in (0, 1, 63)
        if not is_edge and length % 4 != offset:  # each of the others with one of the strangers
            continue
        for place in range(length + 1) if is_edge else range(offset + length % 5, length + 1, 9):
            text = pattern[:place] + stranger + pattern[place:length]
            assert _expected(text, 0) == _hashes(text, 0)


@pytest.mark.parametrize("flags", [0, KEEP_CASE, PUNCTUATION, CHARS | SPACE])
def test_every_ascii_character_at_every_place_of_eight(flags):
    """The tests of eight bytes at once say of each what the table says."""
    for code in range(128):
        text = " ".join("x" * before + chr(code) + "Y" * (8 - before) for before in range(8)) + chr(code)
        assert _expected(text, flags) == _hashes(text, flags)


@pytest.mark.parametrize("length", [*range(130), 191, 192, 193, 255, 256, 257, 1023, 1024, 1025, 100_003])
def test_a_token_of_any_length_is_one(length):
    """Alone, behind another, and with others on both sides; its case is folded to the end."""
    word = ("Abcdefghijk" * (length // 11 + 1))[:length]
    for text in (word, "b " + word, f"é {word} c"):
        assert [hashed(part.encode(), 3) for part in text.lower().split()] == _hashes(text, 0, seed=3)


def test_a_text_of_one_megabyte_without_a_gap():
    """One token, whatever its script; or as many as there are characters."""
    assert [hashed(b"a" * 2**20, 0)] == _hashes("A" * 2**20, 0)
    assert [hashed("é".encode() * 2**19, 0)] == _hashes("É" * 2**19, 0)
    assert [hashed("漢".encode(), 0)] * 2**18 == _hashes("漢" * 2**18, 0)
    assert [hashed(b"!", 0)] * 2**18 == _hashes("!" * 2**18, PUNCTUATION)


@given(corpora(), st.sampled_from(ALL_FLAGS), st.sets(st.sampled_from(["a", "the", "cat", "été", "カ", " ", "!"])))
def test_stop_words_leave_no_gap(found, flags, stop):
    """They are left out of what comes out, and nothing else is."""
    stops = [hashed(word.encode(), 0) for word in stop]
    for text in filter(None, found):
        expected = [hashed(token.encode(), 0) for token in tokens(text, stop=frozenset(stop), **_recipe(flags))]
        assert expected == _hashes(text, flags, stops=stops)


@given(texts(), st.integers(0, 2**64 - 1))
def test_the_seed_changes_every_hash(text, seed):
    """As the hash of the token's bytes with that seed."""
    assert _expected(text, 0, seed) == _hashes(text, 0, seed=seed)


@given(st.lists(st.text(st.sampled_from(ROOMY), max_size=70) | texts(), max_size=5), st.sampled_from(ALL_FLAGS))
def test_joined_tokens_are_the_oracles_with_one_space_between(found, flags):
    """Folded, in room for twice the bytes and sixteen more."""
    column = arrow.strings(_column(found))
    longest, total = max([len(text.encode()) for text in found], default=0), sum(len(text.encode()) for text in found)
    scratch = np.zeros((2, 2 * longest + 128), np.uint8)
    out, ends = np.full(2 * total + 24, CANARY, np.uint8), np.zeros(len(found) + 1, np.int64)
    stops = arrow.frozen(np.array([hashed(b"a", 0)], np.uint64))
    join_tokens(column.data, column.offsets, flags, hash_keys(0), stops, *unicode.tables(), *scratch, out[:-8], ends)
    assert [CANARY] * 8 == out[-8:].tolist()
    stop = frozenset({"a"})
    expected = [" ".join(tokens(text, stop=stop, **_recipe(flags))) for text in found]
    assert expected == [out[a:b].tobytes().decode() for a, b in pairwise(ends)]


def _column(found):
    """The texts as a column, cut out of a longer one."""
    return pa.array(["left out", *found, "é"], pa.large_string()).slice(1, len(found))


@given(
    st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=20), st.integers(0, 2**64 - 1) | st.integers(0, 9)
)
def test_search_knows_what_is_there(values, x):
    """In none, in one and in many."""
    assert (x in values) == search(arrow.frozen(np.array(sorted(values), np.uint64)), np.uint64(x))


@given(st.characters(exclude_categories=["Cs"]))
@example("\0")
@example("\x7f")
@example("\x80")
@example("\u07ff")
@example("\u0800")
@example("\uffff")
@example("\U00010000")
@example("\U0010ffff")
def test_decode_reads_one_character(character):
    """Its code point and the number of its bytes."""
    raw = character.encode()
    data = arrow.frozen(np.frombuffer(b"a" + raw + b"\x80", np.uint8))
    assert (ord(character), len(raw)) == decode(data, 1, 1 + len(raw))


@given(st.binary(min_size=1, max_size=8))
def test_decode_never_leaves_bytes_that_are_not_utf_8(raw):
    """It goes on by one to four, never past the end, and gives a code point that the table has."""
    at = 0
    while at < len(raw):
        point, length = decode(arrow.frozen(np.frombuffer(raw, np.uint8)), at, len(raw))
        assert 0 <= point <= 0x10FFFF
        assert 1 <= length <= min(4, len(raw) - at)
        at += length
