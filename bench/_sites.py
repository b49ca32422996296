"""Made sites whose pages change between two fetches, and how well learnt rules of URLs fit them."""

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nearsame.web.rules import UrlRules

__all__ = ["Crawl", "crawl", "quality"]


class Crawl(NamedTuple):
    """Fetched pages, and what each URL would have without change."""

    pages: list[dict[str, str]]
    truth: Mapping[str, str]
    planted: Mapping[str, str]  # by URL, what the planted rules make of it


def site(host: str, stories: int) -> Iterator[tuple[str, str, str]]:
    """URL, content, and the URL as the planted rules have it."""
    for n in range(stories):
        story = f"{host} story {n}"
        for query in ("", "&ref=home", "&ref=mail&p=2", "&p=1"):
            yield f"http://{host}/story?id={n}{query}", story, f"{host}/story_{n}"
        yield f"http://{host}/story_{n}", story, f"{host}/story_{n}"
        for path in (f"/print/text/{n}", f"/text/{n}", f"/text;v={n * 7}/{n}"):
            yield f"http://{host}{path}", f"{host} text {n}", f"{host}/text/{n}"
        for p in (1, 2):
            yield f"http://{host}/list?tag={n}&p={p}", f"{host} list {n} {p}", f"{host}/list {n} {p}"


def crawl(hosts: int, stories: int, noise: float, *, again: float = 0.1, seed: int = 1) -> Crawl:
    """Sites, fetched; `again` is the share of the URLs that are fetched twice."""
    chance = random.Random(seed)
    pages, truth, planted = [], {}, {}
    for number in range(hosts):
        for url, content, form in site(f"h{number}.example", stories):
            truth[url], planted[url] = content, form
            for _ in range(1 + (chance.random() < again)):
                changed = f"{content} changed {len(pages)}" if chance.random() < noise else content
                pages.append({"url": url, "content": changed})
    chance.shuffle(pages)
    return Crawl(pages, truth, planted)


def pairs(forms: Mapping[str, str]) -> set[tuple[str, str]]:
    """The pairs of URLs with one form."""
    groups = defaultdict[str, list[str]](list)
    for url, form in forms.items():
        groups[form].append(url)
    return {(a, b) for urls in groups.values() for a in urls for b in urls if a < b}


def quality(found: UrlRules, made: Crawl) -> tuple[float, float]:
    """(recall, precision) of the pairs that rules bring together."""
    learnt, planted = pairs({url: found.apply(url) for url in made.truth}), pairs(made.planted)
    right = sum(made.truth[a] == made.truth[b] for a, b in learnt)
    return len(learnt & planted) / len(planted), right / len(learnt) if learnt else 1.0
