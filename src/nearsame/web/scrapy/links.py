"""The spider middleware: links that stand on a near-duplicate page are followed as long as new pages come of them.

1. Pages are judged here, before their items reach the pipeline, whether or not anything comes of them.
2. Items pass: what becomes of them is the pipeline's to say. Requests that carry `dont_deduplicate` in their meta are
   neither judged as pages nor dropped as links.
3. Links of a near-duplicate that another page has given are dropped without a loss. The others are followed within the
   budget, after all that is not doubtful: their priority is lower by one for each near-duplicate on the way.
4. A page that is unchanged since an earlier crawl is not a near-duplicate here: the pages behind it may have changed.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from nearsame.web.scrapy.given_links import GivenLinks, Page
from nearsame.web.scrapy.judge import PageJudge
from nearsame.web.scrapy.options import CrawlOptions
from nearsame.web.scrapy.texts import response_text

__all__ = ["DONT", "NearDuplicateLinksMiddleware"]

DONT = "dont_deduplicate"


class NearDuplicateLinksMiddleware:
    """Follows links found on near-duplicate pages only as long as new pages come of them.

    Example:
        SPIDER_MIDDLEWARES = {"nearsame.web.scrapy.NearDuplicateLinksMiddleware": 950}
    """

    def __init__(self, judge: PageJudge, links: GivenLinks) -> None:
        self.judge = judge
        self._links = links

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicateLinksMiddleware":
        """As Scrapy makes it."""
        if not crawler.settings.getbool("NEARSAME_ENABLED", True):
            raise NotConfigured("NEARSAME_ENABLED is off")
        judge = PageJudge(CrawlOptions.of(crawler.settings), crawler)
        made = cls(judge, GivenLinks(judge, crawler))
        crawler.signals.connect(made.spider_closed, signal=signals.spider_closed)
        return made

    def spider_closed(self) -> None:
        """The crawl is over."""
        self._links.close()
        self.judge.close()

    def process_spider_output(self, response: Response, result: Iterable[Any]) -> Iterable[Any]:
        """What a callback gave, without the links that are not followed."""
        page = self._judged(response)
        for request_or_item in result:
            if self._passes(request_or_item, page):
                yield request_or_item

    async def process_spider_output_async(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same for callbacks that are asynchronous."""
        page = self._judged(response)
        async for request_or_item in result:
            if self._passes(request_or_item, page):
                yield request_or_item

    def _judged(self, response: Response) -> Page:
        page = self._page(response)
        self._links.arrived(page)
        return page

    def _page(self, response: Response) -> Page:
        if response.meta.get(DONT):
            return Page(response)
        with self.judge.timed():
            text = response_text(response, self.judge.options.extract)
        if text is None:
            self.judge.count("no_page")
            return Page(response, is_no_page=True)
        if self.judge.is_short(text):
            return Page(response)
        return Page(response, self.judge.page(response.url, text))

    def _passes(self, thing: Any, page: Page) -> bool:
        if isinstance(thing, Request):
            return thing.meta.get(DONT) or self._links.follows(thing, page)
        if page.judged is not None:
            self.judge.send(thing, page.judged)
        return True
