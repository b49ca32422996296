"""Keys that stand in no order: each is looked up, and offered to whoever looks it up."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Int64s, UInt64s

__all__ = ["keys_of_sketches", "unordered"]


def unordered(keys: UInt64s, rows: Int64s) -> pa.RecordBatch:
    """KEYS of rows, a key for each entry."""
    columns = (keys.view(np.int64), rows, np.full(rows.size, -1, np.int32), np.ones(rows.size, np.uint8))
    return pa.RecordBatch.from_arrays([arrow.numbers(column) for column in columns], schema=schemas.KEYS)


def keys_of_sketches(
    batch: pa.RecordBatch, num_values: int, keys_of: Callable[[UInt64s, Int64s], tuple[UInt64s, Int64s]]
) -> pa.RecordBatch:
    """KEYS of a batch of SKETCHES, each of `num_values` values, or of none: then it has no key.

    Args:
        batch: of SKETCHES.
        num_values: of a sketch.
        keys_of: sketches, one in each line, and their rows, to keys and theirs.
    """
    lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
    sketches = lists.items[lists.starts[0] : lists.ends[-1]] if rows.size else lists.items[:0]
    return unordered(*keys_of(sketches.reshape(-1, num_values), rows[lists.sizes > 0]))
