"""Some records of a source, with all their columns, whatever its format."""

import datetime as dt
import gzip
import json
import math
from collections.abc import Callable
from decimal import Decimal
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import nearsame as ns
from nearsame.sources import Columns
from nearsame.sources.select import together

from .corpora import copied, only

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "text": ["one two three", "four, five\nsix", "one two three", "seven"],
        "score": [1, 2, 3, None],
    }
)


def _jsonl(path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()), "utf-8")


def _jsonl_gz(path: Path) -> None:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode()))


def _stream(path: Path) -> None:
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, TABLE.schema) as writer:
        writer.write_table(TABLE)


WRITERS: dict[str, Callable[[Path], None]] = {
    "a.jsonl": _jsonl,
    "a.jsonl.gz": _jsonl_gz,
    "a.csv": lambda path: pa.csv.write_csv(TABLE, path),
    "a.parquet": lambda path: pq.write_table(TABLE, path),
    "a.orc": lambda path: orc.write_table(TABLE, path),
    "a.feather": lambda path: pa.feather.write_feather(TABLE, path),
    "a.arrow": _stream,
}


@pytest.mark.parametrize("name", WRITERS)
def test_kept_and_removed_have_all_columns(tmp_path: Path, name: str) -> None:
    """Every format: the rows that stay and those that go, whole."""
    WRITERS[name](tmp_path / name)
    found = ns.dedup(str(tmp_path / name))
    assert TABLE.take([0, 1, 3]).to_pylist() == found.kept().to_pylist()
    assert TABLE.take([2]).to_pylist() == found.removed().to_pylist()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\n"], ids=["plain", "BOM", "empty line"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_a_header_without_a_line_end_is_a_table_without_rows(tmp_path: Path, name: str, mark: bytes) -> None:
    """To pyarrow one line without its end is not a file of CSV."""
    data = mark + (b"id\ttext" if name == "a.tsv" else b"id,text")
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    found = ns.dedup(str(tmp_path / name))
    for table in (found.kept(), found.removed()):
        assert (0, ["id", "text"]) == (len(table), table.column_names)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"\n"], ids=["nothing", "BOM", "empty line"])
def test_a_file_without_a_header_is_a_table_without_columns(tmp_path: Path, name: str, data: bytes) -> None:
    """Empty, or only a byte order mark or a line end."""
    (tmp_path / name).write_bytes(data)
    found = ns.dedup(str(tmp_path / name))
    assert [(0, 0), (0, 0)] == [found.kept().shape, found.removed().shape]


