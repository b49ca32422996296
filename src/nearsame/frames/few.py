"""Few documents: they come to the driver, where the flow of one machine does the work, with the answer of the cluster.

1. How few is a setting. The plan is asked first whether they are: what is known to be more is not read for it. Of
   what it knows nothing of, as of rows that were a list of Python's, the first rows are looked at.
2. Rows have the names that they have on the cluster, by content; rows that are the same stand there one by one.
3. Tables become DataFrames; kept and removed documents are rows of the frame that was given.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.answers.stats import Stats
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.fetching import Fetching, computed_once
from nearsame.engines.spark.metering import described
from nearsame.engines.spark.plans import is_tried_cheaply, known_bytes
from nearsame.flow.arrays import HOST
from nearsame.flow.page_reading import reading_settings
from nearsame.flow.pipeline import featured
from nearsame.flow.removals import Removals
from nearsame.flow.runs import Run
from nearsame.flow.steps import steps
from nearsame.frames.corpus import Frames
from nearsame.frames.documents import GROUP, STANDS, FrameSide
from nearsame.frames.examples import sources_of
from nearsame.frames.pages import page_counts, page_tallies
from nearsame.frames.records import ChosenRecords
from nearsame.frames.remembered import features_told, staying
from nearsame.frames.removals import FrameRemovals
from nearsame.frames.runs import PACKAGES, FrameReading, FrameRun
from nearsame.installation import versions
from nearsame.recipes.methods import Method
from nearsame.sources import Columns
from nearsame.sources.reading import Reading
from nearsame.stages.pairs.expand import Listed

__all__ = ["Few", "FewRemovals", "FewRun", "called", "few_of"]

_ROW, _ID, _URL, _CONTENT, _STANDS = (f"nearsame_{name}" for name in ("row", "id", "url", "content", "stands"))
_ROW_BYTES = 64  # of a document besides its content
_TRIED = 50_000  # rows, of which the sizes come to the driver
_ONE_JOB = 128 << 20  # bytes that come at once
_SIZES = {  # by the types of contents
    "string": "octet_length(text)",
    "array<string>": "octet_length(array_join(items, ' ')) + 8 * size(items)",
    "array<bigint>": "32 * size(items)",  # they are spelt as texts on their way
    "array<double>": "8 * size(vector)",
}


@dataclass(frozen=True, eq=False)
class Few:
    """The documents of all sides, on the driver.

    Attributes:
        tables: of the judged side and, if there is one, the `against` side.
        columns: what their columns are called.
        num_bad: how many texts could not be read.
        pages: what is counted of them as pages, where tasks have taken texts out of these.
    """

    tables: tuple[pa.Table, ...]
    columns: Columns
    num_bad: int
    pages: dict[str, int]

    @property
    def sides(self) -> tuple[Any, Any]:
        """The judged one, and the other or None."""
        return self.tables[0], self.tables[1] if len(self.tables) > 1 else None


def few_of(sides: tuple[FrameSide, ...], *, most: int) -> Few | None:
    """The documents of some sides, where they are few; None where they are many, or two share a name.

    Args:
        sides: the judged one comes last.
        most: the bytes that few documents take at most; 0: none are few.
    """
    judged = sides[-1]
    content, kind = judged.content
    each = (side.records() for side in sides)
    records = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), each)
    beside = (f"coalesce(octet_length({name}), 0)" for name, of in records.dtypes if of == "string" and name != content)
    size = " + ".join([f"coalesce({_SIZES[kind]}, 0)", *beside, str(_ROW_BYTES)])
    if not most:
        return None
    with computed_once(records, wanted=judged.of_archives) as records:
        batches = _fetched(sides, records, size, most)
        if batches is None:
            return None
        tables = _by_side(batches, [side.number for side in reversed(sides)])
    if _two_of_one_name(tables):
        return None
    names, columns = _names(judged, content)
    num_bad = sum(pc.sum(table.column("bad")).as_py() or 0 for table in tables)
    tables = tuple(_with_no_numbers(table, names.get(judged.group_by or "")) for table in tables)
    chosen = tuple(pa.table({name: table.column(own) for name, own in names.items()}) for table in tables)
    return Few(chosen, columns, num_bad, page_tallies(tables))


def _fetched(sides: tuple[FrameSide, ...], records: Any, size: str, most: int) -> Iterable[pa.RecordBatch] | None:
    """All records, where they take at most so much."""
    known = [(part.frame, known_bytes(part.frame)) for side in sides for part in side.parts]
    untold = [size for frame, size in known if size > most and is_tried_cheaply(frame)]
    packed = sum(size for _, size in known) - sum(untold)
    if packed > most:
        return None
    if untold or packed <= _ONE_JOB:
        total = _total(records.selectExpr(f"{size} as size"), untold=bool(untold))
        if total > most:
            return None
        if total <= _ONE_JOB:
            table = records.toArrow()
            return table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
    fetching = Fetching.of(records, size, most)
    return None if fetching is None else fetching.batches()


def _total(sizes: Any, *, untold: bool) -> float:
    """The sum of sizes; of more rows than are tried, where Spark knows nothing of them, it is endless."""
    if not untold:
        return float(sizes.selectExpr("coalesce(sum(size), 0)").first()[0])
    rows = sizes.take(_TRIED + 1)
    return sum(row[0] for row in rows) if len(rows) <= _TRIED else math.inf


def _by_side(batches: Iterable[pa.RecordBatch], numbers: Sequence[int]) -> tuple[pa.Table, ...]:
    """The records of each side, dealt as they come, so that there is one of each."""
    dealt: dict[int, list[pa.RecordBatch]] = {number: [] for number in numbers}
    for batch in batches:
        for number, mine in dealt.items():
            mine.append(batch.filter(pc.equal(batch.column("side"), number)) if len(dealt) > 1 else batch)
    return tuple(pa.Table.from_batches(mine) for mine in dealt.values())


def _two_of_one_name(tables: Iterable[pa.Table]) -> bool:
    """Whether rows that differ are called the same."""
    rows = pa.concat_tables(table.select(["row", "fp"]) for table in tables)
    return len(rows.group_by("row").aggregate([("fp", "count_distinct")]).filter(pc.field("fp_count_distinct") > 1)) > 0


def _with_no_numbers(table: pa.Table, name: str | None) -> pa.Table:
    """With NaN again in a column that groups go by, and an order, which has null for it: groups tell the two apart."""
    if name in (None, GROUP) or not pa.types.is_floating(table.column(name).type):
        return table
    is_none = pc.equal(table.column(GROUP), "NaN")
    values = pc.if_else(is_none, pa.scalar(math.nan, table.column(name).type), table.column(name))
    return table.set_column(table.column_names.index(name), name, values)


def _names(side: FrameSide, content: str) -> tuple[dict[str, str], Columns]:
    """(what columns of documents are called in the tables, which of these count)."""
    names = {_ROW: "row", _ID: "id", _CONTENT: content}
    names |= {_STANDS: STANDS} if side.of_archives else {}
    names |= {str(policy.column): name for name, policy in side.keep.values.items()}
    names |= {name: own for name, own in side.beside.items() if name not in names}
    url = side.columns.beside[0] if side.as_pages else _URL  # which nobody has, so that nothing is said of it
    if side.group_by is not None:
        names.setdefault(url if side.group_by == HOST else side.group_by, GROUP)
    text, items, vectors = (_CONTENT if content == name else None for name in ("text", "items", "vector"))
    kept = side.columns
    columns = Columns(text, _ID, kept.order, items, vectors, tuple(side.beside) or (_URL,), max_record=kept.max_record)
    if kept.html is not None:
        columns = replace(columns, text=None, html=_CONTENT, extract=kept.extract, max_document=kept.max_document)
    return names, columns


@dataclass(frozen=True, eq=False)
class FewRun(FrameRun):
    """What the results of a run share that one machine made: `local` is its own."""

    local: Run

    @classmethod
    def of(cls, read: FrameReading, local: Run) -> "FewRun":
        """A run whose documents are called as on the cluster."""
        return cls(read, local.clock, replace(local, called=called(local.reading)))

    @property
    def state(self) -> Any:
        """What the method knew."""
        return self.local.state

    @property
    def stats(self) -> Stats:
        """What is known before anything is decided."""
        known, judged = self.local.stats, self.read.sides[-1]
        by_tasks = judged.columns.html is None and (judged.of_pages or self.read.of_archives)
        return replace(
            known,
            skipped=self.read.num_unread,
            ignored=self.read.num_ignored,
            notes=(*known.notes, *self.read.notes),
            seconds=self.seconds,
            room={**known.room, **self.read.verbs.room, "documents": "driver"},
            recipe={**known.recipe, **reading_settings(judged.columns, pages=judged.of_pages)},
            pages=page_counts(self.read.few_pages, self.read.aside) if by_tasks else known.pages,
            versions={**known.versions, **versions(PACKAGES)},
        )

    def pairs_table(self, pairs: Listed) -> Any:
        """Pairs as a frame."""
        return self.frame(self.local.pairs_table(pairs))

    def pairs_with_texts(self, pairs: Listed, table: Any, count: int | None) -> pa.Table:  # noqa: ARG002  (a frame)
        """Some of the pairs with both texts."""
        return self.with_sources(self.local.pairs_with_texts(pairs, self.local.pairs_table(pairs), count), ("b_", "a_"))

    def pairs_counts(self, pairs: Listed) -> dict[str, Any]:
        """What statistics say of pairs besides what is known."""
        return self.local.pairs_counts(pairs)

    def with_sources(self, table: pa.Table, prefixes: tuple[str, str]) -> pa.Table:
        """A table of one machine whose sources are the files that the documents of both ends stand in.

        Args:
            table: The table.
            prefixes: Of the columns of either end: of rows that are the same the first stands in the last file.
        """
        rows = [table.column(f"{prefix}row").to_pylist() for prefix in prefixes]
        with plainly(), described(self.session, "examples"):
            files = sources_of(self.read.sides, [row for each in rows for row in each], self.read.verbs)
        for last, prefix, each in zip((1, 0), prefixes, rows, strict=True):
            sources = pa.array([files[row][last] for row in each], pa.string())
            table = table.set_column(table.column_names.index(f"{prefix}source"), f"{prefix}source", sources)
        return table

    def frame(self, table: pa.Table) -> Any:
        """A table of one machine as a frame: without sources, and clusters called by the rows of their keepers."""
        if "cluster" in table.column_names:
            rows = self.local.names.origins.column("position").take(table.column("cluster"))
            table = table.set_column(table.column_names.index("cluster"), "cluster", rows)
        return self.read.verbs.frame(
            table.drop_columns([name for name in table.column_names if name.endswith("source")])
        )


def called(reading: Reading) -> pa.Table:
    """The ids of documents, the names of their rows, and where these stand in archives, by row."""
    origins = reading.origins
    source, position = (origins.column(name).to_numpy() for name in ("source", "position"))
    rows, stands = np.zeros(len(origins), np.int64), np.zeros(len(origins), np.int64)
    parts: list[Any] = list(reading.all_parts)  # the tables
    for number, part in enumerate(parts):
        mine = source == number
        rows[mine] = part.table.column(_ROW).to_numpy()[position[mine]]
        if _STANDS in part.table.column_names:
            stands[mine] = pc.fill_null(part.table.column(_STANDS), 0).to_numpy()[position[mine]]
    origins = origins.append_column(STANDS, pa.array(stands))
    ids = pc.coalesce(origins.column("id"), pa.chunked_array([pa.array(rows).cast(pa.string())]))
    for name, column in (("id", ids), ("position", pa.array(rows))):
        origins = origins.set_column(origins.column_names.index(name), name, column)
    return origins


@dataclass(frozen=True, eq=False)
class FewRemovals(FrameRemovals):
    """Removed documents as one machine tells them: `local`."""

    run: FewRun
    local: Removals

    @classmethod
    def of(cls, read: FrameReading, found: Any) -> "FewRemovals":
        """Those of a result of one machine, whose documents are called as on the cluster."""
        run = FewRun.of(read, found.run)
        return cls(run, replace(found._removals, run=run.local))  # noqa: SLF001  (what it found is told in frames)

    @property
    def method(self) -> Method:
        """By which was decided."""
        return self.local.method

    def counts(self) -> dict[str, Any]:
        """What statistics say of them."""
        return self.local.counts()

    @cached_property
    def table(self) -> Any:
        """The removed documents, each with its witness, similarity and cluster (the witness's row)."""
        return self.run.frame(self.local.table)

    @cached_property
    def clusters(self) -> Any:
        """Keepers and the documents that they are the witness of."""
        return self.run.frame(self.local.clusters)

    @cached_property
    def pairs(self) -> Any:
        """Each removed document with its witness, as a pair; a is the one of higher priority."""
        return self.run.frame(self.local.pairs)

    @cached_property
    def _records(self) -> ChosenRecords:
        read, local = self.run.read, self.local
        rows = local.run.names.origins.column("position").to_numpy()[local.run.reading.num_against :]
        gone = _counted(local.run.names.origins.column("position").to_numpy()[local.decided.rows], "times")
        copies = _counted(rows, "copies")
        documents = read.verbs.frame(copies.append_column("side", pa.array(np.ones(len(copies), np.int32))))
        counts = {"documents": rows.size, "different": len(copies)}
        return ChosenRecords(read.sides[-1], (), documents, counts, read.verbs.frame(gone), len(gone))

    def features(self) -> tuple[Any, dict[str, Any]]:
        """What later runs compare with, made by the cluster: what one machine had it has in its memory.

        Raises:
            ConfigError: Layers have removed what was not compared, or features depend on all documents.
        """
        read, method = self.run.read, self.run.state.method
        judged = read.sides[-1]
        told = features_told(method, judged, layered=judged.as_pages)
        corpus = Frames((judged,), read.verbs, judged.keep)
        made, _, _ = featured(
            corpus, method, steps(method, ready_items=judged.columns.items is not None), self.run.clock
        )
        _, corpus = corpus.described(made)
        return staying(corpus, self._records.gone), told

    def examples(self, count: int) -> pa.Table:
        """Some of the removals, over the whole range of similarity, with the texts of both sides."""
        table = self.run.with_sources(self.local.examples(count), ("", "witness_"))
        names = ("id", "source", "text")
        return table.select(["similarity", "measure", *names, *(f"witness_{name}" for name in names)])

    def at(self, method: Method) -> "FewRemovals":
        """The same at a higher threshold, decided again on the stored keys and features."""
        with described(self.run.session, "deciding"):
            return FewRemovals(self.run, self.local.at(method))


def _counted(rows: Rows, name: str) -> pa.Table:
    """How often each row stands there."""
    different, times = np.unique(rows, return_counts=True)
    return pa.table({"row": pa.array(different, pa.int64()), name: pa.array(times, pa.int64())})
