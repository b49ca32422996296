"""A parsed page to the text that stands for it, and where that text was found.

1. Main content stands for a page if it is most of what the page says of its own. Extractors of main content leave lists
   of links out, so a hub would be its intro, and a page without content its menu: such pages would be taken for copies.
2. What a page says of its own is its visible text without navigation, header, footer, teasers and comments.
3. A page that says nothing of its own is looked up where browsers without scripts and search engines look: in its
   JSON-LD, in `noscript`, and, if it calls itself an article, in its title and description. So is one of fewer words
   than an article has, whose JSON-LD or `noscript` has one that is twice as long as these.
4. What is found nowhere has no text: such a page is kept, and counted, for nobody knows what it says.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from nearsame.named import NamedTuple
from nearsame.page_encodings import elements, resiliparse

__all__ = ["ELSEWHERE", "MAIN", "NOWHERE", "VISIBLE", "PageContent", "main_or_visible", "visible"]

MAIN, VISIBLE, ELSEWHERE, NOWHERE = range(4)  # where the text of a page was found

_LEAST_SHARE = 0.5  # of its own text that main content has to be
_LEAST_SHARE_SHORT = 0.8  # if it is shorter than an article: it may be the intro of a list
_LEAST_WORDS = 5  # of its own text: fewer are a "Loading …" or a heading
_LEAST_BESIDE = 50  # words, not of links, beside an empty place for the content: fewer are what all pages have
_FEW_WORDS = 50  # of main content: with fewer, what looks like comments may be the content
_LEAST_ARTICLE = 200  # words of main content: an intro above a list of links has fewer
_LEAST_ARTICLE_SHARE = 0.2
_LEAST_NOSCRIPT = 30  # words: fewer are "You need to enable JavaScript"
_LEAST_NAMING_SCRIPTS = 150  # words of one that names JavaScript: fewer may be that message with links to its help
_MOST_MESSAGE = 2_000  # characters: of a longer text it does not matter how much of it is in noscript
_LEAST_DESCRIPTION = 8  # words

_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]"
_COMMENTS = ["#comments", "#respond", ".comments", ".comment", ".comment-list"]  # what the parser's package leaves out
_READERS = [  # what marks the words of readers: parts of class names and ids, lower or upper case at their beginning
    *("#respond", "[itemprop=comment]"),
    *(
        f"[{name}*={word}]:not(html, body, main, [{name}*=ommentary])"
        for word in ("omment", "omentar", "isqus", "alkback", "potim")
        for name in ("id", "class")
    ),
]
_RECORDED = b"articleBody"  # what an article in a page's JSON-LD is called
_NAMES_READERS = (b"omment", b"omentar", b"alkback", b"potim", b"isqus")  # a page without these has none of them
_MARKED = (
    "nav navbar navigation menu header sidebar breadcrumb breadcrumbs footer cookie-banner cookie-consent cookie-notice"
)
_AROUND = [
    *("nav", "header", "footer", "aside", "dialog", "amp-sidebar", "[role=navigation]", "[role=dialog]"),
    *(f"{mark}{word}" for word in _MARKED.split() for mark in ".#"),
]  # each costs time on every page: what is left in only makes it likelier that a page is compared by more of its text
_OTHER_CONTENT = "img, svg, canvas, video, audio, iframe, object"
_LINKED_DATA = 'script[type*="application/ld+json" i]'
_JSON = json.JSONDecoder(strict=False)  # editors paste lines as they are
_ELLIPSES = ("…", "...")
_APPLICATIONS = ("root", "app", "__next", "__nuxt")
_PLACES = ", ".join(
    ("frameset", "main", "[role=main]", "#main:not(a)", "#content:not(a)", *(f"#{name}" for name in _APPLICATIONS))
)


class PageContent(NamedTuple):
    """The text of a page."""

    text: str
    found: int  # MAIN, VISIBLE, ELSEWHERE or NOWHERE


def main_or_visible(tree: Any, raw: bytes, *, formatted: bool, main: str | None = None) -> PageContent:
    """What stands for a page.

    Args:
        tree: The parsed page.
        raw: Its markup, in UTF-8.
        formatted: Whether lines and lists are kept apart by white space.
        main: Its main content by another extractor.
    """
    bounded = main is None  # by the page's own text, of which our extractor takes a part
    has_readers = any(name in raw for name in _NAMES_READERS)
    if main is None:
        main = _main_content(tree, has_readers=has_readers, formatted=formatted)
    body, num_main = tree.body, _num_words(main)
    if body is None:
        return PageContent(main, MAIN) if num_main else PageContent(_plain(tree, formatted=formatted), VISIBLE)
    waits = _waits(tree)
    has_record = num_main < _LEAST_ARTICLE and _RECORDED in raw
    is_most = num_main >= _FEW_WORDS and len(main) >= _least_share(num_main) * len(body.text)
    if bounded and is_most and not (waits or has_record):
        return PageContent(main, MAIN)  # scripts count as text here, so this is a bound that spares the next step
    readers = _READERS if has_readers and num_main >= _LEAST_ARTICLE else _COMMENTS if num_main >= _FEW_WORDS else []
    around = [*_AROUND, *readers]
    own = _plain(tree, formatted=formatted, skip_elements=around)
    num_own = _num_words(own)
    if _says_nothing(tree, own, num_main, waits=waits) or (waits and _num_unlinked(tree, _AROUND) < _LEAST_BESIDE):
        return _elsewhere(tree, formatted=formatted)
    if has_record and num_own < _LEAST_SHARE * _num_words(article := _from_records(tree)):
        return PageContent(article, ELSEWHERE)
    if num_main < _FEW_WORDS and (text := _from_noscript(tree, formatted=formatted)):
        return PageContent(text, ELSEWHERE)
    return _main_or_own(tree, main, own, around, formatted=formatted)


def _main_or_own(tree: Any, main: str, own: str, around: list[str], *, formatted: bool) -> PageContent:
    """Main content if it is most of what a page says of its own, else all that it says of its own."""
    num_main, num_own = _num_words(main), _num_words(own)
    if num_main >= _least_share(num_main) * num_own or _is_article(tree, num_main, num_own, around):
        return PageContent(main, MAIN)
    marked = _marked_main(tree, around, formatted=formatted)
    num_marked = _num_words(marked)
    if num_marked < _FEW_WORDS:
        return PageContent(f"{_title(tree)}\n\n{own}".strip(), VISIBLE)
    if num_main >= _least_share(num_main) * num_marked:  # a menu that nothing marks is most of the page
        return PageContent(main, MAIN)
    return PageContent(f"{_title(tree)}\n\n{marked}".strip(), VISIBLE)


def _main_content(tree: Any, *, has_readers: bool, formatted: bool) -> str:
    """By the parser's package; without all that may be words of readers if an article is left, else a thread may be."""
    if has_readers:
        article = _plain(tree, formatted=formatted, main_content=True, comments=False, skip_elements=_READERS)
        if _num_words(article) >= _LEAST_ARTICLE:
            return article
    return _plain(tree, formatted=formatted, main_content=True, comments=False)


