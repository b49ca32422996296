"""SURT, the sort-friendly form by which archives look pages up: `com,example)/path?query`.

1. As the archives' own software makes keys: `www.`, default ports, session ids, a trailing slash and case do not count,
   parameters are sorted, what is percent-encoded is decoded as often as it can be.
2. So it merges more than a canonical URL does: it is a key to look up and to sort by, never a ground to remove a page.
3. What has no host (`dns:`, `mailto:`, `warcinfo:`, `filedesc:`) stays as it is; nothing at all is `-`.

Where it differs from that software: hosts and paths are first brought to the WHATWG normal form, so what a browser
would not accept (a host with an encoded `#`) stays as it is; a session id counts as one at any length.
"""

import re
from typing import Any
from urllib.parse import unquote_to_bytes

from nearsame.recipes.arguments import checked
from nearsame.recipes.urls import RULES, CanonicalUrl
from nearsame.stages.keys.urls import Canonical, pieces, whatwg

__all__ = ["surt"]

_WWW = re.compile(r"^www\d*\.")
_SLASHES = re.compile(r"/{2,}")
_OTHERS: dict[str, Any] = dict.fromkeys(set(RULES) - {"sessions", "ports", "fragments", "drop"}, False)
_SESSIONS = Canonical(CanonicalUrl(**_OTHERS))


@checked
def surt(url: str | None, *, with_scheme: bool = False, trailing_comma: bool = False, www: bool = True) -> str:
    """The sort-friendly form of a URL.

    Args:
        url: What to look up.
        with_scheme: Whether it begins with the scheme, as in `http://(com,example)/`.
        trailing_comma: Whether a comma follows the last label, so that a prefix is a whole domain.
        www: Whether `www.`, `www2.` and the like are dropped.

    Example:
        >>> surt("http://www.example.org/goo/?b&a")
        'org,example)/goo?a&b'
    """
    if not url:
        return "-"
    href = whatwg(url)
    if href is None or "://" not in href or href.startswith(("filedesc:", "file:", "blob:")):
        return url
    given = pieces(_SESSIONS(href))
    host = given.host.rstrip(".")
    bare = _WWW.sub("", host) if www else host
    labels = (bare or host).split(".")[::-1]
    place = ",".join(labels) + ("," if trailing_comma else "") + (f":{given.port}" if given.port else "")
    path = _SLASHES.sub("/", _minimal(given.path)).lower()
    path = path.rstrip("/") or "/"
    query = "&".join(sorted(_minimal(given.query or "").lower().split("&")))
    start = f"{given.scheme}://(" if with_scheme else ""
    return f"{start}{place}){path}" + (f"?{query}" if query else "")


def _minimal(text: str) -> str:
    """Decoded as often as it can be, then encoded where it must be."""
    data = text.encode()
    while (once := unquote_to_bytes(data)) != data:
        data = once
    return "".join(f"%{byte:02x}" if byte <= 0x20 or byte >= 0x7F or byte in b"#%" else chr(byte) for byte in data)
