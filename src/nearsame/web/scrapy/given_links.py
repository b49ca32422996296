"""The links that pages give: which of them are followed, and what share of them is lost.

1. A link is lost if only near-duplicates gave it and none of them had it followed; that is what a crawl may miss.
2. A link is given once Scrapy has it among those to be fetched: other middlewares may drop it, at a depth or for what
   it is called, and nobody would fetch it then. What is given twice is left to Scrapy's filter, which `dont_filter`
   passes: a page that is to be asked for again has come.
3. A job that is stopped and goes on knows which links it has given: Scrapy's filter does, too.
4. What a request carries is plain values, since a job that is stopped keeps its requests on disk.
"""

import logging

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from nearsame.dataclass import dataclass
from nearsame.web.kept_digests import KeptDigests
from nearsame.web.scrapy.budget import LinkBudget, kind_of
from nearsame.web.scrapy.judge import Judged, PageJudge

__all__ = ["GivenLinks", "Page"]

logger = logging.getLogger("nearsame.scrapy")

_DOUBTFUL = "nearsame_doubtful"  # of a link of a near-duplicate: its URL, that page's, and how many such are on the way
_FINGERPRINT_BYTES = 8
_LARGE_SHARE = 0.2
_FEW = 10  # links of which a share says nothing yet


@dataclass(frozen=True)
class Page:
    """A response, and what is known of it; what is not a page has not been judged, and may be new."""

    response: Response
    judged: Judged | None = None
    is_no_page: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether anybody asked what it resembles."""
        return self.judged is not None

    @property
    def is_new(self) -> bool:
        """Whether it may have something that no page before it has."""
        if self.judged is None:
            return self.is_no_page
        return self.judged.resemblance is None or self.judged.resemblance.unchanged

    @property
    def is_doubtful(self) -> bool:
        """Whether its links are those of a near-duplicate."""
        return self.is_judged and not self.is_new


class GivenLinks:
    """The links of a crawl."""

    def __init__(self, judge: PageJudge, crawler: Crawler) -> None:
        self._judge, self._crawler = judge, crawler
        self._budget = LinkBudget(judge.options.follow)
        self._given = KeptDigests(judge.options.links, _FINGERPRINT_BYTES)
        self._dropped: set[bytes] = set()
        self._said: set[tuple[str, ...]] = set()
        crawler.signals.connect(self.scheduled, signals.request_scheduled)

    def scheduled(self, request: Request) -> None:
        """A request has passed all middlewares."""
        name = self._fingerprint(request)
        if name not in self._given and _DOUBTFUL in request.meta:
            self._judge.count("links_followed")
        self._given.add(name)

    def arrived(self, page: Page) -> None:
        """A page has come: what does that say of the link that led to it?"""
        response = page.response
        if response.request is not None:
            self._given.add(self._fingerprint(response.request))
        if page.is_new:
            self._budget.new_page(response.url)
        if _DOUBTFUL in response.meta and (page.is_new or page.is_judged):
            link, parent, _ = response.meta[_DOUBTFUL]
            self._budget.arrived(response.url, parent, is_new=page.is_new, link=link)

    def follows(self, link: Request, page: Page) -> bool:
        """Whether a link of a page is followed."""
        link.meta.pop(_DOUBTFUL, None)  # inherited, where a callback gives meta=response.meta
        name = self._fingerprint(link)
        if page.is_doubtful:
            if name in self._given and not link.dont_filter:
                return False
            if not self._budget.allows(link.url):
                self._drop(link, name)
                return False
            self._doubt(link, page.response)
        return True

    def close(self) -> None:
        """The crawl is over: say what share of its links is lost."""
        lost = sum(name not in self._given for name in self._dropped)
        self._given.close()
        every = len(self._given) - len(self._given.left) + lost  # of this part of a job, as those that are lost
        if lost < max(_FEW, _LARGE_SHARE * every):
            return
        warning = (
            f"{lost:,} of {every:,} links ({lost / every:.0%}) stood on near-duplicate pages only and were not "
            "followed. If pages are missing, raise NEARSAME_FOLLOW, or give requests for lists the meta key "
            "dont_deduplicate."
        )
        logger.warning(warning, extra={"spider": self._crawler.spider})
        self._judge.note("links_lost", lost)
        self._judge.note("warning", warning)

    def _doubt(self, link: Request, parent: Response) -> None:
        """Mark a link of a near-duplicate, and let what is not doubtful come first."""
        *_, before = parent.meta.get(_DOUBTFUL, (0,))
        link.meta[_DOUBTFUL] = (link.url, parent.url, before + 1)
        link.priority -= before + 1

    def _drop(self, link: Request, name: bytes) -> None:
        if name not in self._dropped:
            self._dropped.add(name)
            self._judge.count("links_dropped")
        kind = kind_of(link.url)
        if self._judge.options.follow and kind not in self._said:
            self._said.add(kind)
            self._judge.count("kinds_given_up")
            logger.info(
                "Links of near-duplicates like %s are no longer followed: too many led to nothing new",
                link.url,
                extra={"spider": self._crawler.spider},
            )

    def _fingerprint(self, request: Request) -> bytes:
        return self._crawler.request_fingerprinter.fingerprint(request)[:_FINGERPRINT_BYTES]
