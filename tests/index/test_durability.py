"""What was acknowledged stays: after kills, on a full disk, under a writer that takes its time."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.stores import open_store, sqlite
from nearsame.stores.sqlite_files import reader
from tests.cli.commands import run
from tests.disks import fill, small_disk

TEXT = "one text of a few words that are enough to make some shingles of five words each number"


@pytest.mark.parametrize(
    "kills", [12, pytest.param(80, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.long)]
)
@pytest.mark.timeout(900)
def test_what_was_acknowledged_survives_kills_under_load(kills, tmp_path):
    """No half document, no key without its document, nothing that was removed."""
    script = Path(__file__).with_name("killed.py")
    command = [sys.executable, str(script), str(tmp_path / "seen.ns"), str(kills), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    found = json.loads(done.stdout)
    assert [] == found["wrong"]
    assert kills == found["kills"]
    assert found["acknowledged"] > kills


@pytest.mark.parametrize("wait", [0.0, 0.3, 0.6])
def test_an_index_that_is_killed_while_it_is_built_is_not_there(wait, tmp_path):
    """Nothing is at its place, and it can be made after that."""
    code = (
        "import sys, nearsame as ns\n"
        "texts = [f'{number} ' * 40 + str(number) for number in range(200_000)]\n"
        "print('ready', flush=True)\n"
        "ns.Index.create(sys.argv[1], source=texts)\n"
    )
    place = tmp_path / "seen.ns"
    with subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
    assert not place.exists()
    with ns.Index.create(place, source=[TEXT]) as index:
        assert 1 == index.stats().documents


def test_a_full_disk_is_an_error_and_the_index_stays_usable(tmp_path):
    """What was there before answers, at once and after reopening; with more room the same documents go in."""
    number = 0
    with small_disk(tmp_path / "disk", "24M") as home, ns.Index.create(home / "seen.ns") as index:
        index.add({"id": "before", "text": TEXT})
        fill(home, leave=1 << 20)
        with pytest.raises(ns.StoreError, match=r"seen\.ns: .*bytes free") as raised:  # noqa: PT012  (chance says which)
            for number in range(200):
                index.add(
                    [
                        {"id": f"{number}-{n}", "text": f"{number} {n} {TEXT} " + f"{n} {number} " * 200}
                        for n in range(20)
                    ]
                )
        assert "Make room" in raised.value.hint
        assert ["before"] == [match.id for match in index.query(TEXT)]
        assert [] == index.check()
        (home / "ballast").unlink()
        [added] = index.add({"id": "after", "text": TEXT})
        assert (True, ["before"]) == (added.added, [match.id for match in added.matches])
        expected = 2 + 20 * number
        assert expected == index.stats().documents
        with ns.Index.open(home / "seen.ns", read_only=True) as again:
            assert expected == len(list(again.ids()))
            assert [] == again.check()


def test_a_source_that_fills_the_disk_is_told_by_how_much_of_it_is_in(tmp_path):
    """Each 2,048 documents of a source are a transaction: those before the one that failed are stored."""
    lines = [
        json.dumps({"id": str(n), "text": f"{n} {TEXT} " + " ".join(f"w{n}x{k}" for k in range(130))})
        for n in range(6000)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines), "utf-8")
    with small_disk(tmp_path / "disk", "6M") as home:
        assert 0 == run("index", "create", home / "seen.ns", "-q").exit_code
        done = run("index", "add", home / "seen.ns", tmp_path / "in.jsonl", "-q")
        with ns.Index.open(home / "seen.ns", read_only=True) as index:
            stored = index.stats().documents
        assert (2, True) == (done.exit_code, 0 < stored < 6000)
        assert f"The index was done with {stored:,} documents before that" in done.stderr


def test_readers_go_on_while_a_writer_writes_and_a_second_writer_is_told(tmp_path):
    """They see what was there before its transaction; whoever waits too long is told for how long."""
    place = tmp_path / "seen.ns"
    with ns.Index.create(place) as index, ns.Index.open(place, timeout_seconds=0.2) as other:
        index.add({"id": "a", "text": TEXT})
        with index.transaction():
            index.add({"id": "b", "text": TEXT})
            assert ["a"] == [match.id for match in other.query(TEXT)]
            with pytest.raises(ns.StoreBusyError, match=r"gave up after 0\.2 s"):
                other.add({"id": "c", "text": TEXT})
        assert ["a", "b"] == [match.id for match in other.query(TEXT)]
        assert [True] == [each.added for each in other.add({"id": "c", "text": TEXT})]


def test_an_index_in_use_is_not_overwritten_under_its_reader(tmp_path):
    """Whoever has it open is waited for, and then it is an error; nothing is left beside it."""
    place = tmp_path / "seen.ns"
    with ns.Index.create(place) as index:
        index.add({"id": "a", "text": TEXT})
        with pytest.raises(ns.StoreBusyError, match="is in use by another process"):
            ns.Index.create(place, overwrite=True, timeout_seconds=0.2)
        assert ["a"] == [match.id for match in index.query(TEXT)]
    ns.Index.create(place, overwrite=True).close()
    with ns.Index.open(place) as index:
        assert [] == list(index.ids())
    assert ["seen.ns"] == sorted(path.name for path in tmp_path.iterdir())


def test_an_index_can_be_read_where_nothing_can_be_written(tmp_path):
    """A folder that is read only, as on a medium or another's disk."""
    if os.geteuid() == 0:
        with small_disk(tmp_path / "disk", "8M") as home:
            ns.Index.create(home / "seen.ns", source=[{"id": "a", "text": TEXT}]).close()
            subprocess.run([str(shutil.which("mount")), "-o", "remount,ro", str(home)], check=True)
            with ns.Index.open(home / "seen.ns", read_only=True) as index:
                assert ["a"] == [match.id for match in index.query(TEXT)]


