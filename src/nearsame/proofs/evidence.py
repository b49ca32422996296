"""What rows say besides their similarity of two pages (`evidence`, `same_host`), found anew from their URLs and texts.

1. URLs are compared in the forms that `canonical` gives; without one, what goes by canonical URLs is left out.
2. Mirrors need all rows: they are counted on the way, and looked at when all have been seen.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin

from nearsame.named import NamedTuple
from nearsame.proofs.claims import Claim
from nearsame.proofs.indexes import NO_WORDS, same_payload
from nearsame.proofs.sites import host_in, path_in
from nearsame.proofs.verdict import Findings

__all__ = ["BY_CONTENT", "KINDS", "Evidence", "Redirects", "of_urls"]

DEGREES = ("standard", "usual", "guess")  # of what makes URLs one, from the surest on
KINDS = (
    "bytes", "text", "revisit", "near", *(f"url-{degree}" for degree in DEGREES), "redirect", "canonical", "mirror",
)  # fmt: skip
BY_CONTENT = ("bytes", "text", "near")
_BY_URL = tuple(kind for kind in KINDS if kind not in BY_CONTENT)
_LEAST_MIRRORED = 3  # different paths that two hosts must both serve

_BLANKS = " \t\n\r\f"
_MARKS = ("{{", "}}", "${", "<?", "<%", "[object")  # of templates that nobody filled in
_NO_PAGES = {"about", "blob", "data", "javascript", "mailto", "tel"}  # schemes

Beside = Mapping[str, str | None]
Form = Callable[[str], str]


class _Waiting(NamedTuple):
    """A row whose two documents stand at one path of two hosts."""

    line: int
    hosts: tuple[str, ...]


def _absolute(base: str | None, target: str | None) -> str | None:
    """What a page says of itself, as an address of the web with a host; None where it is none."""
    bare = (target or "").strip(_BLANKS)
    if not bare or _is_word(bare):
        return None
    scheme, mark, _ = bare.partition(":")
    try:
        whole = bare if mark and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) else urljoin(base or "", bare)
    except ValueError:  # a broken address of version 6
        return None
    scheme, _, rest = whole.partition("://")
    user, _, host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")
    if host.startswith("["):
        name, closed, port = host[1:].partition("]")
        odd = set(name) - set("0123456789abcdefABCDEF:.") or not closed
    else:
        name, colon, port = host.partition(":")
        odd, port = set(name) & {*"[]{}<>|\\^`\"'", *_BLANKS}, colon + port
    is_odd = bool(odd) or re.fullmatch(r"(:[0-9]*)?", port) is None or bool({*user} & {"@", *_BLANKS})
    return whole if scheme.lower() in ("http", "https") and name and not is_odd else None


def of_urls(forms: Mapping[str, Form]) -> dict[str, Form]:
    """The forms of what is a URL: one with a host, or of a file; of anything else it is nothing."""

    def made(form: Form) -> Form:
        return lambda url: form(url) if _is_url(url) else ""

    return {degree: made(form) for degree, form in forms.items()}


def _is_url(text: str) -> bool:
    bare = text.strip(_BLANKS)
    return bool(bare.strip("-_?.*/#\\")) and not _is_word(bare)


def _is_word(bare: str) -> bool:
    """Whether this says that there is no address."""
    low = bare.lower()
    scheme, mark, rest = low.partition(":")
    is_scheme = bool(mark) and re.fullmatch(r"[a-z][a-z0-9+.-]*", scheme) is not None
    if low in NO_WORDS or not low.strip("-") or (is_scheme and (scheme in _NO_PAGES or not rest.strip("/"))):
        return True
    if is_scheme and scheme in ("http", "https", "ftp") and rest.startswith("//"):
        host = re.split(r"[:/?#]", rest[2:], maxsplit=1)[0]
        if (not host and not rest[2:].startswith(":")) or host in ("null", "none", "undefined", "nan"):
            return True
    first = re.split(rf"[{_BLANKS}]", bare, maxsplit=1)[0]
    is_sentence = first != bare and not {*first} & {*":/?#"}
    return is_sentence or any(mark in low for mark in _MARKS) or re.search(r"%%[a-z_.]+%%", low) is not None


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and one == other


def _named(target: str | None, url: str | None, other_target: str | None, other_url: str | None) -> bool:
    """Whether one names the other, or both name the same."""
    return _same(target, other_url) or _same(url, other_target) or _same(target, other_target)


@dataclass
class Redirects:
    """Where pages redirect to, in all documents; of several the least."""

    url: str  # the column of URLs
    forms: Mapping[str, Form] | None  # of URLs, by the rules up to each degree
    _targets: dict[str, str] = field(default_factory=dict)

    @property
    def form(self) -> Form | None:
        """What pages say of themselves goes by no guess."""
        return None if self.forms is None else self.forms["usual"]

    def see(self, page: Beside) -> None:
        """Note a document that redirects."""
        url, target = page.get(self.url), page.get("redirect")
        if self.form is None or not url or not target:
            return
        here, there = self.form(url), self.form(_absolute(url, target) or "")
        if here and there and here != there:
            self._targets[here] = min(there, self._targets.get(here, there))

    def end(self, target: str | None) -> str | None:
        """Where it ends; one that goes round in a circle ends at the least URL on the way."""
        if target is None:
            return None
        seen = {target}
        while (after := self._targets.get(target)) is not None:
            if after in seen:
                return min(seen)
            seen.add(target := after)
        return target


@dataclass
class Evidence:
    """The evidence of all rows, one after the other.

    Attributes:
        redirects: of all documents.
        findings: what does not hold.
        by_content: whether what is said of contents can be told here.
    """

    redirects: Redirects
    findings: Findings
    by_content: bool = True
    _waiting: list[_Waiting] = field(default_factory=list)
    _said: set[int] = field(default_factory=set)  # lines that say "mirror"
    _paths: dict[tuple[str, ...], set[str]] = field(default_factory=lambda: defaultdict(set))

    def check(
        self, claim: Claim, page: Beside, other: Beside, holds: Mapping[str, bool], wrong: Callable[[str], None]
    ) -> None:
        """Hold what a row says to what is known of both pages, and to what holds of their contents."""
        url = self.redirects.url
        one, two = host_in(page.get(url)), host_in(other.get(url))
        same = None if one is None or two is None else one == two
        if claim.same_host is not same:
            wrong(f"same_host is said to be {claim.same_host}, and is {same}")
        claimed = claim.evidence or []
        if claimed != [kind for kind in KINDS if kind in claimed]:
            wrong(f"evidence {claimed} is not some of {', '.join(KINDS)}, in this order")
            return
        actual = {kind for kind, is_so in holds.items() if is_so} if self.by_content else set()
        looked_at = {*(BY_CONTENT if self.by_content else ())}
        if self.redirects.form is not None:
            actual |= set(self._of_urls(self._pages(page), self._pages(other)))
            actual |= set(self._one_url(page.get(url), other.get(url)))
            looked_at |= {*_BY_URL} - {"mirror"}
            self._wait(claim, page.get(url), other.get(url))
        differing = [kind for kind in KINDS if kind in looked_at and (kind in claimed) != (kind in actual)]
        if differing:
            said, so = ([kind for kind in differing if kind in some] or "nothing" for some in (claimed, actual))
            wrong(f"evidence says {said}, and what holds is {so}")
        self.findings.count("evidence")

    def close(self) -> None:
        """Look at mirrors, when all rows have been seen."""
        mirrored = {waiting.line for waiting in self._waiting if len(self._paths[waiting.hosts]) >= _LEAST_MIRRORED}
        if self.redirects.form is not None:
            for line in sorted(mirrored ^ self._said):
                what = "does not say" if line in mirrored else "says"
                hosts = "share so many paths" if line in mirrored else "do not share so many paths"
                self.findings.wrong(f"removed.parquet, line {line}", f"evidence {what} mirror, and their hosts {hosts}")

    def _pages(self, page: Beside) -> dict[str, str | None]:
        """The canonical URL of a page, and of what it says of itself."""
        form, url = self.redirects.form, page.get(self.redirects.url)
        assert form is not None  # noqa: S101  (whoever calls has seen to it)
        urls = {"url": form(url) or None if url else None, "payload_digest": page.get("payload_digest") or None}
        for name in ("redirect", "canonical", "revisit_of"):
            target = page.get(name) or None
            target = target if name == "revisit_of" else _absolute(url, target)
            urls[name] = form(target) or None if target else None
        urls["redirect"] = self.redirects.end(urls["redirect"])
        return urls

    def _of_urls(self, one: Beside, two: Beside) -> Iterator[str]:
        for name in ("redirect", "canonical"):
            if _named(one[name], one["url"], two[name], two["url"]):
                yield name
        is_revisit = one["revisit_of"] is not None or two["revisit_of"] is not None
        named = _named(one["revisit_of"], one["url"], None, two["url"])
        if (
            named
            or _named(None, one["url"], two["revisit_of"], two["url"])
            or (is_revisit and same_payload(one["payload_digest"], two["payload_digest"]))
        ):
            yield "revisit"

    def _one_url(self, one: str | None, two: str | None) -> Iterator[str]:
        """The surest degree by which two URLs are one."""
        forms = self.redirects.forms or {}
        if one and two:
            same = (degree for degree in DEGREES if forms[degree](one) == forms[degree](two) != "")
            yield from [f"url-{degree}" for degree in same][:1]

    def _wait(self, claim: Claim, url: str | None, other: str | None) -> None:
        """Note what may be a mirror."""
        form = self.redirects.form
        if "mirror" in (claim.evidence or []):
            self._said.add(claim.line)
        if form is None or url is None or other is None:
            return
        one, two = form(url), form(other)
        hosts, path = (host_in(one), host_in(two)), path_in(one)
        if None not in hosts and hosts[0] != hosts[1] and _same(path, path_in(two)):
            pair = tuple(sorted(str(host) for host in hosts))
            self._paths[pair].add(str(path))
            self._waiting.append(_Waiting(claim.line, pair))
