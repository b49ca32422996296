"""How benchmarks run whole processes: wall time, processor time and peak memory of a command and all that it starts.

1. The peak is the sum of each process's own high-water mark, so never too low. It is read from /proc (Linux) while the
   processes live: a child's `ru_maxrss` would count what its parent had at the fork.
2. A command that fails ends the benchmark with what it said.
"""

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Run:
    """One process, from its start to its end."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def run(command: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Run a command and measure it."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, env={**os.environ, **environment})
        watch = _Watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        peak_bytes = watch.stop()
        texts = [_content(file) for file in (output, errors)]
    if process.returncode != 0:
        raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}\n{texts[0]}{texts[1]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak_bytes, texts[0])


def _content(file: "tempfile._TemporaryFileWrapper[bytes]") -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


class _Watch:
    """Follows a process and its descendants until told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peaks: dict[int, int] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """The sum of the peaks."""
        self._done.set()
        self._thread.join()
        return sum(self._peaks.values())

    def _follow(self) -> None:
        while not self._done.wait(POLL_SECONDS):
            for pid in _tree(self._pid):
                peak = _peak_bytes(pid)
                self._peaks[pid] = max(self._peaks.get(pid, 0), peak)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, _read(task).split())
    return found


def _peak_bytes(pid: int) -> int:
    found = re.search(r"^VmHWM:\s*(\d+) kB", _read(Path(f"/proc/{pid}/status")), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):  # the process has just ended
        return ""
