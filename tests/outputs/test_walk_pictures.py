"""Pictures of walks say what their tables say; the page that holds them needs nothing from elsewhere."""

import re
from html.parser import HTMLParser

import pytest

import nearsame as ns
from nearsame.answers.comparisons import Explanation
from nearsame.outputs.html import explanation_page
from nearsame.outputs.walk_pictures import picture
from nearsame.recipes.choices import EXAMPLE_NAMES

FOX = ("the quick brown fox jumps over the lazy dog", "the quick brown fox leaps over the lazy dog")


def pictures(walk: Explanation) -> list[tuple[str, str]]:
    """The kind and the caption of each."""
    return [(drawn.kind, drawn.caption) for step in walk.steps if (drawn := picture(step))]


def test_a_code_shows_where_two_texts_differ() -> None:
    """As many boxes apart as the distance is, a bar for each sum."""
    walk = ns.explain(*FOX)
    shared, sums, code = filter(None, map(picture, walk.steps))
    assert [("apart", "1 in a alone"), ("same", "7 in both"), ("other", "1 in b alone")] == shared.legend
    assert [len(row) for row in sums.rows] == [64, 64]
    assert walk.answer["together"]["distance"] == sum(mark == "apart" for _, mark in code.cells)
    heights = [round(bar[3] / max(row[3] for row in sums.rows[0]), 2) for bar in sums.rows[0]]
    most = max(map(abs, walk.answer["a"]["sums"]))
    assert [round(abs(value) / most, 1) for value in walk.answer["a"]["sums"]] == [round(h, 1) for h in heights]


def test_a_signature_shows_what_agrees() -> None:
    """As many equal boxes as the estimate says, and of the bands those that share a key."""
    walk = ns.explain(*FOX, method=ns.MinHash(shingle_size=2))
    _, values, bands = filter(None, map(picture, walk.steps))
    assert walk.answer["together"]["estimate"] * 128 == sum(mark == "same" for _, mark in values.cells)
    assert len(walk.answer["together"]["shared_bands"]) == sum(mark == "same" for _, mark in bands.cells)


def test_searches_show_what_was_missed() -> None:
    """An arc for each near pair."""
    walk = ns.explain_example("eight-numbers")
    once, twice = filter(None, map(picture, walk.steps))
    assert ["apart", "same", "same"] == [mark for _, mark, _ in once.arcs]
    assert ["same"] * 3 == [mark for _, mark, _ in twice.arcs]


@pytest.mark.parametrize(
    ("walk", "expected"),
    [
        (ns.explain_example("zero-mod-p"), [("cells", "The hashes that p divides")]),
        (ns.explain_example("bands-20x5"), [("lines", "The chance to meet, by similarity")]),
        (
            ns.explain(*FOX, method="modp"),
            [("cells", "What is in a, in b and in both"), ("cells", "The hashes that are kept")],
        ),
        (ns.explain(*FOX, method="digest"), [("cells", "The digits of the digest, a above b")]),
        (ns.explain("", "", method="digest"), []),
        (ns.explain("", method="minhash"), []),
    ],
)  # fmt: skip
def test_steps_have_the_pictures_of_their_columns(walk: Explanation, expected: list[tuple[str, str]]) -> None:
    """And a step that shows nothing to be drawn has none."""
    assert expected == pictures(walk)


class Seen(HTMLParser):
    """Which tags there are, and whether each has its end."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        assert not {name for name, _ in attrs} & {"style", "onclick", "onload", "src"}
        self.tags.add(tag)


def test_a_page_is_one_file_that_runs_nothing() -> None:
    """Whatever the text is; each example has a page."""
    hostile = '<script>alert(1)</script> <img src=x onerror=alert(2)> "quoted" \x1b[31m'
    walks = [ns.explain(hostile, "<b>bold</b>"), *map(ns.explain_example, EXAMPLE_NAMES)]
    for walk in walks:
        page = explanation_page(walk)
        seen = Seen()
        seen.feed(page)
        assert not seen.tags & {"script", "img", "link", "iframe", "object"}
        assert "default-src 'none'" in page
        assert [] == re.findall(r"(?:https?:)?//[a-z]", page)
        assert "\x1b" not in page
