"""A driver that is killed while it writes over a former answer: the old or the new, whole."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.frames.writing import STATS, check_target, write_folder
from tests import sparks

_DRIVER = """
import os, signal, sys, time
from pyspark.sql.functions import udf
from nearsame.engines.spark.places import HadoopPlace
from nearsame.frames.writing import write_folder
from tests import sparks
from tests.faults import test_killed_writing as killed_writing

target, began, moment = sys.argv[1:]
session = sparks.session()

def slowly(number):
    if moment == "in a task":
        open(began, "w").close()
        time.sleep(600)
    return number

rename, moved = HadoopPlace.move_to, []

def move_to(self, other):
    moved.append(other)
    if len(moved) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    rename(self, other)

HadoopPlace.move_to = move_to
frame = session.range(20, numPartitions=2).select(udf(slowly, "long")("id").alias("id"))
write_folder(session, target, {"numbers": frame}, killed_writing.statistics)
"""


def statistics(kept: Any) -> dict[str, Any]:
    """As much as makes a folder one of ours."""
    return {"documents": kept.count(), "kept": kept.count(), "recipe": {}}


@pytest.mark.parametrize("moment", ["in a task", "between the renamings"])
def test_a_killed_driver_leaves_the_former_answer(moment, spark, tmp_path):
    """It stands, or stands again before the next run writes."""
    target, began = tmp_path / "out", tmp_path / "began"
    write_folder(spark, target, {"numbers": spark.range(10)}, statistics)
    environment = {**os.environ, **sparks.environment()}
    child = subprocess.Popen([sys.executable, "-c", _DRIVER, target, began, moment], env=environment)
    while child.poll() is None and not began.exists():
        time.sleep(0.1)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    notes = check_target(spark, target, [], STATS, overwrite=True)
    assert 10 == json.loads((target / STATS).read_bytes())["kept"]
    assert 10 == pyarrow.dataset.dataset(target / "numbers").count_rows()
    assert any(".new was left by a run that was killed" in note for note in notes)


_RUN = """
import os, signal, sys
import nearsame as ns
from nearsame.engines.spark.places import HadoopPlace
from tests import sparks

source, target, fatal, room = sys.argv[1:]
rename, moved = HadoopPlace.move_to, []

def move_to(self, other):
    moved.append(other)
    if len(moved) == int(fatal):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(self, other)

found = ns.dedup(source, engine=ns.Spark(sparks.session(), driver_bytes=int(room)))
HadoopPlace.move_to = move_to
found.write(target, overwrite=True)
"""


@pytest.mark.parametrize(("fatal", "room"), [(1, 0), pytest.param(2, 0, marks=pytest.mark.long), (2, 1 << 20)])
def test_a_run_that_is_killed_while_it_replaces_an_answer_loses_none(fatal, room, spark, tmp_path):
    """With the new one whole and the former in its place, and between: whoever asks next finds the former one."""
    target, engine = tmp_path / "clean", ns.Spark(spark, driver_bytes=room)
    for name, ids in (("old", ["a", "b", "c"]), ("new", ["d", "e"])):
        texts = [f"the council of {name} met on {number // 2} of the days of May to talk" for number in range(len(ids))]
        pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / f"{name}.parquet")
    ns.dedup(str(tmp_path / "old.parquet"), engine=engine).write(target)
    command = [sys.executable, "-c", _RUN, tmp_path / "new.parquet", target, str(fatal), str(room)]
    child = subprocess.run(command, env={**os.environ, **sparks.environment()}, capture_output=True, check=False)
    assert -signal.SIGKILL == child.returncode, child.stderr
    again = ns.dedup(str(tmp_path / "new.parquet"), engine=engine)
    with pytest.raises(ns.OutputError, match="exists"):
        again.write(target)
    assert ["a", "c"] == _ids(target)
    assert any(".new was left by a run that was killed" in note for note in again.write(target, overwrite=True).notes)
    assert ["d"] == _ids(target)


def _ids(target):
    return sorted(pyarrow.dataset.dataset(target / "kept").to_table()["id"].to_pylist())
