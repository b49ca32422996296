"""WEIGHTED to FEATURES: each document's SimHash code, in the place of its features from here on.

1. The items of a document are the words of its code, and behind them what a pair is confirmed by, if it is. So
   equal codes collapse, and documents meet and are compared, like any others.
2. A document without tokens has no code. Its items are the digest of its text, at a length that no code has: it equals
   its exact copies. An empty text has none.
3. Weights are integers: frequencies, or frequencies times the table's inverse document frequencies.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame import arrow, schemas
from samesame.kernels import simhash as kernel
from samesame.kernels.sets import digest_sets
from samesame.methods import SimHash

__all__ = ["Codes"]

_BARE_ITEMS = 4  # more than the words of a code


@dataclass(frozen=True)
class Codes:
    """The stage that sketches weighted features.

    Attributes:
        recipe: the method.
    """

    recipe: SimHash

    output = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of WEIGHTED."""
        tokens = arrow.ints(batch.column("num_tokens"))
        codes = self._codes(batch)
        lengths = np.where(tokens > 0, codes.shape[1], 0)
        lengths[(tokens == 0) & (arrow.ints(batch.column("text_bytes")) > 0)] = _BARE_ITEMS
        offsets = np.zeros(len(batch) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        items = np.zeros(int(offsets[-1]), np.uint64)
        _scatter(items, offsets[:-1][tokens > 0], codes[tokens > 0])
        bare = lengths == _BARE_ITEMS
        _scatter(items, offsets[:-1][bare], _digests(batch)[bare])
        sets = np.empty((2, len(batch)), np.int64)
        digest_sets(items, offsets, sets)
        about = [batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b", "num_tokens")]
        columns = [*about, *map(pa.array, sets), arrow.items(items, offsets)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)

    def _codes(self, batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
        recipe, items, times = self.recipe, arrow.lists(batch.column("items")), arrow.lists(batch.column("times"))
        hashes = arrow.lists(batch.column("hashes"))
        hashes = hashes if hashes.items.size else items
        out = np.empty((len(batch), -(-recipe.bits // 64)), np.uint64)
        zero_is_one = recipe.zero_bit == 1
        if recipe.weights == "one":
            kernel.majority(*hashes, zero_is_one, _mask(recipe.bits), out)
        else:
            kernel.weighted_majority(*hashes, times.items, times.starts, zero_is_one, _mask(recipe.bits), out)
        return out


def _mask(bits: int) -> arrow.UInt64s:
    """The bits of a code, word by word."""
    value = (1 << bits) - 1
    return arrow.frozen(np.array([value >> at & (1 << 64) - 1 for at in range(0, bits, 64)], np.uint64))


def _digests(batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    found = np.zeros((len(batch), _BARE_ITEMS), np.uint64)
    for place, name in enumerate(("digest_a", "digest_b")):
        found[:, place] = arrow.unsigned(arrow.ints(batch.column(name)))
    return found


def _scatter(items: npt.NDArray[np.uint64], starts: arrow.Int64s, rows: Any) -> None:
    for place in range(rows.shape[1]):
        items[starts + place] = rows[:, place]
