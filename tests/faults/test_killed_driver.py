"""A driver that is killed in the midst: the same command, in another process, goes on with its work directory."""

import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.flow import pipeline
from nearsame.frames import corpus
from tests import sparks

pytestmark = pytest.mark.slow

_DRIVER = """
import os, signal, sys
import nearsame as ns
from nearsame.flow import pipeline
from tests import sparks

pipeline.decide = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
source, workdir = sys.argv[1:]
ns.dedup(source, engine=ns.Spark(sparks.session(), driver_bytes=0), workdir=workdir)
"""


def _never(*_args, **_kwargs):
    raise AssertionError("computed again")


def test_the_same_command_goes_on_after_a_kill(spark, tmp_path, monkeypatch):
    """Nothing that was finished is computed again, and the answer is one machine's."""
    texts = [f"the council met on {day} to talk about the new bridge and its cost over many years" for day in "aabbc"]
    pq.write_table(pa.table({"id": list("vwxyz"), "text": texts}), tmp_path / "crawl.parquet")
    source, workdir = str(tmp_path / "crawl.parquet"), str(tmp_path / "work")
    command = [sys.executable, "-c", _DRIVER, source, workdir]
    child = subprocess.run(command, env={**os.environ, **sparks.environment()}, capture_output=True, check=False)
    assert -signal.SIGKILL == child.returncode, child.stderr
    monkeypatch.setattr(corpus, "placed", _never)
    monkeypatch.setattr(pipeline, "_meet", _never)
    found = ns.dedup(source, engine=ns.Spark(spark, driver_bytes=0), workdir=workdir)
    monkeypatch.undo()
    removed = sorted((row["id"], row["witness_id"]) for row in found.removals.collect())
    expected = ns.dedup(source, ties="content").removals.select(["id", "witness_id"]).to_pylist()
    assert sorted((row["id"], row["witness_id"]) for row in expected) == removed != []
