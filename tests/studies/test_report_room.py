"""A report stays within 3 MB, whatever the documents are; it says what it leaves out, and that stands beside it."""

import random

import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.outputs.html import report_page
from tests.cli.commands import run as command
from tests.cli.commands import words, write_jsonl

MOST = 3_000_000  # bytes


def copies(groups, number, length, spell=str, of="{} {}".format, **columns):
    """Groups of texts, each a little less like the first one than the one before."""
    made = []
    for group in range(groups):
        text = words(length, group)
        for copy in range(number):
            chance = random.Random(copy)
            edited = [spell("zz" if chance.random() < 0.02 * copy else word) for word in text]
            said = {name: value(group, copy) for name, value in columns.items()}
            made.append({"id": of(group, copy), "text": " ".join([*edited, *["y"] * copy]), **said})
    return made


CORPORA = {
    "long texts": lambda: copies(90, 4, 2000),
    "marks of HTML": lambda: copies(100, 4, 500, lambda word: f"<{word}>&\"'\\"),
    "control characters": lambda: copies(100, 4, 500, lambda word: f"{word}\x01\x02\x03\x04\x05\x06"),
    "many small differences": lambda: copies(100, 3, 900, lambda word: f"{word} q" if "e" in word else word),
    "long ids": lambda: copies(200, 3, 50, of=lambda group, copy: f"{group} {copy} {'<' * 20_000}"),
    "ids of a megabyte": lambda: copies(2, 3, 50, of=lambda group, copy: f"{group} {copy} {'x' * 1_000_000}"),
    "ids of marks": lambda: copies(700, 3, 50, of=lambda group, copy: f"{group} {copy} {'<' * 150}"),
    "long columns": lambda: copies(
        30, 3, 50, lang=lambda group, _: f"{group} {'<x' * 20_000}", language=lambda group, _: f"{group} {'é' * 9000}",
        url=lambda group, _: f"https://{'y' * 3000}{group}.example/",
    ),
    "all of it": lambda: copies(
        700, 4, 60, lambda word: f"<{word}>\x01", lambda group, copy: f"{group} {copy} {'<' * 2000}",
        lang=lambda group, _: f"{group} {'<x' * 2000}", url=lambda group, _: f"https://{'y' * 300}{group}.example/",
    ),
}  # fmt: skip


QUICK = {"ids of a megabyte", "long columns"}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CORPORA]
)
def test_a_page_stays_within_3_mb(name, tmp_path):
    """As a page and as data, of what is removed and of pairs; some have their texts, over the whole range."""
    documents = CORPORA[name]()
    method = ns.Jaccard(threshold="0.4", shingle_size=1)
    run, listed = ns.dedup(documents, method=method), ns.pairs(documents, method=method)
    ns.dedup(documents, method=ns.Jaccard(threshold="0.97", shingle_size=1)).write(tmp_path / "older")
    for number, found in enumerate([ns.report(run, against=tmp_path / "older"), ns.report(listed)]):
        for kind in ("html", "json"):
            path = tmp_path / f"{number}.{kind}"
            ns.write_report(found, path)
            assert path.stat().st_size < MOST, kind
        with_texts = [pair.similarity for pair in found.pairs if pair.beside >= 0]
        low, high = (bound(pair.similarity for pair in found.pairs) for bound in (min, max))
        assert min(with_texts) < low + (high - low) / 4
        assert max(with_texts) > high - (high - low) / 4


