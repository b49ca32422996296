"""What stands at each arrow of the flow for each method.

1. A method is a choice of stages, never a flow of its own: the flow is in pipeline.py.
2. Here recipes meet stages; nothing is read, and nothing is decided.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import schemas
from nearsame.arrow import UInt64s
from nearsame.engines.base import Engine, Stage
from nearsame.kernels import shingles, tokens
from nearsame.kernels.scores import Bound
from nearsame.recipes.methods import (
    Containment,
    Digest,
    Hyperplane,
    Jaccard,
    Method,
    MinHash,
    ModP,
    Shingled,
    Shingling,
    SimHash,
    TextRecipe,
)
from nearsame.sources.frequencies import read_frequencies
from nearsame.stages.clusters.keepers import Greedy
from nearsame.stages.features.digests import TextDigests
from nearsame.stages.features.document_facts import CountEntries
from nearsame.stages.features.frequencies import CountDocuments, FrequencyTable
from nearsame.stages.features.hashes import hasher, table_hasher
from nearsame.stages.features.shingles import ItemSets, ShingleSets
from nearsame.stages.features.vectors import RoundedVectors
from nearsame.stages.features.weighted import ListFeatures, Spelling, TextFeatures
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.keys.blocks import MEETING, SEARCH
from nearsame.stages.keys.headers import HeaderKeys, SampleCodes, all_meet, choose_tables, reach_note
from nearsame.stages.keys.prefix import CountItems, ItemCounts, PrefixKeys, plan_counting
from nearsame.stages.keys.slices import SliceKeys
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.directions import Directions
from nearsame.stages.pairs.join import AllPairs
from nearsame.stages.pairs.linking import Linking
from nearsame.stages.pairs.near import ADJACENT_NOTE, NearCodes, Neighbours
from nearsame.stages.sketches.hyperplanes import SignCodes
from nearsame.stages.sketches.minhash import Signatures
from nearsame.stages.sketches.modp import Fingerprints
from nearsame.stages.sketches.simhash import SimHashCodes
from nearsame.stages.texts.raw import Texts
from nearsame.stages.texts.stopwords import stop_words

__all__ = ["OneSide", "Steps", "steps"]

OneSide = npt.NDArray[np.bool_] | None  # by row: stands for documents of the `against` side only


class Steps(NamedTuple):
    """What stands at each arrow for one method."""

    features: tuple[Stage, ...]
    measure: int
    # What weights must know of all features: features in, codes and the table of frequencies out.
    weigh: Callable[[Any, Engine], tuple[Any, FrequencyTable]] | None = None
    counts: Callable[[Any, int, Engine], tuple[Any, Any]] | None = None  # what keys must know of all they are made of
    sketches: Stage | None = None
    keys: Callable[[Any], Stage] | None = None  # from the counts (or None); None: equal features are all there is
    by_sketch: bool = False  # verified by the sketches, not by the features
    deciding: Callable[[Greedy], Any] = lambda rule: rule
    joining: Callable[[Bound, OneSide], Any] = lambda bound, _: AllPairs(bound)
    linking: Callable[[Bound, int, bool], Any] = Linking  # for components: what joins all that `joining` would join
    notes: tuple[str, ...] = ()  # what one must know to read the answer
    floor: Fraction | None = None  # least Jaccard beside the measure
    larger_first: bool = False  # larger sets stay: a container before what it contains
    columns: Directions | None = None  # what pairs say beside their similarity

    @property
    def column_names(self) -> tuple[str, ...]:
        """What pairs say beside their similarity."""
        return self.columns.names if self.columns else ()

    @property
    def mirror(self) -> tuple[int, ...]:
        """Which column each of them becomes when a and b change places."""
        return self.columns.mirror if self.columns else ()

    def bound(self, threshold: Fraction) -> Bound:
        """The measure with a threshold."""
        return measures.bound(self.measure, threshold, self.floor)


def steps(  # noqa: PLR0911  (one for each method)
    method: Method, *, ready_items: bool = False, listing: bool = False
) -> Steps:
    """The stages of a method; for `listing` all pairs they may differ from those for deciding, the answers do not."""
    match method:
        case Digest():
            return Steps((_texts(method), _digests(method)), measures.EQUAL)
        case Jaccard():
            bound = measures.bound(measures.JACCARD, method.threshold)
            features = _sets(method, ready_items=ready_items)
            return Steps(
                features,
                bound.measure,
                counts=_count,
                keys=lambda counts: PrefixKeys(bound, counts),
            )
        case Containment():
            measure = measures.CONTAINER if method.remove == "container" else measures.CONTAINMENT
            bound = measures.bound(measure, method.threshold, method.jaccard_floor)
            return Steps(
                _sets(method, ready_items=ready_items),
                measure,
                counts=_count,
                keys=lambda counts: PrefixKeys(bound, counts, everything=True),
                floor=method.jaccard_floor,
                larger_first=True,
                columns=Directions(),
            )
        case MinHash():
            estimated = method.verify == "estimate"
            measure = measures.AGREEMENT if estimated else measures.JACCARD
            bands = BandKeys(method)
            features = _sets(method, ready_items=ready_items)
            return Steps(features, measure, sketches=Signatures(method), keys=lambda _: bands, by_sketch=estimated)
        case ModP():
            bound = measures.bound(measures.JACCARD, method.threshold)
            return Steps(
                _sets(method, ready_items=ready_items),
                bound.measure,
                sketches=Fingerprints(method.modulus, method.floor),
                by_sketch=True,
                counts=_count_sketches,
                keys=lambda counts: PrefixKeys(bound, counts),
                columns=Directions(exact=True),
            )
        case Hyperplane():
            slices, codes = SliceKeys(method), SignCodes(method.bits, method.seed)
            return Steps((RoundedVectors(),), measures.ANGLE, sketches=codes, keys=lambda _: slices)
        case SimHash():
            return _near_codes(method, ready_items=ready_items, listing=listing)


def _count(
    features: Any, num_items: int, engine: Engine, schema: pa.Schema = schemas.FEATURES
) -> tuple[Any, ItemCounts | None]:
    """Count all items, in as many passes as the engine's memory asks for: (features, what the one table says)."""
    counting = plan_counting(num_items, engine.table_bytes)
    engine.room["count_table"] = counting.record()
    for number in range(counting.passes):
        counts = ItemCounts(counting, number, engine.fold(features, CountItems(counting, number)), schema)
        if counting.passes == 1:
            return features, counts
        features = engine.keep(engine.map(features, counts))
    return features, None


