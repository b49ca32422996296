"""What a choice of bands, or of k, will find and miss, before a run: plan and plan_simhash.

1. A plan is a computation from formulas (stages/keys/curves.py); a corpus adds what its own similarities make of them.
2. What reads and joins a corpus is `planned_corpus`, and loads when there is one: a plan without has no use for it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from nearsame.answers.findings import CurvePoint, Plan, PlanCurve, SearchCost, Shape, SimHashPlan
from nearsame.errors import ConfigError
from nearsame.flow.options import TextOptions
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import JudgedBy
from nearsame.recipes.methods import MinHash
from nearsame.recipes.settings import CutSettings, MinHashSettings, given_settings
from nearsame.shares import exactly
from nearsame.stages.keys import blocks, curves
from nearsame.stages.keys.bands import choose_bands, collision_probability, drawn_from, offers

__all__ = ["plan", "plan_simhash"]

Floats = npt.NDArray[np.float64]

_SIMILARITIES = (0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
_STEPS = np.arange(101) / 100
_MOST_BITS = 4096
_MOST_BESIDE = 5
_SAMPLE_SIZE = 10_000
_ASKED = "asked for"


class PlanOptions(TextOptions, MinHashSettings, total=False):
    """What `plan` takes: how a corpus is read, and the settings of MinHash."""


@checked
def plan(
    *,
    corpus: Any = None,
    sample_size: int | None = None,
    also: Sequence[tuple[int, int]] = (),
    **options: Unpack[PlanOptions],
) -> Plan:
    """Bands and rows for a threshold and a recall: which, why, and what they miss.

    Args:
        corpus: A source as `dedup` reads it: adds the candidates that its own similarities would give.
        sample_size: At most this many of its documents are looked at; default 10,000.
        also: Other (bands, rows) to hold against these, at most five.

    The settings are those of MinHash: `threshold` (0.8), `recall` (0.99), `num_perm` (128), `bands` and `rows` (chosen;
    of one that is given alone the other follows), `choice`; with a corpus also how its texts become shingles.

    Raises:
        ConfigError: The recall cannot be reached, or a setting is impossible.

    Example:
        >>> shape = plan(threshold=0.8, recall=0.99).shape
        >>> shape.bands, shape.rows
        (16, 6)
        >>> plan(rows=5).shape.bands
        12
    """
    of_texts = (*TextOptions.__annotations__, *CutSettings.__annotations__, "repeats")
    useless = next((name for name in of_texts if options.get(name) is not None), None)
    useless = useless or (None if sample_size is None else "sample_size")
    if corpus is None and useless is not None:
        raise ConfigError(f"{useless} does nothing without a corpus", hint="Name a source, or leave it out.")
    settings = given_settings(options, MinHashSettings)
    alone = ("bands" in settings) != ("rows" in settings)
    side = {name: settings.pop(name) for name in ("bands", "rows") if alone and name in settings}
    recipe = MinHash(**settings)
    recipe.require_alone("a plan")
    threshold = float(recipe.threshold)
    bands, rows, reason = _completed(recipe, **side) if side else _choice(recipe)
    pool = drawn_from(recipe)
    odd = next((pair for pair in also if len(pair) != 2), None)
    if odd is not None:
        raise ConfigError(f"{odd} in also is not (bands, rows)", hint="Write it as in (15, 5).")
    beside, taken = [_beside(recipe, *pair) for pair in _few(also)], {(bands, rows), *also}
    shape = _shape(threshold, bands, rows, "used", pool)
    made = Plan(
        threshold=threshold,
        recall=recipe.recall,
        num_perm=recipe.num_perm,
        shape=shape,
        reason=reason,
        others=(*beside, *(one for one in _others(recipe) if (one.bands, one.rows) not in taken)),
        curve=_points(_STEPS, collision_probability(_STEPS, bands, rows, pool)),
        misses=_misses(threshold, bands, rows, pool),
        also=tuple(
            PlanCurve(f"{b} x {r}", _points(_STEPS, collision_probability(_STEPS, b, r, pool))) for b, r in also
        ),
    )
    if corpus is None:
        return made
    from nearsame.studies import planned_corpus  # noqa: PLC0415  (the flow and its engine: most plans are of no corpus)

    sample = planned_corpus.read(corpus, options, _SAMPLE_SIZE if sample_size is None else sample_size)
    expected = planned_corpus.expected(recipe, shape, sample)
    notes = (*planned_corpus.unread_notes(sample), *planned_corpus.template_notes(recipe, sample))
    return replace(made, expected=expected, notes=notes, unread=len(sample.skipped))


@checked
def plan_simhash(  # noqa: PLR0913  (a keyword for each question)
    *,
    bits: int = 64,
    k: int = 3,
    threshold: float = 0.8,
    recall: float = 0.99,
    measure: JudgedBy = "jaccard",
    codes: int = 1_000_000,
    also: Sequence[int] = (),
) -> SimHashPlan:
    """What "within k bits" finds of pairs of a similarity, and what it takes to find all such codes.

    Args:
        bits: Of a code.
        k: The greatest distance.
        threshold: The similarity that is wanted.
        recall: Wanted at the threshold.
        measure: What similarities are: Jaccard of unweighted sets of about one size, or cosine of weighted features.
        codes: How many are searched.
        also: Other k to hold against this one, at most five.

    Raises:
        ConfigError: A k of all bits or more, or more than 4,096 bits.

    Example:
        >>> plan = plan_simhash(k=3, threshold=0.8)
        >>> round(plan.at_threshold, 3), plan.search.blocks, plan.search.tables
        (0.009, 4, 4)
    """
    for distance in (k, *_few(also)):
        _check(bits, distance, threshold, recall)
    if codes < 2:
        raise ConfigError(f"codes={codes} is below 2", hint="Say how many codes are searched.")

    def within(similarity: Any, distance: int = k) -> Floats:
        return curves.within_distance(similarity, distance, bits, measure)

    finer = np.arange(10_001) / 10_000
    ways = blocks.choices(blocks.CodeCounts(codes, bits), k)
    best = min(ways, key=lambda way: way.expected_seconds)
    distances = sorted({k, *also, *_others_than(k, bits)})
    return SimHashPlan(
        measure=measure,
        bits=bits,
        k=k,
        threshold=float(threshold),
        recall=recall,
        at_threshold=float(within(threshold)),
        half=float(finer[np.argmax(within(finer) >= 0.5)]),
        least_k=next(i for i in range(bits + 1) if within(threshold, i) >= recall),
        curve=_points(_STEPS, within(_STEPS)),
        by_k=tuple((other, tuple(within(_SIMILARITIES, other).tolist())) for other in distances),
        similarities=_SIMILARITIES,
        codes=codes,
        search=_cost(best),
        searches=tuple(_cost(way) for way in ways if way is not best),
        also=tuple(PlanCurve(f"k={other}", _points(_STEPS, within(_STEPS, other))) for other in also),
    )


def _cost(way: blocks.BlockPlan) -> SearchCost:
    return SearchCost(way.num_blocks, way.header_blocks, way.num_tables, way.expected_comparisons, way.expected_seconds)


def _few(also: Sequence[Any]) -> Sequence[Any]:
    """Settings to be shown beside one: as many as colours and columns go."""
    if len(also) > _MOST_BESIDE:
        message = f"{len(also)} other settings are more than {_MOST_BESIDE}"
        raise ConfigError(message, hint="Show some of them.")
    return also


def _others_than(k: int, bits: int) -> set[int]:
    """Distances to compare k with."""
    return {other for other in (3, 6, 10, k + 3, 2 * k) if other < bits}


def _check(bits: int, k: int, threshold: float, recall: float) -> None:
    if not 1 <= bits <= _MOST_BITS:
        raise ConfigError(f"bits={bits} is not from 1 to {_MOST_BITS:,}", hint="Give the length of a code.")
    if not 0 <= k < bits:
        raise ConfigError(f"k={k} is not at least 0 and below bits={bits}", hint="Choose a smaller distance.")
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold={threshold} is not above 0 and at most 1", hint="Give a similarity.")
    if not 0 < recall < 1:
        raise ConfigError(f"recall={recall} is not between 0 and 1", hint="Give a share, as in 0.99.")


def _choice(recipe: MinHash) -> tuple[int, int, str]:
    """The shape that a recipe chooses: (bands, rows, why)."""
    threshold = float(recipe.threshold)
    if recipe.bands is not None and recipe.rows is not None:
        chance = float(collision_probability(threshold, recipe.bands, recipe.rows, drawn_from(recipe)))
        verdict = "reach" if chance >= recipe.recall else "do not reach"
        return recipe.bands, recipe.rows, f"given; they {verdict} the recall of {recipe.recall:g}"
    bands, rows = choose_bands(threshold, recipe.recall, recipe.num_perm, drawn_from(recipe))
    reason = (
        f"the least area of false positives of all that reach a recall of {recipe.recall:g} at {exactly(threshold)}"
    )
    return bands, rows, reason


def _completed(recipe: MinHash, bands: int | None = None, rows: int | None = None) -> tuple[int, int, str]:
    """The shape of which one side is given: the fewest bands, or the most rows, that reach the recall."""
    shaped = _shaped(recipe, 1 if bands is None else bands, 1 if rows is None else rows)
    bands, rows = (None if bands is None else shaped.bands), (None if rows is None else shaped.rows)
    threshold, pool = float(recipe.threshold), drawn_from(recipe)
    num, given = rows or bands or 1, f"{'bands' if rows is None else 'rows'}={bands if rows is None else rows}"
    most = (recipe.num_perm if pool is None else 2 * pool) // num
    most = most if rows else min(max(most, 1), recipe.num_perm)  # drawn bands may be many, each of that many values
    sides = [(i, rows) if rows else (bands or 0, most + 1 - i) for i in range(1, most + 1)]
    chances = [float(collision_probability(threshold, *side, pool)) for side in sides]
    at = next((i for i, chance in enumerate(chances) if chance >= recipe.recall), len(sides) - 1)
    what = "the fewest bands" if rows else "the most rows"
    if chances[at] < recipe.recall:
        what = f"{f'as many bands as fit, {sides[at][0]},' if rows else 'even with one row, they'} do not"
    how = "that reach" if chances[at] >= recipe.recall else "reach"
    return *sides[at], f"{given} given; {what} {how} a recall of {recipe.recall:g} at {exactly(threshold)}"


def _beside(recipe: MinHash, bands: int, rows: int) -> Shape:
    """What another shape that was asked for promises."""
    return _shape(float(recipe.threshold), bands, rows, _ASKED, drawn_from(_shaped(recipe, bands, rows)))


def _shaped(recipe: MinHash, bands: int, rows: int) -> MinHash:
    """The recipe with these bands and rows, if there can be such a one."""
    known = {name: value for name, value in recipe.settings.items() if name not in {"recall", "bands", "rows"}}
    return MinHash(**{**known, "bands": bands, "rows": rows})


def _others(recipe: MinHash) -> list[Shape]:
    """What else reaches the recall, the first that does not, and what minimises the sum of both areas."""
    threshold, most, pool = float(recipe.threshold), recipe.num_perm, drawn_from(recipe)
    reaching = offers(threshold, recipe.recall, most, pool)
    shapes = [_shape(threshold, offer.bands, offer.rows, "reaches the recall", pool) for offer in reaching]
    rows = len(reaching) + 1
    if rows <= most:
        shapes.append(_shape(threshold, most // rows, rows, "misses the recall", pool))
    least = _shape(threshold, *curves.least_area(threshold, most), "least sum of both areas, as popular tools choose")
    return [*(shape for shape in shapes if (shape.bands, shape.rows) != (least.bands, least.rows)), least]


def _shape(threshold: float, bands: int, rows: int, note: str, pool: int | None = None) -> Shape:
    chance = float(collision_probability(threshold, bands, rows, pool))
    return Shape(bands, rows, chance, *curves.areas(threshold, bands, rows, pool), note)


def _misses(threshold: float, bands: int, rows: int, pool: int | None) -> tuple[tuple[float, float], ...]:
    """The share of pairs lost at the threshold, and .05 and .1 above it."""
    places = sorted({min(round(threshold + step, 10), 1.0) for step in (0.0, 0.05, 0.1)})
    return tuple((place, float(1 - collision_probability(place, bands, rows, pool))) for place in places)


def _points(similarities: Floats, chances: Floats) -> tuple[CurvePoint, ...]:
    return tuple(CurvePoint(*point) for point in zip(similarities.tolist(), chances.tolist(), strict=True))
