"""Boilerplate on Spark: exact, in a table that has fewer slots than there are different shingles."""

from typing import Any

import numpy as np
import pytest

import nearsame as ns
from nearsame.flow import boilerplate
from tests.engines.spark.test_parity_with_local import decisions, frame

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_TABLE = 1 << 15  # bytes, of two slots each


def pages(number: int, own: int) -> list[dict[str, Any]]:
    """Pages of words of their own, and of some that stand in very many; each tenth is nearly the one before."""
    rng, rows = np.random.default_rng(11), list[dict[str, Any]]()
    for at in range(number):
        page = at - 1 if at % 10 == 9 else at
        words = [f"own{page}x{word}" for word in range(own)] + [f"menu{word}" for word in rng.choice(60, 20)]
        rows.append({"id": f"p{at:05d}", "text": " ".join([*words, f"last{at}"]), "n": at})
    return rows


def test_boilerplate_is_exact_with_more_shingles_than_slots(spark, monkeypatch):
    """And the table is planned for the different ones, however often they occur."""
    rows, plan, planned = pages(800, 120), boilerplate.plan_counting, list[int]()
    method = ns.Jaccard(shingle_size=1, drop_boilerplate=15)
    here = ns.dedup(rows, method=method, ties="content", audit=False)
    monkeypatch.setattr(boilerplate, "plan_counting", lambda num, most: planned.append(num) or plan(num, most))
    engine = ns.Spark(spark, broadcast_bytes=_TABLE)
    there = ns.dedup(frame(spark, rows), method=method, engine=engine, audit=False)
    different = len({word for row in rows for word in row["text"].split()})
    assert different > 2 * _TABLE
    assert planned == [pytest.approx(different, rel=0.03)]
    assert 60 == here.stats.dropped_shingles == there.stats.dropped_shingles
    assert here.stats.removed == 80
    assert decisions(here.removals) == decisions(there.removals)
    there.release()
