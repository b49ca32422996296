"""The comparison with peers and the benchmark of scale judge as they say."""

import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "bench"
NUMBERS = st.integers(0, 9)
PAIRS = st.sets(st.tuples(NUMBERS, NUMBERS).filter(lambda pair: pair[0] < pair[1]))


@pytest.fixture(autouse=True)
def _as_scripts(monkeypatch) -> None:
    """Benchmarks are scripts that import each other from their own folder."""
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.syspath_prepend(HERE / "adapters")


@given(pairs=PAIRS, removed=st.sets(NUMBERS))
@settings(deadline=None)
def test_recall_and_precision_are_what_they_are_defined_as(pairs, removed) -> None:
    """Pairs with a document gone over all; documents gone that have a partner which stays over all that are gone."""
    import peers

    hit = [pair for pair in pairs if removed & set(pair)]
    right = [one for one in removed if any(one in pair and not set(pair) <= removed for pair in pairs)]
    recall = len(hit) / len(pairs) if pairs else 1
    precision = len(right) / len(removed) if removed else 1
    assert (pytest.approx(recall), pytest.approx(precision)) == peers.judge(pairs, removed)


@given(text=st.text(st.sampled_from("ab é.,"), max_size=40))
@settings(deadline=None)
def test_adapters_make_the_shingles_of_the_slow_method(text) -> None:
    """Written with blanks between the words."""
    import _task
    import truth

    expected = {" ".join(shingle) for shingle in truth.shingles(text)}
    assert expected == set(_task.shingles(text, truth.SIZE))


def test_what_each_peer_needs_is_named_with_its_version() -> None:
    """Plain names, no addresses, and an adapter for each."""
    import environments

    needed = environments.requirements()
    assert all("==" in one and "/" not in one for line in needed.values() for one in line)
    assert {name.replace("-", "_") for name in needed} == {file.stem[5:] for file in HERE.glob("adapters/with_*.py")}


def test_the_check_of_an_exact_answer_sees_a_pair_too_few_and_one_too_many() -> None:
    """It passes the truth, and nothing else."""
    import corpora
    import corpus
    import truth

    table = pa.Table.from_batches(corpus.documents(300_000, batch_rows=50))
    texts, half = table.column("text").to_pylist(), Fraction(1, 2)
    sets = [truth.shingles(text) for text in texts]
    pairs = {(a, b) for a, b in combinations(range(len(texts)), 2) if truth.jaccard(sets[a], sets[b]) >= half}
    assert pairs
    corpora.check(texts, pairs, half, len(texts))
    with pytest.raises(SystemExit, match="misses 1 pairs"):
        corpora.check(texts, sorted(pairs)[1:], half, len(texts))
    with pytest.raises(SystemExit, match="has 1 too many"):
        corpora.check(texts, pairs | {(0, len(texts))}, half, len(texts))


@pytest.mark.parametrize(
    ("text", "plain"),
    [("Über naïve façades", True), ("Русский", True), ("日本", False), ("ไทย", False), ("İ", False), ("ΟΔΟΣ", False)],
)
def test_texts_that_tools_read_differently_are_told_apart(text, plain) -> None:
    """Latin and Cyrillic letters, without marks that combine."""
    import corpora

    assert plain == corpora.is_plain(text)
    assert not corpora.is_plain("e\u0301")


def test_a_corpus_that_is_not_here_is_left_out_with_the_reason(monkeypatch, tmp_path) -> None:
    """And the message says how to name the place."""
    import corpora

    monkeypatch.setenv("NEARSAME_DATA", str(tmp_path))
    with pytest.raises(corpora.Absent, match="NEARSAME_DATA"):
        corpora.load("msdocs-en", tmp_path, "1MB", Fraction(4, 5))


def test_the_beginning_of_a_corpus_has_the_pairs_within_it(tmp_path) -> None:
    """Documents and pairs after it are gone."""
    import corpora

    whole = corpora.load(corpora.MADE, tmp_path, "6MB", Fraction(4, 5))
    part = whole.beginning(2500, tmp_path)
    assert {(a, b) for a, b in whole.pairs if b < 2500} == part.pairs
    assert pq.read_table(whole.file)[:2500].equals(pq.read_table(part.file))
    assert whole.beginning(10**6, tmp_path) is whole


@pytest.mark.parametrize("every", [1, 3])
def test_a_sample_of_families_is_to_lose_what_it_loses_among_all(every) -> None:
    """Families do not know each other, so what is to go of some is the same alone."""
    import corpus
    import scale
    import truth

    batches = list(corpus.documents(600_000, batch_rows=50))
    table = pa.Table.from_batches(batches)
    known = truth.truth(*(table.column(name).to_pylist() for name in ("text", "origin")), Fraction(scale.THRESHOLD))
    drawn = scale.sample([row for batch in batches for row in scale._sampled(batch, every)])
    assert drawn.expected
    assert known.expected & drawn.numbers == drawn.expected


