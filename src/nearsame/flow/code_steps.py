"""The stages of methods that compare codes, made here or given: imported when one of them is asked for."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nearsame.arrow import UInt64s
from nearsame.engines.base import Engine, Stage
from nearsame.flow.steps import Steps, cut_flags, stops, texts
from nearsame.flow.weighted_steps import weigh
from nearsame.kernels.buckets import Meeting
from nearsame.recipes.methods import Codes, Hyperplane, SimHash
from nearsame.stages.features.codes import GivenCodes
from nearsame.stages.features.hashes import hasher, table_hasher
from nearsame.stages.features.vectors import RoundedVectors
from nearsame.stages.features.weighted import ListFeatures, Spelling, TextFeatures
from nearsame.stages.keys.blocks import MEETING, SEARCH
from nearsame.stages.keys.curves import within_distance
from nearsame.stages.keys.headers import HeaderKeys, SampleCodes, all_meet, choose_tables, reach_note, search_record
from nearsame.stages.keys.slices import SliceKeys
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.join import AllPairs
from nearsame.stages.pairs.near import ADJACENT_NOTE, NearCodes, Neighbours, codes_of
from nearsame.stages.sketches.hyperplanes import SignCodes
from nearsame.stages.sketches.simhash import SimHashCodes

__all__ = ["steps_of_codes"]


def steps_of_codes(method: SimHash | Codes | Hyperplane, *, ready_items: bool, listing: bool) -> Steps:
    """The stages of such a method; for `listing` all pairs they differ from those for deciding."""
    match method:
        case SimHash():
            features = _weighted(method, ready_items=ready_items)
            if not method.needs_frequencies:
                return _near_codes(method, (*features, SimHashCodes(method)), listing=listing)
            record = {**method.features, "ready_items": ready_items}
            weighing = partial(weigh, method, record, partial(SimHashCodes, method))
            return _near_codes(method, features, listing=listing)._replace(weigh=weighing)
        case Codes():
            return _near_codes(method, (GivenCodes(),), listing=listing)
        case Hyperplane():
            slices, codes = SliceKeys(method), SignCodes(method.bits, method.seed)
            return Steps(
                (RoundedVectors(),), measures.ANGLE, sketches=codes, keys=lambda _: slices, chances=slices.chances
            )


def _near_codes(recipe: SimHash | Codes, features: tuple[Stage, ...], *, listing: bool) -> Steps:
    """Codes meet by their headers; to list pairs, where one machine has them all, all at once."""
    bits, k = recipe.bits, recipe.k
    everybody = HeaderKeys(all_meet(bits))
    adjacent = recipe.search == "adjacent"

    def tables(codes: UInt64s) -> UInt64s:
        return choose_tables(recipe, [(len(codes), codes)], SEARCH)

    def counted(codes: Any, _: int, engine: Engine) -> tuple[Any, Any]:
        sample = engine.fold(codes, SampleCodes(bits))
        engine.room["search"] = search_record(recipe, sample, MEETING)
        return codes, sample

    def searched(rule: Any, meeting: Meeting) -> dict[str, Any]:
        codes = codes_of(meeting, bits)
        return {"search": {**search_record(recipe, [(len(codes), codes)], SEARCH), **rule.candidates(codes, meeting)}}

    return Steps(
        features,
        measures.codes(recipe.get("confirm"), bits, k),
        counts=counted,
        chances=_chances(recipe),
        keys=lambda sample: everybody if listing else HeaderKeys(choose_tables(recipe, sample, MEETING)),
        deciding=(lambda rule: Neighbours(rule, bits, k)) if adjacent else (lambda rule: rule),
        joining=(lambda bound, _: Neighbours(AllPairs(bound), bits, k))
        if adjacent
        else (lambda bound, one_side: NearCodes(bound, bits, k, tables, one_side)),
        searched=searched,
        linking=None if adjacent else (lambda bound: NearCodes(bound, bits, k, tables)),
        notes=(*([reach_note(k, bits)] if recipe.of_tokens else []), *([ADJACENT_NOTE] if adjacent else [])),
    )


def _chances(recipe: SimHash | Codes) -> Callable[[Any], Any] | None:
    """How likely codes are to be near, where pairs are confirmed by what codes estimate."""
    measure = recipe.reports
    if measure not in ("jaccard", "cosine"):
        return None
    return partial(within_distance, k=recipe.k, bits=recipe.bits, measure=measure)


def _weighted(recipe: SimHash, *, ready_items: bool) -> tuple[Stage, ...]:
    function = None
    if recipe.table is not None:
        function = table_hasher(recipe.table)
    elif recipe.feature_hash != "xxh3" or recipe.bits > 64:
        function = hasher(recipe.feature_hash, recipe.bits)
    spelling = Spelling(recipe.weights != "one", recipe.compares == "letters", function, recipe.bits)
    if ready_items:
        return (ListFeatures(spelling),)
    step = 1 if recipe.overlapping else recipe.shingle_size
    cut = cut_flags(recipe)
    return texts(recipe), TextFeatures(recipe.shingle_size, step, cut, spelling, stops(recipe))
