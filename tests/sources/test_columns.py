"""Which columns are chosen, and what becomes of their values."""

import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ColumnError
from nearsame.sources import Columns
from nearsame.sources.columns import BATCH_ROWS, Chosen, choose

from .corpora import Rows, only, read, write


@pytest.mark.parametrize(
    ("names", "strings", "chosen"),
    [
        (["content", "text"], ["content", "text"], "text"),
        (["content", "title"], ["content", "title"], "content"),
        (["id", "body", "n"], ["id", "body"], "body"),
    ],
)
def test_the_text_is_guessed(names: list[str], strings: list[str], chosen: str) -> None:
    """`text`, else `content`, else the only string column that is not the id."""
    assert chosen == choose(Columns(), names, strings, "a").text


def test_id_and_order_are_not_the_text() -> None:
    """Of two string columns one may be spoken for."""
    columns = Columns(id="url", order=("date",))
    assert Chosen("body", "url", ("date",), guessed="body") == choose(
        columns, ["url", "date", "body"], ["url", "date", "body"], "a"
    )


@pytest.mark.parametrize(("names", "strings"), [(["a", "b"], ["a", "b"]), (["n"], []), (["text", "text"], ["text"])])
def test_what_cannot_be_guessed_is_an_error(names: list[str], strings: list[str]) -> None:
    """The hint lists the columns."""
    with pytest.raises(ColumnError) as caught:
        choose(Columns(), names, strings, "a")
    assert ", ".join(names) in caught.value.hint


def test_the_only_string_column_is_found_in_every_format(tmp_path: Path) -> None:
    """Types come from the schema, from the records, or for delimited text from the values."""
    rows = [{"id": "a", "body": "A", "n": 1}, {"id": "b", "body": "B", "n": 2}]
    lines = tmp_path / "a.jsonl"
    lines.write_bytes(b'{"id":"a","body":"A","n":1}\n{"id":"b","body":"B","n":2}\n')
    table = tmp_path / "a.csv"
    table.write_bytes(b"id,body,n\na,A,1\nb,B,2\n")
    for source in (lines, table, rows, pa.Table.from_pylist(rows)):
        assert [("a", "A"), ("b", "B")] == [(row["id"], row["text"]) for row in read(only(source))[0]]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([1, 2], ["1", "2"]),
        ([1.5, None], ["1.5", None]),
        ([True, False], ["true", "false"]),
        (["a", None], ["a", None]),
        ([1, "a"], ["1", "a"]),
        ([None, None], [None, None]),
    ],
)
def test_ids_of_any_scalar_type_become_strings(tmp_path: Path, ids: list[Any], expected: list[str | None]) -> None:
    """In JSON even of several types."""
    rows = [{"id": value, "text": "A"} for value in ids]
    assert expected == [row["id"] for row in read(only(write(tmp_path, rows, "jsonl")))[0]]
    if ids != [1, "a"]:
        assert expected == [row["id"] for row in read(only(rows))[0]]


def test_an_id_that_is_not_utf8_is_still_an_id() -> None:
    """Digests are kept as bytes by some."""
    found = read(only(pa.table({"id": [b"\xff", b"a"], "text": ["A", "B"]})))
    assert ["\\xff", "a"] == [row["id"] for row in found[0]]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2, 10], pa.int64()),
        ([2, 1.5, 10], pa.float64()),
        (["b", "a"], pa.string()),
        ([True, False], pa.bool_()),
        ([2, "a"], pa.string()),
        ([2, 2**70], pa.float64()),
        ([None, 3], pa.int64()),
        ([None, None], pa.string()),
    ],
)
def test_the_order_of_json_has_one_type(tmp_path: Path, values: list[Any], kind: pa.DataType) -> None:
    """Numbers stay numbers, a mixture becomes strings; the same type in all batches, broken lines or not."""
    path = tmp_path / "a.jsonl"
    for extra in (b"", b"broken\n"):
        rows: Rows = [{"text": "A", "when": value} for value in values]
        data = b"".join(__import__("json").dumps(row).encode() + b"\n" for row in rows)
        path.write_bytes(data + extra)
        columns = Columns(order=("when",))
        (batch,) = only(path, columns).read(columns, lambda _: None)
        assert kind == batch.schema.field("when").type
        expected = [value if value is None or kind != pa.string() else str(value) for value in values]
        assert expected == batch.column("when").to_pylist()


@pytest.mark.parametrize(
    ("cells", "expected"), [("2 10", [2, 10]), ("2 1.5", [2.0, 1.5]), ("2 x", ["2", "x"]), (" 2", [None, 2])]
)
def test_the_order_of_csv_is_as_narrow_as_its_values(tmp_path: Path, cells: str, expected: list[Any]) -> None:
    """Integers, else numbers, else strings; an empty cell is null."""
    path = tmp_path / "a.csv"
    path.write_text("text,when\n" + "".join(f"A,{cell}\n" for cell in cells.split(" ")))
    columns = Columns(order=("when",))
    assert expected == [row["when"] for row in read(only(path, columns), columns)[0]]


