"""What is seen of a run from outside: what its jobs are called, and how many bytes its shuffles wrote.

1. Jobs, and the stages of which they are made, have the name of the step that they are for, in Spark's pages, too.
2. Bytes are read from the session's own status store, there without a page to show. What tasks report comes to it by a
   bus of events: it is waited for, but never so long that a run would fail.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from nearsame.engines.spark.confs import told_to_jobs
from nearsame.engines.spark.failures import require_running

__all__ = ["described", "num_executors", "shuffled_bytes"]

_JOB, _STAGE = "spark.job.description", "callSite.short"  # the properties that Spark's pages take names from

_WAIT = 10_000  # milliseconds until figures are read as they are


@contextmanager
def described(session: Any, step: str) -> Iterator[None]:
    """Jobs and stages that begin in the block are called after a step."""
    require_running(session)
    with told_to_jobs(session.sparkContext, dict.fromkeys((_JOB, _STAGE), f"nearsame: {step}")):
        yield


def shuffled_bytes(session: Any) -> int:
    """Written by all executors since the session began, those that are gone included."""
    from py4j.protocol import Py4JJavaError

    context = session.sparkContext._jsc.sc()  # noqa: SLF001  (no other way in)
    with suppress(Py4JJavaError):  # a bus that does not keep up
        context.listenerBus().waitUntilEmpty(_WAIT)
    executors = context.statusStore().executorList(False)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))


def num_executors(session: Any) -> int:
    """How many there are now; on one machine the driver is the one."""
    executors = session.sparkContext._jsc.sc().statusStore().executorList(True)  # noqa: SLF001  (likewise)
    return max(1, int(executors.size()) - 1)
