"""The cosine of weighted sets walked through: weights by rarity, what is left behind each, the keys, the product.

The two documents stand for the whole corpus, in which a run counts how many documents have each shingle.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.answers.comparisons import Explanation, Step
from nearsame.engines.local import Flow, Local
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Cosine
from nearsame.shares import cut, exactly
from nearsame.stages.keys.prefix import ItemCounts
from nearsame.stages.pairs import likeness
from nearsame.studies.walks.shingled import NamedSets, named_sets
from nearsame.studies.walks.sides import Given, beside, explained, hexed, verified
from nearsame.studies.walks.weights import vectors, weighed

__all__ = ["walk_weights"]

_WEIGHTS = {"tf": "how often it occurs", "tfidf": "how often it occurs, times how rare it is in the corpus"}
_Weights = dict[int, int]


def walk_weights(given: Sequence[Given], recipe: Cosine) -> Explanation:
    """By the products of weights, over the root of both sums of squares."""
    sets, flow = named_sets(given, recipe), steps(recipe)
    batch = weighed(sets.batch, recipe)
    weights, engine = vectors(batch), Local(threads=1)
    try:
        _, counts = flow.counted(Flow((batch,)), sum(map(len, weights)), engine)
    finally:
        engine.close()
    if not isinstance(counts, ItemCounts) or flow.keys is None:
        raise TypeError(counts)
    keys = flow.keys(counts)(batch)
    prefixes = [_prefix(recipe, sets, counts, row, side) for row, side in enumerate(weights)]
    keyed = [_keyed(keys, row) for row in range(len(given))]
    answers = [
        {"shingles": len(side), "squares": _squares(side), "keys": [hexed(item) for item in items]}
        for side, items in zip(weights, keyed, strict=True)
    ]
    walked = [
        sets.step,
        beside(prefixes, ["place"]),
        beside([_keys(sets, items) for items in keyed], ["#", "shingle", "key"]),
    ]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    shared = len({*keyed[0]} & {*keyed[1]})
    similar = verified(batch, flow.bound(recipe.threshold))
    last, squared = _verdict(recipe, weights, shared, similar=similar)
    together = {
        "shared_keys": shared, "cosine": math.sqrt(squared), "exact_square": str(squared), "similar": similar,
    }  # fmt: skip
    return explained(recipe, [*walked, last], answers, together)


def _squares(weights: _Weights) -> int:
    return sum(weight**2 for weight in weights.values())


def _prefix(recipe: Cosine, sets: NamedSets, counts: ItemCounts, row: int, weights: _Weights) -> Step:
    """The shingles of a document in the order of the run's table of counts, and what is left from each on."""
    lists = arrow.lists(sets.batch.slice(row, 1).column("items"))
    counted = np.zeros(int(lists.sizes.sum()), np.uint8)
    counts.fill(lists, counted, np.zeros(1, np.int64))
    rows, whole, rest = [], _squares(weights), _squares(weights)
    order = sorted(zip(counted.tolist(), lists.items[lists.starts[0] : lists.ends[0]].tolist(), strict=True))
    for place, (count, item) in enumerate(order, 1):
        share = Fraction(rest, whole)
        is_in = "yes" if share >= recipe.threshold**2 else ""
        rows.append((place, sets.numbers.get(item, 0), count, weights[item], f"{float(share):.4f}", is_in))
        rest -= weights[item] ** 2
    note = (
        f"A shingle weighs {_WEIGHTS[recipe.weights]}. Shingles in few documents come first, then by hash. `left` is"
        f" the share of the sum of squares from a shingle on: while it is {float(recipe.threshold) ** 2:g} or more (the"
        " square of the threshold), the first shingle that whatever is similar enough has as well may stand there."
    )
    columns = ("place", "#", "counted", "weight", "left", "in prefix")
    return Step("The order of rarity, and the prefix", columns, tuple(rows), note)


def _keyed(keys: pa.RecordBatch, row: int) -> list[int]:
    """The keys that the stage offers for a document."""
    own = arrow.ints(keys.column("row")) == row
    hashes: list[int] = arrow.unsigned(arrow.ints(keys.column("key")))[own].tolist()
    return hashes


def _keys(sets: NamedSets, items: list[int]) -> Step:
    texts = sets.texts
    rows = tuple((sets.numbers.get(item, 0), texts.get(item, ""), hexed(item)) for item in items)
    note = "A shingle that no other document has is no key: it can bring nobody together."
    return Step("Keys bring documents together", ("#", "shingle", "key"), rows, note)


def _verdict(recipe: Cosine, weights: list[_Weights], shared: int, *, similar: bool) -> tuple[Step, Fraction]:
    """What becomes of two documents, and the square of their cosine."""
    a, b = weights
    squared = likeness.cosine_squared(a, b) if a and b else Fraction(0)
    product = sum(weight * b.get(item, 0) for item, weight in a.items())
    how = "documents that share a key are compared" if shared else "documents without a shared key are never compared"
    if a == b and a:
        how = "the weighted sets are equal: one stands for both before keys are made"
    rows = (
        ("shared keys", str(shared), how),
        ("product", f"{product:,}", "of the weights of each shingle that both have, summed up"),
        ("squares", f"{_squares(a):,} and {_squares(b):,}", "of the weights of a and of b, summed up"),
        ("cosine", cut(math.sqrt(squared)), "product / root of both squares multiplied"),
        ("near-duplicates", "yes" if similar else "no", f"at least {exactly(recipe.threshold)} is asked for"),
    )
    return Step("What meets is verified", ("what", "value", "how"), rows), squared
