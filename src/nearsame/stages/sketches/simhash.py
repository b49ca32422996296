"""WEIGHTED to FEATURES: each document's SimHash code, in place of its features from here on.

1. The items of a document are the words of its code, and behind them what a pair is confirmed by, if it is. So
   equal codes collapse, and documents meet and are compared, like any others.
2. A document without tokens has no code. Its items are the digest of its text, at a length that no code has: it equals
   its exact copies. An empty text has none.
3. Weights are integers: frequencies, or frequencies times the table's inverse document frequencies.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import simhash as kernel
from nearsame.kernels.sets import digest_sets
from nearsame.recipes.choices import Compared
from nearsame.recipes.methods import SimHash

__all__ = ["Frequencies", "SimHashCodes"]

_BARE_ITEMS = 4  # more than the words of a code


class Frequencies(Protocol):
    """What knows how rare features are."""

    def weigh(self, items: arrow.Lists, times: arrow.Lists) -> npt.NDArray[np.uint64]:
        """The weight of each feature, in the order of `times`."""


@dataclass(frozen=True)
class SimHashCodes:
    """The stage that sketches weighted features.

    Attributes:
        recipe: the method.
        frequencies: in how many documents each feature stands, for TF-IDF.
    """

    recipe: SimHash
    frequencies: Frequencies | None = None

    output = schemas.FEATURES

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """FEATURES of a batch of WEIGHTED."""
        tokens = arrow.ints(batch.column("num_tokens"))
        bare = (tokens == 0) & (arrow.ints(batch.column("text_bytes")) > 0)
        weights = self.weights(batch)
        codes = _rows(self._codes(batch, weights), tokens > 0)
        pieces = [codes, _rows(_digests(batch), bare), *self._confirming(batch, weights)]
        offsets = np.zeros(len(batch) + 1, np.int64)
        for piece in pieces:
            offsets[1:] += np.cumsum(piece.sizes)
        items, at = np.empty(int(offsets[-1]), np.uint64), offsets[:-1].copy()
        for piece in pieces:
            kernel.append_lists(*piece, at, items)
        sets = np.empty((2, len(batch)), np.int64)
        digest_sets(items, offsets, sets)
        about = [batch.column(name) for name in ("row", "text_bytes", "digest_a", "digest_b", "num_tokens")]
        columns = [*about, *map(arrow.numbers, sets), arrow.items(items, offsets)]
        return pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)

    def weights(self, batch: pa.RecordBatch) -> arrow.Lists | None:
        """The weight of each feature; None: each weighs 1."""
        if self.recipe.weights == "one":
            return None
        times = arrow.lists(batch.column("times"))
        weights = times.items.copy()
        if self.frequencies is not None:
            weights = self.frequencies.weigh(arrow.lists(batch.column("items")), times)
        kernel.fit_weights(weights, times.starts, times.ends, np.empty(len(batch), np.uint64))
        return arrow.Lists(arrow.frozen(weights), times.starts, times.ends)

    def _codes(self, batch: pa.RecordBatch, weights: arrow.Lists | None) -> npt.NDArray[np.uint64]:
        recipe, hashes = self.recipe, arrow.lists(batch.column("hashes"))
        hashes = hashes if hashes.items.size else arrow.lists(batch.column("items"))
        out = np.empty((len(batch), -(-recipe.bits // 64)), np.uint64)
        zero_is_one = recipe.zero_bit == 1
        if weights is None:
            kernel.majority(*hashes, zero_is_one, _mask(recipe.bits), out)
        else:
            kernel.weighted_majority(*hashes, weights.items, weights.starts, zero_is_one, _mask(recipe.bits), out)
        return out

    def _confirming(self, batch: pa.RecordBatch, weights: arrow.Lists | None) -> list[arrow.Lists]:
        """What follows the code, and confirms a pair: as kernels/scores.py reads it."""
        compared = self.recipe.compares
        return [] if compared is None else _FOLLOWING[compared](batch, weights)


def _rows(table: npt.NDArray[np.uint64], chosen: npt.NDArray[np.bool_]) -> arrow.Lists:
    """The chosen rows of uint64[n, w] as lists; the others are empty."""
    starts = np.arange(len(table)) * table.shape[1]
    ends = starts + chosen * table.shape[1]
    return arrow.Lists(arrow.frozen(table.ravel()), arrow.frozen(starts), arrow.frozen(ends))


def _mask(bits: int) -> arrow.UInt64s:
    """The bits of a code, word by word."""
    value = (1 << bits) - 1
    return arrow.frozen(np.array([value >> at & (1 << 64) - 1 for at in range(0, bits, 64)], np.uint64))


def _digests(batch: pa.RecordBatch) -> npt.NDArray[np.uint64]:
    digests = np.zeros((len(batch), _BARE_ITEMS), np.uint64)
    for place, name in enumerate(("digest_a", "digest_b")):
        digests[:, place] = arrow.unsigned(arrow.ints(batch.column(name)))
    return digests


def _features(batch: pa.RecordBatch, _: arrow.Lists | None) -> list[arrow.Lists]:
    return [arrow.lists(batch.column("items"))]


def _letters(batch: pa.RecordBatch, _: arrow.Lists | None) -> list[arrow.Lists]:
    items, letters = arrow.lists(batch.column("items")), arrow.lists(batch.column("letters"))
    ends = np.where(items.sizes > 0, letters.ends, letters.starts)  # a text without tokens has no code to confirm
    return [arrow.Lists(letters.items, letters.starts, arrow.frozen(ends))]


def _weighted(batch: pa.RecordBatch, weights: arrow.Lists | None) -> list[arrow.Lists]:
    """A norm, the features, the weight of each."""
    items = arrow.lists(batch.column("items"))
    weights = weights or arrow.Lists(arrow.frozen(np.ones(items.items.size, np.uint64)), *items[1:])
    norms = np.empty((len(batch), 1), np.uint64)
    kernel.fit_weights(weights.items.copy(), *weights[1:], norms[:, 0])
    return [_rows(norms, items.sizes > 0), items, weights]


_FOLLOWING: dict[Compared, Callable[[pa.RecordBatch, arrow.Lists | None], list[arrow.Lists]]] = {
    "features": _features,
    "weights": _weighted,
    "letters": _letters,
}
