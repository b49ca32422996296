"""The twelve shapes of the literature on Spark: each is joined, and its pairs are those of one machine."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import nearsame as ns
from tests.parity.answers import difference, listed, local, on_spark

BENCH = Path(__file__).resolve().parents[2] / "bench"
SETS = 2_000  # a tenth of the fewest that `scripts/bench joins` makes
SHAPES = (
    "AOL", "BMS-POS", "DBLP", "ENRON", "FLICKR", "KOSARAK", "LIVEJ", "NETFLIX", "ORKUT", "SPOTIFY", "UNIFORM", "ZIPF",
)  # fmt: skip
EXTREMES = ("AOL", "NETFLIX", "UNIFORM")  # the shortest sets, the longest, and of the fewest items


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that makes them."""
    monkeypatch.syspath_prepend(str(BENCH))
    return import_module("joins")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in EXTREMES else pytest.mark.long) for name in SHAPES]
)
def test_a_shape_of_the_literature_is_joined_on_spark(name: str, joins: Any, spark: Any) -> None:
    """At both thresholds."""
    sets = joins.made(joins.SHAPES[name], SETS)
    items = sets.table().column("items").cast(pa.list_(pa.string()))
    table = pa.table({"id": [f"{row:05d}" for row in range(len(items))], "items": items})
    ask = on_spark(ns.Spark(spark), lambda given: spark.createDataFrame(given).repartition(2))
    for threshold in ("0.5", "0.8"):
        given = {"method": ns.Jaccard(threshold=threshold), "features_column": "items"}
        assert {} == difference(listed(local, table, **given), listed(ask, table, **given))


def test_these_are_all_shapes(joins: Any) -> None:
    """A shape that is added is tried on Spark, too."""
    assert sorted(joins.SHAPES) == sorted(SHAPES)
