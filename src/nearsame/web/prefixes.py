"""Prefix pairs: where two sites serve the same paths with the same content, below which folders.

1. A page is a site and the segments of its path (the query belongs to the last one). Below prefixes α and β two sites
   have a path in common if α/path is there and β/path is; they agree on it if both pages have one content.
2. Likely pairs come from pages of one content with a last segment in common: what their paths end with alike is taken
   off, the rest is α and β. So the work grows with pages, not with pairs of sites.
3. Every likely pair is then counted on all pages below it; a prefix pair that fails is taken apart by folders, and one
   that holds stands for all below it.
4. A bucket (one content, one last segment) of very many pages proposes neighbours in the order of sites only: a
   hundred copies of a site are found as a chain. What is left out is counted.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import combinations

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import checked

__all__ = ["Counts", "MirrorThresholds", "Pair", "Sites", "find_pairs"]

Segments = tuple[str, ...]

_NEIGHBOURS = 3
_AFTER_ALL = "\U0010ffff"


@checked
@dataclass(frozen=True)
class MirrorThresholds:
    """When two prefixes are mirrors.

    Attributes:
        min_common: paths that they must agree on.
        min_agreement: share of the paths in common that they must agree on.
        min_share: share of the pages below one of them, the better one, that agree with the other.
        most: pages of a bucket that all propose pairs; in a larger one neighbours do.
    """

    min_common: int = 5
    min_agreement: float = 0.8
    min_share: float = 0.5
    most: int = 50

    def __post_init__(self) -> None:
        for name, least in (("min_common", 2), ("most", 2)):
            if getattr(self, name) < least:
                message = f"{name}={getattr(self, name)} is below {least}"
                raise ConfigError(message, hint=f"Give a number of at least {least}.")
        for name in ("min_agreement", "min_share"):
            if not 0 < getattr(self, name) <= 1:
                message = f"{name}={getattr(self, name)} is not above 0 and at most 1"
                raise ConfigError(message, hint="Give a share, as in 0.8.")

    def hold(self, pair: "Pair") -> bool:
        """Whether two prefixes are mirrors."""
        return (
            pair.agreeing >= self.min_common
            and pair.agreeing >= Fraction(str(self.min_agreement)) * pair.common
            and pair.agreeing >= Fraction(str(self.min_share)) * min(pair.a_pages, pair.b_pages)
        )


class Pair(NamedTuple):
    """Two prefixes: sites by number a <= b, and what was counted below them."""

    a: int
    a_prefix: Segments
    b: int
    b_prefix: Segments
    common: int
    agreeing: int
    a_pages: int
    b_pages: int


@dataclass
class Counts:
    """Contents on so many pages that only neighbours were looked at, and the pairs that went unproposed so."""

    large_buckets: int = 0
    largest_bucket: int = 0
    pairs_not_proposed: int = 0


@dataclass(frozen=True)
class Sites:
    """Pages by site: of each path the content, and the paths in order."""

    contents: Sequence[Mapping[Segments, int]]
    paths: Sequence[Sequence[Segments]] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", [sorted(contents) for contents in self.contents])

    def below(self, site: int, prefix: Segments) -> tuple[int, int]:
        """Where the paths with a prefix stand in the order of a site's."""
        paths = self.paths[site]
        return bisect_left(paths, prefix), bisect_left(paths, (*prefix, _AFTER_ALL))

    def num_below(self, site: int, prefix: Segments) -> int:
        """How many pages have a prefix."""
        start, end = self.below(site, prefix)
        return end - start


