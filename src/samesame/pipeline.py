"""The data flow, once, against the engine's verbs.

    documents → texts → features → (sketches) → keys → pairs or clusters

1. A method is a choice of stages (`steps`), never a flow of its own.
2. This is the one place where sources, stages and engines meet.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from samesame import arrow, schemas
from samesame.arrow import UInt64s
from samesame.engines.base import Engine, Stage
from samesame.kernels import shingles, tokens
from samesame.kernels.boilerplate import Slots
from samesame.kernels.buckets import Meeting
from samesame.kernels.scores import Bound
from samesame.methods import (
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
from samesame.results import Clock
from samesame.sources.frequencies import read_frequencies
from samesame.sources.reading import Reading
from samesame.sources.sizes import text_bytes
from samesame.stages.clusters.components import Connected
from samesame.stages.clusters.keepers import NOBODY, Decided, Greedy, inherit
from samesame.stages.clusters.policies import Keep, ranks
from samesame.stages.features.about import About, CountEntries, CountRows, Describe
from samesame.stages.features.boilerplate import Boilerplate, WithoutBoilerplate, shares
from samesame.stages.features.digests import TextDigests
from samesame.stages.features.frequencies import CountDocuments, FrequencyTable
from samesame.stages.features.hashes import hasher, table_hasher
from samesame.stages.features.shingles import ItemSets, ShingleSets
from samesame.stages.features.vectors import RoundedVectors
from samesame.stages.features.weighted import ListFeatures, Spelling, TextFeatures
from samesame.stages.keys.bands import BandKeys
from samesame.stages.keys.blocks import MEETING, SEARCH
from samesame.stages.keys.headers import HeaderKeys, SampleCodes, all_meet, choose_tables, reach_note
from samesame.stages.keys.prefix import CountItems, ItemCounts, PrefixKeys, plan_counting
from samesame.stages.keys.slices import SliceKeys
from samesame.stages.pairs import measures
from samesame.stages.pairs.directions import Directions
from samesame.stages.pairs.expand import Groups, Listed, check_number
from samesame.stages.pairs.join import AllPairs, Found
from samesame.stages.pairs.linking import Linking
from samesame.stages.pairs.near import ADJACENT_NOTE, NearCodes, Neighbours
from samesame.stages.sketches.hyperplanes import SignCodes
from samesame.stages.sketches.minhash import Signatures
from samesame.stages.sketches.modp import Fingerprints
from samesame.stages.sketches.simhash import Codes
from samesame.stages.texts.raw import Texts
from samesame.stages.texts.stopwords import stop_words

__all__ = ["State", "beside", "decide", "join", "prepare", "steps"]

Rows = npt.NDArray[np.int64]

_MANY_PAIRS = 1 << 20  # are looked at together


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


class Dropped(NamedTuple):
    """What boilerplate was taken out of the features."""

    shingles: int = 0  # different ones
    occurrences: int = 0  # documents that each stands in, summed
    documents: int = 0  # that had nothing else


NOTHING_DROPPED = Dropped()


@dataclass(frozen=True)
class State:
    """What a run knows once all documents that could be similar have met."""

    method: Method
    engine: Engine
    about: About  # of every document
    best: Rows  # for each row the best row with equal features
    step: Steps
    frequencies: FrequencyTable | None = None
    dropped: Dropped = NOTHING_DROPPED
    num_against: int = 0
    num_keys: int = 0
    distinct: Any = None  # the features of the documents that represent all others
    meeting: Meeting | None = None

    @cached_property
    def measured_sizes(self) -> Rows:
        """By row: how many items it has of what is compared, features or sketches; of who met somebody at least."""
        if not self.step.by_sketch or self.meeting is None:
            return self.about.sizes
        sizes = np.zeros(self.best.size, np.int64)
        sizes[self.meeting.entries.rows] = np.diff(self.meeting.offsets)
        return sizes


def prepare(  # noqa: PLR0913  (who reads, by what recipe, who stays, where, watched by whom, what for)
    reading: Reading,
    method: Method,
    keep: Keep,
    engine: Engine,
    clock: Clock,
    *,
    ready_items: bool = False,
    listing: bool = False,
) -> State:
    """Read all documents, and bring together those that share a key."""
    step = steps(method, ready_items=ready_items, listing=listing)
    engine.expect(int(method.stored_ratio * text_bytes(reading.all_parts, reading.columns)))
    with clock("features", reading.size_bytes):
        flow = engine.load(reading)
        for stage in step.features:
            flow = engine.map(flow, stage)
        flow, frequencies = step.weigh(flow, engine) if step.weigh else (flow, None)
        features = engine.keep(flow, "features")
        about = Describe.close(engine.fold(features, Describe()))
    features, about, dropped = _without_boilerplate(features, about, method, engine, clock)
    with clock("identical"):
        sizes = about.sizes if step.larger_first else None
        side = 0 if listing and step.larger_first else reading.num_against  # either may contain the other
        priority = ranks(keep, about.text_bytes, reading.order, side, sizes)
        (best,) = engine.once("identical", lambda: (engine.collapse(features, priority),))
        distinct = engine.only(features, best == np.arange(best.size))
    state = State(method, engine, about, best, step, frequencies, dropped, reading.num_against)
    if step.keys is None:
        return state
    num_items = int(about.sizes.sum())
    room, num_keys, *meeting = engine.once("meeting", lambda: _meet(distinct, num_items, step, priority, engine, clock))
    engine.room |= json.loads(room.tobytes())
    return replace(state, num_keys=int(num_keys[0]), distinct=distinct, meeting=Meeting.of(tuple(meeting)))


def _without_boilerplate(
    features: Any, about: About, method: Method, engine: Engine, clock: Clock
) -> tuple[Any, About, Dropped]:
    """The features without what too many documents have, where that is asked for."""
    most = method.drop_boilerplate if isinstance(method, Shingled) else None
    if most is None:
        return features, about, NOTHING_DROPPED
    with clock("boilerplate"):
        counting = plan_counting(int(about.sizes.sum()), engine.table_bytes)
        parts = []
        for number in range(counting.passes):
            table = engine.fold(features, CountItems(counting, number))
            shift = np.uint64(counting.shift)
            slots = Slots(counting.base(number), shift, 1 << counting.bits, counting.nibbles, arrow.frozen(table))
            parts += [share.close(engine.fold(features, share)) for share in shares(slots, most, engine.table_bytes)]
        found = Boilerplate.of(parts)
        features = engine.keep(engine.map(features, WithoutBoilerplate.of(found)))
        left = Describe.close(engine.fold(features, Describe()))
    return features, left, Dropped(found.items.size, int(found.counts.sum()), left.num_bare - about.num_bare)


def _meet(  # noqa: PLR0913, PLR0917  (what prepare knows by then)
    distinct: Any, num_items: int, step: Steps, priority: Rows, engine: Engine, clock: Clock
) -> tuple[npt.NDArray[Any], ...]:
    """Make keys, and bring together what shares one: the number of keys, and the meeting's arrays."""
    sketches = engine.map(distinct, step.sketches) if step.sketches else distinct
    if step.by_sketch:
        with clock("sketches"):
            sketches = engine.keep(sketches)
    with clock("counts"):
        sketches, counts = step.counts(sketches, num_items, engine) if step.counts else (sketches, None)
    clock.note(engine.room)
    with clock("keys"):
        keys = engine.keep(engine.map(sketches, cast("Any", step.keys)(counts)))
    del counts  # as large as the memory allows
    with clock("meeting"):
        num_keys = sum(engine.fold(keys, CountRows()))
        meeting = engine.meet(keys, sketches if step.by_sketch else distinct, priority)
        room = np.frombuffer(json.dumps(engine.room).encode(), np.uint8)
        return room, np.array([num_keys]), *meeting.flat()


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


