"""The audit on Spark: of a corpus that is sampled whole it says what that of one machine says, to the last count."""

from dataclasses import replace

import pytest

import nearsame as ns
from tests.parity import corpora

COARSE = ns.MinHash(threshold=0.6, shingle_size=2, bands=4, rows=8)  # misses many


def corpus(seed=5):
    """Fewer documents than are sampled, fewer removals than are compared again, and each row once."""
    return corpora.mixed(seed, families=20, hot=12, links=10)


def both(spark, table, **settings):
    """The audits of one machine and of Spark, where nothing is decided on the driver."""
    engine = ns.Spark(spark, driver_bytes=0)
    frames = {name: spark.createDataFrame(settings[name]) for name in ("against",) if name in settings}
    here = ns.dedup(table, order_column="number", **settings).audit
    there = ns.dedup(spark.createDataFrame(table), order_column="number", engine=engine, **settings | frames).audit
    return replace(here, below=None), there  # Spark looks at nothing below the threshold


def test_an_approximate_run_is_audited_unasked(spark):
    """Bands that miss pairs show, as on one machine."""
    here, there = both(spark, corpus(), method=COARSE)
    assert here == there
    assert there.recall.value < 1
    assert there.residual.value > 0
    assert there.precision.value == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (ns.Jaccard(threshold=0.6, shingle_size=2), {"audit": True}),
        (ns.Jaccard(threshold=0.6, shingle_size=2), {"audit": True, "clusters": "components"}),
        (ns.MinHash(threshold=0.6, shingle_size=2), {}),
        (ns.Hyperplane(threshold=0.95, bands=4, rows=40), {}),
        (ns.MinHash(**COARSE.settings, confirm="edit", confirm_threshold=0.9), {}),
    ],
    ids=["jaccard", "components", "minhash", "hyperplane", "edit"],
)
def test_every_method_that_can_be_audited(spark, method, settings):
    """Whatever is decided, and however."""
    here, there = both(spark, corpus(6), method=method, **settings)
    assert here == there
    assert there.with_partner > 20


@pytest.mark.parametrize("within", [pytest.param(True, marks=pytest.mark.long), False])
def test_only_the_judged_side_is_asked_about(spark, within):
    """And what resembles the other side only counts as the run has it."""
    table = corpus(7)
    here, there = both(spark, table.slice(30), against=table.slice(0, 60), within=within, method=COARSE)
    assert here == there


@pytest.mark.parametrize(
    "method",
    [COARSE, pytest.param(ns.ModP(threshold=0.6, shingle_size=2), marks=pytest.mark.long)],
    ids=["minhash", "modp"],
)
def test_of_a_list_the_recall_of_its_pairs_is_measured(spark, method):
    """The share of the true pairs that are listed, as on one machine."""
    here = ns.pairs(corpus(), method=method, audit=True)
    there = ns.pairs(spark.createDataFrame(corpus()), method=method, audit=True, engine=ns.Spark(spark))
    assert replace(here.audit, below=None) == there.audit  # which looks at nothing below the threshold
    assert here.audit.recall.value < 1
    assert there.stats.audit["residual"] is None


def test_of_two_sides_only_pairs_across_are_asked_about(spark):
    """What is within a side is not listed."""
    table = corpus(8)
    sides = table.slice(30), table.slice(0, 60)
    here, there = (
        ns.pairs(one, against=other, method=COARSE, engine=engine, order_column="number").audit
        for one, other, engine in ((*sides, None), (*map(spark.createDataFrame, sides), ns.Spark(spark)))
    )
    assert here == there


def test_the_sample_has_room(spark):
    """No more features come to the driver than a table may take."""
    engine = ns.Spark(spark, broadcast_bytes=8192)
    found = ns.dedup(spark.createDataFrame(corpus()), method=COARSE, engine=engine)
    assert 0 < found.audit.sampled < 60
    assert "recall was not measured" in found.at(threshold=0.9).stats.notes[-1]


def test_nothing_to_sample(spark):
    """No document has features: nothing is known, and nothing fails."""
    rows = spark.createDataFrame([("a", None), ("b", "")], "id string, text string")
    audit = ns.dedup(rows, method="minhash", engine=ns.Spark(spark)).audit
    assert (0, 0, None, None, None) == (
        audit.sampled, audit.with_partner, audit.recall, audit.residual, audit.precision
    )  # fmt: skip


def test_a_method_that_cannot_be_audited_says_so(spark):
    """As on one machine."""
    with pytest.raises(ns.ConfigError, match="method=digest is about digest"):
        ns.dedup(spark.range(1), method="digest", audit=True, engine=ns.Spark(spark))
