"""What a choice of bands, or of k, will find and miss, before a run: plan and plan_simhash.

1. A plan is a computation from formulas (stages/keys/curves.py); a corpus adds what its own similarities make of them.
2. Of a corpus, pairs from `listed_from` on are listed by the exact join; lower ones are estimated from random pairs
   that are compared exactly. Numbers are scaled from pairs of the sample to pairs of the corpus.
3. Identical documents are one before keys are made: they are not candidates. In a sample fewer meet their like than in
   the corpus, so for corpora with many copies the expected candidates are an upper estimate.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.findings import CurvePoint, Expected, Plan, PlanCurve, SearchCost, Shape, SimHashPlan
from nearsame.clock import Clock
from nearsame.engines.local import Local
from nearsame.errors import ConfigError
from nearsame.files.inputs import several
from nearsame.flow import pipeline, templates
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import Question
from nearsame.flow.options import TextOptions
from nearsame.flow.page_reading import sampled, with_pages
from nearsame.recipes.arguments import checked
from nearsame.recipes.choices import JudgedBy
from nearsame.recipes.methods import Jaccard, MinHash, Shingled
from nearsame.recipes.settings import MinHashSettings, given_settings
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import DocumentSample
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.keys import blocks, curves
from nearsame.stages.keys.bands import choose_bands, collision_probability, drawn_from, offers
from nearsame.stages.pairs.expand import Groups
from nearsame.stages.pairs.given_pairs import Features, Gather

__all__ = ["plan", "plan_simhash"]

Floats = npt.NDArray[np.float64]

_LISTED_FROM = 0.5
_MOST_LISTED = 20_000_000
_DRAWN = 200_000
_BINS = 20
_SIMILARITIES = (0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99)
_STEPS = np.arange(101) / 100
_MOST_BITS = 4096
_MOST_BESIDE = 5
_ASKED = "asked for"


class _Offered(NamedTuple):
    """Similarities of pairs of different documents, and how many pairs of the sample each stands for."""

    similarities: Floats
    weights: Floats
    listed_from: float
    drawn: int


class PlanOptions(TextOptions, MinHashSettings, total=False):
    """What `plan` takes: how a corpus is read, and the settings of MinHash."""


@checked
def plan(
    *,
    corpus: Any = None,
    sample_size: int = 10_000,
    also: Sequence[tuple[int, int]] = (),
    **options: Unpack[PlanOptions],
) -> Plan:
    """Bands and rows for a threshold and a recall: which, why, and what they miss.

    Args:
        corpus: A source as `dedup` reads it: adds the candidates that its own similarities would give.
        sample_size: At most this many of its documents are looked at.
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
    columns = with_pages(Columns(text=options["text_column"]), options)
    if corpus is None and (columns.asked_of_pages or columns.html):
        given = "html_column" if columns.html else columns.asked_of_pages[0]
        raise ConfigError(f"{given} does nothing without a corpus", hint="Name a source, or leave it out.")
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
    sample = None if corpus is None else _read(corpus, columns, sample_size)
    return Plan(
        threshold=threshold,
        recall=recipe.recall,
        num_perm=recipe.num_perm,
        shape=shape,
        reason=reason,
        others=(*beside, *(one for one in _others(recipe) if (one.bands, one.rows) not in taken)),
        curve=_points(_STEPS, collision_probability(_STEPS, bands, rows, pool)),
        misses=_misses(threshold, bands, rows, pool),
        expected=None if sample is None else _expected(recipe, shape, sample),
        also=tuple(
            PlanCurve(f"{b} x {r}", _points(_STEPS, collision_probability(_STEPS, b, r, pool))) for b, r in also
        ),
        notes=() if sample is None else _templates(recipe, sample),
    )


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
    reason = f"the least area of false positives of all that reach a recall of {recipe.recall:g} at {threshold:g}"
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
    return *sides[at], f"{given} given; {what} {how} a recall of {recipe.recall:g} at {threshold:g}"


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


def _read(corpus: Any, columns: Columns, most: int) -> DocumentSample:
    if most < 2:
        raise ConfigError(f"sample_size={most} is below 2", hint="Look at two documents or more.")
    return sampled(Reading(open_parts(several(corpus), columns=columns), columns), most)


