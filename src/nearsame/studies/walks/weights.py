"""What the features of one or two texts weigh: as in a run, where a corpus has said how rare they are."""

import pyarrow as pa

from nearsame import arrow
from nearsame.flow.sketching import frequencies_of
from nearsame.recipes.methods import Cosine
from nearsame.stages.features.weighted_sets import WeightedSets

__all__ = ["vectors", "weighed"]


def weighed(counted: pa.RecordBatch, recipe: Cosine) -> pa.RecordBatch:
    """Documents as weighted sets, of those that say how often each item occurs."""
    return WeightedSets(frequencies_of(recipe))(counted)


def vectors(batch: pa.RecordBatch) -> list[dict[int, int]]:
    """What each item of each document weighs."""
    items, beside = arrow.lists(batch.column("items")), arrow.lists(batch.column("confirming"))
    weights = beside._replace(starts=arrow.frozen(beside.starts + 1))
    sizes = items.sizes.tolist()
    return [
        dict(zip(items.items[a : a + n].tolist(), weights.items[b : b + n].tolist(), strict=True))
        for a, b, n in zip(items.starts.tolist(), weights.starts.tolist(), sizes, strict=True)
    ]
