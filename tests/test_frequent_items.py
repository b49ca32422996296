"""Small universes, in which every item is frequent: the exact join against brute force, whatever is left out early."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns

UNIVERSE = 13


@pytest.fixture(scope="module")
def sets() -> list[frozenset[int]]:
    """1,200 different sets of one to six of thirteen items, each of which stands in more than 255 of them."""
    every = [frozenset(items) for size in range(1, 7) for items in itertools.combinations(range(UNIVERSE), size)]
    chosen = [every[at] for at in np.random.default_rng(7).permutation(len(every))[:1200]]
    assert all(255 < sum(item in items for items in chosen) for item in range(UNIVERSE))
    return chosen


def _table(sets: list[frozenset[int]]) -> pa.Table:
    items = [[item * 0x9E3779B97F4A7C15 % 2**62 for item in items] for items in sets]
    return pa.table({"id": [f"{i:04}" for i in range(len(sets))], "items": pa.array(items, pa.list_(pa.int64()))})


def _shared(sets: list[frozenset[int]]) -> tuple[Any, Any]:
    """How many items each two share, and how many each has."""
    has = np.array([[item in items for item in range(UNIVERSE)] for items in sets], np.int64)
    return has @ has.T, has.sum(axis=1)


def _alike(sets: list[frozenset[int]], threshold: str) -> Any:
    """Whether each two reach a Jaccard similarity, in integers."""
    (shared, sizes), least = _shared(sets), Fraction(threshold)
    union = sizes[:, None] + sizes[None, :] - shared
    return shared * least.denominator >= least.numerator * union


def _listed(sets: list[frozenset[int]], method: Any) -> set[tuple[int, int]]:
    found = ns.pairs(_table(sets), method=method, features_column="items").pairs
    pairs = zip(found.column("a_id").to_pylist(), found.column("b_id").to_pylist(), strict=True)
    return {(min(int(a), int(b)), max(int(a), int(b))) for a, b in pairs}


@pytest.mark.parametrize("threshold", ["1/3", "1/2", "3/5", "2/3", "5/7", "4/5", "1"])
def test_pairs_are_those_of_brute_force(sets, threshold):
    """At fractions where rounding bites."""
    expected = set(zip(*np.nonzero(np.triu(_alike(sets, threshold), 1)), strict=True))
    assert expected == _listed(sets, ns.Jaccard(threshold=threshold))


@pytest.mark.parametrize("threshold", ["1/2", "3/5", "1"])
def test_contained_sets_are_those_of_brute_force(sets, threshold):
    """In either direction."""
    (shared, sizes), least = _shared(sets), Fraction(threshold)
    inside = shared * least.denominator >= least.numerator * sizes[:, None]
    expected = set(zip(*np.nonzero(np.triu(inside | inside.T, 1)), strict=True))
    assert expected == _listed(sets, ns.Containment(threshold=threshold))


@pytest.mark.parametrize("threshold", ["1/2", "3/5", "4/5"])
def test_keepers_are_those_of_brute_force(sets, threshold):
    """Each stays unless it is like one that stays and comes before it."""
    kept = ns.dedup(_table(sets), method=ns.Jaccard(threshold=threshold), features_column="items", keep="first").kept()
    alike, expected = _alike(sets, threshold), list[int]()
    for at in range(len(sets)):
        if not alike[at, expected].any():
            expected.append(at)
    assert expected == [int(name) for name in kept.column("id").to_pylist()]


@pytest.mark.parametrize("driver_bytes", ["64MB", 0])
def test_spark_finds_the_pairs_of_brute_force(sets, spark, driver_bytes):
    """Where its driver compares, and where its tasks do; items meet in chains on both."""
    source = spark.createDataFrame(_table(sets)).repartition(2)
    engine = ns.Spark(spark, driver_bytes=driver_bytes)
    found = ns.pairs(source, method=ns.Jaccard(threshold="3/5"), features_column="items", engine=engine)
    ids = ((int(row["a_id"]), int(row["b_id"])) for row in found.table.collect())
    expected = set(zip(*np.nonzero(np.triu(_alike(sets, "3/5"), 1)), strict=True))
    assert expected == {(min(pair), max(pair)) for pair in ids}
    met = set(found.stats.comparing) - {"left_by_places", "left_by_bits", "items"}
    assert ({"met"} if driver_bytes else set()) == met
    one_machine = ns.pairs(_table(sets), method=ns.Jaccard(threshold="3/5"), features_column="items").stats
    assert found.stats.keys == one_machine.keys > 5 * len(sets)
