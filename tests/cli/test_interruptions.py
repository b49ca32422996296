"""A run that is ended leaves nothing behind, and a reader that leaves is not an error."""

import json
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.clock import Silent
from nearsame.flow.arrays import Arrays
from nearsame.kernels import buckets as kernel
from nearsame.sources.jsonl import JsonLines
from nearsame.sources.streams import sink
from tests.patience import PATIENCE, eventually

from .commands import documents, leftovers, run, words, write_jsonl

NEARSAME = Path(sys.executable).with_name("nearsame")


@pytest.fixture(scope="module")
def slow_to_write(tmp_path_factory):
    """A source that takes seconds to compress again, and well under one to read."""
    lines = (json.dumps({"text": f"{seed} {os.urandom(4000).hex()}"}) for seed in range(800))
    path = tmp_path_factory.mktemp("slow") / "a.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=0))
    return path


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_ended_while_writing_leaves_nothing(number, status, slow_to_write, tmp_path):
    """Neither the folder nor the temporary one, and no traceback."""
    run_ = subprocess.Popen(
        [NEARSAME, "dedup", slow_to_write, "-o", tmp_path / "clean", "-q"], stderr=subprocess.PIPE, text=True
    )
    with run_:
        assert eventually(lambda: any(tmp_path.glob(".clean.*/new/kept/*")))
        run_.send_signal(number)
        said = run_.communicate(timeout=PATIENCE)[1]
    assert (status, "") == (run_.returncode, said.strip())
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGXCPU, 152)],
)
def test_a_run_ended_while_reading_leaves_nothing(number, status, tmp_path):
    """Neither a folder nor a traceback."""
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    heard = f"--default-signal={number.name.removeprefix('SIG')}"  # also where these tests are to outlive a terminal
    command = ["env", heard, NEARSAME, "dedup", "-", "-o", tmp_path / "clean"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as run_:
        assert eventually(lambda: any(tmp_path.glob("temporary/nearsame-*")))
        run_.send_signal(number)
        assert eventually(lambda: run_.poll() is not None)
        said = run_.stderr.read()
    assert (status, "") == (run_.returncode, said.strip())
    assert ["temporary"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError, ValueError])
def test_whatever_ends_the_writing_leaves_the_old_folder(error, tmp_path, monkeypatch):
    """With --overwrite the old folder stays until the new one is complete."""
    source = write_jsonl(tmp_path / "a.jsonl", documents())
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "old").touch()

    def fail(self, target, removed, annotations=None):
        target.write_text("half", "utf-8")
        raise error

    monkeypatch.setattr(JsonLines, "copy", fail)
    done = run("dedup", source, "-o", tmp_path / "clean", "--overwrite")
    assert done.exit_code not in (0, 3)
    assert "Traceback" not in done.stderr
    assert ["old"] == [path.name for path in (tmp_path / "clean").iterdir()]
    assert [] == leftovers(tmp_path)


