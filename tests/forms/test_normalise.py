"""Normalising columns of texts."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearsame.forms.normalise import normalise
from nearsame.recipes.methods import UNICODE_VERSION
from tests.examples import share

NFKC = {"nfkc": True, "strip_accents": False}
STRIP = {"nfkc": False, "strip_accents": True}
BOTH = {"nfkc": True, "strip_accents": True}
MODES = pytest.mark.parametrize("mode", [NFKC, STRIP, BOTH], ids=["nfkc", "strip_accents", "both"])

TRICKY = (
    "aeiouAZ 09.\n\0\x7f"
    "éÅǖṩệñçßıİ"
    "\u0300\u0301\u0303\u0307\u0308\u030a\u031b\u0323\u0327\u0328\u0338\u0340\u0344\u0345\u035c\u0360"
    "\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2\u1160가각힣"
    "\u0915\u093c\u0958\u09c7\u09be\u09d7\u0b47\u0b56\u0dd9\u0dca\u0dcf\u0f71\u0f72\u0f73\u0f81\u1025\u102e"
    "\u212b\u2126\u1e9b\u03d3\u2adc\ufb1d\ufb2c\ufb01\ufdfa\uff21\uff76\uff9e\uffe6\u3099\u304b\u30ab㌀㍿㏂①²½ⅷ"
    "\uf900\U0002f800\U0001d15e\U0001d165\U0001d16e\U000110ba\U00011099\U00011131\U00011127\U0001d400\U00010d50"
    "\u200d\ufe0f\u00ad\u00a0\u3000😀漢ก่ำ"
)
TEXTS = st.text(st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=["Cs"])), max_size=40)


def normalised(texts, mode) -> list[str | None]:
    """A list of texts, through a column."""
    return normalise(pa.array(texts, pa.large_string()), **mode).to_pylist()


def expected_of(text: str, mode) -> str:
    """The obvious way: NFKC, then NFD, without Mn, NFC."""
    plus = pytest.importorskip("unicodedataplus", reason="unicodedataplus is not installed")
    if plus.unidata_version != UNICODE_VERSION:
        pytest.skip(f"unicodedataplus has Unicode {plus.unidata_version}, not {UNICODE_VERSION}")
    if mode["nfkc"]:
        text = plus.normalize("NFKC", text)
    if mode["strip_accents"]:
        text = plus.normalize("NFC", "".join(c for c in plus.normalize("NFD", text) if plus.category(c) != "Mn"))
    return text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("ﬁ ＡＢＣ ① ² ½ ™", "fi ABC 1 2 1⁄2 TM", id="compatibility characters"),
        pytest.param("e\u0301", "é", id="composition"),
        pytest.param("a\u0301\u0323", "ạ\u0301", id="marks are put in order before they join"),
        pytest.param("s\u0307\u0323", "ṩ", id="two marks, the wrong way round"),
        pytest.param("a\u0300\u0301", "à\u0301", id="the second mark of a class is blocked"),
        pytest.param("e\u0338\u0301", "é\u0338", id="a mark of a lower class does not block"),
        pytest.param("\u1100\u1161\u11a8", "각", id="Hangul L V T"),
        pytest.param("가\u11a8", "각", id="Hangul LV T"),
        pytest.param("각\u11a8", "각\u11a8", id="Hangul LVT takes no second T"),
        pytest.param("\u1100\u0301\u1161", "\u1100\u0301\u1161", id="a mark blocks Hangul"),
        pytest.param("\u1161\u11a8", "\u1161\u11a8", id="Hangul without L"),
        pytest.param("\u212b \u2126 \uf900", "Å Ω 豈", id="singletons"),
        pytest.param("\u0958", "\u0915\u093c", id="a composition exclusion"),
        pytest.param("\u0915\u093c", "\u0915\u093c", id="the same, already apart"),
        pytest.param("\u2adc", "\u2add\u0338", id="a later composition exclusion"),
        pytest.param("\u0f73", "\u0f71\u0f72", id="a decomposition that begins with a mark"),
        pytest.param("\u0344", "\u0308\u0301", id="two marks in one"),
        pytest.param("\u0301", "\u0301", id="a mark with nothing before"),
        pytest.param("\u09c7\u09be", "\u09cb", id="two starters join"),
        pytest.param("\u09c7\u0301\u09be", "\u09c7\u0301\u09be", id="a mark blocks a starter"),
        pytest.param("ｶﾞ", "ガ", id="half-width katakana with a voiced mark"),
        pytest.param("\u1e9b\u0323", "ṩ", id="long s with dots"),
        pytest.param("\U0001d15e", "\U0001d157\U0001d165", id="musical symbols stay apart"),
        pytest.param("\U00011131\U00011127", "\U0001112e", id="a composition beyond the BMP"),
        pytest.param("\ufdfa", "صلى الله عليه وسلم", id="one character becomes eighteen"),
    ],
)
def test_nfkc_edge_cases(text: str, expected: str) -> None:
    """Known answers, the text alone and between letters that nothing joins."""
    assert [expected, f"q{expected} q"] == normalised([text, f"q{text} q"], NFKC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Crème brûlée, naïve Ångström", "Creme brulee, naive Angstrom", id="Latin"),
        pytest.param("Tiếng Việt", "Tieng Viet", id="Vietnamese"),
        pytest.param("e\u0301\u0323", "e", id="loose marks"),
        pytest.param("Ά ϋ й ё", "Α υ и е", id="Greek and Cyrillic"),
        pytest.param("שָׁלוֹם", "שלום", id="Hebrew points"),
        pytest.param("한국어", "한국어", id="Hangul is composed again"),
        pytest.param("\u1100\u0301\u1161", "가", id="what a mark kept apart joins"),
        pytest.param("ø đ ł ß ı", "ø đ ł ß ı", id="letters without a decomposition stay"),
        pytest.param("ﬁ ① Å", "ﬁ ① A", id="compatibility characters stay"),
        pytest.param("\u0301", "", id="nothing but a mark"),
        pytest.param("か\u3099が", "かか", id="voiced marks are Mn"),
        pytest.param("\u09c7\u0301\u09be", "\u09cb", id="spacing marks stay"),
    ],
)
def test_accents_are_dropped(text: str, expected: str) -> None:
    """Known answers."""
    assert [expected] == normalised([text], STRIP)


def test_both_together_are_nfkc_and_then_no_accents() -> None:
    """Full-width and accented becomes plain."""
    assert ["fi E a カ"] == normalised(["ﬁ Ｅ\u0301 ⓐ\u0323 ｶﾞ"], BOTH)


def test_with_neither_the_column_itself_comes_back() -> None:
    """Nothing is copied."""
    column = pa.array(["é"], pa.large_string())
    assert normalise(column, nfkc=False, strip_accents=False) is column


@MODES
@settings(deadline=None, max_examples=share(300))
@given(texts=st.lists(TEXTS, max_size=6))
def test_any_text_is_as_unicodedataplus_has_it(mode, texts: list[str]) -> None:
    """The oracle, on texts full of marks, Hangul and exclusions."""
    assert [expected_of(text, mode) for text in texts] == normalised(texts, mode)


@MODES
@settings(deadline=None)
@given(texts=st.lists(st.none() | TEXTS, max_size=6))
def test_normalising_twice_is_normalising_once(mode, texts: list[str | None]) -> None:
    """Idempotent, nulls and empty texts included."""
    once = normalised(texts, mode)
    assert once == normalised(once, mode)


@MODES
@settings(deadline=None)
@given(texts=st.lists(st.none() | TEXTS, max_size=8), cuts=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_a_slice_gives_the_slice_of_the_whole(mode, texts: list[str | None], cuts: tuple[int, int]) -> None:
    """Batch-split invariant: a sliced column with an offset is as good as a whole one."""
    start, end = sorted(cuts)
    column = pa.array(texts, pa.large_string())
    part = normalise(column[start:end], **mode)
    part.validate(full=True)
    assert normalise(column, **mode).to_pylist()[start:end] == part.to_pylist()


@MODES
@pytest.mark.parametrize("texts", [[], [None], [""], [None, "", None], ["", "", "é"]])
def test_nulls_and_empty_texts_stay(mode, texts: list[str | None]) -> None:
    """Null and empty are not the same, and neither is lost."""
    result = normalise(pa.array(texts, pa.large_string()), **mode)
    result.validate(full=True)
    assert [text and "e" for text in texts] == [text and "e" for text in result.to_pylist()]
    assert pa.large_string() == result.type


@MODES
def test_many_plain_texts_stay_byte_for_byte(mode) -> None:
    """The fast path at every length around eight bytes."""
    texts = [("plain ASCII text, and more of it " * 4)[:length] for length in range(100)]
    assert texts == normalised(texts, mode)


def test_texts_that_grow_elevenfold_get_their_room() -> None:
    """The output grows until the worst of them fit."""
    texts = ["\ufdfa" * 1000, "a", "\ufdfa" * 10_000]
    assert ["صلى الله عليه وسلم" * 1000, "a", "صلى الله عليه وسلم" * 10_000] == normalised(texts, NFKC)
