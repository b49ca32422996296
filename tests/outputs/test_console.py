"""What people read fits, is harmless, and says what was promised: no more."""

import io
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import nearsame as ns
from nearsame.answers.stats import Stats
from nearsame.files.passed_over import PassedOver
from nearsame.outputs.console import Report, clean, window
from nearsame.outputs.promises import guarantee, shuffled
from nearsame.outputs.tables import skipped_table

LONG = " ".join(f"word{i}" for i in range(60))


def printed(show, monkeypatch, columns="80"):
    """What a report prints at a width."""
    monkeypatch.setenv("COLUMNS", columns)
    stream = io.StringIO()
    show(Report(stream))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("method", "settings", "said"),
    [
        (ns.Jaccard(), {}, "exact: no two kept documents have Jaccard >= 0.8; every removed one has a kept witness"),
        (ns.Jaccard(threshold=Fraction(2, 3)), {}, "Jaccard >= 2/3"),
        (ns.Jaccard(), {"against": [LONG]}, "none of them with one of --against either"),
        (
            ns.Jaccard(),
            {"against": [LONG], "within": False},
            "no kept document has Jaccard >= 0.8 with one of --against",
        ),
        (ns.MinHash(), {}, "a pair at 0.8 is found with a chance of 0.99 or more"),
        (ns.MinHash(bands=20, rows=5), {}, "a pair at 0.8 is found with a chance of 1.000"),
        (ns.MinHash(bands=9, rows=13), {}, "a pair at 0.8 is found with a chance of 0.399"),
        (ns.MinHash(verify="estimate"), {}, "an estimate: every removed document has a kept witness whose signature"),
        (
            ns.SimHash(),
            {},
            "exact, about codes: no two kept documents have codes within 3 of 64 bits; every removed one",
        ),
        (ns.SimHash(), {}, "that near, but no texts were compared"),
        (
            ns.SimHash(k=5, confirm="edit"),
            {},
            "within 5 of 64 bits and edit >= 0.8; every removed one has a kept witness",
        ),
        (
            ns.SimHash(search="adjacent"),
            {},
            "pairs of codes within 3 of 64 bits are lost where they are not neighbours",
        ),
        (ns.Digest(), {}, "exact: no two kept documents have equal texts; every removed one equals a kept witness"),
        (ns.Digest(normalise=True), {}, "equal normalised texts"),
    ],
    ids=str,
)
def test_the_guarantee_is_that_of_the_method(method, settings, said):
    """Exact, verified or estimated, and between which documents."""
    assert said in guarantee(ns.dedup([LONG, LONG + " more"], method=method, **settings).stats)


def test_what_there_is_none_of_is_not_mentioned(monkeypatch):
    """No empty texts, no repeated ids, nothing skipped, no copies."""
    stats = ns.dedup([LONG]).stats
    text = printed(lambda report: report.summary(stats, skipped_table([]), PassedOver()), monkeypatch)
    for word in ("copies", "without", "readable", "format", "clusters", "against", "id of another"):
        assert word not in text


@pytest.mark.parametrize(
    ("use", "method", "said"),
    [
        ("url", None, "near copies 1 jaccard >= 0.8"),
        ("url,text", None, "near copies 1 jaccard >= 0.8"),
        ("url,text", ns.SimHash(), "near copies 1 hamming >= 0.953125; of one URL by a guess, jaccard >= 0.8"),
        ("url,text", ns.Digest(normalise=True), "near copies 1 equal after normalising"),
    ],
)  # fmt: skip
def test_what_a_guess_was_confirmed_by_is_told(use, method, said, monkeypatch):
    """By the default method, where the run's own compares something else, or nothing."""
    pages = [{"url": "https://a.org/p/index.php", "text": LONG}, {"url": "https://a.org/p/", "text": f"{LONG}!"}]
    stats = ns.dedup(pages, use=use, **({"method": method} if method else {})).stats
    text = printed(lambda report: report.summary(stats, skipped_table([]), PassedOver()), monkeypatch)
    assert said in " ".join(text.split())


def test_unreadable_records_are_named_and_the_list_ends(monkeypatch):
    """Five places, then how many more."""
    skipped = skipped_table([("a.jsonl", i, i + 1, "not valid JSON") for i in range(7)])
    text = printed(
        lambda report: report.summary(Stats(recipe=ns.Jaccard().record()), skipped, PassedOver()), monkeypatch
    )
    assert "a.jsonl, line 5: not valid JSON\n  and 2 more\n" in text


@given(st.text(), st.text())
def test_windows_are_ends_of_the_texts(a, b):
    """Nothing is shown that is not there, and the first differing word is not cut away."""
    a, b = clean(a), clean(b)
    for text, seen in zip((a, b), window(a, b), strict=True):
        assert text.endswith(seen.removeprefix("..."))
    if a == b:
        assert (a, b) == window(a, b)


