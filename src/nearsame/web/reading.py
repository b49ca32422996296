"""URLs and pages as they are read: a URL, and where it is asked for, what content stands behind it.

1. Content is a number: two pages with the same one are near-duplicates, as a dedup run found them, as the folder of an
   earlier run says, or as a column says.
2. A page without a URL, and a second page at the same URL, are counted and left out; so is what cannot be read.
"""

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Unpack

import numpy as np
import pyarrow as pa

from nearsame import api
from nearsame.arrow import Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError, ConfigError, SourceError
from nearsame.files.inputs import several
from nearsame.flow.checks import chosen_spark
from nearsame.flow.options import ContentOptions, EngineOption, MachineOptions
from nearsame.named import NamedTuple
from nearsame.outputs.folder import read_table
from nearsame.outputs.steps import logged
from nearsame.recipes.arguments import checked, refuse_on_spark
from nearsame.recipes.choices import MethodName
from nearsame.recipes.methods import Method
from nearsame.recipes.signatures import Default, Doc, changed_options
from nearsame.shares import counted
from nearsame.sources import Columns, Part, Skip, Skipped, into, open_parts
from nearsame.sources.base import apart
from nearsame.sources.lines import holds_lines, lines
from nearsame.sources.listed import require_texts
from nearsame.sources.manifest import manifest
from nearsame.sources.memory import Memory
from nearsame.sources.standard_input import plain_input

__all__ = ["PageOptions", "ReadPages", "ReadUrls", "read_pages", "read_urls"]

_URL = "url"
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
    num_unread: int = 0  # records that could not be read


class ReadUrls(NamedTuple):
    """URLs in order of reading, null where there is none; what could not be read, and how many records that are."""

    urls: pa.ChunkedArray
    skipped: list[Skipped]
    num_unread: int


def read_urls(source: Any, url_column: str, engine: Any = None) -> ReadUrls:
    """The URLs of text files (one a line), of lists, and of other sources' column.

    Raises:
        ColumnError: A source has no such column.
        ConfigError: One is named, and all sources are lists of URLs.
    """
    skipped = list[Skipped]()
    if engine is not None:
        from nearsame.frames.labelled import columns_of_all  # noqa: PLC0415  (only those who ask for it)

        for one_source in _lists(source, on_spark=True):
            raise ConfigError(f"{one_source} is a list of URLs, which one machine reads", hint="Leave the engine out.")
        read = _named(engine, source, [url_column], strict=False)
        (urls,), num_bad = columns_of_all(read, [url_column])
        return ReadUrls(urls.cast(pa.large_string()), _files(read, num_bad), read.num_unread + num_bad)
    urls = pa.chunked_array(list(_read_urls(source, url_column, into(skipped))), pa.large_string())
    return ReadUrls(urls, skipped, len(skipped))


def _read_urls(source: Any, url_column: str, skip: Skip) -> Iterator[pa.Array]:
    """The URLs of sources, batch by batch.

    Raises:
        ColumnError: A source has no such column.
        ConfigError: One is named, and all sources are lists of URLs.
    """
    have_columns = []
    for one_source in several(source):
        if isinstance(one_source, str) and one_source == "-":
            with plain_input(None) as stdin:
                have_columns.append((yield from _urls_of(one_source, url_column, skip, stdin)))
        else:
            have_columns.append((yield from _urls_of(one_source, url_column, skip)))
    if url_column != _URL and not any(have_columns):
        message = f"url_column={url_column!r} does nothing to a list of URLs"
        raise ConfigError(message, hint="Leave it out, or name a source that has columns.")


def _urls_of(
    source: Any, url_column: str, skip: Skip, stdin: BinaryIO | None = None
) -> Generator[pa.Array, None, bool]:
    """Its URLs, and then whether it may have columns."""
    if isinstance(source, list) and all(url is None or isinstance(url, str) for url in source):
        require_texts(source, are_urls=True)
        yield pa.array(map(_mended, source), pa.large_string())
        return not any(source)
    if isinstance(source, str | Path) and holds_lines(str(source), stdin):
        yield from lines(str(source), skip, stdin)
        return False
    for part in open_parts([source], columns=Columns(text=url_column), stdin=stdin):
        name = "text" if isinstance(part, Memory) and part.table.column_names == ["text"] else url_column
        for batch in _columns(part, name, (), skip):
            yield batch.column("text")
    return True


def _mended(url: str | None) -> str | None:
    """A string without lone surrogates, which Arrow cannot hold: a question mark stands in their place."""
    return url if url is None or url.isascii() else url.encode("utf-8", "replace").decode()


def _columns(part: Part, url_column: str, other_columns: Sequence[str], skip: Skip) -> Iterator[pa.RecordBatch]:
    """The URLs of a part as `text`, and what stands beside them."""
    try:
        yield from part.read(Columns(text=url_column, beside=tuple(other_columns)), skip)
    except ColumnError as error:
        raise _about_urls(error) from None


