"""Mirrors: sites, or parts of them, that serve the same paths with the same content; and what to keep of them.

1. A site is a scheme, a host and a port; http and https, with and without `www.` are two sites here, found
   as twins.
2. A mirror is a prefix pair that prefixes.py finds; mirror_groups.py says what kind it is and what is kept of it.
3. Of every cluster of near-duplicates one page stands for all: on what is kept, where a mirror holds them, else on the
   site that ranks first. So the map from URLs to canonical URLs leads nowhere twice.
4. Near-duplicates on one host and those across hosts are told apart: they have different causes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from nearsame.answers.in_notebooks import InNotebooks
from nearsame.dataclass import dataclass
from nearsame.files.inputs import Inputs
from nearsame.flow.calls import asked_of, names_given, of_command
from nearsame.outputs import folder, lists
from nearsame.outputs.reports import write_small
from nearsame.outputs.small_pages import of_mirrors
from nearsame.outputs.tables import skipped_table
from nearsame.recipes.arguments import checked, require_number
from nearsame.recipes.choices import Preferred, TableFormat
from nearsame.recipes.methods import Recipe
from nearsame.recipes.urls import CanonicalUrl
from nearsame.shares import counted
from nearsame.web.mirror_groups import KINDS, MirrorGroups, bare
from nearsame.web.preferring import Prefer
from nearsame.web.prefixes import Counts, MirrorThresholds, Pair, Segments, Sites, find_pairs
from nearsame.web.reading import PageOptions, read_pages
from nearsame.web.site_paths import Crawl, SitePath, crawl_of

__all__ = ["MirrorStats", "Mirrors", "mirrors"]

_MIRRORS = pa.schema(
    [
        ("group", pa.int64()), ("kind", pa.string()), ("a", pa.string()), ("b", pa.string()), ("common", pa.int64()),
        ("agreeing", pa.int64()), ("a_pages", pa.int64()), ("b_pages", pa.int64()), ("agreement", pa.float64()),
        ("a_in_b", pa.float64()), ("b_in_a", pa.float64()), ("keep", pa.string()),
    ]
)  # fmt: skip
_MAP = pa.schema([("url", pa.string()), ("canonical_url", pa.string()), ("reason", pa.string())])
_ALTERNATIVES = pa.schema(
    [("url", pa.string()), ("alternatives", pa.list_(pa.string())), ("num_alternatives", pa.int64())]
)


@dataclass(frozen=True)
class MirrorStats(InNotebooks):
    """Counts.

    Attributes:
        read: records of the source.
        without_url: of these, those that have no URL, or none with a host.
        unread: records that could not be read.
        undated: pages whose value is no date, where `freshest` goes by dates: they say nothing.
        pages: different pages, by canonical URL (scheme and `www.` count).
        hosts: different hosts.
        sites: different schemes, hosts and ports.
        clusters: groups of near-duplicates.
        same_host: pages with a near-duplicate on their own host.
        cross_host: pages with a near-duplicate on another host. A page may be both.
        mirrors: prefix pairs, by kind.
        groups: mirrors that belong together.
        mapped: URLs whose canonical URL is another one, by reason.
        large_buckets: contents with one last segment on so many pages that only neighbours were looked at.
        largest_bucket: pages of the largest of them.
        pairs_not_proposed: pairs of pages left out by that.
    """

    read: int
    without_url: int
    unread: int
    undated: int
    pages: int
    hosts: int
    sites: int
    clusters: int
    same_host: int
    cross_host: int
    mirrors: Mapping[str, int]
    groups: int
    mapped: Mapping[str, int]
    large_buckets: int
    largest_bucket: int
    pairs_not_proposed: int

    def __repr__(self) -> str:
        pages = f"{counted(self.pages, 'page')} of {counted(self.hosts, 'host')}"
        return f"MirrorStats({pages}, {counted(self.groups, 'group')} of mirrors)"

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return asdict(self)


@checked
@dataclass(frozen=True)
class Mirrors(InNotebooks):
    """Mirrors, what is kept of them, and where each URL leads."""

    thresholds: MirrorThresholds
    prefer: Prefer
    alternatives_shown: int
    _crawl: Crawl
    _pairs: list[Pair]
    _counts: Counts
    _inputs: Inputs
    _groups: MirrorGroups
    _call: Mapping[str, Any]

    def __repr__(self) -> str:
        pairs, pages = len(self._pairs), len(self._crawl.places)
        return f"Mirrors({counted(pairs, 'prefix pair')}, {counted(pages, 'page')})"

    @cached_property
    def table(self) -> pa.Table:
        """The mirrors, a row for each prefix pair: counts, agreement both ways, and which of its group is kept."""
        rows = [self._row(pair) for pair in self._pairs]
        rows.sort(key=lambda row: (row[0], -row[5], row[2:4]))
        return _table(rows, _MIRRORS)

    @cached_property
    def map(self) -> pa.Table:
        """Each URL that was read with its canonical URL, and the reason.

        Reasons: `itself`; `url`, another spelling of a page's URL; `scheme twin`, `www twin`, `mirror`; `same host` and
        `cross host` for near-duplicates that no mirror explains.
        """
        crawl = self._crawl
        target, reasons = self._targets
        rows = [(url, crawl.urls[target[n]], reasons[n]) for n, url in enumerate(crawl.urls)]
        rows += [
            (url, crawl.urls[target[n]], "url" if target[n] == n else reasons[n]) for url, n in crawl.again.items()
        ]
        return _table(rows, _MAP)

    @cached_property
    def alternatives(self) -> pa.Table:
        """Of each page with near-duplicates the URLs to try if it fails: the best of each other host, then others."""
        rows: list[tuple[Any, ...]] = []
        for pages in self._crawl.members.values():
            ordered = sorted(pages, key=self._groups.orders.__getitem__)
            best: dict[str, int] = {}
            for page in ordered:
                best.setdefault(self._crawl.host(page), page)
            rows += [(self._crawl.urls[page], self._others(page, ordered, best), len(pages) - 1) for page in ordered]
        return _table(rows, _ALTERNATIVES)

    @cached_property
    def stats(self) -> MirrorStats:
        """How much was read, how many pages repeat others on the same or another host, and what mirrors explain."""
        crawl = self._crawl
        same, cross = self._duplicates()
        return MirrorStats(
            read=crawl.pages.num_read,
            without_url=crawl.pages.num_without_url + crawl.num_without_host,
            unread=crawl.pages.num_unread,
            undated=0 if crawl.values is None else self.prefer.unread(crawl.values),
            pages=len(crawl.places),
            hosts=len(set(crawl.hosts)),
            sites=len(crawl.sites),
            clusters=len(crawl.members),
            same_host=same,
            cross_host=cross,
            mirrors={kind: n for kind in KINDS if (n := sum(self._groups.kind(pair) == kind for pair in self._pairs))},
            groups=len(set(self._groups.of.values())),
            mapped=dict(
                sorted(Counter(reason for reason in self.map["reason"].to_pylist() if reason != "itself").items())
            ),
            **asdict(self._counts),
        )

    @property
    def skipped(self) -> pa.Table:
        """The records that could not be read."""
        return skipped_table(self._crawl.pages.skipped)

    def record(self) -> dict[str, Any]:
        """Counts, settings and mirrors, JSON-able."""
        return {
            "stats": self.stats.record(),
            "settings": {
                **asdict(self.thresholds),
                "prefer": asdict(self.prefer),
                "content": dict(self._crawl.pages.content),
            },
            "mirrors": self.table.to_pylist(),
        }

    def report(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a page of the mirrors, or the record as JSON, by the name of the file.

        Args:
            path: A .html or .json file.
            overwrite: Whether a file that exists is replaced.

        Raises:
            OutputError: The name says no such format, the file exists, or it cannot be written.
            MissingExtraError: HTML needs the extra `report`.
        """
        write_small(of_mirrors(self.record()), path, self._inputs, overwrite=overwrite)

    def write(self, directory: str | Path, *, tables: TableFormat = "parquet", overwrite: bool = False) -> None:
        """Write a folder that appears complete or not at all: mirrors, map, alternatives, `stats.json`.

        Args:
            directory: The folder.
            tables: `parquet` or `jsonl`.
            overwrite: Whether a folder that exists is replaced.

        Raises:
            OutputError: The folder cannot be written.
        """
        place = folder.require_place(directory, self._inputs, overwrite=overwrite)
        with folder.appearing(place) as home:
            home.mkdir()
            for name, table in (("mirrors", self.table), ("map", self.map), ("alternatives", self.alternatives)):
                path = home / f"{name}.{tables}"
                lists.writer(path)(table, path)
            said = {"call": self._call, "written": {"tables": tables}}
            folder.write_json({**self.record(), **said}, home / "stats.json")

    def _row(self, pair: Pair) -> tuple[Any, ...]:
        group = self._groups.of[SitePath(*pair[:2])]
        return (
            self._groups.numbers[group],
            self._groups.kind(pair),
            self._groups.url(SitePath(*pair[:2])),
            self._groups.url(SitePath(*pair[2:4])),
            pair.common,
            pair.agreeing,
            pair.a_pages,
            pair.b_pages,
            pair.agreeing / pair.common,
            pair.agreeing / pair.a_pages,
            pair.agreeing / pair.b_pages,
            self._groups.url(self._groups.kept[group]),
        )

    @cached_property
    def _targets(self) -> tuple[list[int], list[str]]:
        """Of each page the page that stands for it, and why."""
        target, reasons = list(range(len(self._crawl.places))), ["itself"] * len(self._crawl.places)
        for pages in self._crawl.members.values():
            best = min(pages, key=self._groups.orders.__getitem__)
            around = dict(self._groups.around(self._crawl.stems[best]))
            for page in pages:
                if page != best:
                    target[page], reasons[page] = best, self._reason(page, best, around)
        return target, reasons

    def _reason(self, page: int, best: int, around: Mapping[SitePath, Segments]) -> str:
        place, other = self._crawl.stems[page], self._crawl.stems[best]
        a, b = self._crawl.hosts[place.site], self._crawl.hosts[other.site]
        if place.path == other.path and bare(a) == bare(b):
            return "scheme twin" if a == b else "www twin"
        if any(around.get(group) == rest for group, rest in self._groups.around(place)):
            return "mirror"
        return "same host" if a == b else "cross host"

    def _others(self, page: int, ordered: Sequence[int], best: Mapping[str, int]) -> list[str]:
        """Of the other pages of a cluster some: the best of each other host, then those that come first."""
        crawl, most = self._crawl, self.alternatives_shown
        own = crawl.host(page)
        chosen = dict.fromkeys(islice((first for host, first in best.items() if host != own), most))
        for other in ordered[: most + 1 + len(chosen)]:
            if len(chosen) < most and other != page:
                chosen.setdefault(other)
        return [crawl.urls[other] for other in chosen]

    def _duplicates(self) -> tuple[int, int]:
        """Pages with a near-duplicate on their own host, and on another."""
        same = cross = 0
        for pages in self._crawl.members.values():
            hosts = Counter(self._crawl.host(page) for page in pages)
            same += sum(times for times in hosts.values() if times > 1)
            cross += len(pages) if len(hosts) > 1 else 0
        return same, cross


