"""What a corpus adds to a plan: the candidates that its own similarities would give, and what is said of its templates.

1. Pairs from `listed_from` on are listed by the exact join; lower ones are estimated from random pairs that are
   compared exactly. Numbers are scaled from pairs of the sample to pairs of the corpus.
2. Identical documents are one before keys are made: they are not candidates. In a sample fewer meet their like than in
   the corpus, so for corpora with many copies the expected candidates are an upper estimate.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.answers.findings import Expected, Shape
from nearsame.clock import Clock
from nearsame.engines.local import Local
from nearsame.errors import ConfigError
from nearsame.files.inputs import several
from nearsame.flow import pipeline, templates
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import Question
from nearsame.flow.options import TextOptions
from nearsame.flow.page_reading import sampled, with_pages
from nearsame.named import NamedTuple
from nearsame.outputs.console import described
from nearsame.recipes.methods import Jaccard, MinHash, Shingled
from nearsame.shares import counted
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.sources.sampling import DocumentSample
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.keys.bands import collision_probability, drawn_from
from nearsame.stages.pairs.expand import Groups
from nearsame.stages.pairs.given_pairs import Features, Gather

__all__ = ["expected", "read", "template_notes", "unread_notes"]

Floats = npt.NDArray[np.float64]

_LISTED_FROM = 0.5
_MOST_LISTED = 20_000_000
_DRAWN = 200_000
_BINS = 20


class _Offered(NamedTuple):
    """Similarities of pairs of different documents, and how many pairs of the sample each stands for."""

    similarities: Floats
    weights: Floats
    listed_from: float
    drawn: int


def read(corpus: Any, options: TextOptions, most: int) -> DocumentSample:
    """A sample of a source, read as the options say.

    Raises:
        ConfigError: Fewer than two documents are to be looked at, or pages are to be read in an impossible way.
    """
    columns = with_pages(Columns(text=options["text_column"]), options)
    if most < 2:
        raise ConfigError(f"sample_size={most} is below 2", hint="Look at two documents or more.")
    return sampled(Reading(open_parts(several(corpus), columns=columns), columns), most)


def expected(recipe: MinHash, shape: Shape, sample: DocumentSample) -> Expected:
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


def unread_notes(sample: DocumentSample) -> tuple[str, ...]:
    """How much could not be read, and the first of it."""
    if not sample.skipped:
        return ()
    return (f"{counted(len(sample.skipped), 'record')} could not be read; the first: {described(sample.skipped[0])}",)


def template_notes(recipe: MinHash, sample: DocumentSample) -> tuple[str, ...]:
    """What there is to say of templates among the documents that would go."""
    exact, engine = _exact(recipe, recipe.threshold), Local()
    try:
        state = pipeline.prepare(Arrays(_reading(sample), engine, Keep.parse("first")), exact, Clock())
        decided = pipeline.decide(state, Question(exact.least), Clock())
        texts, times = sample.table.column("text"), max(1, sample.num_documents) / max(1, len(sample.table))
        return templates.warnings(state, decided, lambda rows: texts.take(pa.array(rows)).to_pylist(), Clock(), times)
    finally:
        engine.close()


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


def _reading(sample: DocumentSample) -> Reading:
    return Reading(open_parts([sample.table], columns=Columns()), Columns())


def _random_pairs(num: int, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Pairs of different numbers below `num`, drawn with replacement; always the same ones."""
    chance = np.random.Generator(np.random.PCG64(0))
    a = chance.integers(0, num, most)
    b = chance.integers(0, num - 1, most)
    return a, b + (b >= a)
