"""The judge of a crawl: is this page a near-duplicate of one that came before it?

1. A page is judged once. The middleware sees it first, as a response; the items that its callback gives share its
   judgement, also where another component has replaced them, by their URL. Where a page comes twice, that is the first
   judgement: an item too many is better than a page lost.
2. A page does not resemble itself: what an earlier run of a job has left under the same URL is the same page, fetched
   again because the job was stopped before it was done with it. What an earlier crawl has left there is another matter:
   a page that resembles it is unchanged.
3. But what comes twice in one run is twice there: by two redirects to one URL, or as two items of one page.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy.crawler import Crawler

from nearsame.printable import without_halves
from nearsame.recipes.methods import MinHash
from nearsame.shares import cut
from nearsame.web.scrapy.options import MEMORY, CrawlOptions
from nearsame.web.scrapy.texts import num_words
from nearsame.web.seen import Indexed, InMemory, Resemblance, Seen

__all__ = ["PageJudge"]

logger = logging.getLogger("nearsame.scrapy")

_MOST_UNDER_WAY = 10_000  # items; one that takes longer is found by its URL


class PageJudge:
    """Judgements of one crawl, and what they go by."""

    def __init__(self, options: CrawlOptions, crawler: Crawler) -> None:
        self.options = options
        self._crawler = crawler
        self._seen = _opened(options)
        self.shared = False  # whether somebody asks about items
        self._pages: dict[str, Resemblance | None] = {}  # of this run, by URL, the first time
        self._items: OrderedDict[int, tuple[Any, Resemblance | None]] = OrderedDict()  # on their way, by identity
        self._visits: dict[str, int] = {}

    def page(self, url: str, text: str) -> Resemblance | None:
        """What a page resembles."""
        resemblance = self.document(url, text)
        self._pages.setdefault(url, resemblance)
        return resemblance

    def is_short(self, text: str) -> bool:
        """Whether a text has too few words to be judged."""
        least = self.options.min_words
        if not least or num_words(text) >= least:
            return False
        self.count("short")
        return True

    def known(self, url: str) -> bool:
        """Whether a page was judged in this run."""
        return url in self._pages

    def send(self, item: Any, resemblance: Resemblance | None) -> None:
        """An item sets out that shares the judgement of its page."""
        if self.shared:
            self._items[id(item)] = item, resemblance
            if len(self._items) > _MOST_UNDER_WAY:
                self._items.popitem(last=False)

    def receive(self, item: Any, url: str | None) -> tuple[bool, Resemblance | None]:
        """Whether an item's page was judged, and how."""
        sent, resemblance = self._items.pop(id(item), (None, None))
        if sent is item:
            return True, resemblance
        return url in self._pages, self._pages.get(url or "")

    def document(self, url: str | None, text: str) -> Resemblance | None:
        """What a document resembles."""
        url = None if url is None else without_halves(url).replace("\0", "\ufffd")  # which no index keeps
        with self.timed():
            resemblance = self._seen.add_if_new(self._id(url, text), url, text)
        self.count("seen")
        if resemblance is None:
            return None
        self.count("unchanged" if resemblance.unchanged else "near_duplicates")
        logger.info(
            "%(what)s: %(url)s is like %(other)s (%(measure)s %(similarity)s)",
            {
                "what": "Unchanged" if resemblance.unchanged else "Near-duplicate",
                "url": url or "an item",
                "other": resemblance.url or resemblance.id,
                "measure": resemblance.measure,
                "similarity": cut(resemblance.similarity, 3),
            },
            extra={"spider": self._crawler.spider},
        )
        return resemblance

    def count(self, name: str, number: float = 1) -> None:
        """Add to one of our numbers in Scrapy's statistics."""
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"nearsame/{name}", number)  # type: ignore[arg-type]  # seconds are not an int

    def note(self, name: str, value: object) -> None:
        """Put something of ours into Scrapy's statistics."""
        if self._crawler.stats is not None:
            self._crawler.stats.set_value(f"nearsame/{name}", value)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the seconds of a block."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.count("seconds", time.perf_counter() - began)

    def close(self) -> None:
        """The crawl is over."""
        self._seen.close()

    def _id(self, url: str | None, text: str) -> str:
        """The URL, or a name by the text; for what comes again in one run, with a number."""
        name = url or f"item:{hashlib.blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"
        number = self._visits[name] = self._visits.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"


def _opened(options: CrawlOptions) -> Seen:
    if options.index == MEMORY:
        return InMemory(options.method or MinHash())
    return Indexed(options.index, options.method, options.job)
