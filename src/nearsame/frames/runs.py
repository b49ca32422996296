"""What all answers of one run on Spark share: what was read, what is known of it, and what it is called."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame._version import __version__
from nearsame.answers.stats import Stats, compared_by
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.metering import described
from nearsame.engines.spark.plans import roots
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import ConfigError
from nearsame.files.passed_over import PassedOver
from nearsame.flow.corpus import State
from nearsame.flow.page_reading import reading_settings
from nearsame.frames.corpus import Frames
from nearsame.frames.documents import FrameSide
from nearsame.frames.layers import FrameLayers
from nearsame.frames.pages import page_counts
from nearsame.frames.writing import MADE, check_target, format_of, write_frame
from nearsame.installation import versions
from nearsame.named import NamedTuple
from nearsame.outputs.tables import skipped_table
from nearsame.recipes.arguments import refuse_on_spark

__all__ = ["PACKAGES", "FrameReading", "FrameRun", "ListedFrame", "SparkRun"]

PACKAGES = ("numba", "numpy", "pyarrow", "pyspark", "xxhash")


class ListedFrame(NamedTuple):
    """Pairs of documents: a, b, similarity, and what the method says besides.

    Attributes:
        frame: the pairs.
        num_pairs: how many there are.
        work: on the way, as far as it is counted.
    """

    frame: Any
    num_pairs: int
    work: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class FrameReading:
    """What was read of DataFrames.

    Attributes:
        sides: the documents.
        verbs: of the session.
        sources: what of them is paths.
        unread: of which file how many records could not be read, and why.
        num_ignored: files of no known format.
        notes: what one must know of what was read.
        call: what was asked, so that it can be asked again.
        remembered: features of documents of the `against` side that an earlier run has made, where there are some.
        few_pages: what tasks counted of pages whose texts came to the driver.
    """

    sides: tuple[FrameSide, ...]
    verbs: Verbs
    sources: tuple[str, ...] = ()
    unread: tuple[tuple[str, int, str], ...] = ()
    num_ignored: int = 0
    notes: tuple[str, ...] = ()
    call: Mapping[str, Any] = field(default_factory=dict)
    remembered: Any = None
    few_pages: Mapping[str, int] = field(default_factory=dict)

    @property
    def aside(self) -> Counter[str]:
        """What archives hold besides documents."""
        return sum((part.aside for side in self.sides for part in side.parts), Counter())

    @property
    def of_archives(self) -> bool:
        """Whether what is judged are records of web archives."""
        return self.sides[-1].parts[0].is_archive

    @property
    def num_unread(self) -> int:
        """How many records could not be read."""
        return sum(number for _, number, _ in self.unread)


@dataclass(frozen=True, eq=False)
class FrameRun:
    """What all results of one run share, whoever did the work."""

    read: FrameReading
    clock: Clock

    @property
    def passed_over(self) -> PassedOver:
        """The files of no known format, which Spark's reader does not tell apart."""
        return PassedOver(Counter({"of no known format": self.read.num_ignored}))

    @property
    def num_ignored(self) -> int:
        """How many these are."""
        return self.read.num_ignored

    @property
    def stats(self) -> Stats:
        """What is known before anything is decided."""
        raise NotImplementedError

    @property
    def session(self) -> Any:
        """The session that runs the work."""
        return self.read.verbs.session

    @property
    def seconds(self) -> dict[str, float]:
        """Of each step so far."""
        return {step: round(seconds, 4) for step, seconds in self.clock.seconds.items()}

    @property
    def skipped(self) -> pa.Table:
        """SKIPPED: a row for each file of which something could not be read."""
        return skipped_table([(name, None, None, why) for name, _, why in self.read.unread])

    @plainly()
    def write_table(self, table: Any, path: str | Path, *, overwrite: bool, spreadsheet: bool) -> None:
        """Write a table as a folder of .parquet, .jsonl or .csv parts, by the ending of its name.

        Raises:
            OutputError: The folder cannot be written, or would lie in a source or over one.
        """
        refuse_on_spark(spreadsheet=spreadsheet or None)
        format_of(path)
        self.check_target(path, MADE, overwrite=overwrite)
        with described(self.session, "writing"):
            write_frame(self.session, path, table, {"call": self.read.call, "recipe": self.stats.recipe})

    def check_target(self, target: str | Path, mark: str, *, overwrite: bool) -> list[str]:
        """See that a folder may be written; what to say of leftovers beside it.

        Raises:
            OutputError: It may not: it is there, or would lie in what was read, or over it.
        """
        read = [root for side in self.read.sides for part in side.parts for root in roots(part.frame)]
        notes = check_target(self.session, target, self.read.sources, mark, overwrite=overwrite, roots=read)
        for note in notes:
            self.clock.progress.note(note)
        return notes

    def release(self) -> None:
        """Give back what Spark keeps for further questions."""
        self.read.verbs.release()


