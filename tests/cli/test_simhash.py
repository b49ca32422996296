"""SimHash from the terminal: its options, what it promises, and its errors."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from .commands import documents, run, write_jsonl

FOXES = [
    {"id": "one", "text": "The quick brown fox jumps over the lazy dog."},
    {"id": "two", "text": "The fast brown fox jumps over a lazy dog."},
]
TABLE = {"the": 13, "quick": 10, "brown": 9, "fox": 15, "jumps": 6, "over": 11, "lazy": 12, "dog": 5, "fast": 3, "a": 7}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two texts, a copy and an edited version of one."""
    return write_jsonl(tmp_path / "in.jsonl", documents())


def test_codes_are_compared_and_nothing_else(source: Path, tmp_path: Path) -> None:
    """The summary says what k means, and that no texts were compared; every row that it is a Hamming similarity."""
    outcome = run("dedup", source, "-o", tmp_path / "out", "--method", "simhash", "--k", 12)
    assert 0 == outcome.exit_code, outcome.output
    said = " ".join(outcome.stdout.split())
    assert "Note: k=12 of 64 bits finds" in said
    assert "no two kept documents have codes within 12 of 64 bits" in said
    removed = pq.read_table(tmp_path / "out" / "removed.parquet")
    assert {"hamming"} == set(removed.column("measure").to_pylist())
    assert ["a-copy", "a-edited"] == removed.column("id").to_pylist()


def test_what_was_found_is_confirmed(source: Path, tmp_path: Path) -> None:
    """By the measure and the threshold that were asked for."""
    found = []
    for threshold in ("0.9", "0.999"):
        place = tmp_path / f"{threshold}.parquet"
        options = ["--method", "simhash", "--k", 12, "--confirm", "cosine", "--weights", "tf", "--threshold", threshold]
        assert 0 == run("pairs", source, "-o", place, *options).exit_code
        found.append(pq.read_table(place).num_rows)
    assert [3, 1] == found


def test_frequencies_are_written_and_read_again(source: Path, tmp_path: Path) -> None:
    """What one tfidf run counted weighs the documents of the next."""
    options = ["--method", "simhash", "--weights", "tfidf"]
    assert 0 == run("dedup", source, "-o", tmp_path / "out", *options).exit_code
    saved = tmp_path / "out" / "frequencies.parquet"
    again = run("dedup", source, "-o", tmp_path / "again", *options, "--frequencies", saved)
    assert 0 == again.exit_code, again.output
    other = run("dedup", source, "-o", tmp_path / "other", *options, "--frequencies", saved, "--shingle-size", 2)
    assert 2 == other.exit_code
    assert "other features: shingle_size=1 there, 2 here" in other.stderr


def test_the_worked_example_of_four_bits(tmp_path: Path) -> None:
    """EXAMPLES: a table of hashes from a file; 1101 and 1111 are one bit apart."""
    source, table = write_jsonl(tmp_path / "in.jsonl", FOXES), tmp_path / "hashes.json"
    table.write_text(json.dumps(TABLE), "utf-8")
    options = ["--method", "simhash", "--bits", 4, "--hashes", table, "--weights", "tf", "--k", 1]
    assert 0 == run("pairs", source, "-o", tmp_path / "p.parquet", *options).exit_code
    assert [0.75] == pq.read_table(tmp_path / "p.parquet").column("similarity").to_pylist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--k", 64], "k=64"),
        (["--k", 3, "--blocks", 3], "blocks=3 is not above k=3 and at most bits=64"),
        (["--threshold", 0.9], "threshold=0.9 does nothing without confirm"),
        (["--seed", 1], "--method simhash has no option --seed"),
    ],
)
def test_bad_settings_are_named(source: Path, tmp_path: Path, options: list[object], message: str) -> None:
    """With their values, in one line, before anything is written."""
    outcome = run("dedup", source, "-o", tmp_path / "out", "--method", "simhash", *options)
    assert 2 == outcome.exit_code
    assert message in outcome.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("options", [["--hashes"], ["--weights", "tfidf", "--frequencies"]])
def test_a_file_that_is_not_there_is_named(source: Path, tmp_path: Path, options: list[object]) -> None:
    """A table of hashes, or of frequencies."""
    outcome = run("dedup", source, "-o", tmp_path / "out", "--method", "simhash", *options, tmp_path / "nowhere")
    assert 3 == outcome.exit_code
    assert "nowhere does not exist" in outcome.stderr
    assert not (tmp_path / "out").exists()
