"""A site whose articles stand in paginated lists that are near-duplicates of each other, with traps beside them.

* `/` leads to the first list, to a calendar and to the first article in a session.
* `/list?page=N` has one intro, ten links to articles and a link to the next list.
* `/articles/N` is an article, with a link to the first list, and to itself in another session.
* `/calendar/YEAR/MONTH` has the same text in every month, and a link to the next one, without end.
* Any page with `?sid=` gives its links new session ids, without end.
"""

from urllib.parse import parse_qs, urlsplit

from tests.web.site import Served, article

__all__ = ["Listing"]

_INTRO = article(2_000)


class Listing(Served):
    """What the site serves."""

    def __init__(self, lists: int = 20, each: int = 10) -> None:
        super().__init__()
        self.lists, self.each = lists, each
        self.edition = 0  # of the articles whose number is a multiple of seven

    @property
    def articles(self) -> list[str]:
        """The paths of all articles."""
        return [f"articles/{number}" for number in range(self.lists * self.each)]

    def page(self, target: str) -> str | None:
        """The page of a path with its query; None: there is none."""
        found = urlsplit(target)
        session = "sid" in parse_qs(found.query)
        match found.path.strip("/").split("/"):
            case [""]:
                text, links = article(1_000), ["/list?page=1", "/calendar/2026/1", f"/articles/0?sid={self.session()}"]
            case ["list"]:
                text, links = _INTRO, self._listed(int(parse_qs(found.query)["page"][0]))
            case ["articles", number]:
                edition = self.edition if int(number) % 7 == 0 else 0
                text = article(10_000 + int(number) + 1_000 * edition)
                links = ["/list?page=1", f"/articles/{number}?sid={self.session()}"]
            case ["calendar", year, month]:
                at = int(year) * 12 + int(month)
                text, links = article(3_000), [f"/calendar/{at // 12}/{at % 12 + 1}"]
            case _:
                return None
        if session:
            links = [f"{link.partition('?')[0]}?sid={self.session()}" for link in links if "list" not in link]
        anchors = "".join(f'<p><a href="{link}">More</a></p>' for link in links)
        return f"<html><body><main><article>{text}</article></main><footer>{anchors}</footer></body></html>"

    def _listed(self, page: int) -> list[str]:
        first = (page - 1) * self.each
        after = [f"/list?page={page + 1}"] if page < self.lists else []
        return [*(f"/articles/{number}" for number in range(first, first + self.each)), *after]
