"""Jaccard, cosine and containment walked through: shingles by rarity, the prefix, its keys, and the verification.

The two documents stand for the whole corpus, in which a run counts how many documents have each shingle.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import arrow
from nearsame.answers.comparisons import Explanation, Step
from nearsame.engines.local import Flow, Local
from nearsame.flow.steps import steps
from nearsame.recipes.methods import Containment, Cosine, Jaccard
from nearsame.shares import cut, exactly
from nearsame.stages.keys.prefix import ItemCounts
from nearsame.stages.pairs import likeness, measures
from nearsame.studies.walks.shingled import NamedSets, named_sets
from nearsame.studies.walks.sides import Given, beside, explained, hexed, shown_fraction, verified
from nearsame.studies.walks.weighted_sets import walk_weights

__all__ = ["walk_containment", "walk_cosine", "walk_jaccard"]

_FIRST = "Of n, the first n - ceil({share} n) + 1 are the prefix: whatever"
_SIMILAR = f"{_FIRST} is similar enough has one of them in its prefix, too."
_PREFIXES: dict[type, str] = {
    Jaccard: _SIMILAR,
    Cosine: f"{_SIMILAR} The share is the square of the cosine that is asked for.",
    Containment: f"{_FIRST} contains {{share}} of the n has one of these, late in its own order, maybe.",
}
_OFFERED: dict[type, str] = {
    Containment: " All others are keys, so that what contains a document has them at hand; a pair begins with a key in"
    " the prefix of the contained one."
}
_Values = Callable[[frozenset[int], frozenset[int]], tuple[tuple[tuple[str, str, str], ...], dict[str, Any]]]


def walk_jaccard(given: Sequence[Given], recipe: Jaccard) -> Explanation:
    """By |A∩B| / |A∪B|."""
    return _walk(given, recipe, _by_jaccard)


def walk_cosine(given: Sequence[Given], recipe: Cosine) -> Explanation:
    """By |A∩B| / √(|A|·|B|), or by the weights of what is in both."""
    return walk_weights(given, recipe) if recipe.weighs_items else _walk(given, recipe, _by_cosine)


def walk_containment(given: Sequence[Given], recipe: Containment) -> Explanation:
    """By |A∩B| / |A|, and the other way round."""
    return _walk(given, recipe, _by_containment)


def _walk(given: Sequence[Given], recipe: Jaccard | Cosine | Containment, values: _Values) -> Explanation:
    sets, flow = named_sets(given, recipe), steps(recipe)
    engine = Local(threads=1)
    try:
        _, counts = flow.counted(Flow((sets.batch,)), sum(map(len, sets.items)), engine)
    finally:
        engine.close()
    if not isinstance(counts, ItemCounts) or flow.keys is None:
        raise TypeError(counts)
    keys = flow.keys(counts)(sets.batch)
    shares = measures.shares(flow.bound(recipe.threshold))
    lengths = [_prefix(len(items), shares.p, shares.q) for items in sets.items]
    rule = _PREFIXES[type(recipe)].format(share=f"{shares.p}/{shares.q}")
    rarity = [_rarity(sets, counts, row, length, rule) for row, length in enumerate(lengths)]
    keyed = [_keys(sets, keys, row, _OFFERED.get(type(recipe), "")) for row in range(len(given))]
    hashes = [[str(row[2]) for row in side.rows] for side in keyed]
    answers = [
        {"shingles": len(items), "prefix": length, "keys": keys_of}
        for items, length, keys_of in zip(sets.items, lengths, hashes, strict=True)
    ]
    walked = [sets.step, beside(rarity, ["place"]), beside(keyed, ["#", "shingle", "key"])]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    shared = {*hashes[0]} & {*hashes[1]}
    begins = [
        hexed(key) for key in arrow.unsigned(arrow.ints(keys.column("key")))[arrow.ints(keys.column("probes")) > 0]
    ]
    equal = sets.items[0] == sets.items[1] != frozenset()
    both_ways = [[0, 1], [1, 0]]
    similar = any(verified(sets.batch.take(pa.array(way)), flow.bound(recipe.threshold)) for way in both_ways)
    rows, together = values(*sets.items)
    how = "the sets are equal: one stands for both before keys are made" if equal else _compared(shared, begins)
    verdict = (
        ("shared keys", str(len(shared)), how),
        *rows,
        ("near-duplicates", "yes" if similar else "no", f"at least {exactly(recipe.threshold)} is asked for"),
    )
    last = Step("What meets is verified", ("what", "value", "how"), verdict)
    return explained(recipe, [*walked, last], answers, {"shared_keys": len(shared), **together, "similar": similar})


def _prefix(size: int, p: int, q: int) -> int:
    """How many items of a set of this size are its prefix (`PrefixKeys`)."""
    return size - (p * size + q - 1) // q + 1 if size else 0


def _rarity(sets: NamedSets, counts: ItemCounts, row: int, length: int, rule: str) -> Step:
    """The shingles of a document in the order of the run's table of counts."""
    lists = arrow.lists(sets.batch.slice(row, 1).column("items"))
    counted = np.zeros(int(lists.sizes.sum()), np.uint8)
    counts.fill(lists, counted, np.zeros(1, np.int64))
    items = lists.items[lists.starts[0] : lists.ends[0]].tolist()
    order = sorted(zip(counted.tolist(), items, strict=True))
    rows = tuple(
        (place, sets.numbers.get(item, 0), count, "yes" if place <= length else "")
        for place, (count, item) in enumerate(order, 1)
    )
    slots = " Here some share a slot of the table of counts, and count together." if max(counted, default=0) > 2 else ""
    note = f"Shingles in few documents come first, then by hash. {rule}{slots}"
    return Step("The order of rarity, and the prefix", ("place", "#", "counted", "in prefix"), rows, note)


