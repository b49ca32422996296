"""A real standalone cluster on loopback: a master and two workers of one core each, and the executors below them.

1. Everything is a process that was started here, by Spark's own scripts; all are ended by their number.
2. The two workers have addresses of their own (127.0.0.1 and 127.0.0.2): Spark never runs a speculative copy of a task
   on the host that has the first.
3. Ports are free ones; logs and work lie in the folder that is given.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE

__all__ = ["Cluster", "cluster"]

ROOT = Path(__file__).resolve().parent.parent.parent
_HOSTS = ("127.0.0.1", "127.0.0.2")
_CLASSES = "org.apache.spark.deploy"


@dataclass(frozen=True)
class Cluster:
    """Where the master is, and which processes the workers are."""

    url: str
    workers: tuple[int, ...]
    folder: Path

    def executors(self) -> list[int]:
        """The processes that workers have started and that live."""
        return [child for worker in self.workers for child in _children(worker)]

    def kill_executor(self) -> int:
        """End the youngest executor without a word, with all that it started; its number."""
        last = max(self.executors(), key=_born)  # of an application that has ended one may still be there
        for process in (last, *_below(last)):
            _signal(process, signal.SIGKILL)
        return last


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that lives as long as the block."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        master = _start("master.Master", ["--host", _HOSTS[0], "--port", "0", "--webui-port", "0"], folder / "master")
        started.append(master)
        url = _said(folder / "master", r"Starting Spark master at (spark://\S+)", master)
        for number, host in enumerate(_HOSTS):
            home = folder / f"worker-{number}"
            options = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(home)]
            started.append(_start("worker.Worker", [*options, url], home))
        for number, worker in enumerate(started[1:]):
            _said(folder / f"worker-{number}", r"(Successfully registered) with master", worker)
        yield Cluster(url, tuple(worker.pid for worker in started[1:]), folder)
    finally:
        for process in reversed(started):
            for each in _below(process.pid):
                _signal(each, signal.SIGKILL)
            process.kill()
            process.wait()


def _start(name: str, options: list[str], home: Path) -> "subprocess.Popen[bytes]":
    import pyspark

    spark = Path(pyspark.__file__).parent
    home.mkdir(parents=True)
    environment = {
        **os.environ,
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_DIRS": str(home),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
    }
    command = [str(spark / "bin" / "spark-class"), f"{_CLASSES}.{name}", *options]  # it becomes the Java process
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )


def _said(home: Path, pattern: str, process: "subprocess.Popen[bytes]") -> str:
    """What a process has written into its log by now, or will soon."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        if found := re.search(pattern, (home / "log").read_text("utf-8", errors="replace")):
            return found[1]
        time.sleep(0.1)
    raise AssertionError(f"{pattern!r} is not in the log:\n{(home / 'log').read_text('utf-8', errors='replace')}")


def _children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, task.read_text("ascii").split())
        except OSError:  # it has just ended
            continue
    return found


def _born(process: int) -> int:
    """When it was started, in the system's ticks; a process that has ended was not."""
    try:
        told = Path(f"/proc/{process}/stat").read_text("ascii")
    except OSError:
        return 0
    return int(told.rpartition(")")[2].split()[19])


def _below(process: int) -> list[int]:
    found = _children(process)
    for each in found:
        found += _children(each)
    return found


def _signal(process: int, number: signal.Signals) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return
