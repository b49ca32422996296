"""The plain functions in SQL: the values of `ns.simhash` and the others, by whatever settings were registered."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import nearsame as ns
import nearsame.duckdb

TEXTS = ["a rose is a rose", None, "", "--", "A daisy is a flower, a rose is red"]
OTHERS = ["a rose", "a rose", None, "--", "a daisy is a flower"]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory with a table of texts."""
    with duckdb.connect() as connection:
        connection.execute("create table texts (row integer, text varchar, other varchar)")
        rows = [(row, *both) for row, both in enumerate(zip(TEXTS, OTHERS, strict=True))]
        connection.executemany("insert into texts values (?, ?, ?)", rows)
        yield connection


def column(connection: duckdb.DuckDBPyConnection, expression: str) -> list[Any]:
    """What an expression makes of each row."""
    found = connection.sql(f"select {expression} from texts order by row").fetchall()  # noqa: S608  (our own)
    return [value for (value,) in found]


def test_values_are_those_of_the_plain_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Of columns and of single values, of nulls and of texts without tokens."""
    nearsame.duckdb.register(connection)
    nearsame.duckdb.register(connection, prefix="small_", bits=32, num_perm=3, shingle_size=1, hashed=True)
    nearsame.duckdb.register(connection, prefix="long_", bits=128)
    assert ns.simhash(TEXTS) == column(connection, "ns_simhash(text)")
    assert ns.simhash(TEXTS, bits=32) == column(connection, "small_simhash(text)")
    codes = ns.simhash(TEXTS, bits=128)
    assert [code and code.to_bytes(16) for code in codes] == column(connection, "long_simhash(text)")
    assert ns.minhash(TEXTS, num_perm=3, shingle_size=1) == column(connection, "small_minhash(text)")
    assert ns.shingles(TEXTS) == column(connection, "ns_shingles(text)")
    assert ns.shingles(TEXTS, hashed=True, shingle_size=1) == column(connection, "small_shingles(text)")
    assert ns.jaccard(TEXTS, OTHERS, shingle_size=1) == column(connection, "small_jaccard(text, other)")
    with_one = [None if text is None else ns.jaccard(text, "a rose", shingle_size=1) for text in TEXTS]
    assert with_one == column(connection, "small_jaccard('a rose', text)")
    assert ns.hamming(codes, ns.simhash("a", bits=128)) == column(
        connection, "ns_hamming(long_simhash(text), long_simhash('a'))"
    )
    assert [(1, 0, 8, 1, None)] == connection.sql(
        "select ns_hamming(5::ubigint, 7), ns_hamming(-1, -1::bigint), ns_hamming('ff', '00'),"
        " ns_hamming('\\x01'::blob, '\\x03'::blob), ns_hamming(null, 3)"
    ).fetchall()


def test_duckdbs_own_functions_stay_and_ours_are_replaced(connection: duckdb.DuckDBPyConnection) -> None:
    """Its `jaccard` is about characters; registering again is another setting."""
    for bits in (32, 64):
        nearsame.duckdb.register(connection, bits=bits)
    assert ns.simhash(TEXTS) == column(connection, "ns_simhash(text)")
    assert [(1.0,)] == connection.sql("select jaccard('duck', 'kcud')").fetchall()


def test_what_cannot_be_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    """Settings when they are registered; columns when they are read."""
    nearsame.duckdb.register(connection)
    for call, error, problem in (
        (lambda: nearsame.duckdb.register("my.db"), ns.ConfigError, "'my.db' is no connection"),
        (lambda: nearsame.duckdb.register(connection, bits=7), ns.ConfigError, "bits=7"),
        (lambda: nearsame.duckdb.register(connection, k=3), TypeError, "'k'"),
        (lambda: column(connection, "ns_simhash(row)"), duckdb.BinderException, "ns_simhash"),
        (lambda: column(connection, "ns_hamming(text, 1.5)"), duckdb.Error, "decimal.* holds no codes"),
    ):
        with pytest.raises(error, match=problem):
            call()
    assert ns.simhash(TEXTS) == column(connection, "ns_simhash(text)")  # as it was registered


def test_names_that_are_taken_and_closed_connections_are_told(connection: duckdb.DuckDBPyConnection) -> None:
    """Functions go for all connections to a database; where one cannot be, the others are as they were."""
    names = "select count(*) from duckdb_functions() where function_name in ('simhash', 'minhash', 'shingles')"
    nearsame.duckdb.register(connection)
    with connection.cursor() as other:
        assert [(1,)] == other.sql("select ns_hamming(1, 3)").fetchall()
        other.create_function("my_shingles", lambda text: text, ["VARCHAR"], "VARCHAR")  # type: ignore[list-item, arg-type]
        for taken, prefix, problem in (
            (other, "ns_", 'ns_simhash cannot .*"ns_simhash" already exists'),
            (connection, "", 'jaccard cannot .*"jaccard" already exists'),
            (connection, "my_", "my_shingles cannot"),
            (connection, "a b.", "'a b.' begins no name"),
        ):
            with pytest.raises(ns.ConfigError, match=problem):
                nearsame.duckdb.register(taken, prefix=prefix, bits=32)
    assert [(0,)] == connection.sql(names).fetchall()
    assert ns.simhash(TEXTS) == column(connection, "ns_simhash(text)")
    closed = duckdb.connect()
    closed.close()
    with pytest.raises(ns.ConfigError, match="closed"):
        nearsame.duckdb.register(closed)


def test_the_page_shows_what_runs() -> None:
    """The block of docs/codes.md about DuckDB."""
    page = (Path(__file__).parents[1] / "docs" / "codes.md").read_text("utf-8")
    [block] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "nearsame.duckdb" in block]
    made: dict[str, Any] = {}
    exec(block, made)  # noqa: S102  (our own page)
    assert made["near"].fetchall() == [("a", "b")]
    made["connection"].close()
