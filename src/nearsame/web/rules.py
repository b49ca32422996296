"""Learnt URL rules: what they are, how they are applied, and the file that carries them.

1. A rule drops parameters, or replaces one part of path and query by a shorter one: so applying them ends.
2. A rule is of one host, of one folder of it, or of every host but some.
3. Rules are about canonical URLs of one recipe, and the file carries it: another recipe is an error.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.inputs import Inputs
from nearsame.outputs import folder
from nearsame.recipes.arguments import checked
from nearsame.recipes.urls import CanonicalUrl
from nearsame.shares import counted
from nearsame.sources.whole import read_json
from nearsame.stages.keys.urls import Canonical

__all__ = ["RuleEvidence", "UrlRule", "UrlRules", "first_folder", "replacing", "split_url", "without_parameters"]

FORMAT, VERSION = "nearsame-url-rules", 1
_MARKS = r"/?&=;.,:+~_\-"
_MOST_ROUNDS = 8


@dataclass(frozen=True)
class RuleEvidence:
    """How often a rule was right on a corpus.

    Attributes:
        support: URLs that the rule brings to another URL with the same content.
        against: URLs that it brings to one with other content.
        held_support: the same on the part that it was not learnt from.
        held_against: likewise.
    """

    support: int = 0
    against: int = 0
    held_support: int = 0
    held_against: int = 0

    def __add__(self, other: "RuleEvidence") -> "RuleEvidence":
        return RuleEvidence(
            self.support + other.support,
            self.against + other.against,
            self.held_support + other.held_support,
            self.held_against + other.held_against,
        )


@dataclass(frozen=True)
class UrlRule:
    """What does not matter in the URLs of a host.

    Attributes:
        host: whose URLs; empty: of every host but `not_hosts`.
        folder: the first folder (or file) of the paths that it is about; empty: all.
        parameters: names that are dropped together; `;name` is a parameter of the path.
        find: what is replaced, where no parameters are dropped.
        replace: by what.
        evidence: for and against it.
        num_hosts: how many hosts it was learnt from.
        not_hosts: where it does not hold.
        examples: some URLs that it brings together, two by two.
        why_not: of a rejected rule, the reason.
    """

    host: str
    folder: str = ""
    parameters: tuple[str, ...] = ()
    find: str = ""
    replace: str = ""
    evidence: RuleEvidence = field(default_factory=RuleEvidence)
    num_hosts: int = 1
    not_hosts: tuple[str, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    why_not: str = ""

    @property
    def what(self) -> tuple[Any, ...]:
        """What it does, wherever it does it."""
        return self.parameters, self.find, self.replace

    def __str__(self) -> str:
        return (
            f"drop {', '.join(self.parameters)}" if self.parameters else f"{self.find} -> {self.replace or '(nothing)'}"
        )

    def apply(self, url: str) -> str:
        """The URL as the rule has it."""
        if self.parameters:
            return without_parameters(url, self.parameters)
        return replacing(url, self.find, self.replace)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """The rule of a record."""
        lists = ("parameters", "not_hosts")
        plain: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in record.items()}
        plain["evidence"] = RuleEvidence(**record["evidence"])
        plain["examples"] = tuple((a, b) for a, b in record["examples"])
        return cls(**plain)


@checked
@dataclass(frozen=True)
class UrlRules(InNotebooks):
    """Rules learnt from a corpus.

    Attributes:
        recipe: of the canonical URLs that they are about.
        rules: what holds.
        rejected: what had support, and does not hold.
        settings: how they were learnt.
        stats: counts of what they were learnt from.
        inputs: the files that they were learnt from, none of which a file of rules may replace.
    """

    recipe: CanonicalUrl
    rules: tuple[UrlRule, ...]
    rejected: tuple[UrlRule, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    inputs: Inputs = field(default=Inputs(), repr=False, compare=False)

    def __repr__(self) -> str:
        return f"UrlRules({counted(self.rules, 'rule')}, {len(self.rejected):,} rejected)"

    def apply(self, url: str) -> str:
        """The canonical URL by the recipe and the rules; idempotent, never raises.

        Example:
            >>> from nearsame.web.rules import UrlRule
            >>> rules = UrlRules(CanonicalUrl(), (UrlRule("example.org", parameters=("ref",)),))
            >>> rules.apply("http://example.org/a?ref=b#c")
            'https://example.org/a'
        """
        now = first = self._canonical(url)
        for _ in range(_MOST_ROUNDS):
            done = self._canonical(self.rewritten(now))
            if done == now:
                return now
            now = done
        return first

    def rewritten(self, url: str) -> str:
        """A canonical URL with each rule of its host applied once."""
        host, path, _ = split_url(url)
        if not host:
            return url
        own = (*self._by_host.get(host, ()), *self._anywhere)
        for rule in sorted(own, key=lambda rule: rule.find != ""):  # parameters first: they were learnt before
            if host not in rule.not_hosts and rule.folder in ("", first_folder(path)):
                url = rule.apply(url)
        return url

    @cached_property
    def _canonical(self) -> Canonical:
        return Canonical(self.recipe)

    @cached_property
    def _anywhere(self) -> tuple[UrlRule, ...]:
        return tuple(rule for rule in self.rules if not rule.host)

    @cached_property
    def _by_host(self) -> dict[str, list[UrlRule]]:
        by_host: dict[str, list[UrlRule]] = {}
        for rule in self.rules:
            if rule.host:
                by_host.setdefault(rule.host, []).append(rule)
        return by_host

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "recipe": self.recipe.record(),
            "settings": dict(self.settings),
            "stats": dict(self.stats),
            "rules": [asdict(rule) for rule in self.rules],
            "rejected": [asdict(rule) for rule in self.rejected],
        }

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a JSON file; it appears complete or not at all.

        Raises:
            OutputError: The file cannot be written.
        """
        place = folder.require_place(path, self.inputs, folder=False, overwrite=overwrite)
        with folder.appearing(place) as made:
            folder.write_json(self.record(), made)

    @classmethod
    def load(cls, path: str | Path, recipe: CanonicalUrl | None = None) -> Self:
        """Read what `save` wrote.

        Args:
            path: The file.
            recipe: The recipe that is wanted; by default the file's own.

        Raises:
            ConfigError: It is not such a file, of another version, or about another recipe.
        """
        record = read_json(str(path), "a file of rules, as `nearsame urls --learn --save` does")
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise ConfigError(
                f"{path} is not a file of URL rules", hint="Make one with `nearsame urls --learn --save`."
            )
        made = cls.of(record, str(path))
        _require_same(path, made.recipe, recipe)
        return made

    @classmethod
    def of(cls, record: Mapping[str, Any], name: str) -> Self:
        """The rules of a record, which was found in what is called by that name.

        Raises:
            ConfigError: It is of another version, or damaged.
        """
        if record.get("version") != VERSION:
            message = f"{name} is of version {record.get('version')}, and this program reads {VERSION}"
            raise ConfigError(message, hint="Learn the rules again.")
        try:
            made = CanonicalUrl(**{name: value for name, value in record["recipe"].items() if name != "method"})
            rules, rejected = ([UrlRule.of(entry) for entry in record[name]] for name in ("rules", "rejected"))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"{name} is damaged: {error}", hint="Learn the rules again.") from None
        return cls(made, tuple(rules), tuple(rejected), record.get("settings", {}), record.get("stats", {}))


