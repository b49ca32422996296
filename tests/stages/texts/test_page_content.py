"""What stands for a page: main content, more, something else, or nothing."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearsame.stages.texts.page_content import ELSEWHERE, MAIN, NOWHERE, VISIBLE, PageContent, main_or_visible

html = pytest.importorskip("resiliparse.parse.html")

MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/b>All about us</a><li><a href=/c>How to find us</a></ul></nav>"
SENTENCE = "Some seven words that say something new. "


def content(body: str, head: str = "") -> PageContent:
    """Of a page."""
    page = f"<html><head><title>The title</title>{head}</head><body>{body}</body></html>"
    return main_or_visible(html.HTMLTree.parse(page), page.encode(), formatted=True)


def test_an_article_stands_without_what_is_around_it():
    """Menu, teasers with links, and readers' comments."""
    teasers = "".join(f"<li><a href=/{n}>Read all about number {n} here</a>" for n in range(60))
    beside = f"<div class=related><ul>{teasers}</ul></div>"
    said = "<div id=comments>" + f"<p class=comment>{SENTENCE}</p>" * 100 + "</div>"
    found = content(f"{MENU}<article><h1>News</h1><p>{SENTENCE * 40}</p></article>{said}{beside}")
    assert MAIN == found.found
    assert [40, False] == [found.text.count("seven"), "find us" in found.text]


def test_a_list_of_links_below_an_intro_is_part_of_the_page():
    """With the title, which often says which list it is."""
    links = "".join(f"<li><a href=/{n}>Read all about number {n} here</a>" for n in range(30))
    found = content(f"{MENU}<h1>Topics</h1><p>{SENTENCE * 3}</p><ul>{links}</ul>")
    assert VISIBLE == found.found
    assert ["number 29" in found.text, "The title" in found.text, "find us" in found.text] == [True, True, False]


def test_comments_are_the_page_where_nothing_else_is():
    """Answers to a question of a few words."""
    found = content(f"{MENU}<h1>Why?</h1><p>{SENTENCE}</p><div id=comments><p class=comment>{SENTENCE * 9}</p></div>")
    assert (VISIBLE, 10) == (found.found, found.text.count("seven"))


@pytest.mark.parametrize(
    "body",
    [
        MENU,
        f"{MENU}<main></main>",
        f"<div class=top>{MENU.replace('nav', 'div')}</div><div id=content> </div>",
        "<div id=root></div><script>run()</script>",
        "<div id=app>Loading …</div><script>run()</script>",
        f"<div class=top>{MENU.replace('nav', 'div')}</div><main><p>Loading …</p></main>",
        f"{MENU}<main></main><div class=legal>{SENTENCE * 6}</div>",
        f"{MENU}<img src=a.jpg>",
        "<app-root>Loading...</app-root><script>run()</script>",
        f"<div class=top>{MENU.replace('nav', 'div')}</div><div id=root><noscript>Switch scripts on.</noscript></div>",
        "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
        f"<noscript>JavaScript is not available. Please switch it on. {SENTENCE * 8}</noscript><div id=root></div>",
    ],
)
def test_a_page_that_shows_menus_at_most_has_no_text(body):
    """Nobody can tell what it says, so it is nobody's copy."""
    assert PageContent("", NOWHERE) == content(body)


def test_an_anchor_is_no_place_for_content():
    """Links that skip the menu lead to one."""
    found = content(f"{MENU}<a id=content></a><p>{SENTENCE * 3}</p>")
    assert (MAIN, 3) == (found.found, found.text.count("seven"))


def test_a_frameset_has_no_text():
    """Its content is in other pages."""
    page = "<html><frameset><frame src=a><noframes><p>Your browser shows no frames at all</noframes></frameset>"
    assert PageContent("", NOWHERE) == main_or_visible(html.HTMLTree.parse(page), page.encode(), formatted=True)


def test_the_article_of_the_metadata_stands_for_an_empty_page():
    """JSON-LD, however deep it is nested; noscript; a description only of what calls itself an article."""
    record = {"@graph": [{"@type": "WebPage"}, {"@type": "NewsArticle", "headline": "News", "articleBody": SENTENCE}]}
    linked = f"<script type='application/ld+json'>{json.dumps(record)}</script>"
    described = f"<meta name=description content='{SENTENCE * 2}'>"
    article = "<meta property=og:type content=article>"
    assert ELSEWHERE == content(f"{MENU}<main></main>", linked).found
    assert SENTENCE.strip() in content(f"{MENU}<main></main>", linked).text
    assert ELSEWHERE == content(f"{MENU}<main></main><noscript><p>{SENTENCE * 9}</p></noscript>").found
    assert f"The title\n\n{SENTENCE * 2}".strip() == content(f"{MENU}<main></main>", described + article).text
    assert PageContent("", NOWHERE) == content(f"{MENU}<main></main>", described)


