"""What other systems lack: the answer is the same without it. Only Linux is here; it is taken away."""

import errno
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import nearsame as ns
from nearsame import machine
from nearsame.demo import corpus_path
from nearsame.machine import free_memory, num_processors


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


FREE, GROUPS = 8_000_000 << 10, "sys/fs/cgroup"
MEMINFO = "MemTotal: 16000000 kB\nMemFree: 1000 kB\nMemAvailable: 8000000 kB\nHugePages_Total: 0\n"


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Has the system tell what is given, by paths below its root."""
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)

    def tell(cgroup: str, files: dict[str, str]) -> None:
        for name, said in {"proc/meminfo": MEMINFO, "proc/self/cgroup": cgroup, **files}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(said)

    return tell


@pytest.mark.parametrize(
    ("cgroup", "files", "free"),
    [
        ("0::/\n", {}, FREE),
        ("0::/\n", {"memory.max": "max\n", "memory.current": "5\n"}, FREE),
        ("0::/\n", {"memory.max": "1000\n", "memory.current": "300\n"}, 700),
        ("0::/\n", {"memory.max": "1000\n", "memory.high": "900\n", "memory.current": "300\n"}, 600),
        ("0::/\n", {"memory.max": "1000\n", "memory.current": "1200\n"}, 0),
        (
            "0::/a/b\n",
            {"a/b/memory.max": "max", "a/b/memory.current": "1", "a/memory.max": "9", "a/memory.current": "2"},
            7,
        ),
        (
            "0::/a/b\n",
            {"a/b/memory.max": "8", "a/b/memory.current": "1", "a/memory.max": "9", "a/memory.current": "5"},
            4,
        ),
        ("0::/caf\xe9\n", {"memory.max": "1000", "memory.current": "300"}, 700),
        ("0::/../../the/host's/name\n", {"memory.max": "1000", "memory.current": "300"}, 700),
        (
            "0::/\n",
            {
                "memory.max": "1000",
                "memory.current": "900",
                "memory.stat": "anon 300\ninactive_file 400\nactive_file 200\n",
            },
            700,
        ),
        ("4:memory:/d\n0::/\n", {"memory/d/memory.limit_in_bytes": "1000", "memory/d/memory.usage_in_bytes": "1"}, 999),
        ("4:cpu,memory:/d\n", {"cpu,memory/memory.limit_in_bytes": "100", "cpu,memory/memory.usage_in_bytes": "1"}, 99),
        ("4:cpu,memory:/d\n", {"memory/memory.limit_in_bytes": "100", "memory/memory.usage_in_bytes": "1"}, 99),
        ("4:cpu:/\n", {"memory/memory.limit_in_bytes": "100", "memory/memory.usage_in_bytes": "1"}, FREE),
        (
            "4:memory:/\n",
            {
                "memory/memory.limit_in_bytes": "1000",
                "memory/memory.usage_in_bytes": "900",
                "memory/memory.stat": "inactive_file 1\ntotal_inactive_file 400\ntotal_active_file 300\n",
            },
            800,
        ),
        ("4:memory:/\n", {"memory/memory.limit_in_bytes": "-1", "memory/memory.usage_in_bytes": "900"}, FREE),
        ("\nno line of groups\n1:memory\n::::\n", {"memory.max": "\xff", "memory.current": "one"}, FREE),
    ],
)
def test_what_control_groups_leave_of_memory(
    told: Callable[..., None], cgroup: str, files: dict[str, str], free: int
) -> None:
    """In a container half of the host's memory may be more than there is, and who takes it is ended without a word."""
    told(cgroup, {f"{GROUPS}/{name}": said for name, said in files.items()})
    assert free == free_memory()


def test_where_nothing_is_told_of_memory_some_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)
    assert 4 << 30 == free_memory()


@pytest.mark.parametrize(
    ("cgroup", "files", "processors"),
    [
        ("0::/\n", {}, 64),
        ("0::/\n", {"cpu.max": "max 100000\n"}, 64),
        ("0::/\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "1000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "99900000 100000\n"}, 64),
        ("0::/a\n", {"a/cpu.max": "max 100000", "cpu.max": "300000 100000"}, 3),
        ("0::/\n", {"cpu.max": "0 0"}, 64),
        (
            "2:cpu,cpuacct:/d\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "400000", "cpu,cpuacct/cpu.cfs_period_us": "100000"},
            4,
        ),
        ("2:cpu:/d\n", {"cpu/d/cpu.cfs_quota_us": "-1", "cpu/d/cpu.cfs_period_us": "100000"}, 64),
        ("2:cpuacct:/d\n", {"cpuacct/cpu.cfs_quota_us": "100000", "cpuacct/cpu.cfs_period_us": "100000"}, 64),
    ],
)
def test_what_control_groups_leave_of_processors(
    told: Callable[..., None], cgroup: str, files: dict[str, str], processors: int
) -> None:
    """A container of two on a host of 64 is not to have 64 threads, each with its memory."""
    told(cgroup, {f"{GROUPS}/{name}": said for name, said in files.items()})
    assert processors == num_processors()


def test_without_a_list_of_processors_all_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the system has."""
    monkeypatch.setattr(machine, "_SYSTEM", tmp_path)  # as if no control group bounded them
    assert num_processors() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert num_processors() == os.cpu_count()
