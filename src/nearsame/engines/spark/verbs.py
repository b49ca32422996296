"""The verbs of a run on Spark: a flow is a DataFrame.

1. What is kept is persisted by Spark and given back with the run; with a work directory, some of it stays there. It
   lies on disks, so that Java's memory is left to what has no other place (docs/decisions/spark-time.md).
2. Nothing of the documents comes to the driver here but what a `fold` leaves, and its size is a setting.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from nearsame import schemas
from nearsame.dataclass import dataclass
from nearsame.engines.spark.beside import FoldedBeside
from nearsame.engines.spark.confs import setting
from nearsame.engines.spark.crossing import frame_of
from nearsame.engines.spark.failures import is_running
from nearsame.engines.spark.folding import fold_frame, num_tasks
from nearsame.engines.spark.mapping import map_batches, map_stages, widened
from nearsame.engines.spark.metering import num_executors, shuffled_bytes
from nearsame.engines.spark.settings import Spark
from nearsame.engines.spark.stored import Stored
from nearsame.named import NamedTuple

__all__ = ["Verbs"]

_ONE_TO_ONE = {"text", "items", "vector"}  # a batch with one of these has a row for each document

_JOINED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"  # is read where a frame is persisted
_COMPRESSED = "spark.sql.inMemoryColumnarStorage.compressed"  # likewise: dictionaries of hashes spare nothing
_RETAINED = "spark.sql.retainGroupColumns"  # is read where rows are grouped
_ADAPTED = "spark.sql.adaptive.enabled"  # is read where a plan is made


class _Mapped(NamedTuple):
    """What a frame was made of by `map`."""

    frame: Any
    stages: tuple[Any, ...]
    carried: tuple[str, ...]


@dataclass
class Verbs:
    """What any flow asks of an engine (engines/base.py), and what DataFrames need besides."""

    engine: Spark
    session: Any
    room: dict[str, Any] = field(default_factory=dict)
    carried: tuple[str, ...] = ()
    stored: Stored | None = None
    _began: int | None = None
    _mapped: WeakKeyDictionary[Any, _Mapped] = field(default_factory=WeakKeyDictionary)
    _kept: list[Any] = field(default_factory=list)
    _made: list[Any] = field(default_factory=list)
    _beside: list[tuple[Any, FoldedBeside]] = field(default_factory=list)

    @property
    def table_bytes(self) -> int:
        """The most that a table which all workers share may take."""
        return self.engine.table_bytes

    def under(self, name: str) -> "Verbs":
        """The same, for a part of a run whose steps have the names that other steps have."""
        return self if self.stored is None else replace(self, stored=self.stored.under(name))

    def map(self, frame: Any, *stages: Any) -> Any:
        """Each batch through stages; what is carried stays beside documents.

        Stages behind stages are mapped with these, so that nothing goes back to Java between them.
        """
        documents = _ONE_TO_ONE & set(stages[-1].output.names)
        carried = tuple(name for name in self.carried if name in frame.columns) if documents else ()
        before = self._mapped.get(frame)
        if before is not None and before.carried == carried:
            frame, stages = before.frame, (*before.stages, *stages)
        known = _columns(frame.columns, carried)
        made = map_stages(frame.select(*known, *carried), stages, carried)
        if documents:
            self._mapped[made] = _Mapped(frame, stages, carried)
        return made

    def fold(self, frame: Any, fold: Any) -> Any:
        """Reduce a frame to one state."""
        return fold_frame(frame.select(*[name for name in frame.columns if name not in self.carried]), fold)

    def kept_beside(self, fold: Any, frame: Any, *stages: Any, step: str = "") -> Any:
        """A frame through stages, kept, and folded on the way to them: `folded` need not read it then.

        With a work directory it is not: tasks that write files tell the driver all that comes with their ends, whose
        size Spark limits.
        """
        if step and self.stored is not None:
            return self.keep(self.map(frame, *stages), step)
        beside = FoldedBeside.of(self.session, fold)
        made = self.keep(self.map(frame, beside, *stages), step)
        self._beside.append((made, beside))
        return made

    def folded(self, frame: Any, fold: Any, num_rows: int) -> Any:
        """A frame of so many rows reduced to one state: on the way to it, if that has seen them all."""
        states = (one.state(num_rows) for made, one in self._beside if made is frame and one.fold == fold)
        known = next(states, None)
        return self.fold(frame, fold) if known is None else known

    def keep(self, frame: Any, step: str = "") -> Any:
        """Compute a frame once, to be read many times; a step that has a name is found again by the same command."""
        from pyspark import StorageLevel

        if any(frame is made for made in self._made):
            return frame
        self._mapped.pop(frame, None)  # what comes behind begins with what is kept; stages may hold large tables
        if step and self.stored is not None:
            self._made.append(self.stored.once(step, frame))
            return self._made[-1]
        session = frame.sparkSession
        with setting(session, {_JOINED: "true", _COMPRESSED: "false"}):  # small partitions may become larger ones
            kept = frame.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        self._made.append(_as_source(kept))
        return self._made[-1]

    def computed(self, frame: Any) -> Any:
        """The same, computed now."""
        return self.told(frame, "count(1)")[0]

    def afresh(self, frame: Any, *sums: str) -> tuple[Any, Any]:
        """The same as `told`, for a loop that makes a frame of the one before."""
        return self.told(self.shuffled(frame), *sums)

    def shuffled(self, frame: Any) -> Any:
        """The same behind a shuffle of its own.

        A task carries what its rows are made of, back to such a shuffle: without one it grows with each turn of a loop,
        until Java's stack is too small to read it. (A local checkpoint would cut that, too, but is gone with its
        executor.)
        """
        by = self.expression(f"xxhash64({frame.columns[0]})")  # by a column itself it may lie already, and stay there
        return frame.repartition(by)

    def once(self, step: str, make: Callable[[], Any]) -> Any:
        """What is made, kept; it is not made where it is found."""
        found = None if self.stored is None else self.stored.found(step)
        return self.keep(make(), step) if found is None else found

    def told(self, frame: Any, *sums: str, step: str = "", shuffles: bool = False) -> tuple[Any, Any]:
        """The same, computed by the query that is asked for sums over it anyway: (the frame, the row of the sums).

        What `shuffles` for its sums is adapted: else it has as many tasks as the session has partitions of shuffles.
        """
        kept = self.keep(frame, step)
        asked = kept.selectExpr(*sums)
        return kept, (asked if shuffles else _planned(asked)).collect()[0]

    def shuffled_bytes(self) -> int:
        """What all shuffles of the session have written so far."""
        return shuffled_bytes(self.session)

    def tell_shuffled(self) -> None:
        """Note in the room what shuffles have written since this was first asked."""
        now = self.shuffled_bytes()
        if self._began is None:
            self._began = now
        self.room.setdefault("shuffle", {})["written_bytes"] = now - self._began

    def num_copies(self) -> int:
        """How often an array that is folded and broadcast travels: from each task that folds, and to each executor."""
        return num_tasks(self.session) + num_executors(self.session)

    def tables(self, frame: Any) -> list[pa.RecordBatch]:
        """All rows of a frame that is known to be small, with long offsets."""
        return [widened(batch) for batch in frame.toArrow().combine_chunks().to_batches()]

    def frame(self, table: pa.Table) -> Any:
        """A small table as a frame."""
        return frame_of(self.session, table)

    @staticmethod
    def expression(text: str) -> Any:
        """A column in SQL."""
        from pyspark.sql import functions

        return functions.expr(text)

    def frame_of_numbers(self) -> Any:
        """A frame of no numbers."""
        return self.session.range(0).selectExpr("id as number")

    def release(self) -> None:
        """Give back what was kept; with a session that was stopped it is gone."""
        if is_running(self.session):
            for frame in self._kept:
                frame.unpersist()
        for _, beside in self._beside:
            beside.forget()
        for held in (self._kept, self._made, self._beside):
            held.clear()

    @staticmethod
    def aggregated(frame: Any, by: Sequence[str], expressions: Sequence[str]) -> Any:
        """Grouped, by expressions in SQL, behind the columns that it is grouped by."""
        from pyspark.sql import functions

        with setting(frame.sparkSession, {_RETAINED: "true"}):
            return frame.groupBy(*by).agg(*map(functions.expr, expressions))

    @staticmethod
    def map_batches(frame: Any, work: Any, schema: pa.Schema | str) -> Any:
        """The work's output over each partition."""
        return map_batches(frame, work, schema)


def _planned(frame: Any) -> Any:
    """A frame over what is kept, planned as a whole: a plan that is adapted has a job for each of its stages."""
    with setting(frame.sparkSession, {_ADAPTED: "false"}):
        frame._jdf.queryExecution().executedPlan()  # noqa: SLF001  (no public word for a plan)
    return frame


def _as_source(frame: Any) -> Any:
    """The same rows under a plan of one node, so that planning what comes after does not begin with all before.

    The lineage stays: a lost partition is computed again. (A checkpoint would cut that, too, or need a shared disk.)
    """
    session, plan = frame.sparkSession, _planned(frame)._jdf  # noqa: SLF001  (likewise)
    rows = plan.queryExecution().toRdd()
    made = session._jsparkSession.internalCreateDataFrame(rows, plan.schema(), False)  # noqa: SLF001  (likewise)
    return type(frame)(made, session)


def _columns(names: Sequence[str], carried: Sequence[str]) -> list[str]:
    """What stages see of a frame, in the order of the schemas."""
    order = [*schemas.LETTERED.names, *schemas.WEIGHTED.names, "text", "vector", "counts"]
    return [name for name in dict.fromkeys(order) if name in names and name not in carried]
