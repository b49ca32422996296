"""A work directory continues what it is about, and nothing else; what is damaged is made again."""

import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import nearsame as ns
from nearsame.engines.checkpoints import Checkpoints
from nearsame.errors import WorkdirError
from nearsame.files.inputs import Inputs, local_stamp
from nearsame.files.systems import File
from nearsame.flow import identities, steps

from .made import documents


@pytest.fixture
def corpus(tmp_path) -> Path:
    """Two files of made-up texts."""
    home = tmp_path / "corpus"
    home.mkdir()
    texts = documents(240)
    for number in range(2):
        csv.write_csv(pa.table({"text": texts[number::2]}), home / f"{number}.csv")
    return home


def found(corpus, workdir, **how):
    """The removals of a run that continues in a work directory."""
    return ns.dedup(corpus, workdir=workdir, batch_rows=20, **how).removals


def files(workdir: Path, pattern: str = "**/*") -> list[Path]:
    """What a work directory holds."""
    return sorted(path for path in workdir.glob(pattern) if path.is_file())


def test_a_second_run_computes_nothing_that_the_first_has_put_away(corpus, tmp_path):
    """No stage runs; the answer is the same, and the same as without a work directory."""
    first = found(corpus, tmp_path / "w")
    times = [path.stat().st_mtime_ns for path in files(tmp_path / "w", "*/*")]
    again = ns.dedup(corpus, workdir=tmp_path / "w", batch_rows=20)
    assert first.equals(again.removals)
    assert first.equals(ns.dedup(corpus).removals)
    assert {} == dict(again.run.state.corpus.engine.seconds)
    assert times == [path.stat().st_mtime_ns for path in files(tmp_path / "w", "*/*")]


