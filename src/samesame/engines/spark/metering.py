"""How many bytes Spark's shuffles wrote: from the session's own status store, there without a page to show."""

from typing import Any

__all__ = ["shuffled_bytes"]


def shuffled_bytes(session: Any) -> int:
    """Written by all executors since the session began, those that are gone included."""
    executors = session.sparkContext._jsc.sc().statusStore().executorList(False)  # noqa: SLF001  (no other way in)
    return sum(executors.apply(number).totalShuffleWrite() for number in range(executors.size()))
