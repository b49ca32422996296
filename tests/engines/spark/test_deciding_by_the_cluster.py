"""Deciding in rounds, by one task, by stars: the answer of the driver, which is that of one machine."""

from typing import Any

import pytest

import nearsame as ns
from tests.engines.spark.test_parity_with_local import corpus, decisions, frame, listed

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.long,
]
_WAYS: dict[str, dict[str, Any]] = {
    "rounds": {"driver_bytes": 0, "task_bytes": 0},
    "one round": {"driver_bytes": 0, "task_bytes": 0, "rounds": 1},
    "one task": {"driver_bytes": 0},
}


def chain(links: int) -> list[dict[str, Any]]:
    """Texts of which each resembles the next one only."""
    return [
        {"id": f"c{at:05d}", "text": " ".join(f"w{at * 3 + word}" for word in range(40)), "n": at}
        for at in range(links)
    ]


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("method", [ns.Jaccard(), ns.Containment(), ns.SimHash(k=6)], ids=lambda recipe: recipe.name)
def test_every_way_of_deciding_removes_the_same(spark, method, way):
    """With the same witnesses, the most similar keepers of higher priority."""
    rows = corpus() + chain(30)
    here = ns.dedup(rows, method=method, ties="content", audit=False)
    there = ns.dedup(frame(spark, rows), method=method, engine=ns.Spark(spark, **_WAYS[way]))
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


@pytest.mark.parametrize("within", [True, False])
def test_an_against_side_is_kept_in_rounds_too(spark, within):
    """And without `within` only it removes."""
    old, new = corpus()[::2], corpus()[1::2] + chain(10)
    here = ns.dedup(new, against=old, within=within, ties="content", audit=False)
    engine = ns.Spark(spark, **_WAYS["rounds"])
    there = ns.dedup(frame(spark, new), against=frame(spark, old), within=within, engine=engine)
    assert decisions(here.removals) == decisions(there.removals)
    there.release()


@pytest.mark.parametrize("method", [ns.Jaccard(), ns.Containment(), ns.ModP()], ids=lambda recipe: recipe.name)
def test_pairs_by_the_cluster_are_those_of_one_machine(spark, method):
    """Each pair once, however many keys it shares."""
    here = ns.pairs(corpus(), method=method, audit=False)
    there = ns.pairs(frame(spark, corpus()), method=method, engine=ns.Spark(spark, driver_bytes=0))
    assert listed(here.table) == listed(there.table)
    there.release()


def test_components_by_stars_are_those_of_one_machine(spark):
    """With what there is to say of the largest."""
    rows = corpus() + chain(60)
    here = ns.dedup(rows, clusters="components", ties="content", audit=False)
    there = ns.dedup(frame(spark, rows), clusters="components", engine=ns.Spark(spark, driver_bytes=0))
    assert decisions(here.removals) == decisions(there.removals)
    assert here.stats.component == there.stats.component
    there.release()


def _decided(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Of near copies some apart and some chosen, of equal ones one pair apart; ids of nobody and of several."""
    by_group: dict[str, list[str]] = {}
    for row in rows:
        if row["id"] and row["text"]:
            by_group.setdefault(row["text"].split()[0], []).append(row["id"])
    near = [ids for ids in by_group.values() if len(set(ids)) > 1]
    apart = [{"id1": ids[0], "id2": ids[-1], "label": "no"} for ids in near[::2]]
    chosen = [{"id1": ids[0], "id2": ids[-1], "keep": ids[-1]} for ids in near[1::2]]
    chain = [{"id1": f"c{at:05d}", "id2": f"c{at + 2:05d}", "label": "no"} for at in range(0, 8, 3)]
    return [*apart, *chosen, *chain, {"id1": "nobody", "id2": "x", "label": "no"}]


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("clusters", ["greedy", "components"])
def test_what_people_have_decided_is_obeyed_as_on_one_machine(spark, way, clusters):
    """Removals and counts of what was obeyed, at another threshold too; nothing of it is missed by the audit."""
    old = [{**row, "id": f"old {at}"} for at, row in enumerate(corpus()[::3])]
    new = corpus()[1:] + chain(10)
    asked = {"method": ns.Jaccard(threshold=0.5), "clusters": clusters, "decisions": _decided(new), "audit": True}
    here = ns.dedup(new, against=old, ties="content", **asked)
    engine = ns.Spark(spark, **_WAYS[way])
    there = ns.dedup(frame(spark, new), against=frame(spark, old), engine=engine, **asked)
    for one, other in ((here, there), (here.at(threshold=0.9), there.at(threshold=0.9))):
        assert decisions(one.removals) == decisions(other.removals)
        assert one.stats.decisions == other.stats.decisions
        assert one.stats.component == other.stats.component
    assert min(here.stats.decisions[name] for name in ("apart", "chosen", "both_kept", "overruled", "lost")) > 0
    if clusters == "greedy":
        assert (1.0, 0.0) == (there.audit.recall.value, there.audit.residual.value)
    there.release()
