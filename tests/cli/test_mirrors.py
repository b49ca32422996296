"""`nearsame mirrors`: what is printed, written and refused."""

import json
from pathlib import Path

import pytest

from .commands import run, words, write_jsonl


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """Two hosts, one of which mirrors a folder of the other."""
    records = [
        {"url": f"http://{root}/{n}", "text": " ".join(words(60, n)), "d": str(n), "seconds": seconds}
        for root, seconds in (("a.example/docs", "2"), ("b.example", "1"))
        for n in range(9)
    ]
    return write_jsonl(tmp_path / "crawl.jsonl", records)


def test_mirrors_are_printed(crawl: Path) -> None:
    """Within 80 columns."""
    result = run("mirrors", crawl)
    assert 0 == result.exit_code, result.stderr
    assert "1 pair of mirrors in 1 group: 1 mirror" in result.stdout
    assert "a http://a.example/docs" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_groups_of_the_same_hosts_stand_together(tmp_path: Path) -> None:
    """A host with many folders is listed as one block, not as many."""
    records = [
        {"url": f"http://a.example/{folder}/{lang}/{n}", "d": f"{folder}{n}"}
        for folder in "pqr"
        for lang in ("old", "new")
        for n in range(6)
    ]
    records += [{"url": f"http://a.example/other/{n}", "d": f"x{n}"} for n in range(200)]
    result = run("mirrors", write_jsonl(tmp_path / "crawl.jsonl", records), "--cluster-column", "d")
    assert "a.example: 3 pairs in 3 groups" in result.stdout
    assert 3 == result.stdout.count("  keep http://a.example/")


def test_a_folder_appears(crawl: Path, tmp_path: Path) -> None:
    """With the map, by the policy that was asked for."""
    result = run("mirrors", crawl, "-o", tmp_path / "out", "--tables", "jsonl", "--prefer", "fastest:seconds")
    assert 0 == result.exit_code, result.stderr
    lines = (tmp_path / "out" / "map.jsonl").read_text("utf-8").splitlines()
    assert {"url": "http://a.example/docs/0", "canonical_url": "http://b.example/0", "reason": "mirror"} == json.loads(
        lines[0]
    )
    assert ["alternatives.jsonl", "map.jsonl", "mirrors.jsonl", "stats.json"] == sorted(
        path.name for path in (tmp_path / "out").iterdir()
    )


def test_all_of_it_comes_as_json(crawl: Path) -> None:
    """Counts, settings and mirrors."""
    found = json.loads(run("mirrors", crawl, "--cluster-column", "d", "--json").stdout)
    assert ("mirror", 9, 18) == (found["mirrors"][0]["kind"], found["mirrors"][0]["agreeing"], found["stats"]["pages"])


def test_a_crawl_without_mirrors_says_so(tmp_path: Path) -> None:
    """And is not an error."""
    result = run("mirrors", write_jsonl(tmp_path / "one.jsonl", [{"url": "http://a.example/", "text": "a text"}]))
    assert (0, True) == (result.exit_code, "No mirrors." in result.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--overwrite"], "--overwrite does nothing without -o"),
        (["--tables", "jsonl"], "--tables does nothing without -o"),
        (["--alternatives", "3"], "--alternatives does nothing without -o"),
        (["--cluster-column", "d", "--threshold", "0.9"], "--threshold does nothing where clusters are given"),
        (["--cluster-column", "none"], "no record has a value in column 'none'"),
        (["--prefer", "best"], "is not a policy"),
        (["--min-common", "1"], "min_common=1"),
        (["--url-column", "link"], "'link'"),
        (["--method", "digest", "--threshold", "0.9"], "--method digest has no option --threshold"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str, crawl: Path) -> None:
    """Each with the option that is to blame."""
    result = run("mirrors", crawl, *arguments)
    assert (2, True) == (result.exit_code, said in result.stderr), result.stderr
