"""The benchmark of a crawl on Spark: what is made, in truth, and what its table says of what was seen."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nearsame as ns

SIZE = 2_000_000


@pytest.fixture
def script(monkeypatch):
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
    return import_module("crawl")


@pytest.fixture
def made(script, tmp_path):
    """A small crawl."""
    return script._crawled.of_size(tmp_path, SIZE)


def test_pages_lie_in_parquet_and_in_archives_alike(script, made, tmp_path):
    """With all that was said of them; a second time nothing is written."""
    pages = list(script._crawled.pages(SIZE))
    assert [page.text for page in pages] == made.texts
    assert SIZE <= made.markup_bytes < SIZE + 200_000
    table = pq.read_table(made.files)
    assert {page.url: page.html for page in pages} == {line["url"]: line["html"] for line in table.to_pylist()}
    records = ns.dedup(made.archives, method="digest")
    assert records.stats.documents == len(pages)
    before = sorted(tmp_path.rglob("*"))
    assert made == script._crawled.of_size(tmp_path, SIZE)
    assert before == sorted(tmp_path.rglob("*"))


def test_families_have_what_was_planted(script, made):
    """Mirrors and pages that were fetched again say what the first of their family says; all that is alike is found."""
    known = script.truth.truth(made.texts, made.origins, Fraction(4, 5))
    twins = {
        (page.origin, page.number)
        for page in script._crawled.pages(SIZE)
        if "mirror" in page.url or "utm_source" in page.url
    }
    assert len(twins) > 10
    assert all(known.pairs[pair] == 1 for pair in twins if made.texts[pair[0]] == made.texts[pair[1]])
    found = ns.dedup(made.files, html_column="html", id_column="url", method=ns.Jaccard(threshold="0.8"))
    answer = [tuple(made.numbers[line[name]] for name in ("id", "witness_id")) for line in found.removals.to_pylist()]
    judged = script.truth.judge(made.texts, known, answer)
    assert judged.recall > 0.9
    assert judged.precision > 0.9


def test_mirrors_are_hosts(script):
    """Recall of those that were made, precision of those that were found."""
    hosts = [
        (f"http://h{number}.example/", f"http://mirror{twin}.example/") for number, twin in ((0, 0), (10, 10), (3, 4))
    ]
    seen = script.spark.Seen([{"answer": hosts}])
    recall, precision = script.quality("mirrors", seen, None, None)
    assert recall == 2 / len(script._crawled.MIRRORS)
    assert precision == pytest.approx(2 / 3)


def test_a_line_is_beside_one_machine(script):
    """Of the same pages; work is Spark's alone."""
    run = {"answer": [[1, 0]], "memory_bytes": 5_000_000, "task_seconds": 3.6, "shuffle_bytes": 4000, "jobs": 3}
    one, other = (script.spark.Seen([{**run, "tasks": 1200, "seconds": seconds}]) for seconds in (20.0, 60.0))
    shared = ("5", "1", "100.00%", "90.00%")
    assert ("a", "20.0", "1.0", "5", "", "", "", "", "", *shared) == script.row("a", one, one, 100, (1, 0.9))
    assert ("b", "60.0", "3.0", "2", "3", "1,200", "3.6", "0.0", "40", *shared) == script.row(
        "b", other, one, 100, (1, 0.9)
    )
