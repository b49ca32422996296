"""FEATURES to SKETCHES: the MinHash signature of each set; an empty set has an empty one."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import minhash
from nearsame.named import NamedTuple
from nearsame.recipes.choices import SketchKind
from nearsame.recipes.methods import MinHash
from nearsame.stages.sketches.pcg64 import PCG64

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
        return _SKETCHES[self.recipe.sketch].seeds(PCG64(self.recipe.seed), self.recipe.num_perm)

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
        _SKETCHES[self.recipe.sketch].kernel(items, starts, ends, *self.seeds, out)
        return out


class _Sketch(NamedTuple):
    """A way to sketch sets: the kernel, and the random numbers that it takes for so many values."""

    kernel: Any
    seeds: Callable[[PCG64, int], tuple[arrow.UInt64s, ...]]


def _fast_seeds(bits: PCG64, num_perm: int) -> tuple[arrow.UInt64s, ...]:
    return (arrow.frozen(bits.random_raw(2 * num_perm)),)


def _classic_seeds(bits: PCG64, num_perm: int) -> tuple[arrow.UInt64s, ...]:
    multipliers = bits.random_raw(num_perm) % np.uint64(_PRIME - 1) + np.uint64(1)
    return arrow.frozen(multipliers), arrow.frozen(bits.random_raw(num_perm) % np.uint64(_PRIME))


_SKETCHES: dict[SketchKind, _Sketch] = {
    "fast": _Sketch(minhash.fast_sketch, _fast_seeds),
    "classic": _Sketch(minhash.classic_sketch, _classic_seeds),
}