def test_an_index_of_another_user_can_be_read():
    """In a folder where this one may not write, SQLite says something else than on a disk that is read only."""
    with tempfile.TemporaryDirectory() as home:
        place = Path(home, "seen.ns")
        ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
        with as_nobody(home):
            assert not os.access(home, os.W_OK, effective_ids=True)
            with ns.Index.open(place, read_only=True) as index:
                assert ["a"] == [match.id for match in index.query(TEXT)]


@contextmanager
def as_nobody(home):
    """A user who may not write to a folder."""
    user = os.geteuid()
    Path(home).chmod(0o555)
    os.seteuid(65534 if user == 0 else user)
    try:
        yield
    finally:
        os.seteuid(user)
        Path(home).chmod(0o755)


def add_elsewhere(place, id):
    """In a process of its own, as SQLite shares locks within one."""
    code = """if True:
        import sys, nearsame as ns
        with ns.Index.open(sys.argv[1]) as writer:
            writer.add({"id": sys.argv[2], "text": "x"})
    """
    subprocess.run([sys.executable, "-c", code, str(place), id], check=True)


def test_who_may_not_write_sees_what_others_write():
    """There SQLite can have no lock and no log, and is told that nobody writes: which is seen to, each time."""
    with tempfile.TemporaryDirectory() as home:
        place = Path(home, "seen.ns")
        ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
        with as_nobody(home):
            index = ns.Index.open(place, read_only=True)
        with index:
            assert ["a"] == list(index.ids())
            add_elsewhere(place, "b")
            with as_nobody(home):
                assert ["a", "b"] == list(index.ids())
            add_elsewhere(place, "c")
            assert ["a", "b", "c"] == list(index.ids())
            add_elsewhere(place, "d")
            assert ["a", "b", "c", "d"] == list(index.ids())