def _marked_main(tree: Any, around: list[str], *, formatted: bool) -> str:
    """The text of the one element that is marked as the page's main content, without what is around in it."""
    marked = elements(tree.document, "main, [role=main]")
    if len(marked) != 1:
        return ""
    alone = resiliparse("parse.html").HTMLTree.parse(marked[0].html)
    return _plain(alone, formatted=formatted, skip_elements=around)


def visible(tree: Any, *, formatted: bool) -> PageContent:
    """All text that a reader sees."""
    return PageContent(_plain(tree, formatted=formatted), MAIN)


def _least_share(num_main: int) -> float:
    return _LEAST_SHARE if num_main >= _LEAST_ARTICLE else _LEAST_SHARE_SHORT


def _says_nothing(tree: Any, own: str, num_main: int, *, waits: bool) -> bool:
    """Whether a page has no text of its own, or so little that something else than text must be its content."""
    num_own = _num_words(own)
    if num_own == 0:
        return num_main < _FEW_WORDS
    if num_own >= _LEAST_WORDS:
        return False
    return waits or own.rstrip().endswith(_ELLIPSES) or tree.document.query_selector(_OTHER_CONTENT) is not None


def _waits(tree: Any) -> bool:
    """Whether the place for the content is there, and empty: a frame or a script is to fill it."""
    places = elements(tree.document, _PLACES)
    return bool(places) and not any(_is_filled(place) for place in places)


