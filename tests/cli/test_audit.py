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
    assert audit["with_partner"] == 400
    assert audit["recall"]["low"] > 0.95


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


def test_residual_duplicates_above_what_is_allowed_are_exit_code_4(corpus: str) -> None:
    """They have a gate of their own; standard error says what was not reached, with -q, too."""
    few = ("dedup", corpus, "--dry-run", "-q", "--method", "minhash", "--bands", "9", "--rows", "13")
    done = run(*few, "--max-residual", "0.01")
    assert done.exit_code == 4
    assert "error: residual duplicates" in done.stderr
    assert "are above 1 %" in done.stderr
    assert run(*few, "--max-residual", "0.9").exit_code == 0
    assert run("dedup", corpus, "--dry-run", "-q", "--max-residual", "0").exit_code == 0
    assert run(*few, "--no-audit", "--max-residual", "0.01").exit_code == 2


@pytest.fixture
def crowded(tmp_path: Path) -> str:
    """Eight groups of 40 versions of a text, at Jaccard from about .4 up."""
    words = random.Random(9)
    lines = []
    for group in range(8):
        base = [f"w{words.randrange(10**6)}" for _ in range(60)]
        for number in range(40):
            text = list(base)
            for place in words.sample(range(60), words.randrange(5)):
                text[place] = f"x{words.randrange(10**6)}"
            lines.append(json.dumps({"id": f"{group}-{number}", "text": " ".join(text)}))
    path = tmp_path / "crowded.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("method", [("modp",), ("minhash", "--recall", "0.6", "--verify", "estimate")])
def test_a_list_that_lacks_pairs_does_not_pass_for_whole(crowded: str, method: tuple[str, ...]) -> None:
    """Every document shares a key with some partner, and one pair of ten is missing: recall is that of the pairs."""
    settings = ("--threshold", "0.5", "--method", *method)
    done = run("pairs", crowded, "--json", *settings)
    recall = json.loads(done.stdout)["audit"]["recall"]
    assert recall["high"] < 0.98
    assert run("pairs", crowded, "-o", "-", "-q", *settings, "--require-recall", "0.98").exit_code == 4


def test_nothing_that_can_be_read_promises_nothing_and_says_why(tmp_path: Path) -> None:
    """No guarantee, no recall; with -q one line for exit code 3."""
    path = tmp_path / "bad.jsonl"
    path.write_text("{nonsense\n[1\n", encoding="utf-8")
    told = run("dedup", str(path), "--dry-run", "--method", "minhash")
    assert told.exit_code == 3
    assert "Guarantee" not in told.stdout
    assert "recall" not in told.stdout
    for command in (("dedup", str(path), "--dry-run"), ("pairs", str(path), "-o", str(tmp_path / "p.csv"))):
        quiet = run(*command, "-q")
        assert quiet.exit_code == 3
        assert "error: 2 records could not be read, and no document was" in quiet.stderr
        assert "bad.jsonl, line 1" in quiet.stderr


def test_the_recall_of_a_list_tells_whose_pairs_it_is_of(corpus: str, tmp_path: Path) -> None:
    """Documents, since a pair of two sampled ones speaks for each of them: 400 pairs, 800 documents."""
    done = run("pairs", corpus, "-o", tmp_path / "pairs.csv", "--method", "minhash")
    said = " ".join(done.stdout.split())
    assert "of the true pairs of the 800 of 800 sampled documents that have any." in said
    assert "800 true pairs" not in said