def _count_sketches(sketches: Any, _: int, engine: Engine) -> tuple[Any, ItemCounts | None]:
    """The same for sketches, of which there are fewer."""
    return _count(sketches, sum(engine.fold(sketches, CountEntries())), engine, schemas.SKETCHES)


def _texts(recipe: TextRecipe) -> Stage:
    return Texts(recipe.nfkc, recipe.strip_accents, getattr(recipe, "seed", 0))


def _sets(recipe: Shingled, *, ready_items: bool) -> tuple[Stage, ...]:
    flags = (
        _cut_flags(recipe)
        | (shingles.REPEATS if recipe.repeats else 0)
        | (0 if recipe.overlapping else shingles.NOT_OVERLAPPING)
    )
    if ready_items:
        return (ItemSets(flags, recipe.seed),)
    return _texts(recipe), ShingleSets(recipe.shingle_size, flags, recipe.seed, _stops(recipe))


def _near_codes(recipe: SimHash, *, ready_items: bool, listing: bool) -> Steps:
    """Codes meet by their headers; to list pairs, where one machine has them all, all at once."""
    bits, k = recipe.bits, recipe.k
    everybody = HeaderKeys(all_meet(bits))
    adjacent = recipe.search == "adjacent"

    features = _weighted(recipe, ready_items=ready_items)
    rare = recipe.weights == "tfidf"

    def tables(codes: UInt64s) -> UInt64s:
        return choose_tables(recipe, [(len(codes), codes)], SEARCH)

    return Steps(
        features if rare else (*features, SimHashCodes(recipe)),
        measures.codes(recipe.confirm, bits, k),
        weigh=partial(_weigh, recipe, {**recipe.features, "ready_items": ready_items}) if rare else None,
        counts=lambda codes, _, engine: (codes, engine.fold(codes, SampleCodes(bits))),
        keys=lambda sample: everybody if listing else HeaderKeys(choose_tables(recipe, sample, MEETING)),
        deciding=(lambda rule: Neighbours(rule, bits, k)) if adjacent else (lambda rule: rule),
        joining=(lambda bound, _: Neighbours(AllPairs(bound), bits, k))
        if adjacent
        else (lambda bound, one_side: NearCodes(bound, bits, k, tables, one_side)),
        linking=(lambda *settings: Neighbours(Linking(*settings), bits, k))
        if adjacent
        else (lambda bound, *_: NearCodes(bound, bits, k, tables)),
        notes=(reach_note(k, bits), *([ADJACENT_NOTE] if adjacent else [])),
    )


def _weigh(recipe: SimHash, record: dict[str, Any], features: Any, engine: Engine) -> tuple[Any, FrequencyTable]:
    """Codes by TF-IDF: (their flow, the table of document frequencies)."""
    if recipe.frequencies is None:
        features = engine.keep(features)
        table = CountDocuments.close(engine.fold(features, CountDocuments()), record)
    else:
        table = FrequencyTable.of(read_frequencies(recipe.frequencies), recipe.frequencies, record)
    return engine.map(features, SimHashCodes(recipe, table)), table


def _weighted(recipe: SimHash, *, ready_items: bool) -> tuple[Stage, ...]:
    function = None
    if recipe.table is not None:
        function = table_hasher(recipe.table)
    elif recipe.feature_hash != "xxh3" or recipe.bits > 64:
        function = hasher(recipe.feature_hash, recipe.bits)
    spelling = Spelling(recipe.weights != "one", recipe.confirm == "edit", function, recipe.bits)
    if ready_items:
        return (ListFeatures(spelling),)
    step = 1 if recipe.overlapping else recipe.shingle_size
    cut = _cut_flags(recipe)
    return _texts(recipe), TextFeatures(recipe.shingle_size, step, cut, spelling, _stops(recipe))


def _digests(recipe: Digest) -> Stage:
    return TextDigests(recipe.algorithm, recipe.normalise, _token_flags(recipe), _stops(recipe))


def _cut_flags(recipe: Shingling) -> int:
    return (
        _token_flags(recipe)
        | (tokens.CHARS if recipe.unit == "chars" else 0)
        | (tokens.SPACE if recipe.space_is_token else 0)
    )


def _token_flags(recipe: TextRecipe) -> int:
    return (tokens.KEEP_CASE if recipe.keep_case else 0) | (tokens.PUNCTUATION if recipe.keep_punctuation else 0)


def _stops(recipe: TextRecipe) -> frozenset[str]:
    return stop_words(
        recipe.stop_words, keep_case=recipe.keep_case, nfkc=recipe.nfkc, strip_accents=recipe.strip_accents
    )
