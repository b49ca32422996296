"""The other side may call its columns otherwise (on Spark: tests/parity); several sources of it are told apart."""

import json

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ColumnError, ConfigError
from tests.cli.commands import run

TEXTS = ("the quick brown fox jumps over the lazy dog", "a rose is a rose is a rose is a rose", "nothing like it")


def _lines(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


WRITERS = {"jsonl": _lines, "csv": pa.csv.write_csv, "parquet": pq.write_table}


@pytest.mark.parametrize("kind", WRITERS)
def test_columns_of_the_other_side_have_their_own_names(tmp_path, kind):
    """The witness is named by its id and source, texts are found again, and the proof holds."""
    new, first, second = (tmp_path / f"{name}.{kind}" for name in ("new", "first", "second"))
    WRITERS[kind](pa.table({"body": TEXTS, "key": ["a", "b", "c"], "text": ["x", "y", "z"]}), new)
    for number, path in enumerate((first, second)):
        WRITERS[kind](pa.table({"content": ["of another"], "text": [TEXTS[number]], "name": [f"n{number}"]}), path)
    options = ["--text-column", "body", "--id-column", "key", "--against-text-column", "text", "--against-id-column"]
    out = tmp_path / "out"
    done = run("dedup", new, "--against", first, "--against", second, *options, "name", "-o", out)
    assert 0 == done.exit_code, done.stderr
    removed = pq.read_table(out / "removed.parquet").to_pylist()
    expected = [("a", "n0", str(first)), ("b", "n1", str(second))]
    assert expected == [(row["id"], row["witness_id"], row["witness_source"]) for row in removed]
    verification = ns.verify(out)
    assert verification.holds, verification
    names = {"text_column": "body", "against_text_column": "text", "against_id_column": "name"}
    found = ns.pairs(new, against=(first, second), **names)
    assert [("n0", 1.0), ("n1", 1.0)] == [(row["a_id"], row["similarity"]) for row in found.table.to_pylist()]


def test_without_another_side_its_columns_are_refused():
    """And where documents are no texts; a column that is not there is named."""
    with pytest.raises(ConfigError, match="columns of the against side are named, and there is none"):
        ns.dedup(["a"], against_text_column="text")
    with pytest.raises(ConfigError, match="against_text_column='text'"):
        ns.dedup([{"f": [1]}], against=[{"f": [1]}], features_column="f", against_text_column="text")
    with pytest.raises(ColumnError, match="against has no column 'body'"):
        ns.dedup(["a"], against=["a"], against_text_column="body")
    for name, option in (
        ("against_text_column", "--against-text-column"),
        ("against_id_column", "--against-id-column"),
    ):
        with pytest.raises(ColumnError) as refused:
            ns.dedup(["a"], against=pa.table({"text": ["a"], "tags": [["a"]]}), **{name: "tags"})
        assert option in refused.value.hint


@pytest.mark.parametrize("named", [{}, {"text_column": "text"}])
def test_what_the_other_side_lacks_is_told_with_the_option_of_that_side(named):
    """With that of both sides the sources would lack it in turn."""
    other = pa.table({"body": ["a"], "title": ["b"]})
    with pytest.raises(ColumnError, match="against has") as refused:
        ns.dedup(pa.table({"text": ["a"]}), against=other, **named)
    assert "Choose one of its columns with --against-text-column: body, title." == refused.value.hint
