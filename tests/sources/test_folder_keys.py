"""What names of folders say is a column for --keep, of any kind of file; on Spark: tests/parity."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ColumnError
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading

TEXT = "the quick brown fox jumps over the lazy dog near the river"


def _written(home: Path, **files: str) -> Path:
    for name, folder in files.items():
        path = home / "in" / folder / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("txt"):
            path.write_text(TEXT)
        elif name.endswith("csv"):
            path.write_text(f"text\n{TEXT}\n")
        elif name.endswith("parquet"):
            pq.write_table(pa.table({"text": [TEXT]}), path)
        else:
            path.write_text(f'{{"text": "{TEXT}"}}\n')
    return home / "in"


def _values(source: Path, name: str = "k") -> list[object]:
    columns = Columns(order=(name,))
    reading = Reading(open_parts([source], columns=columns), columns)
    list(reading)
    return reading.orders[name].to_pylist()


def test_folders_say_what_files_do_not(tmp_path: Path) -> None:
    """Text files each, in order; numbers where all are; the nearest folder, and only the name that is asked for."""
    source = _written(
        tmp_path, a_jsonl="k=9", b_csv="k=10/x=1", c_parquet="k=7/k=11", d_txt="k=12", e_txt="x=3", f_txt=""
    )
    assert [10, 11, 9, None, 12, None] == _values(source)
    source = _written(tmp_path / "other", a_jsonl="k=a%20b", b_csv="k=10", c_csv="k=__HIVE_DEFAULT_PARTITION__")
    assert ["10", None, "a b"] == _values(source)


def test_a_column_of_the_file_comes_first(tmp_path: Path) -> None:
    """Its nulls stay nulls."""
    source = _written(tmp_path, a_jsonl="k=9")
    (source / "k=9" / "b.jsonl").write_text(f'{{"text": "{TEXT}", "k": 1}}\n{{"text": "{TEXT}"}}\n')
    assert [9, 1, None] == _values(source)
    with pytest.raises(ColumnError, match="no column 'j'"):
        _values(source, "j")


@pytest.mark.parametrize(("keep", "kept"), [("max:year", "2024"), ("min:year", "999"), ("newest:year", "2024")])
def test_the_document_of_the_latest_folder_stays(tmp_path: Path, keep: str, kept: str) -> None:
    """And the proof holds, which reads names on its own."""
    source = _written(tmp_path, a_jsonl="year=2023", b_parquet="year=2024", c_txt="year=999", d_csv="year=2000")
    found = ns.dedup(source, keep=keep)
    assert f"year={kept}" == Path(_kept_source(found)).parent.name
    found.write(tmp_path / "out")
    verification = ns.verify(tmp_path / "out")
    assert verification.holds, verification
    assert 3 == len(found.examples()) == ns.report(tmp_path / "out").num_pairs
    if keep != "newest:year":
        assert not [note for note in verification.notes if "not checked" in note]


def _kept_source(found: ns.Result) -> str:
    (keeper,) = {(row["witness_source"], row["witness_id"]) for row in found.removals.to_pylist()}
    return f"{keeper[0]}/{keeper[1]}" if keeper[1].endswith(".txt") else keeper[0]


def test_one_file_says_what_folders_said(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """As columns in a table, as keys of lines that are otherwise as they came; a column of the file stays its own."""
    for year, lines in (("2023", '{"text": "a b", "n": [1]}\n{oops\n\n{}'), ("2024", '{"text": "c", "year": null}\n')):
        (tmp_path / f"year={year}").mkdir()
        (tmp_path / f"year={year}" / "a.jsonl").write_text(lines)
    found = ns.dedup(tmp_path)
    assert [2023, 2023, None] == found.kept()["year"].to_pylist()
    found.write("-")
    lines = b'{"text": "a b", "n": [1],"year":2023}\n{oops\n{"year":2023}\n{"text": "c", "year": null}\n'
    assert lines == capfdbinary.readouterr().out
    alone = ns.dedup(tmp_path / "year=2023" / "a.jsonl")
    alone.write(tmp_path / "alone.jsonl")
    assert b"".join(lines.splitlines(keepends=True)[:3]) == (tmp_path / "alone.jsonl").read_bytes()


def test_the_hint_names_what_folders_say(tmp_path: Path) -> None:
    """Where no file and no folder has a column, both are offered."""
    (tmp_path / "year=2024").mkdir()
    (tmp_path / "year=2024" / "a.jsonl").write_text('{"id": "a", "text": "a rose"}\n', "utf-8")
    with pytest.raises(ColumnError) as caught:
        ns.dedup(tmp_path, keep="max:nope")
    assert caught.value.hint.endswith(": id, text; or what names of folders say: year.")


def test_source_code_has_the_columns_of_its_folders(tmp_path):
    """Where it lies about without them it is passed over, as in any folder of records."""
    for name in ("lang=en/a.py", "lang=en/b.py", "lang=de/a.py", "a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one two three four five six")
    (tmp_path / "x.jsonl").write_text('{"id": "j", "text": "one two three four five six"}')
    found = ns.dedup(tmp_path, group_by="lang")
    assert (4, 1, 1) == (found.stats.documents, found.stats.removed, found.stats.ignored)
    with pytest.raises(ns.ColumnError, match="has no column 'nope'"):
        ns.dedup(tmp_path, group_by="nope")
