"""One Spark session for all tests of a process, small and local; and whether there is a Java to run it.

1. Without Java a test is skipped with that reason, but never in CI: there it fails.
2. The session sees what the tests see: the package of this checkout.
"""

import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

__all__ = [
    "CONF",
    "carried_bytes",
    "environment",
    "java_missing",
    "jobs_since",
    "newest_job",
    "require_java",
    "session",
]

ROOT = Path(__file__).resolve().parent.parent
CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",  # of one session that some hundred tests have, and some fifty thousand stages
    "spark.sql.ui.retainedExecutions": "20",  # they are remembered with their plans, also where nobody shows them
    "spark.ui.retainedJobs": "500",
    "spark.ui.retainedStages": "500",
    "spark.ui.retainedTasks": "5000",
    # Java's second compiler pays off after minutes; a collector with threads of its own takes cores from other workers.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": "/nonexistent",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Compiling Java for each query takes longer than the queries of tests; so do the jobs in which plans are adapted.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}


def java_missing() -> str:
    """Why Spark cannot be started here; empty if it can."""
    from nearsame.engines.spark.start import require_spark
    from nearsame.errors import MissingExtraError

    try:
        require_spark()
    except MissingExtraError as error:
        return error.message
    return ""


def require_java(environment: Mapping[str, str] = os.environ) -> None:
    """Skip the test where there is no Java, or fail it in CI, which has to have one."""
    reason = java_missing()
    if reason and environment.get("CI"):
        pytest.fail(f"in CI Spark has to run: {reason}")
    if reason:
        pytest.skip(reason)


def environment() -> dict[str, str]:
    """What processes need to find this interpreter and this checkout."""
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "PYTHONPATH": path}


@functools.cache
def session() -> Any:
    """The session, started once."""
    from pyspark.sql import SparkSession

    os.environ |= environment()  # workers inherit it
    builder = SparkSession.builder.master("local[2]").appName("nearsame tests")
    return builder.config(map=CONF).getOrCreate()


def newest_job(spark: Any) -> int:
    """The number of the last job so far; -1 where there is none."""
    return max((job.jobId() for job in jobs_since(spark)), default=-1)


def jobs_since(spark: Any, number: int = -1) -> list[Any]:
    """The jobs after one of a number, as far as Spark remembers them: no more than its last thousand."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(10_000)
    jobs = context.statusStore().jobsList(None)
    every = (jobs.apply(place) for place in range(jobs.size()))
    return [job for job in every if job.jobId() > number]


def carried_bytes(frame: Any) -> int:
    """What a task over a frame carries of what its rows are made of."""
    jvm = frame.sparkSession._jvm
    kind = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("org.apache.spark.rdd.RDD"))
    serializer = jvm.org.apache.spark.SparkEnv.get().closureSerializer().newInstance()
    return int(serializer.serialize(frame._jdf.queryExecution().toRdd(), kind).limit())


def with_damaged_footers(folder: Path) -> None:
    """Parts of Parquet that still begin and end as such, and whose footers say nothing."""
    for part in folder.glob("part-*.parquet"):
        data = part.read_bytes()
        middle = len(data) // 2
        part.write_bytes(data[:middle] + bytes(255 - byte for byte in data[middle:-8]) + data[-8:])
        (folder / f".{part.name}.crc").unlink()
