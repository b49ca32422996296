"""What stands at each arrow of the flow for each method.

1. A method is a choice of stages, never a flow of its own: the flow is in pipeline.py.
2. Here recipes meet stages; nothing is read, and nothing is decided.
"""

import importlib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import schemas
from nearsame.arrow import Mask, Rows
from nearsame.engines.base import Engine, Machine, Stage
from nearsame.kernels import shingles, tokens
from nearsame.kernels.prefixes import Shares
from nearsame.kernels.scores import APART, Bound
from nearsame.named import NamedTuple
from nearsame.recipes.methods import (
    Codes,
    Containment,
    Cosine,
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
from nearsame.stages.clusters.keepers import Greedy
from nearsame.stages.features.digests import TextDigests
from nearsame.stages.features.document_facts import CountEntries, CountSets
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.features.shingles import ItemSets, ShingleSets
from nearsame.stages.keys.bands import BandKeys
from nearsame.stages.keys.chains import keys_of_sets
from nearsame.stages.keys.prefix import CountFrequent, CountItems, ItemCounts, PrefixKeys, plan_counting
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.directions import Directions
from nearsame.stages.pairs.join import AllPairs
from nearsame.stages.pairs.linking import Linking
from nearsame.stages.sketches.confirming import Confirming
from nearsame.stages.sketches.minhash import Signatures
from nearsame.stages.sketches.modp import Fingerprints
from nearsame.stages.texts.raw import Texts
from nearsame.stages.texts.stopwords import stop_words, taken_as_words

__all__ = ["OneSide", "Steps", "count_items", "cut_flags", "may_be_similar", "steps", "stops", "texts"]

OneSide = npt.NDArray[np.bool_] | None  # by row: stands for documents of the `against` side only


class Steps(NamedTuple):
    """What stands at each arrow for one method."""

    features: tuple[Stage, ...]
    measure: int
    # What features weigh: features in; codes or weighted sets out, and the table of frequencies that they went by.
    weigh: Callable[[Any, Engine], tuple[Any, FrequencyTable | None]] | None = None
    counts: Callable[[Any, int, Engine], tuple[Any, Any]] | None = None  # what keys must know of all they are made of
    sieve: Shares | None = None  # by which sets are left out of that; None: none are
    sketches: Stage | None = None
    keys: Callable[[Any], Stage] | None = None  # from the counts (or None); None: equal features are all there is
    chances: Callable[[Any], Any] | None = None  # to share a key, by the similarity that rows tell; None: not by chance
    by_sketch: bool = False  # verified by the sketches, not by the features
    deciding: Callable[[Greedy | Linking | AllPairs], Any] = lambda rule: rule
    joining: Callable[[Bound, OneSide], Any] = lambda bound, _: AllPairs(bound)
    searched: Callable[[Any, Any], dict[str, Any]] = lambda *_: {}  # by the rule that joins what has met: how
    linking: Callable[[Bound], Any] | None = None  # all pairs for components, where all may be compared: quicker so
    notes: tuple[str, ...] = ()  # what one must know to read the answer
    second: tuple[int, Fraction] | None = None  # what pairs must reach as well: a measure, and the least value of it
    larger_first: bool = False  # larger sets stay: a container before what it contains
    columns: Directions | None = None  # what pairs say besides their similarity

    @property
    def column_names(self) -> tuple[str, ...]:
        """What pairs say besides their similarity."""
        return self.columns.names if self.columns else ()

    @property
    def mirror(self) -> tuple[int, ...]:
        """Which column each of them becomes when a and b change places."""
        return self.columns.mirror if self.columns else ()

    def counted(self, made: Any, num_items: int, engine: Engine) -> tuple[Any, Any]:
        """(what keys are made of, what they must know of all of it, or None)."""
        return self.counts(made, num_items, engine) if self.counts else (made, None)

    def bound(self, threshold: Fraction) -> Bound:
        """The measure with a threshold."""
        return measures.bound(self.measure, threshold, self.second)

    @property
    def compared(self) -> tuple[str, ...]:
        """The columns that hold what two documents are compared by."""
        apart = self.measure == measures.WEIGHTED or (self.second and self.second[0] & APART)
        return schemas.COMPARED if apart else schemas.COMPARED[:1]


def steps(method: Method, *, ready_items: bool = False, listing: bool = False) -> Steps:
    """The stages of a method; for `listing` all pairs they may differ from those for deciding, the answers do not."""
    made = _steps(method, ready_items=ready_items, listing=listing)
    odd = taken_as_words(getattr(method, "stop_words", ()))
    return made._replace(notes=(*made.notes, *odd)) if odd else made


def _steps(method: Method, *, ready_items: bool, listing: bool) -> Steps:
    match method:
        case Digest():
            return Steps((texts(method), _digests(method)), measures.EQUAL)
        case Jaccard() | Cosine():
            return _joined(method, ready_items=ready_items)
        case Containment():
            measure = measures.CONTAINER if method.remove == "container" else measures.CONTAINMENT
            shares = measures.shares(measures.bound(measure, method.threshold))
            return Steps(
                _sets(method, ready_items=ready_items),
                measure,
                counts=count_items,
                keys=lambda counts: PrefixKeys(shares, counts, everything=True),
                second=_second(method),
                larger_first=True,
                columns=Directions(),
            )
        case MinHash():
            estimated = method.verify == "estimate"
            measure = measures.AGREEMENT if estimated else measures.JACCARD
            bands = BandKeys(method)
            return Steps(
                _sets(method, ready_items=ready_items),
                measure,
                sketches=_sketches(method, Signatures(method), compared=estimated),
                keys=lambda _: bands,
                chances=None if estimated else bands.chances,
                by_sketch=estimated,
                second=_second(method, sketched=estimated),
            )
        case ModP():
            shares = measures.shares(measures.bound(measures.JACCARD, method.threshold))
            return Steps(
                _sets(method, ready_items=ready_items),
                measures.JACCARD,
                sketches=_sketches(method, Fingerprints(method.modulus, method.floor), compared=True),
                by_sketch=True,
                counts=_count_sketches,
                keys=lambda counts: PrefixKeys(shares, counts),
                second=_second(method, sketched=True),
                columns=Directions(exact=True),
            )
        case SimHash() | Codes() | Hyperplane():  # many modules that only these need
            codes = importlib.import_module("nearsame.flow.code_steps")
            steps_of_codes: Steps = codes.steps_of_codes(method, ready_items=ready_items, listing=listing)
            return steps_of_codes


def _joined(method: Jaccard | Cosine, *, ready_items: bool) -> Steps:
    """The exact join of sets, or of weighted ones."""
    sets, second = _sets(method, ready_items=ready_items), _second(method)
    if method.weighs_items:  # modules that only weights need
        weights = importlib.import_module("nearsame.flow.weighted_steps")
        of_weights: Steps = weights.steps_of_weights(method, sets, second, ready_items=ready_items)
        return of_weights
    measure = measures.BY_NAME[method.measure]
    shares = measures.shares(measures.bound(measure, method.threshold))
    keys = partial(keys_of_sets, shares)
    return Steps(sets, measure, counts=count_items, sieve=shares, keys=keys, second=second)


def may_be_similar(features: Any, shares: Shares, sizes: Rows, engine: Machine) -> Mask | None:
    """By row, of sets that have so many items: whether one may be similar to another; None where nobody need ask."""
    counting = plan_counting(int(sizes.sum()), engine.table_bytes)
    if not counting.is_large or engine.room.get("features") != "memory":
        return None
    from nearsame.stages.keys.sieve import CountBeginnings, MayBeSimilar, plan_sieve  # noqa: PLC0415  (of many only)

    sieve = plan_sieve(counting, shares)
    if sieve is None:
        return None
    table = engine.fold(features, CountBeginnings(sieve))
    found: Mask = engine.fold(features, MayBeSimilar(sieve, table, sizes.size))
    return found


def count_items(
    features: Any, num_items: int, engine: Engine, schema: pa.Schema = schemas.FEATURES
) -> tuple[Any, ItemCounts | None]:
    """Count all items, in as many passes as the engine's memory asks for: (features, what the one table says)."""
    counting = plan_counting(num_items, engine.table_bytes)
    engine.room["count_table"] = counting.record()
    for number in range(counting.passes):
        counts = ItemCounts(counting, number, engine.fold(features, CountItems(counting, number)), schema)
        frequent = CountFrequent.of(counts, num_items)
        if frequent is not None:
            sizes = (sum(engine.fold(features, count)) for count in (CountSets(), CountEntries()))
            counts = counts.ranked(frequent, engine.fold(features, frequent), *sizes)
        if counting.passes == 1:
            return features, counts
        features = engine.keep(engine.map(features, counts))
    return features, None


def _count_sketches(sketches: Any, _: int, engine: Engine) -> tuple[Any, ItemCounts | None]:
    """The same for sketches, of which there are fewer."""
    return count_items(sketches, sum(engine.fold(sketches, CountEntries())), engine, schemas.SKETCHES)


def _second(method: Shingled, *, sketched: bool = False) -> tuple[int, Fraction] | None:
    """The second measure as kernels know it; `sketched`: the first one is of sketches."""
    if method.second is None:
        return None
    confirm, threshold = method.second
    return measures.second(confirm, sketched=sketched), threshold


def _sketches(method: Shingled, stage: Stage, *, compared: bool) -> Stage:
    """The stage that sketches; where sketches are `compared`, with what confirms a pair of them beside each."""
    return Confirming(stage) if compared and method.second else stage


def texts(recipe: TextRecipe) -> Stage:
    """The stage that reads texts."""
    return Texts(recipe.nfkc, recipe.strip_accents, recipe.get("seed") or 0)


def _sets(recipe: Shingled, *, ready_items: bool) -> tuple[Stage, ...]:
    flags = (
        cut_flags(recipe)
        | (shingles.REPEATS if recipe.repeats else 0)
        | (0 if recipe.overlapping else shingles.NOT_OVERLAPPING)
    )
    if ready_items:
        return (ItemSets(flags, recipe.seed, recipe.weighs_items),)
    return texts(recipe), ShingleSets(
        recipe.shingle_size, flags, recipe.seed, stops(recipe), recipe.compares_letters, recipe.weighs_items
    )


def _digests(recipe: Digest) -> Stage:
    return TextDigests(recipe.algorithm, recipe.normalise, _token_flags(recipe), stops(recipe))


def cut_flags(recipe: Shingling) -> int:
    """How kernels cut texts."""
    return (
        _token_flags(recipe)
        | (tokens.CHARS if recipe.unit == "chars" else 0)
        | (tokens.SPACE if recipe.space_is_token else 0)
    )


def _token_flags(recipe: TextRecipe) -> int:
    return (tokens.KEEP_CASE if recipe.keep_case else 0) | (tokens.PUNCTUATION if recipe.keep_punctuation else 0)


def stops(recipe: TextRecipe) -> frozenset[str]:
    """The words that are left out."""
    return stop_words(
        recipe.stop_words, keep_case=recipe.keep_case, nfkc=recipe.nfkc, strip_accents=recipe.strip_accents
    )
