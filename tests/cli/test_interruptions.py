"""A run that is ended leaves nothing behind, and a reader that leaves is not an error."""

import json
import lzma
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nearsame.sources.jsonl import JsonLines
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


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_ended_while_reading_leaves_nothing(number, status, tmp_path):
    """Neither a folder nor a traceback."""
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    command = [NEARSAME, "dedup", "-", "-o", tmp_path / "clean"]
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