def test_no_answer_is_made_of_a_file_that_was_written_to_meanwhile():
    """Where no lock keeps the writer's pages apart from those that were read before."""
    with tempfile.TemporaryDirectory() as home:
        place = Path(home, "seen.ns")
        ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
        with as_nobody(home):
            store = open_store(place, read_only=True)
        with closing(store), pytest.raises(ns.StoreBusyError, match="was written to"), store.reading():
            add_elsewhere(place, "b")


def test_a_log_is_part_of_an_index_by_whatever_name():
    """A link has none of its own; without the log acknowledged documents would be missing."""
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as links:
        Path(links).chmod(0o755)
        place, copy, link = Path(home, "seen.ns"), Path(home, "copy.ns"), Path(links, "link.ns")
        ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
        with ns.Index.open(place) as writer:
            writer.add([{"id": "b", "text": f"{TEXT} and more"}])
            for ending in ("", "-wal"):
                shutil.copy(f"{place}{ending}", f"{copy}{ending}")
        link.symlink_to(copy)
        with as_nobody(home):
            for path in (copy, link):
                with pytest.raises(ns.StoreError):
                    ns.Index.open(path, read_only=True)


def test_a_file_is_whole_when_its_writer_has_closed_it(tmp_path):
    """Also beside somebody who reads, and cannot write the log back."""
    place = tmp_path / "seen.ns"
    ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
    writer = ns.Index.open(place)
    with ns.Index.open(place, read_only=True) as reader:
        writer.add([{"id": "b", "text": f"{TEXT} and more"}])
        assert ["a", "b"] == list(reader.ids())
        writer.close()
    shutil.copy(place, tmp_path / "copy.ns")
    with ns.Index.open(tmp_path / "copy.ns") as index:
        assert ["a", "b"] == list(index.ids())


def test_no_copy_is_made_of_a_file_that_was_written_to_meanwhile(tmp_path, monkeypatch):
    """It would have pages of before and of after."""
    with tempfile.TemporaryDirectory() as home:
        place = Path(home, "seen.ns")
        ns.Index.create(place, source=[{"id": "a", "text": TEXT}]).close()
        with as_nobody(home):
            store = open_store(place, read_only=True)
        monkeypatch.setattr(sqlite, "reader", lambda *_: copied(place, home))
        with closing(store), pytest.raises(ns.StoreBusyError, match="was written to"):
            store.backup(str(tmp_path / "copy.ns"), overwrite=False)
        assert not (tmp_path / "copy.ns").exists()


def copied(place, home):
    """A frozen connection, and a change behind it."""
    with as_nobody(home):
        connection = reader(place, 1.0)
    add_elsewhere(place, "b")
    return connection


@pytest.mark.parametrize("way", ["create", "create --from", "backup"])
def test_a_log_of_an_index_that_is_gone_is_not_taken_in(way, tmp_path):
    """As a killed writer leaves it, or one that goes on: SQLite would play it into whatever comes to the place."""
    place, copy = tmp_path / "seen.ns", tmp_path / "copy.ns"
    with ns.Index.create(place) as index, ns.Index.open(place) as other:
        index.backup(copy)
        index.add([{"id": f"old {number}", "text": f"{number} {TEXT} {number}"} for number in range(300)])
        assert other.stats().documents == 300
        logs = {name: Path(f"{place}{name}").read_bytes() for name in ("-wal", "-shm")}
    place.unlink()
    for name, data in logs.items():
        Path(f"{place}{name}").write_bytes(data)
    assert len(logs["-wal"]) > 10_000
    match way:
        case "create":
            ns.Index.create(place).close()
        case "create --from":
            ns.Index.create(place, source=[{"id": "new", "text": TEXT}]).close()
        case "backup":
            with ns.Index.open(copy) as index:
                index.add({"id": "new", "text": TEXT})
                index.backup(place)
    with ns.Index.open(place) as index:
        assert ([] if way == "create" else ["new"]) == list(index.ids())
        assert [] == index.check()
