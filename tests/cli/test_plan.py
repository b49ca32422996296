"""`nearsame plan`: what is printed, written and refused."""

import json

import pytest
from click.testing import CliRunner

from nearsame.cli.main import commands
from nearsame.demo import corpus_path


def run(*arguments, status=0):
    """(standard output, standard error) of `nearsame plan`."""
    result = CliRunner().invoke(commands, ["plan", *arguments])
    assert status == result.exit_code, result.output
    return result.stdout, result.stderr


def test_plan_prints_the_choice():
    """The defaults are those of MinHash."""
    out, _ = run()
    assert out.startswith("MinHash: threshold 0.8, recall 0.99, 128 permutations\n16 bands of 6 rows:")


def test_plan_reads_a_corpus():
    """Expected candidates are added, by the text options given."""
    out, _ = run(str(corpus_path()), "--sample", "200", "--shingle-size", "3", "--threshold", "0.7")
    assert "In the corpus: 369 documents, 200 of them sampled" in out


def test_plan_writes_json_and_a_picture(tmp_path):
    """Both at once; JSON alone is on standard output."""
    out, err = run("--bands", "20", "--rows", "5", "--json", "--plot", str(tmp_path / "curve.svg"))
    record = json.loads(out)
    assert (20, 5, "") == (record["shape"]["bands"], record["shape"]["rows"], err)
    assert (tmp_path / "curve.svg").read_text("utf-8").startswith("<svg")


def test_several_settings_are_in_one_picture(tmp_path):
    """With a legend, and a column for each in the table."""
    out, _ = run("--rows", "5", "--bands", "20", "--also", "15x5", "--plot", str(tmp_path / "curves.svg"))
    assert "  similarity    20 x 5    15 x 5\n" in out
    drawn = (tmp_path / "curves.svg").read_text("utf-8")
    assert drawn.index(">20 x 5<") < drawn.index(">15 x 5<")


def test_plan_shows_what_k_means():
    """--simhash, with its own settings."""
    out, _ = run("--simhash", "--k", "6", "--bits", "128", "--threshold", "0.9", "--recall", "0.95")
    assert out.startswith("SimHash: 128 bits, within k=6\n")
    record = json.loads(run("--simhash", "--json")[0])
    assert (64, 3, 17) == (record["bits"], record["k"], record["least_k"])


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--k", "3"], "--k needs --simhash", "Add --simhash"),
        (["--simhash", "--num-perm", "64"], "--simhash has no option --num-perm", "Leave one of them out"),
        (["--simhash", "--k", "64"], "k=64 is not at least 0 and below bits=64", "Choose a smaller distance"),
        (["--simhash", "--threshold", "x"], "threshold='x' is not a number", "Write it as in 0.8"),
        (["--simhash", "--text-column", "x"], "--text-column does nothing with --simhash", "Leave one of them out"),
        (["--text-column", "x"], "text_column does nothing without a corpus", "Name a source"),
        (["--simhash", "--sample", "5"], "--sample does nothing with --simhash", "Leave one of them out"),
        (["--sample", "5"], "sample_size does nothing without a corpus", "Name a source"),
        (["--shingle-size", "2"], "shingle_size does nothing without a corpus", "Name a source"),
        (["--simhash", "corpus.jsonl"], "--simhash takes no SOURCE: 'corpus.jsonl'", "Leave one of them out"),
        (["--also", "15"], "--also '15' is not a setting", "as in 15x5"),
        (["--simhash", "--also", "x"], "--also 'x' is not a setting", "as in 6"),
        (["--measure", "cosine"], "--measure needs --simhash", "Add --simhash"),
        (["--threshold", "7"], "threshold='7': 7 is not above 0 and at most 1", "methods.md"),
        (["--plot", "curve.jpg"], "plot='curve.jpg' ends neither in .svg nor in .png", "Name the file so"),
    ],
)
def test_what_cannot_be_planned_is_an_error_with_a_hint(arguments, message, hint):
    """One line of each, exit code 2."""
    out, err = run(*arguments, status=2)
    assert "" == out
    assert f"error: {message}" in err or message in err
    assert hint in err


def test_a_source_that_is_not_there_is_named():
    """As everywhere: 3, for what could not be read."""
    assert "no-such.jsonl does not exist" in run("no-such.jsonl", status=3)[1]


def test_random_bands_are_planned_as_what_they_are():
    """More of them for the same recall than bands that share no value."""
    plain, drawn = (json.loads(run("--json", "--choice", choice)[0]) for choice in ("consecutive", "random"))
    assert drawn["shape"]["at_threshold"] >= 0.99
    assert (drawn["shape"]["bands"], drawn["shape"]["rows"]) != (plain["shape"]["bands"], plain["shape"]["rows"])