@pytest.mark.parametrize("place", ["<div id=content>%s</div>", "<main>%s</main>", "%s"])
@pytest.mark.parametrize("menu", [MENU, MENU.replace("nav", "div")])
def test_an_article_in_noscript_stands_for_a_page_whose_menu_nothing_marks(place, menu):
    """Wherever it stands; but not a few words in it, nor for a page that shows an article."""
    assert ELSEWHERE == content(menu + place % f"<noscript><p>{SENTENCE * 9}</p></noscript>").found
    assert "seven" not in content(menu + place % f"<noscript><p>{SENTENCE}</p></noscript>").text
    shown = f"<p>{SENTENCE * 9}</p><noscript><p>{SENTENCE * 40}</p></noscript>"
    assert 9 == content(menu + place % shown).text.count("seven")


def test_a_short_list_of_links_below_a_short_intro_is_part_of_the_page():
    """Main content is most of the page here, but two such pages differ in a third of their words."""
    links = "".join(f"<li><a href=/{n}>Read all about number {n}</a>" for n in range(8))
    assert "number 7" in content(f"{MENU}<main><p>{SENTENCE * 9}</p><ul>{links}</ul></main>").text


@pytest.mark.parametrize(
    ("kind", "around", "line"),
    [
        ("application/ld+json; charset=utf-8", "%s", " "),
        (" Application/LD+JSON ", "%s;", " "),
        ("application/ld+json", "//<![CDATA[\n%s\n//]]>", " "),
        ("application/ld+json", "<!-- %s -->", "\t"),
        ("application/ld+json", "%s", "\n"),
    ],
)
@pytest.mark.parametrize("body", [SENTENCE * 9, [SENTENCE * 4, SENTENCE * 5]])
def test_records_are_read_as_they_are_written(kind, around, line, body):
    """By people and their tools: with comments, line ends in strings, lists of paragraphs."""
    record = around % json.dumps({"@type": "Article", "headline": "News", "articleBody": body}).replace(
        "new.", f"{line}new."
    )
    found = content(f"{MENU}<main></main>", f"<script type='{kind}'>{record}</script>")
    assert (ELSEWHERE, 9) == (found.found, found.text.count("seven"))


def test_an_article_in_the_metadata_stands_for_a_page_of_few_words():
    """A notice that it is coming; but not for a page that shows the article."""
    record = json.dumps({"headline": "News", "articleBody": SENTENCE * 9})
    linked = f"<script type='application/ld+json'>{record}</script>"
    notice = "The article is on its way, please wait a moment"
    assert ELSEWHERE == content(f"{MENU}<main><p>{notice}</p></main>", linked).found
    assert MAIN == content(f"{MENU}<main><p>{SENTENCE * 9}</p></main>", linked).found


@pytest.mark.parametrize(
    "record",
    [
        "{",
        "[" * 100_000,
        '{"articleBody": 7}',
        '"x"',
        '{"articleBody": {"a": []}}',
        '{"headline": "News", "articleBody": [7]}',
    ],
)
def test_records_of_any_shape_are_passed_over(record):
    """They are the page's, so anything."""
    assert NOWHERE == content(MENU, f"<script type='application/ld+json'>{record}</script>").found


def test_scripts_without_spaces_count_by_characters():
    """A Chinese page of one line is not a page without words."""
    found = content(f"{MENU}<article><p>{'维基百科是一个自由内容公开编辑的百科全书' * 20}</p></article>")
    assert MAIN == found.found
    assert "维基百科" in found.text


READERS = "".join(f"<div class=commentItem><b>Reader {n}</b><p>{SENTENCE * 6}</p></div>" for n in range(9))


@pytest.mark.parametrize(
    ("words", "has_readers"),
    [(210, False), (60, True)],
    ids=["an article", "what may be a thread"],
)
def test_words_of_readers_are_left_out_where_an_article_is_left(words, has_readers):
    """Marked in a way that the parser's package does not know."""
    found = content(f"<div class=post><p>{'prose ' * words}</p></div><div id=commentSection>{READERS}</div>")
    assert (has_readers, MAIN) == ("Reader 3" in found.text, found.found)


@pytest.mark.parametrize(
    "marked", ["<body class=comments-open>", "<main class=has-comments>", "<div class=commentary>"]
)
def test_what_only_speaks_of_comments_is_no_comment(marked):
    """States of a page, and a genre."""
    found = content(f"{marked}<article><p>{'An opinion about opinions. ' * 60}</p></article>")
    assert found.text.count("opinions") == 60


@given(st.text("<>/=\"' abmainvscrptdoy", max_size=300))
def test_no_markup_raises(markup):
    """Whatever it is."""
    assert isinstance(main_or_visible(html.HTMLTree.parse(markup), markup.encode(), formatted=True).text, str)
