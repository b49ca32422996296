"""What a run says of itself is plain: frozen, JSON-able, and the clock adds up."""

import dataclasses
import json
from fractions import Fraction

import pytest

import nearsame as ns
from nearsame.answers.comparisons import Measured
from nearsame.answers.stats import Audit, Share, Stats
from nearsame.clock import Clock, Silent

TEXTS = ["a b c d e f", "a b c d e f", "a b c d e g", "", None, "***"]


@pytest.mark.parametrize(
    "made",
    [
        lambda: ns.dedup(TEXTS, method=ns.Jaccard(threshold="1/3", shingle_size=2)).stats,
        lambda: ns.dedup(TEXTS, method=ns.MinHash(shingle_size=2)).stats,
        lambda: ns.compare("a b c d", "a b c e"),
        lambda: ns.explain("a b c d", method=ns.MinHash(shingle_size=2)),
        ns.plan,
        ns.plan_simhash,
        Stats,
    ],
    ids=["exact", "audited", "compare", "explain", "plan", "plan_simhash", "nothing"],
)
def test_a_result_is_frozen_and_its_record_is_json(made):
    """Every field is there, and what is not a number is not one in JSON either."""
    found = made()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(found, dataclasses.fields(found)[0].name, None)
    record = found.record()
    assert {field.name for field in dataclasses.fields(found)} <= set(record)
    assert json.loads(json.dumps(record, allow_nan=False))


def test_the_counts_of_a_run_add_up():
    """Read, empty and bare ones; removed and kept are all; copies and near copies are the removed."""
    stats = ns.dedup(TEXTS, method=ns.Jaccard(threshold="1/2", shingle_size=2)).stats
    assert (6, 2, 1) == (stats.documents, stats.empty, stats.bare)
    assert (1, 1, 2, 4) == (stats.exact_copies, stats.near_copies, stats.removed, stats.kept)
    assert sum(len((text or "").encode()) for text in TEXTS) == stats.text_bytes
    assert (1, ("0", 3)) == (stats.clusters, (stats.largest[0][0].rpartition(":")[2], stats.largest[0][1]))
    assert "jaccard" == stats.measure == stats.recipe["method"]


def test_a_measure_keeps_its_fraction():
    """In JSON as text beside the number."""
    record = Measured("jaccard", "words", similarity=Fraction(1, 3)).record()
    assert ("1/3", 1 / 3) == (record["exact"], record["similarity"])
    assert Measured("cosine", "words", similarity=0.5).record()["exact"] is None


def test_an_audit_without_a_partner_has_no_recall():
    """Nothing of nothing is no share."""
    record = Audit(0.8, 10, 0, None, Share(0.0, 0.0, 0.3, 0, 10), None).record()
    assert (None, 10, None) == (record["recall"], record["residual"]["of"], record["precision"])


def test_the_clock_adds_what_is_done_twice():
    """By the step's name, also when it fails; whoever watches hears of each beginning."""
    heard = []

    class Watching(Silent):
        def begin(self, stage, total_bytes=None):
            heard.append((stage, total_bytes))

    clock = Clock(Watching())
    with clock("reading", 10):
        pass
    first = clock.seconds["reading"]
    with pytest.raises(ZeroDivisionError), clock("reading"):
        raise ZeroDivisionError
    assert clock.seconds["reading"] > first >= 0
    assert [("reading", 10), ("reading", None)] == heard