@checked
def mirrors(
    source: Any,
    *,
    thresholds: MirrorThresholds | None = None,
    prefer: Preferred | str = "most-complete",
    alternatives: int = 10,
    recipe: CanonicalUrl | None = None,
    **options: Unpack[PageOptions],
) -> Mirrors:
    """Find sites and parts of sites that serve the same paths with the same or nearly the same content.

    Args:
        source: Whatever `dedup` takes, with a column of URLs.
        thresholds: When two prefixes are mirrors.
        prefer: Which of several mirrors is kept: `most-complete`, `fastest:COLUMN`, `freshest:COLUMN`,
            `named:HOST,HOST`.
        alternatives: How many other URLs of a page are listed at most.
        recipe: Which differences between URLs do not count; `scheme` and `www` always do, here.

    Raises:
        ConfigError: A setting is impossible.

    Example:
        >>> pages = [{"url": f"http://{h}/p{n}", "same": str(n)} for n in range(9) for h in ("a.example", "b.example")]
        >>> mirrors(pages, cluster_column="same").table.column("kind").to_pylist()
        ['virtual host']
    """
    policy = Prefer.parse(prefer)
    how = thresholds or MirrorThresholds()
    require_number("alternatives", alternatives, 0)
    inputs = Inputs.of(source, options["clusters"])
    pages = read_pages(source, order_column=policy.column, **options)
    given = {} if recipe is None else recipe.settings
    crawl = crawl_of(pages, CanonicalUrl(**{**given, "scheme": False, "www": False}))
    contents: list[dict[Segments, int]] = [{} for _ in crawl.sites]
    for place, cluster in zip(crawl.stems, crawl.clusters, strict=True):
        contents[place.site][place.path] = cluster
    pairs, counts = find_pairs(Sites(contents), how)
    groups = MirrorGroups(crawl, pairs, policy)
    _ = groups.ranks  # a policy that cannot be applied is refused now
    call = of_command(
        "mirrors",
        source=names_given(source),
        prefer=prefer,
        alternatives=alternatives,
        thresholds=asdict(how),
        recipe=None if recipe is None else recipe.record(),
        **_said(options),
    )
    return Mirrors(how, policy, alternatives, crawl, pairs, counts, inputs, groups, call)


def _said(options: PageOptions) -> dict[str, Any]:
    """What a call says of the pages that it reads, JSON-able."""
    method, clusters = options["method"], options["clusters"]
    others = {name: value for name, value in options.items() if name not in ("method", "clusters")}
    return {
        "method": method.record() if isinstance(method, Recipe) else method,
        "clusters": None if clusters is None else names_given(clusters),
        **({} if options["engine"] is None else {"engine": "spark"}),
        "options": asked_of(others),
    }


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