def _expected(recipe: MinHash, shape: Shape, sample: DocumentSample) -> Expected:
    """Candidates and misses among the pairs of a corpus."""
    threshold = float(recipe.threshold)
    num, total = len(sample.table), sample.num_documents
    offered = _offered(recipe, sample)
    scale = total * (total - 1) / max(1, num * (num - 1))
    weights = offered.weights * scale
    chances = collision_probability(offered.similarities, shape.bands, shape.rows, drawn_from(recipe))
    drawn = offered.weights > 1
    spread = float(np.sqrt((drawn * chances**2).sum()) * (offered.weights.max(initial=0.0) if drawn.any() else 0.0))
    similar = offered.similarities >= threshold
    edges = [round(i / _BINS, 2) for i in range(_BINS + 1)]
    counts, _ = np.histogram(offered.similarities, edges, weights=weights * (offered.similarities > 0))
    return Expected(
        documents=total,
        sampled=num,
        pairs=total * (total - 1) // 2,
        histogram=tuple(zip(edges[:-1], edges[1:], counts.tolist(), strict=True)),
        listed_from=offered.listed_from,
        drawn=offered.drawn,
        candidates=float((weights * chances).sum()),
        candidates_error=spread * scale,
        similar=float(weights[similar].sum()),
        missed=float((weights * (1 - chances))[similar].sum()),
    )


def _offered(recipe: MinHash, sample: DocumentSample) -> _Offered:
    """The similarities of different documents: of all pairs, or of those from `_LISTED_FROM` on and a draw below."""
    exact, engine = _exact(recipe, min(_LISTED_FROM, float(recipe.threshold))), Local()
    try:
        features, rows = _distinct(exact, sample, engine)
        if rows.size * (rows.size - 1) // 2 <= _DRAWN:
            a, b = np.triu_indices(rows.size, 1)
            similarities = features.similarity(rows[a], rows[b])
            return _Offered(similarities, np.ones(similarities.size), 0.0, 0)
        listed = _listed(exact, sample, engine)
    finally:
        engine.close()
    drawn = features.similarity(*(rows[side] for side in _random_pairs(rows.size, _DRAWN)))
    low = drawn[drawn < float(exact.threshold)]
    weight = rows.size * (rows.size - 1) / 2 / _DRAWN
    weights = np.concatenate([np.ones(listed.size), np.full(low.size, weight)])
    return _Offered(np.concatenate([listed, low]), weights, float(exact.threshold), _DRAWN)


def _exact(recipe: MinHash, threshold: Any) -> Jaccard:
    """The exact join from a threshold on."""
    return Jaccard(threshold=threshold, **{name: getattr(recipe, name) for name in Shingled.model_fields})


def _distinct(recipe: Jaccard, sample: DocumentSample, engine: Local) -> tuple[Features, npt.NDArray[np.int64]]:
    """The features of all documents, and the rows that represent the different ones that have any."""
    flow = engine.load(_reading(sample))
    for stage in pipeline.steps(recipe).features:
        flow = engine.map(flow, stage)
    flow = engine.keep(flow)
    rows = np.arange(len(sample.table))
    best = engine.collapse(flow, rows)
    features = Gather.close(engine.fold(flow, Gather()))
    return features, rows[(best == rows) & (np.diff(features.offsets) > 0)]


def _listed(recipe: Jaccard, sample: DocumentSample, engine: Local) -> Floats:
    """The similarities of all pairs of different documents from the recipe's threshold on."""
    state = pipeline.prepare(Arrays(_reading(sample), engine, Keep.parse("first")), recipe, Clock())
    parts = pipeline.join(
        state, Question(recipe.threshold, "pairs"), Groups(state.corpus.best, star=True), _MOST_LISTED
    )
    similarities = np.concatenate([part.similarity for part in parts])
    return similarities[similarities < 1.0]


def _templates(recipe: MinHash, sample: DocumentSample) -> tuple[str, ...]:
    """What there is to say of templates among the documents that would go."""
    exact, engine = _exact(recipe, recipe.threshold), Local()
    try:
        state = pipeline.prepare(Arrays(_reading(sample), engine, Keep.parse("first")), exact, Clock())
        decided = pipeline.decide(state, Question(exact.least), Clock())
        texts, times = sample.table.column("text"), sample.num_documents / max(1, len(sample.table))
        return templates.warnings(state, decided, lambda rows: texts.take(pa.array(rows)).to_pylist(), Clock(), times)
    finally:
        engine.close()


def _reading(sample: DocumentSample) -> Reading:
    return Reading(open_parts([sample.table], columns=Columns()), Columns())


def _random_pairs(num: int, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pairs of different numbers below `num`, drawn with replacement; always the same ones."""
    chance = np.random.Generator(np.random.PCG64(0))
    a = chance.integers(0, num, most)
    b = chance.integers(0, num - 1, most)
    return a, b + (b >= a)
