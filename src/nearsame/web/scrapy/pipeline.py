"""The item pipeline: near-duplicate items are dropped, or marked with what they resemble.

1. An item of a page that the middleware has judged shares that judgement; any other is judged by its own text.
2. An item without either passes, and is counted.
"""

import logging
from collections.abc import Sequence
from typing import Any, TypeGuard

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from nearsame.shares import cut
from nearsame.web.scrapy.judge import Judged, NearDuplicateItem, PageJudge
from nearsame.web.scrapy.links import NearDuplicateLinksMiddleware
from nearsame.web.scrapy.options import CrawlOptions
from nearsame.web.scrapy.texts import markup_text
from nearsame.web.seen import Resemblance

__all__ = ["NearDuplicatePipeline"]

logger = logging.getLogger("nearsame.scrapy")


class NearDuplicatePipeline:
    """Drops near-duplicate items, or marks them.

    Example:
        ITEM_PIPELINES = {"nearsame.web.scrapy.NearDuplicatePipeline": 100}
    """

    def __init__(self, options: CrawlOptions, crawler: Crawler) -> None:
        self.options = options
        self._crawler = crawler
        self._judge: PageJudge | None = None
        self._own = self._said = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "NearDuplicatePipeline":
        """As Scrapy makes it."""
        if not crawler.settings.getbool("NEARSAME_ENABLED", True):
            raise NotConfigured("NEARSAME_ENABLED is off")
        return cls(CrawlOptions.of(crawler.settings), crawler)

    def open_spider(self) -> None:
        """The crawl begins: share the judge of the middleware, if there is one."""
        middleware = self._crawler.get_spider_middleware(NearDuplicateLinksMiddleware)
        self._own = middleware is None
        self._judge = PageJudge(self.options, self._crawler) if middleware is None else middleware.judge
        self._judge.shared = True
        self._crawler.signals.connect(self._scraped, signal=signals.item_scraped)

    def close_spider(self) -> None:
        """The crawl is over."""
        if self._own and self._judge is not None:
            self._judge.close()

    def process_item(self, item: Any) -> Any:
        """The item, or an exception that drops it."""
        judge, fields = self._judge, ItemAdapter(item)
        if judge is None:
            return item
        url = self._url(fields)
        judged = judge.receive(item, url)
        if judged is None:
            with judge.timed():
                text = self._text(fields)
            if not text:
                judge.count("no_text")
                return item
            if judge.is_short(text):
                return item
            judged = judge.document(url, text)
        if judged.resemblance is None:
            judge.sets_out(item, judged)
            return item
        if self.options.action == "drop":
            return self._kept(judge, item, judged, judged.resemblance)
        return self._marked(judge, item, fields, judged.resemblance)

    def _scraped(self, item: Any, response: Any = None) -> None:
        """An item has passed all components, perhaps as another object."""
        if self._judge is not None:
            url = self._url(ItemAdapter(item)) if ItemAdapter.is_item(item) else None
            self._judge.scraped(item, getattr(response, "url", None), url)

    def _url(self, fields: ItemAdapter) -> str | None:
        url = fields.get(self.options.url_field)
        if _is_of_a_loader(url):
            url = url[0]
        return None if url is None else str(url)

    def _text(self, fields: ItemAdapter) -> str | None:
        text = fields.get(self.options.text_field)
        if _is_of_a_loader(text):
            text = "\n".join(text)
        if text and isinstance(text, str):
            return text
        markup = fields.get(self.options.html_field)
        if _is_of_a_loader(markup):
            markup = "\n".join(markup)
        return markup_text(markup, self.options.extract) if isinstance(markup, str | bytes) else None

    def _kept(self, judge: PageJudge, item: Any, judged: Judged, resemblance: Resemblance) -> Any:
        if not judge.stands(item, judged, resemblance):
            return item
        judge.count("items_dropped")
        other = resemblance.url or resemblance.id
        what = "unchanged since an earlier crawl" if resemblance.unchanged else f"near-duplicate of {other}"
        raise NearDuplicateItem(f"{what} ({resemblance.measure} {cut(resemblance.similarity, 3)})", log_level="INFO")

    def _marked(self, judge: PageJudge, item: Any, fields: ItemAdapter, resemblance: Resemblance) -> Any:
        try:
            fields[self.options.mark_field] = resemblance._asdict()
        except (AttributeError, KeyError):
            self._cannot_mark(judge, item)
        else:
            judge.count("items_marked")
        return item

    def _cannot_mark(self, judge: PageJudge, item: Any) -> None:
        """Say so, once: an item is not lost for it."""
        if not self._said:
            self._said = True
            logger.error(
                "%s has no field %r, near-duplicates pass unmarked: declare it, or name another in NEARSAME_MARK_FIELD",
                type(item).__name__,
                self.options.mark_field,
            )
        judge.count("items_unmarked")


def _is_of_a_loader(value: Any) -> TypeGuard[Sequence[str]]:
    """Whether it is some strings in a list, as item loaders collect them."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(part, str) for part in value)
