"""A site with all that makes crawlers fetch one page again and again, served on loopback by two hosts.

* `/` leads to the articles, to a calendar and to the mirror.
* `/articles/N` is an article; its links lead to the next one, to its printer version, and to itself in a new session.
* `/print/N` is the same text in another template; its links lead to further versions of itself, without end.
* Any page with `?sid=` gives its links new session ids, without end.
* `/calendar/YEAR/MONTH` has the same text in every month, but for its name, and a link to the next one, without end.
* The mirror is the same site on another port and under another name.
"""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import urlsplit

__all__ = ["NUM_ARTICLES", "Served", "Site", "served"]

NUM_ARTICLES = 4

_NOTHING = """\
Nothing is planned for this month in the halls of the society. Members who want to plan an evening, a walk or
a talk write to the office two weeks before, with a title, a place and the number of guests that they expect,
and hear from us within three days. The garden is open to everybody from nine in the morning until the sun
goes down, but for days of storm, when the gates stay shut for the sake of the old trees. Dogs are welcome on
a leash, children without one. The library lends up to five books at a time for four weeks, and once more for
as long if nobody else waits for them. Whoever brings a book back late brings a cake as well: so it was
decided by the first assembly, and no later one has changed it. The tea room serves what the season gives,
soup in winter and cold milk with berries in summer, at prices that nobody remembers having been raised. Lost
umbrellas wait at the door for a year and a day, and are then lent to the rain."""


def article(number: int) -> str:
    """Paragraphs of made-up words, other ones for each number."""
    chance = random.Random(number)
    words = ["".join(chance.choices("aeioubdlmnrst", k=chance.randint(3, 8))) for _ in range(240)]
    return "".join(f"<p>{' '.join(words[at : at + 60]).capitalize()}.</p>" for at in range(0, 240, 60))


_S = TypeVar("_S", bound="Served")


class Served:
    """What two hosts serve; `requests` counts the paths."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.ports: list[int] = []
        self._sessions = itertools.count(1)

    def session(self) -> str:
        """A new one."""
        return f"{next(self._sessions):08x}"

    def page(self, target: str) -> str | None:
        """The page of a path with its query; None: there is none."""
        raise NotImplementedError

    @property
    def hosts(self) -> list[str]:
        """The site and its mirror."""
        return [f"http://127.0.0.1:{self.ports[0]}", f"http://localhost:{self.ports[1]}"]


class Site(Served):
    """The site of traps."""

    def page(self, target: str) -> str | None:
        """The page of a path with its query; None: there is none."""
        found = urlsplit(target)
        match found.path.strip("/").split("/"):
            case [""]:
                links = [f"/articles/{n}" for n in range(NUM_ARTICLES)]
                mirrors = [f"{host}/" for host in self.hosts]
                text, links = self._welcome(), [*links, "/calendar/2026/1", *mirrors]
            case ["articles", number]:
                after = (int(number) + 1) % NUM_ARTICLES
                text = f"<h1>Article {number}</h1>{article(int(number))}"
                links = [f"/articles/{after}", f"/print/{number}", f"/articles/{number}?sid={self.session()}"]
            case ["print", number, *more]:
                text, links = article(int(number)), [f"/print/{'/'.join([number, *more])}/again"]
            case ["calendar", year, month]:
                at = int(year) * 12 + int(month)
                text, links = (
                    f"<h1>Month {month} of {year}</h1><p>{_NOTHING}</p>",
                    [f"/calendar/{at // 12}/{at % 12 + 1}"],
                )
            case _:
                return None
        if "sid=" in found.query:
            links = [f"{link.partition('?')[0]}?sid={self.session()}" for link in links]
        return _printed(text) if found.path.startswith("/print") else _dressed(text, links)

    @staticmethod
    def _welcome() -> str:
        return f"<h1>Welcome</h1>{article(1_000)}"


def _dressed(text: str, links: list[str]) -> str:
    """A page of the site: a head, a menu, the text, and links below it."""
    menu = "".join(
        f'<li><a href="{link}">{name}</a></li>' for link, name in (("/", "Home"), ("/calendar/2026/1", "Days"))
    )
    below = "".join(f'<a class="more" href="{link}">More</a> ' for link in links)
    return (
        "<html><head><title>The society</title><script>var seen = 1;</script></head>"
        f"<body><nav><ul>{menu}</ul></nav><main><article>{text}</article></main><footer>{below}</footer></body></html>"
    )


def _printed(text: str) -> str:
    return f"<html><head><title>Print</title></head><body><main><article>{text}</article></main></body></html>"


@contextmanager
def served(site: _S) -> Iterator[_S]:
    """A site and its mirror, for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests[self.path] += 1
            page = site.page(self.path)
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((page or "<p>nothing</p>").encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
    site.ports = [server.server_port for server in servers]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield site
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
