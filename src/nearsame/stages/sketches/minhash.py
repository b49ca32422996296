"""FEATURES to SKETCHES: the MinHash signature of each set; an empty set has an empty one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.kernels import minhash
from nearsame.recipes.methods import MinHash

__all__ = ["Signatures"]

_PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class Signatures:
    """The stage that sketches sets."""

    recipe: MinHash

    output = schemas.SKETCHES

    @cached_property
    def seeds(self) -> tuple[arrow.UInt64s, ...]:
        """The random numbers of the recipe's seed: PCG64, whose stream NumPy promises to keep."""
        bits = np.random.PCG64(self.recipe.seed)
        m = self.recipe.num_perm
        if self.recipe.sketch == "fast":
            return (arrow.frozen(bits.random_raw(2 * m)),)
        multipliers = bits.random_raw(m) % np.uint64(_PRIME - 1) + np.uint64(1)
        return arrow.frozen(multipliers), arrow.frozen(bits.random_raw(m) % np.uint64(_PRIME))

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """SKETCHES of a batch of FEATURES."""
        lists = arrow.lists(batch.column("items"))
        present = lists.sizes > 0
        out = self.signatures(lists.items, lists.starts[present], lists.ends[present])
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(present * self.recipe.num_perm, out=offsets[1:])
        return pa.RecordBatch.from_arrays(
            [batch.column("row"), arrow.items(out.ravel(), offsets)], schema=schemas.SKETCHES
        )

    def signatures(self, items: arrow.UInt64s, starts: arrow.Int64s, ends: arrow.Int64s) -> npt.NDArray[np.uint64]:
        """The signatures of some sets, none of them empty, without a table around them: uint64[n, num_perm]."""
        out = np.empty((starts.size, self.recipe.num_perm), np.uint64)
        sketch = minhash.fast_sketch if self.recipe.sketch == "fast" else minhash.classic_sketch
        sketch(items, starts, ends, *self.seeds, out)
        return out
