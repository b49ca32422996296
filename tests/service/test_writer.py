"""The one writer: grouping, order, failures, bounds, the end."""

import asyncio
import threading
import time

import pytest

from nearsame.errors import InterruptedChangeError, StoreBusyError, StoreError
from nearsame.service.changes import Adding, Removing
from nearsame.service.metrics import Metrics
from nearsame.service.problems import HttpProblem
from nearsame.service.writer import GroupWriter

from .fakes import Shelf


def document(number, text=None):
    """One that resembles no other."""
    return {"id": f"d{number}", "text": text or f"only {number} has {number}x {number}y {number}z"}


def run(shelf, work, **settings):
    """Start a writer, do something with it, close it."""

    async def go():
        writer = GroupWriter(
            lambda: shelf.open(read_only=False), Metrics(), **{"most_waiting": 100, "group": 50, **settings}
        )
        writer.start()
        try:
            return await work(writer)
        finally:
            shelf.gate.set()
            await asyncio.to_thread(writer.close, 30)

    return asyncio.run(go())


async def waiting(writer, number):
    """Until so many wait."""
    while len(writer._queue) != number:  # noqa: ASYNC110  (the writer's thread tells nobody what it takes)
        await asyncio.sleep(0.001)


async def submitted(writer, first, *others, seconds=30):
    """One change being written, and the others waiting behind it, the last one for so long."""
    tasks = [asyncio.create_task(writer.submit(first, 30))]
    await asyncio.sleep(0)
    await waiting(writer, 0)
    patience = [*[30] * (len(others) - 1), seconds]
    tasks += [asyncio.create_task(writer.submit(*each)) for each in zip(others, patience, strict=False)]
    await asyncio.sleep(0)  # each has begun, and is in the queue
    return tasks


def test_what_waits_goes_together():
    """While one transaction is written, the next changes gather: one transaction for all of them."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        tasks = await submitted(writer, *(Adding([document(n)]) for n in range(21)))
        shelf.gate.set()
        return await asyncio.gather(*tasks)

    answers = run(shelf, work)
    assert [1, 20] == shelf.transactions
    assert [[f"d{n}"] for n in range(21)] == [[each.id for each in answer] for answer in answers]


def test_a_group_is_bounded_and_of_one_kind_in_order():
    """No transaction has more than `group` documents unless one request has; a removal is not overtaken."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        changes = [
            Adding([document(1), document(2)]), Adding([document(3)]), Removing("d3"), Adding([document(3, "another")]),
            Adding([document(n) for n in range(10, 17)]), Adding([document(20)], if_new=True),
        ]  # fmt: skip
        first, *tasks = await submitted(writer, Adding([document(0)]), *changes)
        shelf.gate.set()
        await first
        return await asyncio.gather(*tasks)

    answers = run(shelf, work, group=4)
    assert [1, 3, 1, 7, 1] == shelf.transactions
    assert answers[2] is True
    assert "added" == answers[3][0].status
    assert "another" == shelf.documents["d3"]["text"]


def test_a_change_that_fails_fails_alone():
    """The others of its group are written."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        changes = [
            Adding([document(0)]),
            Adding([document(1)]),
            Adding([document(2, "will fail")]),
            Adding([document(3)]),
        ]
        tasks = await submitted(writer, *changes)
        shelf.gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = run(shelf, work)
    assert [False, False, True, False] == [isinstance(answer, ValueError) for answer in answers]
    assert {"d0", "d1", "d3"} == set(shelf.documents)


def test_beyond_the_bound_clients_are_sent_away():
    """The queue never grows: 429, and when to come back."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        tasks = await submitted(writer, *(Adding([document(n)]) for n in range(3)))
        with pytest.raises(HttpProblem) as caught:
            await writer.submit(Adding([document(3)]), 30)
        shelf.gate.set()
        await asyncio.gather(*tasks)
        return caught.value

    problem = run(shelf, work, most_waiting=2)
    assert (429, "1") == (problem.status, problem.headers["Retry-After"])
    assert {"d0", "d1", "d2"} == set(shelf.documents)


def test_what_timed_out_while_it_waited_is_not_written():
    """The answer says so, and it is so."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        (first,) = await submitted(writer, Adding([document(0)]))
        with pytest.raises(HttpProblem) as caught:
            await writer.submit(Adding([document(1)]), 0.05)
        shelf.gate.set()
        await first
        return caught.value

    assert 503 == run(shelf, work).status
    assert {"d0"} == set(shelf.documents)


def test_what_timed_out_while_it_was_written_is_answered():
    """Once a transaction has begun, its end is waited for: the answer is never a guess."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        seconds, answer = 0.025, None
        while answer is None or answer.done():  # the writer was late, so it was withdrawn
            seconds *= 2
            answer = asyncio.create_task(writer.submit(Adding([document(0)]), seconds))
            await asyncio.wait({answer}, timeout=2 * seconds)
        shelf.gate.set()
        return await answer

    assert ["d0"] == [each.id for each in run(shelf, work)]


def test_at_the_end_what_was_accepted_is_written():
    """close() returns when the queue is empty and the index closed; then nothing more is taken."""
    shelf = Shelf()

    async def work(writer):
        tasks = [asyncio.create_task(writer.submit(Adding([document(n)]), 30)) for n in range(40)]
        await asyncio.sleep(0)
        await asyncio.to_thread(writer.close, 30)
        answers = await asyncio.gather(*tasks)
        with pytest.raises(HttpProblem) as caught:
            await writer.submit(Adding([document(99)]), 1)
        return answers, caught.value.status

    answers, status = run(shelf, work, group=3)
    assert (40, 503) == (len(answers), status)
    assert {f"d{n}" for n in range(40)} == set(shelf.documents)
    assert 1 == shelf.closed


