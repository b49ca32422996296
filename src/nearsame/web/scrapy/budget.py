"""How many links of near-duplicate pages are followed: a listing is worth it, a trap is not.

1. The pages of a listing are near-duplicates whose links lead to new pages; the pages of a calendar lead to the next
   month only. What a link is worth is known when its page has come, so links are tried, kind by kind, and counted.
2. A kind of link is a host, the first folder of the path and the names of the query's parameters.
3. A page that was reached by such a link and is a near-duplicate itself was wasted, until one of its links leads to
   a new page.
4. Of each kind as many pages may be wasted as the budget says, and one more for each that was not. A host, and the
   crawl as a whole, have ten times the budget, and one more for each new page: a trap that makes up folders or hosts
   ends, too.
"""

from collections import Counter
from urllib.parse import parse_qsl, urlsplit

__all__ = ["LinkBudget", "kind_of"]

_WIDER = 10  # times the budget of a kind, for a host and for the crawl
_MOST_NAMES = 100

Scope = tuple[str, ...]


class LinkBudget:
    """Links of near-duplicates, and what came of them.

    Example:
        >>> budget = LinkBudget(1)
        >>> budget.allows("http://a/2026/1")
        True
        >>> budget.arrived("http://a/2026/1", "http://a/", is_new=False)
        >>> budget.allows("http://a/2026/2")
        False
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._vain = Counter[Scope]()
        self._worth = Counter[Scope]()
        self._vain_pages: dict[str, str] = {}  # by URL of the page, the link to it

    def allows(self, url: str) -> bool:
        """Whether a link to the URL may be followed."""
        kind, *wider = _scopes(url)
        if self._vain[kind] >= self._most + self._worth[kind]:
            return False
        return all(self._vain[scope] < _WIDER * self._most + self._worth[scope] for scope in wider)

    def new_page(self, url: str) -> None:
        """A page is new, however it was reached."""
        self._worth.update(_scopes(url)[1:])

    def arrived(self, page: str, parent: str, *, is_new: bool, link: str | None = None) -> None:
        """A page has come by a link of a near-duplicate, the parent; after redirects the link has another URL."""
        link = link or page
        if not is_new:
            self._vain.update(_scopes(link))
            self._vain_pages[page] = link
            return
        self._worth[_scopes(link)[0]] += 1
        above = self._vain_pages.pop(parent, None)
        if above is not None:
            self._vain.subtract(_scopes(above))
            self._worth[_scopes(above)[0]] += 1


def kind_of(url: str) -> Scope:
    """The kind of a link.

    >>> kind_of("http://a/lists/7?page=3"), kind_of("http://a/story")
    (('a', 'lists', 'page'), ('a', ''))
    """
    try:
        parts = urlsplit(url)
        names = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_NAMES)})
    except ValueError:
        return "", ""
    folders = parts.path.strip("/").split("/")
    return parts.netloc, folders[0] if len(folders) > 1 else "", *names


def _scopes(url: str) -> tuple[Scope, Scope, Scope]:
    """The kind of a link, its host, and the crawl."""
    kind = kind_of(url)
    return kind, kind[:1], ()
