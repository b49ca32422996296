"""What keys will cost to shuffle: predictions, what is said where the table is too small, and what is measured."""

from fractions import Fraction

import pytest

import nearsame as ns
from nearsame.frames.shuffling import KEY_BYTES, advice, predicted
from tests.engines.spark.test_parity_with_local import corpus, frame

MOST = Fraction(4, 5)


@pytest.mark.parametrize(("slots", "share"), [(400_000, 0.0), (200_000, 0.33), (20_000, 1.0)])
def test_keys_follow_from_the_slots_for_each_shingle(slots, share):
    """None where each has a slot of its own; the whole prefix where many share one."""
    told = predicted(1_000, 326_000, 400_000, slots, MOST, 7_000)
    expected = {"keys_per_document": round(66 * share, 2), "bytes": round(66_000 * share * KEY_BYTES)}
    assert told["jaccard"] == {**expected, "table_bytes": 7_000}


def test_minhash_has_as_many_keys_as_bands():
    """Whatever the documents hold."""
    assert predicted(1_000, 326_000, 400_000, 1, MOST, 7_000)["minhash"] == {
        "keys_per_document": 16.0,
        "bytes": 16_000 * KEY_BYTES,
    }


def test_a_table_that_is_too_small_is_told_of_with_its_numbers():
    """And only such a one."""
    assert advice(predicted(1_000, 326_000, 400_000, 200_000, MOST, 7_000)) is None
    said = advice(predicted(1_000, 326_000, 400_000, 20_000, MOST, 7_000))
    assert said is not None
    assert said.startswith(
        "the count table has 0.05 slots for each of about 400,000 different shingles: about 66 keys "
    )
    assert said.endswith("where minhash has 16; raise broadcast_bytes, or choose minhash")


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
