"""The spider middleware: links that stand on a near-duplicate page are not followed.

1. Pages are judged here, before their items reach the pipeline, whether or not anything comes of them.
2. Items pass: what becomes of them is the pipeline's to say. Requests that carry `dont_deduplicate` in their meta are
   neither judged as pages nor dropped as links.
"""

import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from nearsame.web.scrapy.judge import PageJudge
from nearsame.web.scrapy.options import CrawlOptions
from nearsame.web.scrapy.texts import response_text
from nearsame.web.seen import Resemblance

__all__ = ["DONT", "NearDuplicateLinksMiddleware"]

logger = logging.getLogger("nearsame.scrapy")

DONT = "dont_deduplicate"


class NearDuplicateLinksMiddleware:
    """Does not follow links found on near-duplicate pages.

    Example:
        SPIDER_MIDDLEWARES = {"nearsame.web.scrapy.NearDuplicateLinksMiddleware": 950}
    """

    def __init__(self, judge: PageJudge) -> None:
        self.judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicateLinksMiddleware":
        """As Scrapy makes it."""
        if not crawler.settings.getbool("NEARSAME_ENABLED", True):
            raise NotConfigured("NEARSAME_ENABLED is off")
        made = cls(PageJudge(CrawlOptions.of(crawler.settings), crawler))
        crawler.signals.connect(made.spider_closed, signal=signals.spider_closed)
        return made

    def spider_closed(self) -> None:
        """The crawl is over."""
        self.judge.close()

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        """What a callback gave, without the links of a near-duplicate."""
        found = self._judged(response)
        dropped = 0
        for each in result:
            if found is not None and _is_link(each):
                dropped += 1
            else:
                self._sent(each, response, found)
                yield each
        self._told(response, dropped)

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same for callbacks that are asynchronous."""
        found = self._judged(response)
        dropped = 0
        async for each in result:
            if found is not None and _is_link(each):
                dropped += 1
            else:
                self._sent(each, response, found)
                yield each
        self._told(response, dropped)

    def _judged(self, response: Response) -> Resemblance | None:
        if response.meta.get(DONT):
            return None
        with self.judge.timed():
            text = response_text(response, self.judge.options.extract)
        if text is None:
            self.judge.count("no_page")
            return None
        return self.judge.page(response.url, text)

    def _sent(self, thing: Any, response: Response, found: Resemblance | None) -> None:
        if not isinstance(thing, Request) and self.judge.known(response.url):
            self.judge.send(thing, found)

    def _told(self, response: Response, dropped: int) -> None:
        if dropped:
            self.judge.count("links_dropped", dropped)
            logger.debug("%d links of %s are not followed", dropped, response.url)


def _is_link(thing: Any) -> bool:
    return isinstance(thing, Request) and not thing.meta.get(DONT)
