"""The audit tells the truth about a run, and a planted fault moves it."""

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq
from scipy.stats import binom

import nearsame as ns
from nearsame import arrow
from nearsame.flow import audits
from nearsame.kernels.scores import JACCARD
from nearsame.stages.clusters.keepers import Greedy
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.pairs.audit import Drawn, PartnersStage, Probes, num_probes
from nearsame.stages.pairs.measures import bound
from tests.oracle.shingles import features


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
    stage = PartnersStage(Probes.of(Drawn(rows, items, offsets), limit), limit)
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


def test_without_near_duplicates_there_is_no_recall() -> None:
    """No document with a near-duplicate: there is no recall to tell."""
    assert ns.dedup(["a b c", "d e f"], audit=True).audit.recall is None


@pytest.mark.parametrize("method", [ns.Jaccard(), ns.Jaccard(threshold=0.5), ns.Jaccard(threshold=0.9, shingle_size=2)])
def test_of_the_exact_join_the_audit_finds_nothing_missing(corpus: list[str], method: ns.Jaccard) -> None:
    """Recall 1, nothing left, every witness right."""
    audit = ns.dedup(corpus, method=method, audit=True).audit
    assert audit is not None
    assert audit.with_partner > 500
    assert (1.0, 0.0, 1.0) == (audit.recall.value, audit.residual.value, audit.precision.value)


def test_a_tiny_threshold_takes_no_more_room_than_the_sets_have_items() -> None:
    """Where nearly all items would be lent, there are no more of them."""
    found = ns.pairs(["a b c d e f g", "a b c d e f h", "x y z"], method=ns.ModP(threshold="1/1000000000"))
    assert found.audit is not None
    assert (3, 2) == (found.audit.sampled, found.audit.with_partner)


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
    assert audit.recall.value < 0.97
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
    assert before.recall.value > 0.995
    assert 0.85 < after.recall.value < 0.95
    assert after.residual.low > before.residual.high


