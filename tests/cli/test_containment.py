"""Containment from the terminal: its options, its columns, what it promises."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from nearsame.cli.main import commands

ARTICLE = " ".join(f"w{number}" for number in range(200))
QUOTE = " ".join(f"w{number}" for number in range(50, 80))


@pytest.fixture
def sources(tmp_path: Path) -> tuple[str, str]:
    """A long text, and a short one that it quotes."""
    paths = []
    for name, text in (("long", ARTICLE), ("short", QUOTE)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"id": name, "text": text}) + "\n", "utf-8")
        paths.append(str(path))
    return paths[0], paths[1]


def test_the_contained_goes(sources: tuple[str, str], tmp_path: Path) -> None:
    """The summary says what was promised, and the removed document is the quote."""
    run = CliRunner().invoke(commands, ["dedup", *sources, "-o", str(tmp_path / "out"), "--method", "containment"])
    assert 0 == run.exit_code, run.output
    assert "no kept document is contained to 0.8 or more in another" in " ".join(run.stdout.split())
    removed = pq.read_table(tmp_path / "out" / "removed.parquet").to_pylist()
    assert [("short", "long", 1.0, "containment")] == [
        (line["id"], line["witness_id"], line["similarity"], line["measure"]) for line in removed
    ]


def test_the_container_goes_with_against(sources: tuple[str, str], tmp_path: Path) -> None:
    """The other way round, and only against another side."""
    options = ["--method", "containment", "--remove", "container"]
    long, short = sources
    run = CliRunner().invoke(commands, ["dedup", long, "--against", short, "-o", str(tmp_path / "out"), *options])
    assert 0 == run.exit_code, run.output
    assert "no kept document contains 0.8 or more of one of --against" in " ".join(run.stdout.split())
    removed = pq.read_table(tmp_path / "out" / "removed.parquet").to_pylist()
    assert [("long", "container")] == [(line["id"], line["measure"]) for line in removed]


def test_pairs_tell_both_directions(sources: tuple[str, str], tmp_path: Path) -> None:
    """Two columns more than other methods have; a floor leaves the pair out."""
    out = tmp_path / "pairs.parquet"
    run = CliRunner().invoke(commands, ["pairs", *sources, "-o", str(out), "--method", "containment"])
    assert 0 == run.exit_code, run.output
    assert [(26 / 196, 1.0)] == [(line["a_in_b"], line["b_in_a"]) for line in pq.read_table(out).to_pylist()]
    options = ["-o", str(out), "--overwrite", "--method", "containment", "--jaccard-floor", "0.2"]
    run = CliRunner().invoke(commands, ["pairs", *sources, *options])
    assert 0 == run.exit_code, run.output
    assert 0 == pq.read_table(out).num_rows
