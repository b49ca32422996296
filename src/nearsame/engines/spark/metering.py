"""How many bytes Spark's shuffles wrote: from the session's own status store, there without a page to show.

What tasks report comes to the store by a bus of events: it is waited for, but never so long that a run would fail.
"""

from contextlib import suppress
from typing import Any

__all__ = ["num_executors", "shuffled_bytes"]

_WAIT = 10_000  # milliseconds until figures are read as they are


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
