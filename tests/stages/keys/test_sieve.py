"""The sieve of the exact join: who is similar to somebody always stays, and who shares nothing goes."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import ceil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearsame as ns
from nearsame import arrow, schemas
from nearsame.stages.keys import prefix, sieve
from nearsame.stages.keys.sieve import CountBeginnings, MayBeSimilar, Sieve, least_shared, length
from nearsame.stages.pairs.measures import COSINE, JACCARD, bound, shares
from tests.examples import share
from tests.oracle.decisions import cosine_pairs, pairs
from tests.oracle.measures import cosine_squared, jaccard

BITS = 19  # of tables here: two stretches
ITEMS = st.integers(0, 2**64 - 1) | st.integers(0, 30).map(lambda n: (n << 59) + n)
SETS = st.lists(st.sets(ITEMS, max_size=25).map(sorted), max_size=8)
NEAR = st.lists(st.sets(st.integers(0, 24).map(lambda n: (n * 0x9E3779B97F4A7C15) % 2**64), min_size=12).map(sorted))
THRESHOLDS = st.fractions("1/20", 1, max_denominator=20)


def _features(rows, first=0):
    items = np.array([item for row in rows for item in row], np.uint64)
    about = [pa.array(np.zeros(len(rows), np.int64)) for _ in range(6)]
    columns = [
        pa.array(np.arange(first, first + len(rows))), *about, arrow.items(items, np.cumsum([0, *map(len, rows)]))
    ]  # fmt: skip
    return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


def _table(plan, batches, parts=1):
    fold = CountBeginnings(plan)
    state = fold.start()
    for part in range(parts):
        fold.add_many(state, batches, part, parts)
    return state


def _staying(plan, rows, parts=1, cut=0):
    batches = [_features(rows[:cut]), _features(rows[cut:], cut)]
    fold = MayBeSimilar(plan, _table(plan, batches, parts), len(rows))
    state = fold.start()
    for batch in batches:
        for part in range(parts):
            fold.add(state, batch, part, parts)
    return state.tolist()


def _counted(table):
    return (table[:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3).ravel()


@given(SETS | NEAR, st.sampled_from([JACCARD, COSINE]), THRESHOLDS, st.integers(1, 4), st.integers(0, 8))
@settings(max_examples=share(200))
def test_those_stay_that_share_enough_of_their_beginnings(rows, kind, threshold, parts, cut):
    """As said with lists and a dictionary; whoever counts which share, of whatever batches."""
    plan = Sieve(BITS, shares(bound(kind, threshold)))
    least = [ceil(Fraction(plan.shares.p, plan.shares.q) * len(row)) for row in rows]
    at_least = [ceil(Fraction(plan.shares.p, plan.shares.q) * n) for n in least]
    begins = [row[: len(row) - n + min(n, max(1, len(row) // 7))] for row, n in zip(rows, least, strict=True)]
    slots = Counter(item >> 64 - BITS for row in begins for item in row)
    expected = [
        sum(slots[item >> 64 - BITS] > 1 for item in begin) >= min(twice, max(1, n // 7))
        for begin, n, twice in zip(begins, least, at_least, strict=True)
    ]
    assert expected == _staying(plan, rows, parts, min(cut, len(rows)))
    counts = np.zeros(1 << BITS, np.uint8)
    counts[[*slots]] = [min(2, number) for number in slots.values()]
    assert np.array_equal(counts, _counted(_table(plan, [_features(rows)], parts)))


@pytest.mark.parametrize(
    ("kind", "reaches"),
    [
        (JACCARD, lambda a, b, threshold: jaccard(a, b) >= threshold),
        (COSINE, lambda a, b, threshold: cosine_squared(a, b) >= threshold**2),
    ],
)
@given(rows=SETS | NEAR, threshold=THRESHOLDS)
@settings(max_examples=share(200))
def test_who_is_similar_to_another_stays(kind, reaches, rows, threshold):
    """At any threshold, also where slots are few."""
    staying = _staying(Sieve(BITS, shares(bound(kind, threshold))), rows)
    for a, b in combinations(range(len(rows)), 2):
        if rows[a] and rows[b] and reaches(set(rows[a]), set(rows[b]), threshold):
            assert staying[a]
            assert staying[b]


@given(THRESHOLDS, st.integers(0, 400), st.integers(0, 400))
def test_two_sets_share_in_both_beginnings_what_either_must(threshold, a, b):
    """The lemma, of numbers: what of all they share comes first lies in both beginnings, and is enough for both."""
    of = shares(bound(JACCARD, threshold))
    sizes = np.array([a, b])
    least = [ceil(Fraction(of.p, of.q) * n) for n in (a, b)]
    overlap = max(least)  # of two similar sets: no fewer
    first = min(length(sizes, of) - sizes + least)
    for n, begin, enough in zip((a, b), length(sizes, of), least_shared(sizes, of), strict=True):
        assert begin <= n
        if overlap <= min(a, b):
            assert enough <= first <= overlap
            assert n - overlap + first <= begin


def test_sets_that_share_little_go():
    """Of thousands of strangers hardly any stays, and of two that are similar both do."""
    random = np.random.default_rng(5)
    rows = [sorted(set(random.integers(0, 2**64, 200, np.uint64).tolist())) for _ in range(1000)]
    rows[7] = sorted({*rows[3][:-9], *range(9)})
    staying = _staying(Sieve(21, shares(bound(JACCARD, Fraction(4, 5)))), rows, parts=2)
    assert staying[3]
    assert staying[7]
    assert sum(staying) < 20


def test_merged_tables_are_those_of_all():
    """Two bits a slot, which stop at two."""
    plan = Sieve(BITS, shares(bound(JACCARD, Fraction(4, 5))))
    rows = [[5, 2**63], [5], [5, 2**62], [2**60]]
    halves = [_table(plan, [_features(part)]) for part in (rows[:2], rows[2:])]
    assert np.array_equal(_table(plan, [_features(rows)]), CountBeginnings.merge(*halves))
    assert [True, False, True] == MayBeSimilar.merge(*np.array([[True, False, False], [True, False, True]])).tolist()


@pytest.fixture
def sieved(monkeypatch):
    """Every table is large, so that all sets go through the sieve; how many of those that did are left."""
    told = []

    class Told(MayBeSimilar):
        def __init__(self, *args):
            super().__init__(*args)
            told.append(self)

    monkeypatch.setattr(prefix, "_LARGE_BITS", 18)
    monkeypatch.setattr(prefix, "_LEAST_BITS", 18)
    monkeypatch.setattr(sieve, "_MOST", 10)
    monkeypatch.setattr(sieve, "MayBeSimilar", Told)
    return told


LISTS = st.lists(st.lists(st.integers(0, 15).map(str), min_size=1, max_size=14), max_size=16)


@pytest.mark.parametrize(("kind", "oracle"), [(ns.Jaccard, pairs), (ns.Cosine, cosine_pairs)])
def test_behind_the_sieve_are_all_pairs_of_brute_force(kind, oracle, sieved):
    """Of ready features, at any threshold, with one thread and two; none less than without it."""

    @given(LISTS, st.sampled_from(["1/10", "1/2", "2/3", "4/5", "9/10", "1"]), st.sampled_from([1, 2]))
    @settings(max_examples=share(60))
    def check(lists, threshold, threads):
        table = pa.table({"tags": pa.array(lists, pa.list_(pa.string()))})
        found = ns.pairs(table, method=kind(threshold=threshold), features_column="tags", threads=threads)
        lines = found.table.select(["a_row", "b_row", "similarity"]).to_pylist()
        expected = oracle([frozenset(items) for items in lists], Fraction(threshold))
        assert {pair: float(value) for pair, value in expected.items()} == {
            (line["a_row"], line["b_row"]): line["similarity"] for line in lines
        }

    check()
    assert sieved


def test_what_goes_is_the_same_behind_the_sieve(sieved, monkeypatch):
    """Texts with copies and near copies: removals, witnesses and clusters."""
    random = np.random.default_rng(3)
    texts = []
    for _ in range(120):
        words = [f"w{n}" for n in random.integers(0, 5000, 80)]
        texts += [" ".join(words), " ".join(words[:-2])] if random.random() < 0.3 else [" ".join(words)]
    texts += texts[::9]
    found = ns.dedup(texts, threads=2)
    assert len(sieved) == 1
    monkeypatch.setattr(sieve, "plan_sieve", lambda *_: None)
    whole = ns.dedup(texts)
    assert len(sieved) == 1
    assert found.removals.equals(whole.removals)
    assert found.clusters.equals(whole.clusters)
    assert found.stats.removed > 30
