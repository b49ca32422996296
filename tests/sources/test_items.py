"""Items of benchmarks: records of every kind of source with all of their texts, each by its column."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from nearsame.errors import ColumnError, SourceError
from nearsame.sources import Columns, Skipped, into, open_parts
from nearsame.sources.items import Items, read_items

ROWS = [
    {"id": "1", "question": "Which?", "choices": {"text": ["one", "two"], "label": ["A", "B"]}, "score": 1.5},
    {"id": "2", "question": None, "choices": {"text": [], "label": None}, "score": None},
    {"id": "3", "question": "", "choices": None, "score": 2.0},
]
TEXTS = [("1", "question", ("Which?",)), ("1", "choices.text", ("one", "two")), ("1", "choices.label", ("A", "B")),
         ("3", "question", ("",))]  # fmt: skip


def _items(source: Any, *wanted: str, id_column: str | None = None) -> tuple[Items, list[Skipped]]:
    skipped: list[Skipped] = []
    return read_items(
        "b", open_parts([source], columns=Columns()), Columns(id=id_column), wanted, into(skipped)
    ), skipped


def _texts(items: Items) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (items.ids[owner], column, text)
        for owner, column, text in zip(items.owners, items.columns, items.texts, strict=True)
    ]


def _written(folder: Path, kind: str) -> Any:
    table, path = pa.Table.from_pylist(ROWS), folder / f"items.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    elif kind == "orc":
        orc.write_table(table, path)
    elif kind == "parquet":
        pq.write_table(table, path)
    else:
        return {"table": table, "records": ROWS}[kind]
    return path


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "arrow", "orc", "table", "records"])
def test_every_text_of_a_record_has_its_column(tmp_path: Path, kind: str) -> None:
    """In objects by path; a list is one text in pieces; what is no string says nothing."""
    items, skipped = _items(_written(tmp_path, kind))
    assert (["1", "2", "3"], []) == (items.ids, skipped)
    assert sorted(TEXTS) == sorted(_texts(items))


def test_csv_has_texts_only(tmp_path: Path) -> None:
    """And a record with too many fields, or one that is not UTF-8, is reported and left out."""
    path = tmp_path / "items.csv"
    path.write_bytes(b'id,question,answer\n1,"Which,\none?",42\n2,a,b,c\n3,caf\xe9,x\n4,,y\n')
    items, skipped = _items(path)
    assert [("1", "question", ("Which,\none?",)), ("1", "answer", ("42",)), ("4", "question", ("",)),
            ("4", "answer", ("y",))] == _texts(items)  # fmt: skip
    assert [(1, "4 fields where the header has 3"), (2, "invalid UTF-8 at byte 3 of a text")] == [
        (record.position, record.reason) for record in skipped
    ]


def test_a_folder_of_text_files_is_a_benchmark_of_texts(tmp_path: Path) -> None:
    """Each file is an item; a web page is none."""
    (tmp_path / "a.txt").write_text("Which?", "utf-8")
    (tmp_path / "b.html").write_text("<p>Which?", "utf-8")
    items, skipped = _items(tmp_path)
    assert [("a.txt", "text", ("Which?",))] == _texts(items)
    assert ["b.html: a web page is no item of a benchmark"] == [record.reason for record in skipped]


def test_broken_lines_are_reported(tmp_path: Path) -> None:
    """With their place; what a string cannot hold, too."""
    path = tmp_path / "items.jsonl"
    path.write_text('{"q": "a"}\n{"q": \n[1]\n{"q": "\\ud800"}\n{"q": "b"}\n', "utf-8")
    items, skipped = _items(path)
    assert [(f"{path}:0", "q", ("a",)), (f"{path}:4", "q", ("b",))] == _texts(items)
    assert [1, 2, 3] == [record.position for record in skipped]
    assert "half of a surrogate pair in a text" == skipped[-1].reason


def test_columns_are_chosen_by_name_or_by_their_beginning(tmp_path: Path) -> None:
    """`choices` is all that is in it."""
    path = _written(tmp_path, "jsonl")
    assert [TEXTS[1]] == _texts(_items(path, "choices.text")[0])
    assert sorted(TEXTS[1:3]) == sorted(_texts(_items(path, "choices")[0]))
    assert [TEXTS[0], TEXTS[3]] == _texts(_items(path, "question", "no such")[0])


def test_ids_come_from_a_column_or_from_the_place(tmp_path: Path) -> None:
    """Then `id` is a text like others."""
    path = tmp_path / "items.jsonl"
    path.write_text('{"task": 7, "id": "x", "q": "a"}\n{"q": "b"}\n', "utf-8")
    items, _ = _items(path, id_column="task")
    assert ["7", f"{path}:1"] == items.ids
    assert [("7", "id", ("x",)), ("7", "q", ("a",))] == _texts(items)[:2]


def test_an_id_that_several_items_have_names_none_of_them(tmp_path: Path) -> None:
    """As in a benchmark of many files, each of which counts from 0: their places do."""
    for name, ids in (("law", (0, 1)), ("physics", (0, 2))):
        lines = [json.dumps({"id": one, "q": f"{name} {one}"}) + "\n" for one in ids]
        (tmp_path / f"{name}.jsonl").write_text("".join(lines), "utf-8")
    items, _ = _items(tmp_path)
    assert [f"{tmp_path}/law.jsonl:0", "1", f"{tmp_path}/physics.jsonl:0", "2"] == items.ids


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    """A record has room for one of them."""
    table = pa.table([pa.array(["a"]), pa.array(["b"])], names=["q", "q"])
    (tmp_path / "items.csv").write_text("q,q\na,b\n", "utf-8")
    for source in (table, tmp_path / "items.csv"):
        with pytest.raises(ColumnError, match="has more than one column 'q'"):
            _items(source)


@pytest.mark.parametrize("wanted", [("answer",), ("answer", "choice")])
def test_a_column_that_no_item_has_is_refused(tmp_path: Path, wanted: tuple[str, ...]) -> None:
    """With those that there are."""
    with pytest.raises(ColumnError, match="has no column 'answer'") as caught:
        _items(_written(tmp_path, "jsonl"), *wanted)
    assert "question, choices" in caught.value.hint
    with pytest.raises(ColumnError, match="has no column 'key'"):
        _items(_written(tmp_path, "jsonl"), id_column="key")


def test_what_holds_no_records_is_refused(tmp_path: Path) -> None:
    """An archive, for instance."""
    path = tmp_path / "a.warc"
    path.write_bytes(b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n")
    with pytest.raises(SourceError, match="does not hold items of a benchmark"):
        _items(path)


def test_strict_stops_at_the_first_that_cannot_be_read(tmp_path: Path) -> None:
    """As of every source."""
    path = tmp_path / "items.jsonl"
    path.write_text('{"q": "a"}\n{"q": \n', "utf-8")
    with pytest.raises(SourceError, match="line 2"):
        read_items("b", open_parts([path], columns=Columns(), strict=True), Columns(), (), into([]))


def test_a_table_with_bytes_that_are_no_text_loses_that_row_alone() -> None:
    """As everywhere."""
    column = pa.array([b"a", b"\xff", b"c"], pa.binary()).view(pa.string())
    items, skipped = _items(pa.table({"q": column, "n": [1, 2, 3]}))
    assert ["a", "c"] == [text for (text,) in items.texts]
    assert [1] == [record.position for record in skipped]


def test_columns_of_csv_are_told_from_those_of_another_separator(tmp_path: Path) -> None:
    """A file of semicolons is refused, as it is for reading."""
    path = tmp_path / "items.csv"
    pyarrow.csv.write_csv(pa.table({"q": ["a"], "r": ["b"]}), path, pyarrow.csv.WriteOptions(delimiter=";"))
    with pytest.raises(SourceError, match="looks separated by ';'"):
        _items(path)