class ComparingOptions(ContentOptions, MachineOptions, total=False):
    """How near-duplicates are found where nobody says which pages are."""

    method: Annotated[
        Method | MethodName | None,
        Doc("By which near-duplicates are found, where neither `cluster_column` nor `clusters` says them."),
    ]


class PageOptions(ComparingOptions, EngineOption, total=False):
    """What pages are read, and what says which are near-duplicates."""

    url_column: Annotated[str, Doc("The column of URLs."), Default("url")]
    cluster_column: Annotated[
        str | None,
        Doc("A column that is equal for near-duplicates, a digest for example; null or empty for a page without any."),
    ]
    clusters: Annotated[
        str | os.PathLike[str] | None, Doc("The folder of a `dedup` run on the same source, unchanged since then.")
    ]


@checked
def read_pages(source: Any, *, order_column: str | None = None, **options: Unpack[PageOptions]) -> ReadPages:
    """Read pages, and find out which of them are near-duplicates.

    Args:
        source: Whatever `dedup` takes, with a column of URLs.
        order_column: A column that is read along.

    Raises:
        ConfigError: Both a column and a folder of clusters are given, or the folder is about other sources; or a
            setting does nothing; or a source is a list of URLs.
    """
    url_column, cluster_column, clusters = options["url_column"], options["cluster_column"], options["clusters"]
    settings = changed_options(options, ComparingOptions)
    if cluster_column is not None and clusters is not None:
        message = f"cluster_column={cluster_column!r} and clusters={str(clusters)!r}: they exclude each other"
        raise ConfigError(message, hint="Leave one of them out.")
    if settings and (cluster_column is not None or clusters is not None):
        message = f"{next(iter(settings))} does nothing where clusters are given"
        raise ConfigError(message, hint="Leave it out, or the clusters.")
    _require_pages(source, on_spark=options["engine"] is not None)
    if options["engine"] is not None:
        refuse_on_spark(clusters=clusters)
        return _pages_on_spark(source, (url_column, cluster_column, order_column), options, settings)
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
        known = {} if clusters is None else _stored(Path(clusters), parts)
        content = {"column": cluster_column} if clusters is None else {"folder": str(clusters)}
    for part in parts:
        for batch in _columns(part, url_column, other_columns, into(collected.skipped)):
            collected.add(part.name, batch, known, cluster_column, order_column)
    collected.require_values(cluster_column, order_column)
    return collected.pages(content)


def _require_pages(source: Any, *, on_spark: bool) -> None:
    """Refuse lists of URLs: they say nothing of content."""
    for one_source in _lists(source, on_spark=on_spark):
        message = f"{one_source} is a list of URLs: the pages behind them are not known"
        raise ConfigError(message, hint="Give pages with a column of URLs: JSON lines, Parquet, CSV, WARC.")


def _lists(source: Any, *, on_spark: bool) -> Iterator[str]:
    """The sources that are lists of URLs, by their names; to Spark what has no ending is a table, or a folder."""
    names = (str(one) for one in several(source) if isinstance(one, str | Path))
    return (name for name in names if holds_lines(name) and not (on_spark and not Path(name).suffix))


def _stored(folder: Path, parts: Sequence[Part]) -> dict[tuple[str, int], int]:
    """The clusters that a dedup run wrote, by source and position."""
    table = _table(folder, "clusters", ["source", "row", "cluster"])
    known = {
        (source, row): cluster
        for source, row, cluster in zip(*(column.to_pylist() for column in table.columns), strict=True)
    }
    names = [part.name for part in parts]
    others = sorted({source for source, _ in known} - set(names))
    if others:
        message = f"{folder} is about {others[0]}, which is not among the sources: {', '.join(names)}"
        raise ConfigError(message, hint="Name the sources as in that run.")
    _require_unchanged(folder, parts)
    return known


def _require_unchanged(folder: Path, parts: Sequence[Part]) -> None:
    """See that files are what that run read, as far as sizes and times tell: a cluster is told by positions."""
    which, telling = ["source", "against"], ["file", "size_bytes", "mtime_ns"]
    listed, now = _table(folder, "sources", [*which, *telling]), manifest(parts, 0, Columns(), {}, 0, {})
    before, after = (_by_source(table.select([*which, *telling])) for table in (listed, now))
    for name, files in before.items():
        if files != after.get(name, files):
            message = f"{name} is not what the run of {folder} read, as sizes and times of files say"
            raise SourceError(message, hint="Run dedup on it again: clusters tell pages by where they stand.")


