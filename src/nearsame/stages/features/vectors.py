"""VECTORS to FEATURES: each vector, rounded to 15 bits.

1. Pure: the same batch gives the same features, whatever stands beside it.
2. A null or empty vector, and one of zeros, which has no direction, has no items.
3. Both the codes and the exact cosine are of the rounded vectors. A rounded vector is off by √d / 2 at most, and
   32767 long at least: a cosine by (1/|a| + 1/|b|) · √d / 2 at most: .0004 with 128 numbers, a fifth of it as a rule.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import hyperplanes
from nearsame.kernels.sets import digest_sets
from nearsame.stages.features.identity import digest_runs

__all__ = ["RoundedVectors"]


@dataclass(frozen=True)
class RoundedVectors:
    """The stage that makes integers of vectors."""

    output = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of VECTORS."""
        column = batch.column("vector").fill_null(pa.scalar([], batch.column("vector").type))
        ends = arrow.list_offsets(column)
        values = arrow.ints(column.values.fill_null(0.0))  # what no row refers to may be null
        sizes, offsets = np.diff(ends), np.zeros(len(batch) + 1, np.int64)
        np.cumsum(_num_words(values, ends), out=offsets[1:])
        items = np.zeros(int(offsets[-1]), np.uint64)
        hyperplanes.round_vectors(values, ends[:-1], ends[1:], offsets[:-1], items)
        raw, whole = digest_runs(values, ends), np.empty((2, len(batch)), np.int64)
        digest_sets(items, offsets, whole)
        about = (8 * sizes, *raw, sizes, *whole)
        columns = [batch.column("row"), *map(pa.array, about), arrow.items(items, offsets)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)


def _num_words(values: npt.NDArray[np.float64], ends: arrow.Int64s) -> arrow.Int64s:
    """How many words each vector takes: its sum of squares and four numbers to a word; none for zeros."""
    before = np.zeros(values.size + 1, np.int64)
    np.cumsum(values != 0.0, out=before[1:])
    return np.where(np.diff(before[ends]) > 0, 1 + (np.diff(ends) + 3) // 4, 0)
