"""The plain functions in SQL: DuckDB calls `nearsame.simhash` and the others on Arrow columns, a piece at a time.

1. DuckDB has a `jaccard` and a `hamming` of its own, which compare characters: ours have a prefix.
2. A function of SQL has no settings: they are chosen when it is registered. Others go under another prefix.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Unpack

import pyarrow as pa

from nearsame.errors import ConfigError, MissingExtraError
from nearsame.recipes.arguments import checked, shown
from nearsame.recipes.settings import (
    CodeSettings,
    SetSettings,
    SignatureSettings,
    SketchSettings,
    given_settings,
    lasting,
)
from nearsame.studies import sketches

try:
    from duckdb import DuckDBPyConnection, InvalidInputException
except ImportError as error:
    raise MissingExtraError.of("nearsame.duckdb needs the package duckdb", "duckdb") from error

__all__ = ["register"]

_TEXT = "VARCHAR"


@checked
def register(connection: Any, *, prefix: str = "ns_", **settings: Unpack[SketchSettings]) -> None:
    """Make known: `ns_simhash(text)`, `ns_minhash(text)`, `ns_shingles(text)`, `ns_jaccard(a, b)`, `ns_hamming(a, b)`.

    Args:
        connection: What `duckdb.connect()` gives. What it had registered under these names is replaced.
        prefix: Of the names.
        settings: Those of the plain functions; each goes for all of the five that have it.

    Raises:
        ConfigError: It is no connection, or the settings cannot be.

    Example:
        >>> import duckdb
        >>> with duckdb.connect() as connection:
        ...     register(connection, shingle_size=2)
        ...     connection.sql("select ns_jaccard('a rose is red', 'a rose is a rose')").fetchall()
        [(0.5,)]
    """
    if not isinstance(connection, DuckDBPyConnection):
        raise ConfigError(f"{shown(connection)} is no connection", hint="Give what duckdb.connect() returns.")
    kept = lasting(settings)
    codes, signatures, sets = (given_settings(kept, kind) for kind in (CodeSettings, SignatureSettings, SetSettings))
    is_hashed = bool(settings["hashed"])
    offered: dict[str, tuple[Callable[..., Any], list[str] | None]] = {  # DuckDB counts the arguments
        "simhash": (lambda text: sketches.simhash(text, **codes), [_TEXT]),
        "minhash": (lambda text: sketches.minhash(text, **signatures), [_TEXT]),
        "shingles": (lambda text: sketches.shingles(text, hashed=is_hashed, **sets), [_TEXT]),
        "jaccard": (lambda a, b: sketches.jaccard(a, b, **sets), [_TEXT, _TEXT]),
        "hamming": (sketches.hamming, None),  # of codes of any type
    }
    kinds = {name: _kind(connection, *offer) for name, offer in offered.items()}  # before anything is replaced
    for name, (function, parameters) in offered.items():
        with suppress(InvalidInputException):  # none of that name is there
            connection.remove_function(prefix + name)
        connection.create_function(  # type: ignore[call-overload]
            prefix + name, function, parameters, kinds[name], type="arrow", null_handling="special"
        )


def _kind(connection: DuckDBPyConnection, function: Callable[..., Any], parameters: list[str] | None) -> Any:
    """The type of what a function gives: that of what it makes of no rows."""
    nothing = [pa.array([], pa.string())] * len(parameters or "ab")
    return connection.from_arrow(pa.table([function(*nothing)], ["made"])).types[0]