def test_the_order_of_a_table_keeps_its_type() -> None:
    """Dates are dates."""
    columns = Columns(order=("when",))
    rows, _ = read(only(pa.table({"text": ["A"], "when": [date(2024, 1, 2)]}), columns), columns)
    assert [date(2024, 1, 2)] == [row["when"] for row in rows]


@pytest.mark.parametrize("kind", ["jsonl", "memory"])
def test_items_are_strings(tmp_path: Path, kind: str) -> None:
    """Integers become decimal strings; null items say nothing; there is no text."""
    columns = Columns(items="tags")
    for tags in ([["a", "b"], [], None], [[1, 2], [3], []], [["a", None], ["b"], None]):
        rows: Rows = [{"id": "i", "tags": value} for value in tags]
        found, skipped = read(only(write(tmp_path, rows, "jsonl") if kind == "jsonl" else rows, columns), columns)
        expected = [value and [str(item) for item in value if item is not None] for value in tags]
        assert (expected, []) == ([row["items"] for row in found], skipped)
        assert {"position", "id", "items"} == set(found[0])


def test_items_that_are_no_list_are_an_error(tmp_path: Path) -> None:
    """In tables by their type; in JSON a record at a time."""
    columns = Columns(items="tags")
    for table in (pa.table({"tags": ["a"]}), pa.table({"tags": [[1.5]]})):
        with pytest.raises(ColumnError, match="not a list of strings or integers"):
            read(only(table, columns), columns)
    found, skipped = read(only(write(tmp_path, [{"tags": ["a"]}, {"tags": "a"}], "jsonl"), columns), columns)
    assert (1, 1) == (len(found), len(skipped))
    (tmp_path / "a.csv").write_text("tags\na\n")
    with pytest.raises(ColumnError, match="no list column"):
        read(only(tmp_path / "a.csv", columns), columns)


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "orc", "feather", "memory"])
def test_batches_are_bounded(tmp_path: Path, kind: str) -> None:
    """By rows, and by bytes of text, even where repeated texts take no room in the file."""
    rows: Rows = [{"id": "i", "text": "A" * 300, "n": 1}] * 70_000
    batches = only(rows if kind == "memory" else write(tmp_path, rows, kind)).read(Columns(), print)
    sizes = [(len(batch), pc.sum(pc.binary_length(batch.column("text"))).as_py()) for batch in batches]
    assert 70_000 == sum(size for size, _ in sizes)
    assert all(size <= BATCH_ROWS and text_bytes <= 17 << 20 for size, text_bytes in sizes)


@pytest.mark.parametrize("kind", ["column", "frame", "key", "list", "record", "broken"])
def test_what_a_foreign_object_cannot_give_is_an_error_of_ours(kind):
    """Half of a surrogate pair in a table of another library, in the name of a column; whatever that library raises."""

    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("the query failed in row 1000")

    pandas = pytest.importorskip("pandas")
    things = {
        "column": lambda: pandas.Series(["a \ud800"], dtype=object),
        "frame": lambda: pandas.DataFrame({"text": pandas.Series(["a \ud800"], dtype=object)}),
        "key": lambda: [{"text": "a", "\ud800": 1}],
        "list": lambda: [{"text": "a", "b": ["\ud800"]}],
        "record": lambda: [{"text": "a", "b": {"c": "\ud800"}}],
        "broken": Broken,
    }
    with pytest.raises(ns.SourceError, match=r"has half of a surrogate pair, '\\ud800'|the query failed in row 1000"):
        ns.dedup(things[kind]())


@pytest.mark.parametrize("none", [None, math.nan])
def test_a_column_of_no_texts_may_have_any_type(none):
    """Pandas makes numbers of it, and so does Python's NaN."""
    pandas = pytest.importorskip("pandas")
    for given in ([{"text": none}], pandas.DataFrame({"text": [none]}), pa.table({"text": pa.nulls(1, pa.int8())})):
        assert (1, 1) == (ns.dedup(given).stats.documents, ns.dedup(given).stats.empty)
    assert 0 == ns.dedup(pandas.DataFrame({"text": []})).stats.documents
    with pytest.raises(ColumnError, match="column 'text' is double, not text"):
        ns.dedup(pandas.DataFrame({"text": [none, 1.0]}))


def test_vectors_of_whole_numbers_beyond_what_a_double_holds_are_the_nearest(tmp_path):
    """From a table, a file and lines alike."""
    rows = [[2**53 + 1, 5], [2**53 + 1, 5], [5, 2**53 + 1]]
    table = pa.table({"vector": pa.array(rows, pa.list_(pa.int64()))})
    pq.write_table(table, tmp_path / "v.parquet")
    (tmp_path / "v.jsonl").write_text("".join(json.dumps({"vector": row}) + "\n" for row in rows), "utf-8")
    for source in (table, tmp_path / "v.parquet", tmp_path / "v.jsonl"):
        found = ns.pairs(source, method=ns.Hyperplane(threshold=0.9), vector_column="vector")
        assert [(0, 1)] == list(zip(found.table["a_row"].to_pylist(), found.table["b_row"].to_pylist(), strict=True))
