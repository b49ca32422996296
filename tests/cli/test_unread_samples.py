"""Commands that look at a sample: what they cannot read is said, and their exit code is 3."""

import gzip
import json

import pytest

from .commands import run, words


@pytest.fixture
def torn(tmp_path):
    """A file of 200 documents that is cut."""
    lines = "".join(json.dumps({"text": " ".join(words(30, n // 2))}) + "\n" for n in range(200))
    packed = gzip.compress(lines.encode())
    (tmp_path / "torn.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    return tmp_path / "torn.jsonl.gz"


def test_a_plan_says_what_it_could_not_read(torn):
    """In a note, and as a number in its record."""
    done = run("plan", torn, "--threshold", "0.8")
    assert 3 == done.exit_code, done.stderr
    assert "1 record could not be read; the first: " in " ".join(done.stdout.split())
    done = run("plan", torn, "--threshold", "0.8", "--json")
    assert (3, 1) == (done.exit_code, json.loads(done.stdout)["unread"])


@pytest.mark.slow
def test_an_evaluation_says_what_it_could_not_read(torn, tmp_path):
    """Beside the documents, in its record, and where it is quiet on standard error."""
    asked = ("evaluate", torn, "--methods", "jaccard,digest")
    done = run(*asked)
    assert 3 == done.exit_code, done.stderr
    assert "; 1 record could not be read. Held against " in " ".join(done.stdout.split())
    done = run(*asked, "--json")
    assert (3, 1) == (done.exit_code, json.loads(done.stdout)["unread"])
    done = run(*asked, "-q")
    assert (3, "error: 1 record could not be read\n") == (done.exit_code, done.stderr)
    done = run("evaluate", torn, "--to-label", "5", "-o", tmp_path / "pairs.tsv")
    assert 3 == done.exit_code, done.stderr
    assert "1 record could not be read." in done.stdout


@pytest.mark.slow
def test_what_was_read_whole_is_done(torn):
    """And says nothing of that."""
    torn.write_bytes(gzip.compress(b'{"text": "a rose"}\n{"text": "a rose"}\n'))
    for command in (("plan", torn, "--threshold", "0.8"), ("evaluate", torn, "--methods", "jaccard")):
        done = run(*command)
        assert 0 == done.exit_code, done.stderr
        assert "could not be read" not in done.stdout
