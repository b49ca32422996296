"""The audit tells the truth about a run, and a planted fault moves it."""

import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

import nearsame as ns
from nearsame import arrow
from nearsame.kernels.scores import JACCARD
from nearsame.stages.clusters.keepers import Greedy
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.pairs.audit import PartnersStage, Probes, num_probes, share
from nearsame.stages.pairs.measures import bound


def _family(words: random.Random, base: list[str], edits: int) -> str:
    text = list(base)
    for place in words.sample(range(len(text)), edits):
        text[place] = f"w{words.randrange(10**6)}"
    return " ".join(text)


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    """2,000 families of a text and a version of it, with Jaccard from .7 up, and 2,000 other texts."""
    words = random.Random(7)
    texts = []
    for number in range(4_000):
        base = [f"w{words.randrange(10**6)}" for _ in range(100)]
        texts.append(" ".join(base))
        if number % 2 == 0:
            texts.append(_family(words, base, words.randrange(4)))
    words.shuffle(texts)
    return texts


def _lists(sets: list[set[int]]) -> pa.RecordBatch:
    kind = pa.large_list(pa.field("item", pa.int64(), nullable=False))
    hashed = [sorted(np.array(list(items), np.uint64) * np.uint64(0x9E3779B97F4A7C15)) for items in sets]
    items = pa.array([np.array(row, np.uint64).view(np.int64) for row in hashed], kind)
    return pa.RecordBatch.from_arrays([pa.array(range(len(sets)), pa.int64()), items], names=["row", "items"])


@given(
    st.lists(st.sets(st.integers(1, 40), min_size=1, max_size=30), min_size=1, max_size=12),
    st.sampled_from(["0.2", "0.5", "0.8", "1"]),
)
def test_the_true_partners_are_those_of_brute_force(sets: list[set[int]], threshold: str) -> None:
    """Every pair at or above the threshold, for audited documents, and no other."""
    batch, limit = _lists(sets), bound(JACCARD, Fraction(threshold))
    lists = arrow.lists(batch.column("items"))
    rows = np.arange(0, len(sets), 2)
    items = np.concatenate([lists.items[lists.starts[row] : lists.ends[row]] for row in rows])
    offsets = np.concatenate([[0], np.cumsum(lists.sizes[rows])])
    stage = PartnersStage(Probes.of(rows, items, offsets, limit), limit, np.ones(len(sets), np.bool_))
    found = stage(batch)
    expected = {
        (int(a), b): Fraction(len(sets[a] & sets[b]), len(sets[a] | sets[b]))
        for a in rows
        for b in range(len(sets))
        if a != b and Fraction(len(sets[a] & sets[b]), len(sets[a] | sets[b])) >= Fraction(threshold)
    }
    got = {
        (int(rows[owner]), row): Fraction(num, den)
        for owner, row, num, den in zip(*(column.to_pylist() for column in found.columns), strict=True)
    }
    assert expected == got


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 0.95])
def test_a_true_partner_is_overlooked_once_in_a_million(threshold: float) -> None:
    """The two numbers keep what the docstring says, and one item less would not."""
    items, hits = num_probes(threshold)
    assert binom.cdf(hits - 1, items, threshold) <= 1e-6
    assert items == 16 or binom.cdf(hits - 1, items - 1, threshold) > 1e-6


@pytest.mark.parametrize(("num", "of"), [(0, 10), (3, 10), (10, 10), (973, 1000)])
def test_the_interval_is_that_of_clopper_and_pearson(num: int, of: int) -> None:
    """As scipy's exact binomial test has it."""
    found = share(num, of)
    expected = binomtest(num, of).proportion_ci(method="exact")
    assert found is not None
    assert pytest.approx((expected.low, expected.high)) == (found.low, found.high)


def test_nothing_has_no_share() -> None:
    """No document with a near-duplicate: there is no recall to tell."""
    assert share(0, 0) is None
    assert ns.dedup(["a b c", "d e f"], audit=True).audit.key_recall is None


