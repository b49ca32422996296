"""CODES to FEATURES: the words of each code are its items; a null has none."""

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels.sets import digest_sets
from nearsame.stages.features.identity import digest_runs

__all__ = ["GivenCodes"]


@dataclass(frozen=True)
class GivenCodes:
    """The stage for codes that somebody else made."""

    output = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of CODES."""
        column = batch.column("code").fill_null(pa.scalar([], batch.column("code").type))
        offsets = arrow.list_offsets(column)
        items = arrow.frozen(arrow.ints(column.values)[offsets[0] : offsets[-1]].view(np.uint64))
        ends = arrow.frozen(offsets - offsets[0])
        sizes, whole = np.diff(ends), np.empty((2, len(batch)), np.int64)
        digest_sets(items, ends, whole)
        about = (8 * sizes, *digest_runs(items, ends), (sizes > 0).astype(np.int64), *whole)
        columns = [batch.column("row"), *map(pa.array, about), arrow.items(items, ends)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)
