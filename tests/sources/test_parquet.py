"""A Parquet copy is the same Parquet file, but for the removed rows."""

import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nearsame.sources import Columns
from nearsame.sources import parquet as module

from .corpora import copied, only, read


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
