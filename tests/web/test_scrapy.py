"""Scrapy crawls a site of traps and one of lists: near-duplicates are dropped or marked, and traps end."""

import errno
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy import Field, Item, Request, signals
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from nearsame.errors import ConfigError, IndexMismatchError, StoreError
from nearsame.recipes.methods import MinHash
from nearsame.web.scrapy import NearDuplicateLinksMiddleware, NearDuplicatePipeline
from nearsame.web.scrapy.given_links import GivenLinks, Page
from nearsame.web.scrapy.judge import Judged, PageJudge
from nearsame.web.scrapy.options import CrawlOptions
from nearsame.web.seen import Indexed, Resemblance
from tests.patience import PATIENCE
from tests.web.listing import Listing
from tests.web.site import NUM_ARTICLES, Served, Site, served

ROOT = Path(__file__).resolve().parents[2]
ADDON = {"ADDONS": {"nearsame.web.scrapy.Addon": 500}}
OF_TRAPS = {**ADDON, "NEARSAME_FOLLOW": 3}
BOUNDS = {"CLOSESPIDER_PAGECOUNT": 150, "CONCURRENT_REQUESTS": 1, "DOWNLOAD_DELAY": 0, "DEPTH_PRIORITY": 1}
BY_SCRAPY = {  # depth first, eight requests at a time
    "CLOSESPIDER_PAGECOUNT": 1_500,
    "CONCURRENT_REQUESTS": 16,
    "DEPTH_PRIORITY": 0,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleLifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.LifoMemoryQueue",
}
BREADTH_FIRST = {
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


class Crawl(NamedTuple):
    """What came of a crawl."""

    items: list[dict[str, Any]]
    stats: dict[str, Any]
    log: str

    @property
    def paths(self) -> list[str]:
        """Of the items, without their hosts."""
        return [item["url"].partition("//")[2].partition("/")[2] for item in self.items]


@pytest.fixture
def site() -> Iterator[Site]:
    """The site and its mirror."""
    with served(Site()) as found:
        yield found


def begun(folder: Path, site: Served, **settings: Any) -> subprocess.Popen[str]:
    """A crawl of the site, under way."""
    settings = {
        **BOUNDS,
        **BREADTH_FIRST,
        "START": [f"{site.hosts[0]}/"],
        "ITEMS": str(folder / "items.jsonl"),
        "STATS": str(folder / "stats.json"),
        **settings,
    }
    (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    script = Path(__file__).with_name("crawl.py")
    return subprocess.Popen(
        [sys.executable, script, folder / "settings.json"], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )


def ended(folder: Path, process: subprocess.Popen[str]) -> Crawl:
    """What came of it."""
    _, log = process.communicate(timeout=PATIENCE)
    assert 0 == process.returncode, log
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text("utf-8").splitlines()]
    return Crawl(items, json.loads((folder / "stats.json").read_text("utf-8")), log)


def crawl(folder: Path, site: Served, **settings: Any) -> Crawl:
    """A crawl of the site."""
    return ended(folder, begun(folder, site, **settings))


def ours(crawl: Crawl) -> dict[str, int]:
    """Our numbers in Scrapy's statistics."""
    prefix = "nearsame/"
    return {name.removeprefix(prefix): value for name, value in crawl.stats.items() if name.startswith(prefix)}


def test_the_traps_have_no_end_without_us(tmp_path: Path, site: Site) -> None:
    """The site is a trap indeed: the crawl ends only because it is stopped."""
    found = crawl(tmp_path, site)
    assert "closespider_pagecount" == found.stats["finish_reason"]
    assert 150 <= sum(site.requests.values())


@pytest.mark.slow
def test_every_page_is_kept_once_and_the_crawl_ends(tmp_path: Path, site: Site) -> None:
    """Of mirrors, sessions, months and printer versions, the page that came first stays."""
    found = crawl(tmp_path, site, **OF_TRAPS)
    assert "finished" == found.stats["finish_reason"]
    assert sorted(["", "calendar/2026/1", *(f"articles/{n}" for n in range(NUM_ARTICLES))]) == sorted(found.paths)
    assert {f"127.0.0.1:{site.ports[0]}"} == {item["url"].split("/")[2] for item in found.items}
    numbers = ours(found)
    pages = found.stats["response_received_count"]
    assert pages < 90
    assert (pages, pages - len(found.items)) == (numbers["seen"], numbers["near_duplicates"])
    assert numbers["items_dropped"] == numbers["near_duplicates"] == found.stats["item_dropped_count"]
    assert numbers["links_dropped"] > 0
    assert "/calendar/2026/9" not in site.requests
    assert f"/print/0 is like http://127.0.0.1:{site.ports[0]}/articles/0" in found.log


@pytest.mark.slow
def test_marked_items_stay_and_name_what_they_resemble(tmp_path: Path, site: Site) -> None:
    """With NEARSAME_ACTION="mark"; links are not followed all the same."""
    found = crawl(tmp_path, site, **OF_TRAPS, NEARSAME_ACTION="mark", NEARSAME_MARK_FIELD="like")
    numbers = ours(found)
    assert numbers["seen"] == len(found.items) < 90
    marked = [item for item in found.items if "like" in item]
    assert numbers["near_duplicates"] == numbers["items_marked"] == len(marked)
    (printed,) = [item for item in marked if item["url"] == f"{site.hosts[0]}/print/0"]
    assert f"{site.hosts[0]}/articles/0" == printed["like"]["url"]
    assert ("jaccard", True) == (printed["like"]["measure"], printed["like"]["similarity"] >= 0.8)
    assert {"url", "title"} == set(next(item for item in found.items if "like" not in item))


@pytest.mark.slow
def test_the_pipeline_works_alone(tmp_path: Path, site: Site) -> None:
    """It judges items by their own text or markup; all links are followed, so the crawl is stopped."""
    pipelines = {"nearsame.web.scrapy.NearDuplicatePipeline": 100}
    found = crawl(tmp_path, site, SPIDER="patiently", ITEM_PIPELINES=pipelines, CLOSESPIDER_PAGECOUNT=60)
    assert "closespider_pagecount" == found.stats["finish_reason"]
    assert NUM_ARTICLES + 2 == len(found.items)
    assert "links_dropped" not in ours(found)


@pytest.mark.slow
def test_the_middleware_works_alone(tmp_path: Path, site: Site) -> None:
    """No item is dropped, and the crawl comes to its end; callbacks may be asynchronous."""
    middlewares = {"nearsame.web.scrapy.NearDuplicateLinksMiddleware": 950}
    found = crawl(tmp_path, site, SPIDER="patiently", SPIDER_MIDDLEWARES=middlewares, NEARSAME_FOLLOW=3)
    assert "finished" == found.stats["finish_reason"]
    assert ours(found)["seen"] == len(found.items) == found.stats["response_received_count"] < 90
    assert ours(found)["links_dropped"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ["digest", "jaccard", {"method": "minhash", "recall": 0.999}])
def test_the_method_is_a_setting(tmp_path: Path, site: Site, method: Any) -> None:
    """Equal texts alone find sessions and mirrors; the months are all different to it."""
    found = crawl(tmp_path, site, **OF_TRAPS, NEARSAME_METHOD=method, NEARSAME_EXTRACT="main", CLOSESPIDER_PAGECOUNT=60)
    months = sum(path.startswith("calendar") for path in found.paths)
    assert (months > 1) == (method == "digest")
    assert sorted(f"articles/{n}" for n in range(NUM_ARTICLES)) == sorted(p for p in found.paths if "articles" in p)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"NEARSAME_ACTION": "delete"}, "NEARSAME_ACTION='delete' is not one of drop, mark"),
        ({"NEARSAME_TRESHOLD": 0.7}, "NEARSAME_TRESHOLD is not a setting"),
        ({"NEARSAME_THRESHOLD": 1.7}, "threshold"),
        ({"NEARSAME_METHOD": ["minhash"]}, "do not make a recipe"),
        ({"NEARSAME_FOLLOW": "all"}, "NEARSAME_FOLLOW='all' is not a whole number from 0 on"),
        ({"NEARSAME_FOLLOW": True}, "NEARSAME_FOLLOW=True is not a whole number"),
        ({"NEARSAME_MIN_WORDS": -1}, "NEARSAME_MIN_WORDS=-1 is not a whole number"),
        ({"NEARSAME_EXTRACT": "body"}, "NEARSAME_EXTRACT='body' is not one of main, text"),
    ],
)
def test_a_setting_that_cannot_be_stops_the_crawl_before_it_begins(settings: dict[str, Any], message: str) -> None:
    """It names the setting."""
    with pytest.raises(ConfigError, match=message):
        CrawlOptions.of(Settings(settings))


