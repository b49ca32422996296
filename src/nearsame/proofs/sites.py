"""The host and path of a URL, and contents that know the host they come from."""

import re
from typing import Any

__all__ = ["host_in", "host_of", "of_host", "path_in"]

_URL = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:)?//(?:[^/?#@]*@)?(?P<host>\[[^\]]*\]|[^/:?#]*)(?::[0-9]*)?(?P<path>[^#]*)"
)


class _Text(str):
    """A text of a host."""

    __slots__ = ("host",)
    host: str


class _Items(list[Any]):
    """A list of ready items of a host."""

    host: str


def host_in(url: str | None) -> str | None:
    """The host, in small letters; None where there is none.

    >>> host_in("http://u@A.org:80/x?y")
    'a.org'
    """
    match = _URL.match(url or "")
    return match["host"].lower() or None if match else None


def path_in(url: str | None) -> str | None:
    """What follows the host, up to the fragment; None where there is no host."""
    match = _URL.match(url or "")
    return match["path"] if match else None


def of_host(content: Any, url: str | None) -> Any:
    """The same content, which knows its host."""
    host = host_in(url)
    if content is None or host is None:
        return content
    known: _Text | _Items = _Text(content) if isinstance(content, str) else _Items(content)
    known.host = host
    return known


def host_of(content: Any) -> str | None:
    """The host that a content knows."""
    return getattr(content, "host", None)
