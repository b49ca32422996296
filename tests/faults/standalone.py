"""A real standalone cluster on loopback: a master and two workers of one core each, and the executors below them.

1. Everything is a process that was started here, by Spark's own scripts; all are ended by their number.
2. The two workers have addresses of their own (127.0.0.1 and 127.0.0.2): Spark never runs a speculative copy of a task
   on the host that has the first.
3. Ports are free ones; logs and work lie in the folder that is given.
4. Workers import nearsame from this checkout, or from nowhere: then each application brings it.
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


Process = subprocess.Popen[bytes]


@dataclass(frozen=True)
class Cluster:
    """Where the master is, and which processes the workers are, by their addresses."""

    url: str
    folder: Path
    workers: dict[str, Process]
    knows_nearsame: bool = True

    def start_worker(self, host: str) -> None:
        """One at this address; it is there when the master knows it."""
        home = self.folder / f"worker-{len(list(self.folder.glob('worker-*')))}"
        options = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(home)]
        self.workers[host] = _start("worker.Worker", [*options, self.url], home, knows_nearsame=self.knows_nearsame)
        _said(home, r"(Successfully registered) with master", self.workers[host])

    def executors(self) -> list[int]:
        """The processes that workers have started and that live."""
        return [child for worker in self.workers.values() for child in _children(worker.pid)]

    def kill_executor(self) -> int:
        """End the youngest executor without a word, with all that it started; its number."""
        last = max(self.executors(), key=_born)  # of an application that has ended one may still be there
        for process in (last, *_below(last)):
            _signal(process, signal.SIGKILL)
        return last

    def kill_worker(self) -> str:
        """End a worker without a word, as a machine that is switched off; its address."""
        host, worker = self.workers.popitem()
        _end(worker)
        return host


@contextmanager
def cluster(folder: Path, *, knows_nearsame: bool = True) -> Iterator[Cluster]:
    """A cluster that lives as long as the block."""
    options = ["--host", _HOSTS[0], "--port", "0", "--webui-port", "0"]
    master, workers = _start("master.Master", options, folder / "master", knows_nearsame=False), {}
    try:
        url = _said(folder / "master", r"Starting Spark master at (spark://\S+)", master)
        found = Cluster(url, folder, workers, knows_nearsame)
        for host in _HOSTS:
            found.start_worker(host)
        yield found
    finally:
        for process in (*workers.values(), master):
            _end(process)


def _end(process: Process) -> None:
    for each in (process.pid, *_below(process.pid)):
        _signal(each, signal.SIGKILL)
    process.wait()


def _start(name: str, options: list[str], home: Path, *, knows_nearsame: bool) -> Process:
    import pyspark

    spark = Path(pyspark.__file__).parent
    home.mkdir(parents=True)
    ours = {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT))),
    }
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ours},
        **(ours if knows_nearsame else {}),
        "SPARK_HOME": str(spark),
        "SPARK_LOCAL_DIRS": str(home),
        "SPARK_DAEMON_MEMORY": "256m",
    }
    command = [str(spark / "bin" / "spark-class"), f"{_CLASSES}.{name}", *options]  # it becomes the Java process
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
        )


def _said(home: Path, pattern: str, process: Process) -> str:
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
