"""DUST, different URLs with similar text: which parameters and which rewritings do not matter, learnt from content.

After Bar-Yossef, Keidar and Schonfeld (Do not crawl in the DUST, WWW 2007): likely rules come from URLs with the same
content, and each is then held against all URLs of its host.

1. A rule is judged by URLs that are there: those that it makes one must have one content. Support is how many it
   brings to another URL of the same content, evidence against how many to other content.
2. A part of these groups, chosen by their hash, is held out: a rule learnt from the others must hold there too.
3. Where a rule fails for a host it may hold for one folder of it; where many hosts agree, and hardly one objects, it
   holds for all others.
4. What is learnt first is applied before the next round: a parameter may hide behind another.
5. Only clusters of bounded size propose pairs of URLs, and only the commonest rewritings of a host are tried; what that
   leaves out is counted.
"""

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from typing import Any

from nearsame.errors import ConfigError
from nearsame.inputs import Inputs
from nearsame.recipes.arguments import checked
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.keys.urls import Canonical, matcher
from nearsame.web.reading import ALONE, ReadPages, read_pages
from nearsame.web.rules import (
    RuleEvidence,
    UrlRule,
    UrlRules,
    first_folder,
    split_url,
    without_parameters,
)

__all__ = ["Learning", "learn", "learn_urls"]

_TOKENS = re.compile(r"([/?&=;.,:+~_\-])")
_ROUNDS = 32
_MOST_TRIED = 200  # rewritings of a host in a round, those with the most pairs first
_MOST_PARAMETERS = 4  # dropped together
_MOST_TOKENS = 12  # replaced together
_EXAMPLES = 3


@checked
@dataclass(frozen=True)
class Learning:
    """When a rule holds.

    Attributes:
        min_support: URLs that it must bring together, on the part that is learnt from.
        max_error: the largest share of evidence against it, there and on the part held out.
        min_hosts: hosts that must agree before it holds for all.
        held_out: the share of the groups that is held out.
        most: pages of a cluster and host that propose pairs of URLs; of a larger one, neighbours in order do.
    """

    min_support: int = 5
    max_error: float = 0.05
    min_hosts: int = 3
    held_out: float = 0.3
    most: int = 20

    def __post_init__(self) -> None:
        for name in ("min_support", "min_hosts", "most"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} is below 1", hint="Give a number of at least 1.")
        for name in ("max_error", "held_out"):
            if not 0 <= getattr(self, name) < 1:
                message = f"{name}={getattr(self, name)} is not at least 0 and below 1"
                raise ConfigError(message, hint="Give a share, as in 0.05.")

    def verdict(self, evidence: RuleEvidence) -> str:
        """Why a rule does not hold; nothing, where it does."""
        if _error(evidence.support, evidence.against) > self.max_error:
            return "evidence against it"
        if evidence.support < self.min_support:
            return "too little support"
        if _error(evidence.held_support, evidence.held_against) > self.max_error:
            return "evidence against it on the part held out"
        return "nothing on the part held out" if self.held_out and not evidence.held_support else ""


def _error(support: int, against: int) -> float:
    return against / (support + against) if support + against else 0.0