def _by_source(listed: pa.Table) -> dict[str, list[tuple[Any, ...]]]:
    """What is listed of each source that was judged."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for source, against, *told in zip(*(column.to_pylist() for column in listed.columns), strict=True):
        if not against:
            found.setdefault(source, []).append(tuple(told))
    return found


def _table(folder: Path, name: str, columns: list[str]) -> pa.Table:
    """A table that a dedup run wrote."""
    try:
        return read_table(folder / f"{name}.parquet", columns)
    except (OSError, pa.ArrowException, KeyError) as error:
        message = f"{folder} holds no {name} of a dedup run: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint="Name the folder that dedup -o wrote.") from None


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
        batch, _, beside = apart(batch)
        _require(name, set(beside), (cluster_column, order_column))
        nothing = [None] * len(batch)
        labels = beside[cluster_column].to_pylist() if cluster_column else nothing
        orders = beside[order_column].to_pylist() if order_column else nothing
        rows = zip(batch.column("position").to_pylist(), batch.column("text").to_pylist(), labels, orders, strict=True)
        for position, url, label, order in rows:
            self._take(url, label, order, known.get((name, position), ALONE))

    def add_labelled(self, table: pa.Table, *, ordered: bool) -> None:
        """Take pages whose columns are the URL, a label of the content and, where they are `ordered`, an order."""
        self.ordered = ordered
        columns = [column.to_pylist() for column in table.columns]
        orders = columns[2] if ordered else [None] * len(table)
        for url, label, order in zip(columns[0], columns[1], orders, strict=True):
            self._take(url, label, order)

    def _take(self, url: str | None, label: Any, order: str | None, cluster: int = ALONE) -> None:
        """Take a page if its URL is new; its content is a cluster, or what its label says."""
        self.num_read += 1
        if not url:
            self.num_without_url += 1
            return
        cluster = self.labels.setdefault(label, len(self.labels)) if label not in (None, "") else cluster
        if url in self.urls:
            self.num_repeated += 1
            self.num_changed += cluster == ALONE or cluster != self.clusters[self.urls[url]]
            return
        self.urls[url] = len(self.urls)
        self.clusters.append(cluster)
        self.order.append(order)

    def require_values(self, cluster_column: str | None, order_column: str | None) -> None:
        """Refuse columns that no record has a value in: JSON lines do not tell which columns there are."""
        for name, values in ((cluster_column, self.labels), (order_column, any(self.order))):
            if name is not None and self.urls and not values:
                raise ColumnError(f"no record has a value in column {name!r}", hint="Name a column of the source.")

    def pages(self, content: Mapping[str, Any], num_unread: int | None = None) -> ReadPages:
        """The pages of all batches; `content` says what made their clusters; unread: by default all that is skipped."""
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
            len(self.skipped) if num_unread is None else num_unread,
        )


def _named(engine: Any, source: Any, names: Sequence[str], *, strict: bool) -> Any:
    """What Spark reads of a source that has columns of these names, the first one that of URLs."""
    from nearsame.frames.labelled import named  # noqa: PLC0415  (only those who ask for it)

    clock = Clock(logged(None))
    try:
        return named(chosen_spark({"engine": engine}), source, names, clock, strict=strict)
    except ColumnError as error:
        raise _about_urls(error) from None


def _pages_on_spark(
    source: Any, names: tuple[str, str | None, str | None], options: PageOptions, settings: Mapping[str, Any]
) -> ReadPages:
    """Pages that Spark reads and compares, by their URLs: a frame has no order."""
    from nearsame.frames import labelled  # noqa: PLC0415  (only those who ask for it)

    (_, label, order), collected = names, _Collected()
    wanted = [name for name in names if name is not None]
    read = _named(options["engine"], source, wanted, strict=options["strict"])
    if label is not None:
        known = labelled.columns_of_all(read, wanted)
        content: dict[str, Any] = {"column": label}
    else:
        labelled.require_room(read, wanted)
        found = api.dedup(source, engine=options["engine"], **settings)
        try:
            known, read, stats = labelled.clustered(found, wanted), found.run.read, found.stats
        finally:
            found.release()
        content = {"recipe": stats.recipe, "removed": stats.removed}
    collected.add_labelled(known.table, ordered=order is not None)
    collected.require_values(label, order)
    collected.skipped = _files(read, known.num_bad)
    return collected.pages(content, read.num_unread + known.num_bad)


def _files(read: Any, num_bad: int) -> list[Skipped]:
    """The files of which Spark could not read all, and how many URLs are not UTF-8."""
    files = [Skipped(name, None, None, why) for name, _, why in read.unread]
    said = f"{counted(num_bad, 'URL')} {'is' if num_bad == 1 else 'are'} not UTF-8"
    return [*files, *([Skipped(read.sides[-1].parts[0].name, None, None, said)] if num_bad else [])]


def _about_urls(error: ColumnError) -> ColumnError:
    """An error about the column of URLs, which was read as that of texts."""
    return ColumnError(error.message, hint=error.hint.replace("--text-column", "--url-column"))


def _require(name: str, columns: set[str], wanted: Sequence[str | None]) -> None:
    for column in wanted:
        if column is not None and column not in columns:
            raise ColumnError(f"{name} has no column {column!r}", hint="Name a column of every source.")
