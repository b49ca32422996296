"""SKETCHES with what confirms a pair beside each: the letters of its text, or the set that was sketched."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels.buckets import gather

__all__ = ["Confirming"]


@dataclass(frozen=True)
class Confirming:
    """The stage that sketches by another one, and leaves beside the sketch what it was not made for."""

    sketch: Callable[[pa.RecordBatch], pa.RecordBatch]

    output = schemas.SKETCHED

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """SKETCHED of a batch of FEATURES, or of LETTERED."""
        name = [name for name in schemas.COMPARED if name in batch.schema.names][-1]
        lists = arrow.lists(batch.column(name))
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(lists.sizes, out=offsets[1:])
        own = np.empty(int(offsets[-1]), np.uint64)  # a view becomes a list of its own
        gather(*lists, np.arange(len(batch)), offsets[:-1], own)
        columns = [*self.sketch(batch).columns, arrow.items(own, offsets)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.SKETCHED)