def test_what_is_switched_off_is_not_there() -> None:
    """NEARSAME_ENABLED as Scrapy's own components have it."""
    crawler = get_crawler(settings_dict={"NEARSAME_ENABLED": False})
    for component in (NearDuplicatePipeline, NearDuplicateLinksMiddleware):
        with pytest.raises(NotConfigured):
            component.from_crawler(crawler)


@dataclass
class Plain:
    """An item that takes no other fields."""

    url: str
    text: str


class Marked(Item):
    """An item with a field to be marked in."""

    url = Field()
    text = Field()
    near_duplicate = Field()


def piped(*items: Any, **settings: Any) -> tuple[list[Any], dict[str, Any]]:
    """What the pipeline alone lets through, and our numbers."""
    crawler = get_crawler(settings_dict={"NEARSAME_ACTION": "mark", **settings})
    pipeline = NearDuplicatePipeline(CrawlOptions.of(crawler.settings), crawler)
    crawler.get_spider_middleware = lambda _: None  # type: ignore[method-assign]  # it has no engine
    crawler.stats = MemoryStatsCollector(crawler)
    pipeline.open_spider()
    passed = [pipeline.process_item(item) for item in items]
    pipeline.close_spider()
    return passed, dict(crawler.stats.get_stats())


def test_items_of_any_class_are_marked_where_they_can_be() -> None:
    """What cannot be marked passes, and is counted."""
    text = "one two three four five six seven"
    first, second, third, fourth = (
        Marked(url="a", text=text),
        Marked(url="b", text=text),
        Plain("c", text),
        {"text": ""},
    )
    passed, numbers = piped(first, second, third, fourth)
    assert [first, second, third, fourth] == passed
    assert {"id": "a", "url": "a", "similarity": 1.0, "measure": "jaccard", "unchanged": False} == second[
        "near_duplicate"
    ]
    assert "near_duplicate" not in first
    names = ("seen", "near_duplicates", "items_marked", "items_unmarked", "no_text")
    assert [3, 2, 1, 1, 1] == [numbers[f"nearsame/{name}"] for name in names]