def test_an_index_that_cannot_be_opened_is_the_callers_error():
    """start() raises it."""

    def opener():
        raise OSError("gone")

    writer = GroupWriter(opener, Metrics(), most_waiting=1, group=1)
    with pytest.raises(OSError, match="gone"):
        writer.start()
    writer.close(30)  # waits for nothing
    assert not [thread for thread in threading.enumerate() if "writer" in thread.name]


def test_a_change_whose_end_nobody_waits_for_is_in_doubt():
    """The service ends while it is written: the client is told so, and not that something unexpected went wrong."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        (task, gone) = await submitted(writer, Adding([document(0)]), Adding([document(1)]))
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        writer.ends = True
        task.cancel()
        with pytest.raises(HttpProblem) as caught:
            await task
        return caught.value

    problem = run(shelf, work)
    assert (503, "interrupted") == (problem.status, problem.code)
    assert {"d0", "d1"} == set(shelf.documents)


def test_a_group_in_doubt_is_not_written_again():
    """It may be there: what is told of a second time would be told of the first."""
    shelf, calls = Shelf(), []

    class Doubtful:
        documents, kind = 1, "doubtful"

        def apply(self, index, changes):
            calls.append(len(changes))
            raise InterruptedChangeError("lost")

    async def work(writer):
        shelf.gate.clear()
        tasks = await submitted(writer, Adding([document(0)]), *(Doubtful() for _ in range(3)))
        shelf.gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    _, *doubtful = run(shelf, work)
    assert [3] == calls
    assert [InterruptedChangeError] * 3 == [type(each) for each in doubtful]


class Tried:
    """A change of which a function says what comes of trying it; how many went together is noted."""

    documents, kind = 1, "tried"

    def __init__(self, calls, outcome):
        self.calls, self.outcome = calls, outcome

    def apply(self, index, changes):
        """What the function gives, for each."""
        self.calls.append(len(changes))
        return [self.outcome(len(self.calls))] * len(changes)


def raising(error, seconds=0.0):
    """An outcome: an error, after a while."""

    def outcome(_):
        time.sleep(seconds)
        raise error

    return outcome


def test_while_others_write_changes_wait_together():
    """None is tried alone, which would make each wait for all before it; what comes meanwhile goes along."""
    shelf, calls = Shelf(), []

    def outcome(number):
        if number <= 7:
            raise StoreBusyError("another process writes")
        return "made"

    answers = behind(shelf, *(Tried(calls, outcome) for _ in range(5)))
    assert ["made"] * 5 == answers
    assert [5] * 8 == calls


def test_a_change_that_waits_for_others_in_vain_is_not_written():
    """Its client is told when its time is over, though it was tried until then."""
    shelf, calls = Shelf(), []
    (answer,) = behind(shelf, Tried(calls, raising(StoreBusyError("another process writes"))), seconds=0.2)
    assert ("timeout", 503) == (answer.code, answer.status)
    assert "was not written" in answer.detail


@pytest.mark.parametrize(
    ("error", "told"),
    [(StoreError("the server does not answer"), "store"), (ValueError("somebody's document is wrong"), "timeout")],
)
def test_what_took_all_of_a_changes_time_is_not_tried_again_for_it(error, told):
    """An index that cannot be reached is asked once for a group; of what another change did wrong nobody else hears."""
    shelf, calls = Shelf(), []
    one, other = behind(shelf, *(Tried(calls, raising(error, 0.5)) for _ in range(2)), seconds=0.4)
    assert error is one
    assert getattr(other, "code", None) in {told, "timeout"}  # where this machine was slow it was withdrawn before
    assert calls in ([2, 1], [1])


def behind(shelf, *changes, **patience):
    """The answers to changes that wait behind one that is being written, the last one for so long."""

    async def work(writer):
        shelf.gate.clear()
        _, *tasks = await submitted(writer, Adding([document(0)]), *changes, **patience)
        shelf.gate.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    return run(shelf, work)


def test_what_was_accepted_is_written_though_nobody_hears_of_it():
    """The service's loop is closed when the index can be written to: the rest is written, and the end is no lie."""
    shelf = Shelf()

    async def work():
        writer = GroupWriter(lambda: shelf.open(read_only=False), Metrics(), most_waiting=100, group=1)
        writer.start()
        shelf.gate.clear()
        for task in await submitted(writer, *(Adding([document(n)]) for n in range(5))):
            task.cancel()
        return writer

    writer = asyncio.run(work())
    shelf.gate.set()
    assert writer.close(30)
    assert {f"d{n}" for n in range(5)} == set(shelf.documents)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_ends_early_has_not_written_all():
    """Whatever ended it; the service then says so by its exit code."""
    shelf = Shelf()

    async def work(writer):
        shelf.gate.clear()
        fatal = Tried([], raising(KeyboardInterrupt()))
        tasks = await submitted(writer, Adding([document(0)]), fatal, Adding([document(1)]))
        shelf.gate.set()
        is_closed = await asyncio.to_thread(writer.close, 30)
        for task in tasks:
            task.cancel()
        return is_closed

    assert not run(shelf, work)
