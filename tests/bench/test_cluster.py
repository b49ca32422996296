"""The benchmark of larger corpora on Spark: what its tables say of what was seen."""

from importlib import import_module
from pathlib import Path

import pytest


@pytest.fixture
def script(monkeypatch):
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
    return import_module("cluster")


def beside(script, name, text_bytes, documents, **more):
    """A run of 60 seconds on Spark and of 20 on one machine, both with the same two pairs."""
    run = {"answer": [[1, 0], [3, 2]], "said": {"documents": documents}, "task_seconds": 3.6, "shuffle_bytes": 4000}
    run |= {"memory_bytes": 5_000_000, **more}
    return script.Beside(
        name, *(script.spark.Seen([{**run, "seconds": seconds}]) for seconds in (60.0, 20.0)), text_bytes
    )


def test_a_run_is_told_by_documents_and_gigabytes(script):
    """2 of 10 documents of 1.2 GB went, in three times the seconds of one machine."""
    seen = beside(script, "there", 1_200_000_000, 10)
    assert ("there", "10", "60", "3.0", "3", "400", "2") == script.large_row(seen)
    assert ("there", "10", "60", "3.0", "10.0", "3", "400", "5", "2") == script.whole_row(seen)


def test_costs_are_measured_figures_multiplied(script):
    """4 MB and 3.6 s for 1 MB are 4 TB and 1,000 hours for a terabyte: no more is claimed."""
    seen = [beside(script, f"{name}, 1MB", 1_000_000, 500, shuffle_bytes=4_000_000) for name in ("minhash", "jaccard")]
    rows = script.cost_rows(seen)
    assert ("minhash, 1 TB, 0.5 billion documents", "4.00", "1,000", "15.6", "2.0", "0.2") == rows[0]
    assert ("minhash, 100 TB, 50.0 billion documents", "400.00", "100,000", "1,562.5", "195.3", "24.4") == rows[1]
    assert "jaccard, 1 TB, 0.5 billion documents" == rows[2][0]
    assert "All below is an estimate: the figures of 0.001 GB" in script.cost_text(seen)


def test_two_answers_are_an_error(script, tmp_path, monkeypatch):
    """Whatever they cost."""
    answers = iter([[[1, 0]], [[1, 0], [3, 2]]])
    monkeypatch.setattr(script.spark, "made_corpus", lambda folder, size: folder / size)
    monkeypatch.setattr(script.spark.Bench, "run", lambda self, file, **task: {"answer": next(answers)})
    with pytest.raises(script.Differ, match="jaccard of 2KB: the two engines differ"):
        script.main(["--whole", "2KB", "--methods", "jaccard", "--folder", str(tmp_path), "--no-write"])
