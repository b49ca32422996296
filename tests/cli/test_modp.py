"""Fingerprints from the terminal: what is estimated says so, and the exact values stand beside."""

import json
from pathlib import Path

import pyarrow.parquet as pq
from click.testing import CliRunner

from nearsame.cli.main import commands

WORDS = [f"w{number}" for number in range(2000)]


def _source(folder: Path) -> str:
    path = folder / "texts.jsonl"
    texts = [" ".join(WORDS), " ".join(WORDS[:1950]), "nothing of the kind"]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return str(path)


def test_pairs_show_what_the_estimate_is_an_estimate_of(tmp_path: Path) -> None:
    """1,946 of 1,996 shingles: the shorter text is in the longer one, by both accounts."""
    out = tmp_path / "pairs.parquet"
    options = ["--method", "modp", "--modulus", "10", "--floor", "16"]
    run = CliRunner().invoke(commands, ["pairs", _source(tmp_path), "-o", str(out), *options])
    assert 0 == run.exit_code, run.output
    (line,) = pq.read_table(out).to_pylist()
    assert ("estimated", 1946 / 1996, 1946 / 1996, 1.0) == (
        line["measure"],
        line["exact"],
        line["exact_a_in_b"],
        line["exact_b_in_a"],
    )
    assert line["similarity"] == line["a_in_b"] > 0.93
    assert 1.0 == line["b_in_a"]


def test_the_summary_says_that_it_is_an_estimate(tmp_path: Path) -> None:
    """And what of: fingerprints."""
    run = CliRunner().invoke(commands, ["dedup", _source(tmp_path), "--dry-run", "--method", "modp"])
    assert 0 == run.exit_code, run.output
    assert "an estimate: every removed document has a kept witness whose fingerprint says" in " ".join(
        run.stdout.split()
    )
