"""Made pages of the kinds that a crawl meets, each with the group of pages that say the same.

1. Pages of one group are to become one; pages of different groups are all to stay.
2. Texts are drawn from made words with a seed: no page is anybody's.
3. Sites differ in how they mark what stands around the content: by elements, by classes, or not at all.
"""

import functools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["KINDS", "Page", "by_kind", "pages", "verdict"]

SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in "aeio"]
NUM_WORDS = 3_000


@dataclass(frozen=True)
class Page:
    """A page, and which pages it is to become one with."""

    kind: str
    group: str
    html: str


@functools.cache
def _vocabulary() -> list[str]:
    drawn = random.Random("vocabulary")
    return ["".join(drawn.choices(SYLLABLES, k=drawn.choice((2, 2, 3)))) for _ in range(NUM_WORDS)]


class Writer:
    """What draws texts."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.words = _vocabulary()

    def text(self, size: int) -> str:
        """As many words, as sentences."""
        words = self.random.choices(self.words, k=size)
        starts = {0, *range(12, size, 12)}
        parts = [word.capitalize() if place in starts else word for place, word in enumerate(words)]
        return " ".join(part + ("." if place + 1 in starts else "") for place, part in enumerate(parts)) + "."

    def title(self, size: int = 6) -> str:
        """A headline."""
        return " ".join(self.random.choices(self.words, k=size)).capitalize()

    def paragraphs(self, number: int, size: int = 60) -> str:
        """Paragraphs of text."""
        return "".join(f"<p>{self.text(size)}</p>\n" for _ in range(number))

    def links(self, number: int, size: int = 5) -> list[str]:
        """Links with as many words each."""
        return [f'<a href="/{self.random.randrange(10**9)}">{self.title(size)}</a>' for _ in range(number)]


def _items(items: list[str], kind: str = "ul") -> str:
    return f"<{kind}>" + "".join(f"<li>{item}</li>" for item in items) + f"</{kind}>"


def _by_elements(site: Writer, title: str, content: str) -> str:
    menu, foot = _items(site.links(8, 1)), _items(site.links(6, 2))
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><header><a href='/'>{site.title(2)}</a></header>"
        f"<nav>{menu}</nav><main>{content}</main><aside><h3>{site.title(2)}</h3>{_items(site.links(5))}</aside>"
        f"<footer>{foot}<p>{site.text(15)}</p></footer></body></html>"
    )


def _by_classes(site: Writer, title: str, content: str) -> str:
    menu, foot = _items(site.links(10, 1)), _items(site.links(6, 2))
    return (
        f"<html><head><title>{title}</title></head><body><div class='header'><a href='/'>{site.title(2)}</a></div>"
        f"<div class='navbar menu'>{menu}</div><div id='content' class='content'>{content}</div>"
        f"<div class='sidebar'>{_items(site.links(6))}</div><div id='footer'>{foot}{site.text(12)}</div></body></html>"
    )


def _by_tables(site: Writer, title: str, content: str) -> str:
    menu = "".join(f"<tr><td>{link}</td></tr>" for link in site.links(7, 1))
    return (
        f"<html><head><title>{title}</title></head><body><table><tr><td><table>{menu}</table></td>"
        f"<td>{content}</td></tr></table><hr>{' | '.join(site.links(4, 1))}</body></html>"
    )


LAYOUTS = (_by_elements, _by_classes, _by_tables)


def _drawn(kind: str, number: int = 0) -> Writer:
    return Writer(f"{kind} {number}")


def _page(layout: int, site: str, title: str, content: str) -> str:
    return LAYOUTS[layout % len(LAYOUTS)](Writer(f"site {site}"), title, content)


def articles() -> Iterator[Page]:
    """The same article on three sites, with other menus, teasers and readers' comments."""
    for number in range(20):
        text = _drawn("article", number)
        title, body = text.title(), text.paragraphs(6)
        for layout in range(len(LAYOUTS)):
            guests = _drawn("comments", number * 10 + layout)
            said = "".join(f"<div class='comment'><p>{guests.text(25)}</p></div>" for _ in range(12))
            comments = f"<section id='comments' class='comments'><h2>Comments</h2>{said}</section>" if layout else ""
            yield Page(
                "article",
                f"{number}",
                _page(layout, f"news {layout}", title, f"<article><h1>{title}</h1>{body}</article>{comments}"),
            )


