"""A cluster that loses executors and tasks gives the same answer: a real one, of a master and two workers."""

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import sparks
from tests.parity.answers import difference, local

from .cluster_job import answered
from .standalone import cluster

pytestmark = pytest.mark.timeout(600)  # a cluster on a machine that others use, too
JOB = Path(__file__).with_name("cluster_job.py")
ADAPTED = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "12"}  # as users have it
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "500ms",
}
_TWICE = ("pairs", "layers", "against", "past the table", "pages", "archives", "work directory")
MOMENTS = [  # what is asked, and how many stages are done when harm comes
    *((asked, stages) for asked in _TWICE for stages in (5, 25)),
    *(("remembered", 3), ("remembered", 9), ("decisions", 9), ("leaks", 0), ("mirrors", 9)),
]


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """Two workers and their master."""
    sparks.require_java()
    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


class Job:
    """A run on the cluster, in a process of its own."""

    def __init__(self, workers, folder, *, asked="exact", **task):
        self.folder, self.asked = folder, asked
        given = json.dumps({"master": workers.url, "folder": str(folder), "asked": asked, **task})
        environment = {**os.environ, **sparks.environment()}
        self.log = (folder / "log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, JOB, given], env=environment, stdout=self.log, stderr=subprocess.STDOUT
        )

    def reached(self):
        """Whether the moment for harm comes; not if the job ends before."""
        while self.process.poll() is None and not (self.folder / "reached").exists():
            time.sleep(0.02)
        return (self.folder / "reached").exists()

    def answer(self):
        """(what was found, what harm was done)."""
        code = self.process.wait()
        self.log.seek(0)
        assert 0 == code, self.log.read()
        return pickle.loads((self.folder / "answer.pickle").read_bytes())  # noqa: S301  (our own process wrote it)

    def end(self):
        """No process stays."""
        self.process.kill()
        self.process.wait()
        self.log.close()


@pytest.fixture
def job(workers, tmp_path):
    """Start a job with these settings; it is ended with the test."""
    started = []

    def start(**task):
        started.append(Job(workers, tmp_path, **task))
        return started[-1]

    yield start
    for each in started:
        each.end()


@pytest.mark.parametrize(
    ("asked", "stages", "conf"),
    [
        pytest.param("exact", 1, {}, marks=pytest.mark.long, id="reading"),
        pytest.param("exact", 9, {}, marks=pytest.mark.long, id="shuffled"),
        pytest.param("exact", 20, ADAPTED, marks=pytest.mark.slow, id="adapted"),
        *(pytest.param(*moment, ADAPTED, marks=pytest.mark.long, id="{}, {}".format(*moment)) for moment in MOMENTS),
        *(pytest.param("written", stages, {}, marks=pytest.mark.long, id=f"written, {stages}") for stages in (0, 1)),
    ],
)
def test_a_killed_executor_changes_nothing(asked, stages, conf, job, workers):
    """In the midst of reading, and when what it shuffled or kept is needed: both are done again."""
    running = job(asked=asked, stages=stages, conf=conf)
    assert running.reached(), "the job ended before"
    workers.kill_executor()
    _unharmed(running)


@pytest.mark.parametrize(
    ("asked", "stages"),
    [
        pytest.param("written", 1, marks=pytest.mark.slow),
        *(pytest.param(*moment, marks=pytest.mark.long) for moment in (("exact", 15), ("written", 0), *MOMENTS)),
    ],
)
def test_a_killed_worker_changes_nothing(asked, stages, job, workers):
    """Its executor and what that shuffled are gone with it, and nobody starts another one there."""
    running = job(asked=asked, stages=stages, conf={} if asked == "written" else ADAPTED)
    assert running.reached(), "the job ended before"
    host = workers.kill_worker()
    try:
        _unharmed(running)
    finally:
        workers.start_worker(host)


def _unharmed(job):
    found, harm = job.answer()
    assert {} == difference(_at_home(job), found)
    assert harm["lost"] >= 1


def _at_home(job):
    """The answer of one machine, which has its files in a folder of its own."""
    home = job.folder / "home"
    home.mkdir()
    return answered(job.asked, local, home)


@pytest.mark.long
def test_a_task_that_fails_once_changes_nothing(job):
    """It is tried again."""
    running = job(fault="fail")
    found, harm = running.answer()
    assert {} == difference(_at_home(running), found)
    assert harm["failed"] >= 1


@pytest.mark.long
def test_speculative_copies_change_nothing(job):
    """A task that dawdles is run twice; the copy wins, and the first is ended."""
    running = job(fault="dawdle", conf=SPECULATION)
    found, harm = running.answer()
    assert {} == difference(_at_home(running), found)
    assert harm["killed"] >= 1


@pytest.mark.long
def test_speculative_copies_write_nothing_twice(job):
    """Of a task that writes what stays: each document is in one file, once."""
    running = job(asked="written", fault="dawdle while writing", conf=SPECULATION)
    found, harm = running.answer()
    assert {} == difference(_at_home(running), found)
    assert harm["killed"] >= 1
    assert (running.folder / "dawdled").exists()
    assert not (running.folder / "woke up").exists()
