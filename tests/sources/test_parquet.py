"""A Parquet copy is the same Parquet file, but for the removed rows."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.sources import Columns
from nearsame.sources import parquet as module

from .corpora import copied, only, read

SPARK = "org.apache.spark.sql.parquet.row.metadata"


def _table(rows: int = 100) -> pa.Table:
    numbers = list(range(rows))
    return pa.table(
        {
            "id": pa.array(numbers, pa.uint16()),
            "text": [f"text {number}" for number in numbers],
            "kind": pa.array([str(number % 3) for number in numbers]).dictionary_encode(),
            "tags": [[str(number)] * (number % 3) for number in numbers],
            "nested": [{"a": {"b": number}} for number in numbers],
            "when": pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * rows, pa.timestamp("us", "UTC")),
        }
    ).replace_schema_metadata({"made": "by hand"})


def _copy(folder: Path, table: pa.Table, removed: list[int], **settings: Any) -> tuple[Any, Any]:
    path = folder / "a.parquet"
    pq.write_table(table, path, **settings)
    return pq.ParquetFile(path), pq.ParquetFile(copied(only(path), folder, removed))


@pytest.mark.parametrize("removed", [[], [3], [0, 1, 2, 10, 99], list(range(40)), list(range(100))])
def test_a_copy_has_the_same_schema_and_values(tmp_path: Path, removed: list[int]) -> None:
    """Dictionaries, lists, structs, times and metadata included."""
    table = _table()
    source, copy = _copy(tmp_path, table, removed, row_group_size=20)
    stays = np.setdiff1d(np.arange(100), removed)
    assert source.schema_arrow.equals(copy.schema_arrow, check_metadata=True)
    assert table.take(pa.array(stays)).to_pylist() == copy.read().to_pylist()


def test_row_groups_keep_their_boundaries(tmp_path: Path) -> None:
    """Each loses its own rows; one that loses all goes."""
    _, copy = _copy(tmp_path, _table(), [0, 1, *range(20, 40), 99], row_group_size=20)
    sizes = [copy.metadata.row_group(group).num_rows for group in range(copy.num_row_groups)]
    assert [18, 20, 20, 19] == sizes


@pytest.mark.parametrize("compliant", [False, True])
def test_lists_keep_their_layout(tmp_path: Path, *, compliant: bool) -> None:
    """Older writers name the items of a list otherwise."""
    source, copy = _copy(tmp_path, _table(), [3], use_compliant_nested_type=compliant)
    assert source.schema.equals(copy.schema)


def test_a_copy_has_the_encodings_that_were_chosen(tmp_path: Path) -> None:
    """Of numbers, texts and what lies in lists; a column in a dictionary stays in one."""
    rows = 5_000
    numbers = list(range(rows))
    table = pa.table(
        {
            "id": [f"https://example.org/a/long/prefix/{number:08d}" for number in numbers],
            "text": [f"text {number * 7919 % 10007}" for number in numbers],
            "number": numbers,
            "share": pa.array([number / 7 for number in numbers], pa.float32()),
            "kind": ["x", "y"] * (rows // 2),
            "list": [[number, number + 1] for number in numbers],
        }
    )
    chosen = {
        "id": "DELTA_BYTE_ARRAY",
        "text": "DELTA_LENGTH_BYTE_ARRAY",
        "number": "DELTA_BINARY_PACKED",
        "share": "BYTE_STREAM_SPLIT",
        "list.list.element": "DELTA_BINARY_PACKED",
    }
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=["kind"], column_encoding=chosen)
    copy = copied(only(str(tmp_path / "a.parquet")), tmp_path, [3])
    assert table.filter(pa.array([number != 3 for number in numbers])).equals(pq.read_table(copy))
    encodings = [
        [{*group.column(at).encodings} for at in range(group.num_columns)]
        for group in (pq.read_metadata(path).row_group(0) for path in (tmp_path / "a.parquet", copy))
    ]
    assert encodings[0] == encodings[1]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
def test_a_copy_has_the_same_codecs_and_encodings(tmp_path: Path, codec: str) -> None:
    """Column by column."""
    source, copy = _copy(
        tmp_path,
        _table(),
        [5],
        compression={"text": codec, "id": "snappy"},
        use_dictionary=["kind"],
        write_statistics=["id"],
    )
    told = [
        [(column.path_in_schema, column.compression, column.encodings, column.is_stats_set) for column in columns]
        for columns in (_columns(source), _columns(copy))
    ]
    assert told[0] == told[1]


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd"])
def test_a_copy_does_without_a_dictionary_that_was_given_up(tmp_path: Path, codec: str) -> None:
    """Of unique texts it grew too large; of equal ones, and of what is short, it stays."""
    rng = np.random.default_rng(0)
    unique = [rng.bytes(500).hex() for _ in range(3000)]
    table = pa.table({"text": unique, "same": unique[:3] * 1000, "id": [str(row) for row in range(3000)]})
    source, copy = _copy(tmp_path, table, [7], compression=codec)
    encoded = [[any("DICT" in name for name in each.encodings) for each in _columns(file)] for file in (source, copy)]
    assert [[True, True, True], [False, True, True]] == encoded
    assert copy.read().equals(table.filter(np.arange(3000) != 7))
    assert sum(each.total_compressed_size for each in _columns(copy)) < 1.01 * sum(
        each.total_compressed_size for each in _columns(source)
    )


def _columns(file: Any) -> list[Any]:
    group = file.metadata.row_group(0)
    return [group.column(index) for index in range(group.num_columns)]


def test_a_file_that_loses_nothing_is_copied_byte_for_byte(tmp_path: Path) -> None:
    """There is no more faithful copy."""
    path = tmp_path / "a.parquet"
    pq.write_table(_table(), path)
    assert path.read_bytes() == copied(only(path), tmp_path).read_bytes()


def test_a_file_without_rows_or_row_groups(tmp_path: Path) -> None:
    """Nothing is read, and the schema is copied."""
    source, copy = _copy(tmp_path, _table(0), [])
    assert source.schema_arrow.equals(copy.schema_arrow, check_metadata=True)
    assert ([], []) == read(only(tmp_path / "a.parquet"))


def test_a_large_row_group_is_copied_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays bounded; the rows and their order are the same."""
    monkeypatch.setattr(module, "_GROUP_BYTES", 1_000)
    table = _table().select(["id", "text"])
    _, copy = _copy(tmp_path, table, [0, 50])
    assert copy.num_row_groups > 1
    assert [row for row in table.to_pylist() if row["id"] not in {0, 50}] == copy.read().to_pylist()