def _is_filled(place: Any) -> bool:
    text = place.text.strip()
    least = _LEAST_WORDS if place.id in _APPLICATIONS or text.endswith(_ELLIPSES) else 1  # "Loading …"
    if len(text) <= _MOST_MESSAGE:  # "You need to enable JavaScript"
        least += sum(_num_words(part.text) for part in elements(place, "noscript"))
    return _num_words(text) >= least or place.query_selector("img, table, form") is not None


def _is_article(tree: Any, num_main: int, num_own: int, around: list[str]) -> bool:
    """Whether main content that is a small share of a page is most of its prose: the rest are links to other pages."""
    if num_main < max(_LEAST_ARTICLE, _LEAST_ARTICLE_SHARE * num_own):
        return False
    return num_main >= _LEAST_SHARE * _num_unlinked(tree, around)


def _num_unlinked(tree: Any, around: list[str]) -> int:
    return _num_words(_plain(tree, formatted=False, skip_elements=[*around, "a"]))


def _elsewhere(tree: Any, *, formatted: bool) -> PageContent:
    text = _from_records(tree) or _from_noscript(tree, formatted=formatted) or _from_description(tree)
    return PageContent(text, ELSEWHERE if text else NOWHERE)


def _from_records(tree: Any) -> str:
    """The headline and the body of the articles in a page's JSON-LD."""
    articles = []
    for script in elements(tree.document, _LINKED_DATA):
        try:
            records = list(_records(_json_in(script.text)))
        except (ValueError, RecursionError):
            continue
        articles += [
            f"{_words(record.get('headline'))}\n\n{body}".strip()
            for record in records
            if (body := _words(record.get("articleBody")))
        ]
    return "\n\n".join(articles)


def _json_in(script: str) -> Any:
    """The JSON value of a script, whatever comment, CDATA or semicolon is around it."""
    script = script.replace("<![CDATA[", "")
    start = min((at for at in (script.find("{"), script.find("[")) if at >= 0), default=0)
    return _JSON.raw_decode(script, start)[0]


def _records(value: Any) -> Iterator[dict[str, Any]]:
    """All objects of a JSON value, from the outside in."""
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inner:
        yield from _records(part)


def _words(value: Any) -> str:
    """A string, or the strings of a list: paragraphs."""
    values = value if isinstance(value, list) else [value]
    return "\n\n".join(text for text in values if isinstance(text, str))


def _from_noscript(tree: Any, *, formatted: bool) -> str:
    """What a page says only without scripts, if that is twice as much as it says of its own with them."""
    parts = elements(tree.document, "noscript")
    if not parts or tree.document.query_selector("noscript noscript") is not None:
        return ""
    shown, all_words = (
        _num_words(_plain(tree, formatted=formatted, noscript=noscript, skip_elements=_AROUND))
        for noscript in (False, True)
    )
    alone = resiliparse("parse.html").HTMLTree.parse("".join(part.html for part in parts))
    text = _plain(alone, formatted=formatted, noscript=True, skip_elements=_AROUND)
    least = _LEAST_NAMING_SCRIPTS if "javascript" in text.lower() else _LEAST_NOSCRIPT
    return text if all_words - shown >= max(least, shown / _LEAST_SHARE) else ""


def _from_description(tree: Any) -> str:
    """Of a page that calls itself an article; the description of an application is the same on all of its pages."""
    document = tree.document
    kind = document.query_selector('meta[property="og:type"]')
    if kind is None or (kind.getattr("content") or "").strip().lower() != "article":
        return ""
    meta = document.query_selector('meta[property="og:description"], meta[name="description" i]')
    text = (meta.getattr("content") or "").strip() if meta is not None else ""
    return f"{_title(tree)}\n\n{text}" if _num_words(text) >= _LEAST_DESCRIPTION else ""


def _title(tree: Any) -> str:
    return " ".join((tree.title or "").split())


def _num_words(text: str) -> int:
    """Words; two characters of a script that is written without spaces are about one."""
    return len(text.split()) + (0 if text.isascii() else len(re.findall(_UNSPACED, text)) // 2)


def _plain(tree: Any, **settings: Any) -> str:
    extract = resiliparse("extract.html2text").extract_plain_text
    formatted = settings.pop("formatted")
    return str(extract(tree, preserve_formatting=formatted, **settings))
