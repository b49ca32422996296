"""Several processes on one index: what is nearly the same goes in once, readers wait for nobody, writers take turns."""

import pytest

from nearsame.errors import StoreError
from nearsame.index.index import Index
from tests import clients
from tests.clients import CONTEXT
from tests.patience import PATIENCE


@pytest.fixture
def started():
    """What starts a client; at the end none is left."""
    running = []

    def start(function, *arguments):
        process = CONTEXT.Process(target=function, args=arguments)
        process.start()
        running.append(process)
        return process

    yield start
    for process in running:
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()


def make(place):
    """A new index."""
    with Index.create(place) as index:
        index.add(clients.document(5000, 0))


def check_families(place, families, reports):
    """Of each family one document is there, one client was told so, the others were told what they resemble."""
    with Index.open(place, read_only=True) as index:
        assert [] == index.check()
        stored = sorted(id_ for id_ in index.ids() if not id_.startswith("5000-"))
    of = {}
    for found in reports.values():
        for each in found:
            of.setdefault(int(each["id"].split("-")[0]), []).append(each)
    assert sorted(of) == list(range(families))
    for family, each in of.items():
        inside = [one for one in each if one["added"]]
        assert 1 == len(inside), family
        assert [inside[0]["id"]] == [id_ for id_ in stored if id_.startswith(f"{family}-")]
        others = [one for one in each if not one["added"]]
        assert {"resembles"} == {one["status"] for one in others}
        assert {inside[0]["id"]} == {one["matches"][0]["id"] for one in others}


def at_the_same_moment(place, started, rounds, processes=2):
    """Clients that add in step."""
    make(place)
    barrier, out = CONTEXT.Barrier(processes), CONTEXT.Queue()
    for mine in range(processes):
        started(clients.add_in_step, place, mine, rounds, barrier, out)
    reports = dict(out.get(timeout=PATIENCE) for _ in range(processes))
    check_families(place, rounds, reports)


def test_of_two_that_come_at_the_same_moment_one_goes_in(place, started):
    """From two processes: the same text, or one that differs in a word; the other is told what it resembles."""
    at_the_same_moment(place, started, 30)


@pytest.mark.slow
def test_of_three_that_come_at_the_same_moment_one_goes_in(place, started):
    """Many times."""
    at_the_same_moment(place, started, 100, 3)


def test_of_many_in_any_order_one_goes_in(place, started):
    """One client adds one after the other, one in tens, one in hundreds: locks of few keys and of all meet."""
    make(place)
    out, families = CONTEXT.Queue(), 100
    for mine, size in enumerate((1, 10, 100)):
        started(clients.add_shuffled, place, mine, families, size, out)
    check_families(place, families, dict(out.get(timeout=PATIENCE) for _ in range(3)))


def test_readers_wait_for_nobody(place, started):
    """Processes ask, and are answered, while a writer is in the middle of a transaction that they do not see."""
    make(place)
    with Index.open(place) as index:
        index.add(clients.document(0, 0))
    ready, leave, out = CONTEXT.Event(), CONTEXT.Event(), CONTEXT.Queue()
    writer = started(clients.hold, place, ready, leave)
    assert ready.wait(PATIENCE)
    for _ in range(2):
        started(clients.ask, place, out)
    assert [[["0-0"]] * 20] * 2 == [out.get(timeout=PATIENCE) for _ in range(2)]
    assert writer.is_alive()
    with Index.open(place, read_only=True) as index:
        assert 2 == index.stats().documents
        leave.set()
        writer.join(PATIENCE)
        assert 3 == index.stats().documents


def test_a_writer_waits_for_another_or_is_told(place, started):
    """As long as it was asked to."""
    make(place)
    ready, leave, out = CONTEXT.Event(), CONTEXT.Event(), CONTEXT.Queue()
    started(clients.hold, place, ready, leave)
    assert ready.wait(PATIENCE)
    started(clients.add_waiting, place, 0.2, out)
    said = out.get(timeout=PATIENCE)
    assert "0.2 s" in said
    assert "timeout_seconds" in said
    started(clients.add_waiting, place, PATIENCE, out)
    leave.set()
    assert "added" == out.get(timeout=PATIENCE)


def test_of_clients_that_create_at_the_same_moment_one_does(place):
    """The other finds it there."""
    make(place)
    with pytest.raises(StoreError, match="exists"):
        Index.create(place)
