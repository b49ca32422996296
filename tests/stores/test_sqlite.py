"""What holds for an index in a file, besides what holds for every store."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import nearsame as ns
from nearsame.errors import StoreError
from nearsame.files.placing import Beside
from nearsame.index import migrating
from nearsame.stores import create_store, open_store
from nearsame.stores.sqlite_files import log_of

WORDS = [f"word{number}" for number in range(2000)]
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


def test_only_while_something_is_written_is_every_cell_of_a_page_looked_at(tmp_path):
    """A damaged page that is written again would stay damaged; what is read is verified by row."""
    place = tmp_path / "index.ns"
    made = create_store(str(place), {"kind": "test"})
    made.publish()

    def looked_at(transaction: Any) -> bool:
        return transaction._run("PRAGMA cell_size_check").fetchone() == (1,)

    for store in (made, open_store(str(place))):
        with closing(store):
            with store.writing(None) as writer:
                assert looked_at(writer)
            with pytest.raises(KeyError), store.writing(None) as writer:
                raise KeyError(looked_at(writer))
            with store.reading() as reader:
                assert not looked_at(reader)


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


@pytest.mark.parametrize("what", ["moved", "deleted", "replaced", "folder"])
def test_a_file_that_is_not_at_its_place_any_more_is_not_written_to(tmp_path, what):
    """Nobody is told that a document is in an index which nobody would open again."""
    place = tmp_path / "folder" / "seen.ns"
    place.parent.mkdir()
    with ns.Index.create(place) as index:
        index.add({"id": "a", "text": "a text"})
        match what:
            case "moved":
                place.rename(tmp_path / "other.ns")
            case "deleted":
                place.unlink()
            case "replaced":
                ns.Index.create(tmp_path / "new.ns").close()
                (tmp_path / "new.ns").replace(place)
            case _:
                place.parent.rename(tmp_path / "away")
        for ask in (lambda: index.add({"id": "b", "text": "b text"}), lambda: index.query("a text")):
            with pytest.raises(StoreError, match=r"seen\.ns was moved, deleted or replaced since it was opened"):
                ask()


def test_a_file_that_is_moved_in_the_middle_of_a_transaction_is_not_written_to(tmp_path):
    """The block fails, and the file is what it was before."""
    place, other = tmp_path / "seen.ns", tmp_path / "other.ns"
    with ns.Index.create(place) as index:
        index.add({"id": "a", "text": "a text"})
        with pytest.raises(StoreError, match="moved"), index.transaction():  # noqa: PT012  (the block ends the transaction)
            index.add({"id": "b", "text": "b text"})
            place.rename(other)
    other.rename(place)  # to its log, which has what was acknowledged
    with ns.Index.open(place) as index:
        assert ["a"] == list(index.ids())


def test_what_is_removed_is_nowhere_in_the_file_or_its_log(tmp_path):
    """Neither the id nor the text nor what it was compared by; at once, if nobody reads."""
    place = tmp_path / "seen.ns"
    chance = random.Random(3)
    every = [
        {"id": f"name-of-{n:05}", "url": f"https://example.org/{n:05}", "text": " ".join(chance.choices(WORDS, k=400))}
        for n in range(300)
    ]
    gone = chance.sample(range(300), 150)
    with ns.Index.create(place, store="text") as index:
        for start in range(0, 300, 10):
            index.add(every[start : start + 10])
        blobs = [zlib.compress(every[n]["text"].encode()) for n in gone]
        content = place.read_bytes() + Path(f"{place}-wal").read_bytes()
        assert all(blob[:64] in content for blob in blobs)
        for n in gone:
            index.remove(every[n]["id"])
        index.add({"id": every[0]["id"], "text": "another"}, replace=True)
        content = place.read_bytes() + Path(f"{place}-wal").read_bytes()
    kept = sorted({*range(1, 300)} - {*gone})
    left = [n for n in (0, *gone) if every[n]["url"].encode() in content]
    assert [] == left
    assert [] == [n for n, blob in zip(gone, blobs, strict=True) if blob[:64] in content]
    assert all(every[n]["url"].encode() in content for n in kept)


def test_a_log_that_a_reader_needs_is_cut_off_later(tmp_path):
    """The removal does not wait for it; the next one, or who closes the index last, does it."""
    place = tmp_path / "seen.ns"
    log = Path(f"{place}-wal")
    with ns.Index.create(place, source=[{"id": str(n), "text": f"text {n}"} for n in range(20)]) as index:
        with closing(open_store(str(place), read_only=True)) as other, other.reading() as read:
            assert 20 == read.counts()["documents"]
            index.remove("1")
            assert log.stat().st_size > 0
            assert 20 == read.counts()["documents"]
        index.remove("2")
        assert 0 == log.stat().st_size


_ELSEWHERE = """
import sys, nearsame as ns
with ns.Index.open(sys.argv[1]) as index:
    index.add({"id": "elsewhere", "text": "what another process has to say"})