@pytest.mark.parametrize("times", [1.05, 1.9, 2.5, 3.3])
def test_parts_of_a_row_group_are_of_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: float) -> None:
    """A small one behind each large one would be read while little is written, and written while much is read."""
    table = pa.table({"id": range(50_000), "text": [f"{number:070}" for number in range(50_000)]})
    pq.write_table(table, tmp_path / "in.parquet", use_dictionary=["id"])
    with pq.ParquetFile(tmp_path / "in.parquet") as file:
        monkeypatch.setattr(module, "_GROUP_BYTES", int(file.metadata.row_group(0).total_byte_size / times))
        tables = list(module._groups(file))
    sizes = [len(part) for part in tables]
    assert math.ceil(times) == len(sizes)
    assert max(sizes) - min(sizes) <= len(sizes) * module._PROBED_ROWS
    assert table.equals(pa.concat_tables(tables))


def test_a_row_group_that_is_large_only_when_decoded_is_copied_in_parts(tmp_path: Path) -> None:
    """Equal values are stored once: half a megabyte is 160 MB of text, the first rows small, the later ones large."""
    texts = ["short"] * 1_000 + [f"{number % 20} " + "word " * 4_000 for number in range(8_000)]
    pq.write_table(pa.table({"text": pa.array(texts, pa.large_string())}), tmp_path / "in.parquet")
    with pq.ParquetFile(tmp_path / "in.parquet") as file:
        assert file.metadata.row_group(0).total_byte_size < module._GROUP_BYTES
        tables = list(module._groups(file))
    assert texts == [text for table in tables for text in table["text"].to_pylist()]
    assert max(table.nbytes for table in tables) < 1.3 * module._GROUP_BYTES


