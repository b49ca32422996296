"""A crawl by Scrapy, in a process of its own: `python crawl.py SETTINGS.json`.

The settings name where to begin (START), what to write items (ITEMS) and statistics (STATS) to, and everything else as
a Scrapy project does. The spider follows every link.
"""

import json
import sys
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess


class Everywhere(scrapy.Spider):
    """Follows every link, and gives an item for each page."""

    name = "everywhere"

    async def start(self) -> Any:
        """Where to begin."""
        for url in self.settings.getlist("START"):
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Any:
        """An item, and the links."""
        yield {"url": response.url, "title": response.css("h1::text").get()}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


class Patiently(Everywhere):
    """The same by an asynchronous callback, with the text in the item."""

    name = "patiently"

    async def parse(self, response: Any) -> Any:
        """An item, and the links."""
        yield {"url": response.url, "html": response.text}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


def main(path: str) -> None:
    """Crawl as the settings say."""
    settings = json.loads(Path(path).read_text("utf-8"))
    items, stats = Path(settings.pop("ITEMS")), Path(settings.pop("STATS"))
    spider = {"everywhere": Everywhere, "patiently": Patiently}[settings.pop("SPIDER", "everywhere")]
    found: list[Any] = []
    process = CrawlerProcess({"TELNETCONSOLE_ENABLED": False, "LOG_LEVEL": "INFO", **settings})
    crawler = process.create_crawler(spider)
    crawler.signals.connect(lambda item: found.append(dict(item)), signal=scrapy.signals.item_scraped, weak=False)
    process.crawl(crawler)
    process.start()
    items.write_text("".join(json.dumps(item) + "\n" for item in found), "utf-8")
    stats.write_text(json.dumps(crawler.stats.get_stats(), default=str), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
