"""DUST, different URLs with similar text: which parameters and which rewritings do not matter, learnt from content.

After Bar-Yossef, Keidar and Schonfeld (Do not crawl in the DUST, WWW 2007): likely rules come from URLs with the same
content, and each is then held against all URLs of its host.

1. A rule is judged by URLs that are there: those that it makes one must have one content. Support is how many it
   brings to another URL of the same content, evidence against how many to other content.
2. Pages change between two visits, so right rules have evidence against them, too: as much as one URL has that was
   read twice. A rule fails where the evidence against it is more than that, beyond chance.
3. A part of these groups, chosen by their hash, is held out: a rule learnt from the others must hold there too.
4. Where a rule fails for a host it may hold for one folder of it; where many hosts agree, and hardly one objects, it
   holds for all others.
5. What is learnt first is applied before the next round: a parameter may hide behind another.
6. Only clusters of bounded size propose pairs of URLs, and only the commonest rewritings of a host are tried; what that
   leaves out is counted.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Unpack

from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.recipes.arguments import checked
from nearsame.recipes.urls import CanonicalUrl
from nearsame.stages.keys.urls import Canonical
from nearsame.web.learning import LACKING, Learning
from nearsame.web.likely import What, parameter_sets, parameters_of, replacements, sparing
from nearsame.web.reading import ALONE, PageOptions, ReadPages, read_pages
from nearsame.web.rules import (
    RuleEvidence,
    UrlRule,
    UrlRules,
    first_folder,
    split_url,
)

__all__ = ["learn", "learn_urls"]

_ROUNDS = 32
_MOST_TRIED = 200  # rewritings of a host in a round, those with the most pairs first
_EXAMPLES = 3
_MOST_WORK = 5_000_000  # URLs of a host that rewritings are held against, in all rounds together


@checked
def learn_urls(
    source: Any,
    *,
    recipe: CanonicalUrl | None = None,
    learning: Learning | None = None,
    **options: Unpack[PageOptions],
) -> UrlRules:
    """Learn from pages which differences between URLs do not matter.

    Args:
        source: Whatever `dedup` takes, with a column of URLs.
        recipe: Of the canonical URLs that rules are about.
        learning: When a rule holds.

    Example:
        >>> pages = [
        ...     {"url": f"http://a.example/{n}?ref={ref}", "digest": str(n)} for n in range(30) for ref in ("x", "y")
        ... ]
        >>> [str(rule) for rule in learn_urls(pages, cluster_column="digest").rules]
        ['drop ref']
    """
    inputs = Inputs.of(source, options["clusters"])
    pages = read_pages(source, **options)
    return replace(learn(pages, recipe or CanonicalUrl(), learning or Learning()), inputs=inputs)


def learn(pages: ReadPages, recipe: CanonicalUrl, how: Learning) -> UrlRules:
    """The rules that hold for these pages, and those that do not."""
    transform, hosts, counted = Canonical(recipe), defaultdict[str, dict[str, int]](dict), Counter[str]()
    for number, (raw, cluster) in enumerate(zip(pages.urls, pages.clusters.tolist(), strict=True)):
        url = transform(raw)
        host = split_url(url)[0]
        if host and url not in hosts[host]:
            hosts[host][url] = cluster if cluster != ALONE else -2 - number
    how = how.knowing(*_visits(pages, recipe))
    host_rules = _Found()
    for host, urls in sorted(hosts.items()):
        of_host = _of_host(host, urls, how, counted, recipe.keep)
        host_rules.rules += of_host.rules
        host_rules.rejected += of_host.rejected
        host_rules.lacking += of_host.lacking
    rules, rejected = _everywhere(host_rules, how)
    stats = {
        "pages": pages.num_read,
        "without_url": pages.num_without_url,
        "repeated_urls": pages.num_repeated,
        "changed": pages.num_changed,
        "unread": pages.num_unread,
        "canonical_urls": sum(map(len, hosts.values())),
        "hosts": len(hosts),
        "large_clusters": counted["clusters"],
        "pairs_not_proposed": counted["pairs"],
        "rewritings_tried": counted["tried"],
        "rewritings_not_tried": counted["untried"],
    }
    settings = {**asdict(how), "content": dict(pages.content)}
    return UrlRules(recipe, tuple(rules), tuple(rejected), settings, stats)


def _visits(pages: ReadPages, recipe: CanonicalUrl) -> tuple[int, int]:
    """How many pages were read at a URL, or at one that is the same without a guess, again; and how many changed."""
    surely, seen = Canonical(recipe.at_most("usual")), dict[str, int]()
    again, changed = pages.num_repeated, pages.num_changed
    for url, cluster in zip(pages.urls, pages.clusters.tolist(), strict=True):
        form = surely(url)
        if form in seen:
            again += 1
            changed += cluster == ALONE or cluster != seen[form]
        seen.setdefault(form, cluster)
    return again, changed


@dataclass
class _Found:
    """What one host, or all, have come to."""

    rules: list[UrlRule] = field(default_factory=list)
    rejected: list[UrlRule] = field(default_factory=list)
    lacking: list[UrlRule] = field(default_factory=list)  # of a whole host: right so far, and too few URLs to tell


def _of_host(host: str, urls: Mapping[str, int], how: Learning, counted: Counter[str], keep: tuple[str, ...]) -> _Found:
    """The rules of one host, in rounds; each round's URLs are those that the rules so far leave."""
    host_rules, rejected, lacking = _Found(), dict[_Key, UrlRule](), dict[_Key, UrlRule]()
    now, refuted, budget = dict(urls), set[What](), max(_MOST_TRIED, _MOST_WORK // max(1, len(urls)))
    for number in range(_ROUNDS):
        judged = _judged(host, now, how, sparing(keep, parameter_sets(now, how, counted if not number else Counter())))
        if not any(not rule.why_not for rule in judged):
            likely = [what for what in sparing(keep, replacements(now, how)) if what not in refuted]
            likely = [what for what in likely if not _stands_in(what, judged)]
            most = min(_MOST_TRIED, budget)
            counted["untried"] += max(0, len(likely) - most) if not number or budget <= _MOST_TRIED else 0
            tried = _judged(host, now, how, likely[:most])
            judged += tried
            counted["tried"] += (number_tried := len({rule.what for rule in tried}))
            budget -= number_tried
            refuted |= {rule.what for rule in judged if rule.find}  # taken ones find nothing more
        new = [rule for rule in judged if not rule.why_not]
        for rule in judged:
            if rule.why_not and rule.evidence.support + rule.evidence.against >= how.min_support:
                rejected.setdefault(_key(rule), rule)
        for rule in judged:
            if rule.why_not in LACKING and rule.evidence.support:
                lacking.setdefault(_key(rule), rule)
        host_rules.rules += new
        if not new:
            break
        now = _reduced(now, UrlRules(CanonicalUrl(), tuple(new)))
    held = {_key(rule) for rule in host_rules.rules}
    host_rules.lacking = [rule for key, rule in lacking.items() if key not in held]
    host_rules.rejected = [
        rule for key, rule in rejected.items() if key not in held and not _covered(rule, host_rules.rules)
    ]
    return host_rules


def _stands_in(what: What, judged: Sequence[UrlRule]) -> bool:
    """Whether a rewriting of parameters with values is about parameters of which it cannot be known if they matter."""
    _, find, by = what
    given = [parameter for text in (find, by) for parameter in re.split(r"[?&]", text) if parameter]
    if not all("=" in parameter and "/" not in parameter for parameter in given):
        return False
    names = {parameter.partition("=")[0] for parameter in given}
    return not any(rule.why_not.startswith("evidence") and names.issuperset(rule.parameters or "/") for rule in judged)


def _covered(rule: UrlRule, rules: Sequence[UrlRule]) -> bool:
    """Whether a set of parameters holds another rule's, which is the better one."""
    return bool(rule.parameters) and any(
        other.parameters and set(other.parameters) < set(rule.parameters) and other.folder in ("", rule.folder)
        for other in rules
    )


def _reduced(urls: Mapping[str, int], rules: UrlRules) -> dict[str, int]:
    """The URLs as the rules have them, each with the content that most of its URLs have."""
    groups = defaultdict[str, list[int]](list)
    for url, cluster in urls.items():
        groups[rules.rewritten(url)].append(cluster)
    return {url: Counter(sorted(clusters)).most_common(1)[0][0] for url, clusters in groups.items()}


_Key = tuple[str, What]


def _key(rule: UrlRule) -> _Key:
    """What a rule does, and in which folder."""
    return rule.folder, rule.what


def _judged(host: str, urls: Mapping[str, int], how: Learning, likely: Iterable[What]) -> list[UrlRule]:
    """Likely rules with their evidence: of the host, or where it objects, of its folders."""
    rules: list[UrlRule] = []
    taken: list[UrlRule] = []
    index = _Index.of(urls, how)
    for parameters, find, by in likely:
        rule = UrlRule(host, parameters=parameters, find=find, replace=by)
        if _covered(rule, taken):
            continue
        whole, folders = _held_against(rule, urls, index)
        new = [replace(place_rule, why_not=how.verdict(place_rule.evidence)) for place_rule in (whole, *folders)]
        if not new[0].why_not and len(folders) > 1 and any(how.objects(folder.evidence) for folder in folders):
            new[0] = replace(new[0], why_not="evidence against it in a folder")
        if not new[0].why_not or len(folders) == 1:
            new = new[:1]  # what holds for the host needs no folder
        rules += new
        taken += [new_rule for new_rule in new if not new_rule.why_not]
        if find and taken:
            break  # one rewriting at a time: the next round sees what it leaves
    return rules


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
            for name in {parameter.partition("=")[0] for parameter in parameters_of(url)}:
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
    some = tuple(example for pairs in examples.values() for example in pairs)[:_EXAMPLES]
    whole = replace(rule, evidence=sum(evidence.values(), RuleEvidence()), examples=some)
    folders = [
        replace(rule, folder=place, evidence=place_evidence, examples=tuple(examples[place]))
        for place, place_evidence in sorted(evidence.items())
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


def _everywhere(hosts: _Found, how: Learning) -> tuple[list[UrlRule], list[UrlRule]]:
    """Rules of hosts, and in place of those on which many agree one for all hosts, or for one folder of all.

    Hosts that have too few URLs to tell agree together, if what they have is enough.
    """
    likely, objecting = defaultdict[_Key, list[UrlRule]](list), defaultdict[_Key, list[UrlRule]](list)
    for rule in (*hosts.rules, *hosts.lacking):
        likely[_key(rule)].append(rule)
    for rule in hosts.rejected:
        if "against" in rule.why_not:
            objecting[_key(rule)].append(rule)
    general: dict[_Key, UrlRule] = {}
    for key in sorted(likely):
        agreed = None if ("", key[1]) in general else _agreed(likely[key], objecting[key], how)
        general |= {} if agreed is None else {key: agreed}
    single = [rule for rule in hosts.rules if _key(rule) not in general]
    supported = [
        rule
        for rule in hosts.rejected
        if rule.evidence.support >= how.min_support and not (_key(rule) in general and rule.why_not in LACKING)
    ]
    return sorted([*general.values(), *single], key=_order), sorted(supported, key=_order)


def _agreed(likely: Sequence[UrlRule], against: Sequence[UrlRule], how: Learning) -> UrlRule | None:
    """The rule of all hosts, if enough of them agree on it, and hardly one objects."""
    sure = [rule for rule in likely if not rule.why_not]
    agreeing = sure if len(sure) >= how.min_hosts else likely
    evidence = sum((rule.evidence for rule in agreeing), RuleEvidence())
    if len(agreeing) < how.min_hosts or len(against) > how.max_error * len(agreeing) + 0.5:
        return None
    if agreeing is likely and how.verdict(evidence):
        return None
    examples = tuple(example for rule in agreeing for example in rule.examples[:1])[:_EXAMPLES]
    return replace(
        agreeing[0], host="", why_not="", evidence=evidence, num_hosts=len(agreeing), examples=examples,
        not_hosts=tuple(sorted(rule.host for rule in against)),
    )  # fmt: skip


def _order(rule: UrlRule) -> Any:
    """For all hosts first, then by support."""
    return rule.host != "", -rule.evidence.support, rule.host, rule.folder, rule.what
