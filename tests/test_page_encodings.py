"""The encoding of pages: what is declared counts if it can be true, else the bytes are looked at."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.page_encodings import encoding, to_utf8
from nearsame.stages.texts.page_text import page_text

pytest.importorskip("resiliparse")

KOREAN = "한국어 위키백과는 한국어로 운영되는 백과사전의 다언어판 가운데 하나이다. " * 5
JAPANESE = "日本語の百科事典は、日本語で書かれた百科事典である。" * 20
GERMAN = "Die Äpfel fließen über die Größe der Straße. " * 10


def _page(text: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "true", "header", "head"),
    [
        (KOREAN, "cp949", None, ""),
        (KOREAN, "euc-kr", "utf-8", ""),
        (KOREAN, "cp949", "ks_c_5601-1987", ""),
        (KOREAN, "cp949", None, "<meta charset=cp949>"),
        (KOREAN, "utf-8", "euc-kr", ""),
        (JAPANESE, "shift_jis", "utf-8", ""),
        (JAPANESE, "euc-jp", None, "<meta charset=utf-8>"),
        (KOREAN, "utf-16-le", None, "<meta charset=utf-16>"),
        (KOREAN, "utf-16-be", None, ""),
        (GERMAN, "utf-16-le", "iso-8859-1", ""),
        (KOREAN, "utf-8", None, "<meta charset=utf-16>"),
        (KOREAN, "utf-8", "utf-16", ""),
        (GERMAN, "utf-8", None, "<meta charset=utf-16be>"),
        (KOREAN, "cp949", None, "<meta charset=utf-16>"),
        (JAPANESE, "shift_jis", "utf-16", ""),
        (GERMAN, "cp1252", "utf-16le", ""),
        (GERMAN, "cp1252", None, ""),
        (GERMAN, "cp1252", "utf-8", "<meta charset=utf-8>"),
        (GERMAN, "utf-8", "utf-8", ""),
        (JAPANESE * 20, "utf-16-le", None, "<meta charset=utf-16>"),
        (JAPANESE * 20, "utf-16-be", "utf-8", ""),
        ("日本", "utf-16-be", None, ""),
        (KOREAN, "utf-32-le", None, ""),
        (KOREAN, "utf-32-be", "utf-8", ""),
        (GERMAN, "utf-32", "utf-32", ""),
        (JAPANESE, "iso-2022-jp", None, ""),
        (JAPANESE, "iso-2022-jp", "utf-8", ""),
        (JAPANESE, "iso-2022-jp", "iso-8859-1", "<meta charset=utf-8>"),
    ],
)
def test_a_page_is_read_by_what_its_bytes_are(text, true, header, head):
    """Without a declaration, with one that only a browser's guess mends, and with a wrong one."""
    body = _page(text, head).encode(true)
    assert text.split() == page_text(body, header, extract="text").split()


def test_a_stray_byte_does_not_change_the_encoding():
    """One letter of another encoding, or a character cut at the end."""
    body = _page(KOREAN).encode() + "Ä".encode("cp1252")
    assert "utf-8" == encoding(body, "utf-8", markup=True)[0]
    assert "utf-8" == encoding(_page(KOREAN).encode()[:-1] + "한".encode()[:2], None, markup=True)[0]


def test_zeros_between_narrow_tags_make_no_page_wide() -> None:
    """Bytes of a page whose tags have no zeros in them are read one by one."""
    body = b"<table>\0" * 16
    assert ("utf-8", body) == encoding(body, "utf-8", markup=True)


def test_a_byte_order_mark_comes_before_all_else():
    """And is no part of the text."""
    body = codecs.BOM_UTF16_LE + "abc".encode("utf-16-le")
    assert ("utf-16-le", "abc".encode("utf-16-le")) == encoding(body, "utf-8", markup=True)


@given(
    st.binary(max_size=200),
    st.sampled_from([None, "utf-8", "euc-kr", "no such", "utf-16", "iso-8859-1"]),
    st.booleans(),
)
def test_no_bytes_raise(raw, charset, markup):
    """Whatever is declared."""
    name, rest = encoding(raw, charset, markup=markup)
    assert isinstance(to_utf8(rest, name).decode("utf-8"), str)
