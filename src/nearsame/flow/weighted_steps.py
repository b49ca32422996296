"""What weighs features: the stages of the join by weighted cosine, and the weights of all methods that have some."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nearsame import schemas
from nearsame.engines.base import Engine, Stage
from nearsame.flow.steps import Steps, count_items
from nearsame.recipes.methods import Cosine, SimHash
from nearsame.stages.features.frequencies import CountDocuments, FrequencyTable
from nearsame.stages.features.weighted_sets import WeightedSets
from nearsame.stages.keys.weighted import WeightedKeys
from nearsame.stages.pairs import measures

__all__ = ["steps_of_weights", "weigh"]


def steps_of_weights(
    method: Cosine, sets: tuple[Stage, ...], second: tuple[int, Any] | None, *, ready_items: bool
) -> Steps:
    """The stages of the join; `sets` make sets, and count how often each item occurs."""
    return Steps(
        sets,
        measures.WEIGHTED,
        weigh=partial(weigh, method, {**method.features, "ready_items": ready_items}, WeightedSets),
        counts=partial(count_items, schema=schemas.LETTERED),
        keys=lambda counts: WeightedKeys(method.threshold, counts),
        second=second,
    )


def weigh(
    recipe: SimHash | Cosine,
    record: dict[str, Any],
    stage: Callable[[FrequencyTable | None], Stage],
    features: Any,
    engine: Engine,
) -> tuple[Any, FrequencyTable | None]:
    """Features by their weights: (what the stage makes of them, the table of document frequencies, if there is one)."""
    table = None
    if recipe.frequencies is not None:
        from nearsame.sources.frequencies import read_frequencies  # noqa: PLC0415  (few have such a table)

        table = FrequencyTable.of(read_frequencies(recipe.frequencies), recipe.frequencies, record)
    elif recipe.needs_frequencies:
        features = engine.keep(features)
        table = CountDocuments.close(engine.fold(features, CountDocuments()), record)
    return engine.map(features, stage(table)), table
