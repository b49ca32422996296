"""Kernels that are interpreted give what compiled ones give: a debugger steps through what runs."""

import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns

METHODS = {
    "jaccard": ns.Jaccard(threshold="0.5", shingle_size=3),
    "jaccard of characters, twice verified": ns.Jaccard(
        threshold="0.5", unit="chars", confirm="edit", confirm_threshold="0.5"
    ),
    "cosine": ns.Cosine(threshold="0.5"),
    "cosine by frequency": ns.Cosine(threshold="0.3", weights="tfidf"),
    "containment": ns.Containment(threshold="0.7", shingle_size=2),
    "minhash": ns.MinHash(threshold="0.5", shingle_size=3, num_perm=64),
    "modp": ns.ModP(threshold="0.5", modulus=2),
    "simhash": ns.SimHash(k=8),
    "hyperplane": ns.Hyperplane(threshold="0.9"),
    "codes": ns.Codes(bits=64, k=3),
    "digest": ns.Digest(),
}
PROGRAM = """
import json, sys
import nearsame as ns
from nearsame.kernels import _jit
from tests.kernels.test_interpreted import METHODS, answer
assert not _jit.is_built() and "numba" not in sys.modules
print(json.dumps({name: answer(name, sys.argv[1]) for name in METHODS}))
"""


def answer(name, home):
    """The pairs of a method, with their similarities, and how many stay."""
    given = {"codes": {"codes_column": "code"}, "hyperplane": {"vector_column": "vector"}}.get(name, {})
    pairs = ns.pairs(f"{home}/documents.parquet", method=METHODS[name], audit=False, **given).pairs
    kept = ns.dedup(f"{home}/documents.parquet", method=METHODS[name], audit=False, **given).stats.kept
    return [pairs.select(["a_id", "b_id", "similarity"]).to_pylist(), kept]


@pytest.fixture
def home(tmp_path):
    """Texts of several scripts in twos that differ a little, with codes and vectors."""
    roots = [
        "a rose is a rose is a rose, and Émile's «röse» is none",
        "漢字と仮名 mixed \ufb01n de siècle 123 _x_",
        "ไทย तुम नमस्ते " * 4,
    ]
    words = [" ".join(f"w{place + n}" for n in range(12)) for place in range(6)]
    texts = [f"{roots[place % 3]} {words[place]}{tail}" for place in range(6) for tail in ("", " so")]
    rows = {
        "id": [str(number) for number in range(len(texts) + 1)],
        "text": [*texts, "..."],
        "code": pa.array([(number // 2 << 20) | number for number in range(len(texts) + 1)], pa.uint64()),
        "vector": [[float(number // 2), 1.0, number / 9] for number in range(len(texts) + 1)],
    }
    pq.write_table(pa.table(rows), tmp_path / "documents.parquet")
    return tmp_path


@pytest.mark.slow
def test_interpreted_kernels_give_what_compiled_ones_give(home):
    """All methods, with neither a library nor Numba."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment.pop("NEARSAME_KERNELS", None)
    command = [sys.executable, "-c", PROGRAM, str(home)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert 0 == run.returncode, run.stderr
    found = json.loads(run.stdout)
    wanted = {name: json.loads(json.dumps(answer(name, home))) for name in METHODS}
    assert wanted == found
    assert 8 <= sum(bool(pairs) for pairs, _ in wanted.values())  # of eleven methods
