"""What belongs together of mirrors: their groups, the kinds of the pairs, and what is kept of each group.

1. Mirrors that share a prefix are a group; one of its prefixes is kept, by a stated policy.
2. Paths are compared without the suffixes that servers give to pages, as `Crawl.stems` has them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.web.preferring import Prefer
from nearsame.web.prefixes import Pair, Segments
from nearsame.web.site_paths import Crawl, SitePath

__all__ = ["KINDS", "MirrorGroups", "bare"]

KINDS = ("scheme twin", "www twin", "virtual host", "mirror", "partial mirror", "same host")
_WHOLE = 0.9  # of the pages of both sites must agree, for one to be another name of the other


@dataclass(frozen=True)
class MirrorGroups:
    """The groups of the mirrors of a crawl."""

    _crawl: Crawl
    _pairs: Sequence[Pair]
    _prefer: Prefer

    @cached_property
    def ranks(self) -> list[int]:
        """The places of the sites by the policy."""
        crawl = self._crawl
        return self._prefer.ranks(crawl.sites, [place.site for place in crawl.places], crawl.values)

    @cached_property
    def of(self) -> dict[SitePath, SitePath]:
        """Of each prefix of a mirror the first of its group: prefixes joined by pairs."""
        above: dict[SitePath, SitePath] = {}

        def top(place: SitePath) -> SitePath:
            while above.setdefault(place, place) != place:
                above[place] = place = above[above[place]]
            return place

        for pair in self._pairs:
            first, second = sorted((top(SitePath(*pair[:2])), top(SitePath(*pair[2:4]))))
            above[second] = first
        return {place: top(place) for place in list(above)}

    @cached_property
    def kept(self) -> dict[SitePath, SitePath]:
        """Of each group, by its first prefix, the one that is kept."""
        sizes = {
            SitePath(*prefix): size
            for pair in self._pairs
            for prefix, size in ((pair[:2], pair[6]), (pair[2:4], pair[7]))
        }
        complete = self._prefer.policy == "most-complete"

        def key(place: SitePath) -> tuple[Any, ...]:
            return (-sizes[place] if complete else 0, self.ranks[place.site], len(place.path), place.path)

        best: dict[SitePath, SitePath] = {}
        for place, group in self.of.items():
            best[group] = min(best.get(group, place), place, key=key)
        return best

    @cached_property
    def numbers(self) -> dict[SitePath, int]:
        """Groups numbered, the largest first."""
        sizes = Counter(self.of.values())
        return {group: n for n, group in enumerate(sorted(sizes, key=lambda group: (-sizes[group], group)))}

    def url(self, place: SitePath) -> str:
        """The URL of a prefix."""
        return f"{self._crawl.sites[place.site]}/{'/'.join(place.path)}"

    def kind(self, pair: Pair) -> str:
        """Which of `KINDS` a pair is, by its hosts, its prefixes, and the share of both that agrees."""
        a, b = self._crawl.hosts[pair.a], self._crawl.hosts[pair.b]
        if pair.a_prefix == pair.b_prefix and pair.a != pair.b and (a == b or bare(a) == bare(b)):
            return "scheme twin" if a == b else "www twin"
        if a == b:
            return "same host"
        both = min(pair.agreeing / pair.a_pages, pair.agreeing / pair.b_pages)
        if both < _WHOLE:
            return "partial mirror"
        return "virtual host" if not pair.a_prefix and not pair.b_prefix else "mirror"

    def around(self, place: SitePath) -> Iterator[tuple[SitePath, Segments]]:
        """The groups of the prefixes that a page is below, with the rest of its path."""
        for length in range(len(place.path) + 1):
            prefix = SitePath(place.site, place.path[:length])
            if prefix in self.of:
                yield self.of[prefix], place.path[length:]

    @cached_property
    def orders(self) -> dict[int, tuple[Any, ...]]:
        """Of the pages of clusters what they are ordered by, the best first."""
        return {page: self._order(page) for pages in self._crawl.members.values() for page in pages}

    def _order(self, page: int) -> tuple[Any, ...]:
        place, url = self._crawl.stems[page], self._crawl.urls[page]
        kept = [self.kept[group] == _above(place, rest) for group, rest in self.around(place)]
        return bool(kept) and not any(kept), self.ranks[place.site], len(url), url


def bare(host: str) -> str:
    """A host without `www.`."""
    return host.removeprefix("www.")


def _above(place: SitePath, rest: Segments) -> SitePath:
    """The prefix of a page without the rest of its path."""
    return SitePath(place.site, place.path[: len(place.path) - len(rest)])