def decide(
    state: State, threshold: Fraction, clock: Clock, *, within: bool = True, clusters: str = "greedy"
) -> Decided:
    """Who is removed, and by which witness."""
    with clock("deciding"):
        bound, side = state.step.bound(threshold), state.num_against
        if clusters == "greedy":
            rule = state.step.deciding(Greedy(bound, side, within))
        else:
            weights = np.bincount(state.best, minlength=state.best.size)
            rule = Connected(state.step.linking(bound, side, within), bound, weights, side, within)
        decided = state.engine.decide(state.meeting, rule) if state.meeting else NOBODY
        return inherit(decided, state.best, state.num_against, within=within)


def join(state: State, threshold: Fraction, groups: Groups, most: int) -> Iterator[Listed]:
    """All similar pairs of documents, in parts; refuses as soon as it is known that there are more than `most`."""
    rule = state.step.joining(state.step.bound(threshold), groups.below(state.num_against))
    total = groups.num_within()
    if state.meeting:
        sampled, times = state.engine.sample(state.meeting, rule)
        check_number(total + times * sum(groups.num_between(part.a, part.b) for part in sampled), most)
        waiting: list[Found] = []
        for found in state.engine.join(state.meeting, rule):
            total += groups.num_between(found.a, found.b)
            check_number(total, most)
            waiting.append(found)
            if sum(part.a.size for part in waiting) >= _MANY_PAIRS:
                yield _listed(state, groups, waiting)
                waiting = []
        yield _listed(state, groups, waiting)
    check_number(total, most)
    yield groups.within()


def _listed(state: State, groups: Groups, parts: list[Found]) -> Listed:
    found = Found.joined(parts)
    return groups.between(found, beside(state, found))


def beside(state: State, found: Found) -> npt.NDArray[np.float64]:
    """What pairs say beside their similarity: as many columns as the method's `Steps.columns` has names."""
    columns, best = state.step.columns, state.best
    if columns is None:
        return np.zeros((0, found.a.size))
    leaders = found._replace(a=best[found.a], b=best[found.b])
    return columns(leaders, state.measured_sizes, lambda rows: state.engine.take(state.distinct, rows))


def _texts(recipe: TextRecipe) -> Stage:
    return Texts(recipe.nfkc, recipe.strip_accents)


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
        features if rare else (*features, Codes(recipe)),
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
    return engine.map(features, Codes(recipe, table)), table


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
