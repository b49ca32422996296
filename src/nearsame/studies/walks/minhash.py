"""MinHash walked through: shingles, the least value of each permutation, bands, and of two texts where they agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.answers.comparisons import Explanation, Step
from nearsame.errors import ConfigError
from nearsame.flow.steps import steps
from nearsame.kernels.minhash import band_keys
from nearsame.recipes.methods import MinHash
from nearsame.shares import exactly
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.pairs import likeness
from nearsame.stages.sketches.minhash import Signatures
from nearsame.studies.walks.shingled import NamedSets, Shingle, named_sets
from nearsame.studies.walks.sides import Given, beside, explained, hexed, shown_fraction, verified

__all__ = ["chosen_bands", "walk", "walk_orders"]

_BATCH = 4096  # shingles sketched at a time
_MOST_PERMUTED, _MOST_PERMUTATIONS = 12, 4  # that are shown: four values of 16 digits fill a line
_VALUE_BITS = 48  # of a fast value, below its round


def walk(given: Sequence[Given], recipe: MinHash) -> Explanation:
    """Shingles, permutations, minima, signature, bands."""
    sets = named_sets(given, recipe)
    sketches = Signatures(recipe)(sets.batch)
    signatures = [row.values.to_numpy().view(np.uint64).tolist() for row in sketches.column("items")]
    minima = [
        _minima(recipe, side, signature, sets.numbers)
        for side, signature in zip(sets.shingles, signatures, strict=True)
    ]
    tables, bands = zip(*(_bands(recipe, sketches.slice(row, 1)) for row in range(len(given))), strict=True)
    answers = [
        {"signature": list(map(hexed, signature)), "bands": keys}
        for signature, keys in zip(signatures, bands, strict=True)
    ]
    classic = recipe.sketch == "classic"
    by = ["i"] if classic else ["place"]
    permuted = _permuted(Signatures(recipe), sets, len(given)) if classic else []
    least = beside(minima, by, without=("a", "b"))
    walked = [sets.step, *permuted, least, beside(tables, ["band", "of values"])]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    last, together = _together(recipe, sets, sketches, bands)
    return explained(recipe, [*walked, last], answers, together)


def walk_orders(given: Sequence[Given], recipe: MinHash, orders: Sequence[Sequence[str]]) -> Explanation:
    """The same with orders of words (of shingles, as the first step shows them) in place of permutations."""
    sets = named_sets(given, recipe)
    tables = [_ordered(orders, shingles) for shingles in sets.shingles]
    minima = [[str(row[2]) for row in table.rows] for table in tables]
    walked = [sets.step, beside(tables, ["order", "from the least on"])]
    answers: list[dict[str, Any]] = [{"minima": values} for values in minima]
    if recipe.bands is not None:
        of_orders = type(recipe)(**{**recipe.settings, "num_perm": len(orders)})
        step, keys = chosen_bands(minima, BandKeys(of_orders).chosen)
        walked.append(step)
        answers = [{**answer, "bands": each} for answer, each in zip(answers, keys, strict=True)]
    if len(given) == 1:
        return explained(recipe, walked, answers)
    estimate, jaccard = likeness.agreement(*_numbered(minima)), likeness.jaccard(*sets.items)
    rows = (
        ("equal minima", shown_fraction(estimate), "an estimate of the Jaccard similarity"),
        ("Jaccard", shown_fraction(jaccard), "shared shingles / all"),
    )
    together = {"estimate": float(estimate), "jaccard": float(jaccard)}
    return explained(recipe, [*walked, Step("Estimate and true value", _VERDICT, rows)], answers, together)


def chosen_bands(minima: Sequence[Sequence[str]], chosen: npt.NDArray[np.int64]) -> tuple[Step, list[list[str]]]:
    """Bands of these values (counted from 0) of signatures of words: who shares a bucket, by the kernel of a run."""
    signatures = np.array(_numbered(minima), np.uint64)
    total = len(minima) * len(chosen)
    keys, rows = np.zeros(total, np.uint64), np.zeros(total, np.int64)
    band_keys(signatures, np.arange(len(minima)), arrow.frozen(chosen), keys, rows)
    of_row = [keys[rows == row].tolist() for row in range(len(minima))]
    texts = [["-".join(side[at] for at in band) for band in chosen.tolist()] for side in minima]
    table = []
    for band, values in enumerate((chosen + 1).tolist()):
        buckets = {of[band] for of in of_row}
        meet = () if len(minima) == 1 else ("yes" if len(buckets) == 1 else "no",)
        table.append((band + 1, ", ".join(map(str, values)), *(side[band] for side in texts), *meet))
    sides = ("bucket",) if len(minima) == 1 else ("a", "b", "same bucket")
    note = "A band brings two documents together where all its values agree."
    return Step("Bands of the minima are buckets", ("band", "of values", *sides), tuple(table), note), texts


_VERDICT = ("what", "value", "how")


def _numbered(minima: Sequence[Sequence[str]]) -> list[list[int]]:
    numbers = {word: i for i, word in enumerate(dict.fromkeys(word for side in minima for word in side))}
    return [[numbers[word] for word in side] for side in minima]


def _ordered(orders: Sequence[Sequence[str]], shingles: list[Shingle]) -> Step:
    """The least shingle under given orders."""
    if not isinstance(orders, list | tuple) or not orders or not all(_is_order(order) for order in orders):
        message = f"orders must be a list of lists of strings, got {str(orders)[:60]}"
        raise ConfigError(message, hint="Write one list for each order.")
    rows = []
    for number, order in enumerate(orders, 1):
        missing = [shingle.text for shingle in shingles if shingle.text not in order]
        if missing:
            message = f"order {number} of {len(order)} items lacks {missing[0]!r}"
            raise ConfigError(message, hint="Write each shingle as the first step shows it.")
        rows.append((number, " < ".join(order), min((s.text for s in shingles), key=order.index, default="")))
    note = "The least shingle of the text under each order is a value of its signature."
    return Step("Each order has its least", ("order", "from the least on", "value"), tuple(rows), note)


def _is_order(order: Any) -> bool:
    return isinstance(order, list | tuple) and all(isinstance(item, str) for item in order)


def _minima(recipe: MinHash, shingles: list[Shingle], signature: list[int], numbers: dict[int, int]) -> Step:
    """Which shingle has the least value of each permutation, and what it is."""
    stage = Signatures(recipe)
    winners = [numbers[item] for item in _winners(stage, shingles, signature)]
    if recipe.sketch == "classic":
        note = "h(x) = (a x + b) mod (2^61 - 1), where x is a hash without its low 3 bits; the least value stays."
        random = zip(*map(list, stage.seeds), signature, winners, strict=False)  # of an empty text: no value
        rows = tuple((i, hexed(a), hexed(b), hexed(value), winner) for i, (a, b, value, winner) in enumerate(random, 1))
        return Step("Each permutation keeps its least", ("i", "a", "b", "least value", "of #"), rows, note)
    note = (
        "In each round a hash sends every shingle to a place, with a value of 48 bits. The least of a place stays, an"
        " earlier round before a later one, and it ends when no place is empty."
    )
    fast = tuple(
        (i, (value >> _VALUE_BITS) + 1, f"{value & (1 << _VALUE_BITS) - 1:012x}", winner)
        for i, (value, winner) in enumerate(zip(signature, winners, strict=True), 1)
    )
    return Step("Each place keeps its least", ("place", "round", "value", "of #"), fast, note)


def _permuted(stage: Signatures, sets: NamedSets, num_texts: int) -> list[Step]:
    """What the first permutations make of the first shingles; of two texts, whose minima fill a row, a and b before."""
    items = sorted(sets.numbers, key=sets.numbers.__getitem__)
    few = items[:_MOST_PERMUTED]
    drawn = tuple((i, hexed(a), hexed(b)) for i, (a, b) in enumerate(zip(*map(list, stage.seeds), strict=True), 1))
    formula = "h(x) = (a x + b) mod (2^61 - 1)."
    seeds = [Step("Each permutation is two random numbers", ("i", "a", "b"), drawn, formula)][: num_texts - 1]
    if not few:
        return seeds
    values = _sketched(stage, np.array(few, np.uint64), np.arange(len(few) + 1))[:, :_MOST_PERMUTATIONS]
    rows: list[tuple[str | int, ...]] = [
        (sets.numbers[item], *map(hexed, row)) for item, row in zip(few, values.tolist(), strict=True)
    ]
    left = f" The first {len(few)} of {len(items):,} shingles are shown." if len(few) < len(items) else ""
    note = f"h(x) of each shingle under the first {values.shape[1]} of {stage.recipe.num_perm:,} permutations.{left}"
    columns = ("#", *(f"h{i}" for i in range(1, values.shape[1] + 1)))
    table = Step("Each permutation gives each shingle a value", columns, tuple(rows), note)
    return [*seeds, table]


def _winners(stage: Signatures, shingles: list[Shingle], signature: list[int]) -> list[int]:
    """For each value its first shingle's hash: a signature of a set is the least of those of its items."""
    winners = [-1] * len(signature)
    for low in range(0, len(shingles), _BATCH):
        items = [shingle.item for shingle in shingles[low : low + _BATCH]]
        alone = _sketched(stage, np.array(items, np.uint64), np.arange(len(items) + 1))
        for at, row in zip(*np.nonzero((alone == np.array(signature, np.uint64)).T), strict=True):
            winners[at] = items[int(row)] if winners[at] < 0 else winners[at]
    return winners


