"""Folds on Spark leave the state of one machine, whether it is an array, a table or small."""

from typing import Any

import numpy as np
import pytest

from nearsame import arrow
from nearsame.engines.spark import folding
from nearsame.engines.spark.folding import chunk_bytes, fold_frame
from nearsame.kernels.boilerplate import Slots
from nearsame.stages.features.boilerplate import CountExactly
from nearsame.stages.features.distinct import DistinctItems
from nearsame.stages.features.frequencies import CountDocuments

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def features(spark: Any) -> tuple[list[list[int]], Any]:
    """Lists of items of which many stand in several, and a frame of them in more partitions than tasks run at once."""
    rng = np.random.default_rng(5)
    hashes = rng.integers(0, 1 << 63, 300)
    lists = [sorted(set(rng.choice(hashes, at % 7).tolist())) for at in range(200)]
    rows = [(list(items), len(items)) for items in lists]
    return lists, spark.createDataFrame(rows, "items array<bigint>, num_tokens bigint").repartition(5)


@pytest.mark.parametrize("slots", [1, 2, 64, 1000, 4096, 50_000])
def test_a_task_that_merges_chunks_has_a_bound(slots):
    """64 MB, until chunks are as small as is worth sending."""
    assert slots * chunk_bytes(slots) <= 1 << 26 or chunk_bytes(slots) == 1 << 14


def test_document_frequencies_are_those_of_one_machine(spark):
    """Each worker counts some partitions, the cluster adds up shares of the features."""
    lists, frame = features(spark)
    found = CountDocuments.close(fold_frame(frame, CountDocuments()), {})
    items, documents = np.unique(np.array([item for each in lists for item in each], np.uint64), return_counts=True)
    assert list(zip(items, documents, strict=True)) == list(zip(found.items, found.documents, strict=True))
    assert sum(bool(each) for each in lists) == found.num_documents


def test_exact_counts_are_those_of_one_machine(spark):
    """Those of one share of the slots, here of all."""
    lists, frame = features(spark)
    slots = Slots(
        np.uint64(0), np.uint64(48), 1 << 16, nibbles=False, table=arrow.frozen(np.full(1 << 16, 9, np.uint8))
    )
    fold = CountExactly(slots, 0, 1 << 16, 3)
    found = fold.close(fold_frame(frame, fold))
    items, counts = np.unique(np.array([item for each in lists for item in each], np.uint64), return_counts=True)
    assert items[counts > 3].tolist() == found.items.tolist()
    assert counts[counts > 3].tolist() == found.counts.tolist()


def test_nothing_folds_to_nothing(spark):
    """A frame without rows leaves a table without features."""
    _, frame = features(spark)
    found = CountDocuments.close(fold_frame(frame.filter("false"), CountDocuments()), {})
    assert (0, 0) == (found.items.size, found.num_documents)


def test_chunks_of_any_size_make_the_same_array(spark, monkeypatch):
    """The registers of all items."""
    lists, frame = features(spark)
    monkeypatch.setattr(folding, "_CHUNK_BYTES", (1 << 10, 1 << 10))
    found = fold_frame(frame, DistinctItems())
    assert abs(DistinctItems.close(found) - len(set().union(*lists))) <= 10
    monkeypatch.undo()
    assert found.tolist() == fold_frame(frame, DistinctItems()).tolist()
