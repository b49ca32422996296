"""Plans that Spark adapts while they run, as it does unless told otherwise: one answer, and no more tasks than needed.

The session of the other tests adapts nothing, which is faster on so little.
"""

import pytest

import nearsame as ns
from nearsame.engines.spark.verbs import Verbs
from tests.engines.spark.test_parity_with_local import corpus, decisions, frame, listed

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
_ADAPTED = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "40"}
_EAGER = {  # so that partitions of so little are joined and split as those of much are
    **_ADAPTED,
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "2KB",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1KB",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1KB",
    "spark.sql.adaptive.skewJoin.skewedPartitionFactor": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
_ROUNDS = {"driver_bytes": 0, "task_bytes": 0}
_JOINED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


@pytest.fixture
def adapted(spark):
    """Sets settings of the session, which get their values back."""
    before = {}

    def given(conf):
        for name, value in conf.items():
            before.setdefault(name, spark.conf.get(name, None))
            spark.conf.set(name, value)
        return spark

    yield given
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


@pytest.mark.parametrize(
    ("conf", "where"),
    [
        pytest.param(_ADAPTED, {}, id="as it comes, on the driver"),
        pytest.param(_ADAPTED, _ROUNDS, marks=pytest.mark.long, id="as it comes, in rounds"),
        pytest.param(_EAGER, {}, marks=pytest.mark.long, id="eager, on the driver"),
        pytest.param(_EAGER, _ROUNDS, marks=pytest.mark.long, id="eager, in rounds"),
    ],
)
def test_documents_that_go_are_the_same(adapted, conf, where):
    """Whatever Spark makes of the plans."""
    spark = adapted(conf)
    here = ns.dedup(corpus(), ties="content", audit=False)
    there = ns.dedup(frame(spark, corpus()), engine=ns.Spark(spark, **where))
    assert decisions(here.removals) == decisions(there.removals)
    assert (here.stats.kept, there.kept().count()) == (there.stats.kept, here.stats.kept)
    there.release()


@pytest.mark.long
@pytest.mark.parametrize("method", [ns.MinHash(), ns.Containment()], ids=lambda recipe: recipe.name)
def test_pairs_are_the_same(adapted, method):
    """By sketches, and by one in the other."""
    spark = adapted(_EAGER)
    here = ns.pairs(corpus(), method=method, audit=False)
    there = ns.pairs(frame(spark, corpus()), method=method, audit=False, engine=ns.Spark(spark, driver_bytes=0))
    assert listed(here.table) == listed(there.table)
    there.release()


@pytest.mark.parametrize("before", ["false", "true"])
def test_what_is_kept_has_no_more_partitions_than_it_needs(adapted, before):
    """And the session is what it was."""
    spark = adapted({**_ADAPTED, _JOINED: before})
    verbs = Verbs(ns.Spark(spark), spark)
    kept = verbs.computed(spark.range(1000).groupBy("id").count())
    assert kept.rdd.getNumPartitions() < 5
    assert kept.count() == 1000
    assert spark.conf.get(_JOINED) == before
    verbs.release()
