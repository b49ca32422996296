"""Marks of HTML and Markdown: what is read, and where it stood."""

import html

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nearsame.forms.plain import PlainText, plain
from nearsame.kernels.plain import REFERENCES
from nearsame.proofs.leak_texts import words_of
from nearsame.proofs.plain import plain as proven
from tests.oracle.tokens import prepare

LONG = "x" * 32
CASES = {
    # tags
    "un<b>believ</b>able": "unbelievable",
    "one<br>two<BR/>three<br />four": "one two three four",
    '<p class="a b">What is <a href="/x?y=1&z">this</a>?</p>': " What is this? ",
    "<td>a</td><td align=left >b</td >": " a  b ",
    "<input type=checkbox checked>yes": " yes",
    "<a title='a > b' href=x>c</a>": "c",
    f'<img src="a.png" alt="a b {LONG[5:]}">': " ",
    f'<IMG ALT="a b {LONG[4:]}">': f'<IMG ALT="a b {LONG[4:]}">',
    f"<img alt={LONG}漢>": f"<img alt={LONG}漢>",
    f'<a href="{LONG}漢" class="a b {LONG}" id={LONG}>x': "x",
    f'<a href="{LONG} ">x': f'<a href="{LONG} ">x',
    "<a b=c that and this d=e>, <a b=c as long as f words>": ", <a b=c as long as f words>",
    # what only looks like one
    "a <b and c> d": "a <b and c> d",
    "if x<y then <y>": "if x<y then <y>",
    "<custom-tag>, <b-x>, < b>, </b x=1>, <b": "<custom-tag>, <b-x>, < b>, </b x=1>, <b",
    "List<String> <int> <T>": "List<String> <int> <T>",
    '<a href="x': '<a href="x',
    "<a b==c>": "<a b==c>",
    f"<a href={'x' * 2039}>": "",
    f"<a href={'x' * 2040}>": f"<a href={'x' * 2040}>",
    # links
    "[the *text*](https://example.org/a_(b)) here": "[the *text*] here",
    '![fig](fig.png "A title") [b](#top)': "![fig] [b]",
    "a[i](x), f[0](x, y.z), [a][1]": "a[i](x), f[0](x, y.z), [a][1]",
    f'[a](x.y "{LONG}")': f'[a](x.y "{LONG}")',
    "[a](x.y": "[a](x.y",
    "[a](http://x.y z)": "[a](http://x.y z)",
    "[a]()": "[a]()",
    # references
    "caf&eacute; &amp; cr&#232;me &#x41; &apos;&nbsp;&Aacute;": "café & crème A '\u00a0Á",
    "&#146;&#x80;&#x81;": "\u2019€\x81",
    "&eacute &bogus; &#0; &#xD800; &#x110000; & &; &#; &#x;": "&eacute &bogus; &#0; &#xD800; &#x110000; & &; &#; &#x;",
    "&amp;lt;b&amp;gt;": "&lt;b&gt;",
    # words
    "_this_ and snake_case and __init__": "_this_ and snake_case and __init__",
}


def _read(text: str) -> str:
    return prepare(text, nfkc=True).replace("_", " ")


@pytest.mark.parametrize("mark", ["_", "&#95;", "&#x5F;", "＿", "﹍", "︳"])
def test_low_lines_end_words_however_they_are_written(mark: str) -> None:
    """As references, and as characters that become one in NFKC."""
    text = f"{mark}a{mark}b"
    assert plain(pa.array([text], pa.large_string())).to_pylist() == [" a b"]
    assert words_of(text) == ("a", "b")
    assert PlainText.of(text).original(np.array([1, 3]), np.array([2, 4]))[0].tolist() == [
        text.index("a"),
        text.index("b"),
    ]


@pytest.mark.parametrize(("text", "read"), CASES.items())
def test_marks_are_read_as_what_they_stand_for(text: str, read: str) -> None:
    """By hand, of the kernel and of the proof."""
    assert read == proven(text)
    assert _read(read) == plain(pa.array([text], pa.large_string()))[0].as_py()


def test_references_are_those_of_html() -> None:
    """Every name of HTML 4, and every number."""
    assert 253 == REFERENCES.shape[1]
    for number in (*range(0x250), 0x2019, 0xFFFF, 0x1F600, 0x10FFFF):
        if number and not 0xD800 <= number < 0xE000:
            for written in (f"&#{number};", f"&#x{number:X};"):
                expected = html.unescape(written)
                if number in (13, 0xFFFF, 0x10FFFF) or (number < 32 and number not in (9, 10, 12)) or number == 127:
                    expected = chr(number)  # html drops what no page may hold
                assert expected == proven(written) or 0x80 <= number < 0xA0, written


_PARTS = st.sampled_from([
    "<", ">", "/", "b", "p", "a ", "title", "=", '"', "'", " ", "\n", "](", "]", "(", ")", "[", "http://x", "#", "&",
    ";", "eacute", "&eacute;", "&#", "x41", "233;", "_", "<b>", "</b>", "<br/>", "<a href=", "<p class=", ' alt="',
    LONG,
    "é", "e\u0301", "ﬁ", "Ａ", "漢", "\u0301", "＿", "&#95;", "\x00", "\x0b", "word",
])  # fmt: skip
TEXTS = st.lists(_PARTS, max_size=25).map("".join)


@given(st.lists(st.none() | TEXTS, max_size=5))
@example(["<a b='" + "x" * 2048])
@example([" <b" + " x=1" * 600 + ">", "]( x"])
def test_the_kernel_reads_as_the_proof_does(texts: list[str | None]) -> None:
    """Tags, links and references in pieces, any text beside them; NFKC on top."""
    expected = [None if text is None else _read(proven(text)) for text in texts]
    column = pa.array([None, *texts, "_"], pa.large_string()).slice(1, len(texts))
    assert expected == plain(column).to_pylist()


@given(TEXTS)
@example("a&eacute;<b>\u0301x</b>")
def test_places_lead_back_to_what_was_given(text: str) -> None:
    """What is read of a passage is what stands there in what is read of the text; every passage of whole characters."""
    read = PlainText.of(text)
    words = read.text.tobytes().decode()
    assert words == plain(pa.array([text], pa.large_string()))[0].as_py()
    sizes = np.cumsum([0, *(len(char.encode()) for char in words)])
    starts, ends = read.original(sizes[:-1], sizes[1:])
    assert (starts < ends).all()
    assert (starts[1:] >= starts[:-1]).all()
    assert (ends[1:] >= ends[:-1]).all()
    for first, behind in zip(starts.tolist(), ends.tolist(), strict=True):
        assert 0 <= first < behind <= len(text)
    if words == text:
        assert starts.tolist() == list(range(len(text)))
        assert ends.tolist() == list(range(1, len(text) + 1))


@given(TEXTS, st.sampled_from(["seven wise wallabies", "x&eacute;&amp;y", "[a](b.c) d", "<i>a</i> b"]), TEXTS)
def test_what_is_put_in_is_read_as_it_is_alone(before: str, text: str, behind: str) -> None:
    """Nothing before or behind it is read together with it, if it is as long as what is looked for, in no class."""
    before = before.replace("class", "title")
    bound = " <br> \n" + " " * 20
    whole = plain(pa.array([f"{before}\"'>)]{bound}{text}{bound}{behind}"], pa.large_string()))[0].as_py()
    assert plain(pa.array([text], pa.large_string()))[0].as_py() in whole
