"""Answers as DataFrames: what a run on Spark found, computed where it is asked for.

1. Tables have the columns of the local answers, without `source`: `row` is a document's number by content.
2. Kept and removed documents are rows of the DataFrame that was given (records.py).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame._version import __version__
from nearsame.arguments import checked
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.plans import roots
from nearsame.errors import ConfigError, SourceError
from nearsame.frames.auditing import audit_decision
from nearsame.frames.deciding import Decision, decide, inherited
from nearsame.frames.examples import chosen_removals, texts
from nearsame.frames.flow import Frames
from nearsame.frames.listing import beside
from nearsame.frames.records import Records
from nearsame.frames.writing import STATS, check_target, write_folder
from nearsame.methods import Method
from nearsame.outputs.tables import skipped_table
from nearsame.results import Audit, Clock, Stats
from nearsame.stages.pairs.measures import LARGEST, fraction_at_least

__all__ = ["SparkResult", "SparkRun", "decided"]

_PACKAGES = ("numba", "numpy", "pyarrow", "pyspark", "xxhash")
_NUM_LARGEST = 5


@dataclass(frozen=True, eq=False)
class SparkRun:
    """What all results of one run share."""

    frames: Frames
    clock: Clock
    settings: dict[str, Any]
    sources: tuple[str, ...] = ()  # what of them is paths
    unread: tuple[tuple[str, int, str], ...] = ()  # of which file how many records could not be read, and why
    ignored: int = 0  # files of no known format

    @property
    def session(self) -> Any:
        """The session that runs the work."""
        return self.frames.verbs.session

    @cached_property
    def names(self) -> Any:
        """What documents are called: number, id, row."""
        return self.frames.documents.selectExpr("number", "coalesce(id, cast(row as string)) as id", "row")

    def named(self, frame: Any, number: str, prefix: str) -> Any:
        """A frame with the id and row of the documents whose numbers stand in a column."""
        names = self.names.selectExpr(f"number as {number}", f"id as {prefix}id", f"row as {prefix}row")
        return frame.join(names, number)

    @property
    def stats(self) -> Stats:
        """What is known before anything is decided."""
        frames, counts = self.frames, self.frames.counts
        return Stats(
            documents=counts["documents"],
            skipped=sum(number for _, number, _ in self.unread),
            against=counts["against"],
            text_bytes=counts["text_bytes"],
            empty=counts["empty"],
            bare=counts["bare"] - frames.dropped.documents,
            dropped_shingles=frames.dropped.shingles,
            dropped_occurrences=frames.dropped.occurrences,
            emptied=frames.dropped.documents,
            repeated_ids=counts["ids"] - counts["different_ids"],
            distinct=counts["distinct"],
            features=counts["features"],
            keys=counts.get("keys", 0),
            meeting=counts.get("meeting", 0),
            measure=frames.method.reports,
            least=float(frames.method.least),
            notes=(*frames.step.notes, *frames.notes),
            seconds={step: round(seconds, 4) for step, seconds in self.clock.seconds.items()},
            room=frames.verbs.room,
            recipe={**frames.method.record(), **self.settings},
            versions={"nearsame": __version__, **{name: metadata.version(name) for name in _PACKAGES}},
        )

    @property
    def skipped(self) -> pa.Table:
        """SKIPPED: a row for each file of which something could not be read."""
        return skipped_table([(name, None, None, why) for name, _, why in self.unread])

    def check_target(self, target: str | Path, mark: str, *, overwrite: bool) -> list[str]:
        """See that a folder may be written; what to say of leftovers beside it.

        Raises:
            OutputError: It may not: it is there, or would lie in what was read, or over it.
        """
        read = [root for side in self.frames.sides for part in side.parts for root in roots(part.frame)]
        notes = check_target(self.session, target, self.sources, mark, overwrite=overwrite, roots=read)
        for note in notes:
            self.clock.progress.note(note)
        return notes

    def release(self) -> None:
        """Give back what Spark keeps for further questions."""
        self.frames.verbs.release()


@checked
@dataclass(frozen=True, eq=False)
class SparkResult:
    """Which documents stay, which go, and why: DataFrames."""

    run: SparkRun
    method: Method
    _decision: Decision
    _gone: Any  # row, number, times, witness, num, den
    audit: Audit | None = None
    notes: tuple[str, ...] = ()

    @plainly()
    def audited(self) -> "SparkResult":
        """The same, with recall, residual duplicates and precision, measured on a sample."""
        run, within = self.run, self.run.settings["within"]
        if not run.frames.counts["documents"]:
            return self
        with run.clock("audit"):
            found = audit_decision(run.frames, self._decision, self.method.least, within=within)
        return replace(self, audit=found)

    def __repr__(self) -> str:
        stats = self.stats
        return f"SparkResult({stats.documents:,} documents, {stats.kept:,} kept, {stats.removed:,} removed)"

    @cached_property
    @plainly()
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        known, documents = self.run.stats, self.run.frames.documents
        digests = documents.selectExpr("number as witness", "digest_a as wa", "digest_b as wb")
        own = documents.selectExpr("number", "digest_a", "digest_b")
        told = self._gone.join(own, "number").join(digests, "witness")
        least = self.method.least
        below = self._below if self._decision.component else "false"
        sums = told.selectExpr(
            "coalesce(sum(times), 0) as removed",
            "coalesce(sum(if(digest_a = wa and digest_b = wb, times, 0)), 0) as exact",
            f"coalesce(sum(if({below}, times, 0)), 0) as chained",
            "count(distinct witness) as clusters",
        ).first()
        return replace(
            known,
            compared=self._decision.num_compared,
            exact_copies=sums["exact"],
            near_copies=sums["removed"] - sums["exact"],
            removed=sums["removed"],
            kept=known.documents - known.against - sums["removed"],
            clusters=sums["clusters"],
            largest=self._largest(),
            chained=sums["chained"],
            component=self._decision.component,
            audit=None if self.audit is None else self.audit.record(),
            least=float(least),
            notes=(*known.notes, *self.notes),
            recipe={**known.recipe, **self.method.record()},
        )

    def _largest(self) -> tuple[tuple[str, int], ...]:
        sizes = self._gone.groupBy("witness").agg({"times": "sum"}).toDF("witness", "size")
        first = sizes.sort("size", "witness", ascending=[False, True]).limit(_NUM_LARGEST)
        rows = self.run.named(first, "witness", "").sort("size", "witness", ascending=[False, True]).collect()
        return tuple((row["id"], row["size"] + 1) for row in rows)

    @cached_property
    def _each(self) -> Any:
        """A line for each removed document, with names on both sides."""
        columns = ["number", "row", "witness", "num", "den", "explode(sequence(1L, times)) as copy"]
        each = self._gone.selectExpr(*columns).drop("copy").drop("row")
        return self.run.named(self.run.named(each, "number", ""), "witness", "witness_")

    @cached_property
    def removals(self) -> Any:
        """The removed documents, each with its witness, similarity and cluster (the witness's row)."""
        return self._each.selectExpr(
            "id", "row", "witness_id", "witness_row", "num / den as similarity", f"{self._measure} as measure",
            "witness_row as cluster",
        )  # fmt: skip

    @cached_property
    def clusters(self) -> Any:
        """Keepers and the documents that they are the witness of."""
        keepers = self._each.selectExpr("witness_id as id", "witness_row as row", "witness_row as cluster").distinct()
        roles = keepers.selectExpr("*", "'keeper' as role", "1.0D as similarity")
        others = self._each.selectExpr("id", "row", "witness_row as cluster", "'removed' as role", "num / den")
        return roles.union(others)

    @cached_property
    def pairs(self) -> Any:
        """Each removed document with its witness, as a pair; a is the one of higher priority."""
        names = self.run.frames.step.column_names
        each = self._each.join(self._beside(), ["number", "witness"]) if names else self._each
        ends = ("witness_id as a_id", "witness_row as a_row", "id as b_id", "row as b_row")
        return each.selectExpr(*ends, "num / den as similarity", f"{self._measure} as measure", *names)

    def _beside(self) -> Any:
        """By document and witness: what the method alone says of them; of equals, that all is shared."""
        frames = self.run.frames
        best = frames.documents.select("number", "best")
        known = self._gone.select("number", "witness", "num", "den").distinct()
        known = known.join(best.toDF("number", "b"), "number").join(best.toDF("witness", "a"), "witness")
        told = beside(frames, known.filter("a <> b").select("a", "b", "num", "den").distinct())
        names = frames.step.column_names
        columns = [f"coalesce({name}, 1.0D) as {name}" for name in names]
        return known.join(told.select("a", "b", *names), ["a", "b"], "left").selectExpr("number", "witness", *columns)

    @property
    def _measure(self) -> str:
        plain = f"'{self.run.frames.method.reports}'"
        return plain if self._decision.component is None else f"if({self._below}, 'component', {plain})"

    @property
    def _below(self) -> str:
        """Whether a similarity is below the threshold, in whole numbers that do not overflow."""
        least = fraction_at_least(self.method.least, LARGEST)
        return f"num * {least.denominator}L < den * {least.numerator}L"

    @plainly()
    def kept(self) -> Any:
        """The documents that stay, with all their columns."""
        return self._records.kept()

    @plainly()
    def removed(self) -> Any:
        """The documents that go, with all their columns."""
        return self._records.removed()

    @cached_property
    def _records(self) -> Records:
        return Records(self.run.frames, self._gone)

    @property
    def skipped(self) -> pa.Table:
        """The files of which something could not be read, and what; Spark does not tell the places of records."""
        return self.run.skipped

    @property
    def frequencies(self) -> pa.Table | None:
        """With `weights="tfidf"`: in how many documents each feature stands. Saved, it weighs those of a later run."""
        found = self.run.frames.frequencies
        return None if found is None else found.table()

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are of no known format."""
        return self.run.ignored

    @plainly()
    def examples(self, count: int = 10) -> pa.Table:
        """Some of the removals, over the whole range of similarity, with the texts of both sides."""
        frames = self.run.frames
        chosen = chosen_removals(frames, self._gone, count)
        columns = [chosen.column(name).to_pylist() for name in ("number", "witness")]
        found = texts(frames, [*columns[0], *columns[1]])
        names = self.run.names.filter(self.run.names["number"].isin(list(found))).select("number", "id").toArrow()
        ids = dict(zip(*(column.to_pylist() for column in names.columns), strict=True))
        told = {"measure": [frames.method.reports] * chosen.num_rows}
        for prefix, numbers in zip(("", "witness_"), columns, strict=True):
            told[f"{prefix}id"] = [ids[number] for number in numbers]
            told[f"{prefix}text"] = [found[number] for number in numbers]
        return pa.table({"similarity": chosen.column("similarity"), **told})

    @plainly()
    def write(self, directory: str | Path, *, overwrite: bool = False, pairs: bool = False) -> Stats:
        """Write a folder: `kept/`, `removed/`, `clusters/` and (if need be) `skipped/` as Parquet parts; `stats.json`.

        It appears complete or not at all, and whatever goes wrong, what stood there before stands.

        Args:
            directory: A folder that all executors see, in the session's default file system, or an address that Spark
                can write to; it must not exist.
            overwrite: Whether a folder of an earlier run is replaced.
            pairs: Whether to write `pairs/`, each removed document with its witness, too.

        Returns:
            The statistics, with the seconds of writing.

        Raises:
            OutputError: The folder cannot be written, or would lie in a source or over one.
            SourceError: The source is not what it was: other documents stay than were decided about.
        """
        run = self.run
        notes = run.check_target(directory, STATS, overwrite=overwrite)
        known = replace(self.stats, notes=(*self.stats.notes, *notes))

        def record(kept: Any) -> dict[str, Any]:
            written = kept.count()
            if written != known.kept:
                message = f"the source changed: {known.kept:,} documents were to stay, and {written:,} were read again"
                raise SourceError(message, hint="Give one that stays the same: persist it, or write it to files first.")
            return known.record()

        frames = {"kept": self.kept(), "removed": self.removals, "clusters": self.clusters}
        with run.clock("writing"):
            if run.unread:
                frames["skipped"] = run.frames.verbs.frame(self.skipped).coalesce(1)
            tables = {**frames, **({"pairs": self.pairs} if pairs else {})}
            write_folder(run.session, directory, tables, record)
        return replace(known, seconds={step: round(spent, 4) for step, spent in run.clock.seconds.items()})

    @plainly()
    def at(self, *, threshold: Any) -> "SparkResult":
        """The result at a higher threshold, decided anew on the stored keys and features.

        Raises:
            ConfigError: The threshold is lower than the run's, or the method has none.
        """
        least, higher = self.run.frames.method.least, self.method.raised(threshold)
        if higher.least < least:
            message = f"threshold={threshold} is below the run's own, {float(least)}: its keys may miss pairs"
            raise ConfigError(message, hint="Run again with the lower threshold.")
        unaudited = f"recall was not measured at threshold {float(higher.least):g}: that takes a run of its own"
        return decided(self.run, higher, (unaudited,) if self.audit or self.notes else ())

    def release(self) -> None:
        """Give back what Spark keeps for further questions; what is asked for later is computed anew."""
        self.run.release()


def decided(run: SparkRun, method: Method, notes: tuple[str, ...] = ()) -> SparkResult:
    """A result at the threshold of a method."""
    within, clusters = run.settings["within"], run.settings["clusters"]
    decision = decide(run.frames, method.least, within=within, clusters=clusters)
    gone = run.frames.verbs.once(inherited(run.frames, decision, within=within))
    return SparkResult(run, method, decision, gone, notes=notes)
