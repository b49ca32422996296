"""Links of near-duplicates are followed as long as they are worth it, and traps end whatever they look like."""

from collections.abc import Callable, Iterator
from itertools import count, islice

import pytest

from nearsame.web.scrapy.budget import LinkBudget

MOST = 5


def trapped(budget: LinkBudget, urls: Iterator[str], most: int = 10_000) -> int:
    """How many links of a trap are followed: each page is a near-duplicate that leads to the next one."""
    parent = "http://a/"
    for number, url in enumerate(islice(urls, most)):
        if not budget.allows(url):
            return number
        budget.arrived(url, parent, is_new=False)
        parent = url
    return most


TRAPS: dict[str, tuple[Callable[[int], str], int]] = {
    "months": (lambda n: f"http://a/calendar/{n // 12}/{n % 12}", MOST),
    "sessions": (lambda n: f"http://a/story/{n % 7}?sid={n:x}", MOST),
    "ever deeper": (lambda n: f"http://a/print{'/again' * n}/x", MOST),
    "made-up folders": (lambda n: f"http://a/f{n}/page", 10 * MOST),
    "made-up parameters": (lambda n: f"http://a/page?p{n}=1", 10 * MOST),
    "made-up hosts": (lambda n: f"http://h{n}.a/", 10 * MOST),
    "no URLs": (lambda n: f"http://[{n}", MOST),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_ends(name: str) -> None:
    """By kind, by host or by the crawl."""
    url, expected = TRAPS[name]
    assert expected == trapped(LinkBudget(MOST), map(url, count()))


def test_a_listing_does_not_end() -> None:
    """Each list is a near-duplicate, and counts as worth it when the first of its articles has come."""
    budget, parent = LinkBudget(MOST), "http://a/list?page=1"
    for number in range(2, 1_000):
        page = f"http://a/list?page={number}"
        assert budget.allows(page)
        budget.arrived(page, parent, is_new=False)
        assert budget.allows(f"http://a/articles/{number}")
        budget.new_page(f"http://a/articles/{number}")
        budget.arrived(f"http://a/articles/{number}", page, is_new=True)
        parent = page
    assert 998 + MOST == trapped(budget, (f"http://a/list?page={n}" for n in count(1_000)))


def test_new_pages_of_a_host_make_room_on_it() -> None:
    """As many pages may be wasted as are new, and ten times the budget."""
    budget = LinkBudget(MOST)
    for number in range(100):
        budget.new_page(f"http://a/{number}")
    assert 100 + 10 * MOST == trapped(budget, (f"http://a/f{n}/page" for n in count()))


def test_a_redirect_counts_for_the_link() -> None:
    """A trap may send all its links to one page."""
    budget = LinkBudget(MOST)
    for number in range(MOST):
        budget.arrived("http://b/", "http://a/", is_new=False, link=f"http://a/out?to={number}")
    assert not budget.allows("http://a/out?to=9")
    assert budget.allows("http://b/x")
