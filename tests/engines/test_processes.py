"""Workers: processes that stand in for threads, and change nothing but time."""

import os
import signal
import time
from dataclasses import dataclass

import pyarrow as pa
import pytest

from nearsame.engines.local import Local
from nearsame.engines.processes import StageProcesses
from tests.patience import eventually

SCHEMA = pa.schema([("number", pa.int64()), ("worker", pa.int64())])


@dataclass(frozen=True)
class Doubled:
    """A stage that tells in which process it ran."""

    output = SCHEMA
    holds_lock = True

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Twice each number; a negative one is refused."""
        numbers = batch.column(0).to_pylist()
        if min(numbers) < 0:
            raise ValueError(f"{min(numbers)} is negative")
        return pa.RecordBatch.from_pydict(
            {"number": [2 * n for n in numbers], "worker": [os.getpid()] * len(numbers)}, schema=SCHEMA
        )


def _batch(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"number": list(numbers)})


def _elsewhere(workers: StageProcesses) -> int:
    """The process of a worker, once one is ready."""
    return int(eventually(lambda: {int(workers(_batch(1)).column("worker")[0].as_py())} - {os.getpid()}).pop())


def test_a_helper_computes_what_the_stage_computes() -> None:
    """In another process, with the same result."""
    workers = StageProcesses(Doubled(), 1, starting_bytes=0)
    try:
        assert _elsewhere(workers) != os.getpid()
        assert [6, 8] == workers(_batch(3, 4)).column("number").to_pylist()
    finally:
        workers.close()


def test_what_a_stage_raises_is_raised_by_its_helper() -> None:
    """With its message; the worker goes on."""
    workers = StageProcesses(Doubled(), 1, starting_bytes=0)
    try:
        worker = _elsewhere(workers)
        with pytest.raises(ValueError, match="-5 is negative"):
            workers(_batch(-5))
        assert worker == _elsewhere(workers)
    finally:
        workers.close()


def test_without_much_to_do_no_process_is_started() -> None:
    """Small inputs are computed where they are."""
    workers = StageProcesses(Doubled(), 2)
    assert os.getpid() == workers(_batch(1)).column("worker")[0].as_py()
    assert [] == workers._all


def test_a_helper_that_dies_is_done_without() -> None:
    """Its batch is computed here."""
    workers = StageProcesses(Doubled(), 1, starting_bytes=0)
    try:
        os.kill(_elsewhere(workers), signal.SIGKILL)
        time.sleep(0.1)
        found = workers(_batch(7))
        assert [(14, os.getpid())] == [tuple(row.values()) for row in found.to_pylist()]
    finally:
        workers.close()


def test_helpers_end_when_they_are_closed() -> None:
    """No process stays behind."""
    workers = StageProcesses(Doubled(), 2, starting_bytes=0)
    worker = _elsewhere(workers)
    workers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_an_engine_with_helpers_gives_its_batches_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever computes them."""
    monkeypatch.setattr("nearsame.engines.processes.STARTING_BYTES", 0)
    engine = Local(2)
    numbers = [
        row["number"]
        for batch in engine.read(engine.map(engine.load(_batch(n) for n in range(300)), Doubled()))
        for row in batch.to_pylist()
    ]
    assert [2 * n for n in range(300)] == numbers
    assert {} == engine._workers
    engine.close()
