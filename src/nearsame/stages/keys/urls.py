"""Canonical URLs: one form for the URLs that name one page by rule, whatever is behind them.

1. A URL that cannot be parsed, and one of another scheme than http and https, gets no rule; the first stays as it is.
2. Never raises, whatever the text; idempotent: rules are applied until nothing changes, and a text that never comes
   to rest stays as it is.
3. Which rules there are, and why one may be off, stands in the recipe.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import MissingExtraError
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import checked
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.keys.urlnames import DOCUMENTS, MAYBE_SESSIONS, SESSIONS, TRACKING

__all__ = ["Canonical", "Pieces", "Traced", "canonical_url", "host_of", "mapped", "matcher", "pieces", "whatwg"]

_MOST_ROUNDS = 8
# After these another round is spared; see _at_rest.
_SETTLED = frozenset(("scheme", "tracking", "drop", "empty_query", "query_order", "fragments", "states"))
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_AMPERSANDS = re.compile(r"&(?:amp;)+")
_SLASHES = re.compile(r"(?<!:)/{2,}")
_NUMBERS = re.compile(r"[0-9.]+|\[.*")  # a host that is an address has no labels
_AUTHORITY = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[/\\]*([^/\\?#]*)")
_EXPLICIT = re.compile(r":0*(80|443)$")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|oscsid)=[^/;]*", re.IGNORECASE)
_COOKIELESS = re.compile(r"/\((?=[^/]*[a-z]\([0-9a-z]{24}\))(?:[a-z]\([0-9a-z]*\))+\)(?=/)", re.IGNORECASE)
_SESSION_VALUE = re.compile(  # hexadecimal, a UUID, or letters of both cases among digits: nobody searches for these
    r"(?=\D*\d)(?=[^a-fA-F]*[a-fA-F])([0-9a-f]{16,}|[0-9A-F]{16,})|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|(?=(\D*\d){3})(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[0-9A-Za-z]{20,}"
)
_WIKI = "/wiki/"  # behind it stands a page's title, as its authors write it
_STATE = re.compile(r"^!|[/=&?]")
_CONTROLS = "".join(map(chr, range(33)))
_DEFAULT = {"http": "80", "https": "443"}


class Pieces(NamedTuple):
    """A URL with a host, cut up; joined again it is the same."""

    scheme: str
    user: str  # with its @
    host: str
    port: str
    path: str
    query: str | None  # None: there is no question mark
    fragment: str | None

    def __str__(self) -> str:
        port = f":{self.port}" if self.port else ""
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.scheme}://{self.user}{self.host}{port}{self.path}{query}{fragment}"


class Traced(NamedTuple):
    """A canonical URL, and how it came about."""

    url: str
    rules: tuple[str, ...] = ()  # that changed something
    valid: bool = True


def whatwg(url: str) -> str | None:
    """The WHATWG normal form of a URL; None for what is not a URL.

    Raises:
        MissingExtraError: The parser is not installed.

    Example:
        >>> whatwg(" HTTP://EXAMPLE.org:80/a/../b ")
        'http://example.org/b'
    """
    return _parsed(_parser(), url)


def _parser() -> Callable[[str], Any]:
    try:
        import can_ada  # noqa: PLC0415  (optional)
    except ImportError as error:
        message = "canonical URLs need the package can_ada"
        raise MissingExtraError.of(message, "web") from error
    parse: Callable[[str], Any] = can_ada.parse
    return parse


def _parsed(parse: Callable[[str], Any], url: str) -> str | None:
    try:
        return str(parse(url).href)
    except (ValueError, TypeError):  # no URL; no UTF-8
        return None


def pieces(href: str) -> Pieces:
    """A URL in its normal form, `scheme://host…`, cut up.

    Example:
        >>> pieces("https://example.org:8080/a?b#c").port
        '8080'
    """
    rest, mark, fragment = href.partition("#")
    rest, asks, query = rest.partition("?")
    scheme, _, rest = rest.partition("://")
    authority, slash, path = rest.partition("/")
    user, at, address = authority.rpartition("@")
    host, colon, port = address.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = address, ""
    return Pieces(scheme, user + at, host, port, slash + path, query if asks else None, fragment if mark else None)


def host_of(url: str) -> str:
    """The host of a URL, without a port; nothing, where it has none.

    Example:
        >>> host_of("https://Example.org:8080/a")
        'example.org'
    """
    href = whatwg(url)
    return pieces(href).host if href is not None and "://" in href else ""


def mapped(form: Callable[[str], str], urls: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column of URLs, each in its form; null stays null."""
    once = urls.combine_chunks() if isinstance(urls, pa.ChunkedArray) else urls
    return pa.array([None if url is None else form(url) for url in once.to_pylist()], pa.large_string())