def hubs() -> Iterator[Page]:
    """One intro, eight or thirty links of each page's own."""
    for size, links, kind in ((21, 30, "hub"), (90, 30, "hub, long intro"), (60, 8, "hub, few links")):
        intro = _drawn("intro", size).text(size)
        for number in range(20):
            text = _drawn(kind, number)
            content = f"<h1>{text.title(2)}</h1><p>{intro}</p>{_items(text.links(links, 6))}"
            yield Page(kind, f"{number}", _page(number % 3, "hubs", "Topics", content))


def bare_hubs() -> Iterator[Page]:
    """Lists of links, and nothing else."""
    for number in range(20):
        content = _items(_drawn("sitemap", number).links(40))
        yield Page(
            "links alone", f"{number}", f"<html><head><title>Site map</title></head><body>{content}</body></html>"
        )


def lists() -> Iterator[Page]:
    """Pages of a list: teasers that differ, all else the same."""
    for number in range(20):
        text = _drawn("list", number)
        teasers = "".join(f"<div class='teaser'><h2>{link}</h2><p>{text.text(18)}</p></div>" for link in text.links(10))
        turn = f"<div class='pagination'>{' '.join(f'<a href=/{n}>{n}</a>' for n in range(12))}</div>"
        yield Page(
            "paginated list",
            f"{number}",
            _page(number % 3, "lists", "All articles", f"<h1>All articles</h1>{teasers}{turn}"),
        )


def products() -> Iterator[Page]:
    """A short text and a table of each product's own; delivery and returns are every page's."""
    terms = _drawn("terms").text(70)
    for number in range(20):
        text = _drawn("product", number)
        rows = "".join(
            f"<tr><th>{name}</th><td>{text.title(2)}</td></tr>"
            for name in ("Size", "Colour", "Weight", "Maker", "Fabric", "Origin")
        )
        content = (
            f"<h1>{text.title(4)}</h1><p class='price'>{text.random.randrange(10, 900)} EUR</p>"
            f"<p>{text.text(60)}</p><table>{rows}</table><div class='delivery'><h3>Delivery</h3><p>{terms}</p></div>"
        )
        yield Page("product", f"{number}", _page(number % 2, "shop", "Shop", content))


def searches() -> Iterator[Page]:
    """Results of different queries."""
    for number in range(20):
        text = _drawn("search", number)
        results = _items([f"{link}<br><span>{text.text(14)}</span>" for link in text.links(10)], "ol")
        yield Page(
            "search result",
            f"{number}",
            _page(number % 3, "search", "Search", f"<h1>Search results</h1><form><input name=q></form>{results}"),
        )


def threads() -> Iterator[Page]:
    """A question and answers; each thread is its own, and its print version says the same."""
    for number in range(15):
        text = _drawn("thread", number)
        title = text.title()
        posts = [f"<div class='post'><b>{text.title(1)}</b><p>{text.text(35)}</p></div>" for _ in range(8)]
        content = f"<h1>{title}</h1>{''.join(posts)}"
        yield Page("forum thread", f"{number}", _page(0, "forum", title, content))
        yield Page(
            "forum thread", f"{number}", f"<html><head><title>{title}</title></head><body>{content}</body></html>"
        )


def answers() -> Iterator[Page]:
    """One short question asked again and again; the answers are marked as comments."""
    question = _drawn("question").text(12)
    for number in range(15):
        text = _drawn("answers", number)
        posts = "".join(f"<div class='comment'><p>{text.text(40)}</p></div>" for _ in range(6))
        content = f"<h1>Help</h1><p>{question}</p><div id='comments'>{posts}</div>"
        yield Page("answers marked as comments", f"{number}", _page(0, "answers", "Help", content))


def issues() -> Iterator[Page]:
    """All that is said is marked as comments, the question too; a notice is the same on all pages."""
    notice = _drawn("notice").text(90)
    for number in range(15):
        text = _drawn("issue", number)
        said = (
            f"<div class='timeline-comment'><div class='comment-body'><p>{text.text(50)}</p></div></div>"
            for _ in range(5)
        )
        content = f"<h1>Issue</h1><div class='discussion'>{''.join(said)}</div><p>{notice}</p>"
        yield Page("issue, all marked as comments", f"{number}", _page(number % 3, "issues", "Issue", content))


