"""PostgreSQL, its clients killed, the server crashed: what was acknowledged is there, and no document is half there."""

import contextlib
import random
import time
import uuid

import pytest

from nearsame.index.index import Index
from tests import clients
from tests.patience import eventually


@contextlib.contextmanager
def client(place, seed, log):
    """One that adds until it is killed."""
    process = clients.CONTEXT.Process(target=clients.add_forever, args=(place, seed, str(log)))
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join(60)


def wait_for(log, lines):
    """Until so many documents were acknowledged."""
    eventually(lambda: len(clients.acknowledged(log)) >= lines)


def check(place, logs):
    """Every invariant holds, and everything acknowledged is found by its text."""
    with Index.open(place) as index:
        assert [] == index.check()
        there = set(index.ids())
        known = [id_ for log in logs for id_ in clients.acknowledged(log)]
        assert set(known) <= there
        for id_ in known[-20:]:
            family, variant = map(int, id_.split("-"))
            assert id_ in [match.id for match in index.query(clients.text_of(family, variant))]
    return known


def kill_clients(url, folder, kills):
    """Kill a client in the middle of its work, again and again."""
    chance, logs = random.Random(kills), []
    Index.create(url).close()
    for turn in range(kills):
        logs.append(folder / f"log-{turn}")
        with client(url, turn, logs[-1]) as process:
            wait_for(logs[-1], 2)
            time.sleep(chance.uniform(0, 0.4))
            process.kill()
            process.join(60)
        check(url, logs)
    assert len(check(url, logs)) > kills


def crash_the_server(server, folder, crashes):
    """Take the server's power away while two clients add, again and again."""
    url = server.url(f"crash_{uuid.uuid4().hex[:8]}")
    Index.create(url).close()
    logs = [folder / "log-a", folder / "log-b"]
    chance = random.Random(crashes)
    with client(url, 1, logs[0]), client(url, 2, logs[1]):
        for _ in range(crashes):
            before = [len(clients.acknowledged(log)) for log in logs]
            for log, lines in zip(logs, before, strict=True):
                wait_for(log, lines + 1)  # both have come back from the last crash
            time.sleep(chance.uniform(0, 0.4))
            server.stop(crash=True)
            server.start()
    check(url, logs)


def test_what_a_killed_client_was_told_is_there(durable_postgres, tmp_path):
    """And nothing of what it was not told is half there; others are not held up by its locks."""
    kill_clients(durable_postgres.url(f"kill_{uuid.uuid4().hex[:8]}"), tmp_path, 3)


@pytest.mark.slow
def test_what_a_crashed_server_acknowledged_is_there(durable_postgres, tmp_path):
    """Its clients get an error, and go on when it is back."""
    crash_the_server(durable_postgres, tmp_path, 2)


@pytest.mark.slow
def test_what_many_killed_clients_were_told_is_there(durable_postgres, tmp_path):
    """As above, more often."""
    kill_clients(durable_postgres.url(f"kill_{uuid.uuid4().hex[:8]}"), tmp_path, 10)


@pytest.mark.slow
def test_what_a_server_acknowledged_before_many_crashes_is_there(durable_postgres, tmp_path):
    """As above, more often."""
    crash_the_server(durable_postgres, tmp_path, 6)
