"""`nearsame pairs` from its options to the table that it writes."""

import csv
import json

import pyarrow.parquet as pq
import pytest

from .commands import documents, leftovers, run, write_jsonl

ALL = {("a", "a-copy"), ("a", "a-edited"), ("a-copy", "a-edited")}


@pytest.fixture
def source(tmp_path):
    """A file of four documents."""
    return write_jsonl(tmp_path / "pages.jsonl", documents())


def read(path):
    """The pairs of ids in a file."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    elif path.suffix == ".csv":
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    else:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {(row["a_id"], row["b_id"]) for row in rows}


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
def test_the_suffix_chooses_the_format(suffix, source, tmp_path):
    """Every format has the same pairs."""
    done = run("pairs", source, "-o", tmp_path / f"pairs.{suffix}")
    assert 0 == done.exit_code, done.stderr
    assert read(tmp_path / f"pairs.{suffix}") == ALL
    assert "pairs                    3" in done.stdout
    assert [] == leftovers(tmp_path)


def test_a_dash_prints_json_lines_and_nothing_else(source):
    """The summary goes to standard error."""
    done = run("pairs", source, "-o", "-")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(row["a_id"], row["b_id"]) for row in found} == ALL
    assert {"a_id", "a_source", "a_row", "b_id", "b_source", "b_row", "similarity", "measure"} == set(found[0])
    assert "pairs                    3" in done.stderr


def test_a_star_names_the_first_of_identical_documents(source, tmp_path):
    """The copy stands only in the pair with the first."""
    run("pairs", source, "-o", tmp_path / "pairs.csv", "--identical", "star")
    assert {("a", "a-copy"), ("a", "a-edited")} == read(tmp_path / "pairs.csv")


def test_more_pairs_than_allowed_are_refused_with_the_figure(source, tmp_path):
    """Nothing is written."""
    done = run("pairs", source, "-o", tmp_path / "pairs.csv", "--max-pairs", "2")
    assert 2 == done.exit_code
    assert "3" in done.stderr.splitlines()[0]
    assert not (tmp_path / "pairs.csv").exists()


def test_across_two_sides(source, tmp_path):
    """With --against only pairs of one document of each."""
    other = write_jsonl(tmp_path / "other.jsonl", documents()[:1])
    run("pairs", source, "--against", other, "-o", tmp_path / "pairs.csv")
    assert {("a", "a"), ("a", "a-copy"), ("a", "a-edited")} == read(tmp_path / "pairs.csv")


@pytest.mark.parametrize("name", ["pairs", "pairs.txt", "missing/pairs.csv"])
def test_a_file_that_cannot_be_is_refused_at_once(name, source, tmp_path):
    """An unknown suffix, a missing folder: before anything is read."""
    done = run("pairs", source, "-o", tmp_path / name)
    assert 2 == done.exit_code
    assert done.stderr.startswith("error: ")


def test_an_existing_file_is_replaced_only_when_asked(source, tmp_path):
    """Like a folder of dedup."""
    path = tmp_path / "pairs.csv"
    path.write_text("old", "utf-8")
    assert 2 == run("pairs", source, "-o", path).exit_code
    assert "old" == path.read_text("utf-8")
    assert 0 == run("pairs", source, "-o", path, "--overwrite").exit_code
    assert read(path) == ALL


@pytest.mark.parametrize("given", [[], ["-o", "-", "--json"], ["--json", "--overwrite"], ["-o", "-", "--overwrite"]])
def test_a_place_to_write_to_is_needed_once(given, source):
    """Neither none nor two."""
    assert 2 == run("pairs", source, *given).exit_code


def test_json_has_the_number_of_pairs(source):
    """Without a file, too."""
    assert 3 == json.loads(run("pairs", source, "--json").stdout)["pairs"]
