"""Settings of a session of Spark that hold while something is planned, or by default while something is written."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from threading import Lock
from typing import Any

__all__ = ["by_default", "setting", "times_as_they_are", "told_to_jobs"]

_TIMES = {  # which others read with their years and zone
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",  # else a date before 1582 cannot be written at all
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
}
_ONE_AT_A_TIME = Lock()
_SHARED = Counter[tuple[int, str]]()  # blocks that have a setting of a session by default


@contextmanager
def setting(session: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings of the session in the block, in which nothing runs."""
    with _ONE_AT_A_TIME:  # or one run would leave what it found of another
        before = {name: session.conf.get(name, None) for name in settings}
        for name, value in settings.items():
            session.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                session.conf.unset(name) if value is None else session.conf.set(name, value)


@contextmanager
def by_default(session: Any, name: str, value: str) -> Iterator[None]:
    """A setting in the block, in which something may run, unless somebody has set it; blocks at once share it."""
    java = session._jsparkSession  # noqa: SLF001  (`conf.get` does not tell defaults apart)
    key = id(java), name
    with _ONE_AT_A_TIME:
        shares = _SHARED[key] > 0 or not java.conf().getAll().contains(name)
        if shares and not _SHARED[key]:
            session.conf.set(name, value)
        _SHARED[key] += shares
    try:
        yield
    finally:
        with _ONE_AT_A_TIME:
            _SHARED[key] -= shares
            if shares and not _SHARED[key]:
                session.conf.unset(name)


@contextmanager
def told_to_jobs(context: Any, properties: Mapping[str, str]) -> Iterator[None]:
    """Properties of the jobs that this thread begins in the block."""
    before = {name: context.getLocalProperty(name) for name in properties}
    for name, value in properties.items():
        context.setLocalProperty(name, value)
    try:
        yield
    finally:
        with suppress(Exception):  # its process may be what failed
            for name, value in before.items():
                context.setLocalProperty(name, value)


@contextmanager
def times_as_they_are(session: Any) -> Iterator[None]:
    """In the block times and dates are written to Parquet as others read them, unless somebody has set otherwise."""
    with ExitStack() as stack:
        for name, value in _TIMES.items():
            stack.enter_context(by_default(session, name, value))
        yield