def _sketched(stage: Signatures, items: arrow.UInt64s, offsets: arrow.Int64s) -> npt.NDArray[np.uint64]:
    """The signatures of sets, one a row."""
    numbers = pa.array(np.zeros(offsets.size - 1, np.int64))
    columns = [arrow.items(items, offsets) if field.name == "items" else numbers for field in schemas.FEATURES]
    sketches = arrow.lists(stage(pa.RecordBatch.from_arrays(columns, schema=schemas.FEATURES)).column("items"))
    return sketches.items.reshape(offsets.size - 1 if items.size else 0, -1)


def _bands(recipe: MinHash, sketches: pa.RecordBatch) -> tuple[Step, list[dict[str, Any]]]:
    """The bands and their keys."""
    stage = BandKeys(recipe)
    bands, rows = stage.shape
    keys = arrow.unsigned(arrow.ints(stage(sketches).column("key"))).tolist()
    chance = float(stage.chances(float(recipe.threshold)))
    note = (
        f"{bands} bands of {rows} values: documents that share a key are compared. At a Jaccard similarity of "
        f"{exactly(recipe.threshold)} that happens with a chance of {chance:.4f}."
    )
    places = (stage.chosen[: len(keys)] + 1).tolist()
    keyed = [{"values": of, "key": hexed(key)} for of, key in zip(places, keys, strict=True)]
    table = tuple((i, ", ".join(map(str, band["values"])), band["key"]) for i, band in enumerate(keyed, 1))
    return Step("Bands of the signature become keys", ("band", "of values", "key"), table, note), keyed