@checked
def canonical_url(url: str, recipe: CanonicalUrl | None = None) -> str:
    """The canonical form of one URL; for many, make a `Canonical` once.

    Example:
        >>> canonical_url("http://Example.org/a/index.html?utm_source=x&b=2&a=1#top")
        'https://example.org/a?a=1&b=2'
    """
    return Canonical(CanonicalUrl() if recipe is None else recipe)(url)


@dataclass(frozen=True)
class Canonical:
    """URLs to canonical URLs, by one recipe."""

    recipe: CanonicalUrl

    def __getstate__(self) -> dict[str, Any]:
        """The recipe: what is made of it once it is asked for cannot be pickled."""
        return {"recipe": self.recipe}

    def __call__(self, url: str) -> str:
        """The canonical form; what is not a URL, as it is."""
        return self.trace(url).url

    def trace(self, url: str) -> Traced:
        """The canonical form, and which rules changed something on the way.

        Example:
            >>> Canonical(CanonicalUrl()).trace("https://example.org/?").rules
            ('empty_query',)
        """
        rules: list[str] = []
        now = url
        for _ in range(_MOST_ROUNDS):
            done = self._once(now)
            if done is None:
                return Traced(url, (), valid=False) if now == url else Traced(url)
            rules += [rule for rule in done.rules if rule not in rules]
            if done.url == now or _at_rest(now, done):
                return Traced(done.url, tuple(rules))
            now = done.url
        return Traced(url)  # it would never come to rest

    def column(self, urls: pa.Array) -> pa.Array:
        """The canonical forms of a column of URLs; null stays null."""
        return mapped(self, urls)

    def _once(self, url: str) -> Traced | None:
        href = _parsed(self._parse, url)
        if href is None:
            return None
        if not href.startswith(("http://", "https://")):
            return Traced(href)
        now, rules = pieces(href), []
        port = _explicit_port(url, now)
        if port:
            if self.recipe.applies("ports"):
                rules.append("ports")
            else:
                now = now._replace(port=port)
        for name, rule in self._rules:
            changed = rule(now)
            if changed is not now and changed != now:
                rules.append(name)
                now = changed
        return Traced(str(now), tuple(rules))

    @cached_property
    def _parse(self) -> Callable[[str], Any]:
        return _parser()

    @cached_property
    def _rules(self) -> tuple[tuple[str, Callable[[Pieces], Pieces]], ...]:
        """What is switched on, in the order in which it is applied."""
        known: tuple[tuple[str, Callable[[Pieces], Pieces]], ...] = (
            ("percent", _percent),
            ("entities", _entities),
            ("sessions", self._sessions),
            ("slashes", _slashes),
            ("documents", _documents),
            ("trailing_slash", _trailing_slash),
            ("tracking", self._without(TRACKING)),
            ("drop", self._without(self.recipe.drop)),
            ("empty_query", _empty_query),
            ("query_order", _query_order),
            ("fragments", _fragments),
            ("states", _states),
            ("root_dot", _root_dot),
            ("www", _www),
            ("scheme", _scheme),
        )
        letters = (("idn", self._letters),) if self.recipe.idn == "unicode" else ()
        return (*((name, rule) for name, rule in known if self.recipe.applies(name)), *letters)

    @cached_property
    def _kept(self) -> Callable[[str], bool]:
        return matcher(self.recipe.keep)

    def _without(self, names: tuple[str, ...]) -> Callable[[Pieces], Pieces]:
        matches = matcher(names)
        return lambda url: _only(url, lambda name, _: not matches(name) or self._kept(name))

    @cached_property
    def _is_session(self) -> Callable[[str], bool]:
        return matcher(SESSIONS)

    def _sessions(self, url: Pieces) -> Pieces:
        if ";" in url.path:
            url = url._replace(path=_PATH_SESSION.sub(self._path_session, url.path))
        if "(" in url.path:
            url = url._replace(path=_COOKIELESS.sub("", url.path))
        return _only(url, lambda name, value: self._kept(name) or not self._session(name, value))

    def _path_session(self, match: re.Match[str]) -> str:
        name = match.group()[1:].partition("=")[0].lower()
        return match.group() if self._kept(name) else ""

    def _session(self, name: str, value: str) -> bool:
        return self._is_session(name) or (name in MAYBE_SESSIONS and _SESSION_VALUE.fullmatch(value) is not None)

    def _letters(self, url: Pieces) -> Pieces:
        """The host in its own letters, where they lead back to it."""
        if "xn--" not in url.host:
            return url
        import can_ada  # noqa: PLC0415  (it is there by now)

        decode: Callable[[bytes], str] = can_ada.idna_decode  # type: ignore[assignment]  # its stub says str
        host = decode(url.host.encode())
        again = _parsed(self._parse, f"https://{host}/")
        return url._replace(host=host) if again == f"https://{url.host}/" else url


