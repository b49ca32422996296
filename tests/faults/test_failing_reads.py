"""The Nth read of a source or of the work folder fails, or the work folder fills up: for every N.

The default suite takes a sample of the calls; `scripts/test -m long tests/faults` takes them all.
"""

import gzip
import json
import re
import shutil

import pyarrow.parquet as pq
import pytest

from .disks import CASES, QUICK, RECORDS, dedup, hidden, set_up, some, tree

SAMPLE = [case for case in CASES if case.name in (*QUICK, "dedup a.parquet", "dedup texts")]


def judge(answer, where, codes):
    """A clean error, or none."""
    assert answer["status"] in codes, f"{where}: {answer}"
    for word in ("Traceback", "unexpected", ".partial"):
        assert word not in answer["said"], f"{where}: {answer['said']}"
    if answer["status"]:
        assert answer["said"].startswith("error: "), f"{where}: {answer['said']}"


def named(*values):
    """The documents that are named in something."""
    return set(re.findall(r"\bd\d[ab]\b", str(values)))


def lost(bench):
    """Documents that are neither kept nor removed for one that is."""
    out, kept = bench.home / bench.case.out, set()
    for path in (out / "kept").iterdir():
        match path.suffix:
            case ".parquet":
                kept |= named(pq.read_table(path).to_pylist())
            case ".gz":
                kept |= named(gzip.decompress(path.read_bytes()))
            case ".txt":
                kept |= named(path.name)
            case _:
                kept |= named(path.read_text("utf-8"))
    removals = pq.read_table(out / "removed.parquet").to_pylist()
    known = named(RECORDS[::2] if bench.case.name == "dedup texts" else RECORDS)
    removed, witnesses = (named([row[column] for row in removals]) for column in ("id", "witness_id"))
    return (known - kept - removed) | (witnesses - kept)


def each_read(bench, chosen):
    """Fail, and judge, read after read."""
    bench.reset()
    old, sources = bench.found(), tree(bench.home / "in")
    counted = bench.run("count", 0, ["read"], "in")
    new = bench.found()
    assert old != new
    assert counted["calls"] > 2
    failed = 0
    for nth in chosen(counted["calls"]):
        bench.reset()
        answer = bench.run("fail", nth, ["read"], "in")
        where, found = f"read {nth} of {counted['calls']}", bench.found()
        judge(answer, where, (0, 2, 3))
        failed += answer["status"] != 0
        if answer["status"] == 0:
            assert new == found, f"{where}: done, and the output is another"
        elif found not in (old, new):  # what could not be read is counted, and nothing is lost
            assert answer["status"] == 3, f"{where}: {answer}"
            assert bench.case.name.startswith("dedup"), f"{where}: {answer}"
            assert json.loads((bench.home / "out" / "stats.json").read_bytes())["skipped"] > 0, f"{where}: {answer}"
            assert set() == lost(bench), f"{where}: {answer}"
        assert sources == tree(bench.home / "in"), f"{where}: a source was touched"
        assert [] == hidden(bench.home), f"{where}: something was left behind"
    assert failed


@pytest.mark.slow
@pytest.mark.parametrize("bench", SAMPLE, indirect=True, ids=lambda case: case.name)
def test_a_source_that_cannot_be_read_at_some_point(bench):
    """A clean error and the old output, or an output that has every document."""
    each_read(bench, some)


@pytest.mark.long
def test_a_source_that_cannot_be_read_at_any_point(bench):
    """The same for every command with an output, and all reads."""
    each_read(bench, lambda calls: range(1, calls + 1))


@pytest.fixture
def resumable(failing, tmp_path):
    """A command that keeps its finished steps."""
    case = dedup("a.jsonl", "--workdir", "{home}/work")
    bench = set_up(case, failing, tmp_path)
    bench.reset()
    return bench


def goes_on(bench, chosen, mode, kinds, *, finished):
    """Let a call about the work folder fail; then the same command ends as if nothing had happened."""
    old = bench.found()
    if finished:
        assert 0 == bench.run("count", 0, kinds, "work")["status"]
    steps = bench.home.parent / "steps"
    if finished:
        (bench.home / "work").rename(steps)

    def again():
        bench.reset()
        if finished:
            shutil.copytree(steps, bench.home / "work")

    again()
    counted = bench.run("count", 0, kinds, "work")
    assert 0 == counted["status"], counted
    new = bench.found()
    assert counted["calls"] > 3
    stopped = 0
    for nth in chosen(counted["calls"]):
        again()
        answer = bench.run(mode, nth, kinds, "work")
        where = f"{mode} at call {nth} of {counted['calls']}"
        judge(answer, where, (0, 2))
        assert bench.found() == (old if answer["status"] else new), f"{where}: {answer}"
        stopped += answer["status"] != 0
        after = bench.run("count", 0, kinds, "work")
        assert (0, new) == (after["status"], bench.found()), f"{where}, and again: {after}"
        assert [] == hidden(bench.home), where
    return stopped


@pytest.mark.slow
def test_a_work_folder_that_fills_up(resumable):
    """A clean error, the old output stays, and the same command goes on when there is room."""
    assert goes_on(resumable, some, "full", ["write", "make"], finished=False)


@pytest.mark.slow
def test_a_work_folder_that_cannot_be_read_at_some_point(resumable):
    """Neither finished steps nor those of this run: they are computed again, or it is a clean error."""
    goes_on(resumable, some, "fail", ["read"], finished=True)


@pytest.mark.long
def test_a_work_folder_that_fills_up_at_any_point(resumable):
    """The same for all calls."""
    assert goes_on(resumable, lambda calls: range(1, calls + 1), "full", ["write", "make"], finished=False)


@pytest.mark.long
def test_a_work_folder_that_cannot_be_read_at_any_point(resumable):
    """The same for all reads."""
    goes_on(resumable, lambda calls: range(1, calls + 1), "fail", ["read"], finished=True)
