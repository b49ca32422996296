"""Recall on the command line: measured, printed, and required."""

import json
import random
from pathlib import Path

import pytest
from tests.cli.commands import run


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    """400 pairs of a text and a version of it with two words of a hundred changed, J about .82."""
    words = random.Random(5)
    lines = []
    for number in range(400):
        base = [f"w{words.randrange(10**6)}" for _ in range(100)]
        changed = list(base)
        changed[30], changed[70] = "x", "y"
        lines += [{"id": f"a{number}", "text": " ".join(base)}, {"id": f"b{number}", "text": " ".join(changed)}]
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def test_an_approximate_run_prints_what_it_found(corpus: str) -> None:
    """The recall with its interval, and what is left."""
    done = run("dedup", corpus, "--dry-run", "-q", "--json", "--method", "minhash")
    audit = json.loads(done.stdout)["audit"]
    assert done.exit_code == 0
    assert audit["with_partner"] == 800
    assert audit["key_recall"]["low"] > 0.95


def test_a_recall_that_is_not_reached_is_exit_code_4(corpus: str) -> None:
    """Nine bands of thirteen find less than half of the pairs at .8."""
    few = ("--method", "minhash", "--bands", "9", "--rows", "13")
    assert run("dedup", corpus, "--dry-run", *few).exit_code == 0
    assert run("dedup", corpus, "--dry-run", *few, "--require-recall", "0.97").exit_code == 4
    assert run("pairs", corpus, "-o", "-", *few, "--require-recall", "0.97").exit_code == 4


def test_the_exact_join_reaches_every_recall(corpus: str) -> None:
    """It is audited because recall is required."""
    done = run("dedup", corpus, "--dry-run", "--require-recall", "1")
    assert done.exit_code == 0
    assert "recall (Jaccard >= 0.8) 100 %" in " ".join(done.stdout.split())


def test_to_require_what_is_not_measured_is_an_error(corpus: str) -> None:
    """Both options are named."""
    done = run("dedup", corpus, "--dry-run", "--no-audit", "--require-recall", "0.9")
    assert done.exit_code == 2
    assert "--no-audit and --require-recall 0.9" in done.stderr
