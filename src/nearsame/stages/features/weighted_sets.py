"""LETTERED by how often items occur to LETTERED by what they weigh: weighted sets, for the exact join by cosine.

1. `items` stay what they are: sets, which are counted, offered and dropped from as any others. Beside them stand first
   how often each occurs, and from here on the sum of the weights' squares and the weights.
2. A weight is how often an item occurs, or that times its inverse document frequency: an integer (frequencies.py).
   Where the squares sum up to 2**62 or more, all weights of the document are halved, rounding up, until they do not.
3. Sets of other weights are not the same document: what tells them apart is a digest of both.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.dataclass import dataclass
from nearsame.kernels import simhash, weighted
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.features.identity import digest_numbers, told_apart

__all__ = ["WeightedSets", "following", "joined_lists"]


@dataclass(frozen=True)
class WeightedSets:
    """The stage that weighs; by frequencies in the text alone where there is no table of those in documents."""

    frequencies: FrequencyTable | None = None

    output = schemas.LETTERED

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """LETTERED, with weights in place of numbers of times; the letters stay behind them."""
        items, beside = arrow.lists(batch.column("items")), arrow.lists(batch.column("confirming"))
        letters = beside._replace(starts=arrow.frozen(beside.starts + items.sizes))
        items, times = _alone(items), _alone(beside._replace(ends=letters.starts))
        weights = times.items.copy() if self.frequencies is None else self.frequencies.weigh(items, times)
        squares = np.empty(len(batch), np.uint64)
        simhash.fit_weights(weights, times.starts, times.ends, squares)
        places = np.arange(len(batch) + 1)
        norms = arrow.Lists(arrow.frozen(squares), arrow.frozen(places[:-1]), arrow.frozen(places[1:]))
        column = joined_lists(norms, times._replace(items=arrow.frozen(weights)), letters)
        at = batch.schema.get_field_index("confirming")
        return told_apart(batch.set_column(at, batch.schema.field(at), column), digest_numbers)


def joined_lists(*pieces: arrow.Lists) -> pa.Array:
    """Lists of several columns, those of a row one behind the other."""
    offsets = np.zeros(pieces[0].starts.size + 1, np.int64)
    for piece in pieces:
        offsets[1:] += np.cumsum(piece.sizes)
    values, at = np.empty(int(offsets[-1]), np.uint64), offsets[:-1].copy()
    for piece in pieces:
        simhash.append_lists(*piece, at, values)
    return arrow.items(values, offsets)


def _alone(lists: arrow.Lists) -> arrow.Lists:
    """The same lists one behind the other, and nothing else."""
    return arrow.lists(joined_lists(lists))


def following(batch: pa.RecordBatch, kept: pa.Array) -> Sequence[pa.Array]:
    """What stands beside the items that were kept: nothing, or how often each occurs."""
    if "confirming" not in batch.schema.names:
        return []
    items, times, left = (arrow.lists(column) for column in (batch.column("items"), batch.column("confirming"), kept))
    out: npt.NDArray[np.uint64] = np.empty(left.items.size, np.uint64)
    weighted.follow(*items, times.items, times.starts, *left, out)
    return [arrow.items(out, arrow.list_offsets(kept))]