@pytest.mark.parametrize("command", [["pairs", "-o", "-"], ["dedup", "--dry-run"]])
def test_a_reader_that_leaves_is_no_error(command, tmp_path):
    """As with other tools, the exit code is that of SIGPIPE, and nothing is said."""
    source = write_jsonl(tmp_path / "a.jsonl", [{"text": " ".join(words(9, seed % 40))} for seed in range(2000)])
    with subprocess.Popen(
        [NEARSAME, command[0], source, *command[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run_:
        run_.stdout.close()
        said = run_.stderr.read()
    assert 141 == run_.returncode
    assert "error" not in said.lower()
    assert "Traceback" not in said


class Interrupting(Silent):
    """Presses Ctrl-C when a step begins; in reading, when the fifth batch has come."""

    def __init__(self, step):
        self.step, self.batches = step, 0

    def begin(self, stage, total_bytes=None):
        """Is it this one?"""
        if stage == self.step != "features":
            signal.raise_signal(signal.SIGINT)

    def add(self, documents, num_bytes):
        """Count batches."""
        self.batches += 1
        if self.step == "features" and self.batches == 5:
            signal.raise_signal(signal.SIGINT)


def threads():
    """Those of runs that are at work."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("nearsame") and thread.is_alive()]


@pytest.mark.threaded
@pytest.mark.parametrize(
    "step", ["features", "identical", "counts", "keys", "meeting", "deciding", "joining", "writing"]
)
def test_ctrl_c_ends_a_run_in_python_with_its_threads(step, tmp_path, monkeypatch):
    """At every step, also when the traceback is kept, as notebooks do."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    before = set(threads())
    texts = [" ".join(words(30, seed % 400)) for seed in range(900)]
    ask = ns.pairs if step == "joining" else lambda *args, **how: ns.dedup(*args, **how).write(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt) as kept:
        ask(texts, batch_rows=50, progress=Interrupting(step))
    assert kept
    assert step == "writing" or eventually(lambda: not set(threads()) - before)
    assert not list(tmp_path.glob("out")) + list(tmp_path.glob("nearsame-*"))


@pytest.fixture(params=[True, False], ids=["as Python has it", "as Polars has it"])
def _ends_waiting(request):
    """Whether Ctrl-C ends the wait for a lock: as soon as Polars is imported, the system goes on waiting."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.threaded
@pytest.mark.usefixtures("_ends_waiting")
def test_a_step_that_one_call_takes_long_for_is_not_waited_for(monkeypatch):
    """Compiled code hears no Ctrl-C: it runs in a thread of its own, which does nothing when it comes back."""
    begun, let_go, back, after = threading.Event(), threading.Event(), [], []

    def group_equal(*_):
        begun.set()
        let_go.wait(PATIENCE)
        back.append("late")

    monkeypatch.setattr(kernel, "group_equal", group_equal)
    monkeypatch.setattr(Arrays, "leaders", lambda *_: after.append("went on"))
    threading.Thread(target=lambda: (begun.wait(PATIENCE), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        ns.dedup(["a b c d e f", "a b c d e f"])
    assert [] == back
    let_go.set()
    assert eventually(lambda: not [one for one in threads() if one.name == "nearsame-step"])
    assert [] == after


@pytest.mark.usefixtures("_ends_waiting")
def test_copies_of_several_files_end_at_their_next_write(tmp_path, monkeypatch):
    """However much of them is left to be written; nothing is left behind."""
    (tmp_path / "in").mkdir()
    for name in "abc":
        write_jsonl(tmp_path / "in" / f"{name}.jsonl", documents())
    written, lines = [], JsonLines.lines

    def endless(self, *args, **how):
        yield from lines(self, *args, **how)
        while len(written) < 1_000_000:
            written.append(self.name)
            if len(written) == 40:
                os.kill(os.getpid(), signal.SIGINT)
            yield b" " * 100_000

    def copy(self, target, removed, annotations=None, *, drop_unread=False):
        with sink(target, None) as out:
            out.writelines(endless(self, removed))

    monkeypatch.setattr(JsonLines, "copy", copy)
    found = ns.dedup(tmp_path / "in")
    with pytest.raises(KeyboardInterrupt):
        found.write(tmp_path / "out")
    assert len(written) < 1_000_000
    assert ["in"] == [path.name for path in tmp_path.iterdir()]


def test_a_run_that_is_to_outlive_its_terminal_does(tmp_path):
    """As by nohup."""
    command = ["nohup", NEARSAME, "dedup", "-", "-o", tmp_path / "clean"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as run_:
        assert eventually(lambda: any(tmp_path.glob("nearsame-*")))
        run_.send_signal(signal.SIGHUP)
        run_.communicate(b'{"text": "a rose is a rose"}\n', timeout=PATIENCE)
    assert 0 == run_.returncode
    assert (tmp_path / "clean/stats.json").exists()