@pytest.mark.slow
def test_settings_take_no_room_from_texts(tmp_path):
    """Of 50,000 decisions a page says how many there are, and of ids that no document has how they begin."""
    documents = copies(20, 3, 50)
    ids = [f"{at:08} {'x' * 40}" for at in range(100_000)] + ["y" * 1_000_000, "0 0"]
    lines = [f"{a}\t{b}\tno" for a, b in zip(ids[::2], ids[1::2], strict=True)]
    (tmp_path / "d.tsv").write_text("\n".join(["id1\tid2\tlabel", *lines[::-1]]) + "\n", "utf-8")
    method = ns.Jaccard(threshold="0.4", shingle_size=1, stop_words=tuple(f"word{at}" for at in range(1000)))
    found = ns.report(run := ns.dedup(documents, method=method, decisions=tmp_path / "d.tsv"))
    assert 50_001 == found.recipe["decisions"] == run.stats.decisions["lost"]
    assert all(pair.beside >= 0 for pair in found.pairs)
    for kind in ("html", "json"):
        path = tmp_path / f"r.{kind}"
        ns.write_report(found, path)
        assert path.stat().st_size < 1_000_000, kind
    assert "50,001 of people" in (tmp_path / "r.html").read_text("utf-8")
    assert len(run._repr_html_()) < 100_000


def many():
    """2,100 near copies, of which a page lists 2,000; one has a long id."""
    made = [{"id": f"{group} {copy}", "text": " ".join([*words(9, group), *"xyz"[:copy]])}
            for group in range(700) for copy in range(4)]  # fmt: skip
    made[1]["id"] = "long " * 1000
    return made


@pytest.mark.slow
def test_what_a_page_leaves_out_stands_beside_it(tmp_path):
    """All pairs, with their whole ids; the page names the file, and says how much it has."""
    method = ns.Jaccard(threshold="0.6", shingle_size=1)
    for of, found in (("removals", ns.dedup(many(), method=method)), ("table", ns.pairs(many(), method=method))):
        page = tmp_path / f"{of}.html"
        found.report(page)
        beside = pq.read_table(tmp_path / f"{of}.html.pairs.parquet")
        columns = list(getattr(found, of).columns)
        assert columns == list(beside.columns)
        text = page.read_text("utf-8")
        assert f"{beside.num_rows:,} in all. 2,000 of them are here" in text
        assert f"All pairs with their whole ids: {of}.html.pairs.parquet." in text
    assert "1 long id is cut." in report_page(ns.report(ns.dedup(many()[:4], method=method)))


@pytest.mark.slow
def test_a_command_names_where_all_pairs_are(tmp_path, monkeypatch):
    """What it writes anyway, or else a file beside the page, which is refused before the run where it is there."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", many())
    how = ("--method", "jaccard", "--threshold", "0.6", "--shingle-size", "1", "--no-audit")
    beside = tmp_path / "r.html.pairs.parquet"
    for given, place in (
        (("dedup", "a.jsonl", "-o", "out", "--overwrite"), "out/removed.parquet"),
        (("pairs", "a.jsonl", "-o", "p.csv", "--overwrite"), "p.csv"),
        (("dedup", "a.jsonl", "-o", "kept.jsonl", "--overwrite"), beside.name),
        (("dedup", "a.jsonl", "--overwrite"), beside.name),
        (("report", "out", "--overwrite"), "out/removed.parquet"),
    ):
        beside.unlink(missing_ok=True)
        of_run = given[0] != "report"
        result = command(*given, *(how if of_run else ()), "--report" if of_run else "-o", "r.html")
        assert 0 == result.exit_code, result.stderr
        assert f"All pairs with their whole ids: {place}." in (tmp_path / "r.html").read_text("utf-8")
        assert beside.exists() == (place == beside.name) == (beside.name in "".join(result.stdout.split()))
    (tmp_path / "r.html").unlink()
    beside.write_text("mine", "utf-8")
    result = command("dedup", "a.jsonl", "--report", "r.html", *how)
    assert (2, "mine") == (result.exit_code, beside.read_text("utf-8"))
    assert f"{beside.name} exists" in result.stderr


def test_a_page_that_has_all_needs_no_file_beside_it(tmp_path):
    """Nor does one of a folder, in which all stands."""
    run = ns.dedup(["one two three"] * 3)
    run.report(tmp_path / "page.html")
    assert ["page.html"] == [path.name for path in tmp_path.iterdir()]
