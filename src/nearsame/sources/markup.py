"""What a page says of itself: its title, and which address it calls its own.

1. Only the head of the markup is parsed, once, and no bytes raise.
2. `canonical` is an address of the web with a host, by the page's address or its `base` where it is relative; one that
   is none (`/` of a page without an address, `javascript:`, a template that nobody filled in) says nothing.
"""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin

from nearsame.page_encodings import elements, encoding, resiliparse, to_utf8
from nearsame.placeholders import NO_REFERENCE

__all__ = ["HTML", "about_page", "absolute", "link_canonical"]

HTML = frozenset({"text/html", "application/xhtml+xml"})

_HEAD_END = rb"(?i)</head\s*>|<body[\s>]"
_MOST_HEAD = 64 << 10
_MOST_SEEN = 128 << 10  # of a page, to tell its encoding
_CANONICAL = rb"(?i)canonical"
_LINK_HEADER = r"(?i)<([^<>]*)>[^,]*?;\s*rel\s*=\s*[\"']?canonical\b"
_BLANKS = " \t\n\f\r"
_SPACES = r"\s+"
_SCHEME = r"(?i)[a-z][a-z0-9+.-]*:"
_USER, _IPV6 = r"[^ \t\n\f\r/?#@]*@", r"\[[0-9a-f:.]+\]"
_NAME = r"[^ \t\n\f\r/?#@:\[\]{}<>|\\^`\"']+"
_WEB = rf"(?ai)https?://(?:{_USER})?(?:{_IPV6}|{_NAME})(?::[0-9]*)?(?:[/?#]|\Z)"


def about_page(
    body: bytes, charset: str | None = None, url: str | None = None, *, title: bool = True
) -> tuple[str | None, str | None]:
    """The title and the canonical URL of a page; None where it says nothing.

    Args:
        body: Its markup.
        charset: What the header says of the encoding.
        url: Where it was found.
        title: Whether the title is wanted; without it, a head that names no canonical URL is not parsed.

    >>> about_page(b"<title>A rose</title><link rel=canonical href=/rose>", None, "http://a.example/x?y")
    ('A rose', 'http://a.example/rose')
    """
    head = body[:_MOST_HEAD]
    if not title and b"\0" not in head and not re.search(_CANONICAL, head):
        return None, None
    name, head = encoding(body[:_MOST_SEEN], charset, markup=True)
    head = to_utf8(head[:_MOST_HEAD], name)
    end = re.search(_HEAD_END, head)
    tree = resiliparse("parse.html").HTMLTree.parse_from_bytes(head[: end.start() if end else None], "utf-8")
    found_title = re.sub(_SPACES, " ", tree.title or "").strip().encode("utf-8", "ignore").decode()
    return found_title or None, absolute(_link(tree), _base(tree, url))


def link_canonical(header: str, url: str | None) -> str | None:
    """The canonical URL of an HTTP Link header."""
    match = re.search(_LINK_HEADER, header)
    return absolute(match[1] if match else None, url)


def absolute(target: str | None, url: str | None) -> str | None:
    """A reference as an address of the web; None where it is none.

    Example:
        >>> absolute("/rose", "http://a.example/x"), absolute("/rose", None), absolute("about:blank", None)
        ('http://a.example/rose', None, None)
    """
    named = (target or "").strip(_BLANKS)
    if not named or re.search(NO_REFERENCE, named):
        return None
    try:
        joined = named if re.match(_SCHEME, named) else urljoin(url or "", named)
    except ValueError:
        return None
    return joined if re.match(_WEB, joined) else None


def _base(tree: Any, url: str | None) -> str | None:
    """What references of a page are relative to."""
    for base in elements(tree.document, "base[href]"):
        with suppress(ValueError):
            joined = urljoin(url or "", str(base.getattr("href")).strip(_BLANKS))
            return joined if re.match(_WEB, joined) else url
    return url


def _link(tree: Any) -> str | None:
    for link in elements(tree.document, "link[rel][href]"):
        if "canonical" in (link.getattr("rel") or "").lower().split():
            return str(link.getattr("href"))
    return None
