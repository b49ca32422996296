"""A process that is forked while an index is open: it is told to open its own, and harms nobody by what it does."""

import multiprocessing
import os

import pytest

import nearsame as ns

FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
pytestmark = [FORK, pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")]
TEXTS = [f"text {n} of {n * n} words that nobody else has {n * 7}" for n in range(20)]


def elsewhere(work):
    """What a forked process makes of some work."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def run():
        try:
            theirs.send(work())
        except ns.NearSameError as error:
            theirs.send(f"{type(error).__name__}: {error.message}, {error.hint}")

    process = context.Process(target=run)
    process.start()
    told = ours.recv()
    process.join()
    assert 0 == process.exitcode
    return told


WAYS = {
    "add": lambda index: index.add({"id": "x", "text": "what another one adds"}),
    "remove": lambda index: index.remove("1"),
    "query": lambda index: index.query(TEXTS[0]),
    "ids": lambda index: list(index.ids()),
    "check": lambda index: index.check(),
    "records": lambda index: index.records(),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("within", [False, True])
def test_an_index_of_another_process_is_not_used(place, way, within):
    """Outside of a transaction, and within one that goes on here."""
    with ns.Index.create(place) as index:
        index.add([{"id": str(n), "text": text} for n, text in enumerate(TEXTS)])
        if within:
            with index.transaction():
                index.add({"id": "within", "text": "what is added here"})
                told = elsewhere(lambda: WAYS[way](index))
                index.add({"id": "after", "text": "and what is added then"})
        else:
            told = elsewhere(lambda: WAYS[way](index))
        assert "was opened by the process that this one was forked from, Open it in this process" in told
        session = getattr(index._store, "_session", None)
        assert session is None or not session.connection.closed
        assert ["0"] == [match.id for match in index.query(TEXTS[0])]
        assert [] == index.check()
        assert 20 + 2 * within == len(list(index.ids()))


@pytest.mark.parametrize("first", ["closes", "raises"])
def test_what_is_left_there_harms_nobody_here(place, first):
    """It closes the index, or leaves a transaction by an error; and opens its own, to which both add."""
    with ns.Index.create(place) as index:
        index.add({"id": "a", "text": "what was there before"})

        def work():
            if first == "closes":
                index.close()
            with ns.Index.open(place) as own:
                own.add({"id": "own", "text": "what comes from there"})
            return "done"

        if first == "closes":
            assert "done" == elsewhere(work)
        else:
            with index.transaction():
                index.add({"id": "b", "text": "what is being added"})
                assert "StoreError" in elsewhere(lambda: index.__exit__(None, None, None) or index.remove("a"))
            assert "done" == elsewhere(work)
        index.add({"id": "c", "text": "what was added afterwards"})
        assert {"a", "c", "own"} <= set(index.ids())
    with ns.Index.open(place, read_only=True) as again:
        assert {"a", "c", "own"} <= set(again.ids())
        assert [] == again.check()
