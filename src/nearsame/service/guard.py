"""Who may send a request at all: no page of another site on behalf of a browser's user.

1. A browser says where a form or a script comes from (Origin, Sec-Fetch-Site); what changes something must come from
   here.
2. Without tokens, only names of this machine are answered to: a name of somebody else's that was made to point here
   (DNS rebinding) is not one of them.
"""

import functools
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from nearsame.service.problems import HttpProblem

__all__ = ["Guard", "is_loopback"]

_SAFE = {"GET", "HEAD", "OPTIONS"}


class Guard:
    """The layer that refuses requests for another host's name, and changes that a page of another site asks for."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str] | None) -> None:
        """Answer to these names and to this machine's own; None: to any."""
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            self._require_host(headers.get("host", ""))
            if scope["method"] not in _SAFE:
                _require_same_site(headers)
        await self._app(scope, receive, send)

    def _require_host(self, given: str) -> None:
        if self._hosts is None:
            return
        name = _name(f"//{given}")
        if name not in self._hosts and not is_loopback(name):
            detail = "the Host header names another machine"
            raise HttpProblem(421, "host", detail, hint="Start with --allow-host NAME, or with tokens.")


def _require_same_site(headers: Headers) -> None:
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = site in ("cross-site", "same-site") or (
        origin is not None and site is None and _place(origin) != headers.get("host", "").lower()
    )
    if foreign:
        raise HttpProblem(403, "origin", "the request comes from a page of another site")


def _place(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


@functools.lru_cache(maxsize=64)
def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


@functools.lru_cache(maxsize=64)
def is_loopback(name: str) -> bool:
    """Whether a name is one of this machine's own."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
