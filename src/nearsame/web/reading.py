"""URLs and pages as they are read: a URL, and where it is asked for, what content stands behind it.

1. Content is a number: two pages with the same one are near-duplicates, as a dedup run found them, as the folder of an
   earlier run says, or as a column says.
2. A page without a URL, and a second page at the same URL, are counted and left out; so is what cannot be read.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearsame import api
from nearsame.arrow import Rows
from nearsame.errors import ColumnError, ConfigError, SourceError
from nearsame.sources import Columns, Part, Skip, Skipped, into, open_parts
from nearsame.sources.lines import holds_lines, lines
from nearsame.sources.memory import table_of

__all__ = ["ReadPages", "read_pages", "read_urls", "several"]

ALONE = -1  # the cluster of a page that resembles no other


@dataclass(frozen=True)
class ReadPages:
    """Pages with different URLs, in order of reading."""

    urls: list[str]
    clusters: Rows  # by page: equal numbers for near-duplicates, ALONE for a page that has none
    order: list[str | None] | None = None  # the column that a policy goes by
    num_read: int = 0
    num_without_url: int = 0
    num_repeated: int = 0  # further pages at a URL that was read before
    num_changed: int = 0  # of these, with another content
    skipped: list[Skipped] = field(default_factory=list)
    content: Mapping[str, Any] = field(default_factory=dict)  # what made the clusters, JSON-able


def several(source: Any) -> list[Any]:
    """Sources as a list: a tuple is several."""
    return list(source) if isinstance(source, tuple) else [source]


def read_urls(source: Any, url_column: str, skip: Skip) -> Iterator[pa.Array]:
    """The URLs of text files (one a line), of lists, and of other sources' column; null where there is none.

    Raises:
        ColumnError: A source has no such column.
    """
    for one_source in several(source):
        if isinstance(one_source, list) and all(url is None or isinstance(url, str) for url in one_source):
            yield pa.array(map(_mended, one_source), pa.large_string())
        elif isinstance(one_source, str | Path) and holds_lines(str(one_source)):
            yield from lines(str(one_source), skip)
        else:
            given = one_source if isinstance(one_source, str | Path) else table_of(one_source)
            for part in open_parts([given], columns=Columns(text=url_column)):
                name = "text" if isinstance(given, pa.Table) and given.column_names == ["text"] else url_column
                for batch in _columns(part, name, (), skip):
                    yield batch.column("text")


def _mended(url: str | None) -> str | None:
    """A string without lone surrogates, which Arrow cannot hold: a question mark stands in their place."""
    return url if url is None or url.isascii() else url.encode("utf-8", "replace").decode()


def _columns(part: Part, url_column: str, other_columns: Sequence[str], skip: Skip) -> Iterator[pa.RecordBatch]:
    """The URLs of a part as `text`, and what stands beside them."""
    try:
        yield from part.read(Columns(text=url_column, beside=tuple(other_columns)), skip)
    except ColumnError as error:
        hint = error.hint.replace("--text-column", "--url-column")
        raise ColumnError(error.message, hint=hint) from None


def read_pages(
    source: Any,
    *,
    url_column: str = "url",
    cluster_column: str | None = None,
    clusters: str | os.PathLike[str] | None = None,
    order_column: str | None = None,
    **settings: Any,
) -> ReadPages:
    """Read pages, and find out which of them are near-duplicates.

    Args:
        source: Whatever `dedup` takes, with a column of URLs.
        url_column: The column of URLs.
        cluster_column: A column that is equal for near-duplicates, null or empty for a page that has none.
        clusters: The folder of a `dedup` run on the same source.
        order_column: A column that is read along.
        settings: Of `dedup`, which runs where neither column nor folder is given.

    Raises:
        ConfigError: Both a column and a folder of clusters are given, or the folder is about other sources; or a
            setting does nothing; or a source is a list of URLs.
    """
    if cluster_column is not None and clusters is not None:
        message = f"cluster_column={cluster_column!r} and clusters={str(clusters)!r}: one takes the other's place"
        raise ConfigError(message, hint="Leave one of them out.")
    _check_settings(settings, ready=cluster_column is not None or clusters is not None)
    _require_pages(source)
    collected = _Collected()
    other_columns = [name for name in (cluster_column, order_column) if name is not None]
    known: Mapping[tuple[str, int], int] = {}
    if cluster_column is None and clusters is None:
        run = api.dedup(source, **settings)
        parts: Sequence[Part] = run.run.reading.parts
        origins, groups = run.run.names.origins, run.groups
        names = [part.name for part in parts]
        places = zip(origins.column("source").to_pylist(), origins.column("position").to_pylist(), strict=True)
        known = {(names[part], at): int(group) for (part, at), group in zip(places, groups.tolist(), strict=True)}
        content = {"recipe": run.stats.recipe, "removed": run.stats.removed}
    else:
        parts = open_parts(several(source), columns=Columns(text=url_column))
        known = {} if clusters is None else _stored(Path(clusters), [part.name for part in parts])
        content = {"column": cluster_column} if clusters is None else {"folder": str(clusters)}
    for part in parts:
        for batch in _columns(part, url_column, other_columns, into(collected.skipped)):
            collected.add(part.name, batch, known, cluster_column, order_column)
    collected.require_values(cluster_column, order_column)
    return collected.pages(content)


def _require_pages(source: Any) -> None:
    """Refuse lists of URLs: they say nothing of content."""
    for one_source in several(source):
        if isinstance(one_source, str | Path) and holds_lines(str(one_source)):
            message = f"{one_source} is a list of URLs: what stands behind them is not known"
            raise ConfigError(message, hint="Give pages with a column of URLs: JSON lines, Parquet, CSV, WARC.")


def _check_settings(settings: Mapping[str, Any], *, ready: bool) -> None:
    """Refuse what does nothing, or nothing sensible."""
    if ready and settings:
        message = f"{next(iter(settings))} does nothing where clusters are given"
        raise ConfigError(message, hint="Leave it out, or the clusters.")
    if settings.get("against") is not None:
        raise ConfigError("against has no place here: all pages are of one crawl", hint="Give them as sources.")


def _stored(folder: Path, names: Sequence[str]) -> dict[tuple[str, int], int]:
    """The clusters that a dedup run wrote, by source and position."""
    path = folder / "clusters.parquet"
    try:
        table = pq.read_table(path, columns=["source", "row", "cluster"])
    except (OSError, pa.ArrowException, KeyError) as error:
        message = f"{folder} holds no clusters of a dedup run: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint="Name the folder that dedup -o wrote.") from None
    known = {
        (source, row): cluster
        for source, row, cluster in zip(*(column.to_pylist() for column in table.columns), strict=True)
    }
    others = sorted({source for source, _ in known} - set(names))
    if others:
        message = f"{folder} is about {others[0]}, which is not among the sources: {', '.join(names)}"
        raise ConfigError(message, hint="Name the sources as in that run.")
    return known


@dataclass
class _Collected:
    """What has been read of the pages so far: of each different URL one page, and counts of the rest."""

    urls: dict[str, int] = field(default_factory=dict)
    clusters: list[int] = field(default_factory=list)
    order: list[str | None] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    num_read: int = 0
    num_without_url: int = 0
    num_repeated: int = 0
    num_changed: int = 0
    ordered: bool = False

    def add(
        self,
        name: str,
        batch: pa.RecordBatch,
        known: Mapping[tuple[str, int], int],
        cluster_column: str | None,
        order_column: str | None,
    ) -> None:
        """Take the pages of a batch of `name` whose URL is new."""
        self.ordered = order_column is not None
        columns = set(batch.schema.names)
        _require(name, columns, (cluster_column, order_column))
        nothing = [None] * len(batch)
        labels = batch.column(cluster_column).to_pylist() if cluster_column else nothing
        orders = batch.column(order_column).to_pylist() if order_column else nothing
        rows = zip(batch.column("position").to_pylist(), batch.column("text").to_pylist(), labels, orders, strict=True)
        for position, url, label, order in rows:
            self.num_read += 1
            if not url:
                self.num_without_url += 1
                continue
            cluster = known.get((name, position), ALONE)
            cluster = self.labels.setdefault(label, len(self.labels)) if label else cluster
            if url in self.urls:
                self.num_repeated += 1
                self.num_changed += cluster == ALONE or cluster != self.clusters[self.urls[url]]
                continue
            self.urls[url] = len(self.urls)
            self.clusters.append(cluster)
            self.order.append(order)

    def require_values(self, cluster_column: str | None, order_column: str | None) -> None:
        """Refuse columns that no record has a value in: JSON lines do not tell which columns there are."""
        for name, values in ((cluster_column, self.labels), (order_column, any(self.order))):
            if name is not None and self.urls and not values:
                raise ColumnError(f"no record has a value in column {name!r}", hint="Name a column of the source.")

    def pages(self, content: Mapping[str, Any]) -> ReadPages:
        """The pages of all batches; `content` says what made their clusters."""
        return ReadPages(
            list(self.urls),
            np.array(self.clusters, np.int64),
            self.order if self.ordered else None,
            self.num_read,
            self.num_without_url,
            self.num_repeated,
            self.num_changed,
            self.skipped,
            content,
        )


def _require(name: str, columns: set[str], wanted: Sequence[str | None]) -> None:
    for column in wanted:
        if column is not None and column not in columns:
            raise ColumnError(f"{name} has no column {column!r}", hint="Name a column of every source.")