@pytest.mark.parametrize(
    "url",
    ["http://a/\0", "http://a/\ud800", f"http://a/{'é' * 3000}", f"http://a/{'x1' * 9000}"],
    ids=["NUL", "half a pair", "long", "longer"],
)
@pytest.mark.parametrize("index", ["memory", "file", "server"])
def test_an_address_that_no_index_can_keep_loses_no_item(
    url: str, index: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """It is judged under one that it can."""
    if index == "server":
        where = request.getfixturevalue("postgres_url")
    else:
        where = index if index == "memory" else str(tmp_path / "seen.ns")
    texts = ["one two three four five six", "one two three four five six", "seven eight nine ten eleven twelve"]
    passed, numbers = piped(*({"url": url, "text": text} for text in texts), NEARSAME_INDEX=where)
    assert [False, True, False] == ["near_duplicate" in item for item in passed]
    assert 3 == numbers["nearsame/seen"]


@pytest.mark.parametrize("error", [StoreError("it does not answer"), OSError(errno.ENOSPC, "No space left on device")])
def test_what_nobody_can_judge_passes_with_its_links(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page or an item too many is better than one lost; what comes when the index answers again is judged."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    pipeline = NearDuplicatePipeline(middleware.judge.options, crawler)
    crawler.get_spider_middleware = lambda _: middleware  # type: ignore[method-assign]  # it has no engine
    pipeline.open_spider()
    body, out = b"<p>one two three four five six seven", []

    def fail(*_: Any) -> None:
        raise error

    for name in "abcde":
        page = HtmlResponse(f"http://{name}/", request=Request(f"http://{name}/"), body=body)
        with monkeypatch.context() as patch:
            if name in "ad":
                patch.setattr(middleware.judge._seen, "add_if_new", fail)
            given = [{"url": page.url}, Request(f"http://{name}/next")]
            item, *links = middleware.process_spider_output(page, given)
        assert links or name not in "abd"
        with suppress(DropItem):
            pipeline.process_item(item)
            crawler.signals.send_catch_log(signals.item_scraped, item=item, response=page, spider=None)
            out.append(name)
    assert ["a", "b", "d"] == out
    assert crawler.stats is not None
    assert (2, 3) == tuple(crawler.stats.get_value(f"nearsame/{name}") for name in ("unjudged", "seen"))


def test_what_is_no_text_is_not_judged() -> None:
    """Numbers and records pass, and are counted; a list of strings, as an item loader makes it, is a text."""
    text = "one two three four five six seven"
    passed, numbers = piped(
        *({"url": "a", "text": given} for given in (12345, 12345, {"a": text}, {"a": text}, [1], text.encode())),
        *({"url": "b", "text": given} for given in (text, [text], ["one two three", "four five six seven"])),
    )
    assert [False] * 7 + [True] * 2 == ["near_duplicate" in item for item in passed]
    assert (6, 3) == (numbers["nearsame/no_text"], numbers["nearsame/seen"])


def test_items_of_a_loader_are_judged_as_others_are() -> None:
    """Each of their fields is a list of strings."""
    text = "one two three four five six seven"
    passed, _ = piped(
        {"url": ["http://a/"], "html": ["<p>one two three four", "<p>five six seven"]},
        {"url": ["http://b/"], "text": [text]},
    )
    assert "http://a/" == passed[1]["near_duplicate"]["url"]


def test_items_of_one_page_are_told_apart() -> None:
    """By their texts; an item that comes twice is a near-duplicate of the first one."""
    texts = ["one two three four five six", "seven eight nine ten eleven twelve", "one two three four five six"]
    passed, _ = piped(*({"url": "a", "text": text} for text in texts))
    assert [False, False, True] == ["near_duplicate" in item for item in passed]


def test_a_page_that_comes_twice_is_kept_once() -> None:
    """However late its items reach the pipeline: each has the judgement of its own visit."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    pipeline = NearDuplicatePipeline(middleware.judge.options, crawler)
    crawler.get_spider_middleware = lambda _: middleware  # type: ignore[method-assign]  # it has no engine
    pipeline.open_spider()
    page = HtmlResponse("http://a/", request=Request("http://a/"), body=b"<p>one two three four five six seven</p>")
    given = ([{"url": "http://a/"}, Request("http://b/")] for _ in "12")
    visits = [scheduled(crawler, middleware.process_spider_output(page, each)) for each in given]
    assert [2, 1] == [len(given) for given in visits]
    assert visits[0][0] == pipeline.process_item(visits[0][0])
    crawler.signals.send_catch_log(signals.item_scraped, item=visits[0][0], response=page, spider=None)
    with pytest.raises(DropItem, match="near-duplicate of http://a/"):
        pipeline.process_item(visits[1][0])
    assert {"url": "http://a/", "n": 1} == pipeline.process_item({"url": "http://a/", "n": 1})  # made anew on the way


LOST = ["gives nothing", "is filtered", "is dropped later", "fails later", "is late", "comes again"]


@pytest.mark.parametrize("first", ["gives", "gives another object", *LOST])
def test_an_item_goes_only_for_one_that_is_out(first: str) -> None:
    """Else a text would be lost of which no item stays; the third copy goes for the second."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    pipeline = NearDuplicatePipeline(middleware.judge.options, crawler)
    crawler.get_spider_middleware = lambda _: middleware  # type: ignore[method-assign]  # it has no engine
    crawler.stats = MemoryStatsCollector(crawler)
    pipeline.open_spider()
    pages = {}

    def visit(url: str, *given: Any) -> list[Any]:
        body = b"<p>one two three four five six seven</p>"
        pages[url] = HtmlResponse(url, request=Request(url), body=body)
        return list(middleware.process_spider_output(pages[url], given))

    def comes_out(url: str, item: Any) -> None:
        crawler.signals.send_catch_log(signals.item_scraped, item=item, response=pages[url], spider=None)

    item = {"url": "http://a/"}
    sent = visit("http://a/", *([] if first in {"gives nothing", "comes again"} else [item]))
    if first != "is filtered":  # by a spider middleware behind ours
        assert sent == [pipeline.process_item(each) for each in sent]
    if first in {"gives", "gives another object"}:
        comes_out("http://a/", item if first == "gives" else {"name": "of a feed"})
    if first == "is dropped later":
        crawler.signals.send_catch_log(signals.item_dropped, item=item, exception=DropItem("not valid"))
    if first == "fails later":
        crawler.signals.send_catch_log(signals.item_error, item=item)
    second, third = "http://a/" if first == "comes again" else "http://b/", "http://c/"
    passed = []
    for url in (second, third):
        [sent] = visit(url, {"url": url})
        with suppress(DropItem):
            passed.append(pipeline.process_item(sent)["url"])
            if first in LOST:  # who stands for it may be lost as well
                crawler.signals.send_catch_log(signals.item_dropped, item=sent, exception=DropItem("not valid"))
    assert ([second, third] if first in LOST else []) == passed
    for url, out in (("http://d/", first in LOST), ("http://e/", False)):
        [sent] = visit(url, {"url": url})
        with nullcontext() if out else pytest.raises(DropItem, match="near-duplicate of http://a/"):
            assert sent == pipeline.process_item(sent)
            comes_out(url, {"name": "of a feed"})
    assert (3 if first in LOST else 0) == crawler.stats.get_value("nearsame/items_alone", 0)


def of_a_crawl(*given: tuple[str, str, list[Any], Callable[[Any], bool]]) -> list[Any]:
    """What comes out of pages (URL, text, items, which of these a later pipeline lets through), one after the other."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    pipeline = NearDuplicatePipeline(middleware.judge.options, crawler)
    crawler.get_spider_middleware = lambda _: middleware  # type: ignore[method-assign]  # it has no engine
    pipeline.open_spider()
    out = []
    for url, text, items, passes in given:
        page = HtmlResponse(url, request=Request(url), body=f"<p>{text}</p>".encode())
        for item in middleware.process_spider_output(page, items):
            with suppress(DropItem):
                pipeline.process_item(item)
                if passes(item):
                    out.append(item)
                    crawler.signals.send_catch_log(signals.item_scraped, item=item, response=page, spider=None)
                else:
                    crawler.signals.send_catch_log(signals.item_dropped, item=item, exception=DropItem("no"))
    return out


TEXT = "one two three four five six seven"


def test_an_item_of_another_page_makes_no_witness_of_one() -> None:
    """A stub of a list has the URL of a page whose own item was dropped."""
    own, stub, copy = {"url": "http://u/", "n": 1}, {"url": "http://u/", "title": "u"}, {"url": "http://v/"}
    pages = [
        ("http://u/", TEXT, [own], lambda _: False),
        ("http://list/", "a list of pages with words of its own", [stub], lambda _: True),
        ("http://v/", TEXT, [copy], lambda _: True),
        ("http://w/", TEXT, [{"url": "http://w/"}], lambda _: True),
    ]
    assert [stub, copy] == of_a_crawl(*pages)


def test_all_items_of_a_page_that_stands_for_another_stay() -> None:
    """Also those that come when the first is out; those of the next copy go, though one of them was dropped."""
    first, second, third = ([{"url": f"http://{page}/", "product": n} for n in range(3)] for page in "vwx")
    pages = [("http://u/", TEXT, [], lambda _: True), ("http://v/", TEXT, first, lambda item: item["product"] != 1)]
    pages += [("http://w/", TEXT, second, lambda _: True), ("http://x/", TEXT, third, lambda _: True)]
    assert [first[0], first[2]] == of_a_crawl(*pages)


def test_two_items_of_one_address_are_two() -> None:
    """The second is out, and the first was dropped: its copy stays."""
    crawler = get_crawler()
    pipeline = NearDuplicatePipeline(CrawlOptions.of(crawler.settings), crawler)
    crawler.get_spider_middleware = lambda _: None  # type: ignore[method-assign]  # it has no engine
    pipeline.open_spider()
    lost, out = {"url": "http://u/", "text": TEXT}, {"url": "http://u/", "text": "other words stand in this one here"}
    assert [lost, out] == [pipeline.process_item(item) for item in (lost, out)]
    crawler.signals.send_catch_log(signals.item_dropped, item=lost, exception=DropItem("no"))
    crawler.signals.send_catch_log(signals.item_scraped, item=out, response=None, spider=None)
    copy = {"url": "http://v/", "text": TEXT}
    assert copy == pipeline.process_item(copy)
    with pytest.raises(DropItem):
        pipeline.process_item({"url": "http://v/", "text": out["text"]})


def test_items_without_a_page_are_judged_by_what_came_out() -> None:
    """By the pipeline alone: of a URL by what has passed, of none at once, until it is dropped."""
    text = "one two three four five six seven"
    crawler = get_crawler()
    pipeline = NearDuplicatePipeline(CrawlOptions.of(crawler.settings), crawler)
    crawler.get_spider_middleware = lambda _: None  # type: ignore[method-assign]  # it has no engine
    pipeline.open_spider()
    named = [{"url": f"http://{name}/", "text": text} for name in "abcd"]
    assert named[:2] == [pipeline.process_item(item) for item in named[:2]]  # nobody knows yet whether a comes out
    crawler.signals.send_catch_log(signals.item_scraped, item={"url": "http://a/"}, response=None, spider=None)
    with pytest.raises(DropItem):
        pipeline.process_item(named[2])
    nameless = [{"text": f"{text} and others {n // n}"} for n in range(1, 5)]
    assert nameless[0] == pipeline.process_item(nameless[0])
    with pytest.raises(DropItem):
        pipeline.process_item(nameless[1])
    crawler.signals.send_catch_log(signals.item_dropped, item=nameless[0], exception=DropItem("not valid"))
    assert nameless[2] == pipeline.process_item(nameless[2])


def scheduled(crawler: Any, given: Any) -> list[Any]:
    """What comes out, and has come through all other middlewares."""
    passed = list(given)
    for thing in passed:
        if isinstance(thing, Request):
            crawler.signals.send_catch_log(signals.request_scheduled, request=thing, spider=None)
    return passed


def test_what_is_asked_not_to_be_judged_is_not() -> None:
    """Pages by their request's meta, and links on near-duplicates by theirs."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    page = HtmlResponse("http://a/", request=Request("http://a/"), body=b"<p>one two three four five six seven</p>")
    link, followed = Request("http://b/"), Request("http://c/", meta={"dont_deduplicate": True})
    for expected in ([link, followed], [followed]):
        assert expected == scheduled(crawler, middleware.process_spider_output(page, [link, followed]))
    page.meta["dont_deduplicate"] = True
    assert [link] == list(middleware.process_spider_output(page, [link]))
    image = Response("http://a/rose.png", request=Request("http://a/rose.png"))
    assert [link] == list(middleware.process_spider_output(image, [link]))


def test_short_pages_are_not_judged() -> None:
    """With NEARSAME_MIN_WORDS, where a word is what is compared: a letter of a script without spaces."""
    crawler = get_crawler(settings_dict={"NEARSAME_MIN_WORDS": 6, "NEARSAME_EXTRACT": "text"})
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    for text, expected in (("one two three four five", 2), ("one two three four five six", 1), ("彼は魚を食べた", 1)):
        body = f'<meta charset="utf-8"><p>{text}</p>'.encode()
        pages = [HtmlResponse(f"http://{n}/", request=Request(f"http://{n}/"), body=body) for n in "ab"]
        visits = [scheduled(crawler, middleware.process_spider_output(page, [Request("http://b/x")])) for page in pages]
        assert expected == sum(map(len, visits))


def test_links_of_near_duplicates_come_later_and_carry_plain_values() -> None:
    """Each near-duplicate on the way lowers the priority by one; a link of a new page does not inherit that."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    body, request = b"<p>one two three four five six seven</p>", Request("http://a/0")
    for number in range(4):
        page = HtmlResponse(request.url, request=request, body=body)
        request = Request(f"http://a/{number + 1}", meta=page.meta)
        assert [request] == list(middleware.process_spider_output(page, [request]))
        assert -number == request.priority
    assert ["http://a/4", "http://a/3", 3] == list(request.meta["nearsame_doubtful"])
    other = HtmlResponse(request.url, request=request, body=b"<p>A page of its own with other words on it</p>")
    link = Request("http://a/9", meta=other.meta)
    assert [link] == list(middleware.process_spider_output(other, [link]))
    assert (0, {}) == (link.priority, link.meta)


def near_duplicates(number: int) -> list[HtmlResponse]:
    """Pages with one text."""
    body = b"<p>one two three four five six seven</p>"
    return [HtmlResponse(f"http://a/{n}", request=Request(f"http://a/{n}"), body=body) for n in range(number)]


def test_a_link_that_another_middleware_has_dropped_is_not_given() -> None:
    """As one too deep is: it is tried where a near-duplicate gives it."""
    crawler = get_crawler()
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    dropped, passed = Request("http://b/dropped"), Request("http://b/passed")
    first, second, third = near_duplicates(3)
    assert [dropped, passed] == list(middleware.process_spider_output(first, [dropped, passed]))
    scheduled(crawler, [passed])
    again = [Request(dropped.url), Request(passed.url)]
    assert again[:1] == scheduled(crawler, middleware.process_spider_output(second, again))
    assert [] == list(middleware.process_spider_output(third, again))


def test_a_page_that_is_to_be_asked_for_again_is() -> None:
    """One that asks to wait, or to log in, resembles all that do so; what Scrapy's own filter passes is tried."""
    crawler = get_crawler(settings_dict={"NEARSAME_FOLLOW": 2})
    middleware = NearDuplicateLinksMiddleware.from_crawler(crawler)
    first, *others = near_duplicates(5)
    told = []
    for page in (first, *others):
        scheduled(crawler, [page.request])
        again = Request(page.url, dont_filter=True)
        told.append(scheduled(crawler, middleware.process_spider_output(page, [Request(page.url), again])))
    assert [[False, True], *[[True]] * 4] == [[link.dont_filter for link in links] for links in told]


def kept_paths(*crawls: Crawl) -> list[str]:
    """The paths of all items, in order of the alphabet."""
    return sorted(path for found in crawls for path in found.paths)


WHOLE = sorted(["", "calendar/2026/1", *(f"articles/{n}" for n in range(NUM_ARTICLES))])


@pytest.mark.slow
def test_a_job_goes_on_where_it_was_stopped(tmp_path: Path, site: Site) -> None:
    """With JOBDIR the index is in the job's folder: pages of the first run are known in the second."""
    job = {**OF_TRAPS, "JOBDIR": str(tmp_path / "job")}
    first = crawl(tmp_path, site, **job, CLOSESPIDER_PAGECOUNT=4)
    assert "closespider_pagecount" == first.stats["finish_reason"]
    assert (tmp_path / "job" / "nearsame.index").exists()
    second = crawl(tmp_path, site, **job)
    assert "finished" == second.stats["finish_reason"]
    assert WHOLE == kept_paths(first, second)
    assert 0 < len(second.items) < len(WHOLE)
    assert sum(site.requests.values()) < 95


def links_lost(settings: dict[str, Any], given: list[Request], repeated: list[Request]) -> object:
    """What a part of a job says that was lost: some links are given, and a near-duplicate has others."""
    crawler = get_crawler(settings_dict={"NEARSAME_FOLLOW": 0, **settings})
    judge = PageJudge(CrawlOptions.of(crawler.settings), crawler)
    links = GivenLinks(judge, crawler)
    copy = TextResponse("http://a.example/again", request=Request("http://a.example/again"))
    page = Page(copy, Judged("again", copy.url, Resemblance("first", None, 1.0, "jaccard")))
    for link in given:
        links.scheduled(link)
    assert not any(links.follows(link, page) for link in repeated)
    links.close()
    judge.close()
    assert crawler.stats is not None
    return crawler.stats.get_value("nearsame/links_lost")


def test_links_that_a_job_gave_before_it_stopped_are_not_lost(tmp_path: Path) -> None:
    """A near-duplicate that comes after the stop has the same links: they were followed; another crawl lost them."""
    links, job = [Request(f"http://a.example/{number}") for number in range(30)], {"JOBDIR": str(tmp_path)}
    assert [None, None] == [links_lost(job, links, []), links_lost(job, [], links)]
    assert 30 == links_lost({}, [], links)


def test_what_a_part_of_a_job_loses_is_held_against_its_own_links(tmp_path: Path) -> None:
    """However many an earlier part has given."""
    many, others, lost = ([Request(f"http://a.example/{size}/{n}") for n in range(size)] for size in (1000, 31, 30))
    job = {"JOBDIR": str(tmp_path)}
    assert [None, 30] == [links_lost(job, many, []), links_lost(job, others, lost)]


@pytest.mark.slow
def test_an_interrupted_job_goes_on(tmp_path: Path, site: Site) -> None:
    """Ctrl-C is a stop like any other."""
    job = {**OF_TRAPS, "JOBDIR": str(tmp_path / "job"), "DOWNLOAD_DELAY": 0.1}
    process = begun(tmp_path, site, **job)
    while sum(site.requests.values()) < 5:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    first = ended(tmp_path, process)
    assert "shutdown" == first.stats["finish_reason"]
    second = crawl(tmp_path, site, **{**job, "DOWNLOAD_DELAY": 0})
    assert "finished" == second.stats["finish_reason"]
    assert WHOLE == kept_paths(first, second)


@pytest.mark.slow
def test_an_index_of_an_earlier_crawl_knows_its_pages(tmp_path: Path, site: Site) -> None:
    """NEARSAME_INDEX names it: a crawl of the mirror finds nothing new, one of the site finds its pages unchanged."""
    seen = {**ADDON, "NEARSAME_INDEX": str(tmp_path / "seen.ns"), "NEARSAME_FOLLOW": 5}
    assert WHOLE == kept_paths(crawl(tmp_path, site, **seen))
    assert [] == crawl(tmp_path, site, **seen, START=[f"{site.hosts[1]}/"]).items
    again = crawl(tmp_path, site, **seen)
    assert ([], len(WHOLE)) == (again.items, ours(again)["unchanged"])


@pytest.mark.slow
def test_all_articles_of_a_listing_come_once_and_traps_end(tmp_path: Path) -> None:
    """With the settings of Scrapy and of the add-on: the last list is reached, though all lists resemble each other."""
    with served(Listing()) as site:
        found = crawl(tmp_path, site, **{**ADDON, **BY_SCRAPY})
    assert "finished" == found.stats["finish_reason"]
    articles = sorted(path.partition("?")[0] for path in found.paths if path.startswith("articles"))
    assert sorted(site.articles) == articles
    months = [path for path in site.requests if path.startswith("/calendar")]
    assert len(months) <= 30
    numbers = ours(found)
    assert sum(site.requests.values()) < 600
    assert numbers["near_duplicates"] == numbers["items_dropped"]
    assert 0 < numbers["links_followed"] < 400
    assert 2 == numbers["kinds_given_up"]


def test_following_can_be_switched_off_and_the_loss_is_said(tmp_path: Path) -> None:
    """Then the articles of further lists are lost: the crawl ends with a warning in the log and in the statistics."""
    with served(Listing(lists=4)) as site:
        found = crawl(tmp_path, site, **{**ADDON, **BY_SCRAPY, "NEARSAME_FOLLOW": 0})
    assert 10 == sum(path.startswith("articles") for path in found.paths)
    numbers = ours(found)
    assert ("links_followed" in numbers, numbers["links_lost"] >= 10) == (False, True)
    assert "links" in str(numbers["warning"])
    assert str(numbers["warning"]) in found.log


@pytest.mark.slow
def test_the_next_crawl_of_a_listing_gives_what_is_new(tmp_path: Path) -> None:
    """Pages that changed and pages that were added come once; the others are unchanged."""
    seen = {**ADDON, **BY_SCRAPY, "NEARSAME_INDEX": str(tmp_path / "seen.ns"), "NEARSAME_FOLLOW": 10}
    with served(Listing(lists=4)) as site:
        crawl(tmp_path, site, **seen)
        site.edition, site.lists = 1, 5
        found = crawl(tmp_path, site, **seen)
    expected = [f"articles/{n}" for n in range(50) if n % 7 == 0 or n >= 40]
    assert sorted(expected) == sorted(path.partition("?")[0] for path in found.paths)
    unchanged = 40 - len(range(0, 40, 7)) + 3  # with the home page, the first list and the first month
    assert unchanged == ours(found)["unchanged"]


def test_an_index_of_another_recipe_is_refused(tmp_path: Path) -> None:
    """It would answer another question."""
    where = str(tmp_path / "seen.ns")
    Indexed(where, MinHash(threshold=0.7)).close()
    Indexed(where, None).close()
    with pytest.raises(IndexMismatchError, match="threshold"):
        Indexed(where, MinHash(threshold=0.8))
