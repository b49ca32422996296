"""How what is more than a few rows comes to the driver: some partitions in a job, so that Java need not hold all of it.

1. In one job (`toArrow`) Java holds what its tasks have given and nobody has fetched, and Spark refuses what takes
   more than `spark.driver.maxResultSize`. So a job is of as many partitions as take a tenth of Java's memory. A line
   for each row goes back to Java, in the end, so there may be no more rows than it has room for.
2. How large partitions are is asked before, by a query that reads what their sizes depend on. It sees the same ones as
   long as nothing is shuffled: Spark may put what is shuffled together as it likes.
3. Tasks see the session's settings, as those of a query do: an RDD alone has Spark's own.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.engines.spark.confs import by_default, setting, told_to_jobs
from nearsame.engines.spark.failures import STEADY
from nearsame.errors import SourceError

__all__ = ["LINE_BYTES", "Fetching", "at_once", "computed_once"]

_OF_MEMORY, _OF_RESULTS = 10, 2  # parts of Java's memory, and of the largest result of a job
LINE_BYTES = 64  # of Java's memory, a row: fifteen times what of it comes back to stay
_UNPACKED = 8  # times as large as a file may what is read of it be
_LARGEST, _USUAL = "spark.driver.maxResultSize", "1g"
_READ_AT_ONCE = "spark.sql.files.maxPartitionBytes"
_PLANNED = {
    "spark.sql.adaptive.enabled": "true",  # or the sums have as many tasks as the session has partitions of shuffles
    "spark.sql.retainGroupColumns": "true",
}
_SHUFFLED = "AdaptiveSparkPlanExec"  # the top of such a plan


@dataclass(frozen=True, eq=False)
class Fetching:
    """A frame that comes to the driver.

    Attributes:
        frame: the frame.
        rows: its rows as messages of Arrow, in an RDD of Java's.
        jobs: the numbers of the partitions that come together.
        number: how many rows there are.
    """

    frame: Any
    rows: Any
    jobs: Sequence[Sequence[int]]
    number: int

    @classmethod
    def of(cls, frame: Any, size: str, most: float) -> "Fetching | None":
        """A frame that takes at most so many bytes; None where it takes more, or a partition too many for a job.

        Args:
            frame: What comes.
            size: The bytes of a row, as an expression.
            most: The bytes that all of them may take.
        """
        from pyspark.sql.functions import expr

        session, most_at_once = frame.sparkSession, at_once(frame.sparkSession)
        with setting(session, _PLANNED):
            sized = frame.selectExpr("spark_partition_id() as part", f"{size} as size")
            sized = sized.groupBy("part").agg(expr("sum(size) as size"), expr("count(1) as number"))
            plan, _ = (each._jdf.queryExecution().executedPlan() for each in (frame, sized))  # noqa: SLF001  (no public word for a plan)
        if plan.getClass().getSimpleName() == _SHUFFLED:
            return None
        with by_default(session, _READ_AT_ONCE, str(int(most_at_once) // _UNPACKED)):
            known = sized.collect()
            if sum(part.size for part in known) > most:
                return None
            rows = frame._jdf.toArrowBatchRdd().toJavaRDD()  # noqa: SLF001  (what `toArrow` is made of)
            sizes = [0.0] * int(rows.getNumPartitions())
        number = sum(part.number for part in known)
        if number * LINE_BYTES > most_at_once or any(part.part >= len(sizes) for part in known):
            return None
        for part in known:
            sizes[part.part] = float(part.size)
        jobs = _together(sizes, most_at_once)
        return None if jobs is None else cls(frame, rows, jobs, number)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All of it; each job begins when it is asked for.

        Raises:
            SourceError: Other rows came than were counted.
        """
        from pyspark.serializers import NoOpSerializer
        from pyspark.util import _load_from_socket

        schema = self.frame.limit(0).toArrow().schema  # what messages are laid out by, with the session's settings
        yield pa.RecordBatch.from_pylist([], schema)  # there may be no rows
        session, left = self.frame.sparkSession, self.number
        context, settings = session.sparkContext, session.conf.getAll  # by these a date is read, or a value spelt
        for job in self.jobs:
            with told_to_jobs(context, settings):
                served = context._jvm.PythonRDD.runJob(context._jsc.sc(), self.rows, list(job))  # noqa: SLF001  (as RDDs of Python's do)
            loaded: Any = _load_from_socket(served, NoOpSerializer())
            with loaded if hasattr(loaded, "__enter__") else nullcontext(loaded) as messages:  # as of pyspark 4.3
                for message in messages:
                    batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema)
                    left -= batch.num_rows
                    yield batch
        if left:
            message = f"the source changed: {self.number:,} rows were counted, and {self.number - left:,} came"
            raise SourceError(message, hint=STEADY)


@contextmanager
def computed_once(frame: Any, *, wanted: bool) -> Iterator[Any]:
    """A frame that is asked how large it is before it comes, so that both take one computation, where `wanted`."""
    from pyspark import StorageLevel

    held = frame.persist(StorageLevel.DISK_ONLY) if wanted else frame
    try:
        yield held
    finally:
        if wanted:
            held.unpersist()


def at_once(session: Any) -> float:
    """The bytes that one job may bring."""
    context = session.sparkContext
    result = int(context._jsc.sc().conf().getSizeAsBytes(_LARGEST, _USUAL))  # noqa: SLF001  (`conf.get` knows no sizes)
    memory = int(context._jvm.java.lang.Runtime.getRuntime().maxMemory()) / _OF_MEMORY  # noqa: SLF001  (no public word)
    return min(memory, result / _OF_RESULTS) if result else memory  # 0 is no limit


def _together(sizes: Sequence[float], most: float) -> list[list[int]] | None:
    """The numbers of things of these sizes in lists that take at most so much; None where one takes more."""
    lists, left = list[list[int]](), -1.0
    for number, size in enumerate(sizes):
        if size > most:
            return None
        if size > left:
            lists.append([])
            left = most
        lists[-1].append(number)
        left -= size
    return lists
