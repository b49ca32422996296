"""`nearsame evaluate`: what is printed, written and refused."""

import json

import pytest

from nearsame.cli import evaluate as command
from nearsame.demo import corpus_path
from nearsame.studies import evaluate

from .commands import documents, run, write_jsonl

DEMO = str(corpus_path())


def test_evaluate_prints_tables():
    """What each method found, what it cost, and what was lost."""
    result = run("evaluate", DEMO, "--methods", "jaccard, minhash:bands=9:rows=13", "--near", "0.8", "--sample", "300")
    assert 0 == result.exit_code, result.stderr
    assert result.stdout.startswith("300 documents, a sample of 369. Held against the exact answer")
    assert "Pairs of Jaccard 0.8 and above\n" in result.stdout
    assert "by none of 9 bands in common" in result.stdout


def test_evaluate_writes_a_page_and_json(tmp_path):
    """Both at once; the text options are those of the methods."""
    page, table = tmp_path / "report.html", tmp_path / "table.md"
    options = ("--report", page, "-o", table, "--json", "-q")
    result = run("evaluate", DEMO, "--methods", "digest", "--shingle-size", "3", *options)
    assert 0 == result.exit_code, result.stderr
    assert 3 == json.loads(result.stdout)["settings"]["near"]["shingle_size"]
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert table.read_text("utf-8").startswith("#")
    for name in ("-o", "--report"):
        assert 2 == run("evaluate", DEMO, "--methods", "digest", name, page).exit_code


@pytest.mark.slow
def test_evaluate_reads_a_truth(tmp_path):
    """By the ids of the documents."""
    path = write_jsonl(tmp_path / "a.jsonl", documents())
    (tmp_path / "truth.tsv").write_text("a\ta-copy\t2\na\ta-edited\t1\na\tb\t0\n", "utf-8")
    result = run("evaluate", path, "--truth", tmp_path / "truth.tsv", "--least-label", "2", "--methods", "jaccard")
    assert 0 == result.exit_code, result.stderr
    assert "truth.tsv: 1 true and 2 false pairs; only these count" in " ".join(result.stdout.split())
    assert "Settings tried on the judged pairs" in result.stdout
    command = result.stdout.splitlines()[-1]
    assert command.startswith(f"nearsame dedup {path} --method ")
    quiet = run("evaluate", path, "--truth", tmp_path / "truth.tsv", "--least-label", "2", "--methods", "jaccard", "-q")
    assert f"F1 1.000: {command}\n" == quiet.stdout
    quiet = run("evaluate", path, "--methods", "jaccard,simhash", "-q")
    assert "F1: jaccard 1.0000, simhash 1.0000\n" == quiet.stdout


def test_evaluate_draws_pairs_to_label(tmp_path):
    """Into a file that it reads back, and no other."""
    result = run("evaluate", DEMO, "--to-label", "7", "-o", tmp_path / "pairs.tsv")
    assert (0, 8) == (result.exit_code, len((tmp_path / "pairs.tsv").read_text("utf-8").splitlines())), result.stderr
    assert "write 1 (the same) or 0 into the column label" in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.replace(str(tmp_path), "").splitlines())) <= 80
    ignored = [
        ["--truth", DEMO],
        ["--methods", "digest"],
        ["--near", "0.5"],
        ["--json"],
        ["--least-label", "1"],
        ["--report", "a.html"],
    ]
    others = [(given, f"{given[0]} does nothing with --to-label") for given in ignored]
    for given, message in ((["-o", "a.md"], "needs a .tsv file"), ([], "needs a .tsv"), *others):
        refused = run("evaluate", DEMO, "--to-label", "7", *given)
        assert (2, True) == (refused.exit_code, message in refused.stderr)


@pytest.mark.parametrize(
    ("arguments", "status", "message", "hint"),
    [
        (["--methods", "nonsense"], 2, "method='nonsense' is not one of", "Choose a method by its name"),
        (["--methods", ","], 2, "methods=[] names none", "Name one method or more"),
        (["--near", "2"], 2, "threshold='2': 2 is not above 0", "methods.md"),
        (["-o", "a.pdf"], 2, "a.pdf has an unknown format", ".md .json .html"),
        ([DEMO], 2, "is named twice", "Name each file once"),
        (["--truth", "no-such.tsv"], 3, "no-such.tsv does not exist", "Check the path"),
        (["--sample", "1"], 2, "sample_size=1 is below 2", "Compare two documents or more"),
    ],
)
def test_what_cannot_be_evaluated_is_an_error_with_a_hint(arguments, status, message, hint):
    """One line of each."""
    result = run("evaluate", DEMO, *arguments)
    assert (status, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
    assert hint in result.stderr


def test_the_methods_of_the_help_are_the_default():
    """The option says what the library does."""
    [option] = [param for param in command.evaluate.params if param.name == "methods"]
    assert ",".join(evaluate.METHODS) == option.default
