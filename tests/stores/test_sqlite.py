"""What holds for an index in a file, besides what holds for every store."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from nearsame.errors import StoreError
from nearsame.stores import create_store, open_store

_KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for pragma in ("journal_mode = DELETE", "cache_size = 1", "cache_spill = 1"):
    connection.execute(f"PRAGMA {pragma}")
connection.execute("BEGIN IMMEDIATE")
connection.executemany("INSERT INTO settings VALUES (?, ?)", ((f"n{n}", "x" * 9000) for n in range(200)))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_reader_takes_back_what_a_killed_process_left(tmp_path):
    """A file beside its journal is what it was before, for who only reads it, too."""
    place = tmp_path / "index.ns"
    made = create_store(str(place), {"kind": "test"})
    made.publish()
    made.close()
    ended = subprocess.run([sys.executable, "-c", _KILLED, place], check=False)
    assert -signal.SIGKILL == ended.returncode
    assert (tmp_path / "index.ns-journal").stat().st_size > 0
    reader = open_store(str(place), read_only=True)
    assert "test" == reader.settings["kind"]
    assert "n0" not in reader.settings
    reader.close()


def test_a_new_file_has_its_log_before_anybody_can_see_it(tmp_path):
    """Nothing changes the file itself after it has appeared: a kill then leaves it whole."""
    place = tmp_path / "index.ns"
    made = create_store(str(place), {"kind": "test"})
    made.publish()
    assert b"\x02\x02" == place.read_bytes()[18:20]  # SQLite's file format: both versions are 2 with a write-ahead log
    made.close()


def test_an_old_index_that_cannot_be_closed_up_stays(tmp_path, monkeypatch):
    """Its logs are part of it: they go only when it does."""
    place = tmp_path / "index.ns"
    old = create_store(str(place), {"kind": "old"})
    old.publish()
    old.close()
    before = place.read_bytes()
    made = create_store(str(place), {"kind": "new"}, overwrite=True)
    connect = sqlite3.connect

    def full(address, **how):
        if ".partial" in address:
            return connect(address, **how)
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr(sqlite3, "connect", full)
    with pytest.raises(StoreError, match="full"):
        made.publish()
    made.close()
    monkeypatch.undo()
    assert before == place.read_bytes()


@pytest.mark.parametrize("kind", ["text", "short", "zeros", "database", "pipe"])
def test_only_an_index_is_overwritten(tmp_path, kind):
    """Whatever else is at the place stays as it is, and nothing is left beside it."""
    place = tmp_path / "precious"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "database":
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("CREATE TABLE mine (value)")
    else:
        place.write_bytes({"text": b"the only copy\n" * 20, "short": b"a", "zeros": bytes(8192)}[kind])
    before = None if kind == "pipe" else place.read_bytes()
    with pytest.raises(StoreError, match="precious is not an index of nearsame, and only an index is replaced"):
        create_store(str(place), {}, overwrite=True)
    assert before == (None if kind == "pipe" else place.read_bytes())
    assert [place] == list(tmp_path.iterdir())


def test_what_took_the_place_of_an_index_meanwhile_is_not_overwritten(tmp_path):
    """It is looked at again when the new one is about to appear."""
    place = tmp_path / "index.ns"
    with closing(create_store(str(place), {}, overwrite=True)) as made:
        place.write_text("precious")
        with pytest.raises(StoreError, match="is not an index of nearsame"):
            made.publish()
    assert "precious" == place.read_text()


@pytest.mark.parametrize("format_", ["1", "999"])
def test_indexes_of_other_versions_damaged_ones_and_empty_files_are_overwritten(tmp_path, format_):
    """Who cannot open it any more can make it anew."""
    place = tmp_path / "index.ns"
    place.touch()
    for damage in (format_, None, None):
        with closing(create_store(str(place), {"kind": "new"}, overwrite=True)) as made:
            made.publish()
        if damage:
            with closing(sqlite3.connect(place)) as connection:
                connection.execute("UPDATE settings SET value = ? WHERE name = 'format'", (damage,))
                connection.commit()
        else:
            place.write_bytes(place.read_bytes()[:9000])
    with closing(create_store(str(place), {}, overwrite=True)) as made:
        made.publish()


@pytest.mark.parametrize("where", ["s3://bucket/a.ns", "file:///tmp/a.ns", "file:/tmp/a.ns", "file:a.ns"])
def test_an_index_is_at_no_url(where):
    """Neither made nor opened."""
    for ask in (create_store, open_store):
        with pytest.raises(StoreError, match="is a URL, and an index is a local file or on a PostgreSQL server"):
            ask(where, *({},) * (ask is create_store))