def shops() -> Iterator[Page]:
    """Short texts below a menu of all that there is, which nothing marks as one."""
    menu = _items(_drawn("shop").links(300, 2))
    for number in range(20):
        text = _drawn("offer", number)
        content = f"<main><h1>{text.title()}</h1><p>{text.text(60)}</p></main>"
        yield Page("offer below a large menu", f"{number}", f"<body><div class='mega'>{menu}</div>{content}</body>")


def paywalls() -> Iterator[Page]:
    """The same offer on all pages, and each article for search engines alone."""
    offer = _drawn("paywall").text(60)
    for number in range(30):
        text = _drawn("paid article", number // 2)
        record = {"@type": "NewsArticle", "headline": text.title(), "articleBody": text.text(300)}
        head = f"<script type='application/ld+json'>{json.dumps(record)}</script>"
        body = f"<main><h1>Subscribe</h1><p>{offer}</p></main>"
        yield Page("article behind an offer", f"{number // 2}", f"<html><head>{head}</head><body>{body}</body></html>")


def galleries() -> Iterator[Page]:
    """Pictures with captions, or with nothing."""
    for number in range(15):
        text = _drawn("gallery", number)
        shown = "".join(
            f"<figure><img src='{n}.jpg' alt='{text.title(4)}'><figcaption>{text.title(5)}</figcaption></figure>"
            for n in range(12)
        )
        yield Page("gallery", f"{number}", _page(number % 3, "gallery", "Pictures", f"<h1>Pictures</h1>{shown}"))
        mute = "".join(f"<img src='/{number}/{n}.jpg'>" for n in range(12))
        yield Page("gallery without words", f"mute {number}", _page(number % 2, "gallery", "Pictures", mute))


def walls() -> Iterator[Page]:
    """What says the same at every address: one is enough. Behind a notice about cookies there is a page."""
    missing, login = _drawn("missing").text(14), _drawn("login").text(22)
    for _ in range(15):
        yield Page("soft 404", "the only one", _page(0, "walls", "Sorry", f"<h1>Page not found</h1><p>{missing}</p>"))
        form = "<form><input name=user><input name=password type=password><button>Log in</button></form>"
        yield Page(
            "login wall", "the only one", _page(1, "walls", "Log in", f"<h1>Please log in</h1><p>{login}</p>{form}")
        )
    notice = _drawn("cookies").text(90)
    banner = f"<div id='cookie-banner' class='cookie-consent'><p>{notice}</p><button>Accept all</button></div>"
    for number in range(15):
        text = _drawn("behind cookies", number)
        content = f"{banner}<article><h1>{text.title()}</h1>{text.paragraphs(3, 40)}</article>"
        yield Page("behind a cookie notice", f"{number}", _page(number % 3, "cookies", "News", content))


def shells() -> Iterator[Page]:
    """What a script would fill: nothing is known of these pages, so all stay."""
    menu = _items(_drawn("shell").links(12, 2))
    for number in range(25):
        script = f"<script>window.page={number}</script><script src='/app.js'></script>"
        head = "<head><title>The app</title><meta name=description content='The best app that there is for all that you do'></head>"
        needs = "<noscript>You need to enable JavaScript to run this app.</noscript>"
        yield Page("app shell", f"bare {number}", f"<html>{head}<body>{needs}<div id=root></div>{script}</body></html>")
        yield Page(
            "app shell",
            f"loading {number}",
            f"<html>{head}<body><div id=app><p>Loading, please wait …</p></div>{script}</body></html>",
        )
        yield Page(
            "empty main",
            f"main {number}",
            f"<html>{head}<body><nav>{menu}</nav><main></main><footer>{menu}</footer>{script}</body></html>",
        )
        yield Page(
            "empty main",
            f"div {number}",
            f"<html>{head}<body><div class=top>{menu}</div><div id=content></div>{script}</body></html>",
        )
        yield Page(
            "app shell", f"element {number}", f"<html>{head}<body><app-root>Loading...</app-root>{script}</body></html>"
        )
        frames = f"<frameset cols='20%,80%'><frame src='menu.html'><frame src='{number}.html'><noframes>Your browser does not show frames.</noframes></frameset>"
        yield Page("frameset", f"{number}", f"<html><head><title>Frames</title></head>{frames}</html>")


def elsewhere() -> Iterator[Page]:
    """An article that stands in the metadata, or for browsers without scripts: two sites each."""
    for number in range(15):
        text = _drawn("elsewhere", number)
        title, body = text.title(), text.text(180)
        for site in range(2):
            menu = f"<nav>{_items(Writer(f'elsewhere {site}').links(15, 2))}</nav><main></main>"
            record = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": title, "articleBody": body}
            held = (
                {"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "x"}, record]}
                if site
                else record
            )
            linked = f"<script type='application/ld+json'>{json.dumps(held)}</script>"
            yield Page(
                "article in JSON-LD",
                f"{number}",
                f"<html><head><title>{title}</title>{linked}</head><body>{menu}</body></html>",
            )
            yield Page(
                "article in noscript",
                f"{number}",
                f"<html><head><title>{title}</title></head><body>{menu}<noscript><h1>{title}</h1><p>{body}</p></noscript></body></html>",
            )
            unmarked = menu.replace("nav", "div").replace("<main></main>", "")
            yield Page(
                "article in noscript below a menu that nothing marks",
                f"{number}",
                f"<html><head><title>{title}</title></head><body>{unmarked}<noscript><h1>{title}</h1><p>{body}</p></noscript></body></html>",
            )
            meta = f"<meta property='og:type' content='article'><meta name=description content='{escape(body[:160], quote=True)}'>"
            yield Page(
                "article in its description",
                f"{number}",
                f"<html><head><title>{title}</title>{meta}</head><body>{menu}</body></html>",
            )


def twins() -> Iterator[Page]:
    """The same article for phones, and for paper."""
    for number in range(15):
        text = _drawn("twins", number)
        title, body = text.title(), text.paragraphs(5)
        head = f"<head><title>{title}</title></head>"
        yield Page(
            "AMP and print",
            f"{number}",
            _page(number % 3, "twins", title, f"<article><h1>{title}</h1>{body}</article>"),
        )
        picture = "<amp-img src=a.jpg width=1 height=1></amp-img>"
        yield Page(
            "AMP and print",
            f"{number}",
            f"<html amp>{head}<body><amp-sidebar><ul><li>Home</ul></amp-sidebar><article><h1>{title}</h1>{picture}{body}</article></body></html>",
        )
        yield Page(
            "AMP and print",
            f"{number}",
            f"<html>{head}<body onload='print()'><h1>{title}</h1>{body}<p>Printed from the site</p></body></html>",
        )


def feeds() -> Iterator[Page]:
    """News as XML: each its own."""
    for number in range(15):
        text = _drawn("feed", number)
        items = "".join(
            f"<item><title>{text.title()}</title><description>{text.text(20)}</description></item>" for _ in range(8)
        )
        yield Page(
            "feed",
            f"{number}",
            f"<?xml version='1.0'?><rss version='2.0'><channel><title>News</title>{items}</channel></rss>",
        )


KINDS: tuple[Callable[[], Iterator[Page]], ...] = (
    articles, hubs, bare_hubs, lists, products, searches, threads, answers, issues, shops, paywalls, galleries, walls, shells, elsewhere, twins, feeds,
)  # fmt: skip


def pages() -> list[Page]:
    """All of them."""
    return [page for kind in KINDS for page in kind()]


def by_kind() -> dict[str, list[Page]]:
    """All of them, by kind."""
    found: dict[str, list[Page]] = {}
    for page in pages():
        found.setdefault(page.kind, []).append(page)
    return found


def verdict(made: list[Page], removed: set[int]) -> tuple[int, int, int]:
    """How many pages should go, how many of these went, and how many went wrongly; the pages are removed by number."""
    groups = {page.group for page in made}
    stay = {page.group for number, page in enumerate(made) if number not in removed}
    wrongly = len(groups - stay)  # of a group that is gone the last page went for another's sake
    return len(made) - len(groups), len(removed) - wrongly, wrongly
