"""What of a run may pass through Spark's driver, and in which session it runs.

1. Nothing starts before it is used: making a `Spark` only keeps the settings.
2. A session that is given is used as it is; one that was started here stays for the next call.
"""

import os
import sys
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.space import num_bytes
from nearsame.engines.spark.failures import cause_of, plainly
from nearsame.engines.spark.start import SUBMITTED, require_spark
from nearsame.errors import ConfigError
from nearsame.machine import free_memory
from nearsame.recipes.arguments import checked, require_number

__all__ = ["Spark", "documents_bytes", "require_classic"]

_ON_DRIVER = "128MB"
_MOST_DOCUMENTS, _PART = 2 << 30, 8  # bytes; a part of the memory that is free: they and their features are there
_SENT = {"spark.submit.deployMode": "cluster", "spark.kubernetes.submitInDriver": "true"}
_PATTERNS = "spark.sql.parser.quotedRegexColumnNames"
_START = "SparkSession.builder.master(...).getOrCreate()"


@checked
@dataclass(frozen=True)
class Spark:
    """Spark as the engine of `dedup`, `pairs`, `leaks`, `mirrors`, `learn_urls` and `urls`.

    Args:
        session: A SparkSession. If None, the active one, else a new one on all cores of this machine.
        broadcast_bytes: The most that a table which all workers hold may take, in bytes or as in "256MB": the counts of
            the exact join, frequencies. Each worker process holds one. Below one slot for each different shingle more
            keys are shuffled, and below half a slot the frequent ones are counted in a sample; the answer does not
            depend on it.
        driver_bytes: While all documents take at most so much, they come to the driver, and the flow of one machine
            does the work; while the keys and features of those that could be similar do, these are decided there. 0:
            never. None: 128 MB; of documents an eighth of the memory that is free on the driver, up to 2 GB, where the
            driver has not been sent to the cluster. The answer does not depend on it.
        task_bytes: While what is undecided takes at most so much, one task decides it in order, on its disk where it
            must; 0: only after all rounds. The answer does not depend on it.
        partitions: Of what is read, made before anything else; None: as it comes.
        rounds: How often documents decide side by side before what is left is decided in order, by one task. The answer
            does not depend on it.

    Example:
        >>> Spark(broadcast_bytes="1GB").table_bytes
        1073741824
    """

    session: Any = None
    broadcast_bytes: int | str = "256MB"
    driver_bytes: int | str | None = None
    task_bytes: int | str = "1GB"
    partitions: int | None = None
    rounds: int = 20

    def __post_init__(self) -> None:
        for size in (self.broadcast_bytes, self.driver_bytes, self.task_bytes):
            num_bytes(_ON_DRIVER if size is None else size)
        if self.partitions is not None:
            require_number("partitions", self.partitions, 1)
        require_number("rounds", self.rounds, 0)

    @property
    def table_bytes(self) -> int:
        """The most that a table which all workers share may take."""
        return num_bytes(self.broadcast_bytes)

    @property
    def decided_bytes(self) -> int:
        """The most that keys and features may take which come to the driver to be decided."""
        return num_bytes(_ON_DRIVER if self.driver_bytes is None else self.driver_bytes)

    def connected(self) -> Any:
        """The session; started if there is none.

        Raises:
            MissingExtraError: pyspark or Java is not installed.
            ConfigError: It is not a session, or a stopped one, or one of Spark Connect, where Python functions cannot
                be given large tables; or none can be started.
        """
        require_spark()
        session = self.session or _found()
        require_classic(session)
        if not hasattr(session, "sparkContext"):
            raise ConfigError(f"session={session!r} is not a SparkSession", hint=f"Give one: {_START}.")
        if session.sparkContext._jsc is None:  # noqa: SLF001  (there is no public word for it)
            raise ConfigError("the Spark session has been stopped", hint=f"Start another: {_START}.")
        with plainly():
            sees_patterns = session.conf.get(_PATTERNS, "false") == "true"
        if sees_patterns:
            message = f"the Spark session has {_PATTERNS}, so that names of columns are patterns"
            raise ConfigError(message, hint="Switch it off for this run.")
        return session


def documents_bytes(engine: Spark, session: Any) -> int:
    """The most that all documents may take which come to the driver."""
    sent = any(session.conf.get(name, "") == value for name, value in _SENT.items())
    if engine.driver_bytes is not None or sent:  # into a container that may not tell its bounds
        return engine.decided_bytes
    java = session.sparkContext._jvm.java.lang.Runtime.getRuntime()  # noqa: SLF001  (there is no public word for it)
    free = free_memory() - (int(java.maxMemory()) - int(java.totalMemory()))  # which it may still take
    return max(engine.decided_bytes, min(_MOST_DOCUMENTS, free // _PART))


def require_classic(*given: Any) -> None:
    """See that sessions and frames are not of Spark Connect.

    Raises:
        ConfigError: One is.
    """
    if any(type(one).__module__.startswith("pyspark.sql.connect") for one in given):
        message = "a session of Spark Connect cannot broadcast tables to Python functions"
        hint = f"Give a classic session: {_START}; or frame.toArrow() to one machine, which takes no engine."
        raise ConfigError(message, hint=hint)


def _found() -> Any:
    """The active session, or one on all cores of this machine (or what spark-submit chose)."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if SUBMITTED not in os.environ:  # workers are to have what this process has
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return SparkSession.builder.appName("nearsame").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise ConfigError(f"Spark does not start: {cause_of(error)}", hint=f"Start a session: {_START}.") from error
