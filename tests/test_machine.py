"""What other systems lack: the answer is the same without it. Only Linux is here; it is taken away."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nearsame as ns
from nearsame.demo import corpus_path
from nearsame.machine import num_processors


@pytest.mark.parametrize("lacking", ["", "import os; del os.sched_getaffinity"], ids=["Linux", "macOS"])
def test_commands_give_the_same_answer(lacking: str, tmp_path: Path) -> None:
    """With as many threads as there are processors, then."""

    def run(*arguments: object) -> tuple[int, str]:
        code = f"{lacking}\nfrom nearsame.cli.main import main\nmain()"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    out = tmp_path / "out"
    for command in (
        ("dedup", corpus_path(), "-o", out, "--workdir", tmp_path / "work"),
        ("dedup", corpus_path(), "-o", out, "--overwrite"),
        ("pairs", corpus_path(), "-o", tmp_path / "pairs.parquet"),
        ("verify", out),
    ):
        status, said = run(*command)
        assert 0 == status, said
    stats = json.loads((out / "stats.json").read_bytes())
    assert (369, 166) == (stats["documents"], stats["kept"])


def test_a_work_directory_wants_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes in one would spoil it; some network file systems have none."""

    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(ns.WorkdirError, match="cannot be locked: No locks available"):
        ns.dedup(corpus_path(), workdir=tmp_path / "work")


def test_without_a_list_of_processors_all_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the system has."""
    assert num_processors() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert num_processors() == os.cpu_count()
