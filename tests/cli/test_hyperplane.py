"""Vectors from the terminal: a Parquet file in, near-duplicates out."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .commands import run


def _source(folder: Path) -> Path:
    """Fifty vectors, and one nearly like the third; one that is none."""
    vectors = np.random.Generator(np.random.PCG64(5)).standard_normal((52, 16)).astype(np.float32)
    vectors[50] = vectors[2] * 3
    vectors[50, 7] += 0.2
    vectors[51, 4] = np.nan
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 16)
    pq.write_table(pa.table({"id": [f"v{i}" for i in range(52)], "embedding": column}), folder / "a.parquet")
    return folder / "a.parquet"


def test_dedup_takes_a_column_of_vectors(tmp_path: Path) -> None:
    """The copy goes, the record that cannot be read stays; the summary says what is promised."""
    source, out = _source(tmp_path), tmp_path / "out"
    options = ["--method", "hyperplane", "--vector-column", "embedding", "--bits", "256", "--threshold", "0.95"]
    found = run("dedup", source, "-o", out, *options)
    assert 3 == found.exit_code, found.output
    assert [("v50", "v2", "cosine")] == [
        (line["id"], line["witness_id"], line["measure"]) for line in pq.read_table(out / "removed.parquet").to_pylist()
    ]
    assert 51 == len(pq.read_table(out / "kept" / "a.parquet"))
    words = " ".join(found.stdout.split())
    assert "has a kept witness with cosine >= 0.95, verified; a pair at 0.95 is found with a chance of 0.99" in words
    assert "of numbers in" in words
    assert "record 51: NaN at place 4 of the vector" in words
    assert "Measured: recall (cosine >= 0.95) 100 %" in words


def test_pairs_of_vectors_are_listed(tmp_path: Path) -> None:
    """With the cosine of each; bands may be given."""
    options = ["--method", "hyperplane", "--vector-column", "embedding", "--bands", "64", "--rows", "4", "-q"]
    found = run("pairs", _source(tmp_path), "-o", "-", *options)
    (line,) = map(json.loads, found.stdout.splitlines())
    assert ("v2", "v50", "cosine") == (line["a_id"], line["b_id"], line["measure"])
    assert 0.99 < line["similarity"] < 1


def test_options_of_other_methods_are_refused(tmp_path: Path) -> None:
    """And the column of vectors without vectors, and vectors where texts are judged."""
    source = _source(tmp_path)
    found = run("dedup", source, "--dry-run", "--method", "hyperplane", "--shingle-size", "3")
    assert "--method hyperplane has no option --shingle-size" in found.stderr
    found = run("dedup", source, "--dry-run", "--vector-column", "embedding")
    assert "vector_column='embedding' does nothing with method=jaccard" in found.stderr
    found = run("evaluate", source, "--methods", "hyperplane,jaccard", "--vector-column", "embedding")
    assert (2, True) == (found.exit_code, "'hyperplane' compares vectors, and 'jaccard' texts" in found.stderr)
    found = run("evaluate", source, "--methods", "hyperplane", "--vector-column", "embedding", "--unit", "chars")
    assert (2, True) == (found.exit_code, "unit does nothing to vectors" in found.stderr)


@pytest.mark.slow
def test_hyperplanes_are_judged_by_the_cosine_of_every_two_vectors(tmp_path: Path) -> None:
    """At their own threshold, and from `near` on; copies and a vector without a direction are among them."""
    random = np.random.Generator(np.random.PCG64(7))
    vectors = np.concatenate([random.standard_normal((20, 12)), np.zeros((2, 12))])
    vectors = np.concatenate([vectors, vectors[:20] + 0.5 * random.standard_normal((20, 12)), vectors[:3]])
    pq.write_table(pa.table({"id": [f"v{i:02d}" for i in range(45)], "vector": [*vectors]}), tmp_path / "a.parquet")
    out = tmp_path / "e.json"
    asked = ["--methods", "hyperplane:threshold=0.8:bands=128:rows=1,hyperplane:threshold=0.8:bands=4:rows=16"]
    for also, least in ([], 0.8), (["--measure", "cosine", "--near", "0.9"], 0.9):
        run("evaluate", tmp_path / "a.parquet", *asked, *also, "-o", out, "--overwrite")
        first, second = json.loads(out.read_text("utf-8"))["scores"]
        rounded = np.rint(vectors / np.maximum(np.abs(vectors).max(1, keepdims=True), 1e-9) * 32767)
        lengths = np.maximum(np.sqrt((rounded**2).sum(1)), 1e-9)
        cosines = np.triu(rounded @ rounded.T / lengths / lengths[:, None], 1)
        assert int((cosines >= least).sum()) == first["true_pairs"] == second["true_pairs"] == first["both"]
        assert int((cosines >= 0.8).sum()) == first["pairs"] > second["pairs"]
        assert f"cosine >= {least:g}" == first["reference"]
