"""FEATURES to SKETCHES: Broder's fingerprint of each set; an empty set has an empty one.

1. A fingerprint is the first items of its set in one order common to all: hashes ≡ 0 mod p, then the others by size;
   all of the former, and at least `floor` in all. (Broder, On the resemblance and containment of documents, 1997,
   takes one or the other: mod p for containment, the s smallest for equal sizes.)
2. The union of both would do as well and add `floor` items to every long document; to take the smallest hashes only
   where multiples are too few would give two texts with floor - 1 and floor of them nothing in common.
"""

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import modp

__all__ = ["Fingerprints"]


@dataclass(frozen=True)
class Fingerprints:
    """The stage that selects hashes."""

    modulus: int
    floor: int

    output = schemas.SKETCHES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """SKETCHES of a batch of FEATURES."""
        lists = arrow.lists(batch.column("items"))
        out, ends = np.empty(int(lists.sizes.sum()), np.uint64), np.empty(len(batch) + 1, np.int64)
        modp.select_multiples(*lists, np.uint64(self.modulus), self.floor, out, ends)
        return pa.RecordBatch.from_arrays(
            [batch.column("row"), arrow.items(out[: ends[-1]].copy(), ends)], schema=schemas.SKETCHES
        )
