"""A key that very many documents share does not meet in one task, and changes no answer."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import nearsame as ns
from nearsame.engines.spark.verbs import Verbs
from nearsame.frames import candidates
from nearsame.kernels.scores import JACCARD, Bound
from tests.engines.spark.test_parity_with_local import decisions, frame, listed

pytestmark = pytest.mark.long


def template(number: int) -> list[dict[str, Any]]:
    """Pages that share most of their words; every tenth has too few of them to be similar."""
    rows = []
    for at in range(number):
        shared = 34 if at % 10 else 14
        words = [f"menu{word}" for word in range(shared)] + [f"own{at}x{word}" for word in range(2 if at % 10 else 30)]
        rows.append({"id": f"p{at:05d}", "text": " ".join(words), "n": at})
    return rows


@pytest.mark.parametrize("method", [ns.Jaccard(), ns.MinHash()], ids=lambda recipe: recipe.name)
def test_a_hot_template_is_decided_alike_in_blocks(spark, monkeypatch, method):
    """With blocks so small that every bucket is cut."""
    monkeypatch.setattr(candidates, "BLOCK", 64)
    monkeypatch.setattr("nearsame.frames.rounds.BLOCK", 64)
    rows = template(600)
    here = ns.dedup(rows, method=method, ties="content", audit=False)
    there = ns.dedup(frame(spark, rows), method=method, engine=ns.Spark(spark, driver_bytes=0, task_bytes=0))
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


def test_the_pairs_of_a_hot_template_are_listed_once_each(spark, monkeypatch):
    """Every two blocks meet, and no pair in more than one of them."""
    monkeypatch.setattr(candidates, "BLOCK", 32)
    monkeypatch.setattr("nearsame.frames.rounds.BLOCK", 32)
    rows = template(200)
    here = ns.pairs(rows, audit=False)
    there = ns.pairs(frame(spark, rows), engine=ns.Spark(spark, driver_bytes=0))
    assert listed(here.table) == listed(there.table)
    there.release()


def test_components_of_a_hot_template_are_joined_alike_in_blocks(spark, monkeypatch):
    """A template, and pages that share a key with all of it and resemble nothing, or only each other."""
    monkeypatch.setattr(candidates, "BLOCK", 64)
    monkeypatch.setattr("nearsame.frames.rounds.BLOCK", 64)
    rows = template(400)
    rows += [{**row, "id": f"again {row['id']}", "text": f"{row['text']} again"} for row in rows[:200:10]]
    here = ns.dedup(rows, clusters="components", ties="content", audit=False)
    there = ns.dedup(frame(spark, rows), clusters="components", engine=ns.Spark(spark, driver_bytes=0))
    assert decisions(here.removals) == decisions(there.removals)
    assert here.stats.component == there.stats.component
    there.release()


@pytest.mark.parametrize("hot", [True, False])
def test_what_belongs_together_does_not_meet_again(spark, monkeypatch, hot):
    """Of two buckets only the pairs of different roots, each once; a bucket of one root has none."""
    monkeypatch.setattr(candidates, "BLOCK", 8)
    rng = np.random.default_rng(3)
    roots = [int(number % 40 if number % 3 == 0 else number) for number in range(120)]
    buckets = {1: range(120), 2: sorted(rng.choice(120, 50, replace=False).tolist()), 3: (0, 40 * 3), 4: (5,)}
    rows = [(key, n, -1, 10, False, roots[n % 120]) for key, numbers in buckets.items() for n in numbers]
    entries = spark.createDataFrame(
        rows, "key bigint, number bigint, place int, size bigint, one_side boolean, root bigint"
    )
    verbs = Verbs(ns.Spark(spark), spark)
    sides = candidates.split_by_main(verbs, entries)
    found = candidates.meeting_pairs(verbs, sides, Bound(JACCARD, 4, 5), hot=hot, placed=True, apart=True)
    told = sorted((row["a"], row["b"]) for row in found.collect())
    expected = {
        (a, b) for numbers in buckets.values() for a, b in combinations(numbers, 2) if roots[a % 120] != roots[b % 120]
    }
    assert sorted(expected) == told
    verbs.release()