def test_parts_have_all_documents_once(tmp_path, monkeypatch) -> None:
    """In as many files as it takes."""
    import scale

    monkeypatch.setattr(scale, "PART_DOCUMENTS", 4000)
    text_bytes, _ = scale.make(tmp_path / "parts", 9000)
    table = pq.read_table(tmp_path / "parts")
    assert 3 == len(list((tmp_path / "parts").iterdir()))
    assert {str(number) for number in range(9000)} == set(table.column("id").to_pylist())
    assert sum(len(text.encode()) for text in table.column("text").to_pylist()) == text_bytes


def test_a_size_that_takes_too_long_is_told_so(tmp_path, monkeypatch) -> None:
    """It is foreseen from the size before."""
    import processes
    import scale

    run = processes.Run(60, 60, 1, 1, 1, "")
    monkeypatch.setattr(scale, "measure", lambda size, *_: [scale.Outcome("dedup", size, run=run, steps_seconds=50)])
    given = ["--sizes", "1000", "100k", "--limit-minutes", "60", "--commands", "dedup"]
    first, second = scale.scale(tmp_path, scale.arguments(given))
    assert run == first.run
    assert "would take about 100 minutes, more than --limit-minutes 60" == second.reason
    assert "did not run" in scale.rows([first, second])[1]


def test_what_a_failed_tool_said_is_told_without_places() -> None:
    """Folders and addresses of the machine stay out of pages."""
    import peers

    tool = peers.Tool("rensa", "")
    said = peers.failures([peers.Outcome(tool, 1, 1, reason="OSError: /home/me/x.so: no https://a.b/c")])
    assert "rensa did not run: `OSError: …: no …`." == said


def test_a_command_that_takes_too_long_is_ended_with_all_that_it_started() -> None:
    """And the reason says after how many seconds."""
    import processes

    start = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with pytest.raises(processes.Failed) as error:
        processes.run([sys.executable, "-c", start], {}, 1)
    assert "ended after 1 s" == error.value.reason


def test_the_reason_of_a_failure_is_the_error_not_the_traceback() -> None:
    """Its last error's first line."""
    import processes

    with pytest.raises(processes.Failed) as error:
        processes.run([sys.executable, "-c", "raise ValueError('first\\nsecond')"], {})
    assert "ValueError: first" == error.value.reason


def test_the_plot_has_a_point_for_each_row(tmp_path) -> None:
    """An SVG file."""
    import chart

    target = tmp_path / "plots" / "x.svg"
    chart.write([chart.Point("a", "s", 10, 0.5), chart.Point("b", "s", 1000, 1)], "title", target)
    assert target.read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize("name", ["peers", "scale"])
def test_the_benchmark_explains_itself(name) -> None:
    """Its help loads what it needs and ends well."""
    done = subprocess.run([sys.executable, str(HERE / f"{name}.py"), "--help"], capture_output=True, check=False)
    assert 0 == done.returncode
    assert b"--folder" in done.stdout


def test_the_front_page_has_the_fastest_of_each_on_all_documents() -> None:
    """Not one that wrote besides, nor one that was given fewer; what did not run has no line."""
    import peers

    def outcome(name, setting, seconds, documents=100, **options):
        tool = peers.Tool(name, setting, options)
        return peers.Outcome(tool, documents, 10**6, seconds, recall=1, precision=0.5, reason="" if seconds else "no")

    found = [
        outcome(peers.EXACT, "threads: 1", 4.0, threads=1),
        outcome(peers.EXACT, "threads: 2", 2.0, threads=2),
        outcome(peers.EXACT, "threads: 2", 0.1, 10, threads=2),
        outcome(peers.WRITING, "threads: 2", 1.0, threads=2),
        outcome("rensa", "a", 8.0),
        outcome("rensa", "b", 6.0),
        outcome("gaoya", "a", 0.1, 10),
        outcome("semhash", "a", 0),
    ]
    corpus = SimpleNamespace(num_documents=100, text_bytes=10**6, pairs=[(0, 1)], about="made up")
    text = peers.summary(corpus, found, "Made by hand.")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert [
        "| nearsame jaccard | threads: 2 | 50 | 0.5 | 100.00% | 50.00% | 1.0 |",
        "| rensa | b | 17 | 0.2 | 100.00% | 50.00% | 3.0 |",
    ] == lines[2:]
    assert text.endswith("Made by hand.")
