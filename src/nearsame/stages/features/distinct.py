"""About how many different items there are, within a percent or so, in 16 KiB: what decides the size of a count table.

HyperLogLog (Flajolet and others, 2007), with linear counting where there are few. Items are hashes already.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.dataclass import dataclass
from nearsame.kernels import hyperloglog as kernel

__all__ = ["DistinctItems"]

_SIZE = 1 << kernel.PLACES
_ALPHA = 0.7213 / (1 + 1.079 / _SIZE)
Registers = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class DistinctItems:
    """The fold that estimates the number of different items of FEATURES (or SKETCHES)."""

    def start(self) -> Registers:
        """Empty registers, as of a corpus without any item."""
        return np.zeros(_SIZE, np.uint8)

    def add(self, state: Registers, batch: pa.RecordBatch, part: int, _parts: int) -> Registers:
        """Look at a batch; there is nothing to share out, so part 0 does it."""
        if part == 0:
            kernel.mark_longest(*arrow.lists(batch.column("items")), state)
        return state

    def merge(self, a: Registers, b: Registers) -> Registers:
        """The registers of all that either state has seen: an item that both have seen counts once."""
        return np.maximum(a, b)

    @staticmethod
    def close(state: Registers) -> int:
        """The number of different items, estimated: the standard error is 0.8 %."""
        sums: Any = np.ldexp(1.0, -state.astype(np.int64)).sum()
        estimate = _ALPHA * _SIZE * _SIZE / float(sums)
        empty = int((state == 0).sum())
        if estimate <= 2.5 * _SIZE and empty:
            estimate = _SIZE * float(np.log(_SIZE / empty))
        return round(estimate)