def test_a_window_begins_before_the_first_word_that_differs():
    """Differences of capitals and marks only count where there is no other."""
    a, b = window(f"{LONG} One two", f"{LONG.upper()} one three")
    assert a.endswith("word59 One two")
    assert b.endswith("WORD59 one three")
    assert a.startswith("...")
    a, b = window(f"{LONG} two", f"{LONG} TWO")
    assert a.endswith("word59 two")
    assert len(a) < 50


@given(st.text())
def test_a_clean_text_is_one_harmless_line(text):
    """Only printable characters, single spaces."""
    assert clean(text).isprintable()
    assert 1 == len(clean(text).splitlines() or [""])


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_pairs_of_wide_characters_fit(columns, monkeypatch):
    """East Asian characters take two columns each."""
    pair = {"similarity": 0.9999, "measure": "jaccard", "id": "识" * 99, "witness_id": "a"}
    pair |= {"text": "漢字" * 90, "witness_text": "漢字" * 80 + "x"}
    text = printed(lambda report: report.pair(pair), monkeypatch, columns)
    assert max(map(cell_len, text.splitlines())) <= int(columns)
    assert text.startswith("0.999 jaccard")  # 1 is said of 1 only


@pytest.mark.parametrize("name", ["a", "识" * 99], ids=["short", "long"])
def test_places_stand_beside_ids_that_several_documents_have(name, monkeypatch):
    """Both fit, however long they are; on Spark the source has no row; without a source the id stands alone."""
    pair = {"similarity": 1.0, "measure": "jaccard", "id": name, "witness_id": name, "text": "x", "witness_text": "x"}
    pair |= {"source": "one.jsonl", "row": 1_200, "witness_source": f"{'deep/' * 30}two.jsonl", "witness_row": 3}
    text = printed(lambda report: report.examples(pa.Table.from_pylist([pair]), places=True), monkeypatch, "80")
    assert max(map(cell_len, text.splitlines())) <= 80
    assert "  one.jsonl, row 1,200\n" in text
    assert "deep/two.jsonl, row 3\n" in text
    rowless = {key: value for key, value in pair.items() if "row" not in key}
    assert "  one.jsonl\n" in printed(lambda report: report.pair(rowless, places=True), monkeypatch, "80")
    alone = {key: value for key, value in pair.items() if "source" not in key}
    assert "row" not in printed(lambda report: report.pair(alone, places=True), monkeypatch, "80")


def test_a_stream_without_the_characters_is_no_failure(monkeypatch):
    """They are replaced."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Report(stream).line("識")
    stream.flush()
    assert b"?\n" == stream.buffer.getvalue()


def test_examples_are_spread_over_the_similarities():
    """From the least similar to the same text, both texts beside each."""
    words = LONG.split()
    texts = [LONG, LONG, *(" ".join([*words[:at], "x", *words[at + 1 :]]) for at in range(3, 50, 4))]
    table = ns.dedup(texts).examples(5)
    similarities = table.column("similarity").to_pylist()
    assert 5 == len(similarities)
    assert sorted(similarities) == similarities
    assert 1.0 == similarities[-1]
    assert {LONG} == set(table.column("witness_text").to_pylist())
    assert set(table.column("text").to_pylist()) <= set(texts)


def test_examples_of_ready_items_show_the_items():
    """There is no text to show."""
    items = pa.table({"id": ["a", "b"], "tags": [["x", "y"], ["y", "x"]]})
    found = ns.dedup(items, features_column="tags").examples()
    assert ["y x"] == found.column("text").to_pylist()


def test_a_run_on_spark_tells_what_it_shuffled_and_foretold():
    """Keys of both methods, and the bytes of all; on one machine nothing."""
    foretold = {
        "jaccard": {"keys_per_document": 1.5, "bytes": 36_000, "table_bytes": 50_000_000},
        "minhash": {"keys_per_document": 16.0, "bytes": 384_000},
    }
    room = {"shuffle": {"written_bytes": 2_100_000, "predicted": foretold}}
    expected = (
        "Shuffled: 2.1 MB; predicted keys: jaccard 1.5 a document, 36.0 kB and 50.0 MB of count tables; "
        "minhash 16 a document, 384.0 kB."
    )
    assert expected == shuffled(Stats(room=room))
    told = {"written_bytes": 2_100_000, "keys_bytes": 380_000}
    assert "Shuffled: 2.1 MB, of it 380.0 kB of keys." == shuffled(Stats(room={"shuffle": told}))
    assert "Shuffled: 5 bytes." == shuffled(Stats(room={"shuffle": {"written_bytes": 5}}))
    assert "" == shuffled(Stats(room={"features": "memory"}))
