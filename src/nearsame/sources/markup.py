"""What a page says of itself: its title, and which address it calls its own.

1. Only the head of the markup is parsed, once, and no bytes raise.
2. `canonical` is absolute where the page's address is known; one that is no URL is none.
"""

import re
from typing import Any
from urllib.parse import urljoin

from nearsame.errors import MissingExtraError

__all__ = ["HTML", "about_page", "absolute", "link_canonical", "resiliparse"]

HTML = frozenset({"text/html", "application/xhtml+xml"})

_HEAD_END = re.compile(rb"</head\s*>|<body[\s>]", re.IGNORECASE)
_MOST_HEAD = 64 << 10
_CANONICAL = re.compile(rb"canonical", re.IGNORECASE)
_LINK_HEADER = re.compile(r"<([^<>]*)>[^,]*?;\s*rel\s*=\s*[\"']?canonical\b", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


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
    wide = body[:2] in {b"\xff\xfe", b"\xfe\xff"}
    end = None if wide else _HEAD_END.search(body, 0, _MOST_HEAD)
    head = body[: end.start() if end else _MOST_HEAD]
    if not title and not wide and not _CANONICAL.search(head):
        return None, None
    encoding = resiliparse("parse.encoding")
    known = encoding.map_encoding_to_html5(charset, fallback_utf8=False) if charset else None
    known = known or encoding.detect_encoding(body[: 1 << 17], from_html_meta=True) or "utf-8"
    tree = resiliparse("parse.html").HTMLTree.parse(encoding.bytes_to_str(head, known, "ignore", ("utf-8", "cp1252")))
    found_title = _SPACES.sub(" ", tree.title or "").strip().encode("utf-8", "ignore").decode()
    link = _link(tree) if _CANONICAL.search(head) or wide else None
    return found_title or None, absolute(link, url)


def link_canonical(header: str, url: str | None) -> str | None:
    """The canonical URL of an HTTP Link header."""
    match = _LINK_HEADER.search(header)
    return absolute(match[1] if match else None, url)


def absolute(target: str | None, url: str | None) -> str | None:
    """A reference as a URL; None where it is none."""
    if not target or not target.strip():
        return None
    try:
        return urljoin(url or "", target.strip())
    except ValueError:
        return None


def _link(tree: Any) -> str | None:
    for link in tree.document.query_selector_all("link[rel][href]")[:]:  # sliced: each step costs all of the list
        if "canonical" in (link.getattr("rel") or "").lower().split():
            return str(link.getattr("href"))
    return None


def resiliparse(module: str) -> Any:
    """A module of the package that parses pages.

    Raises:
        MissingExtraError: It is not installed.
    """
    from importlib import import_module  # noqa: PLC0415  (beside its only use)

    try:
        return import_module(f"resiliparse.{module}")
    except ImportError as error:
        raise MissingExtraError.of("resiliparse is not installed", "web") from error
