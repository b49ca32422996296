"""Edit similarity equals the library's."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from nearsame.arrow import frozen
from nearsame.kernels.indel import indel, pack_letters

LETTERS = st.sampled_from("aab") | st.characters(exclude_categories=("Cs",))


def _packed(texts: list[str]) -> tuple[np.ndarray, list[int]]:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)])
    out, ends = np.zeros(offsets[-1] + len(texts), np.uint64), np.zeros(len(texts) + 1, np.int64)
    pack_letters(frozen(np.frombuffer(b"".join(encoded), np.uint8)), frozen(offsets), out, ends)
    return frozen(out), ends.tolist()


def _similarity(a: str, b: str, threshold: Fraction = Fraction(1, 10**6)) -> tuple[int, int]:
    values, ends = _packed([a, b])
    return indel(values, ends[0], values, ends[1], threshold.numerator, threshold.denominator)


@given(st.text(LETTERS, min_size=1, max_size=300), st.text(LETTERS, min_size=1, max_size=300))
def test_it_is_twice_the_common_subsequence(a: str, b: str) -> None:
    """Over both lengths, of letters and not of bytes."""
    common = LCSseq.similarity(a, b)
    assert (2 * common if common else -1, len(a) + len(b)) == _similarity(a, b)


@given(st.text("ab", min_size=100, max_size=700), st.lists(st.integers(0, 600), max_size=12))
def test_long_texts_carry_from_word_to_word(a: str, places: list[int]) -> None:
    """A text with a few letters gone and a few more is found, over any number of words."""
    letters = list(a)
    for place in places:
        letters[place % len(letters) : place % len(letters) + 1] = [] if place % 3 else ["b", "a"]
    b = "".join(letters) or "a"
    assert 2 * LCSseq.similarity(a, b) == _similarity(a, b)[0]


@given(
    st.text("abc", min_size=1, max_size=40),
    st.text("abc", min_size=1, max_size=40),
    st.fractions(0, 1, max_denominator=10**9),
)
def test_below_the_threshold_is_none(a: str, b: str, threshold: Fraction) -> None:
    """Exactly at it is found."""
    threshold = threshold.limit_denominator(1000)
    exact = Fraction(2 * LCSseq.similarity(a, b), len(a) + len(b))
    assert (exact >= threshold) == (_similarity(a, b, threshold)[0] >= 0)
