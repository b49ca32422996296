"""Pages by place: the site, and the segments of the path, which mirrors are known by."""

import re
from collections import Counter, defaultdict
from functools import cached_property

from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.keys.urls import Canonical
from nearsame.web.prefixes import Segments
from nearsame.web.reading import ALONE, ReadPages
from nearsame.web.rules import split_url

__all__ = ["Crawl", "SitePath", "crawl_of"]

# What servers, those who save pages, and those who write texts for them give to names; others name other things.
_SUFFIX = re.compile(
    r"\.(?:[sxpj]?html?|mhtml?|php[3-8]?|aspx?|jspx?|cfml?|cgi|p[ly]|do|action|mdx?|markdown|rst|adoc|asciidoc|te?xt)$",
    re.IGNORECASE,
)


class SitePath(NamedTuple):
    """A page: its site, by number, and its path."""

    site: int
    path: Segments


@dataclass(frozen=True)
class Crawl:
    """Pages by place: what is known before mirrors are looked for."""

    pages: ReadPages
    sites: list[str]
    places: list[SitePath]  # of the different pages
    urls: list[str]  # as they were read, the first of each page
    clusters: list[int]
    values: list[str | None] | None
    again: dict[str, int]  # further URLs of a page, by its number
    num_without_host: int

    @cached_property
    def hosts(self) -> list[str]:
        """Of each site, by its number, the host, with a port where it has one of its own."""
        return [_host(site) for site in self.sites]

    def host(self, page: int) -> str:
        """Of a page, by its number."""
        return self.hosts[self.places[page].site]

    @cached_property
    def stems(self) -> list[SitePath]:
        """The places by which pages are compared: without the suffix, unless two pages of the site would be one so."""
        stems = [place._replace(path=_stem(place.path)) for place in self.places]
        times = Counter(stems) + Counter(place for place, stem in zip(self.places, stems, strict=True) if place != stem)
        return [stem if times[stem] == 1 else place for place, stem in zip(self.places, stems, strict=True)]

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """Of each cluster with at least two pages their numbers."""
        by_cluster = defaultdict[int, list[int]](list)
        for number, cluster in enumerate(self.clusters):
            by_cluster[cluster].append(number)
        return {cluster: pages for cluster, pages in by_cluster.items() if len(pages) > 1}


def crawl_of(pages: ReadPages, recipe: CanonicalUrl) -> Crawl:
    """Pages by their places; of those with one canonical URL the first that was read.

    Where only a guess says so, they are one page if they have one content, too.
    """
    sites: dict[str, int] = {}
    numbers: dict[SitePath, int] = {}
    urls: list[str] = []
    clusters: list[int] = []
    kept: list[int] = []
    again: dict[str, int] = {}
    without = 0
    known = [int(cluster) if cluster != ALONE else -2 - number for number, cluster in enumerate(pages.clusters)]
    for number, (url, form) in enumerate(zip(pages.urls, _forms(pages.urls, known, recipe), strict=True)):
        place = _place(form, sites)
        if place is None:
            without += 1
            continue
        if place in numbers:
            again[url] = numbers[place]
            continue
        numbers[place] = len(urls)
        urls.append(url)
        clusters.append(known[number])
        kept.append(number)
    values = None if pages.order is None else [pages.order[number] for number in kept]
    return Crawl(pages, list(sites), list(numbers), urls, clusters, values, again, without)


def _forms(urls: list[str], clusters: list[int], recipe: CanonicalUrl) -> list[str]:
    """Canonical URLs; without guesses where those that a guess brings together have several contents."""
    transform, surely = Canonical(recipe), Canonical(recipe.at_most("usual"))
    forms = [transform(url) for url in urls]
    contents: dict[str, set[int]] = defaultdict(set)
    for form, cluster in zip(forms, clusters, strict=True):
        contents[form].add(cluster)
    return [surely(url) if len(contents[form]) > 1 else form for url, form in zip(urls, forms, strict=True)]


def _place(form: str, sites: dict[str, int]) -> SitePath | None:
    """Where a canonical URL is; of a new site the number is the next one."""
    host, path, query = split_url(form)
    if not host:
        return None
    site = sites.setdefault(f"{form.partition('://')[0]}://{host}", len(sites))
    return SitePath(site, _segments(path, query, form.partition("#")[2]))


def _segments(path: str, query: str, fragment: str) -> Segments:
    """The segments of a path, query and fragment with the last one; none for the root."""
    if path == "/" and not query and not fragment:
        return ()
    *folders, last = path[1:].split("/")
    return (*folders, last + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else ""))


def _stem(path: Segments) -> Segments:
    """A path without the suffix of its page.

    >>> _stem(("docs", "a.html")), _stem(("view.php?id=a.php",)), _stem(("a.pdf",)), _stem((".html",))
    (('docs', 'a'), ('view?id=a.php',), ('a.pdf',), ('.html',))
    """
    if not path or path[-1].startswith("."):
        return path
    name, mark, rest = re.match(r"([^?#;]*)([?#;]?)(.*)", path[-1], re.DOTALL).groups()  # type: ignore[union-attr]  # it matches anything
    return (*path[:-1], _SUFFIX.sub("", name) + mark + rest)


def _host(site: str) -> str:
    """The host of a site, with a port where it has one of its own."""
    return site.partition("://")[2]
