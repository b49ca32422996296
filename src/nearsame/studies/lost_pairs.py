"""Why a pair was lost, and other questions about chosen pairs that need the documents' features again.

1. Everything here is computed anew from the documents, by the stages of the recipe: not by the run that is judged.
2. Pairwise comparison is exact, and as slow as it sounds: it is the yardstick.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.answers.findings import Scatter
from nearsame.arrow import Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.engines.local import Local
from nearsame.errors import TooManyPairsError
from nearsame.flow import pipeline
from nearsame.flow.arrays import Arrays
from nearsame.kernels.hamming_search import distances
from nearsame.kernels.scores import Bound
from nearsame.recipes.counterparts import as_codes
from nearsame.recipes.methods import Jaccard, Method, MinHash, SimHash
from nearsame.shares import exactly
from nearsame.stages.clusters.policies import Keep
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.audit import Drawn, VectorPartners
from nearsame.stages.pairs.given_pairs import Features, Gather
from nearsame.studies.contenders import Outcome, listed, reading_of

__all__ = ["ComparedPairs", "can_lose", "code_distances", "features_of", "near_vectors", "pairwise", "scatter", "why"]

_BLOCK = 256
_LOOSE = Fraction(3, 10)  # similar pairs of the scatter begin here
_POINTS = 500

Floats = npt.NDArray[np.float64]


def can_lose(recipe: Method | None) -> bool:
    """Whether it may miss pairs of similar texts, being made of sketches."""
    return recipe is not None and recipe.by_sketches and not recipe.of_vectors


def features_of(recipe: Method, table: pa.Table) -> Features:
    """The features of all documents by a recipe, without boilerplate if it says so: what they are compared by."""
    engine = Local()
    try:
        corpus = Arrays(reading_of(table, recipe), engine, Keep.parse("first"))
        features, *_ = pipeline.featured(corpus, recipe, pipeline.steps(recipe), Clock())
        return Gather.close(engine.fold(features, Gather()))
    finally:
        engine.close()


@dataclass(frozen=True)
class ComparedPairs:
    """Pairs of documents by comparing every two, with what they share as fractions, and the seconds it took."""

    a: Rows
    b: Rows
    nums: Rows
    dens: Rows
    seconds: float

    def at(self, threshold: Fraction) -> Outcome:
        """Those at a threshold or above, which must not be below that of the comparison."""
        bound = measures.bound(measures.JACCARD, threshold)
        good = bound.q * self.nums >= bound.p * self.dens
        similarity = self.nums[good] / self.dens[good]
        return Outcome(self.a[good], self.b[good], similarity, seconds=self.seconds)


def pairwise(recipe: Jaccard, table: pa.Table) -> ComparedPairs:
    """All pairs at the threshold, by comparing every two documents."""
    began = time.perf_counter()
    features = features_of(recipe, table)
    rows, bound = np.flatnonzero(features.sizes), measures.bound(measures.JACCARD, recipe.threshold)
    engine = Local()
    try:
        blocks = range(0, rows.size, _BLOCK)
        parts = list(engine.each(blocks, lambda low: _block(features, rows, low, bound)))
    finally:
        engine.close()
    nothing = np.zeros(0, np.int64)
    a, b, nums, dens = (np.concatenate([nothing, *(part[place] for part in parts)]) for place in range(4))
    return ComparedPairs(a, b, nums, dens, time.perf_counter() - began)


def _block(features: Features, rows: Rows, low: int, bound: Bound) -> tuple[Rows, ...]:
    """The pairs of a block of documents with all behind each of them."""
    first = np.arange(low, min(low + _BLOCK, rows.size))
    behind = rows.size - 1 - first
    a = np.repeat(first, behind)
    b = a + 1 + np.arange(a.size) - np.repeat(np.cumsum(behind) - behind, behind)
    x, y = rows[a], rows[b]
    shared = features.shared(x, y)
    union = features.sizes[x] + features.sizes[y] - shared
    good = bound.q * shared >= bound.p * union
    return x[good], y[good], shared[good], union[good]


def near_vectors(recipe: Method, table: pa.Table) -> Outcome:
    """All pairs of vectors at the threshold, by comparing every two, rounded as the method rounds them."""
    began = time.perf_counter()
    features = features_of(recipe, table)
    rows = np.flatnonzero(features.sizes)
    drawn = Drawn(rows, features.items, np.append(features.offsets[:-1][rows], features.offsets[-1]))
    stage = VectorPartners(drawn, measures.bound(measures.ANGLE, recipe.least))
    engine = Local()
    try:
        blocks = range(0, rows.size, _BLOCK)
        parts = list(engine.each(blocks, lambda low: _partners(stage, low)))
    finally:
        engine.close()
    owners, others, nums, dens = (
        np.concatenate([np.zeros(0, np.int64), *(part.column(name).to_numpy() for part in parts)])
        for name in ("owner", "row", "num", "den")
    )
    first = rows[owners] < others
    order = np.lexsort((others[first], owners[first]))
    a, b, similarity = rows[owners[first]][order], others[first][order], (nums[first] / dens[first])[order]
    return Outcome(a, b, similarity, seconds=time.perf_counter() - began)


def _partners(stage: VectorPartners, low: int) -> pa.RecordBatch:
    """Whom a block of vectors resembles."""
    rows = stage.asked.rows[low : low + _BLOCK]
    ends = stage.asked.offsets[low : low + rows.size + 1]
    items = arrow.items(stage.asked.items[ends[0] : ends[-1]], ends - ends[0])
    return stage(pa.RecordBatch.from_arrays([pa.array(rows), items], names=["row", "items"]))


def why(recipe: Method | None, table: pa.Table, a: Rows, b: Rows) -> list[str]:
    """For each lost pair the reason."""
    reasons = _WHY.get(type(recipe))
    if reasons is None or not a.size:
        return ["nothing that says why"] * a.size
    return reasons(recipe, table, a, b)


def _bands(recipe: MinHash, table: pa.Table, a: Rows, b: Rows) -> list[str]:
    """By the Jaccard similarity of its own shingles, whatever the pairs were found by."""
    return [_by_bands(recipe, alike) for alike in features_of(recipe, table).similarity(a, b).tolist()]


def _near_codes(recipe: SimHash, table: pa.Table, a: Rows, b: Rows) -> list[str]:
    return [_by_codes(recipe, distance) for distance in code_distances(recipe, table, a, b).tolist()]


# Methods whose lost pairs have a reason that can be given.
_WHY: dict[type, Callable[[Any, pa.Table, Rows, Rows], list[str]]] = {MinHash: _bands, SimHash: _near_codes}


def _by_bands(recipe: MinHash, similarity: float) -> str:
    if similarity < recipe.threshold:
        return f"less than its own threshold of {exactly(recipe.threshold)}"
    if recipe.verify == "estimate":
        return "no band in common, or too low an estimate"
    bands, _ = BandKeys(recipe).shape
    return f"none of {bands} bands in common{', or not confirmed' if recipe.confirm else ''}"


def _by_codes(recipe: SimHash, distance: int) -> str:
    if distance < 0:
        return "no code, having no tokens"
    if distance > recipe.k:
        return f"SimHash distance {distance} > k={recipe.k}"
    if recipe.confirm is not None:
        return "codes near enough, but not confirmed"
    return "codes near enough, but no neighbours"


def code_distances(recipe: SimHash, table: pa.Table, a: Rows, b: Rows) -> Rows:
    """In how many bits the codes of rows a[i] and b[i] differ; -1 where one has none, and they are no copies."""
    features = features_of(_plain(recipe), table)
    codes, present = _codes(features, recipe.bits)
    without = np.where(~present[a] & (features.similarity(a, b) == 1), 0, -1)
    return np.where(present[a] & present[b], distances(codes[a], codes[b]), without)


def _plain(recipe: SimHash) -> SimHash:
    """The same codes, and nothing behind them to confirm a pair by."""
    settings = {name: value for name, value in recipe.model_dump().items() if name not in ("confirm", "threshold")}
    return SimHash(**settings)


def _codes(features: Features, bits: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """(the code of each document, whether it has one); a document without tokens has other items."""
    words = -(-bits // 64)
    present = features.sizes == words
    codes = np.zeros((present.size, words), np.uint64)
    codes[present] = features.items[features.offsets[:-1][present, None] + np.arange(words)]
    return codes, present


def scatter(recipes: Sequence[Method | None], table: pa.Table, nearly: Method) -> tuple[Scatter, ...]:
    """For pairs near and far, the cosine of their features and the similarity of their codes, of the first SimHash."""
    recipe = next((as_codes(one) for one in recipes if one is not None and one.measure == "hamming"), None)
    if recipe is None or len(table) < 2:
        return ()
    codes, present = _codes(features_of(_plain(recipe), table), recipe.bits)
    weighted = features_of(SimHash(**{**_plain(recipe).model_dump(), "confirm": "cosine"}), table)
    a, b = _near_and_far(nearly, table)
    both = present[a] & present[b]
    a, b = a[both], b[both]
    alike = 1 - distances(codes[a], codes[b]) / recipe.bits
    vectors = {row: _vector(weighted, row, codes.shape[1]) for row in np.union1d(a, b).tolist()}
    cosines = [_cosine(vectors[x], vectors[y]) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    return tuple(Scatter(*point) for point in zip(cosines, alike.tolist(), strict=True))


def _vector(features: Features, row: int, words: int) -> tuple[npt.NDArray[np.uint64], Floats]:
    """(features, weights) of a document that is confirmed by its cosine: behind its code and its norm."""
    behind = features.items[features.offsets[row] + words + 1 : features.offsets[row + 1]]
    return behind[: behind.size // 2], behind[behind.size // 2 :].astype(np.float64)


def _cosine(a: tuple[npt.NDArray[np.uint64], Floats], b: tuple[npt.NDArray[np.uint64], Floats]) -> float:
    _, left, right = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    return float(a[1][left] @ b[1][right] / np.sqrt((a[1] @ a[1]) * (b[1] @ b[1])))


def _near_and_far(nearly: Method, table: pa.Table) -> tuple[Rows, Rows]:
    """Pairs for the picture: similar ones, spread over all similarities, and as many at random."""
    loose = nearly.raised(min(_LOOSE, nearly.least))
    near = np.zeros(0, np.int64), np.zeros(0, np.int64)
    with suppress(TooManyPairsError):
        pairs = listed(loose, table)
        chosen = np.argsort(pairs.similarity, kind="stable")
        chosen = chosen[np.linspace(0, chosen.size - 1, min(chosen.size, _POINTS)).astype(np.int64)]
        near = pairs.a[chosen], pairs.b[chosen]
    chance = np.random.Generator(np.random.PCG64(0))
    x = chance.integers(0, len(table), _POINTS)
    y = chance.integers(0, len(table) - 1, _POINTS)
    return np.concatenate([near[0], x]), np.concatenate([near[1], y + (y >= x)])
