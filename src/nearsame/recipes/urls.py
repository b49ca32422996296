"""What a canonical URL is made by: a frozen, validated recipe whose every rule can be switched.

1. Below all rules lies the WHATWG normal form: case of scheme and host, dot segments, encoding of what may not stand
   in a URL. It cannot be switched off; what a rule here does comes on top of it.
2. No rule merges two hosts, unless `www` is asked for: a host with and without it may be two sites.
3. Every rule has a degree: `standard` conforms to RFC 3986, `usual` is what nearly every site honours, and a `guess`
   is right most of the time. Nothing is removed on a guess alone.
4. What is stored with canonical URLs carries `record()`; URLs made by two recipes are not compared.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

from nearsame.errors import ConfigError
from nearsame.recipes.arguments import checked, shown
from nearsame.recipes.base import Recipe
from nearsame.recipes.choices import DEGREES, Degree, IdnForm, ReportedMeasure
from nearsame.recipes.fields import Field
from nearsame.recipes.given import Codes, read

__all__ = ["DEGREES", "DEGREE_OF", "RULES", "CanonicalUrl", "Degree"]


class CanonicalUrl(Recipe):
    """Which differences between URLs do not count.

    Example:
        >>> CanonicalUrl(www=True).www
        True
    """

    name: ClassVar[str] = "canonical-url"
    measure: ClassVar[ReportedMeasure] = "url"

    scheme: bool = Field(
        default=True, description="`http` becomes `https`, where the port is the default one: one host, one site."
    )
    www: bool = Field(
        default=False,
        description="Drop `www.` before a name of two labels or more. Off: two hosts are not one by rule alone.",
    )
    root_dot: bool = Field(default=True, description="Drop the dot after the last label: the same name in the DNS.")
    ports: bool = Field(default=True, description="Drop `:80` of http and `:443` of https.")
    idn: IdnForm = Field(
        default="ascii", description="How a host outside of ASCII is written: `xn--…`, or in its own letters."
    )
    percent: bool = Field(
        default=True, description="Decode what needs no encoding (letters, digits, `-._~`); `%c3` becomes `%C3`."
    )
    entities: bool = Field(
        default=True, description="`&amp;` in a query is `&`: a link that was escaped once too often."
    )
    slashes: bool = Field(
        default=True,
        description="Several slashes in a path are one, but for those behind a colon, and in a wiki, where `//dev/null`"
        " is another page.",
    )
    documents: bool = Field(
        default=True,
        description="Drop default documents at the end of a path: `index.html`, `default.asp` and the like; in a wiki"
        " only in small letters, since `Index.php` may be a page.",
    )
    trailing_slash: bool = Field(default=True, description="Drop the slash at the end of a path, but for the root's.")
    fragments: bool = Field(
        default=True,
        description="Drop what follows `#` where it names a place in the page; `#!…` and `#/…` always stay.",
    )
    states: bool = Field(
        default=True,
        description="Drop what follows `#` where it holds `/`, `=`, `&` or `?`, as in `#page=2`; `#!…` and `#/…` stay.",
    )
    sessions: bool = Field(
        default=True,
        description="Drop session ids: `PHPSESSID`, `;jsessionid=` and the like by name, `sid` and the like only where"
        " the value looks like one.",
    )
    tracking: bool = Field(default=True, description="Drop parameters that tell where a visitor came from: `utm_*`, …")
    drop: Codes = read((), "Further parameters to drop; `*` at the end matches anything.")
    keep: Codes = read((), "Parameters that are never dropped, whatever else says so.")
    empty_query: bool = Field(default=True, description="Drop a `?` with nothing behind it, and empty parameters.")
    query_order: bool = Field(
        default=True,
        description="Sort parameters by name; those of one name, or of none, stay in their order, which may matter.",
    )
    up_to: Degree = Field(
        default="guess",
        description="The rules that are applied: those that are `standard`, those that are `usual`, too, or also each"
        " that is a `guess`.",
    )
    lists: Literal[2] = Field(default=2, description="Version of the lists of documents, sessions and tracking names.")

    def without(self, rule: str) -> Self:
        """The same recipe with one rule switched off.

        Example:
            >>> CanonicalUrl().without("ports").ports
            False

        Raises:
            ConfigError: There is no such rule.
        """
        _require("rule", rule, RULES)
        off = () if rule == "drop" else False
        return type(self)(**{**self.settings, rule: off})

    def at_most(self, degree: Degree) -> Self:
        """The same recipe with no rule that is less sure than a degree.

        Example:
            >>> CanonicalUrl().at_most("usual").applies("documents")
            False
        """
        _require("degree", degree, DEGREES)
        return type(self)(**{**self.settings, "up_to": min(degree, self.up_to, key=DEGREES.index)})

    def applies(self, rule: str) -> bool:
        """Whether a rule is switched on, and is sure enough."""
        _require("rule", rule, RULES)
        return bool(getattr(self, rule)) and DEGREES.index(DEGREE_OF[rule]) <= DEGREES.index(self.up_to)

    @property
    def guesses(self) -> bool:
        """Whether any rule is a guess."""
        return any(DEGREE_OF[rule] == "guess" and self.applies(rule) for rule in RULES)

    @checked
    def degree(self, rules: Iterable[str]) -> Degree:
        """The degree of what some rules made together: that of the least sure; of none, `standard`.

        Example:
            >>> CanonicalUrl().degree(["ports", "tracking"])
            'usual'
        """
        degrees = [DEGREE_OF.get(rule, "guess") for rule in rules if rule != "idn"]  # a host in its own letters
        return max(degrees, key=DEGREES.index, default="standard")


DEGREE_OF: Mapping[str, Degree] = {
    "scheme": "usual",
    "www": "usual",
    "root_dot": "usual",
    "ports": "standard",
    "percent": "standard",
    "entities": "guess",
    "slashes": "guess",
    "documents": "guess",
    "trailing_slash": "usual",
    "fragments": "usual",
    "states": "guess",
    "sessions": "guess",
    "tracking": "usual",
    "drop": "usual",
    "empty_query": "usual",
    "query_order": "usual",
}
RULES = tuple(DEGREE_OF)


def _require(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ConfigError(f"{shown(value)} is not a {name} of canonical URLs", hint=f"Name one of {', '.join(known)}.")