def test_only_the_needed_columns_are_read(tmp_path: Path) -> None:
    """A column that cannot be decoded does not matter while nobody asks for it."""
    table = _table()
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False, write_statistics=False)
    data = bytearray(path.read_bytes())
    meta = pq.ParquetFile(path).metadata.row_group(0)
    column = next(
        meta.column(index) for index in range(meta.num_columns) if meta.column(index).path_in_schema == "kind"
    )
    data[column.data_page_offset : column.data_page_offset + column.total_compressed_size] = b"\xff" * (
        column.total_compressed_size
    )
    path.write_bytes(data)
    assert 100 == len(read(only(path, Columns()))[0])


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize("rows", [100, 1])
def test_what_a_file_says_besides_its_columns_stays(tmp_path: Path, rows: int, *, store_schema: bool) -> None:
    """Polars, DuckDB and Spark say it of the file, not of the schema that Arrow stores, or without one."""
    table, path = _table(rows), tmp_path / "a.parquet"
    with pq.ParquetWriter(path, table.schema, store_schema=store_schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"mine": "42", SPARK: "{}"})
    copy = copied(only(path), tmp_path, [0])
    source, found = pq.ParquetFile(path), pq.ParquetFile(copy)
    assert source.schema.equals(found.schema)
    assert source.schema_arrow.equals(found.schema_arrow, check_metadata=True)
    said, copied_said = (dict(file.metadata.metadata or {}) for file in (source, found))
    assert b"42" == copied_said[b"mine"]
    assert said.keys() == copied_said.keys()
    assert all(said[name] == copied_said[name] for name in said if name != b"ARROW:schema")  # equal above


def test_an_output_has_it_and_is_right(tmp_path: Path) -> None:
    """Also where columns were added, which Spark would not see if its own list of them had stayed."""
    table, path = _table(20), tmp_path / "a.parquet"
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({"mine": "42", SPARK: "{}"})
    for annotate in (False, True):
        clean = tmp_path / f"clean{annotate}"
        ns.dedup(path).write(clean, annotate=annotate)
        assert ns.verify(clean).problems == ()
        said = pq.read_metadata(clean / "kept/a.parquet").metadata
        assert (b"42", not annotate) == (said[b"mine"], SPARK.encode() in said)


def test_times_of_spark_keep_their_years(tmp_path: Path) -> None:
    """INT96 has more years than nanoseconds of 64 bits: 9999 is what many write for "valid until"."""
    times = [datetime(9999, 12, 31), datetime(1, 1, 1), datetime(2024, 1, 1, 1, 1, 1, 123456)] * 2  # noqa: DTZ001  (it has none)
    table = pa.table({"text": ["a b", "a b", "c d"] * 2, "until": pa.array(times, pa.timestamp("us"))})
    source, copy = _copy(tmp_path, table, [1], use_deprecated_int96_timestamps=True)
    assert source.schema.equals(copy.schema)
    found = pq.read_table(tmp_path / "kept" / "a.parquet", coerce_int96_timestamp_unit="us")
    assert table.take(pa.array([0, 2, 3, 4, 5])).column("until").to_pylist() == found.column("until").to_pylist()
    assert times[:1] == ns.dedup(tmp_path / "a.parquet", keep="max:until").kept().column("until").to_pylist()[:1]
    ns.dedup(tmp_path / "a.parquet").write(tmp_path / "clean")
    assert ns.verify(tmp_path / "clean").problems == ()
