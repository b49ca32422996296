"""Where tokens stand in their text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame import arrow
from nearsame.errors import ConfigError
from nearsame.forms.aligned import align
from nearsame.kernels import tokens, unicode
from nearsame.kernels.hashing import hash_keys
from nearsame.stages.features.token_spans import located, place, runs
from tests.oracle import tokens as oracle

TEXTS = st.text(st.sampled_from("aB ß_é.,\u0301\u00a0漢字ฉัน-ﬁ１\U0001d400\t가"), max_size=40)
FLAGS = [
    (0, {}),
    (tokens.KEEP_CASE, dict(keep_case=True)),
    (tokens.PUNCTUATION, dict(keep_punctuation=True)),
    (tokens.SPACE, dict(whitespace=True)),
    (tokens.CHARS | tokens.SPACE, dict(unit="chars")),
    (tokens.CHARS, dict(unit="chars", whitespace=False)),
    (tokens.PUNCTUATION | tokens.SPACE, dict(keep_punctuation=True, whitespace=True)),
    (tokens.CHARS | tokens.SPACE | tokens.PUNCTUATION, dict(unit="chars", keep_punctuation=True)),
]


def hashed(text: str, flags: int) -> list[int]:
    """What the hot kernels make of a text."""
    data = np.frombuffer(text.encode(), np.uint8)
    scratch = np.zeros((2, 2 * data.size + 128), np.uint8)
    out = np.zeros(data.size + 66, np.uint64)
    tables = unicode.tables()
    size = tokens.fold(arrow.frozen(data), 0, data.size, flags, *tables, *scratch)
    return out[: tokens.hash_tokens(*scratch, size, hash_keys(1), arrow.NO_HASHES, out)].tolist()


@pytest.mark.parametrize(("flags", "recipe"), FLAGS)
@given(text=TEXTS)
def test_each_token_is_where_its_span_says(flags, recipe, text):
    """The spans cut the oracle's tokens out of the text, and the hashes are those of the hot kernel."""
    aligned = align(text)
    placed = place(aligned.text, flags, 1)
    starts, ends = aligned.original(placed.starts, placed.ends)
    found = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    expected = oracle.tokens(text, **recipe)
    found = ["".join(c for c in piece if not oracle.is_unseen(c)) for piece in found]
    folded = [piece if recipe.get("keep_case") else "".join(map(oracle.fold, piece)) for piece in found]
    between = [piece for word, piece in zip(expected, found, strict=True) if word.isspace()]
    assert expected == [" " if word.isspace() else piece for word, piece in zip(expected, folded, strict=True)]
    assert not any(oracle.is_word(character) for piece in between for character in piece)
    assert hashed(text, flags) == placed.hashes.tolist()


@given(text=TEXTS, nfkc=st.booleans(), strip_accents=st.booleans())
def test_normalised_tokens_point_into_the_original(text, nfkc, strip_accents):
    """A token of the normalised text lies within the normalised form of the stretch that its span names."""
    aligned = align(text, nfkc=nfkc, strip_accents=strip_accents)
    assert oracle.prepare(text, nfkc=nfkc, strip_accents=strip_accents) == bytes(aligned.text).decode()
    placed = place(aligned.text, 0, 0)
    expected = oracle.tokens(text, nfkc=nfkc, strip_accents=strip_accents)
    assert len(expected) == placed.hashes.size
    for token, start, end in zip(expected, *aligned.original(placed.starts, placed.ends), strict=True):
        stretch = oracle.prepare(text[start:end], nfkc=nfkc, strip_accents=strip_accents)
        assert token in "".join(oracle.fold(c) for c in stretch if not oracle.is_unseen(c))


def test_stop_words_have_no_place():
    """What is dropped as a stop word leaves the spans of the others alone."""
    placed = place(np.frombuffer(b"The cat on the mat", np.uint8), 0, 0, frozenset({"the", "on"}))
    assert [(4, 7), (15, 18)] == list(zip(placed.starts.tolist(), placed.ends.tolist(), strict=True))


def test_half_a_surrogate_pair_is_an_error():
    """What cannot be encoded is named, with its place."""
    with pytest.raises(ConfigError, match=r"'\\ud800' at character 2"):
        align("ab\ud800")


def test_the_textbook_sentence_has_sixteen_shingles():
    """The eighteen words of the textbook sentence have sixteen three-word shingles."""
    text = b"Tropical fish include fish found in tropical environments around the world, including both freshwater"
    text += b" and salt water species"
    assert 16 == runs(place(np.frombuffer(text, np.uint8), 0, 0).hashes, 3, 0).size


@pytest.mark.parametrize(("flags", "recipe"), FLAGS)
@given(text=TEXTS, wanted=st.sets(st.integers(0, 12)))
def test_some_tokens_are_where_all_tokens_are(flags, recipe, text, wanted):
    """Those that are asked for, one of them twice."""
    del recipe
    data = np.frombuffer(text.encode(), np.uint8)
    placed = place(data, flags, 0)
    chosen = np.array(sorted(number for number in wanted if number < placed.starts.size), np.int64)
    chosen = np.concatenate([chosen[:1], chosen])
    starts, ends = located(data, flags, chosen)
    assert placed.starts[chosen].tolist() == starts.tolist()
    assert placed.ends[chosen].tolist() == ends.tolist()
