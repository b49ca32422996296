"""FEATURES to SKETCHES: the sign code of each vector; one without items has none.

1. A plane's coordinates are sums of 16 random bytes, about their mean: as good as normal (excess kurtosis -.075) and
   integers. With ±1 two vectors of few large coordinates would be cut alike too often, and P(equal bits) = 1 - θ/π
   would not hold.
2. Planes are drawn coordinate by coordinate: their first d coordinates do not depend on how many there are.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import hyperplanes

__all__ = ["SignCodes", "planes"]

_BYTES = 16
_MEAN = 255 * _BYTES // 2


@lru_cache(maxsize=4)
def planes(bits: int, seed: int, size: int) -> npt.NDArray[np.int16]:
    """So many hyperplanes of `size` coordinates: int16[bits, size], at most 2040 each.

    >>> planes(64, 0, 8).shape
    (64, 8)
    """
    words = np.random.PCG64(seed).random_raw(size * bits * _BYTES // 8).astype("<u8")
    sums = words.view(np.uint8).reshape(size, bits, _BYTES).sum(axis=2, dtype=np.int16)
    return arrow.frozen((sums - np.int16(_MEAN)).T)


@dataclass(frozen=True)
class SignCodes:
    """The stage that says on which side of each hyperplane a vector lies."""

    bits: int
    seed: int

    output = schemas.SKETCHES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """SKETCHES of a batch of FEATURES."""
        lists = arrow.lists(batch.column("items"))
        present = lists.sizes > 0
        num_words = self.bits // 64
        out = np.empty((int(present.sum()), num_words), np.uint64)
        if out.size:
            size = 4 * (int(lists.sizes.max()) - 1)  # of all: a run has vectors of one length only
            hyperplanes.codes(lists.items, arrow.frozen(lists.starts[present]), planes(self.bits, self.seed, size), out)
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(present * num_words, out=offsets[1:])
        return pa.RecordBatch.from_arrays(
            [batch.column("row"), arrow.items(out.ravel(), offsets)], schema=schemas.SKETCHES
        )
