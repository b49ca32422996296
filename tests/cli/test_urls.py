"""`nearsame urls`: what is printed, written and refused."""

import json
from pathlib import Path

import pytest

from .commands import run, write_jsonl

URLS = "http://example.org/a/index.html\nhttps://example.org/a\nhttps://example.org/b?ref=1\nnope\n"


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """A file of URLs."""
    path = tmp_path / "urls.txt"
    path.write_text(URLS, "utf-8")
    return path


def pages(folder: Path) -> Path:
    """A site where `ref` does not matter."""
    records = [{"url": f"http://example.org/{n}?ref={r}", "digest": str(n)} for n in range(40) for r in "xy"]
    return write_jsonl(folder / "pages.jsonl", records)


def test_a_summary_is_printed(listed: Path) -> None:
    """Counts, rules and groups, within 80 columns."""
    result = run("urls", listed)
    assert 0 == result.exit_code
    assert "1 merged, in 1 group" in result.stdout
    assert "    http://example.org/a/index.html" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_standard_input_is_urls_or_json_lines() -> None:
    """Told by the first letter."""
    plain = run("urls", "-", "-o", "-", stdin=b"http://example.org/?\n")
    records = run("urls", "-", "-o", "-", stdin=b'{"url": "http://example.org/?"}\n')
    made = {"canonical": "https://example.org/", "rules": "empty_query,scheme", "degree": "usual"}
    expected = {"url": "http://example.org/?", **made}
    assert [expected, expected] == [json.loads(result.stdout) for result in (plain, records)]


def test_a_mark_of_the_byte_order_is_no_part_of_a_url() -> None:
    """Before the first line."""
    result = run("urls", "-", "-o", "-", stdin=b"\xef\xbb\xbfhttp://example.org/\n")
    assert "https://example.org/" == json.loads(result.stdout)["canonical"]


def test_rules_are_switched(listed: Path) -> None:
    """On and off, by name."""
    result = run("urls", listed, "-o", "-", "--no-scheme", "--no-documents", "--drop", "ref", "--surt")
    forms = [json.loads(line)["canonical"] for line in result.stdout.splitlines()]
    assert ["http://example.org/a/index.html", "https://example.org/a", "https://example.org/b", "nope"] == forms


def test_groups_are_written(listed: Path, tmp_path: Path) -> None:
    """As JSON lines, here."""
    result = run("urls", listed, "--groups", "-o", tmp_path / "groups.jsonl")
    assert f"Written:{tmp_path / 'groups.jsonl'}" in "".join(result.stdout.split())  # a long path is wrapped
    assert 2 == len((tmp_path / "groups.jsonl").read_text("utf-8").splitlines())


def test_rules_are_learnt_saved_and_applied(tmp_path: Path) -> None:
    """The whole way; another recipe than theirs is refused."""
    rules = tmp_path / "rules.json"
    learnt = run("urls", pages(tmp_path), "--learn", "--cluster-column", "digest", "--save", rules)
    assert 0 == learnt.exit_code, learnt.stderr
    assert "drop ref" in learnt.stdout
    applied = run("urls", "-", "--rules", rules, "-o", "-", stdin=b"http://example.org/new?ref=z\n")
    assert "https://example.org/new" == json.loads(applied.stdout)["canonical"]
    refused = run("urls", "-", "--rules", rules, "--www", stdin=b"x")
    assert (2, True) == (refused.exit_code, "www=False there, True here" in refused.stderr)


def test_statistics_come_as_json(tmp_path: Path) -> None:
    """With the learnt rules and the recipe."""
    result = run("urls", pages(tmp_path), "--learn", "--cluster-column", "digest", "--json")
    found = json.loads(result.stdout)
    assert (40, ["ref"]) == (found["canonical"], found["learnt"]["rules"][0]["parameters"])
    assert found["recipe"]["method"] == "canonical-url"


def test_an_unreadable_line_ends_with_its_exit_code(tmp_path: Path) -> None:
    """The rest is done."""
    (tmp_path / "urls.txt").write_bytes(b"http://example.org/\n\xff\n")
    result = run("urls", tmp_path / "urls.txt")
    assert (3, True) == (result.exit_code, "line 2:" in " ".join(result.stdout.split()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--groups"], "--groups does nothing without -o"),
        (["--surt"], "--surt does nothing without -o"),
        (["--groups", "--surt", "-o", "-"], "have no column of SURTs"),
        (["--json", "-o", "-"], "both want standard output"),
        (["--overwrite"], "--overwrite does nothing"),
        (["--save", "x.json"], "--save does nothing without --learn"),
        (["--min-support", "3"], "--min-support does nothing without --learn"),
        (["--threshold", "0.5"], "--threshold does nothing without --learn"),
        (["--cluster-column", "x"], "--cluster-column does nothing without --learn"),
        (["--threads", "2"], "--threads does nothing without --learn"),
        (["--extract", "text"], "--extract does nothing without --learn"),
        (["--memory", "1GB"], "--memory does nothing without --learn"),
        (["--learn", "--rules", "x.json"], "rules are learnt, or read"),
        (["--learn", "--cluster-column", "x", "--threshold", "0.5"], "--threshold does nothing where clusters are"),
        (["-o", "urls.xlsx"], "an unknown format"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: list[str], said: str, listed: Path) -> None:
    """Each with the option that is to blame."""
    result = run("urls", listed, *arguments)
    assert (2, True) == (result.exit_code, said in result.stderr), result.stderr


def test_rules_are_applied_up_to_a_degree(tmp_path: Path) -> None:
    """And the summary says how sure each one is."""
    listed = tmp_path / "urls.txt"
    listed.write_text("http://example.org/index.html?utm_id=1\nhttp://example.org:80/\n", "utf-8")
    done = run("urls", listed)
    assert 0 == done.exit_code
    for line in ("ports 1 1 standard", "tracking 1 1 usual", "documents 1 1 guess"):
        assert line in " ".join(done.stdout.split())
    for degree, canonical in (("guess", 1), ("usual", 2), ("standard", 2)):
        assert canonical == json.loads(run("urls", listed, "--up-to", degree, "--json").stdout)["canonical"]
    assert 2 == run("urls", listed, "--up-to", "sure").exit_code


def test_a_rule_of_one_folder_of_all_hosts_is_shown_as_that(tmp_path: Path) -> None:
    """And how many hosts agree."""
    pages = [
        {"url": f"http://h{h}.example/{folder}/{n}?p={p}", "d": f"{h} {folder} {n}{p if folder == 'list' else ''}"}
        for h in range(4)
        for n in range(9)
        for folder in ("story", "list")
        for p in "12"
    ]
    done = run("urls", write_jsonl(tmp_path / "pages.jsonl", pages), "--learn", "--cluster-column", "d", "--noise", "0")
    assert (0, True) == (done.exit_code, "on /story of all hosts; 4 agree" in done.stdout)
