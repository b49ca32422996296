"""The removed documents of one answer, as DataFrames: computed where they are asked for.

1. Tables have the columns of the local answers, without `source`: `row` is a document's number by content.
2. Kept and removed documents are rows of the DataFrame that was given (records.py).
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, replace
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa

from nearsame.answers.stats import NUM_LARGEST, Stats, compared_by
from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import STEADY, plainly, require_running
from nearsame.engines.spark.metering import described
from nearsame.errors import ConfigError, SourceError
from nearsame.flow import pipeline
from nearsame.flow.corpus import Question
from nearsame.flow.kept import Choices
from nearsame.frames.archives import LISTED
from nearsame.frames.deciding import Decision
from nearsame.frames.examples import chosen_removals, shown
from nearsame.frames.listing import beside
from nearsame.frames.records import ChosenRecords
from nearsame.frames.remembered import FEATURES, features_told, staying
from nearsame.frames.runs import FrameRun, SparkRun
from nearsame.frames.settled import OWN, by_all, evident, layer_counts, settled
from nearsame.frames.writing import STATS, write_folder
from nearsame.outputs.destinations import Destination, require_folder
from nearsame.recipes.arguments import refuse_on_spark
from nearsame.recipes.methods import Method
from nearsame.stages.pairs.measures import LARGEST, fraction_at_least

__all__ = ["FrameRemovals", "SparkRemovals"]


@dataclass(frozen=True, eq=False)
class FrameRemovals(ABC):
    """What is done with removed documents as frames, whoever removed them."""

    run: FrameRun

    @property
    @abstractmethod
    def table(self) -> Any:
        """The removed documents, each with its witness, similarity and cluster (the witness's row)."""

    @property
    @abstractmethod
    def clusters(self) -> Any:
        """Keepers and the documents that they are the witness of."""

    @property
    @abstractmethod
    def pairs(self) -> Any:
        """Each removed document with its witness, as a pair; a is the one of higher priority."""

    @property
    @abstractmethod
    def _records(self) -> ChosenRecords:
        """The rows that were given."""

    @property
    def groups(self) -> Any:
        """Nothing: rows have no places.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            "groups name rows by number, and rows of a DataFrame have no numbers", hint="Ask for clusters."
        )

    @abstractmethod
    def features(self) -> tuple[Any, dict[str, Any]]:
        """What later runs compare with, of the documents that stay; and what statistics say of it.

        Raises:
            ConfigError: There is nothing of that.
        """

    def clustered(self, *columns: str) -> Any:
        """Some columns of all documents, and `cluster`: the row of the keeper; null of who resembles no other."""
        return self._records.clustered(self.clusters.select("row", "cluster"), columns)

    @plainly()
    def records(self, *, stay: bool) -> Any:
        """The documents that stay or go, with all their columns."""
        require_running(self.run.session)  # a frame of a session that has ended says so in words of Java's
        return self._records.kept() if stay else self._records.removed()

    @plainly()
    def write(self, place: Destination, stats: Stats, choices: Choices, *, overwrite: bool) -> Stats:
        """Write a folder: `kept/`, `removed/`, `clusters/` and (if need be) `skipped/` as Parquet parts; `stats.json`.

        Raises:
            OutputError: The folder cannot be written, or would lie in a source or over one.
            SourceError: The source is not what it was: other documents stay than were decided about.
        """
        here_only = {
            name: chosen or None for name, chosen in asdict(choices).items() if name not in ("pairs", "features")
        }
        refuse_on_spark(**here_only)
        require_folder(place.typed, "Spark's executors write parts")
        run, directory = self.run, place.typed
        notes = run.check_target(directory, STATS, overwrite=overwrite)
        known = replace(stats, notes=(*stats.notes, *notes))
        features, told = self.features() if choices.features else (None, {})

        def record(kept: Any) -> dict[str, Any]:
            written = (kept.filter("kept") if run.read.of_archives else kept).count()
            if written != known.kept:
                message = f"the source changed: {known.kept:,} documents were to stay, and {written:,} were read again"
                raise SourceError(message, hint=STEADY)
            return {**known.record(), "call": run.read.call, "written": {"pairs": choices.pairs}, **told}

        with run.clock("writing"):
            stay = self._records.listed(LISTED) if run.read.of_archives else self.records(stay=True)
            name = "records" if run.read.of_archives else "kept"
            frames = {name: stay, "removed": self.table, "clusters": self.clusters}
            if run.read.unread:
                frames["skipped"] = run.read.verbs.frame(run.skipped).coalesce(1)
            if run.read.of_archives:
                frames["files"] = reduce(lambda a, b: a.union(b), (part.files for part in run.read.sides[-1].parts))
            tables = {**frames, **({"pairs": self.pairs} if choices.pairs else {})}
            tables |= {} if features is None else {FEATURES: features}
            write_folder(run.session, directory, tables, record)
        return replace(known, seconds=run.seconds)


@dataclass(frozen=True, eq=False)
class SparkRemovals(FrameRemovals):
    """Removed documents and their witnesses, and what follows for all others.

    Attributes:
        run: what was read, and what is known of it.
        method: by which was decided: that of the run, or one of a higher threshold.
        decision: of all documents.
    """

    run: SparkRun
    method: Method
    decision: Decision

    @plainly()
    def counts(self) -> dict[str, Any]:
        """What statistics say of them."""
        near = "true" if self.run.layers is None else f"(measured and not {self._far} or layer = 'text')"
        sums = {"removed": "true", "exact_copies": "same", "near_copies": f"{near} and not same", "chained": self._far}
        each = [f"sum(if({what}, times, 0)) as {name}" for name, what in sums.items()]
        total = [f"coalesce(sum({name}), 0) as {name}" for name in sums]
        verbs = self.run.read.verbs
        with described(self.run.session, "statistics"):
            clusters = verbs.aggregated(self.gone, ["witness"], each)
            clusters, told = verbs.told(clusters, *total, "count(1) as clusters")
            counts: dict[str, Any] = told.asDict()
            largest = self._largest(clusters)
            layered = {} if self.run.layers is None else layer_counts(self.run.layers, self.gone)
        return {
            **counts,
            **layered,
            **compared_by(self.decision.work),
            "other_copies": counts["removed"] - counts["exact_copies"] - counts["near_copies"],
            "largest": largest,
            "component": self.decision.component,
            "decisions": self._decided(),
        }

    @cached_property
    def gone(self) -> Any:
        """Who goes, and by which witness: see `inherited`, and for layers `settled`."""
        layers = self.run.layers
        if layers is None:
            return self.decision.gone
        lines = settled(layers, self.run.state, self.decision)
        return self.run.read.verbs.keep(evident(layers, lines, self._far))

    @property
    def _far(self) -> str:
        """Whether a similarity is below the threshold since a chain of others leads there."""
        return f"({self._below})" if self.decision.component else "false"

    def _decided(self) -> dict[str, Any]:
        """What became of what people have decided."""
        state, within = self.run.state, self.run.settings["within"]
        if state.corpus.told is None:
            return {}
        bound = state.step.bound(self.method.least)
        return state.corpus.told.counts(state, self.decision.gone, self.gone, bound, within=within)

    def _largest(self, clusters: Any) -> tuple[tuple[str, int], ...]:
        first = clusters.sort("removed", "witness", ascending=[False, True]).limit(NUM_LARGEST).collect()
        called = self.run.ids([row["witness"] for row in first])
        return tuple((called[row["witness"]], row["removed"] + 1) for row in first)

    @cached_property
    def _each(self) -> Any:
        """A line for each removed document, with names on both sides."""
        lines = self.gone.selectExpr("*", "explode(sequence(1L, times)) as copy").drop("copy", "row", "times")
        lines = self.run.named(self.run.named(lines, "number", ""), "witness", "witness_")
        return lines if self.run.layers is None else self.run.named(lines, "via", "via_")

    @cached_property
    def table(self) -> Any:
        """The removed documents, each with its witness, similarity and cluster (the witness's row)."""
        return self._each.selectExpr(
            "id", "row", "witness_id", "witness_row", "num / den as similarity", f"{self._measure} as measure",
            "witness_row as cluster", *(name for name in OWN if name in self._each.columns),
        )  # fmt: skip

    @cached_property
    def clusters(self) -> Any:
        """Keepers and the documents that they are the witness of."""
        keepers = self._each.selectExpr("witness_id as id", "witness_row as row", "witness_row as cluster").distinct()
        roles = keepers.selectExpr("*", "'keeper' as role", "1.0D as similarity")
        more = [name for name in ("evidence", "same_host") if name in self._each.columns]
        named = ("id", "row", "witness_row as cluster", "'removed' as role", "num / den as similarity", *more)
        return roles.unionByName(self._each.selectExpr(*named), allowMissingColumns=True)

    @cached_property
    def pairs(self) -> Any:
        """Each removed document with its witness, as a pair; a is the one of higher priority."""
        names = self.run.state.step.column_names
        lines = self._each.join(self._beside(), ["number", "witness"], "left") if names else self._each
        ends = ("witness_id as a_id", "witness_row as a_row", "id as b_id", "row as b_row")
        return lines.selectExpr(*ends, "num / den as similarity", f"{self._measure} as measure", *names)

    def _beside(self) -> Any:
        """By document and witness: what the method alone says of them; of equals, that all is shared."""
        state = self.run.state
        best = state.corpus.documents.select("number", "best")
        known = self.decision.gone.select("number", "witness", "num", "den").distinct()
        known = known.join(best.toDF("number", "b"), "number").join(best.toDF("witness", "a"), "witness")
        details = beside(state, known.filter("a <> b").select("a", "b", "num", "den").distinct())
        names = state.step.column_names
        columns = [f"coalesce({name}, 1.0D) as {name}" for name in names]
        told = known.join(details.select("a", "b", *names), ["a", "b"], "left")
        told = told.selectExpr("number", "witness", *columns)
        return told if self.run.layers is None else by_all(state, told, ("number", "witness"))

    @property
    def _measure(self) -> str:
        plain = f"'{self.run.state.method.reports}'"
        plain = f"if({self._far}, 'component', {plain})"
        return plain if self.run.layers is None else f"coalesce(measure, {plain})"

    @property
    def _below(self) -> str:
        """Whether a similarity is below the threshold, in whole numbers that do not overflow."""
        least = fraction_at_least(self.method.least, LARGEST)
        return f"num * {least.denominator}L < den * {least.numerator}L"

    def features(self) -> tuple[Any, dict[str, Any]]:
        """What later runs compare with, of the documents that stay; and what statistics say of it.

        Raises:
            ConfigError: Layers have removed what was not compared, or features depend on all documents.
        """
        corpus = self.run.state.corpus
        told = features_told(self.run.state.method, corpus.judged, layered=self.run.layers is not None)
        return staying(corpus, self.decision.gone), told

    @cached_property
    def _records(self) -> ChosenRecords:
        corpus, gone, number = self.run.corpus, self.decision.gone, self.decision.num_gone
        if self.run.layers is not None:  # of copies of a row all but one may go by a layer, and that one by another
            verbs = self.run.read.verbs
            with described(self.run.session, "statistics"):
                gone, (number,) = verbs.told(verbs.aggregated(self.gone, ["row"], ["sum(times) as times"]), "count(1)")
        return ChosenRecords(corpus.judged, corpus.names, corpus.documents, corpus.counts, gone, number)

    @plainly()
    def examples(self, count: int | None) -> pa.Table:
        """Some of the removals, over the whole range of similarity, with the texts of both sides.

        Raises:
            ConfigError: For all of them.
        """
        if count is None:
            raise ConfigError("examples(None) would bring all texts to the driver", hint="Say how many.")
        with described(self.run.session, "examples"):
            return self._examples(count)

    def _examples(self, count: int) -> pa.Table:
        chosen = chosen_removals(self.gone, self._measure, count)
        columns = [chosen.column(name).to_pylist() for name in ("number", "witness")]
        known = shown(self.run.corpus, [*columns[0], *columns[1]])
        ids = self.run.ids(list(known))
        fields: dict[str, list[Any]] = {"measure": chosen.column("measure").to_pylist()}
        for side, (prefix, numbers) in enumerate(zip(("", "witness_"), columns, strict=True)):
            fields[f"{prefix}id"] = [ids[number] for number in numbers]
            # of rows that are the same, one goes for the first
            sources = [known[number].sources[1 - side] for number in numbers]
            fields[f"{prefix}source"] = pa.array(sources, pa.string())
            fields[f"{prefix}text"] = [known[number].text for number in numbers]
        return pa.table({"similarity": chosen.column("similarity"), **fields})

    @plainly()
    def at(self, method: Method) -> "SparkRemovals":
        """The same at a higher threshold, decided again on the stored keys and features."""
        question = Question.of_run(method, self.run.settings)
        return SparkRemovals(self.run, method, pipeline.decide(self.run.state, question, self.run.clock.unwatched()))
