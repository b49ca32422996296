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
    assert "raise the threshold or use method minhash" in found.stats.notes[0]


@pytest.mark.usefixtures("_sparing")
@pytest.mark.parametrize("name", ["template", "half", "just_under", "chain"])
def test_what_is_linear_is_not_warned_of(name: str) -> None:
    """However many could be compared, if they were all keepers."""
    assert () == ns.dedup(CORPORA[name](6000)).stats.notes


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


@pytest.mark.usefixtures("_sparing")
def test_pairs_are_foretold() -> None:
    """Copies of a template are all pairs: quadratic to list, where it was linear to decide."""
    found = ns.pairs(CORPORA["template"](1500), method=ns.Jaccard(threshold=0.5))
    assert _foretold(found.stats.notes) == pytest.approx(1500 * 1499 / 2, rel=0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("_sparing")
def test_the_quicker_method_is_named_with_what_it_finds_of_a_sample() -> None:
    """Of pairs that are just similar enough it misses some; its own run finds about that share."""
    texts = [text.replace("x", f"y{copy}z", copy) for text in CORPORA["pools"](1500) for copy in (0, 40)]
    found = ns.pairs(texts, method=ns.Jaccard(shingle_size=1, threshold=0.5))
    told = r"minhash \(of ([\d,]+) similar pairs of a sample it finds ([\d.]+)%\)"
    number, share = re.search(told, found.stats.notes[0]).groups()
    every = found.num_pairs
    near = ns.pairs(texts, method=ns.MinHash(shingle_size=1, threshold=0.5), audit=False).num_pairs
    assert 100 < int(number.replace(",", "")) <= every
    assert float(share) / 100 == pytest.approx(near / every, abs=0.03)


@pytest.mark.usefixtures("_sparing")
def test_ready_items_have_no_text_to_show() -> None:
    """What it costs and what to do is said all the same."""
    items = [{"tags": text.split()} for text in CORPORA["pools"](2500)]
    note = ns.dedup(items, method=ns.Jaccard(), features_column="tags").stats.notes[0]
    assert "rare elsewhere. To make it less: set drop_boilerplate, raise the threshold or" in note


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


@pytest.mark.usefixtures("_sparing")
def test_minhash_offers_nothing_where_the_exact_join_compares_as_much() -> None:
    """All copies of a template are pairs, by whichever method."""
    notes = ns.pairs(CORPORA["template"](2000), method="minhash", audit=False).stats.notes
    assert ["jaccard" in note for note in notes] == [False] * len(notes)


def test_minhash_on_an_ordinary_corpus_offers_nothing() -> None:
    """Made like the web, some 10,000 documents."""
    texts = [text for batch in corpus.documents(20_000_000) for text in batch.column("text").to_pylist()]
    assert () == ns.dedup(texts, method="minhash", audit=False).stats.notes
