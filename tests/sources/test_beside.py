"""What stands beside the content of a record: strings that a source may or may not have."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.sources import Columns, open_parts
from nearsame.sources.columns import Chosen, choose
from nearsame.sources.reading import Reading
from tests.sources.corpora import only, read

_COLUMNS = Columns(beside=("url", "canonical"))


def _written(folder: Path, rows: list[dict[str, Any]], kind: str) -> Path:
    path = folder / f"pages.{kind}"
    table = pa.Table.from_pylist(rows)
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    elif kind == "csv":
        pyarrow.csv.write_csv(table, path)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as out:
            out.write_table(table)
    else:
        pq.write_table(table, path)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "csv", "arrow", "parquet", "memory"])
def test_what_a_source_has_comes_along(tmp_path: Path, kind: str) -> None:
    """By its own name; what it does not have does not come, and an absent value is null."""
    rows = [{"id": "1", "text": "A", "url": "http://a/"}, {"id": "2", "text": "B", "url": None}]
    found, _ = read(only(rows if kind == "memory" else _written(tmp_path, rows, kind)), _COLUMNS)
    assert ["http://a/", None] == [row["url"] for row in found]
    assert {"position", "id", "text", "url"} == set(found[0]) - {"canonical"}
    assert [None, None] == [row.get("canonical") for row in found]


def test_what_a_source_has_not_is_null_by_row() -> None:
    """Rows count over all sources, the against side first."""
    old, new = [{"text": "A"}], [{"text": "B", "url": "u"}]
    reading = Reading(open_parts([new], columns=_COLUMNS), _COLUMNS, open_parts([old], columns=_COLUMNS))
    assert 2 == sum(len(batch) for batch in reading)
    assert [[None, "u"], [None, None]] == [reading.beside(name).to_pylist() for name in _COLUMNS.beside]


def test_values_of_other_types_are_no_reason_to_skip_a_record(tmp_path: Path) -> None:
    """Numbers become strings; lists and objects say nothing; half a surrogate is spelt out."""
    values = [1, None, ["u"], {"u": 1}, "u", True]
    lines = [json.dumps({"text": "A", "url": value}) for value in values]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, '{"text": "A", "url": "\\ud800"}']), "utf-8")
    found, skipped = read(only(tmp_path / "a.jsonl"), _COLUMNS)
    assert (["1", None, None, None, "u", "true", "\\ud800"], []) == ([row["url"] for row in found], skipped)
    table = pa.table({"text": ["A"], "url": [["u"]], "canonical": [7]})
    (row,), _ = read(only(table), _COLUMNS)
    assert (None, "7") == (row["url"], row["canonical"])


def test_a_key_of_later_lines_comes_along(tmp_path: Path) -> None:
    """JSON lines need not all have the same keys."""
    lines = [{"text": "A"}] * 3_000 + [{"text": "A", "url": "u"}]
    found, _ = read(only(_written(tmp_path, lines, "jsonl")), _COLUMNS)
    assert "u" == found[-1]["url"]


def test_what_stands_beside_changes_nothing_in_how_the_text_is_found() -> None:
    """The column of texts is the same with it and without."""
    assert Chosen("text", None, beside=("url",), guessed="text") == choose(
        _COLUMNS, ["url", "text"], ["url", "text"], "a"
    )
    assert "url" == choose(_COLUMNS, ["url"], ["url"], "a").text


def test_a_column_may_have_several_parts(tmp_path: Path) -> None:
    """The text, the id and the order may stand beside themselves."""
    columns = Columns(text="url", id="url", order=("url",), beside=("url",))
    for kind in ("jsonl", "csv", "parquet"):
        (row,), _ = read(only(_written(tmp_path, [{"url": "u"}], kind), columns), columns)
        assert {"position": 0, "id": "u", "text": "u", "url": "u"} == row


@pytest.mark.parametrize(
    ("name", "kind"), [("id", "jsonl"), ("text", "jsonl"), ("position", "parquet"), ("mime", "memory")]
)
def test_urls_may_stand_in_a_column_of_any_name(tmp_path: Path, name: str, kind: str) -> None:
    """Also in that of the text, of the ids or of what `keep` goes by, and in one that is called as ours are."""
    rows = [{"id": f"{number}", "text": "a b c d e f", "words": "a b c d e f"} for number in range(2)]
    rows = [row | {name: "http://A.org/x"} for row in rows]
    source = pa.Table.from_pylist(rows) if kind == "memory" else str(_written(tmp_path, rows, kind))
    for how in ({"keep": f"max:{name}"}, {"html_column": "words"}):
        found = ns.dedup(source, url_column=name, **how)
        assert [True] == found.removals["same_host"].to_pylist()
        found.write(tmp_path / "out", overwrite=True)
        assert ns.verify(tmp_path / "out", source=source if kind == "memory" else None).holds
    assert [True] == ns.mirrors(source, url_column=name, cluster_column=name).map["url"].is_valid().unique().to_pylist()
    with ns.Index.create(tmp_path / "an.ns") as index:
        index.add(Path(source) if isinstance(source, str) else source, url_column=name, text_column="words")
