"""What comparing will cost is said before it begins, with the shingles that cause it, and is about right."""

import re
from typing import Any

import numpy as np
import pytest

import nearsame as ns
from bench import corpus
from bench.boilerplate import CORPORA, alike
from nearsame.flow import costs
from nearsame.stages.features.boilerplate import CountThese
from tests.cli.commands import run, write_jsonl

WORDS = ns.Jaccard(shingle_size=1)
MINHASH = (
    r"use method minhash \(--method minhash: about ([\d,]+) comparisons, (?:about|less than) ([\d.]+) seconds;"
    r" it finds ([\d.]+)% of the pairs at the threshold(?:, and ([\d.]+)% of ([\d,]+) similar pairs of a sample)?\)"
)


@pytest.fixture
def _sparing(monkeypatch: Any) -> None:
    monkeypatch.setattr(costs, "BUDGET_SECONDS", 0.025)
    monkeypatch.setattr(costs, "OFFER_SECONDS", 0.15)


class Watching:
    """Who writes down what is said, and when."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def begin(self, stage: str, total_bytes: int | None = None) -> None:
        """A step."""
        self.said.append(stage)

    def add(self, documents: int, num_bytes: int) -> None:
        """Nothing to write down."""

    def note(self, text: str) -> None:
        """A note."""
        self.said.append(text)

    def end(self) -> None:
        """Nothing to write down."""


def _foretold(notes: tuple[str, ...]) -> int:
    return int(re.search(r"about ([\d,]+) comparisons", notes[0])[1].replace(",", ""))


@pytest.mark.usefixtures("_sparing")
def test_keepers_that_share_rare_words_are_foretold() -> None:
    """The number of comparisons, and the words that cause them with the documents that have them."""
    texts, watching = CORPORA["pools"](3000), Watching()
    found = ns.dedup(texts, method=WORDS, progress=watching)
    assert _foretold(found.stats.notes) == pytest.approx(found.stats.compared, rel=0.25)
    assert watching.said.index(found.stats.notes[0]) < watching.said.index("deciding")
    named = re.findall(r'"(x\d+v\d+)" \(in (\d+) documents\)', found.stats.notes[0])
    assert 3 == len(named)
    assert [(word, sum(word in text.split() for text in texts)) for word, _ in named] == [
        (word, int(number)) for word, number in named
    ]
    limit = int(re.search(r"--drop-boilerplate (\d+)", found.stats.notes[0])[1])
    assert limit < min(int(number) for _, number in named)
    less = ns.dedup(texts, method=ns.Jaccard(shingle_size=1, drop_boilerplate=limit))
    assert less.stats.compared < found.stats.compared
    assert re.search(f"raise the threshold or {MINHASH}|would not make it much less", found.stats.notes[0])


@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize("name", ["template", "half", "just_under", "chain"])
def test_what_is_linear_is_not_warned_of(name: str) -> None:
    """However many could be compared, if they were all keepers."""
    assert () == ns.dedup(CORPORA[name](6000)).stats.notes


@pytest.mark.threaded
@pytest.mark.usefixtures("_sparing")
def test_threads_and_batches_foretell_the_same() -> None:
    """A note is part of the answer."""
    texts = CORPORA["pools"](2500)
    notes = {ns.dedup(texts, method=WORDS, threads=n, batch_rows=rows).stats.notes for n, rows in [(1, 1000), (4, 77)]}
    assert 1 == len(notes)


@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize("clusters", ["greedy", "components"])
def test_components_are_foretold_likewise(clusters: str) -> None:
    """By the rule that follows."""
    found = ns.dedup(CORPORA["pools"](2500), method=WORDS, clusters=clusters)
    assert _foretold(found.stats.notes) == pytest.approx(found.stats.compared, rel=0.25)


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
def test_pairs_are_foretold() -> None:
    """Copies of a template are all pairs: quadratic to list, where it was linear to decide."""
    found = ns.pairs(CORPORA["template"](1500), method=ns.Jaccard(threshold=0.5))
    assert _foretold(found.stats.notes) == pytest.approx(1500 * 1499 / 2, rel=0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
def test_the_quicker_method_is_named_with_what_it_costs_and_finds_of_a_sample() -> None:
    """Of pairs that are just similar enough it misses some; its own run finds about that share, by such work."""
    random = np.random.default_rng(1)
    drawn = [random.choice(1000, 200, replace=False) for _ in range(1800)]  # all meet, and few are similar
    drawn += [np.concatenate([some[:135], random.choice(1000, 65)]) for some in drawn[:600]]
    texts = [" ".join(f"w{item}" for item in some) for some in drawn]
    found = ns.pairs(texts, method=ns.Jaccard(shingle_size=1, threshold=0.5))
    comparisons, _, chance, share, number = re.search(MINHASH, found.stats.notes[0]).groups()
    near = ns.pairs(texts, method=ns.MinHash(shingle_size=1, threshold=0.5), audit=False)
    assert 100 < int(number.replace(",", "")) <= found.num_pairs
    assert 99.0 <= float(chance) < 100
    assert float(share) / 100 == pytest.approx(near.num_pairs / found.num_pairs, abs=0.03)
    assert int(comparisons.replace(",", "")) == pytest.approx(near.stats.compared, rel=0.25)


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
def test_cosine_names_minhash_confirmed_by_it(monkeypatch: Any) -> None:
    """Which finds the pairs: a cosine of c is a Jaccard similarity of c² at least."""
    monkeypatch.setattr(costs, "BUDGET_SECONDS", 0.001)
    texts = CORPORA["pools"](2000)
    note = ns.pairs(texts, method=ns.Cosine(shingle_size=1, threshold=0.8)).stats.notes[0]
    asked = r"--method minhash --threshold 0.64 --confirm cosine --confirm-threshold 0.8: about ([\d,]+) comparisons"
    told = int(re.search(asked, note)[1].replace(",", ""))
    named = ns.MinHash(shingle_size=1, threshold=0.64, confirm="cosine", confirm_threshold=0.8)
    assert told == pytest.approx(ns.pairs(texts, method=named, audit=False).stats.compared, rel=0.25)


@pytest.mark.usefixtures("_sparing")
def test_a_method_that_takes_no_less_is_not_recommended_and_its_cost_is_said(monkeypatch: Any) -> None:
    """Receipts of a few frequent products: MinHash compares ten times as many of them as the exact join does."""
    monkeypatch.setattr(costs, "BUDGET_SECONDS", 0.001)
    random, chances = np.random.default_rng(1), 1 / np.arange(1, 1658)
    drawn = random.choice(1657, (6000, 10), p=chances / chances.sum())
    items = [{"tags": [str(item) for item in {*basket}]} for basket in drawn.tolist()]
    note = ns.pairs(items, method=ns.Jaccard(threshold=0.5), features_column="tags").stats.notes[0]
    said = r"or raise the threshold\. Method minhash would not make it much less: about ([\d,]+) comparisons"
    told = int(re.search(said, note)[1].replace(",", ""))
    near = ns.pairs(items, method=ns.MinHash(threshold=0.5), features_column="tags", audit=False)
    assert told == pytest.approx(near.stats.compared, rel=0.25)


@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize(
    ("method", "told"),
    [
        (ns.Containment(shingle_size=1, threshold=0.9), "No other method finds most of what containment finds"),
        (ns.Cosine(shingle_size=1, threshold=0.9, confirm="edit"), "No other method finds most of what cosine finds"),
        (ns.Cosine(shingle_size=1, threshold=0.9, weights="tf"), "--k 16 --confirm cosine\\).* about 99% of the pairs"),
    ],
)
def test_a_join_that_nothing_else_does_says_so(monkeypatch: Any, method: Any, told: str) -> None:
    """Or names codes, with the chance that they find a pair."""
    monkeypatch.setattr(costs, "BUDGET_SECONDS", 0.001)
    stats = ns.pairs(CORPORA["pools"](2000), method=method).stats
    assert re.search(told, stats.notes[0])
    assert _foretold(stats.notes) == stats.compared


def test_a_threshold_that_no_bands_reach_ends_no_run(monkeypatch: Any) -> None:
    """128 values find a pair at .02 with a chance of .92 at most: the exact join has nobody to name, and goes on."""
    monkeypatch.setattr(costs, "BUDGET_SECONDS", 0.0)
    found = ns.dedup(CORPORA["pools"](200), method=ns.Jaccard(shingle_size=1, threshold=0.02))
    assert "No other method" in found.stats.notes[0]


@pytest.mark.usefixtures("_sparing")
def test_ready_items_have_no_text_to_show() -> None:
    """What it costs and what to do is said all the same."""
    items = [{"tags": text.split()} for text in CORPORA["pools"](2500)]
    note = ns.dedup(items, method=ns.Jaccard(), features_column="tags").stats.notes[0]
    assert "rare elsewhere. To make it less: set drop_boilerplate" in note


def test_a_run_within_the_budget_says_nothing() -> None:
    """A minute of comparing is not worth a word."""
    assert () == ns.dedup(CORPORA["pools"](500), method=WORDS).stats.notes


@pytest.mark.usefixtures("_sparing")
def test_the_command_line_says_it_on_standard_error_and_in_the_summary(tmp_path: Any) -> None:
    """Before the work, and after it."""
    source = write_jsonl(tmp_path / "pools.jsonl", [{"text": text} for text in CORPORA["pools"](2500)])
    told = run("dedup", source, "--dry-run", "--shingle-size", 1)
    assert "comparing may take about" in told.stderr
    assert "of CPU time on one core, because" in " ".join(told.stderr.split())
    assert "Note: comparing may take about" in told.stdout


def test_counting_a_few_items_can_be_merged() -> None:
    """The state of two workers is the sum of theirs."""
    fold = CountThese(np.zeros(2, np.uint64), np.zeros(0, np.int64))
    assert [3, 3] == fold.merge(fold.start() + 1, fold.start() + 2).tolist()


class _Stop(Exception):  # noqa: N818  (not an error: enough was seen)
    """The run was told what it would cost."""


class Stopping(Watching):
    """Who ends a run once it says what it will cost."""

    def note(self, text: str) -> None:
        """The end."""
        raise _Stop(text)


OFFER = re.compile(r"about ([\d,]+) comparisons, .*--method jaccard: exact, about ([\d,]+) comparisons")


@pytest.mark.parametrize("ask", [ns.dedup, ns.pairs])
def test_minhash_on_documents_just_under_the_threshold_offers_the_exact_join_before_it_compares(ask: Any) -> None:
    """24,000 documents, each two at J = .63: a fifth of all pairs are to be compared, and none by the exact join."""
    with pytest.raises(_Stop) as told:
        ask(alike(24_000), method="minhash", audit=False, progress=Stopping())
    ours, exact = (int(number.replace(",", "")) for number in OFFER.search(str(told.value)).groups())
    assert 24_000 * 23_999 / 8 < ours < 24_000 * 23_999 / 2
    assert exact == 0


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize("settings", [{}, {"verify": "estimate"}])
def test_what_the_exact_join_is_offered_with_is_what_both_take(settings: dict[str, str]) -> None:
    """The comparisons that both methods then make."""
    texts = alike(6000) + CORPORA["chain"](500)
    found = ns.dedup(texts, method=ns.MinHash(**settings), audit=False)
    exact = ns.dedup(texts, method="jaccard")
    ours, theirs = (int(number.replace(",", "")) for number in OFFER.search(found.stats.notes[0]).groups())
    assert ours == pytest.approx(found.stats.compared, rel=0.1)
    assert theirs <= 5 * exact.stats.compared < ours / 100
    assert "count_table" not in found.stats.room


@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize("name", ["template", "half", "chain"])
def test_minhash_offers_nothing_where_it_compares_little(name: str) -> None:
    """However large the buckets are."""
    assert () == ns.dedup(CORPORA[name](6000), method="minhash", audit=False).stats.notes


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
def test_minhash_offers_nothing_where_the_exact_join_compares_as_much() -> None:
    """All copies of a template are pairs, by whichever method."""
    notes = ns.pairs(CORPORA["template"](2000), method="minhash", audit=False).stats.notes
    assert ["use method jaccard" in note for note in notes] == [False] * len(notes)


def test_minhash_on_an_ordinary_corpus_offers_nothing() -> None:
    """Made like the web, some 10,000 documents."""
    texts = [text for batch in corpus.documents(20_000_000) for text in batch.column("text").to_pylist()]
    assert () == ns.dedup(texts, method="minhash", audit=False).stats.notes
