"""What each filter of a join is worth, by counts and not by a clock; and that none changes an answer."""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame.kernels import buckets, deciding
from nearsame.stages.keys import prefix


@cache
def _sets(num: int, mean: float, universe: int, exponent: float = 1.0) -> list[list[int]]:
    """Sets whose sizes follow Poisson's law and whose items follow Zipf's, some of them near copies of those before."""
    random = np.random.default_rng(5)
    chances = np.arange(1, universe + 1) ** -exponent
    sets: list[list[int]] = []
    for i, size in enumerate(np.clip(random.poisson(mean, num), 1, universe // 2)):
        items = random.choice(universe, size, replace=False, p=chances / chances.sum())
        sets.append(sets[i // 2][1:] or [1] if i % 10 == 9 else items.tolist())
    return sets


def _table(sets: list[list[int]]) -> pa.Table:
    return pa.table({"id": [f"{i:05}" for i in range(len(sets))], "items": pa.array(sets, pa.list_(pa.int64()))})


def _pairs(sets: list[list[int]], threshold: str, **options: Any) -> tuple[set[tuple[str, str]], dict[str, int]]:
    found = ns.pairs(_table(sets), method=ns.Jaccard(threshold=threshold), features_column="items", **options)
    ids = (found.pairs.column(name).to_pylist() for name in ("a_id", "b_id"))
    return {(min(pair), max(pair)) for pair in zip(*ids, strict=True)}, found.stats.comparing


@cache
def _similar(shape: str, threshold: str) -> set[tuple[str, str]]:
    """By brute force."""
    sets = _sets(*SHAPES[shape])
    has = np.zeros((len(sets), 1 + max(map(max, sets))), np.float32)  # exact for such counts, and quicker than integers
    for i, items in enumerate(sets):
        has[i, items] = 1
    shared, sizes, least = has @ has.T, has.sum(axis=1), Fraction(threshold)
    union = sizes[:, None] + sizes[None, :] - shared
    alike = np.triu(shared.astype(np.int64) * least.denominator >= least.numerator * union.astype(np.int64), 1)
    return {(f"{a:05}", f"{b:05}") for a, b in zip(*np.nonzero(alike), strict=True)}


SHAPES = {"short": (1500, 10, 60, 0.0), "skewed": (1500, 12, 900, 1.1), "long": (600, 200, 2000, 1.0)}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_filter_leaves_fewer(shape: str) -> None:
    """Places, then bits: what they leave is counted, and of what bits leave a good part are pairs."""
    sets = _sets(*SHAPES[shape])
    _, counts = _pairs(sets, "1/2")
    distinct = len({frozenset(items) for items in sets})
    assert counts["met"] > counts["left_by_places"] > 5 * counts["left_by_bits"] > 0
    assert counts["left_by_places"] <= distinct * (distinct - 1) / 2
    assert 0 < counts["items"] <= counts["left_by_bits"] * 2 * max(map(len, sets))


@pytest.mark.parametrize("threshold", ["1/2", "7/10", "9/10"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("without", ["nothing", "bits", "places"])
def test_no_filter_changes_an_answer(shape: str, threshold: str, without: str, monkeypatch: Any) -> None:
    """Each of them away: the pairs of brute force."""
    if without == "bits":
        monkeypatch.setattr(buckets, "_words", lambda _: 0)
    if without == "places":
        monkeypatch.setattr(prefix.KeyRoom, "batch", _without_places(prefix.KeyRoom.batch))
    sets = _sets(*SHAPES[shape])
    found, counts = _pairs(sets, threshold)
    assert _similar(shape, threshold) == found
    if without == "bits":
        assert counts["left_by_bits"] == counts["left_by_places"]


def _without_places(batch: Any) -> Any:
    def unplaced(room: Any, filled: int) -> pa.RecordBatch:
        keys = batch(room, filled)
        return keys.set_column(2, keys.schema.field(2), pa.array(np.full(len(keys), -1, np.int32)))

    return unplaced


def test_both_commands_count_what_they_take() -> None:
    """In `dedup` it takes less: who goes is compared with keepers only."""
    table = _table(_sets(*SHAPES["skewed"]))
    one, all_pairs = (
        ask(table, method=ns.Jaccard(threshold=0.5), features_column="items").stats for ask in (ns.dedup, ns.pairs)
    )
    for stats in (one, all_pairs):
        assert stats.compared == stats.comparing["left_by_places"] > 0
    assert set(one.comparing) == {"met", "left_by_places", "left_by_bits", "items"}


@pytest.mark.threaded
def test_threads_do_not_change_what_pairs_take() -> None:
    """Each document with those before it, whoever compares them."""
    sets = _sets(*SHAPES["skewed"])
    assert _pairs(sets, "1/2", threads=1)[1] == _pairs(sets, "1/2", threads=4)[1]


def test_what_compares_nothing_counts_nothing() -> None:
    """Equality needs no comparisons."""
    assert {} == ns.dedup(["a", "a", "b"], method="digest").stats.comparing


def test_works_add_up() -> None:
    """Field by field."""
    assert deciding.Work(2, 4, 6, 8) == deciding.Work.total([deciding.Work(1, 2, 3, 4)] * 2)
    assert deciding.Work() == deciding.Work.total([])