"""


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("what", ["create", "backup"])
def test_who_asks_for_a_place_takes_no_locks_from_an_index_that_is_open(tmp_path, what, overwrite):
    """A system takes a process's locks on a file when it closes it once, and another one then deletes the log."""
    place, other = tmp_path / "a.ns", tmp_path / "b.ns"
    ns.Index.create(other).close()
    with ns.Index.create(place) as index:
        index.add({"id": "one", "text": "the first text of all"})
        asked = {"overwrite": overwrite, "timeout_seconds": 0.05}
        with ns.Index.open(other, timeout_seconds=0.05) as another, pytest.raises(ns.StoreError):
            another.backup(place, overwrite=overwrite) if what == "backup" else ns.Index.create(place, **asked)
        log = log_of(place).stat().st_ino
        subprocess.run([sys.executable, "-c", _ELSEWHERE, str(place)], check=True)
        assert log == log_of(place).stat().st_ino
        index.add({"id": "two", "text": "the last text of all"})
    with ns.Index.open(place, read_only=True) as index:
        assert {"one", "elsewhere", "two"} == set(index.ids())


@pytest.mark.parametrize("read_only", [True, False])
def test_who_opens_an_index_while_it_is_replaced_has_the_new_one(tmp_path, monkeypatch, read_only):
    """Not the old one's file, which has no name any more, and where what is added is lost."""
    place = tmp_path / "a.ns"
    with ns.Index.create(place) as index:
        index.add({"id": "old", "text": "what the old one has"})
    put, opening = Beside.put, []

    def slow(self, *, replace):
        opening.append(pool.submit(ns.Index.open, place, read_only=read_only, timeout_seconds=60))
        time.sleep(0.3)  # it has the file by then, and waits for its lock
        put(self, replace=replace)

    monkeypatch.setattr(Beside, "put", slow)
    with ThreadPoolExecutor() as pool:
        ns.Index.create(place, overwrite=True, source=[{"id": "new", "text": "what the new one has"}]).close()
        with opening[0].result() as index:
            assert ["new"] == list(index.ids())
            if not read_only:
                index.add({"id": "more", "text": "what comes later"})
    with ns.Index.open(place) as index:
        assert ["new", "more"][: 2 - read_only] == list(index.ids())


def _use(place, what):
    """Do something with an index; what comes of it."""
    try:
        if what == "create":
            with ns.Index.create(place) as index:
                return [index.add({"id": "a", "text": "what the owner has"})[0].status]
        if what == "replace":
            ns.Index.create(place, overwrite=True, timeout_seconds=1)
        with ns.Index.open(place, read_only=what == "read") as index:
            added = [index.add({"id": "b", "text": "what comes later"})[0].status] if what == "write" else []
            return [*index.ids(), *added]
    except ns.StoreError as error:
        return ["refused", error.message]


