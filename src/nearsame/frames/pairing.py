"""All similar pairs as a DataFrame: what `pairs` answers on Spark."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from nearsame.arguments import checked
from nearsame.engines.spark.failures import plainly
from nearsame.frames.answers import SparkRun
from nearsame.frames.auditing import audit_pairs
from nearsame.frames.deciding import Decision, similar
from nearsame.frames.few import Question
from nearsame.frames.listing import listed, require_few
from nearsame.frames.writing import DONE, format_of, write_frame
from nearsame.methods import Method
from nearsame.results import Audit, Stats

__all__ = ["SparkPairs", "all_pairs"]


@checked
@dataclass(frozen=True, eq=False)
class SparkPairs:
    """All similar pairs, as a DataFrame."""

    run: SparkRun
    method: Method
    _decision: Decision
    _listed: Any  # a, b, similarity, and what the method says beside
    audit: Audit | None = None

    @plainly()
    def audited(self) -> "SparkPairs":
        """The same, with its recall, measured on a sample."""
        if not self.run.frames.counts["documents"]:
            return self
        with self.run.clock("audit"):
            found = audit_pairs(self.run.frames, self._decision, self.method.least)
        return replace(self, audit=found)

    def __repr__(self) -> str:
        return f"SparkPairs(method={self.method.name}, threshold={float(self.method.least):g})"

    @cached_property
    def table(self) -> Any:
        """The ids and rows of both documents, the similarity and the measure; a is the first by priority."""
        frame = self.run.named(self.run.named(self._listed, "a", "a_"), "b", "b_")
        beside = self.run.frames.step.column_names
        measure = f"'{self.run.frames.method.reports}' as measure"
        return frame.selectExpr("a_id", "a_row", "b_id", "b_row", "similarity", measure, *beside)

    @property
    def pairs(self) -> Any:
        """The same as `table`."""
        return self.table

    @cached_property
    @plainly()
    def num_pairs(self) -> int:
        """How many there are."""
        return int(self._listed.count())

    @property
    def skipped(self) -> pa.Table:
        """The files of which something could not be read, and what; Spark does not tell the places of records."""
        return self.run.skipped

    @property
    def num_ignored(self) -> int:
        """How many files of folders and patterns are of no known format."""
        return self.run.ignored

    @plainly()
    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the table as a folder of .parquet, .jsonl or .csv parts, by the ending of its name.

        Raises:
            OutputError: The folder cannot be written, or would lie in a source or over one.
        """
        format_of(path)
        self.run.check_target(path, DONE, overwrite=overwrite)
        write_frame(self.run.session, path, self.table)

    @property
    def stats(self) -> Stats:
        """Counts at every arrow of the flow, seconds, the recipe."""
        measured = None if self.audit is None else self.audit.record()
        return replace(self.run.stats, compared=self._decision.num_compared, audit=measured)

    def release(self) -> None:
        """Give back what Spark keeps for further questions."""
        self.run.release()


def all_pairs(run: SparkRun, method: Method, most: int, *, star: bool, fewer: list[str]) -> SparkPairs:
    """All similar pairs of documents."""
    require_few(run.frames, Question(method, method.least, "pairs"), most, star=star, fewer=fewer)
    decision = similar(run.frames, method.least)
    found = listed(run.frames, decision.found, most, star=star, fewer=fewer)
    return SparkPairs(run, method, decision, run.frames.verbs.keep(found))