@dataclass(frozen=True, eq=False)
class SparkRun(FrameRun):
    """What all results of one run by the cluster share."""

    state: State[Frames]
    settings: dict[str, Any]
    layers: FrameLayers | None = None

    @cached_property
    def corpus(self) -> Frames:
        """What is known of all documents, those included that layers before the method have removed."""
        return self.state.corpus if self.layers is None else self.layers.corpus

    @cached_property
    def names(self) -> Any:
        """What documents are called: number, id, row."""
        return self.corpus.documents.selectExpr("number", "coalesce(id, cast(row as string)) as id", "row")

    def ids(self, numbers: list[int]) -> dict[int, str]:
        """What a few documents are called, by their numbers."""
        names = self.names.filter(self.names["number"].isin(numbers)).select("number", "id").toArrow()
        return dict(zip(*(column.to_pylist() for column in names.columns), strict=True))

    def named(self, frame: Any, number: str, prefix: str) -> Any:
        """A frame with the id and row of the documents whose numbers stand in a column; of null, null."""
        names = self.names.selectExpr(f"number as {number}", f"id as {prefix}id", f"row as {prefix}row")
        return frame.join(names, number, "left" if number == "via" else "inner")

    @property
    def stats(self) -> Stats:
        """What is known before anything is decided."""
        state, corpus = self.state, self.corpus
        counts, compared, judged = corpus.counts, state.corpus.counts, corpus.judged
        return Stats(
            documents=counts["documents"],
            skipped=self.read.num_unread,
            against=counts["against"],
            text_bytes=counts["text_bytes"],
            empty=counts["empty"],
            bare=compared["bare"] - state.dropped.documents,
            dropped_shingles=state.dropped.shingles,
            dropped_occurrences=state.dropped.occurrences,
            emptied=state.dropped.documents,
            repeated_ids=counts["ids"] - counts["different_ids"],
            distinct=compared["distinct"],
            features=compared["features"],
            keys=state.met.num_keys,
            meeting=0 if state.meeting is None else state.meeting.num_documents,
            measure=state.method.reports,
            least=float(state.method.least),
            pages=page_counts(corpus.counts, self.read.aside) if judged.of_pages or self.read.of_archives else {},
            notes=(*state.step.notes, *corpus.notes, *state.met.notes, *self.read.notes),
            seconds=self.seconds,
            room=corpus.engine.room,
            recipe={
                **state.method.record(),
                **self.settings,
                **reading_settings(judged.columns, pages=judged.of_pages),
            },
            versions={"nearsame": __version__, **versions(PACKAGES)},
        )

    def pairs_table(self, pairs: "ListedFrame") -> Any:
        """The ids and rows of both documents, the similarity and the measure; a is the first by priority."""
        frame = self.named(self.named(pairs.frame, "a", "a_"), "b", "b_")
        measure = f"'{self.state.method.reports}' as measure"
        return frame.selectExpr("a_id", "a_row", "b_id", "b_row", "similarity", measure, *self.state.step.column_names)

    @staticmethod
    def pairs_with_texts(*_: Any) -> pa.Table:
        """Nothing: a cluster's texts are where they were.

        Raises:
            ConfigError: Always.
        """
        raise ConfigError(
            "examples of pairs are read on one machine", hint="Join the table with the texts by their ids."
        )

    @staticmethod
    def pairs_counts(pairs: "ListedFrame") -> dict[str, Any]:
        """What statistics say of pairs besides what is known."""
        return compared_by(pairs.work)
