"""`nearsame report`, and `--report` of a run: what is written and refused."""

import json

import pytest

from .commands import documents, leftovers, run, write_jsonl


@pytest.fixture
def corpus(tmp_path):
    """Four documents, of which one is a copy and one an edited version."""
    return write_jsonl(tmp_path / "a.jsonl", documents())


def test_a_run_and_its_folder_have_a_page(corpus, tmp_path):
    """Beside what is written, or alone; the same page later from the folder."""
    out, page, later = tmp_path / "out", tmp_path / "r.html", tmp_path / "later.json"
    result = run("dedup", corpus, "-o", out, "--report", page)
    assert 0 == result.exit_code, result.stderr
    assert f"Written:{page}" in "".join(result.stdout.split())
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert 2 == run("dedup", corpus, "--report", page).exit_code
    assert 0 == run("dedup", corpus, "--report", page, "--overwrite", "-q").exit_code
    printed = run("dedup", corpus, "-o", "-", "--report", page, "--overwrite")
    assert (0, 2) == (printed.exit_code, len(printed.stdout.splitlines()))
    assert f"Written:{page}" in "".join(printed.stderr.split())
    assert 0 == run("report", out, "-o", later, "-q").exit_code
    assert 2 == json.loads(later.read_text("utf-8"))["num_pairs"]
    assert [] == leftovers(tmp_path)


def test_an_output_of_leaks_is_told_which_command_makes_its_page(corpus, tmp_path):
    """Its tables are others, and none of them is missing."""
    assert 0 == run("leaks", corpus, "--eval", corpus, "-o", tmp_path / "out", "-q").exit_code
    done = run("report", tmp_path / "out", "-o", tmp_path / "page.html")
    assert (3, True) == (done.exit_code, "is an output of leaks" in done.stderr)
    assert "nearsame leaks --report FILE" in done.stderr


def test_pairs_have_a_page(corpus, tmp_path):
    """With or without a file of pairs."""
    page = tmp_path / "r.json"
    result = run("pairs", corpus, "--report", page, "--report-without-texts")
    assert 0 == result.exit_code, result.stderr
    assert (3, "this report was made without texts") == tuple(
        json.loads(page.read_text("utf-8"))[name] for name in ("num_pairs", "untold")
    )
    result = run("pairs", corpus, "-o", tmp_path / "p.csv", "--report", page, "--overwrite")
    assert 2 == result.stdout.count("Written: ")


@pytest.mark.parametrize(
    ("arguments", "status", "message", "hint"),
    [
        (["dedup", "SOURCE", "--report", "a.pdf"], 2, "a.pdf has an unknown format", ".html .json"),
        (
            ["dedup", "SOURCE", "--report-without-texts", "--dry-run"],
            2,
            "does nothing without --report",
            "Add --report",
        ),
        (["pairs", "SOURCE", "--report", "r.html", "--engine", "spark"], 2, "made on one machine", "Leave one of them"),
        (["dedup", "SOURCE", "-o", "out", "--report", "out/r.html"], 2, "both are to be written", "apart"),
        (["dedup", "SOURCE", "--report", "SOURCE", "--overwrite"], 2, "", ""),
        (["report", "SOURCE", "-o", "r.html"], 3, "is a file", "Name a folder"),
        (["report", "no-such", "-o", "r.html"], 3, "no-such does not exist", "Check the path"),
    ],
)
def test_what_has_no_report_is_an_error_with_a_hint(corpus, tmp_path, monkeypatch, arguments, status, message, hint):  # noqa: PLR0917  (a row of the table)
    """Before anything is run."""
    monkeypatch.chdir(tmp_path)
    result = run(*[corpus if word == "SOURCE" else word for word in arguments])
    assert (status, "") == (result.exit_code, result.stdout)
    assert message in result.stderr
    assert hint in result.stderr
    assert ["a.jsonl"] == [path.name for path in tmp_path.iterdir()]