def _require_same(path: str | Path, made: CanonicalUrl, wanted: CanonicalUrl | None) -> None:
    if wanted is None or wanted.record() == made.record():
        return
    a, b = made.record(), wanted.record()
    fields = ", ".join(f"{name}={a[name]!r} there, {b[name]!r} here" for name in a if a[name] != b[name])
    raise ConfigError(f"{path} is about canonical URLs of another recipe: {fields}", hint="Leave these settings out.")


def split_url(url: str) -> tuple[str, str, str]:
    """Host (with a port), path and query of a canonical URL; of another text nothing, and the text.

    Example:
        >>> split_url("https://example.org/a?b=1")
        ('example.org', '/a', 'b=1')
    """
    scheme, mark, rest = url.partition("://")
    if not mark or scheme not in ("http", "https"):
        return "", url, ""
    host, slash, path = rest.partition("#")[0].partition("/")
    path, _, query = (slash + path).partition("?")
    return host, path, query


def first_folder(path: str) -> str:
    """The first folder, or file, of a path, without parameters.

    Example:
        >>> first_folder("/story/5"), first_folder("/view.php")
        ('/story', '/view.php')
    """
    return "/" + path[1:].partition("/")[0].partition(";")[0]


def without_parameters(url: str, names: Sequence[str]) -> str:
    """A canonical URL without parameters of these names; `;name` is one of the path.

    Example:
        >>> without_parameters("https://example.org/a;v=1?b=2&c=3", ("b", ";v"))
        'https://example.org/a?c=3'
    """
    head, mark, fragment = url.partition("#")
    path, asks, query = head.partition("?")
    if ";" in path:
        for name in names:
            if name.startswith(";"):
                path = re.sub(rf";{re.escape(name[1:])}(=[^/;]*)?(?=[/;]|$)", "", path)
    left = [parameter for parameter in query.split("&") if parameter.partition("=")[0] not in names]
    query = "&".join(left)
    return path + (f"?{query}" if asks and query else "") + mark + fragment


def _pattern(find: str) -> re.Pattern[str]:
    """A text that begins and ends with a token; Python keeps the compiled ones."""
    return re.compile(rf"(?:(?<=[{_MARKS}])|(?=[{_MARKS}])|^){re.escape(find)}(?:(?=[{_MARKS}])|(?<=[{_MARKS}])|$)")


def replacing(url: str, find: str, replace: str) -> str:
    """A canonical URL with the first `find` of path and query replaced, where it begins and ends with a token.

    Example:
        >>> replacing("https://example.org/print/a", "print/", "")
        'https://example.org/a'
    """
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    done = _pattern(find).sub(lambda _: replace, slash + path, count=1)
    return f"{scheme}{mark}{host}" + (done if done.startswith("/") else f"/{done}")
