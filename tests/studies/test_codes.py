"""`codes`: a file of what a method makes of each document, by the stages of a run, that `pairs` reads again."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from tests.cli.commands import leftovers, run

TEXTS = ["a rose is a rose is a rose", "A rose is a rose is a rose!", "a daisy", "", None, "--"]


def _hashed(texts: list[str | None]) -> list[Any]:
    return [items or None for items in ns.shingles(texts, hashed=True)]


@pytest.mark.parametrize(
    ("method", "name", "kind", "expected"),
    [
        (ns.SimHash(bits=32), "code", pa.uint32(), lambda texts: ns.simhash(texts, bits=32)),
        (ns.SimHash(weights="tf"), "code", pa.uint64(), lambda texts: ns.simhash(texts, weights="tf")),
        (ns.MinHash(num_perm=4), "signature", pa.list_(pa.uint64()), lambda texts: ns.minhash(texts, num_perm=4)),
        (ns.ModP(modulus=1, floor=0), "fingerprint", pa.list_(pa.uint64()), _hashed),
        (ns.Digest(algorithm="md5"), "digest", pa.binary(16), lambda texts: [_md5(text) for text in texts]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_each_document_has_what_its_method_makes_of_it(
    tmp_path: Path, method: Any, name: str, kind: pa.DataType, expected: Any
) -> None:
    """The values of the plain functions, with id and place, and the recipe in the metadata."""
    table = pa.table({"id": [f"d{at}" for at in range(len(TEXTS))], "text": TEXTS})
    made = ns.codes(table, tmp_path / "codes.parquet", method=method, threads=2)
    found = pq.read_table(tmp_path / "codes.parquet")
    assert found.column_names == ["id", "source", "row", name]
    assert found.column("id").to_pylist() == table.column("id").to_pylist()
    assert found.column(name).to_pylist() == expected(TEXTS)
    assert found.column(name).cast(kind).type == kind
    assert (made.documents, made.codes) == (len(TEXTS), len(TEXTS) - found.column(name).null_count)
    assert json.loads(found.schema.metadata[b"nearsame"])["recipe"] == json.loads(json.dumps(method.record()))
    assert pl.read_parquet(tmp_path / "codes.parquet").height == len(TEXTS)


def _md5(text: str | None) -> bytes | None:
    return hashlib.md5(text.encode(), usedforsecurity=False).digest() if text else None


def test_codes_of_a_file_meet_as_the_documents_would(tmp_path: Path) -> None:
    """What cannot be read has no line, and is told; `pairs` of the file are the pairs of the documents."""
    lines = [json.dumps({"id": str(at), "text": text}) for at, text in enumerate(TEXTS)]
    (tmp_path / "texts.jsonl").write_text("\n".join([*lines[:2], "{", *lines[2:]]) + "\n", "utf-8")
    done = run("codes", tmp_path / "texts.jsonl", "-o", tmp_path / "c.parquet", "--bits", 128)
    assert (done.exit_code, pq.read_schema(tmp_path / "c.parquet").field("code").type) == (3, pa.binary(16))
    assert "6 documents, 3 of them without one" in done.output
    assert "not valid JSON" in done.output
    found = ns.pairs(tmp_path / "c.parquet", method=ns.Codes(bits=128)).table
    expected = ns.pairs(tmp_path / "texts.jsonl", method=ns.SimHash(bits=128)).table
    assert found.column("a_id").to_pylist() == expected.column("a_id").to_pylist() == ["0"]
    assert found.column("similarity").equals(expected.column("similarity"))
    assert leftovers(tmp_path) == []


def test_vectors_have_codes_and_what_has_none_is_refused(tmp_path: Path) -> None:
    """By hyperplanes; not by methods that compare whole sets, nor with settings about pairs, nor over a source."""
    matrix = np.array([[1.0, 2], [1, 2.1], [-1, 3]])
    ns.codes(matrix, tmp_path / "codes.parquet", method=ns.Hyperplane(bits=64))
    near = ns.pairs(tmp_path / "codes.parquet", method=ns.Codes(k=4)).table
    assert [(row["a_row"], row["b_row"]) for row in near.to_pylist()] == [(0, 1)]
    for how, problem in (
        ({"method": "jaccard"}, "method=jaccard compares whole documents"),
        ({"method": ns.SimHash(k=2)}, "k=2 is about pairs"),
        ({"method": ns.SimHash(weights="tfidf")}, "needs a corpus"),
        ({}, "codes.parquet exists"),
    ):
        with pytest.raises(ns.NearSameError, match=problem):
            ns.codes(["a"], tmp_path / "codes.parquet", **how)
