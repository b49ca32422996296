"""What other systems lack: the run is the same without it. Only Linux is here; each lack is made by taking away."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nearsame import machine
from nearsame.demo import corpus_path

CORPUS = corpus_path()
NO_LOCKS = "import os, sys; sys.modules['fcntl'] = None; del os.sched_getaffinity, os.getuid"


def _run(lacking: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    code = f"{lacking}\nfrom nearsame.cli.main import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("lacking", ["", "import os; del os.sched_getaffinity", NO_LOCKS], ids=["all", "macOS", "none"])
def test_commands_give_the_same_answer(lacking: str, tmp_path: Path) -> None:
    """As many threads as there are processors, then; and a folder is written without a lock."""
    found = _run(lacking, "dedup", CORPUS, "-o", tmp_path / "out")
    assert (0, "") == (found.returncode, found.stderr if found.returncode else "")
    stats = json.loads((tmp_path / "out" / "stats.json").read_bytes())
    assert (369, 166) == (stats["documents"], stats["kept"])
    assert 0 == _run(lacking, "pairs", CORPUS, "-o", tmp_path / "pairs.parquet").returncode
    assert 0 == _run(lacking, "verify", tmp_path / "out").returncode
    assert 0 == _run(lacking, "dedup", CORPUS, "-o", tmp_path / "out", "--overwrite").returncode


def test_a_work_directory_wants_a_lock(tmp_path: Path) -> None:
    """Two processes in one would spoil it."""
    found = _run(NO_LOCKS, "dedup", CORPUS, "-o", tmp_path / "out", "--workdir", tmp_path / "work")
    assert found.returncode != 0
    assert "cannot be locked" in found.stderr.splitlines()[0]


def test_a_lock_is_held_against_others(tmp_path: Path) -> None:
    """Until its file is closed."""
    first, second = (os.open(tmp_path, os.O_RDONLY) for _ in range(2))
    machine.lock(first)
    with pytest.raises(BlockingIOError):
        machine.lock(second, wait=False)
    os.close(first)
    machine.lock(second, wait=False)
    os.close(second)


def test_without_locks_none_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can do without goes on; numbers of processors and users are known or not."""
    monkeypatch.setattr(machine, "fcntl", None)
    with pytest.raises(OSError) as caught:  # noqa: PT011  (its number is looked at)
        machine.lock(0)
    assert errno.ENOLCK == caught.value.errno
    assert (machine.num_processors(), machine.user()) == (len(os.sched_getaffinity(0)), os.getuid())
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.delattr(os, "getuid")
    assert (machine.num_processors(), machine.user()) == (os.cpu_count(), None)
