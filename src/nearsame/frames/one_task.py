"""Deciding where all that is left fits one machine: the driver, or one task whose arrays go to its disk.

1. Rules and grouping are those of the local engine, so the answer is.
2. Documents come by number (their place in the order of priority) and are numbered without gaps on the way.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.stats import Component
from nearsame.dataclass import dataclass
from nearsame.engines.local import Local
from nearsame.engines.space import least_memory, num_bytes
from nearsame.flow.corpus import Question
from nearsame.flow.steps import Steps, steps
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import Work
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.apart import Apart
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.pairs.join import JoinedPairs

__all__ = ["DECISIONS", "NumberedQuestion", "here", "in_one_task", "told"]

# A decision: document `a` goes, `b` is its witness; of pairs, a < b. The last row says what it took: a = -1.
DECISIONS = pa.schema(
    [("a", pa.int64()), ("b", pa.int64()), ("num", pa.int64()), ("den", pa.int64()), ("note", pa.string())]
)


@dataclass(frozen=True)
class NumberedQuestion:
    """A question about documents that are called by number.

    Attributes:
        question: what is asked.
        method: the recipe.
        num_against: documents with a number below it are the `against` side.
        apart: pairs that were told apart.
    """

    question: Question
    method: Method
    num_against: int = 0
    apart: Apart | None = None

    @property
    def step(self) -> Steps:
        """What stands at each arrow."""
        return steps(self.method)


class _Gathered:
    """Lists and entries of documents, shelved as they come."""

    def __init__(self, engine: Local, columns: Sequence[str]) -> None:
        self.engine, self.columns = engine, columns
        self.lists, self.entries = engine.space.shelf(), engine.space.shelf()
        self._numbers: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self._weights: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]

    def add_lists(self, batch: pa.RecordBatch) -> None:
        """Add what is compared: number, items (and confirming), stands_for; by ascending number."""
        if len(batch):
            self._numbers.append(arrow.ints(batch.column("number")).copy())
            self._weights.append(arrow.ints(batch.column("stands_for")).copy())
            self.lists.put(batch.select(["number", *self.columns]))

    def add_entries(self, batch: pa.RecordBatch) -> None:
        """Add entries: key, number, place."""
        if len(batch):
            self.entries.put(batch.select(["key", "number", "place"]))

    def answers(self, asked: NumberedQuestion) -> Iterator[pa.RecordBatch]:
        """Batches of pairs, or of removed documents with their witnesses; the last one says what it took."""
        numbers, weights = np.concatenate(self._numbers), np.concatenate(self._weights)
        meeting = self._meeting(numbers)
        protected = int(np.searchsorted(numbers, asked.num_against))
        apart = None if asked.apart is None else asked.apart.at(numbers)
        rule = asked.question.rule(asked.step, protected, weights, apart=apart)
        if asked.question.kind == "pairs":
            yield from _listed(self.engine.join(meeting, rule), numbers)
            return
        yield from _decided(self.engine.decide(meeting, rule), numbers)

    def _meeting(self, numbers: npt.NDArray[np.int64]) -> Meeting:
        keys = self.engine.load(_Renumbered(self.entries.close(), numbers, _as_keys))
        lists = self.engine.load(_Renumbered(self.lists.close(), numbers, _as_lists))
        meeting: Meeting = self.engine.meet(keys, lists, np.arange(numbers.size), self.columns)
        return Meeting.of(meeting.flat())


@dataclass(frozen=True)
class _Renumbered:
    """Batches whose documents are called by their places in `numbers`."""

    batches: Any
    numbers: npt.NDArray[np.int64]
    change: Any

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.batches:
            yield self.change(batch, np.searchsorted(self.numbers, arrow.ints(batch.column("number"))))


def _as_keys(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    probes = pa.array(np.ones(len(batch), np.uint8))  # what has none is gone
    columns = [batch.column("key"), pa.array(rows), batch.column("place"), probes]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.KEYS)


def _as_lists(batch: pa.RecordBatch, rows: npt.NDArray[np.int64]) -> pa.RecordBatch:
    names = batch.schema.names[1:]
    return pa.RecordBatch.from_arrays([pa.array(rows), *map(batch.column, names)], names=["row", *names])


def _listed(parts: Iterator[JoinedPairs], numbers: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    work = []
    for pairs in parts:
        work.append(pairs.work)
        yield _batch(numbers[pairs.a], numbers[pairs.b], pairs.nums, pairs.dens)
    yield _told(Work.total(work))


def _decided(decided: Decided, numbers: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    yield _batch(numbers[decided.rows], numbers[decided.witnesses], decided.nums, decided.dens)
    yield _told(decided.work, decided.component)


def _batch(*columns: npt.NDArray[np.int64]) -> pa.RecordBatch:
    size = columns[0].size
    return pa.RecordBatch.from_arrays([*map(pa.array, columns), pa.nulls(size, pa.string())], schema=DECISIONS)


def _told(work: Work, component: Component | None = None) -> pa.RecordBatch:
    """What it took, and what there is to say of the largest component."""
    note = json.dumps({"work": work, "component": None if component is None else asdict(component)})
    return pa.RecordBatch.from_pylist([{"a": -1, "b": 0, "num": 0, "den": 1, "note": note}], schema=DECISIONS)


def told(note: str) -> tuple[Work, Component | None]:
    """What a note tells: what it took, and the largest component."""
    fields = json.loads(note)
    component = fields["component"]
    return Work(*fields["work"]), None if component is None else Component(**component)


def here(asked: NumberedQuestion, lists: list[pa.RecordBatch], entries: list[pa.RecordBatch]) -> pa.Table:
    """The decisions, made on the driver."""
    engine = Local()
    try:
        gathered = _Gathered(engine, asked.step.compared)
        for batch in lists:
            gathered.add_lists(batch)
        for batch in entries:
            gathered.add_entries(batch)
        return pa.Table.from_batches(list(gathered.answers(asked)), DECISIONS)
    finally:
        engine.close()


@dataclass(frozen=True)
class _Task:
    """The same over the batches of one partition, that hold both."""

    asked: NumberedQuestion
    memory: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = Local(1, self.memory, local_folder())
        try:
            gathered = _Gathered(engine, self.asked.step.compared)
            for batch in batches:
                is_entry = batch.column("key").is_valid()
                gathered.add_entries(batch.filter(is_entry))
                gathered.add_lists(batch.filter(_inverted(is_entry)))
            yield from gathered.answers(self.asked)
        finally:
            engine.close()


def _inverted(mask: pa.Array) -> pa.Array:
    return pa.array(~mask.to_numpy(zero_copy_only=False))


def task_memory(task_bytes: int) -> int:
    """What deciding in one task may hold in memory: what a task may, and no less than it needs to begin with.

    >>> [task_memory(size << 20) >> 20 for size in (0, 2048)]
    [498, 2048]
    """
    return max(task_bytes, least_memory(1))


def local_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where Spark has its workers put what does not fit; None where it names no folder that is there."""
    named = environment.get("SPARK_LOCAL_DIRS") or environment.get("LOCAL_DIRS") or ""
    folders = (Path(name) for name in named.split(",") if name)
    return next((folder for folder in folders if folder.is_dir()), None)


def in_one_task(asked: NumberedQuestion, lists: Any, entries: Any, verbs: Any) -> Any:
    """The decisions, as a frame: made by one task."""
    compared = asked.step.compared
    nothing = (f"cast(array() as array<bigint>) as {name}" for name in compared)
    both = lists.selectExpr(
        "number", *compared, "stands_for", "cast(null as bigint) as key", "cast(null as int) as place"
    )
    others = entries.selectExpr("number", *nothing, "1L as stands_for", "key", "place")
    mixed = both.union(others).repartition(1).sortWithinPartitions("number")
    memory = task_memory(num_bytes(verbs.engine.task_bytes))
    return verbs.map_batches(mixed, _Task(asked, memory), DECISIONS)
