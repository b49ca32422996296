"""Likely rules of URLs: what pages with one content differ in. Each is only proposed here; what holds is judged.

1. Only clusters of bounded size propose pairs of URLs; what that leaves out is counted.
2. Nothing is proposed that drops what the recipe of canonical URLs keeps.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from nearsame.stages.keys.urls import matcher
from nearsame.web.learning import Learning
from nearsame.web.rules import split_url, without_parameters

__all__ = ["What", "parameter_sets", "parameters_of", "replacements", "sparing"]

What = tuple[tuple[str, ...], str, str]  # parameters that are dropped; or what is replaced, and by what

_TOKENS = re.compile(r"([/?&=;.,:+~_\-])")
_MOST_PARAMETERS = 4  # dropped together
_MOST_TOKENS = 12  # replaced together


def parameters_of(url: str) -> frozenset[str]:
    """The parameters of a URL, with their values."""
    _, path, query = split_url(url)
    inner = (f";{parameter}" for segment in path.split("/") for parameter in segment.split(";")[1:])
    return frozenset(filter(None, (*query.split("&"), *inner)))


def parameter_sets(urls: Mapping[str, int], how: Learning, counted: Counter[str]) -> Iterator[What]:
    """Each parameter alone; and those in which near-duplicates at one path differ together."""
    of = {url: parameters_of(url) for url in urls}
    names = Counter(parameter.partition("=")[0] for own in of.values() for parameter in own)
    yield from (((name,), "", "") for name, times in sorted(names.items()) if times > 1 and name not in ("", ";"))
    together = Counter[tuple[str, ...]]()
    for a, b in _alike(urls, how, counted):
        different = (
            tuple(sorted({parameter.partition("=")[0] for parameter in of[a] ^ of[b]})) if of[a] or of[b] else ()
        )
        if not 1 < len(different) <= _MOST_PARAMETERS:
            continue
        if without_parameters(a, different) == without_parameters(b, different):
            together[different] += 1
    order = sorted(together, key=lambda parameters: (len(parameters), parameters))
    yield from ((parameters, "", "") for parameters in order if together[parameters] >= how.min_support)


def replacements(urls: Mapping[str, int], how: Learning) -> Iterator[What]:
    """What near-duplicates differ in, once and by whole tokens: the longer becomes the shorter. The commonest first."""
    likely = Counter[tuple[str, str]]()
    tokens = {url: _tokens(_after_host(url)) for url in urls}
    for a, b in _alike(urls, how, Counter()):  # what is left out was counted for the parameters
        rewriting = _difference(tokens[a], tokens[b])
        if rewriting is not None:
            likely[rewriting] += 1
    order = sorted(likely.items(), key=lambda entry: (-entry[1], len(entry[0][0]), entry[0]))
    yield from (((), find, by) for (find, by), times in order if times >= how.min_support)


def sparing(keep: tuple[str, ...], likely: Iterable[What]) -> Iterator[What]:
    """The likely rules that drop nothing of what the recipe keeps."""
    is_kept = matcher(keep)
    for parameters, find, by in likely:
        inside = (parameter.partition("=")[0] for parameter in re.split(r"[?&;]", find) if "=" in parameter)
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
