"""What a map takes to its workers: small work with each task, a large table once for each process."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nearsame.engines.spark.mapping import map_batches

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LOADED: list[int] = []  # one for each time that this process unpickled a table


class Table:
    """Work that tells how often it came to its process, and the sum of its numbers."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        LOADED.append(1)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for a partition."""
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"loaded": [len(LOADED)], "sum": [int(self.numbers.sum())]})


def test_a_process_holds_a_large_table_once(spark):
    """However many tasks it has."""
    numbers = np.arange(1 << 17)
    told = map_batches(spark.range(0, 60, 1, 6), Table(numbers), "loaded bigint, sum bigint").collect()
    assert [(1, int(numbers.sum()))] * 6 == [tuple(row) for row in told]


@pytest.mark.parametrize("size", [10, 1 << 17])
def test_work_that_has_no_name_goes_too(spark, size):
    """A function within a function, with a small table or a large one."""
    numbers = np.arange(size)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array(batch.column(0).to_numpy() + numbers[-1])], names=["id"])

    told = map_batches(spark.range(0, 4, 1, 2), work, "id bigint").collect()
    assert [size - 1 + at for at in range(4)] == sorted(row["id"] for row in told)
