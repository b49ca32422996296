"""Batches shared out: worker processes stand in for threads, and change nothing but time."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from nearsame.engines import sharing
from nearsame.engines.local import Local
from nearsame.engines.sharing import Sharing
from tests.engines import work
from tests.patience import eventually

SCHEMA = pa.schema([("number", pa.int64()), ("worker", pa.int64())])


@dataclass(frozen=True)
class Doubled:
    """A stage that tells in which process each row was done."""

    work: Callable[..., Any] = work.doubled
    holds_lock: bool = True
    output = SCHEMA

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Twice each number."""
        return self.result(batch, [self.work(*task) for task in self.tasks(batch)])

    def tasks(self, batch: pa.RecordBatch) -> Iterator[tuple[int, int]]:
        """The numbers, and who asks."""
        return ((number, os.getpid()) for number in batch.column(0).to_pylist())

    def result(self, batch: pa.RecordBatch, answers: Iterable[tuple[int, int]]) -> pa.RecordBatch:
        """As a batch."""
        numbers, workers = zip(*answers, strict=True)
        return pa.RecordBatch.from_pydict({"number": numbers, "worker": workers}, schema=SCHEMA)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever there is to do is shared out, two rows at a time."""
    monkeypatch.setattr(sharing, "STARTING_BYTES", 0)
    monkeypatch.setattr(sharing, "_MOST_TASKS", 2)


def _batch(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"number": list(numbers)})


def _by(batch: pa.RecordBatch) -> set[int]:
    """The processes that have done it."""
    return set(batch.column("worker").to_pylist())


def test_workers_do_what_the_stage_does_in_its_order() -> None:
    """In other processes, with the same result."""
    with Sharing(2) as share:
        doubled = share(Doubled(), _batch(*range(101)))
    assert [2 * number for number in range(101)] == doubled.column("number").to_pylist()
    assert os.getpid() not in _by(doubled)


def test_at_most_so_many_workers_are_used_at_once() -> None:
    """However many are there."""
    with Sharing(4) as share:
        share(Doubled(), _batch(*range(100)))
    with Sharing(2) as share:
        assert len(_by(share(Doubled(), _batch(*range(100))))) <= 2


def test_what_the_work_raises_is_raised_where_it_was_asked_for() -> None:
    """With its message; the worker goes on."""
    with Sharing(2) as share:
        before = _by(share(Doubled(), _batch(1)))
        with pytest.raises(ValueError, match="-5 is negative"):
            share(Doubled(), _batch(1, 2, 3, -5, 4))
        assert before & _by(share(Doubled(), _batch(*range(50))))


def test_workers_are_kept_for_the_next_run() -> None:
    """The next engine of this process has the same ones."""
    with Sharing(2) as share:
        first = _by(share(Doubled(), _batch(1)))
    with Sharing(2) as share:
        assert first == _by(share(Doubled(), _batch(1)))


@pytest.mark.parametrize(
    ("threads", "stage", "starting"),
    [(2, Doubled(), 1 << 20), (1, Doubled(), 0), (2, Doubled(holds_lock=False), 0)],
    ids=["little", "one-thread", "without-the-lock"],
)
def test_what_does_not_pay_is_done_here(
    threads: int, stage: Doubled, starting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little to do, a single thread, or work beside which threads can run."""
    monkeypatch.setattr(sharing, "STARTING_BYTES", starting)
    with Sharing(threads) as share:
        assert {os.getpid()} == _by(share(stage, _batch(1, 2, 3)))


def test_what_comes_in_small_batches_is_shared_out_once_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted together."""
    monkeypatch.setattr(sharing, "STARTING_BYTES", 100)
    with Sharing(2) as share:
        places = [_by(share(Doubled(), _batch(number))) == {os.getpid()} for number in range(40)]
    assert (True, False) == (places[0], places[-1])
    assert places == sorted(places, reverse=True)


def test_what_a_worker_died_of_is_done_here() -> None:
    """And no row is lost, or comes twice; whoever comes next has a worker again."""
    with Sharing(2) as share:
        doubled = share(Doubled(work.deadly), _batch(*range(1, 50)))
        assert [2 * number for number in range(1, 50)] == doubled.column("number").to_pylist()
        assert {os.getpid()} < _by(doubled)
        assert os.getpid() not in _by(share(Doubled(), _batch(1)))


def test_a_worker_that_died_between_two_batches_is_replaced() -> None:
    """Or its work is done here; either way the answer is there."""
    with Sharing(2) as share:
        (worker,) = _by(share(Doubled(), _batch(1)))
        os.kill(worker, signal.SIGKILL)
        assert [14] == share(Doubled(), _batch(7)).column("number").to_pylist()
        assert worker not in _by(share(Doubled(), _batch(1)))


def test_what_is_under_way_is_given_up_when_a_run_ends_early() -> None:
    """Its worker is ended, and who waits for it is told."""
    share, ends = Sharing(2), []

    def ask() -> None:
        try:
            share(Doubled(work.endless), _batch(1, 2, 3, 4, 5))
        except CancelledError:
            ends.append("cancelled")

    asking = threading.Thread(target=ask)
    asking.start()
    busy = eventually(lambda: [process.pid for process in list(share._busy)])
    share.close()
    asking.join()
    assert ["cancelled"] == ends
    for worker in busy:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def test_who_asks_when_the_run_has_ended_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in the midst of a batch: the next share has nobody to go to."""
    monkeypatch.setattr(sharing, "_MOST_TASKS", 1)
    share = Sharing(2)

    def numbers() -> Iterator[tuple[int, int]]:
        yield 1, os.getpid()
        share.close()
        yield 2, os.getpid()

    stage = Doubled()
    monkeypatch.setattr(Doubled, "tasks", lambda *_: numbers())
    for _ in range(2):  # it ends in the midst, then it has ended
        with pytest.raises(CancelledError):
            share(stage, _batch(1, 2))


def test_an_engine_with_workers_gives_its_batches_in_order() -> None:
    """Whoever computes them; its end is not the end of the workers."""
    engine = Local(2)
    batches = list(engine.read(engine.map(engine.load(_batch(n, n + 1) for n in range(0, 600, 2)), Doubled())))
    engine.close()
    assert [2 * n for n in range(600)] == [number for batch in batches for number in batch.column(0).to_pylist()]
    with Sharing(2) as share:
        assert _by(share(Doubled(), _batch(1))) <= set().union(*map(_by, batches))
