"""Where an index keeps its rows: a file, or a database server. Which of the two, its address says."""

import os
from collections.abc import Mapping

from nearsame.errors import StoreDamagedError, StoreError
from nearsame.files.inputs import is_address
from nearsame.stores.base import Store

__all__ = ["create_store", "open_store"]

_SERVERS = ("postgresql://", "postgres://")
_LONGEST_SECONDS = 2_000_000.0  # three weeks: more milliseconds SQLite and PostgreSQL cannot count
_LOST = "Restore a copy, or create it again from its source: what cannot be opened cannot be exported."


def open_store(where: str | os.PathLike[str], *, read_only: bool = False, timeout_seconds: float = 30.0) -> Store:
    """The store at an address.

    Args:
        where: The path of a file, or `postgresql://…`.
        read_only: Whether nothing will be written.
        timeout_seconds: How long to wait for another writer.

    Raises:
        StoreError: There is none, it cannot be read, or it is of another format.
    """
    try:
        return _opened(os.fspath(where), read_only=read_only, timeout_seconds=_countable(timeout_seconds))
    except StoreDamagedError as error:
        error.hint = _LOST
        raise


def _opened(place: str, *, read_only: bool, timeout_seconds: float) -> Store:
    if place.startswith(_SERVERS):
        from nearsame.stores.postgres import Postgres  # noqa: PLC0415  (an extra: loaded only where it is asked for)

        return Postgres.open(place, read_only=read_only, timeout_seconds=timeout_seconds)
    _require_path(place)
    from nearsame.stores.sqlite import Sqlite  # noqa: PLC0415  (likewise)

    return Sqlite.open(place, read_only=read_only, timeout_seconds=timeout_seconds)


def create_store(
    where: str | os.PathLike[str],
    settings: Mapping[str, str],
    *,
    overwrite: bool = False,
    timeout_seconds: float = 30.0,
) -> Store:
    """A new, empty store, which nobody else sees before it is published.

    Args:
        where: The path of a file, or `postgresql://…`.
        settings: What is written down in it.
        overwrite: Whether it takes the place of one that is there.
        timeout_seconds: How long to wait for whoever uses that one.

    Raises:
        StoreError: There is one, or it cannot be made.
    """
    place, timeout_seconds = os.fspath(where), _countable(timeout_seconds)
    if place.startswith(_SERVERS):
        from nearsame.stores.postgres import Postgres  # noqa: PLC0415  (an extra: loaded only where it is asked for)

        return Postgres.create(place, settings, overwrite=overwrite, timeout_seconds=timeout_seconds)
    _require_path(place)
    from nearsame.stores.sqlite import Sqlite  # noqa: PLC0415  (likewise)

    return Sqlite.create(place, settings, overwrite=overwrite, timeout_seconds=timeout_seconds)


def _countable(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_SECONDS)


def _require_path(place: str) -> None:
    if is_address(place):
        message = f"{place} is a URL, and an index is a local file or on a PostgreSQL server"
        raise StoreError(message, hint="Give a path, or postgresql://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME.")
