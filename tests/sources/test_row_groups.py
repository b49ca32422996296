"""Row groups that are encoded side by side make the file that pyarrow writes one after the other."""

import io
import time
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame import computing
from nearsame.sources import row_groups
from nearsame.sources.row_groups import write_row_groups

NESTED = pa.struct([("a", pa.int64()), ("b", pa.string())])


def drawn(rng: np.random.Generator, rows: int) -> pa.Table:
    """Columns of many kinds, with nulls."""
    numbers = rng.integers(0, 500, rows)
    return pa.table(
        {
            "id": pa.array(rng.integers(0, 1000, rows)),
            "text": pa.array([None if x % 7 == 0 else f"w{x} " * int(x % 40) for x in numbers], pa.string()),
            "list": pa.array([None if x % 5 == 0 else [1] * int(x % 5) for x in numbers], pa.list_(pa.int64())),
            "nested": pa.array([{"a": int(x), "b": str(x)} for x in numbers], NESTED),
            "nothing": pa.nulls(rows, pa.float64()),
            "said": pa.array([f"v{x % 3}" for x in numbers], pa.string()).dictionary_encode(),
            "when": pa.array(numbers, pa.timestamp("us")),
        }
    )


def side_by_side(tables: list[pa.Table], settings: dict[str, Any], schema: pa.Schema) -> bytes:
    """The file."""
    out = io.BytesIO()
    write_row_groups(out, schema, settings, iter(tables))
    return out.getvalue()


def one_by_one(tables: list[pa.Table], settings: dict[str, Any], schema: pa.Schema) -> bytes:
    """The same, as pyarrow writes it."""
    out = io.BytesIO()
    with pq.ParquetWriter(out, schema, **settings) as writer:
        for table in tables:
            writer.write_table(table, row_group_size=max(len(table), 1))
    return out.getvalue()


@pytest.mark.parametrize("seed", range(40))
def test_the_bytes_are_those_of_pyarrow(seed):
    """Whatever the settings are, and however many row groups there are."""
    rng = np.random.default_rng(seed)
    tables = [drawn(rng, int(rng.integers(1, 200))) for _ in range((0, 1, 2, 3, 14, 15, 16, 40)[seed % 8])]
    settings = {
        "compression": str(rng.choice(["snappy", "zstd", "none", "gzip", "lz4"])),
        "use_dictionary": [["text", "id"], True, False][seed % 3],
        "write_statistics": bool(rng.integers(2)),
        "version": str(rng.choice(["1.0", "2.6"])),
        "store_schema": bool(rng.integers(2)),
        "sorting_columns": [pq.SortingColumn(0)] if seed % 2 else None,
    }
    schema = drawn(rng, 1).schema.with_metadata({"made": "by hand"})
    assert one_by_one(tables, settings, schema) == side_by_side(tables, settings, schema)


@pytest.mark.parametrize("num_groups", [0, 1, 5, 20])
def test_indexes_of_pages_stand_where_the_footer_says(num_groups, tmp_path):
    """Pyarrow writes them at the end, here each stands behind its row group: others find them, too."""
    rng = np.random.default_rng(num_groups)
    tables = [drawn(rng, 3000) for _ in range(num_groups)]
    schema = drawn(rng, 1).schema
    settings = {"write_page_index": True, "data_page_size": 1024, "compression": "zstd"}
    path = tmp_path / "paged.parquet"
    path.write_bytes(side_by_side(tables, settings, schema))
    whole = pa.concat_tables(tables) if tables else schema.empty_table()
    assert whole.equals(pq.read_table(path))
    meta, expected = pq.read_metadata(path), pq.read_metadata(io.BytesIO(one_by_one(tables, settings, schema)))
    assert (expected.num_rows, expected.num_row_groups) == (meta.num_rows, meta.num_row_groups)
    for group in range(num_groups):
        columns = [meta.row_group(group).column(number) for number in range(meta.num_columns)]
        assert all(column.has_offset_index for column in columns)
    asked = whole.filter(computing.equal(whole["id"], 77))
    assert asked.num_rows == pl.scan_parquet(path).filter(pl.col("id") == 77).collect().height
    assert [(asked.num_rows,)] == duckdb.sql(f"select count(*) from '{path}' where id = 77").fetchall()  # noqa: S608


def test_what_fails_while_it_is_encoded_fails():
    """A table of another schema ends the writing, as it does where pyarrow writes alone."""
    tables = [pa.table({"a": [1]}), pa.table({"b": [1]}), pa.table({"a": [2]})]
    with pytest.raises(ValueError, match="schema"):
        side_by_side(tables, {}, tables[0].schema)


def test_tables_are_taken_as_they_are_written(monkeypatch):
    """While one is read one other is on its way at most: of a large file only so much is in memory."""
    put, waiting = list[int](), list[int]()
    real = row_groups._File.put

    def noted(file: Any, pieces: list[bytes]) -> None:
        put.append(1)
        real(file, pieces)

    def tables() -> Iterator[pa.Table]:
        for number in range(30):
            waiting.append(number - len(put))
            yield pa.table({"a": [number]})

    monkeypatch.setattr(row_groups._File, "put", noted)
    out = io.BytesIO()
    write_row_groups(out, pa.schema([("a", pa.int64())]), {}, tables())
    assert [0, *[1] * 29] == waiting
    assert list(range(30)) == pq.read_table(io.BytesIO(out.getvalue()))["a"].to_pylist()


def test_large_tables_are_encoded_alone(monkeypatch):
    """Two of them would take more than is set aside for a copy."""
    active, most = list[int](), list[int]()

    class Writer(pq.ParquetWriter):  # type: ignore[misc]
        """Notes how many write at once."""

        def write_table(self, *args: Any, **named: Any) -> None:
            active.append(1)
            most.append(len(active))
            time.sleep(0.01)
            super().write_table(*args, **named)
            active.pop()

    monkeypatch.setattr(row_groups.pq, "ParquetWriter", Writer)
    monkeypatch.setattr(row_groups, "_HELD_BYTES", 100)
    write_row_groups(io.BytesIO(), pa.schema([("a", pa.int64())]), {}, (pa.table({"a": [1] * 10}) for _ in range(9)))
    assert [1] * 9 == most