@checked
def learn_urls(  # noqa: PLR0913  (each is a choice of the caller's)
    source: Any,
    *,
    recipe: CanonicalUrl | None = None,
    learning: Learning | None = None,
    url_column: str = "url",
    cluster_column: str | None = None,
    clusters: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> UrlRules:
    """Learn from pages which differences between URLs do not matter.

    Args:
        source: As in `dedup`, with a column of URLs.
        recipe: Of the canonical URLs that rules are about.
        learning: When a rule holds.
        url_column: The column of URLs.
        cluster_column: A column that is equal for pages of the same content, a digest for example.
        clusters: The folder of a `dedup` run on the same source.
        settings: Of `dedup`, which runs where neither column nor folder is given.

    Example:
        >>> pages = [
        ...     {"url": f"http://a.example/{n}?ref={ref}", "digest": str(n)} for n in range(30) for ref in ("x", "y")
        ... ]
        >>> [str(rule) for rule in learn_urls(pages, cluster_column="digest").rules]
        ['drop ref']
    """
    inputs = Inputs.of(source, clusters)
    pages = read_pages(source, url_column=url_column, cluster_column=cluster_column, clusters=clusters, **settings)
    return replace(learn(pages, recipe or CanonicalUrl(), learning or Learning()), inputs=inputs)


def learn(pages: ReadPages, recipe: CanonicalUrl, how: Learning) -> UrlRules:
    """The rules that hold for these pages, and those that do not."""
    transform, hosts, counted = Canonical(recipe), defaultdict[str, dict[str, int]](dict), Counter[str]()
    for number, (raw, cluster) in enumerate(zip(pages.urls, pages.clusters.tolist(), strict=True)):
        url = transform(raw)
        host = split_url(url)[0]
        if host and url not in hosts[host]:
            hosts[host][url] = cluster if cluster != ALONE else -2 - number
    rules: list[UrlRule] = []
    rejected: list[UrlRule] = []
    for host, urls in sorted(hosts.items()):
        kept, refused = _of_host(host, urls, how, counted, recipe.keep)
        rules += kept
        rejected += refused
    rules, rejected = _everywhere(rules, rejected, how)
    stats = {
        "pages": pages.num_read,
        "without_url": pages.num_without_url,
        "repeated_urls": pages.num_repeated,
        "unread": len(pages.skipped),
        "canonical_urls": sum(map(len, hosts.values())),
        "hosts": len(hosts),
        "large_clusters": counted["clusters"],
        "pairs_not_proposed": counted["pairs"],
        "rewritings_not_tried": counted["untried"],
    }
    settings = {**asdict(how), "content": dict(pages.content)}
    return UrlRules(recipe, tuple(rules), tuple(rejected), settings, stats)


def _of_host(
    host: str, urls: Mapping[str, int], how: Learning, counted: Counter[str], keep: tuple[str, ...]
) -> tuple[list[UrlRule], list[UrlRule]]:
    """The rules of one host, in rounds; each round's URLs are those that the rules so far leave."""
    rules: list[UrlRule] = []
    rejected: dict[tuple[Any, ...], UrlRule] = {}
    now, refuted = dict(urls), set[_What]()
    for number in range(_ROUNDS):
        counted = counted if number == 0 else Counter()
        judged = _judged(host, now, how, _sparing(keep, _parameter_sets(now, how, counted)))
        if not any(not rule.why_not for rule in judged):
            likely = [what for what in _sparing(keep, _replacements(now, how)) if what not in refuted]
            counted["untried"] += max(0, len(likely) - _MOST_TRIED)
            judged += _judged(host, now, how, likely[:_MOST_TRIED])
            refuted |= {rule.what for rule in judged if rule.find}  # taken ones find nothing more
        new = [rule for rule in judged if not rule.why_not]
        for rule in judged:
            if rule.why_not and rule.evidence.support + rule.evidence.against >= how.min_support:
                rejected.setdefault((rule.folder, *rule.what), rule)
        if not new:
            break
        rules += new
        now = _reduced(now, UrlRules(CanonicalUrl(), tuple(new)))
    held = {(rule.folder, *rule.what) for rule in rules}
    return rules, [rule for key, rule in rejected.items() if key not in held and not _covered(rule, rules)]


def _covered(rule: UrlRule, rules: Sequence[UrlRule]) -> bool:
    """Whether a set of parameters holds another rule's, which is the better one."""
    return bool(rule.parameters) and any(
        each.parameters and set(each.parameters) < set(rule.parameters) and each.folder in ("", rule.folder)
        for each in rules
    )


def _reduced(urls: Mapping[str, int], rules: UrlRules) -> dict[str, int]:
    """The URLs as the rules have them, each with the content that most of its URLs have."""
    groups = defaultdict[str, list[int]](list)
    for url, cluster in urls.items():
        groups[rules.rewritten(url)].append(cluster)
    return {url: Counter(sorted(clusters)).most_common(1)[0][0] for url, clusters in groups.items()}


_What = tuple[tuple[str, ...], str, str]


def _judged(host: str, urls: Mapping[str, int], how: Learning, likely: Iterable[_What]) -> list[UrlRule]:
    """Likely rules with their evidence: of the host, or where it objects, of its folders."""
    found: list[UrlRule] = []
    taken: list[UrlRule] = []
    index = _Index.of(urls, how)
    for parameters, find, by in likely:
        rule = UrlRule(host, parameters=parameters, find=find, replace=by)
        if _covered(rule, taken):
            continue
        whole, folders = _held_against(rule, urls, index)
        new = [replace(each, why_not=how.verdict(each.evidence)) for each in (whole, *folders)]
        if not new[0].why_not or len(folders) == 1:
            new = new[:1]  # what holds for the host needs no folder
        found += new
        taken += [each for each in new if not each.why_not]
        if find and taken:
            break  # one rewriting at a time: the next round sees what it leaves
    return found


@dataclass(frozen=True)
class _Index:
    """The URLs of a host, and which of them have a parameter."""

    urls: Mapping[str, int]
    having: Mapping[str, Sequence[str]]
    held_out: float

    @classmethod
    def of(cls, urls: Mapping[str, int], how: Learning) -> "_Index":
        having = defaultdict[str, list[str]](list)
        for url in urls:
            for name in {each.partition("=")[0] for each in _parameters(url)}:
                having[name].append(url)
        return cls(urls, having, how.held_out)

    def changed_by(self, rule: UrlRule) -> Iterable[str]:
        """The URLs that a rule may change."""
        if rule.parameters:
            return dict.fromkeys(url for name in rule.parameters for url in self.having.get(name, ()))
        return (url for url in self.urls if rule.find in url)


def _held_against(rule: UrlRule, urls: Mapping[str, int], index: _Index) -> tuple[UrlRule, list[UrlRule]]:
    """A rule with the evidence of the whole host, and of each first folder."""
    evidence = defaultdict[str, RuleEvidence](RuleEvidence)
    examples = defaultdict[str, list[tuple[str, str]]](list)
    for key, members in _groups(rule, urls, index):
        clusters = Counter(cluster for _, cluster in members)
        right = max(clusters.values()) - 1
        wrong = len(members) - 1 - right
        held = _share(key) < index.held_out
        place = first_folder(split_url(members[0][0])[1])
        evidence[place] += RuleEvidence(0, 0, right, wrong) if held else RuleEvidence(right, wrong)
        if right and len(examples[place]) < _EXAMPLES:
            most = clusters.most_common(1)[0][0]
            a, b = [url for url, cluster in members if cluster == most][:2]
            examples[place].append((a, b))
    some = tuple(example for each in examples.values() for example in each)[:_EXAMPLES]
    whole = replace(rule, evidence=sum(evidence.values(), RuleEvidence()), examples=some)
    folders = [
        replace(rule, folder=place, evidence=found, examples=tuple(examples[place]))
        for place, found in sorted(evidence.items())
    ]
    return whole, folders


def _groups(rule: UrlRule, urls: Mapping[str, int], index: _Index) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """The URLs that a rule makes one, with their content, where it makes at least two one."""
    groups = defaultdict[str, list[tuple[str, int]]](list)
    for url in index.changed_by(rule):
        if (key := rule.apply(url)) != url:
            groups[key].append((url, urls[url]))
    for key, members in groups.items():
        everyone = [*members, (key, urls[key])] if key in urls else members
        if len(everyone) > 1:
            yield key, sorted(everyone)


def _share(key: str) -> float:
    """A number from 0 to 1 that a text always has."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=4).digest()) / 2**32


def _parameters(url: str) -> frozenset[str]:
    """The parameters of a URL, with their values."""
    _, path, query = split_url(url)
    inner = (f";{each}" for segment in path.split("/") for each in segment.split(";")[1:])
    return frozenset(filter(None, (*query.split("&"), *inner)))


def _parameter_sets(urls: Mapping[str, int], how: Learning, counted: Counter[str]) -> Iterator[_What]:
    """Each parameter alone; and those in which near-duplicates at one path differ together."""
    of = {url: _parameters(url) for url in urls}
    names = Counter(each.partition("=")[0] for own in of.values() for each in own)
    yield from (((name,), "", "") for name, times in sorted(names.items()) if times > 1 and name not in ("", ";"))
    together = Counter[tuple[str, ...]]()
    for a, b in _alike(urls, how, counted):
        different = tuple(sorted({each.partition("=")[0] for each in of[a] ^ of[b]})) if of[a] or of[b] else ()
        if not 1 < len(different) <= _MOST_PARAMETERS:
            continue
        if without_parameters(a, different) == without_parameters(b, different):
            together[different] += 1
    order = sorted(together, key=lambda each: (len(each), each))
    yield from ((each, "", "") for each in order if together[each] >= how.min_support)


def _replacements(urls: Mapping[str, int], how: Learning) -> Iterator[_What]:
    """What near-duplicates differ in, once and by whole tokens: the longer becomes the shorter. The commonest first."""
    likely = Counter[tuple[str, str]]()
    tokens = {url: _tokens(_after_host(url)) for url in urls}
    for a, b in _alike(urls, how, Counter()):  # what is left out was counted for the parameters
        found = _difference(tokens[a], tokens[b])
        if found is not None:
            likely[found] += 1
    order = sorted(likely.items(), key=lambda each: (-each[1], len(each[0][0]), each[0]))
    yield from (((), find, by) for (find, by), times in order if times >= how.min_support)


def _sparing(keep: tuple[str, ...], likely: Iterable[_What]) -> Iterator[_What]:
    """The likely rules that drop nothing of what the recipe keeps."""
    is_kept = matcher(keep)
    for parameters, find, by in likely:
        inside = (each.partition("=")[0] for each in re.split(r"[?&;]", find) if "=" in each)
        if not any(is_kept(name.lstrip(";").lower()) for name in (*parameters, *inside)):
            yield parameters, find, by


def _after_host(url: str) -> str:
    _, path, query = split_url(url)
    return f"{path}?{query}" if query else path


def _tokens(text: str) -> list[str]:
    return [token for token in _TOKENS.split(text) if token]


def _difference(one: Sequence[str], two: Sequence[str]) -> tuple[str, str] | None:
    """The longer and the shorter text that stand between what two texts begin and end with, in whole tokens."""
    least = min(len(one), len(two))
    start = 0
    while start < least and one[start] == two[start]:
        start += 1
    end, most = 0, least - start
    while end < most and one[-1 - end] == two[-1 - end]:
        end += 1
    if max(len(one), len(two)) - start - end > _MOST_TOKENS:
        return None
    a, b = ("".join(tokens[start : len(tokens) - end]) for tokens in (one, two))
    return (a, b) if (len(a), a) > (len(b), b) else (b, a)


def _alike(urls: Mapping[str, int], how: Learning, counted: Counter[str]) -> Iterator[tuple[str, str]]:
    """Pairs of URLs with one content: all of a small cluster, neighbours of a large one."""
    clusters = defaultdict[int, list[str]](list)
    for url, cluster in urls.items():
        clusters[cluster].append(url)
    for members in clusters.values():
        members.sort()
        if len(members) <= how.most:
            yield from combinations(members, 2)
        else:
            counted["clusters"] += 1
            counted["pairs"] += len(members) * (len(members) - 1) // 2 - (len(members) - 1)
            yield from pairwise(members)


def _everywhere(rules: list[UrlRule], rejected: list[UrlRule], how: Learning) -> tuple[list[UrlRule], list[UrlRule]]:
    """Rules of hosts, and in the place of those on which many agree one for all hosts."""
    whole = defaultdict[tuple[Any, ...], list[UrlRule]](list)
    for rule in rules:
        if not rule.folder:
            whole[rule.what].append(rule)
    objecting = defaultdict[tuple[Any, ...], list[UrlRule]](list)
    for rule in rejected:
        if "against" in rule.why_not and not rule.folder:
            objecting[rule.what].append(rule)
    found: list[UrlRule] = []
    for what, agreeing in whole.items():
        against = objecting[what]
        if len(agreeing) < how.min_hosts or len(against) > how.max_error * len(agreeing) + 0.5:
            continue
        evidence = sum((rule.evidence for rule in agreeing), RuleEvidence())
        examples = tuple(example for rule in agreeing for example in rule.examples[:1])[:_EXAMPLES]
        hosts = tuple(sorted(rule.host for rule in against))
        found.append(
            replace(
                agreeing[0], host="", evidence=evidence, num_hosts=len(agreeing), not_hosts=hosts, examples=examples
            )
        )
    general = {rule.what for rule in found}
    single = [rule for rule in rules if rule.folder or rule.what not in general]
    supported = [rule for rule in rejected if rule.evidence.support >= how.min_support]
    return sorted([*found, *single], key=_order), sorted(supported, key=_order)


def _order(rule: UrlRule) -> Any:
    """For all hosts first, then by support."""
    return rule.host != "", -rule.evidence.support, rule.host, rule.folder, rule.what
