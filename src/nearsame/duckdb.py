"""The plain functions in SQL: DuckDB calls `nearsame.simhash` and the others on Arrow columns, a piece at a time.

1. DuckDB has a `jaccard` and a `hamming` of its own, which compare characters: ours have a prefix.
2. A function of SQL has no settings: they are chosen when it is registered. Others go under another prefix.
"""

from collections.abc import Callable
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
    from duckdb import ConnectionException, DuckDBPyConnection, Error, NotImplementedException
except ImportError as error:
    raise MissingExtraError.of("nearsame.duckdb needs the package duckdb", "duckdb") from error

__all__ = ["register"]

_TEXT = "VARCHAR"


@checked
def register(connection: Any, *, prefix: str = "ns_", **settings: Unpack[SketchSettings]) -> None:
    """Make known: `ns_simhash(text)`, `ns_minhash(text)`, `ns_shingles(text)`, `ns_jaccard(a, b)`, `ns_hamming(a, b)`.

    Args:
        connection: What `duckdb.connect()` gives. What it had registered under these names is replaced. The functions
            go for its cursors, and for all other connections to its database, too: only one of them can register.
        prefix: Of the names.
        settings: Those of the plain functions; each goes for all of the five that have it.

    Raises:
        ConfigError: It is no connection, or a closed one; the settings cannot be; or there are other functions of these
            names. Then all is as it was.

    Example:
        >>> import duckdb
        >>> with duckdb.connect() as connection:
        ...     register(connection, shingle_size=2)
        ...     connection.sql("select ns_jaccard('a rose is red', 'a rose is a rose')").fetchall()
        [(0.5,)]
    """
    if not isinstance(connection, DuckDBPyConnection):
        raise ConfigError(f"{shown(connection)} is no connection", hint="Give what duckdb.connect() returns.")
    if not f"{prefix}simhash".isidentifier():
        raise ConfigError(f"prefix={prefix!r} begins no name of SQL", hint="Give letters, digits and _: ns_.")
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
    try:
        kinds = [_kind(connection, *offer) for offer in offered.values()]
    except ConnectionException as error:
        raise ConfigError(str(error).removeprefix("Connection Error: "), hint="Give an open one.") from None
    _create(connection, [(prefix + name, *offered[name], kind) for name, kind in zip(offered, kinds, strict=True)])


def _create(connection: DuckDBPyConnection, functions: list[tuple[Any, ...]]) -> None:
    """Create all of the functions, or none: those of the connection are replaced when no other name is taken."""
    new, own = [], []
    for name, *rest in functions:
        try:
            _create_one(connection, name, *rest)
            new.append(name)
        except NotImplementedException:  # so it tells a function of this connection
            own.append((name, *rest))
        except Error as error:
            for made in new:
                connection.remove_function(made)
            message = f"{name} cannot be registered: {str(error).partition(chr(10))[0]}"
            hint = "If another connection to the database has registered it, use it as it is; or choose another prefix."
            raise ConfigError(message, hint=hint) from None
    for name, *rest in own:
        connection.remove_function(name)
        _create_one(connection, name, *rest)


def _create_one(connection: DuckDBPyConnection, name: str, function: Any, parameters: Any, kind: Any) -> None:
    connection.create_function(  # type: ignore[call-overload]
        name, function, parameters, kind, type="arrow", null_handling="special"
    )


def _kind(connection: DuckDBPyConnection, function: Callable[..., Any], parameters: list[str] | None) -> Any:
    """The type of what a function gives: that of what it makes of no rows."""
    nothing = [pa.array([], pa.string())] * len(parameters or "ab")
    return connection.from_arrow(pa.table([function(*nothing)], ["made"])).types[0]
