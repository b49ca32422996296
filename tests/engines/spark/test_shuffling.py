"""What keys will cost to shuffle: predictions, what is done where a table is too large, and what is measured."""

from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import pytest

import nearsame as ns
from nearsame.frames import corpus as frames_corpus
from nearsame.frames.shuffling import KEY_BYTES, CountTable, past_the_table, planned, predicted
from nearsame.stages.features.frequent import CountOften
from tests.engines.spark.test_parity_with_local import corpus, decisions, frame, listed

MOST = Fraction(4, 5)
PAST = {"broadcast_bytes": 128, "driver_bytes": 0}


@pytest.mark.parametrize(
    ("slots", "fits", "share"), [(400_000, True, 0.0), (200_000, True, 0.33), (200_000, False, 1.0)]
)
def test_keys_follow_from_the_slots_for_each_shingle(slots, fits, share):
    """None where each has a slot of its own; the whole prefix where there is no table."""
    told = predicted(1_000, 326_000, 400_000, MOST, CountTable(slots, 7_000, fits))
    expected = {"keys_per_document": round(66 * share, 2), "bytes": round(66_000 * share * KEY_BYTES)}
    assert told["jaccard"] == {**expected, "table_bytes": 7_000}


def test_minhash_has_as_many_keys_as_bands():
    """Whatever the documents hold."""
    assert predicted(1_000, 326_000, 400_000, MOST, CountTable(1, 7_000))["minhash"] == {
        "keys_per_document": 16.0,
        "bytes": 16_000 * KEY_BYTES,
    }


@pytest.mark.parametrize(
    ("distinct", "items", "fits"),
    [(1 << 24, 1 << 26, True), (1 << 26, 1 << 28, False), (1 << 24, 1 << 40, False), (1 << 20, 1 << 40, True)],
)
def test_no_table_is_made_that_broadcast_bytes_has_no_room_for(distinct, items, fits):
    """With two shingles for each slot at most, and room for the counts of slots that are full."""
    verbs = SimpleNamespace(table_bytes=1 << 24, num_copies=lambda: 3)
    assert fits == planned(distinct, items, verbs).fits


def test_what_is_done_in_place_of_a_table_is_told_with_its_costs():
    """Those of the other method as well."""
    said = past_the_table(400_000, 100, predicted(1_000, 326_000, 400_000, MOST, CountTable(1, 16_000, fits=False)))
    assert said.startswith("a table of counts of about 400,000 different shingles takes more than broadcast_bytes=100:")
    assert "(about 66 keys a document, 1.6 MB with the counts); method=minhash takes about 16 keys a document, " in said


@pytest.fixture
def past_tables(monkeypatch):
    """No table has more than a few slots, and all documents are looked at for what is frequent."""
    monkeypatch.setattr("nearsame.stages.keys.prefix._LEAST_BITS", 4)
    monkeypatch.setattr(frames_corpus, "CountOften", partial(CountOften, sampled=1, least=2))


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "method",
    [
        ns.Jaccard(),
        *(pytest.param(method, marks=pytest.mark.long) for method in (ns.Cosine(weights="tf"), ns.ModP(modulus=2))),
    ],
    ids=lambda recipe: recipe.name,
)
@pytest.mark.usefixtures("past_tables")
def test_past_the_table_the_same_documents_go(spark, method):
    """Whatever is called frequent: all sets go by one order."""
    asked = {"method": method, "audit": False}
    there = ns.dedup(frame(spark, corpus()), **asked, engine=ns.Spark(spark, **PAST))
    assert decisions(ns.dedup(corpus(), **asked, ties="content").removals) == decisions(there.removals)
    assert any("a shuffle counts the frequent ones" in note for note in there.stats.notes)
    assert PAST["broadcast_bytes"] / 16 == there.stats.room["shuffle"]["frequent"]
    there.release()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.usefixtures("past_tables")
def test_past_the_table_the_same_pairs_are_listed(spark):
    """In both directions, where a container offers all of its items."""
    asked = {"method": ns.Containment(), "audit": False}
    there = ns.pairs(frame(spark, corpus()), **asked, engine=ns.Spark(spark, **PAST))
    assert listed(ns.pairs(corpus(), **asked).table) == listed(there.table)
    assert 0 < there.stats.room["shuffle"]["frequent"]
    there.release()


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_bytes_of_keys_are_those_of_their_exchange(spark):
    """Not those of what is joined behind it; and each task and executor has its copy of the table."""
    rows = [
        {**row, "id": f"{row['id']}-{part}", "text": f"{row['text']} {part}"} for part in range(9) for row in corpus()
    ]
    found = ns.dedup(frame(spark, rows), method=ns.MinHash(), engine=ns.Spark(spark), audit=False)
    told = found.stats.room["shuffle"]
    assert KEY_BYTES / 3 < told["keys_bytes"] / told["keys"] <= KEY_BYTES
    assert told["keys_bytes"] < told["written_bytes"] / 2
    assert 3 * (1 << 16) == told["predicted"]["jaccard"]["table_bytes"]
    found.release()