def test_a_decision_that_forgets_shows(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the removals every tenth is forgotten: the keys are as good as before, but the answer is not."""
    whole = Greedy.decide

    def forgetful(self: Greedy, *args: object) -> object:
        decided = whole(self, *args)
        stay = np.arange(decided.rows.size) % 10 != 0
        columns = {name: getattr(decided, name)[stay] for name in ("rows", "witnesses", "nums", "dens")}
        return decided._replace(**columns)

    monkeypatch.setattr(Greedy, "decide", forgetful)
    audit = ns.dedup(corpus, audit=True).audit
    assert audit.recall.low < 0.9 < audit.recall.high
    assert audit.residual.low > 0.0


def test_a_witness_that_is_none_shows(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses are compared once more, by other means."""
    whole = Greedy.decide

    def careless(self: Greedy, *args: object) -> object:
        decided = whole(self, *args)
        return decided._replace(witnesses=np.roll(decided.witnesses, 1))

    monkeypatch.setattr(Greedy, "decide", careless)
    assert ns.dedup(corpus, audit=True).audit.precision.high < 0.1


@pytest.mark.threaded
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


def _crowds(number: int, size: int, edits: int) -> list[str]:
    """Groups of texts that are versions of one."""
    words = random.Random(11)
    bases = [[f"w{words.randrange(10**6)}" for _ in range(100)] for _ in range(number)]
    texts = [_family(words, base, words.randrange(edits)) for base in bases for _ in range(size)]
    words.shuffle(texts)
    return texts


def _pairs_of_distinct(found: ns.Pairs) -> set[tuple[int, int]]:
    """Row pairs of documents whose features differ, one of all that have equal ones."""
    best = found.run.state.corpus.best
    rows = zip(*(found.table.column(name).to_pylist() for name in ("a_row", "b_row")), strict=True)
    return {(a, b) for a, b in rows if best[a] == a and best[b] == b}


@pytest.fixture(scope="module")
def crowds() -> list[str]:
    """Twelve groups of 60."""
    return _crowds(12, 60, 5)


@pytest.mark.parametrize(
    "method",
    [
        ns.ModP(threshold=0.8),
        ns.MinHash(threshold=0.8, verify="estimate"),
        ns.MinHash(threshold=0.8, recall=0.9),
        ns.MinHash(threshold=0.8, recall=0.5),
    ],
    ids=["modp", "estimate", "minhash .9", "minhash .5"],
)
def test_the_recall_of_a_list_is_that_of_its_pairs(crowds: list[str], method: ns.MinHash | ns.ModP) -> None:
    """Sampled whole, it is the share of the true pairs of distinct texts that are listed, not of the documents."""
    true = _pairs_of_distinct(ns.pairs(crowds, method=ns.Jaccard(threshold=0.8)))
    found = ns.pairs(crowds, method=method, audit=True)
    recall = found.audit.recall
    expected = len(true & _pairs_of_distinct(found)) / len(true)
    assert expected < 0.995
    assert 2 * len(true) == recall.of
    assert expected == pytest.approx(recall.value)
    assert recall.low < expected < recall.high


def test_what_lies_below_the_threshold_is_what_brute_force_says(crowds: list[str]) -> None:
    """Of pairs each one, from both ends; of a decision each document that stays, by the nearest before it."""
    lower = ns.pairs(crowds, method=ns.Jaccard(threshold="0.6"))
    distinct = _pairs_of_distinct(lower)
    rows = zip(*(lower.table.column(name).to_pylist() for name in ("a_row", "b_row", "similarity")), strict=True)
    similar = {(a, b): similarity for a, b, similarity in rows if (a, b) in distinct and similarity < 0.8}
    below = ns.pairs(crowds, audit=True).audit.below
    assert _binned(list(similar.values())) == [(least, seen * below.stands_for) for least, seen in below.bins]
    found = ns.dedup(crowds, audit=True)
    gone = set(found.removals.column("row").to_pylist())
    nearest: dict[int, float] = {}
    for (a, b), similarity in similar.items():
        if not gone & {a, b}:
            nearest[b] = max(nearest.get(b, 0), similarity)
    assert nearest
    assert _binned(list(nearest.values())) == list(found.audit.below.bins)
    assert found.audit.below.stands_for == 1
    assert ns.dedup(crowds[:9], method=ns.Jaccard(threshold=1), audit=True).audit.below is None


def _binned(similarities: list[float]) -> list[tuple[float, int]]:
    """How many there are from each hundredth to the next, from .6 to .8."""
    hundredths = [int(100 * similarity + 1e-9) for similarity in similarities]
    return [(number / 100, hundredths.count(number)) for number in range(60, 80)]


@pytest.mark.parametrize("recall", [0.3, 0.9])
def test_the_recall_of_a_decision_is_that_of_the_documents_that_had_to_go(crowds: list[str], recall: float) -> None:
    """Sampled whole: of those with a kept true partner before them, the share that is removed."""
    true = _pairs_of_distinct(ns.pairs(crowds, method=ns.Jaccard(threshold=0.8)))
    found = ns.dedup(crowds, method=ns.MinHash(threshold=0.8, recall=recall))
    gone = set(found.removals.column("row").to_pylist())
    distinct = np.flatnonzero(found.run.state.corpus.best == np.arange(len(crowds)))
    must_go = {b for a, b in true if a not in gone} & set(distinct.tolist())
    left = {row for pair in true if not gone & set(pair) for row in pair} & set(distinct.tolist())
    audit = found.audit
    assert (len(must_go & gone), len(must_go)) == (audit.recall.num, audit.recall.of)
    assert (len(left), len(set(distinct.tolist()) - gone)) == (audit.residual.num, audit.residual.of)
    assert audit.recall.value < 1


@pytest.mark.parametrize("ask", [ns.dedup, ns.pairs])
def test_the_exact_join_has_all_pairs_of_two_sides(crowds: list[str], ask: object) -> None:
    """Pairs within a side are not asked about where only those across are listed."""
    audit = ask(crowds[:300], against=crowds[300:], audit=True).audit
    assert audit.recall.of > 100
    assert audit.recall.value == 1.0


@pytest.fixture(scope="module")
def names() -> list[str]:
    """Versions of 40 names, no two of one set: with other letters, or with their words in another order."""
    draws = random.Random(5)
    texts: dict[frozenset[object], str] = {}
    for _ in range(40):
        words = ["".join(draws.choices("aeinrst", k=6)) for _ in range(4)]
        for _ in range(5):
            letters = list(" ".join(draws.sample(words, 4) if draws.random() < 0.3 else words))
            letters[draws.randrange(len(letters))] = draws.choice("aeinrst")
            texts[features("".join(letters), size=3, unit="chars")] = "".join(letters)
    return list(texts.values())


def _true_names(texts: list[str], confirm: str, least: Fraction) -> set[tuple[int, int]]:
    """By brute force, the pairs of distinct texts that reach both measures."""
    sets, found = [features(text, size=3, unit="chars") for text in texts], set()
    for a, b in combinations(range(len(texts)), 2):
        shared = len(sets[a] & sets[b])
        second = {
            "edit": Fraction(2 * LCSseq.similarity(texts[a], texts[b]), len(texts[a]) + len(texts[b])) >= least,
            "cosine": Fraction(shared**2, len(sets[a]) * len(sets[b])) >= least**2,
            "jaccard": Fraction(shared, len(sets[a] | sets[b])) >= least,
        }[confirm]
        if second and Fraction(shared, len(sets[a] | sets[b])) >= Fraction(1, 2):
            found.add((a, b))
    return found


@pytest.mark.parametrize(
    ("method", "confirm", "least", "settings"),
    [
        (ns.MinHash, "edit", "0.9", {"bands": 3, "rows": 5}),
        (ns.MinHash, "cosine", "0.8", {"bands": 3, "rows": 5}),
        (ns.MinHash, "edit", "0.7", {"verify": "estimate", "num_perm": 32}),
        (ns.ModP, "jaccard", "0.55", {"modulus": 3, "floor": 4}),
    ],
    ids=["edit", "cosine", "estimate", "modp"],
)
def test_with_a_second_measure_the_recall_is_of_what_reaches_both(
    names: list[str], method: type[ns.MinHash], confirm: str, least: str, settings: dict[str, object]
) -> None:
    """Of all that is sampled, listed or removed: what brute force says, to the last count."""
    asked = method(threshold=0.5, confirm=confirm, confirm_threshold=least, unit="chars", shingle_size=3, **settings)
    true = _true_names(names, confirm, Fraction(least))
    found = ns.pairs(names, method=asked)
    listed = _pairs_of_distinct(found)
    assert (2 * len(true & listed), 2 * len(true)) == (found.audit.recall.num, found.audit.recall.of)
    assert 0 < found.audit.recall.value < 1
    kept = ns.dedup(names, method=asked)
    gone = {removal["row"]: removal["witness_row"] for removal in kept.removals.to_pylist()}
    must_go = {b for a, b in true if a not in gone}
    right = [tuple(sorted(pair)) in true for pair in gone.items()]
    audit = kept.audit
    assert (len(must_go & gone.keys()), len(must_go)) == (audit.recall.num, audit.recall.of)
    assert (sum(right), len(right)) == (audit.precision.num, audit.precision.of)
    assert {"confirm": confirm, "confirm_threshold": float(least)}.items() <= kept.stats.audit.items()


def test_a_crowd_is_asked_about_by_fewer_documents(crowds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What the audit compares is bounded; the smaller sample still tells the share, with a wider interval."""
    usual = ns.pairs(crowds, method=ns.MinHash(recall=0.9)).audit
    monkeypatch.setattr(audits, "_MOST_COMPARED", 2_000)
    monkeypatch.setattr(audits, "_FEWEST_AUDITED", 40)
    fewer = ns.pairs(crowds, method=ns.MinHash(recall=0.9)).audit
    assert 40 <= fewer.sampled < 100 < usual.sampled
    assert fewer.recall.low < usual.recall.value < fewer.recall.high
    assert fewer.recall.high - fewer.recall.low > usual.recall.high - usual.recall.low


def test_where_no_document_was_read_nothing_is_measured() -> None:
    """There is no recall of nothing."""
    assert ns.dedup([], method="minhash").stats.audit is None
    assert ns.pairs([], method="minhash").stats.audit is None


def test_what_is_required_and_not_reached_is_an_error_that_has_the_answer(crowds: list[str]) -> None:
    """Both numbers are named; what is reached is not an error, and nothing to find is none either."""
    few = ns.MinHash(bands=4, rows=16)
    with pytest.raises(ns.RequirementError, match=r"recall .* % is below the required 98 %") as recall:
        ns.pairs(crowds, method=few, require_recall=0.98)
    assert recall.value.found.audit.recall.value < 0.98
    with pytest.raises(ns.RequirementError, match=r"residual duplicates .* % are above 1 %"):
        ns.dedup(crowds, method=few, max_residual=0.01)
    assert ns.dedup(crowds, max_residual=0, require_recall=1).audit.residual.value == 0
    assert ns.dedup(["a b c", "d e f"], require_recall=1).audit.recall is None


@pytest.mark.parametrize("wrong", [dict(require_recall=1.5), dict(max_residual="1 %"), dict(require_recall=True)])
def test_a_requirement_is_a_share(wrong: dict[str, object]) -> None:
    """From 0 to 1, and something must be measured."""
    with pytest.raises(ns.ConfigError, match=r"is not a number|must be a number"):
        ns.dedup(["a"], **wrong)
    with pytest.raises(ns.ConfigError, match=r"audit=False and max_residual=0\.1: nothing would be measured"):
        ns.dedup(["a"], audit=False, max_residual=0.1)
