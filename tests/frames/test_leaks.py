"""Leaks on Spark: what one machine finds, and the rows of the DataFrame without it."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.errors import ConfigError, OutputError, SourceError
from nearsame.recipes.choices import LeakedPart
from tests.cli.commands import run

ITEM = "Which wise old wallaby waltzes with Wendy the whole of every Wednesday evening?"
OTHER = "Because of the long and winding road that leads to your door it will never disappear."
EVALS = {"quiz": [{"id": "q1", "question": ITEM, "answer": "Wendy"}], "songs": [{"id": "s1", "line": OTHER}]}
RECORDS = {
    "a.jsonl": [
        {"id": "a", "n": 1, "text": f"Größe: {ITEM.upper()} {OTHER}, {ITEM}"},
        {"id": "b", "n": 2, "text": "a daisy"},
        {"id": "b", "n": 2, "text": "a daisy"},
        {"id": "c", "n": 3, "text": f"so {OTHER}"},
        {"id": "c", "n": 3, "text": f"so {OTHER}"},
        {"id": "d", "n": 4, "text": ITEM},
    ],
    "b.jsonl": [{"id": "c", "n": 3, "text": f"so {OTHER}"}, {"id": "e", "n": None, "text": None}],
}
LEFT = [("a", 1, "Größe: ? ., ?"), ("b", 2, "a daisy"), ("b", 2, "a daisy"), ("c", 3, "so ."), ("c", 3, "so ."),
        ("c", 3, "so ."), ("e", None, None)]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two files, one of them with a line that cannot be read, and evals."""
    (tmp_path / "in").mkdir()
    for name, records in RECORDS.items():
        (tmp_path / "in" / name).write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    with (tmp_path / "in" / "b.jsonl").open("a", encoding="utf-8") as out:
        out.write("{broken\n")
    for name, records in EVALS.items():
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(records[0]) + "\n", "utf-8")
    return tmp_path


def _told(table: Any) -> list[tuple[Any, ...]]:
    """The lines of a table, but for the numbers of documents; of a file its name."""
    rows = [{**line, "source": Path(line.get("source", "")).name, "row": None} for line in table.to_pylist()]
    return sorted((tuple(line.values()) for line in rows), key=repr)


def test_spark_finds_what_one_machine_finds(spark: Any, home: Path) -> None:
    """Items, spans, matrix, counts; in folders of files and in DataFrames without one."""
    here, there = ns.leaks(home / "in", EVALS), ns.leaks(home / "in", EVALS, engine=ns.Spark(spark))
    assert here.items == there.items
    assert here.unsought == there.unsought
    for name in ("spans", "matrix"):
        assert _told(getattr(here, name)) == _told(getattr(there, name))
    counts = ("documents", "text_bytes", "skipped", "items", "sought", "leaked", "leaked_documents", "benchmarks")
    assert {name: getattr(here.stats, name) for name in counts} == {name: getattr(there.stats, name) for name in counts}
    assert here.markdown().replace(str(home), "") == there.markdown().replace(str(home), "")
    frame = spark.createDataFrame([(ITEM, 1), ("b", 2)], "text string, n int").repartition(2)
    found = ns.leaks(frame, EVALS, engine=ns.Spark(spark, partitions=3))
    assert (2, 1, ["the DataFrame"]) == (found.stats.documents, found.stats.leaked, found.matrix["source"].to_pylist())
    assert [str(found.spans["row"][0])] == found.spans["id"].to_pylist()


def test_documents_or_passages_are_left_out_on_spark(spark: Any, home: Path) -> None:
    """As on one machine: of the rows that were given less, or the same with another text."""
    engine = ns.Spark(spark)
    here, there = ns.leaks(home / "in", EVALS), ns.leaks(home / "in", EVALS, engine=engine)
    removals: tuple[LeakedPart, ...] = ("documents", "spans")
    for remove in removals:
        stats = [found.write(home / f"{remove}{at}", remove=remove) for at, found in enumerate((here, there))]
        assert stats[0].removed == stats[1].removed
        assert there.kept(remove=remove).count() == len(here.kept(remove=remove))
    kept = spark.read.parquet(str(home / "spans1" / "kept")).select("id", "n", "text")
    assert LEFT == sorted(map(tuple, kept.collect()))
    assert 0 == ns.leaks(kept, EVALS, engine=engine).stats.leaked
    assert ["b", "b", "e"] == sorted(pq.read_table(home / "documents1" / "kept")["id"].to_pylist())
    for name in ("spans", "cuts", "matrix", "items", "unsought", "skipped"):
        tables = [pq.read_table(home / place) for place in (f"spans0/{name}.parquet", f"spans1/{name}")]
        assert tables[0].column_names == tables[1].column_names
        if name != "skipped":
            assert _told(tables[0]) == _told(tables[1])
    with pytest.raises(OutputError, match="inside the source"):
        there.write(home / "in" / "out", remove="spans")


def test_columns_without_any_value_are_written(spark: Any, home: Path) -> None:
    """As strings, all null: no file holds a column without a type."""
    records = [{"id": 1, "text": f"so {OTHER}", "note": None}, {"id": 2, "text": "a daisy", "note": None}]
    found = ns.leaks(records, EVALS, engine=ns.Spark(spark))
    removals: tuple[LeakedPart, ...] = ("documents", "spans")
    for remove, number in zip(removals, (1, 2), strict=True):
        found.write(home / remove, remove=remove)
        assert [None] * number == pq.read_table(home / remove / "kept")["note"].to_pylist()


def test_a_source_that_changes_behind_its_leaks_is_told_of(spark: Any, tmp_path: Path) -> None:
    """Whatever is to be cut out, or left out."""

    def put(*texts: str) -> None:
        lines = [json.dumps({"id": str(number), "text": text}) + "\n" for number, text in enumerate(texts)]
        (tmp_path / "a.jsonl").write_text("".join(lines), "utf-8")

    put(f"x {ITEM} y", "daisy")
    found = ns.leaks(tmp_path / "a.jsonl", EVALS, engine=ns.Spark(spark))
    assert 1 == found.stats.leaked_documents
    put("changed", f"x {ITEM} y", "daisy")
    removals: tuple[LeakedPart, ...] = ("spans", "documents")
    for remove in removals:
        with pytest.raises(SourceError, match="the source changed"):
            found.write(tmp_path / remove, remove=remove)


def test_what_spark_cannot_do_is_refused(spark: Any, home: Path) -> None:
    """And what cannot be read is an error where it is to be."""
    with pytest.raises(ConfigError, match="threads=2 is about one machine"):
        ns.leaks(home / "in", EVALS, engine=ns.Spark(spark), threads=2)
    with pytest.raises(SourceError):
        ns.leaks(home / "in", EVALS, engine=ns.Spark(spark), strict=True)
    with pytest.raises(ConfigError, match="is not an engine"):
        ns.leaks(home / "in", EVALS, engine="spark")
    result = run("leaks", home / "in", "--eval", home / "quiz.jsonl", "--engine", "spark", "--threads", 2)
    assert (2, True) == (result.exit_code, "--threads does nothing with --engine spark" in result.stderr)
