"""The judge of a crawl: is this page a near-duplicate of one that came before it?

1. A page is judged once. The middleware sees it first, as a response; the items that its callback gives share its
   judgement, also where another component has replaced them, by their URL. Where a page comes twice, that is the first
   judgement: an item too many is better than a page lost.
2. A page does not resemble itself: what an earlier run of a job has left under the same URL is the same page, fetched
   again because the job was stopped before it was done with it. What an earlier crawl has left there is another matter:
   a page that resembles it is unchanged.
3. But what comes twice in one run is twice there: by two redirects to one URL, or as two items of one page.
4. A page is a witness for the items of others once an item of its own has passed all components, or, of an earlier
   crawl, as it is: else what gave no item, or none that passed, would take those of its copies with it. Of an item
   without a URL nobody could say so if another component replaces it: it is one as soon as it has passed us.
5. Where the index does not answer, nobody is judged: pages and items pass, and are counted.
"""

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem

from nearsame.errors import NearSameError
from nearsame.named import NamedTuple
from nearsame.printable import without_halves
from nearsame.recipes.methods import MinHash
from nearsame.shares import cut
from nearsame.web.scrapy.options import MEMORY, CrawlOptions
from nearsame.web.scrapy.texts import num_words
from nearsame.web.seen import Indexed, InMemory, Resemblance, Seen

__all__ = ["NearDuplicateItem", "PageJudge"]

logger = logging.getLogger("nearsame.scrapy")

_LONGEST = 2000  # bytes of a URL that is a name
_MOST_UNDER_WAY = 10_000  # items; one that takes longer is found by its URL


class NearDuplicateItem(DropItem):
    """An item went for one that it resembles."""


class Judged(NamedTuple):
    """A page or an item: what it is called, and what it resembles."""

    id: str
    url: str | None
    resemblance: Resemblance | None


class PageJudge:
    """Judgements of one crawl, and what they go by."""

    def __init__(self, options: CrawlOptions, crawler: Crawler) -> None:
        self.options = options
        self._crawler = crawler
        self._seen = _opened(options)
        self.shared = False  # whether somebody asks about items
        self._pages: dict[str, Judged] = {}  # of this run, by URL, the first time
        self._items: OrderedDict[int, tuple[Any, Judged]] = OrderedDict()  # on their way, by identity
        self._visits: dict[str, int] = {}
        self._new: set[str] = set()  # what this run has put among those that are seen
        self._gave: set[str] = set()  # of them those of which an item is out
        self._stands_for: dict[str, str] = {}  # of a copy, whose items stay, of what it is one: of what gave none
        self._out: OrderedDict[int, tuple[Any, Judged]] = OrderedDict()  # items that have passed us, by identity
        for signal in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._lost, signal=signal)

    def page(self, url: str, text: str) -> Judged:
        """What a page resembles."""
        judged = self.document(url, text)
        self._pages.setdefault(url, judged)
        return judged

    def sets_out(self, item: Any, judged: Judged) -> None:
        """An item that goes for none has passed us."""
        _remember(self._out, item, judged)
        if judged.url is None:
            self._gave.add(judged.id)

    def scraped(self, item: Any, page: str | None, url: str | None) -> None:
        """An item has passed all components: as it passed us, or made anew of a page, or with the URL of one."""
        sent, judged = self._out.pop(id(item), (None, None))
        known = page if self.known(page or "") else url
        own = judged.id if judged is not None and sent is item else self._name(known, "")
        self._gave |= {own, self._stands_for.get(own, own)} & self._new

    def _lost(self, item: Any, **told: Any) -> None:
        """An item is dropped by another component, or one has failed: what gave it is no witness by it."""
        sent, judged = self._out.pop(id(item), (None, None))
        is_ours = isinstance(told.get("exception"), NearDuplicateItem)
        if judged is not None and sent is item and judged.url is None and not is_ours:
            self._gave -= {judged.id, self._stands_for.get(judged.id, judged.id)}

    def stands(self, item: Any, judged: Judged, resemblance: Resemblance) -> bool:
        """Whether an item may go for what it resembles; of what gave none it is the first, and stands for it.

        So do all items of its page.
        """
        name = resemblance.id
        is_out = resemblance.unchanged or name not in self._new or name in self._gave
        if is_out and self._stands_for.get(judged.id) != name:
            return True
        self._stands_for[judged.id] = name
        self.sets_out(item, judged)
        if judged.url is None:
            self._gave.add(name)
        self.count("items_alone")
        return False

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

    def send(self, item: Any, judged: Judged) -> None:
        """An item sets out that shares the judgement of its page."""
        if self.shared:
            _remember(self._items, item, judged)

    def receive(self, item: Any, url: str | None) -> Judged | None:
        """How an item's page was judged; None: it was not."""
        sent, judged = self._items.pop(id(item), (None, None))
        return judged if sent is item else self._pages.get(url or "")

    def document(self, url: str | None, text: str) -> Judged:
        """What a document resembles."""
        url = _kept(url)
        own = self._id(url, text)
        try:
            with self.timed():
                resemblance = self._seen.add_if_new(own, url, text)
        except (NearSameError, OSError) as error:
            return self._unjudged(own, url, error)
        self.count("seen")
        if resemblance is None:
            self._new.add(own)
            return Judged(own, url, None)
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
        return Judged(own, url, resemblance)

    def _unjudged(self, own: str, url: str | None, error: NearSameError | OSError) -> Judged:
        """What nobody can judge now passes, with its items and links; it may have been stored all the same."""
        self._new.add(own)
        self.count("unjudged")
        told = {"what": url or "an item", "error": error}
        logger.error("Not judged, so it passes: %(what)s: %(error)s", told, extra={"spider": self._crawler.spider})
        return Judged(own, url, None)

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
        """The name; for what comes again in one run, with a number."""
        name = self._name(url, text)
        number = self._visits[name] = self._visits.get(name, 0) + 1
        return name if number == 1 else f"{name}#{number}"

    @staticmethod
    def _name(url: str | None, text: str) -> str:
        """The URL, unless it is longer than any store can look up, or a name by the text."""
        if not url:
            return f"item:{_digest(text)}"
        name = str(_kept(url))
        return name if len(name.encode()) <= _LONGEST else f"url:{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _kept(url: str | None) -> str | None:
    """A URL as an index keeps it."""
    return None if url is None else without_halves(url).replace("\0", "\ufffd")


def _remember(some: OrderedDict[int, tuple[Any, Any]], item: Any, what: Any) -> None:
    """Something about an item on its way; of too many the first are forgotten."""
    some[id(item)] = item, what
    if len(some) > _MOST_UNDER_WAY:
        some.popitem(last=False)


def _opened(options: CrawlOptions) -> Seen:
    if options.index == MEMORY:
        return InMemory(options.method or MinHash())
    return Indexed(options.index, options.method, options.job)