@pytest.mark.parametrize("pattern", ["features/*.arrow", "identical/*", "meeting/*"])
@pytest.mark.parametrize("damage", ["cut", "emptied", "gone", "zeroed end"])
def test_what_a_power_cut_damaged_is_made_again(pattern, damage, corpus, tmp_path):
    """Any file, in any way that shows in its size or its ends."""
    expected = found(corpus, tmp_path / "w")
    for path in files(tmp_path / "w", pattern):
        content = path.read_bytes()
        match damage:
            case "cut":
                path.write_bytes(content[: len(content) // 2])
            case "emptied":
                path.write_bytes(b"")
            case "gone":
                path.unlink()
            case "zeroed end":
                path.write_bytes(content[:-8] + b"\0" * (4 if path.suffix == ".npy" else 8))
        assert expected.equals(found(corpus, tmp_path / "w"))


def test_half_written_files_are_taken_away(corpus, tmp_path):
    """Left by a process that was killed."""
    expected = found(corpus, tmp_path / "w")
    (tmp_path / "w" / "features" / "00000099.tmp").write_bytes(b"half")
    (tmp_path / "w" / "meeting.tmp").mkdir()
    (tmp_path / "w" / ".nearsame-left").mkdir()
    before = {path.name for path in files(tmp_path / "w")} - {"00000099.tmp"}
    assert expected.equals(found(corpus, tmp_path / "w"))
    assert before == {path.name for path in files(tmp_path / "w")}
    assert [] == [*(tmp_path / "w").glob("*.tmp"), *(tmp_path / "w").glob(".nearsame-*")]


def test_a_kill_at_the_very_first_write_leaves_a_folder_that_can_be_used(corpus, tmp_path):
    """run.json was being written."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "run.tmp").write_text('{"vers', "utf-8")
    (tmp_path / "w" / "lock").touch()
    assert found(corpus, tmp_path / "w").equals(ns.dedup(corpus).removals)


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"method": ns.Jaccard(threshold="0.7")}, "threshold was 0.8 and is 0.7"),
        ({"method": ns.MinHash()}, "method was 'jaccard' and is 'minhash'"),
        ({"keep": "last"}, "keep was ['first'] and is ['last']"),
    ],
)
def test_another_recipe_is_refused_by_the_names_of_its_fields(how, expected, corpus, tmp_path):
    """With what they were and are."""
    found(corpus, tmp_path / "w")
    with pytest.raises(WorkdirError, match=re.escape(expected)) as told:
        found(corpus, tmp_path / "w", **how)
    assert told.value.hint


def test_another_version_is_refused(corpus, tmp_path, monkeypatch):
    """What it left may mean something else."""
    found(corpus, tmp_path / "w")
    monkeypatch.setattr(identities, "__version__", "99.0")
    with pytest.raises(WorkdirError, match=r"version was '.*' and is '99\.0'"):
        found(corpus, tmp_path / "w")


def test_a_changed_input_is_named_with_sizes_and_times(corpus, tmp_path):
    """By size, or by time alone."""
    found(corpus, tmp_path / "w")
    path = corpus / "1.csv"
    content, stamp = path.read_bytes(), path.stat()
    path.write_bytes(content + b'"another"\n')
    size = len(content)
    with pytest.raises(WorkdirError, match=rf"1\.csv was {size:,} bytes, modified .* is {size + 10:,} bytes"):
        found(corpus, tmp_path / "w")
    path.write_bytes(content)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    with pytest.raises(WorkdirError, match=rf"1\.csv was {size:,} bytes, modified .* is {size:,} bytes, modified"):
        found(corpus, tmp_path / "w")


def test_a_new_and_a_missing_input_are_named(corpus, tmp_path):
    """Without the new one the same run goes on."""
    expected = found(corpus, tmp_path / "w")
    shutil.copy(corpus / "1.csv", corpus / "2.csv")
    with pytest.raises(WorkdirError, match=r"2\.csv is new"):
        found(corpus, tmp_path / "w")
    (corpus / "2.csv").unlink()
    assert expected.equals(found(corpus, tmp_path / "w"))
    (corpus / "1.csv").unlink()
    with pytest.raises(WorkdirError, match=r"1\.csv is gone"):
        found(corpus, tmp_path / "w")


@pytest.mark.parametrize("replaced", [False, True], ids=["rewritten", "replaced"])
@pytest.mark.parametrize("kind", ["file", "url", "folder", "zip"])
def test_contents_of_the_same_size_with_the_time_set_back_are_another_input(tmp_path, kind, replaced):
    """A time can be set back; else the answer would be of texts that are no more, and the only copy of one be lost."""
    home = tmp_path / "in"
    home.mkdir()
    path = home / ("a.zip" if kind == "zip" else "a.txt" if kind == "folder" else "a.csv")
    source = {"file": path, "url": f"file://{path}", "folder": home, "zip": f"zip://a.csv::{path}"}[kind]
    _write(path, kind, "AAB")
    stamp = path.stat()
    ns.dedup(source, workdir=tmp_path / "w")
    _write(tmp_path / path.name if replaced else path, kind, "ABA")
    if replaced:
        os.utime(tmp_path / path.name, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        (tmp_path / path.name).rename(path)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert (stamp.st_size, stamp.st_mtime_ns) == (path.stat().st_size, path.stat().st_mtime_ns)
    with pytest.raises(WorkdirError, match=r"belongs to another run: .* was .* and is "):
        ns.dedup(source, workdir=tmp_path / "w")


def _write(path: Path, kind: str, texts: str) -> None:
    lines = "\n".join(["text", *(each * 9 for each in texts), ""])
    if kind == "folder":
        path.write_text(texts * 9, "utf-8")
    elif kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo("a.csv"), lines)
    else:
        path.write_text(lines, "utf-8")


def test_another_number_of_rows_in_files_that_look_the_same_is_noticed(tmp_path, monkeypatch):
    """Same size, same times, as where a file system keeps none: the rows of a batch tell, or their total."""
    monkeypatch.setattr(File, "stamp", lambda file: local_stamp(Path(file.url).stat())[:2])
    monkeypatch.setattr(Inputs, "require_unchanged", lambda _: None)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one two"}\n' * 30, "utf-8")
    stamp = path.stat()
    ns.dedup(path, workdir=tmp_path / "w", batch_rows=20)
    path.write_text('{"text": "one two"}\n' * 29 + " " * 19 + "\n", "utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert stamp.st_size == path.stat().st_size
    with pytest.raises(WorkdirError, match=r"was 10 documents from 20 on, and is 9 documents from 20 on"):
        ns.dedup(path, workdir=tmp_path / "w", batch_rows=20)
    path.write_text('{"text": "one two"}\n' * 20 + " " * 199 + "\n", "utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    with pytest.raises(WorkdirError, match="features was 2 batches, 30 documents, and is 1 batches, 20 documents"):
        ns.dedup(path, workdir=tmp_path / "w", batch_rows=20)


def test_a_folder_with_other_things_in_it_is_left_alone(corpus, tmp_path):
    """It is named by what it holds."""
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "thesis.tex").touch()
    with pytest.raises(WorkdirError, match=r"is not a work directory: it holds thesis\.tex"):
        found(corpus, tmp_path / "w")


def test_documents_in_memory_cannot_be_continued(tmp_path):
    """There is nothing to tell whether they are the same."""
    with pytest.raises(ns.errors.ConfigError, match="workdir works with files only, and memory is not a file"):
        ns.dedup(["a rose"], workdir=tmp_path / "w")


def test_one_process_at_a_time_and_the_lock_dies_with_it(tmp_path):
    """The second is refused at once, with the number of the first; killed, it is out of the way."""
    code = "import sys, time; from nearsame.engines.checkpoints import Checkpoints; from pathlib import Path; "
    code += "held = Checkpoints(Path(sys.argv[1]), {}); print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code, tmp_path / "w"], stdout=subprocess.PIPE, text=True) as owner:
        assert "held\n" == owner.stdout.readline()
        with pytest.raises(WorkdirError, match=f"is in use by process {owner.pid}$") as told:
            Checkpoints(tmp_path / "w", {})
        assert "Wait for it" in told.value.hint
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        Checkpoints(tmp_path / "w", {}).close()


def test_a_run_that_failed_lets_go_of_its_folder(corpus, tmp_path, monkeypatch):
    """Even while somebody still holds the error."""

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(steps, "plan_counting", fail)
        with pytest.raises(MemoryError) as told:
            found(corpus, tmp_path / "w")
    assert told.value is not None
    assert found(corpus, tmp_path / "w").num_rows > 0


def test_arrays_come_back_as_they_were(tmp_path):
    """Of any type and size, empty ones included; computed once."""
    arrays = np.arange(5), np.zeros(0, np.int32), np.array([2**64 - 1], np.uint64), np.array([True, False])
    checkpoints = Checkpoints(tmp_path / "w", {})
    first = checkpoints.once("step", lambda: arrays)
    again = checkpoints.once("step", lambda: pytest.fail("computed twice"))
    assert [array.tolist() for array in arrays] == [array.tolist() for array in first]
    checkpoints.close()
    assert [(array.dtype, array.tolist()) for array in arrays] == [(array.dtype, array.tolist()) for array in again]