def _at_rest(url: str, done: Traced) -> bool:
    """Whether another round would surely change nothing, without making it: that halves the time of most URLs.

    The normal form is its own normal form, with https as with http, for ASCII without any doubt. And rules that only
    take parameters or the fragment away, or order them, leave nothing that an earlier rule or the parser would change,
    but for a name that begins with the rest of an ampersand, and has one before it now.
    """
    is_plain = url.isascii() and "amp;" not in done.url
    return is_plain and _SETTLED.issuperset(done.rules) and done.url.startswith("http")


def _explicit_port(url: str, normal: Pieces) -> str:
    """The default port that a URL names all the same; its normal form has none."""
    if normal.port or (":80" not in url and ":443" not in url and ":0" not in url):
        return ""
    plain = url.strip(_CONTROLS).translate({9: None, 10: None, 13: None})
    authority = _AUTHORITY.match(plain)
    port = _EXPLICIT.search(authority.group(1)) if authority else None
    return port.group(1) if port and port.group(1) == _DEFAULT[normal.scheme] else ""


def _percent(url: Pieces) -> Pieces:
    if "%" not in url.path and "%" not in (url.query or ""):
        return url
    query = None if url.query is None else _ENCODED.sub(_decoded, url.query)
    return url._replace(path=_ENCODED.sub(_decoded, url.path), query=query)


def _decoded(match: re.Match[str]) -> str:
    letter = chr(int(match.group()[1:], 16))
    return letter if letter in _UNRESERVED else match.group().upper()


def _entities(url: Pieces) -> Pieces:
    if url.query is None or "&amp;" not in url.query:
        return url
    return url._replace(query=_AMPERSANDS.sub("&", url.query))


def _slashes(url: Pieces) -> Pieces:
    return url._replace(path=_SLASHES.sub("/", url.path)) if "//" in url.path and _WIKI not in url.path else url


def _trailing_slash(url: Pieces) -> Pieces:
    """Without one slash; several are not one slash too many, but have something empty in between."""
    has_one = url.path.endswith("/") and not url.path.endswith("//")
    return url._replace(path=url.path[:-1] or "/") if has_one else url


def _documents(url: Pieces) -> Pieces:
    folder, _, name = url.path.rpartition("/")
    known = name if _WIKI in url.path else name.lower()
    return url._replace(path=f"{folder}/") if known in DOCUMENTS else url


def _empty_query(url: Pieces) -> Pieces:
    if url.query is None:
        return url
    return url._replace(query="&".join(filter(None, url.query.split("&"))) or None)


def _query_order(url: Pieces) -> Pieces:
    if url.query is None or "&" not in url.query:
        return url
    return url._replace(query="&".join(sorted(url.query.split("&"), key=_name)))


def _name(parameter: str) -> str:
    """What stands before the first `=`; nothing where there is none: it is a value, whose place may matter."""
    name, equals, _ = parameter.partition("=")
    return name if equals else ""


def _fragments(url: Pieces) -> Pieces:
    return url if url.fragment is None or _is_state(url.fragment) else url._replace(fragment=None)


def _states(url: Pieces) -> Pieces:
    keeps = url.fragment is None or url.fragment.startswith(("!", "/")) or not _is_state(url.fragment)
    return url if keeps else url._replace(fragment=None)


def _is_state(fragment: str) -> bool:
    """Whether a fragment may name another page: not, where it names a place, a passage or a campaign."""
    if fragment.startswith(":~:"):
        return False
    named = (parameter.partition("=")[0].lower() for parameter in fragment.split("&"))
    return _STATE.search(fragment) is not None and not all(map(_IS_TRACKING, named))


def _root_dot(url: Pieces) -> Pieces:
    return url._replace(host=url.host.rstrip(".") or url.host) if url.host.endswith(".") else url


def _www(url: Pieces) -> Pieces:
    host = url.host
    while host.startswith("www.") and "." in host[4:].rstrip(".") and not _NUMBERS.fullmatch(host[4:]):
        host = host[4:]
    return url if host is url.host else url._replace(host=host)


def _scheme(url: Pieces) -> Pieces:
    """Make http https; another port is another server."""
    return url if url.port or url.scheme == "https" else url._replace(scheme="https")


def _only(url: Pieces, wanted: Callable[[str, str], bool]) -> Pieces:
    """The parameters that are wanted, by name in small letters, and value."""
    if not url.query:
        return url
    given = url.query.split("&")
    left = [parameter for parameter in given if not parameter or wanted(*_named(parameter))]
    return url if len(left) == len(given) else url._replace(query="&".join(left) or None)


def _named(parameter: str) -> tuple[str, str]:
    name, _, value = parameter.partition("=")
    return name.lower(), value


def matcher(names: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a name, in small letters, is one of some, or begins as one that ends in `*`.

    Example:
        >>> matcher(("ref", "utm_*"))("utm_id")
        True
    """
    plain = frozenset(name.lower() for name in names if not name.endswith("*"))
    starts = tuple(name[:-1].lower() for name in names if name.endswith("*"))
    return lambda name: name in plain or (bool(starts) and name.startswith(starts))


_IS_TRACKING = matcher(TRACKING)
