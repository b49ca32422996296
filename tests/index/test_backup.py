"""A copy of an index is an index: complete or not at all, also while others write."""

import random
import sqlite3
import subprocess
import threading
from contextlib import closing

import pytest

import nearsame as ns
from tests.cli.commands import run
from tests.postgres import programs

WORDS = [f"word{number}" for number in range(500)]


def documents(first, count):
    """Some texts."""
    chance = random.Random(first)
    return [{"id": str(first + n), "text": " ".join(chance.choices(WORDS, k=60))} for n in range(count)]


def test_a_copy_is_the_index_as_it_was_at_one_moment(tmp_path):
    """While another connection adds batch after batch: each is in the copy whole, or not at all."""
    place, copies = tmp_path / "seen.ns", [tmp_path / f"copy-{n}.ns" for n in range(5)]
    ns.Index.create(place, source=documents(0, 500)).close()
    ended = threading.Event()

    def write():
        with ns.Index.open(place) as index:
            first = 1000
            while not ended.is_set():
                index.add(documents(first, 10))
                first += 10

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with ns.Index.open(place, read_only=True) as index:
            for copy in copies:
                index.backup(copy)
    finally:
        ended.set()
        writer.join()
    for copy in copies:
        with ns.Index.open(copy) as index:
            assert [] == index.check()
            ids = list(index.ids())
            assert 500 <= len(ids)
            assert 0 == len(ids) % 10
            assert index.add({"id": "new", "text": "a text of its own"})[0].added


def test_what_a_transaction_has_not_ended_is_not_in_a_copy(tmp_path):
    """Neither is it lost for that."""
    with ns.Index.create(tmp_path / "seen.ns") as index, index.transaction():
        index.add({"id": "a", "text": "a text"})
        index.backup(tmp_path / "copy.ns")
    with ns.Index.open(tmp_path / "copy.ns", read_only=True) as copy:
        assert [] == list(copy.ids())
    with ns.Index.open(tmp_path / "seen.ns", read_only=True) as index:
        assert ["a"] == list(index.ids())


@pytest.mark.parametrize("kind", ["text", "database", "folder", "itself", "its log", "by a link"])
def test_a_copy_takes_the_place_of_nothing_but_an_index(tmp_path, kind):
    """Whatever else is there stays as it is, and nothing is left beside it."""
    place = tmp_path / "home" / "seen.ns"
    place.parent.mkdir()
    with ns.Index.create(place) as index:
        index.add({"id": "a", "text": "a text"})
        other = tmp_path / "precious"
        match kind:
            case "text":
                other.write_text("precious")
            case "database":
                with closing(sqlite3.connect(other)) as connection:
                    connection.execute("CREATE TABLE mine (value)")
            case "folder":
                other.mkdir()
            case "by a link":
                other.symlink_to(place)
            case _:
                other = place if kind == "itself" else place.with_name("seen.ns-wal")
        before = other.read_bytes() if other.is_file() else None
        for overwrite in (False, True):
            with pytest.raises((ns.StoreError, ns.OutputError)):
                index.backup(other, overwrite=overwrite)
        assert before == (other.read_bytes() if other.is_file() else None)
        assert ["a"] == list(index.ids())
    assert {"home", "precious"} >= {path.name for path in tmp_path.iterdir()}


def test_an_older_copy_is_replaced_where_that_is_asked_for(tmp_path):
    """And only then."""
    copy = tmp_path / "copy.ns"
    with ns.Index.create(tmp_path / "seen.ns") as index:
        index.backup(copy)
        index.add({"id": "a", "text": "a text"})
        with pytest.raises(ns.StoreError, match="exists"):
            index.backup(copy)
        index.backup(copy, overwrite=True)
    with ns.Index.open(copy) as again:
        assert ["a"] == list(again.ids())
    assert 0 == run("index", "backup", tmp_path / "seen.ns", copy, "--overwrite").exit_code
    assert 2 == run("index", "backup", tmp_path / "seen.ns", copy).exit_code


def test_a_copy_that_finds_no_room_leaves_nothing_behind(tmp_path, monkeypatch):
    """The place stays empty."""
    with ns.Index.create(tmp_path / "seen.ns") as index:
        monkeypatch.setattr("nearsame.stores.sqlite.to_disk", _full)
        with pytest.raises(ns.StoreError, match="No space left"):
            index.backup(tmp_path / "copy.ns")
    assert ["seen.ns"] == [path.name for path in tmp_path.iterdir()]


def _full(_):
    raise OSError(28, "No space left on device")


def test_on_a_server_the_command_of_pg_dump_is_shown(postgres, postgres_url, tmp_path, monkeypatch):
    """It is right as it stands, but for the password, which it has not."""
    with ns.Index.create(postgres_url, source=documents(0, 5)) as index:
        with pytest.raises(ns.StoreError, match="pg_dump") as told:
            index.backup(tmp_path / "seen.dump")
        assert postgres.password not in told.value.hint
    command = told.value.hint.removeprefix("Run: ")
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    subprocess.run(f"{programs()}/{command}", shell=True, check=True)  # noqa: S602  (our own words)
    assert (tmp_path / "seen.dump").read_bytes().startswith(b"PGDMP")
