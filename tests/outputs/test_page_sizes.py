"""Pages of leaks, evaluations and mirrors stay within 3 MB, whatever they are of; they say what they leave out."""

from dataclasses import replace

import pytest

import nearsame as ns
from nearsame.answers.findings import Lost
from nearsame.outputs.small_pages import of_mirrors, small_page
from tests.cli.commands import words, write_jsonl

MOST = 3_000_000  # bytes
MARKS = "<&\"'\\"
LEAKS = {  # an item of each kind
    "texts of marks": lambda at: {"id": f"{at}", "text": " ".join(f"{word}{MARKS}" for word in words(2000, at))},
    "control characters": lambda at: {"id": f"{at}", "text": " ".join(f"{word}\x01\x02" for word in words(2000, at))},
    "characters of four bytes": lambda at: {"id": f"{at}", "text": " ".join(f"𝒳{word}" for word in words(2000, at))},
    "long ids": lambda at: {"id": f"{at} {'<' * 20_000}", "text": " ".join(words(50, at))},
    "ids of a megabyte": lambda at: {"id": f"{at % 4} {'x' * 1_000_000}", "text": " ".join(words(50, at % 4))},
    "long columns": lambda at: {"id": f"{at}", "&" * 30_000: " ".join(words(50, at))},
    "many short passages": lambda at: {"id": f"{at}", "text": " ".join(f"{word} q q" for word in words(2000, at))},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_a_page_of_leaks_stays_within_3_mb(name, tmp_path):
    """Both passages of some of the items, with their ids; some of them at least have their texts."""
    items = [LEAKS[name](at) for at in range(4 if "megabyte" in name else 220)]
    training = [{"id": item["id"], "text": next(value for key, value in item.items() if key != "id")} for item in items]
    ns.leaks(training * 3, {MARKS * 2000: items}).write_report(tmp_path / "l.html")
    page = (tmp_path / "l.html").read_text("utf-8")
    assert len(page.encode()) < MOST
    assert page.count("<mark") >= min(len(items), 20)


@pytest.mark.slow
def test_a_page_of_leaks_has_the_benchmarks_and_sources_of_most_items(tmp_path):
    """Of very many, with names as long as they can be; it says how many there are more."""
    name = "<" * 190
    (tmp_path / "in").mkdir()
    for at in range(1200):
        write_jsonl(tmp_path / "in" / f"{at:04}{name}.jsonl", [{"id": "a", "text": " ".join(words(30, at % 9))}])
    evals = {f"{at:04} {'&' * 3000}": [{"q": " ".join(words(30, at % 9))}] for at in range(400)}
    ns.leaks(str(tmp_path / "in"), evals).write_report(tmp_path / "l.html")
    page = (tmp_path / "l.html").read_text("utf-8")
    assert len(page.encode()) < MOST
    assert "more" in page


def test_a_page_of_an_evaluation_stays_within_3_mb(tmp_path):
    """With lost pairs of 20 methods, whose ids are long."""
    texts = [{"id": f"{at}", "text": " ".join([*words(40, at // 2), "x"][: 40 + at % 2])} for at in range(6)]
    lost = Lost("simhash", "<" * 1_000_000, '"' * 1_000_000, 0.8, "shares too few bits")
    found = replace(ns.evaluate(texts, methods=["digest"]), lost=(lost,) * 400)
    for ending in ("html", "md"):
        ns.write_evaluation(found, tmp_path / f"e.{ending}")
        assert (tmp_path / f"e.{ending}").stat().st_size < MOST
        assert "[999,700 characters more]" in (tmp_path / f"e.{ending}").read_text("utf-8").replace("\\", "")


def test_a_page_of_mirrors_stays_within_3_mb():
    """With as many mirrors as it lists, of long URLs, and settings as long."""
    url, stats = '"' * 100_000, {"pages": 2, "groups": 1, "mapped": {"mirror": 1}}
    shares = {"kind": "mirror", "common": 1, "agreement": 1, "a_in_b": 0.5, "b_in_a": 1}
    mirrors = [{"keep": url, "a": url, "b": url, **shares}] * 600
    page = small_page(of_mirrors({"stats": stats, "settings": {"rules": [url] * 100}, "mirrors": mirrors}))
    assert len(page.encode()) < MOST
