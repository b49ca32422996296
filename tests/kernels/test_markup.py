"""Markup measured and made harmless, against the standard library's tokeniser and by laws."""

from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.kernels.markup import survey, tame

_BOUNDS = (9, 9, 9, 99, 9, 0)
ANYTHING = st.text("<>/ab =\"'!-\n", max_size=200).map(str.encode) | st.binary(max_size=100)


def _survey(page: bytes) -> tuple[int, ...]:
    out = np.zeros((1, 6), np.int64)
    survey(np.frombuffer(page, np.uint8), np.array([0, len(page)], np.int64), out)
    return tuple(out[0].tolist())


def _tame(page: bytes, *bounds: int) -> bytes:
    out = np.empty(len(page) + 1, np.uint8)
    return out[: tame(np.frombuffer(page, np.uint8), np.array((*bounds, *_BOUNDS[len(bounds) :])), out)].tobytes()


class _Counter(HTMLParser):
    """The most attributes of a start tag."""

    widest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.widest = max(self.widest, len(attrs))


_VALUES = st.sampled_from(["", "=x", '="y z"', "='>'", '="<b a=1 c>"'])


@given(st.lists(st.lists(_VALUES, max_size=6), max_size=5))
def test_the_most_attributes_of_a_tag_are_those_of_the_standard_library(tags: list[list[str]]) -> None:
    """Quoted values may hold what looks like tags."""
    page = "text".join(f"<p {' '.join(f'a{n}{value}' for n, value in enumerate(values))}>" for values in tags)
    slow = _Counter()
    slow.feed(page)
    assert slow.widest == _survey(page.encode())[0]


@pytest.mark.parametrize(
    ("page", "depth"),
    [
        (b"<div><div>x</div></div>", 2),
        (b"<div></div><div></div>", 1),
        (b"<p>a<p>b<p>c<br><img>", 0),
        (b"<div></x><div></x>", 2),
        (b"<script>if (a<b) '<div><div>'</script><div>", 1),
        (b"<!-- <div><div> --><div>", 1),
        (b"<DIV><div></DIV></div>", 2),
        (b"a < b <3 <div", 1),
        (b"<div><table><td></div></table>" * 3, 4),
        (b"<div><select></div></select>" * 3, 4),
        (b"<table><td><object></table>" * 3, 2),
        (b"<svg><path d=x /><path/></svg>" * 3, 1),
        (b"<svg><p><path/><path/></svg>", 3),
        (b"<svg><html><html>", 3),
        (b"<!--><div>", 1),
        (b"<!-- --!><div>", 1),
        (b"<!----!><div>", 1),
        (b"<!--!> <div> --> <div>", 1),
        (b"<!a b='><div>", 1),
        (b"<?a b='><div>", 1),
        (b"</ a='><div>", 1),
        (b"<script><!-- <script> </script><div> --></script><div>", 1),
        (b"", 0),
    ],
)
def test_the_depth_counts_what_needs_an_end_tag(page: bytes, depth: int) -> None:
    """Scripts and comments hold no tags; an end tag of another name ends nothing."""
    assert depth == _survey(page)[1]


def test_attributes_beyond_the_bound_are_dropped() -> None:
    """The tag and its first attributes stay, and so does all text."""
    assert b'<p a b="x">text</p>' == _tame(b"<p a b=\"x\" c='y' d>text</p>", 2, 9)


def test_tags_beyond_the_depth_become_a_space() -> None:
    """Their text stays."""
    assert b"<b>1<b>2 3 4</b>5</b>" == _tame(b"<b>1<b>2<b>3</b>4</b>5</b>", 9, 2)


def test_options_beyond_the_bound_become_a_space() -> None:
    """Start and end tags of options and of their groups count, and no others."""
    page = b"<select><option>1</option><OPTION>2<option>3</select><p>4"
    assert (4, 7) == _survey(page)[2:4]
    assert b"<select><option>1</option> 2 3</select><p>4" == _tame(page, 9, 9, 2)
    assert b"<optgroup>1 2 3" == _tame(b"<optgroup>1<optgroup>2<option>3", 9, 9, 1)


def test_tags_beyond_the_bound_become_a_space_and_scripts_stay_scripts() -> None:
    """What a script says would become text without its tags."""
    assert b"<b>1</b>2 3 4<script>x</script>5" == _tame(b"<b>1</b>2<i>3</i>4<script>x</script>5", 9, 9, 9, 2)


@pytest.mark.parametrize(
    ("page", "tamed"),
    [
        (b"<svg><script>a<b</script></svg><p>1", b"<svg><script>a b</script></svg><p>1"),
        (b"<select><title><div></select>1", b"<select> <div></select>1"),
        (b"<svg><![CDATA[<a b=']]></svg>1", b"<svg> <a b=']]></svg>1"),
        (b"<frameset><style><table>", b"<frameset> <table>"),
    ],
)
def test_where_a_script_may_be_none_its_tags_go(page: bytes, tamed: bytes) -> None:
    """Parsers do not skip it in a drawing, a list or a frameset, and what is no tag is none for them, either."""
    assert _survey(page)[5] == 1
    assert tamed == _tame(page, 9, 9)
    assert _survey(b"<svg><title>x</title><style>y</style></svg><script>a<b</script>")[5] == 0


def test_open_formatting_counts_for_each_tag_and_goes() -> None:
    """Parsers open it anew in each paragraph; without it no word is parted."""
    page = b"<p>" + b"<b id=x>" * 20 + b"a</b>b" + b"<p>c" * 100
    assert _survey(page)[3] > 1000
    assert b"<p>" + b"<b id=x>" * 8 + b"ab" + b"<p>c" * 100 == _tame(page, 9, 99, 9, 999)


@given(ANYTHING)
def test_what_is_within_the_bounds_is_copied_byte_for_byte(page: bytes) -> None:
    """Any bytes, with bounds that they do not exceed."""
    assert page == _tame(page, *_survey(page))


@given(ANYTHING, st.lists(st.integers(0, 3), min_size=5, max_size=5))
def test_a_tamed_page_is_no_longer(page: bytes, bounds: list[int]) -> None:
    """Nothing is added but a space for each tag."""
    assert len(_tame(page, *bounds)) <= len(page)


@pytest.mark.parametrize(
    ("page", "strays", "tamed"),
    [
        (b"<td id=a>x", 1, b"<td>x"),
        (b"<table><td id=a>x</table><tr id=b>", 1, b"<table><td id=a>x</table><tr>"),
        (b"<div></div id=a></x b=c>", 2, b"<div></div></x>"),
        (b"<html a=1><head b=2><body c=3><body d=4>", 1, b"<html a=1><head b=2><body c=3><body>"),
        (b"<table>x<tr id=b><td id=c>y<tr id=d>", 2, b"<table>x<tr><td>y<tr id=d>"),
        (b"<td>x</td>", 0, b"<td>x</td>"),
    ],
)
def test_what_a_parser_ignores_loses_its_attributes(page: bytes, strays: int, tamed: bytes) -> None:
    """Beyond a bound; it is no tag less."""
    assert strays == _survey(page)[4]
    assert page == _tame(page, 9, 9, 9, 99, strays)
    assert tamed == _tame(page, 9, 9, 9, 99, 0)
    assert tamed == _tame(tamed, 9, 9, 9, 99, 0)