def test_values_of_several_types_are_no_obstacle(tmp_path: Path) -> None:
    """Arrow wants one type for a key; another key with two types is read record by record."""
    rows = [{"text": "a b", "x": 1}, {"text": "a b", "x": 2.5}, {"text": "c", "x": None}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert [1.0, None] == ns.dedup(str(tmp_path / "a.jsonl")).kept().column("x").to_pylist()


def test_a_record_that_cannot_be_read_is_neither_kept_nor_removed(tmp_path: Path) -> None:
    """It stays in kept/, but there is no row to show for it."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b"}\n{broken\n{"text": "a b"}\n', "utf-8")
    found = ns.dedup(str(tmp_path / "a.jsonl"))
    assert (1, 1) == (len(found.kept()), len(found.removed()))


@pytest.mark.parametrize("method", ["jaccard", "digest"])
def test_a_folder_of_texts_keeps_files_that_were_never_read(tmp_path: Path, method: str) -> None:
    """A digest reads only files that may have an equal; the others are kept all the same."""
    for name, text in (("a.txt", "same words"), ("b.txt", "same words"), ("c.txt", "longer than the others")):
        (tmp_path / name).write_text(text, "utf-8")
    found = ns.dedup(str(tmp_path), method=method)
    assert ["a.txt", "c.txt"] == found.kept().column("id").to_pylist()
    assert [{"id": "b.txt", "text": "same words"}] == found.removed().to_pylist()


@pytest.mark.parametrize("depth", [101, 1_000, 20_000, 200_000])
def test_a_record_that_is_nested_deeper_than_a_table_can_be_is_refused(depth: int, tmp_path: Path) -> None:
    """Arrow ends the process at some thousand levels; brackets in a text are no levels."""
    deep = tmp_path / "deep.jsonl"
    nested = "[" * (depth - 1) + "]" * (depth - 1)
    deep.write_text(f'{{"text": "a b {"[" * 300}", "x": {nested}}}\n{{"text": "a c"}}\n', "utf-8")
    found = ns.dedup(str(deep), audit=False)
    with pytest.raises(ns.SourceError, match=f"deep.jsonl has a record that is nested {depth:,} levels deep"):
        found.kept()
    assert 2 == found.write(tmp_path / "out").kept
    deep.write_text(f'{{"text": "a b {"[" * 300}", "x": {"[" * 99 + "]" * 99}}}\n', "utf-8")
    assert 1 == ns.dedup(str(deep), audit=False).kept().num_rows


def test_a_number_beyond_all_doubles_is_infinite_in_a_table(tmp_path: Path) -> None:
    """As Python reads it; the copy has it as it stands."""
    vast = tmp_path / "vast.jsonl"
    vast.write_text('{"text": "a b", "x": 1e999}\n{"text": "a c", "x": 1}\n', "utf-8")
    found = ns.dedup(str(vast), audit=False)
    assert [math.inf, 1] == found.kept()["x"].to_pylist()
    found.write(tmp_path / "out")
    assert vast.read_bytes() == (tmp_path / "out" / "kept" / "vast.jsonl").read_bytes()


LARGE = 2**64 - 1


def _kept(folder: Path, **files: str) -> pa.Table:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return ns.dedup(tuple(str(folder / name.replace("_", ".")) for name in files), id_column="id").kept()


def test_whole_numbers_of_json_lines_keep_their_digits(tmp_path: Path) -> None:
    """As hashes of 64 bits without a sign have them, also deep inside, and beside files whose numbers are small."""
    rows = [{"id": LARGE, "text": "a b", "in": {"of": [LARGE - 1]}, "share": 1.5, "far": 1e300}]
    small = {"id": 7, "text": "c d", "in": {"of": [7]}, "share": 2, "far": 1}
    text = "".join(json.dumps(row) + "\n" for row in [*rows, small])
    assert [*rows, small] == _kept(tmp_path, a_jsonl=text).to_pylist()
    lines = [json.dumps({"id": number, "text": f"text {number}"}) + "\n" for number in (7, 8, LARGE)]
    assert [7, 8, LARGE] == _kept(tmp_path, b_jsonl="".join(lines[:2]), c_jsonl=lines[2]).column("id").to_pylist()


def test_a_table_of_csv_has_what_is_written(tmp_path: Path) -> None:
    """A code with zeros before it, a number of more digits than a double has, texts that look like something else."""
    text = (
        "id,text,zip,n,share,day,then,large,yes,none\n"
        "007,true,01067,1,1.50,2024-01-31,2024-01-31T10:00:00,12345678901234567890,true,NA\n"
        "08,false,10115,NA,,2024-02-29,2024-01-31T10:00:01,1,False,null\n"
    )
    expected = [
        {"id": "007", "text": "true", "zip": "01067", "n": 1, "share": 1.5, "day": dt.date(2024, 1, 31),
         "then": "2024-01-31T10:00:00", "large": "12345678901234567890", "yes": True, "none": "NA"},
        {"id": "08", "text": "false", "zip": "10115", "n": None, "share": None, "day": dt.date(2024, 2, 29),
         "then": "2024-01-31T10:00:01", "large": "1", "yes": False, "none": "null"},
    ]  # fmt: skip
    assert expected == _kept(tmp_path, a_csv=text).to_pylist()


def test_numbers_of_csv_are_as_written_beside_texts_of_another_file(tmp_path: Path) -> None:
    """So codes of which some begin with a zero keep it, however they are spread over files."""
    files = {"a_csv": "id,text,zip\n7,a b,10115\n", "b_csv": "id,text,zip\n08,c d,01067\n"}
    table = _kept(tmp_path, **files)
    assert (["7", "08"], ["10115", "01067"]) == (table.column("id").to_pylist(), table.column("zip").to_pylist())


WIDE = pa.table(
    {
        "text": pa.chunked_array([["one two three", "four"], ["one two three", None, "five"]]),
        "large": pa.array(["a", None, "b", "c", "d"], pa.large_string()),
        "day": pa.array([1, 2, None, 4, 5], pa.date32()),
        "at": pa.array([1, 2, None, 4, 5], pa.timestamp("us", "UTC")),
        "list": pa.array([[1], [], None, [2, None], [3]], pa.list_(pa.int32())),
        "record": pa.array([{"n": 1}, None, {"n": 2}, {"n": None}, {"n": 3}], pa.struct([("n", pa.int16())])),
    }
)


@pytest.mark.parametrize("removed", [[], [0], [1, 2], [0, 1, 2, 3, 4]], ids=str)
@pytest.mark.parametrize("name", ["a.parquet", "a.orc", "a.feather", "a.arrow"])
def test_what_is_taken_of_a_file_of_columns_is_what_a_copy_has(
    name: str, removed: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same types and the same notes on the schema; and no copy is made for it."""
    named = WIDE.append_column("kind", pa.array(["x", "y", "x", None, "y"]).dictionary_encode())
    wide = (WIDE if name == "a.orc" else named).replace_schema_metadata({"own": "note"})
    _write_in_pieces(wide, tmp_path / name)
    part = only(tmp_path / name)
    others = np.array(removed, np.int64)
    copy = copied(part, tmp_path / "copied", removed)
    expected = _READERS[name.partition(".")[2]](copy)
    monkeypatch.setattr("tempfile.TemporaryDirectory", None)
    found = part.take(np.setdiff1d(np.arange(5), others), others, Columns())
    assert found.equals(expected, check_metadata=name != "a.orc")
    assert found.to_pylist() == [row for at, row in enumerate(wide.to_pylist()) if at not in removed]


def _write_in_pieces(table: pa.Table, path: Path) -> None:
    """A few rows a row group, stripe or batch."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    elif path.suffix == ".orc":
        orc.write_table(table, path, stripe_size=1)
    else:
        make = pa.ipc.new_file if path.suffix == ".feather" else pa.ipc.new_stream
        with pa.OSFile(str(path), "wb") as out, make(out, table.schema) as writer:
            for start in (0, 2, 4):
                writer.write_batch(table.slice(start, 2).combine_chunks().to_batches()[0])


_READERS: dict[str, Callable[[Path], pa.Table]] = {
    "parquet": lambda path: pq.ParquetFile(path).read(),
    "orc": orc.read_table,
    "feather": lambda path: pa.ipc.open_file(path.read_bytes()).read_all(),
    "arrow": lambda path: pa.ipc.open_stream(path.read_bytes()).read_all(),
}


def test_strings_of_json_lines_that_look_like_times_are_strings(tmp_path: Path) -> None:
    """Of ids and texts, and deep inside; and files in which others do not look so have the same type."""
    rows = [
        {"id": "2024-05-01", "text": "2020-01-01", "at": "2024-05-01T00:30:00+02:00", "in": {"of": ["2024-05-01"]}},
        {"id": "2024-05-02", "text": "2020-01-02", "at": "2024-05-02 10:00:00", "in": {"of": []}, "n": 2**63},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    assert [{**rows[0], "n": None}, rows[1]] == _kept(tmp_path, a_jsonl=text).to_pylist()
    other = json.dumps({"id": "x", "text": "a b", "at": "unknown"}) + "\n"
    kept = _kept(tmp_path, a_jsonl=text, b_jsonl=other).column("at").to_pylist()
    assert [*(row["at"] for row in rows), "unknown"] == kept


def test_columns_of_one_name_stay_as_they_are() -> None:
    """Of one table; several have no columns in common then."""
    table = pa.Table.from_arrays([pa.array(["a b", "c d"]), pa.array([1, 2]), pa.array([3, 4])], ["text", "x", "x"])
    assert ns.dedup(table).kept().equals(table)
    with pytest.raises(ns.ColumnError, match="has several columns that are called 'x'"):
        ns.dedup((table, pa.table({"text": ["e"]}))).kept()


@pytest.mark.parametrize("whole", [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64()], ids=str)
@pytest.mark.parametrize("decimal", [pa.decimal128(3, 1), pa.decimal128(38, 30), pa.decimal256(4, 2)], ids=str)
def test_whole_numbers_and_decimals_are_decimals(whole, decimal):
    """Of three tables in any order, one of which has no such column; no digit is lost."""
    tables = [
        pa.table({"n": pa.array([9, None], whole)}),
        pa.table({"n": pa.array([Decimal("9.5")], decimal)}),
        pa.table({"m": [1]}),
    ]
    for some in permutations(tables):
        found = together(some, ["a", "b", "c"]).column("n").to_pylist()
        assert 4 == len(found)
        assert [9, Decimal("9.5")] == sorted(one for one in found if one is not None)