def _together(
    recipe: MinHash, sets: NamedSets, sketches: pa.RecordBatch, bands: Sequence[list[dict[str, Any]]]
) -> tuple[Step, dict[str, Any]]:
    """Where the two agree, what that estimates, and what is true."""
    flow = steps(recipe)
    jaccard = likeness.jaccard(*sets.items)
    rows: list[tuple[str, str, str]] = []
    together: dict[str, Any] = {"jaccard": float(jaccard)}
    signatures = [row.values.to_pylist() for row in sketches.column("items")]
    meeting = [i for i, (a, b) in enumerate(zip(*bands, strict=False), 1) if a["key"] == b["key"]]
    if all(signatures):
        estimate = likeness.agreement(*signatures)
        error = likeness.agreement_error(jaccard, recipe.num_perm)
        stage = BandKeys(recipe)
        chance = float(stage.chances(float(jaccard)))
        rows += [
            ("equal values", shown_fraction(estimate), f"an estimate of Jaccard, with a standard error of {error:.3f}"),
            ("shared keys", f"{len(meeting)} of {len(bands[0])}", f"at this Jaccard one at least: chance {chance:.4f}"),
        ]
        together.update(estimate=float(estimate), error=error, chance=chance)
    similar = verified(sketches if flow.by_sketch else sets.batch, flow.bound(recipe.threshold))
    least = exactly(recipe.threshold)
    rows += [
        ("Jaccard", shown_fraction(jaccard), "the true value: shared shingles / all"),
        ("near-duplicates", "yes" if similar and meeting else "no", _why(least, similar=similar, meet=bool(meeting))),
    ]
    together.update(shared_bands=meeting, similar=similar and bool(meeting))
    return Step("Estimate and true value", _VERDICT, tuple(rows)), together


def _why(least: str, *, similar: bool, meet: bool) -> str:
    if not meet:
        return "they share no key, so they are never compared" + (f", though they reach {least}" if similar else "")
    return f"they are compared, and {'reach' if similar else 'do not reach'} {least}"