def _keys(sets: NamedSets, keys: pa.RecordBatch, row: int, also: str) -> Step:
    """The keys that the stage offers for a document."""
    own = arrow.ints(keys.column("row")) == row
    hashes = arrow.unsigned(arrow.ints(keys.column("key")))[own].tolist()
    places = arrow.ints(keys.column("place"))[own].tolist()
    texts = sets.texts
    rows = tuple(
        (sets.numbers.get(item, 0), texts.get(item, ""), hexed(item), place + 1)
        for item, place in zip(hashes, places, strict=True)
    )
    note = f"A shingle that no other document has is no key: it can bring nobody together.{also}"
    return Step("Keys bring documents together", ("#", "shingle", "key", "place"), rows, note)


def _compared(shared: set[str], begins: list[str]) -> str:
    if not shared:
        return "documents without a shared key are never compared"
    if shared.isdisjoint(begins):
        return "they come too late in both documents for a pair to begin with: these are never compared"
    return "documents that share a key are compared"


def _sizes(a: frozenset[int], b: frozenset[int]) -> tuple[tuple[str, str, str], ...]:
    return (
        ("shared", str(len(a & b)), "shingles of both"),
        ("sizes", f"{len(a)} and {len(b)}", f"shingles of a and of b; together {len(a | b)} different ones"),
    )


def _by_jaccard(a: frozenset[int], b: frozenset[int]) -> tuple[tuple[tuple[str, str, str], ...], dict[str, Any]]:
    value = likeness.jaccard(a, b)
    row = ("Jaccard", shown_fraction(value), "shared / all different ones")
    return (*_sizes(a, b), row), {"jaccard": float(value), "exact": str(value)}


def _by_cosine(a: frozenset[int], b: frozenset[int]) -> tuple[tuple[tuple[str, str, str], ...], dict[str, Any]]:
    squared = likeness.cosine_of_sets_squared(a, b)
    row = ("cosine", cut(math.sqrt(squared)), "shared / root of (size of a * size of b)")
    return (*_sizes(a, b), row), {"cosine": math.sqrt(squared), "exact_square": str(squared)}


def _by_containment(a: frozenset[int], b: frozenset[int]) -> tuple[tuple[tuple[str, str, str], ...], dict[str, Any]]:
    inside: dict[str, Fraction] = {"a_in_b": likeness.containment(a, b), "b_in_a": likeness.containment(b, a)}
    rows = tuple(
        (name.replace("_", " "), shown_fraction(value), f"shared / size of {name[0]}") for name, value in inside.items()
    )
    return (*_sizes(a, b), *rows), {name: float(value) for name, value in inside.items()}
