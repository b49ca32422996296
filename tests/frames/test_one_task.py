"""Deciding in one task: what it may hold, and where the rest goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.engines.local import Local
from nearsame.flow.corpus import Question
from nearsame.frames import one_task

_EMPTY = pa.array([], pa.large_list(pa.int64()))


class Seen(Exception):  # noqa: N818  (no error: what was to be seen)
    """What a local engine was given."""


@pytest.mark.parametrize("variable", ["SPARK_LOCAL_DIRS", "LOCAL_DIRS"])
def test_the_first_folder_of_spark_that_is_there_is_taken(tmp_path: Path, variable: str) -> None:
    """As Spark names them to its workers, or YARN to its containers."""
    there, other = tmp_path / "a", tmp_path / "b"
    there.mkdir()
    other.mkdir()
    assert there == one_task.local_folder({variable: f"{tmp_path / 'gone'},{there},{other}"})
    assert one_task.local_folder({variable: str(tmp_path / "gone")}) is None
    assert one_task.local_folder({}) is None


def test_a_task_does_not_ask_how_much_the_machine_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its engine has one thread, the memory that a task may take, and the folder of Spark."""

    def engine(*given: Any) -> Local:
        raise Seen(*given)

    monkeypatch.setattr(one_task, "Local", engine)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    question = one_task.NumberedQuestion(Question(ns.Jaccard().least), ns.Jaccard())
    with pytest.raises(Seen) as seen:
        list(one_task._Task(question, one_task.task_memory(3 << 30))(iter([])))
    assert (1, 3 << 30, tmp_path) == seen.value.args


def test_the_least_memory_is_enough_to_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a task_bytes of nothing all that is held goes to the folder, which is left empty."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    items = [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [7, 8, 9]]
    question = one_task.NumberedQuestion(Question(ns.Jaccard().least), ns.Jaccard())

    def batches() -> Iterator[pa.RecordBatch]:
        for number, each in enumerate(items):
            yield _mixed(number, each, None)
            yield _mixed(number, [], each[0])

    found = pa.Table.from_batches(
        list(one_task._Task(question, one_task.task_memory(0))(batches())), one_task.DECISIONS
    )
    assert [(1, 0)] == [(row["a"], row["b"]) for row in found.to_pylist() if row["a"] >= 0]
    assert [] == list(tmp_path.iterdir())


def _mixed(number: int, items: list[int], key: int | None) -> pa.RecordBatch:
    """One row as a task gets it."""
    columns = [
        pa.array([number]), pa.array([items], _EMPTY.type), pa.array(np.ones(1, np.int64)),
        pa.array([key], pa.int64()), pa.array([None if key is None else 0], pa.int32()),
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, names=["number", "items", "stands_for", "key", "place"])
