"""Threads that share an index: each call is as good as if it were alone, and what is acknowledged is there."""

import asyncio
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

import nearsame as ns

WORDS = [f"word{number}" for number in range(19)]


def text(number):
    """One that shares words with others, and resembles few."""
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 12)) + f" {number}"


def test_what_threads_add_ask_and_remove_is_what_one_would(place):
    """Nothing acknowledged is gone, no answer is another's, and no call fails."""
    with ns.Index.create(place, store="text") as index:
        index.add([{"id": f"s{number}", "text": text(number)} for number in range(10)])

        def work(number):
            (added,) = index.add({"id": str(number), "text": text(number)})
            first = index.query(text(number), limit=100)[0]
            own = index.text(str(number))
            if number % 5 == 0:
                index.remove(str(number))
            return added.id, first.similarity, own, len(list(index.ids(containing=f"s{number % 10}")))

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(work, range(120)))
        assert [(str(number), 1.0, text(number), 1) for number in range(120)] == told
        expected = {f"s{number}" for number in range(10)} | {str(number) for number in range(120) if number % 5}
        assert expected == set(index.ids())
        assert [] == index.check()


def test_what_coroutines_add_by_threads_is_there(place):
    """As a web framework does with what blocks."""
    with ns.Index.create(place) as index:

        async def every():
            given = ({"id": str(number), "text": text(number)} for number in range(60))
            return await asyncio.gather(*(asyncio.to_thread(index.add, one, if_new=True) for one in given))

        added = {one.id for (one,) in asyncio.run(every()) if one.added}
        assert len(added) > 10
        assert added == set(index.ids())
        assert [] == index.check()


def test_a_transaction_is_of_the_thread_that_began_it(place):
    """Others wait for its end, and see nothing of it if it is undone."""
    with ns.Index.create(place) as index, ThreadPoolExecutor(1) as pool:
        waiting = []
        with suppress(KeyError), index.transaction():
            index.add({"id": "undone", "text": text(1)})
            waiting.append(pool.submit(lambda: (index.add({"id": "other", "text": text(2)}), list(index.ids()))))
            assert ["undone"] == list(index.ids())
            assert not waiting[0].done()
            raise KeyError
        assert ["other"] == waiting[0].result()[1]
        assert ["other"] == list(index.ids())


def test_who_waits_too_long_is_told_for_whom(place):
    """A thread that waits within its transaction for another one's call would wait for ever."""
    ns.Index.create(place).close()
    with (
        ns.Index.open(place, timeout_seconds=0.05) as index,
        index.transaction(),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(ns.StoreBusyError, match=r"in use by another thread of this process; gave up after 0\.05 s"),
    ):
        pool.submit(index.add, {"id": "other", "text": text(2)}).result()


def test_what_ends_a_block_is_not_hidden_by_another_threads_turn(place):
    """Which is waited for, and no longer."""
    ns.Index.create(place).close()
    begun, ended = threading.Event(), threading.Event()

    def held():
        with index.transaction():
            begun.set()
            ended.wait()

    with ThreadPoolExecutor(1) as pool:
        index = ns.Index.open(place, timeout_seconds=0.05)
        holding = pool.submit(held)
        begun.wait()
        with pytest.raises(KeyError), index:
            raise KeyError
        ended.set()
        holding.result()
        index.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_process_that_is_forked_in_another_threads_turn_does_not_wait_for_it(place):
    """It is told that the index is not its own."""
    with ns.Index.create(place) as index, ThreadPoolExecutor(1) as pool:
        begun, ended = threading.Event(), threading.Event()

        def held():
            with index.transaction():
                begun.set()
                ended.wait()

        holding = pool.submit(held)
        begun.wait()
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()

        def run():
            try:
                index.query("text")
            except ns.StoreError as error:
                theirs.send(error.message)
            index.close()

        process = context.Process(target=run)
        process.start()
        told = ours.recv()
        process.join()
        ended.set()
        holding.result()
        assert "was opened by the process that this one was forked from" in told
        assert 0 == process.exitcode