@pytest.mark.parametrize("method", [ns.Jaccard(), ns.Jaccard(threshold=0.5), ns.Jaccard(threshold=0.9, shingle_size=2)])
def test_of_the_exact_join_the_audit_finds_nothing_missing(corpus: list[str], method: ns.Jaccard) -> None:
    """Recall 1, nothing left, every witness right."""
    audit = ns.dedup(corpus, method=method, audit=True).audit
    assert audit is not None
    assert audit.with_partner > 500
    assert (1.0, 0.0, 1.0) == (audit.key_recall.value, audit.residual.value, audit.precision.value)


def test_an_approximate_run_is_audited_unasked_and_an_exact_one_when_asked(corpus: list[str]) -> None:
    """The default follows from whether the method may miss."""
    assert ns.dedup(corpus[:50]).audit is None
    assert ns.dedup(corpus[:50], method="minhash").audit is not None
    assert ns.dedup(corpus[:50], method="minhash", audit=False).audit is None
    with pytest.raises(ns.ConfigError, match="method=digest is about digest"):
        ns.dedup(corpus[:50], method="digest", audit=True)


def test_few_bands_show(corpus: list[str]) -> None:
    """Nine bands of thirteen find about the share of pairs that the curve says."""
    audit = ns.dedup(corpus, method=ns.MinHash(bands=9, rows=13)).audit
    assert audit is not None
    assert audit.key_recall.value < 0.97
    assert audit.residual.value > 0.0


def test_keys_that_are_lost_show(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """5 % of the documents lose their keys: about 10 % of the pairs are not met, and the audit says so."""
    whole = BandKeys.__call__

    def lossy(self: BandKeys, batch: pa.RecordBatch) -> pa.RecordBatch:
        keys = whole(self, batch)
        lost = np.random.default_rng(3).permutation(len(corpus))[: len(corpus) // 20]
        return keys.filter(pc.invert(pc.is_in(keys.column("row"), pa.array(lost))))

    before = ns.dedup(corpus, method="minhash").audit
    monkeypatch.setattr(BandKeys, "__call__", lossy)
    after = ns.dedup(corpus, method="minhash").audit
    assert before.key_recall.value > 0.995
    assert 0.85 < after.key_recall.value < 0.95
    assert after.residual.low > before.residual.high


def test_a_decision_that_forgets_shows(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the removals every tenth is forgotten: the keys are as good as before, and duplicates are left."""
    whole = Greedy.decide

    def forgetful(self: Greedy, *args: object) -> object:
        decided = whole(self, *args)
        stay = np.arange(decided.rows.size) % 10 != 0
        columns = {name: getattr(decided, name)[stay] for name in ("rows", "witnesses", "nums", "dens")}
        return decided._replace(**columns)

    monkeypatch.setattr(Greedy, "decide", forgetful)
    audit = ns.dedup(corpus, audit=True).audit
    assert audit.key_recall.value == 1.0
    assert audit.residual.low > 0.0


def test_a_witness_that_is_none_shows(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses are compared once more, by other means."""
    whole = Greedy.decide

    def careless(self: Greedy, *args: object) -> object:
        decided = whole(self, *args)
        return decided._replace(witnesses=np.roll(decided.witnesses, 1))

    monkeypatch.setattr(Greedy, "decide", careless)
    assert ns.dedup(corpus, audit=True).audit.precision.high < 0.1


def test_the_sample_does_not_depend_on_threads_or_batches(corpus: list[str]) -> None:
    """The same input is audited alike."""
    first, second = (
        ns.dedup(corpus, method="minhash", threads=threads, batch_rows=rows).audit
        for threads, rows in ((1, 1000), (2, 77))
    )
    assert first == second


def test_only_the_judged_side_is_audited(corpus: list[str]) -> None:
    """Near-duplicates within the other side are nobody's fault."""
    audit = ns.dedup(corpus[:10], against=corpus, method="minhash", within=False).audit
    assert audit.sampled <= 10
    assert audit.residual is None or audit.residual.value == 0.0
