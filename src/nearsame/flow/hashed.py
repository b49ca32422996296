"""What signatures would find of the pairs of an exact join: measured on a sample, before anything is compared."""

import numpy as np
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Rows
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.recipes.methods import MinHash
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.pairs.join import AllPairs, JoinedPairs
from nearsame.stages.sketches.minhash import Signatures

__all__ = ["found_by"]

_MOST = 2000  # pairs


def found_by(state: State[Arrays], recipe: MinHash) -> tuple[int, int]:
    """(of how many similar pairs both documents share a band, how many were looked at), of some of the documents."""
    if state.meeting is None:
        return 0, 0
    engine = state.corpus.engine
    pieces, _ = engine.sample(state.meeting, AllPairs(state.step.bound(state.method.least)))
    pairs = JoinedPairs.joined(pieces)
    chosen = np.linspace(0, pairs.a.size - 1, min(pairs.a.size, _MOST)).astype(np.int64)
    a, b = pairs.a[chosen], pairs.b[chosen]
    rows = np.unique(np.concatenate([a, b]))
    keys = _keys(*engine.take(state.leaders, rows), recipe)
    ends = (np.searchsorted(rows, side).tolist() for side in (a, b))
    return sum(not keys[one].isdisjoint(keys[other]) for one, other in zip(*ends, strict=True)), chosen.size


def _keys(items: arrow.UInt64s, offsets: Rows, recipe: MinHash) -> list[set[int]]:
    """The keys of each set; none of them is empty."""
    signatures = Signatures(recipe).signatures(items, offsets[:-1], offsets[1:])
    ends = recipe.num_perm * np.arange(len(signatures) + 1)
    columns = [pa.array(np.arange(len(signatures))), arrow.items(signatures.ravel(), ends)]
    batch = BandKeys(recipe)(pa.RecordBatch.from_arrays(columns, schema=schemas.SKETCHES))
    keys: list[set[int]] = [set() for _ in signatures]
    for row, key in zip(batch.column("row").to_pylist(), batch.column("key").to_pylist(), strict=True):
        keys[row].add(key)
    return keys
