"""What a task carries of how its rows were made does not grow from turn to turn: Java's stack would be too small."""

import pytest

import nearsame as ns
from nearsame.engines.spark.settings import Spark
from nearsame.engines.spark.stars import least_of_component
from nearsame.engines.spark.verbs import Verbs
from tests.sparks import carried_bytes


@pytest.fixture
def sizes(monkeypatch):
    """What tasks carry of each frame that a loop makes of the one before it."""
    out = []
    afresh = Verbs.afresh

    def watched(verbs, frame, *sums):
        kept = afresh(verbs, frame, *sums)
        out.append(carried_bytes(kept[0]))
        return kept

    monkeypatch.setattr(Verbs, "afresh", watched)
    return out


def test_the_stars_of_a_long_chain_carry_no_more_with_each_step(spark, sizes):
    """And tie all of its links to the first."""
    verbs = Verbs(Spark(spark), spark)
    stars = least_of_component(verbs, spark.range(40).selectExpr("id as u", "id + 1 as v"))
    assert {(node, 0) for node in range(1, 41)} == {tuple(row) for row in stars.collect()}
    assert len(sizes) > 4
    assert max(sizes) <= 1.1 * sizes[0]
    verbs.release()


def test_rounds_of_deciding_carry_no_more_with_each_one(spark, sizes):
    """Of a chain in the order of priority each decides two documents; who goes is who goes on one machine."""
    rows = [
        {"id": f"c{at:02d}", "text": " ".join(f"w{at * 3 + word}" for word in range(40)), "n": at} for at in range(12)
    ]
    asked = {"method": ns.Jaccard(), "keep": "min:n", "audit": False}
    there = ns.dedup(
        spark.createDataFrame(rows), engine=ns.Spark(spark, driver_bytes=0, task_bytes=0, rounds=4), **asked
    )
    assert there.stats.room["rounds"] == 4
    assert len(sizes) == 2 * 4
    assert max(sizes) <= 1.1 * max(sizes[:2])
    here = ns.dedup(rows, ties="content", **asked)
    assert sorted(here.removals["id"].to_pylist()) == sorted(row.id for row in there.removals.collect())
    there.release()
