"""What is folded on the way to what is kept is what a fold over it leaves; where it has not seen all, it is folded."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.spark.settings import Spark
from nearsame.engines.spark.verbs import Verbs
from nearsame.stages.features.distinct import DistinctItems

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NUM_ROWS = 200
FOLD = DistinctItems()
OF_SETS = pa.schema([("row", pa.int64()), ("items", pa.large_list(pa.int64()))])


class Same:
    """A stage that changes nothing, with a table of any size."""

    output = OF_SETS

    def __init__(self, size: int) -> None:
        self.table = np.arange(size)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch."""
        return batch


def sets(spark: Any) -> Any:
    """Rows with lists of items, in several partitions of which one is empty."""
    frame = spark.range(0, NUM_ROWS, 1, 4).selectExpr(
        "id as row", "transform(sequence(0, id % 7), place -> xxhash64(id * 5 + place)) as items"
    )
    return frame.filter("row < 50 or row >= 100").union(frame.filter("row >= 50 and row < 100"))


@pytest.fixture
def verbs(spark: Any) -> Any:
    """Those of a run; what it keeps is given back."""
    made = Verbs(Spark(spark), spark)
    yield made
    made.release()


@pytest.mark.parametrize("size", [1, 1 << 17], ids=["small", "a broadcast"])
def test_it_is_what_a_fold_leaves(spark, verbs, size, monkeypatch):
    """Registers are the same ones, and nothing is read again for them, but where a worker holds the stages."""
    kept = verbs.computed(verbs.kept_beside(FOLD, sets(spark), Same(size)))
    right = verbs.fold(kept, FOLD)
    kept = verbs.kept_beside(FOLD, sets(spark), Same(size))
    kept.count()
    assert right.tolist() == verbs.folded(kept, FOLD, NUM_ROWS).tolist()
    folds = list[Any]()
    monkeypatch.setattr(verbs, "fold", lambda frame, fold: folds.append(frame) or right)
    verbs.folded(kept, FOLD, NUM_ROWS)
    assert bool(folds) == (size > 1)


def test_what_was_folded_is_given_back(spark, verbs):
    """Spark keeps an accumulator as long as it runs, and one of many tasks is no little thing."""
    verbs.kept_beside(FOLD, sets(spark), Same(1)).count()
    beside = verbs._beside[0][1]
    assert beside.state(NUM_ROWS) is not None
    verbs.release()
    assert (None, []) == (beside.sums.value, verbs._beside)


def test_what_is_done_twice_counts_once(spark, verbs):
    """As where an executor is gone, or a task was slow."""
    kept = verbs.kept_beside(FOLD, sets(spark), Same(1))
    kept.count()
    first = verbs.folded(kept, FOLD, NUM_ROWS).tolist()
    verbs._kept[-1].unpersist(blocking=True)
    kept.count()
    assert first == verbs.folded(kept, FOLD, NUM_ROWS).tolist()
    assert first == verbs.fold(kept, FOLD).tolist()


@pytest.mark.parametrize("seen", ["nothing", "a part", "another number"])
def test_what_has_not_seen_all_is_folded(spark, verbs, seen):
    """Nobody has asked for the rows, or for all of them, or there are more than were said."""
    kept = verbs.kept_beside(FOLD, sets(spark), Same(1))
    if seen == "a part":
        kept.limit(1).collect()
    if seen == "another number":
        kept.count()
    num_rows = NUM_ROWS + (seen == "another number")
    assert verbs._beside[0][1].state(num_rows) is None
    assert verbs.fold(kept, FOLD).tolist() == verbs.folded(kept, FOLD, num_rows).tolist()


def test_a_run_does_not_read_its_sets_to_count_different_items(spark, tmp_path, monkeypatch):
    """But with a work directory, whether it finds them there or writes them; it says the same number then."""
    texts = [f"the {at % 40} quick brown foxes jump over {at % 40} lazy dogs near the river bank" for at in range(60)]
    source = str(tmp_path / "texts.parquet")
    pq.write_table(pa.table({"id": range(60), "text": texts}), source)
    folds = list[str]()
    fold = Verbs.fold

    def folding(self: Verbs, frame: Any, made: Any) -> Any:
        folds.append(type(made).__name__)
        return fold(self, frame, made)

    monkeypatch.setattr(Verbs, "fold", folding)

    def foretold(**settings: Any) -> Any:
        folds.clear()
        found = ns.dedup(source, engine=ns.Spark(spark, driver_bytes=0), method=ns.Jaccard(), **settings)
        assert "CountItems" in folds
        return found.stats.record()["room"]["shuffle"]["predicted"]

    first = foretold()
    assert "DistinctItems" not in folds
    work = tmp_path / "work"
    assert first == foretold(workdir=work)
    assert "DistinctItems" in folds
    for step in ("met.json", "entries", "lists"):
        (work / step).rename(tmp_path / step)
    assert first == foretold(workdir=work)
    assert "DistinctItems" in folds
