"""A key that very many documents share does not meet in one task, and changes no answer."""

from typing import Any

import pytest
from tests.engines.spark.test_parity_with_local import decisions, frame, listed

import samesame as ss
from samesame.frames import candidates

pytestmark = pytest.mark.long


def template(number: int) -> list[dict[str, Any]]:
    """Pages that share most of their words; every tenth has too few of them to be similar."""
    rows = []
    for at in range(number):
        shared = 34 if at % 10 else 14
        words = [f"menu{word}" for word in range(shared)] + [f"own{at}x{word}" for word in range(2 if at % 10 else 30)]
        rows.append({"id": f"p{at:05d}", "text": " ".join(words), "n": at})
    return rows


@pytest.mark.parametrize("method", [ss.Jaccard(), ss.MinHash()], ids=lambda recipe: recipe.name)
def test_a_hot_template_is_decided_alike_in_blocks(spark, monkeypatch, method):
    """With blocks so small that every bucket is cut."""
    monkeypatch.setattr(candidates, "BLOCK", 64)
    monkeypatch.setattr("samesame.frames.rounds.BLOCK", 64)
    rows = template(600)
    here = ss.dedup(rows, method=method, ties="content", audit=False)
    there = ss.dedup(frame(spark, rows), method=method, engine=ss.Spark(spark, driver_bytes=0, task_bytes=0))
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


def test_the_pairs_of_a_hot_template_are_listed_once_each(spark, monkeypatch):
    """Every two blocks meet, and no pair in more than one of them."""
    monkeypatch.setattr(candidates, "BLOCK", 32)
    monkeypatch.setattr("samesame.frames.rounds.BLOCK", 32)
    rows = template(200)
    here = ss.pairs(rows, audit=False)
    there = ss.pairs(frame(spark, rows), engine=ss.Spark(spark, driver_bytes=0))
    assert listed(here.table) == listed(there.table)
    there.release()