def find_pairs(sites: Sites, how: MirrorThresholds) -> tuple[list[Pair], Counts]:
    """The highest prefix pairs that are mirrors, and what was bounded on the way.

    Example:
        >>> one = {("docs", str(n)): n for n in range(9)}
        >>> two = {("manual", "en", str(n)): n for n in range(9)}
        >>> pairs, _ = find_pairs(Sites([one, two]), MirrorThresholds())
        >>> pairs[0].a_prefix, pairs[0].b_prefix, pairs[0].agreeing
        (('docs',), ('manual', 'en'), 9)
    """
    counts = Counts()
    votes = Counter[tuple[int, Segments, int, Segments]]()
    for one, two in _alike(sites, how, counts):
        votes[_reduced(one, two)] += 1
    pairs: list[Pair] = []
    for (a, alpha, b, beta), times in votes.items():
        if times >= how.min_common - 1:  # the page at the prefix itself proposes nothing, and counts
            common = list(_common(sites, a, alpha, b, beta))
            pairs += _highest(sites, how, (a, alpha, b, beta), common)
    return sorted(pairs, key=lambda pair: (-pair.agreeing, pair)), counts


_Place = tuple[int, Segments]


def _alike(sites: Sites, how: MirrorThresholds, counts: Counts) -> Iterator[tuple[_Place, _Place]]:
    """Pages of one content that end in one segment."""
    buckets = defaultdict[tuple[int, str], list[_Place]](list)
    for site, contents in enumerate(sites.contents):
        for path, content in contents.items():
            if path:
                buckets[content, path[-1]].append((site, path))
    for members in buckets.values():
        if len(members) <= how.most:
            yield from combinations(sorted(members), 2)
        else:
            yield from _neighbours(sorted(members), counts)


def _neighbours(members: Sequence[_Place], counts: Counts) -> Iterator[tuple[_Place, _Place]]:
    counts.large_buckets += 1
    counts.largest_bucket = max(counts.largest_bucket, len(members))
    proposed = 0
    for number, one in enumerate(members):
        for two in members[number + 1 : number + 1 + _NEIGHBOURS]:
            proposed += 1
            yield one, two
    counts.pairs_not_proposed += len(members) * (len(members) - 1) // 2 - proposed


def _reduced(one: _Place, two: _Place) -> tuple[int, Segments, int, Segments]:
    """Two pages without what their paths end with alike, the smaller one first."""
    (a, alpha), (b, beta) = one, two
    most = min(len(alpha), len(beta))
    same = next((number for number in range(most) if alpha[-1 - number] != beta[-1 - number]), most)
    left, right = (a, alpha[: len(alpha) - same]), (b, beta[: len(beta) - same])
    return (*left, *right) if left <= right else (*right, *left)


def _common(sites: Sites, a: int, alpha: Segments, b: int, beta: Segments) -> Iterator[tuple[Segments, bool]]:
    """The paths that two prefixes have in common, and whether they agree on them."""
    if sites.num_below(a, alpha) > sites.num_below(b, beta):
        a, alpha, b, beta = b, beta, a, alpha
    start, end = sites.below(a, alpha)
    for path in sites.paths[a][start:end]:
        rest = path[len(alpha) :]
        other = sites.contents[b].get(beta + rest)
        if other is not None:
            yield rest, other == sites.contents[a][path]


def _highest(
    sites: Sites,
    how: MirrorThresholds,
    pair: tuple[int, Segments, int, Segments],
    common: Sequence[tuple[Segments, bool]],
) -> Iterator[Pair]:
    """The prefix pair, if it holds, else those of its folders that do: however deep they are."""
    a, alpha, b, beta = pair
    waiting: list[tuple[Segments, Sequence[tuple[Segments, bool]]]] = [((), common)]  # folders below both prefixes
    while waiting:
        below, paths = waiting.pop()
        agreeing = sum(agrees for _, agrees in paths)
        if agreeing < how.min_common:
            continue
        one, two = (*alpha, *below), (*beta, *below)
        counted = Pair(a, one, b, two, len(paths), agreeing, sites.num_below(a, one), sites.num_below(b, two))
        if how.hold(counted):
            yield counted
            continue
        folders = defaultdict[str, list[tuple[Segments, bool]]](list)
        for rest, agrees in paths:
            if len(rest) > len(below):
                folders[rest[len(below)]].append((rest, agrees))
        waiting += [((*below, name), inner) for name, inner in sorted(folders.items(), reverse=True)]