def _as_another(who, place, what):
    """The same by another user, in a process that has read its modules before."""
    ours, theirs = os.pipe()
    if not os.fork():
        os.setgid(who)
        os.setuid(who)
        os.write(theirs, json.dumps(_use(place, what)).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as told:
        found = json.load(told)
    os.wait()
    return found


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can be others")
@pytest.mark.parametrize("what", ["read", "open", "write", "replace"])
def test_who_may_not_write_to_an_index_keeps_nobody_from_it(what):
    """In a folder in which all may: the log that it left would be its own."""
    with tempfile.TemporaryDirectory() as home:  # the tests' own is for nobody else
        Path(home).chmod(0o777)
        place = f"{home}/a.ns"
        for each in ("create", "write", "read"):
            _use(f"{home}/warm.ns", each)
        for path in Path(home).iterdir():
            path.unlink()
        assert ["added"] == _as_another(4242, place, "create")
        told = _as_another(4343, place, what)
        assert (["refused"] if what in {"write", "replace"} else ["a"]) == told[:1]
        assert ["a.ns"] == [path.name for path in Path(home).iterdir()]
        assert ["a", "b", "added"] == _as_another(4242, place, "write")


@pytest.mark.parametrize("seconds", [0.2, 60])
def test_who_opens_a_file_without_a_log_waits_for_those_who_have_it_open(tmp_path, seconds):
    """SQLite does not, where a file is to have a log from now on; a migration that was refused leaves one without."""
    place = tmp_path / "a.ns"
    ns.Index.create(place, source=[{"id": "a", "text": "what it has"}]).close()
    with closing(sqlite3.connect(place, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN")
        other.execute("SELECT * FROM settings").fetchone()
        if seconds < 1:
            with pytest.raises(ns.StoreBusyError, match=r"gave up after 0\.2 s"):
                ns.Index.open(place, timeout_seconds=seconds)
            return
        timer = threading.Timer(0.3, other.execute, ["COMMIT"])
        timer.start()
        with ns.Index.open(place, timeout_seconds=seconds) as index:
            assert ["a"] == list(index.ids())
        timer.join()


@pytest.mark.parametrize("what", ["create", "backup", "migrate"])
def test_a_link_to_an_index_leads_to_what_takes_its_place(tmp_path, what, monkeypatch):
    """It stays a link: else there were two indexes, and the one that others know by its own name was the old one."""
    place, link, other = tmp_path / "disk" / "a.ns", tmp_path / "a.ns", tmp_path / "b.ns"
    place.parent.mkdir()
    link.symlink_to(place)
    ns.Index.create(link, store="text", source=[{"id": "a", "text": "what it has"}]).close()
    ns.Index.create(other, source=[{"id": "b", "text": "what the other one has"}]).close()
    assert place.is_file()
    number = place.stat().st_ino
    if what == "create":
        ns.Index.create(link, overwrite=True).close()
    elif what == "backup":
        with ns.Index.open(other) as index:
            index.backup(link, overwrite=True)
    else:
        monkeypatch.setattr(migrating, "is_current", lambda *_: False)
        assert ns.Index.migrate(link)
    assert link.is_symlink()
    assert number != place.stat().st_ino
    with ns.Index.open(link, read_only=True) as index:
        assert {"create": [], "backup": ["b"], "migrate": ["a"]}[what] == list(index.ids())


_HALFWAY = """
import os, signal, sys
from pathlib import Path
import nearsame as ns
from nearsame.files import placing

def renamed(made, place, how):  # a file system that exchanges nothing
    return False

def move(made, place):
    os.kill(os.getpid(), signal.SIGKILL)

placing._renamed, placing._move = renamed, move
ns.Index.create(sys.argv[1], overwrite=True).close()
"""


def test_an_index_behind_a_link_is_put_back_after_a_kill(tmp_path):
    """Between setting the old one aside and the new one's coming; by the link, too, which leads nowhere then."""
    place, link = tmp_path / "disk" / "a.ns", tmp_path / "a.ns"
    place.parent.mkdir()
    link.symlink_to(place)
    ns.Index.create(link, source=[{"id": "a", "text": "what it has"}]).close()
    ended = subprocess.run([sys.executable, "-c", _HALFWAY, link], check=False)
    assert -signal.SIGKILL == ended.returncode
    assert not place.exists()
    with ns.Index.open(link, read_only=True) as index:
        assert ["a"] == list(index.ids())
