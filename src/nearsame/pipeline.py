"""The data flow, once, against the engine's verbs.

    documents → texts → features → (sketches) → keys → pairs or clusters

1. A method is a choice of stages (steps.py), never a flow of its own.
2. This is the one place where sources, stages and engines meet.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from nearsame import arrow, schemas
from nearsame.engines.base import Engine
from nearsame.kernels import tokens
from nearsame.kernels.boilerplate import Slots
from nearsame.kernels.buckets import Meeting
from nearsame.methods import Method, Shingled
from nearsame.results import Clock
from nearsame.sources.base import Room
from nearsame.sources.reading import Reading
from nearsame.sources.sizes import text_bytes
from nearsame.stages.clusters.components import Connected
from nearsame.stages.clusters.keepers import NOBODY, Decided, Greedy, inherit
from nearsame.stages.clusters.policies import Keep, Order, order_of, ranks, readable
from nearsame.stages.features.about import About, CountRows, Describe
from nearsame.stages.features.boilerplate import Boilerplate, WithoutBoilerplate, shares
from nearsame.stages.features.frequencies import FrequencyTable
from nearsame.stages.keys.prefix import CountItems, plan_counting
from nearsame.stages.pairs.expand import Groups, Listed, by_priority, check_number, fewer_pairs
from nearsame.stages.pairs.join import Found
from nearsame.stages.texts.pages import PageTexts
from nearsame.steps import Steps, steps

__all__ = ["State", "beside", "decide", "deciding", "join", "joining", "prepare", "ranked", "steps"]

Rows = npt.NDArray[np.int64]

_KEY_BYTES = sum(field.type.bit_width for field in schemas.KEYS) // 8
_MANY_PAIRS = 1 << 20  # are looked at together


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
    ranks: Rows  # by row its place in the order of priority
    step: Steps
    frequencies: FrequencyTable | None = None
    dropped: Dropped = NOTHING_DROPPED
    num_against: int = 0
    num_keys: int = 0
    distinct: Any = None  # the features of the documents that represent all others
    meeting: Meeting | None = None
    notes: tuple[str, ...] = ()  # what one must know of the priority
    by_content: bool = False  # ties are decided by content: the first of a pair is the one of higher priority

    @cached_property
    def volumes(self) -> dict[str, dict[str, int]]:
        """Of each step the documents, and the bytes that go in and come out, where they are known."""
        leads = self.best == np.arange(self.best.size)
        made, distinct = 8 * int(self.about.sizes.sum()), 8 * int(self.about.sizes[leads].sum())
        size = int(leads.sum())
        found = {
            "features": {"documents": leads.size, "in": int(self.about.text_bytes.sum()), "out": made},
            "identical": {"documents": leads.size, "in": made, "out": distinct},
        }
        if self.meeting is not None:
            keys = _KEY_BYTES * self.num_keys
            sketched = self.step.sketches is not None  # how many bytes these are is not counted
            found["keys"] = {"documents": size, **({} if sketched else {"in": distinct}), "out": keys}
            met = {"documents": self.meeting.entries.rows.size, "in": keys, "out": 8 * self.meeting.items.size}
            found["meeting"] = met
        return found

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
    reading.columns = replace(reading.columns, room=_room(step, engine))
    with clock("features", reading.size_bytes):
        flow = engine.load(reading)
        if reading.pages:
            flow = engine.map(flow, PageTexts(reading.columns.extract))
        for stage in step.features:
            flow = engine.map(flow, stage)
        flow, frequencies = step.weigh(flow, engine) if step.weigh else (flow, None)
        features = engine.keep(flow, "features")
        about = Describe.close(engine.fold(features, Describe()))
    features, about, dropped = _without_boilerplate(features, about, method, engine, clock)
    with clock("identical"):
        either = listing and step.larger_first  # one side may contain the other, or be contained
        order = order_of(keep, larger_first=step.larger_first, by_side=not either)
        priority, notes = ranked(order, keep, about, reading)
        (best,) = engine.once("identical", lambda: (engine.collapse(features, priority),))
        distinct = engine.only(features, best == np.arange(best.size))
    state = State(method, engine, about, best, priority, step, frequencies, dropped, reading.num_against, notes=notes)
    state = replace(state, by_content=keep.ties != "reading")
    if step.keys is None:
        return state
    num_items = int(about.sizes.sum())
    room, num_keys, *meeting = engine.once("meeting", lambda: _meet(distinct, num_items, step, priority, engine, clock))
    engine.room |= json.loads(room.tobytes())
    return replace(state, num_keys=int(num_keys[0]), distinct=distinct, meeting=Meeting.of(tuple(meeting)))


def _room(step: Steps, engine: Engine) -> Room:
    """What one record may take of the memory, and what the stages that prepare it take."""
    token_bytes = max(getattr(stage, "token_bytes", 0) for stage in step.features)
    of_chars = any(getattr(stage, "flags", 0) & tokens.CHARS for stage in step.features)
    return Room(engine.record_bytes, token_bytes, of_chars)


def ranked(order: Order, keep: Keep, about: About, reading: Reading) -> tuple[Rows, tuple[str, ...]]:
    """By row its place in an order, and what one must know of the values that decide it."""
    size, values = about.sizes.size, reading.order
    columns: dict[str, Any] = {
        "side": (np.arange(size) >= reading.num_against).astype(np.int64),
        "size": about.sizes,
        "text_bytes": about.text_bytes,
        "digest_a": about.digest_a,
        "digest_b": about.digest_b,
    }
    notes: tuple[str, ...] = ()
    if values is not None:
        columns["value"], notes = readable(keep, values)
    if keep.ties == "content":
        columns["id"] = reading.origins.column("id")
    return ranks(order, columns, size), notes


def _without_boilerplate(
    features: Any, about: About, method: Method, engine: Engine, clock: Clock
) -> tuple[Any, About, Dropped]:
    """The features without what too many documents have, where that is asked for."""
    most = method.drop_boilerplate if isinstance(method, Shingled) else None
    if most is None:
        return features, about, NOTHING_DROPPED
    with clock("boilerplate"):
        found = boilerplate(features, int(about.sizes.sum()), most, engine)
        features = engine.keep(engine.map(features, WithoutBoilerplate.of(found)))
        left = Describe.close(engine.fold(features, Describe()))
    return features, left, Dropped(found.items.size, int(found.counts.sum()), left.num_bare - about.num_bare)


def boilerplate(features: Any, num_items: int, most: int, engine: Engine) -> Boilerplate:
    """The items that stand in more than `most` documents."""
    counting = plan_counting(num_items, engine.table_bytes)
    parts = []
    for number in range(counting.passes):
        table = engine.fold(features, CountItems(counting, number))
        shift = np.uint64(counting.shift)
        slots = Slots(counting.base(number), shift, 1 << counting.bits, counting.nibbles, arrow.frozen(table))
        parts += [share.close(engine.fold(features, share)) for share in shares(slots, most, engine.table_bytes)]
    return Boilerplate.of(parts)


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


def deciding(state: State, threshold: Fraction, *, within: bool = True, clusters: str = "greedy") -> Any:
    """The rule by which is decided who is removed."""
    bound, side = state.step.bound(threshold), state.num_against
    if clusters == "greedy":
        return state.step.deciding(Greedy(bound, side, within))
    weights = np.bincount(state.best, minlength=state.best.size)
    return Connected(state.step.linking(bound, side, within), bound, weights, side, within)


def decide(state: State, rule: Any, clock: Clock, *, within: bool = True) -> Decided:
    """Who is removed, and by which witness."""
    with clock("deciding"):
        decided = state.engine.decide(state.meeting, rule) if state.meeting else NOBODY
        return inherit(decided, state.best, state.num_against, within=within)


def joining(state: State, threshold: Fraction, groups: Groups) -> Any:
    """The rule by which pairs are listed."""
    return state.step.joining(state.step.bound(threshold), groups.below(state.num_against))


def join(state: State, threshold: Fraction, groups: Groups, most: int) -> Iterator[Listed]:
    """All similar pairs of documents, in parts; refuses as soon as it is known that there are more than `most`."""
    rule = joining(state, threshold, groups)
    total, star = groups.num_within(), not groups.star and groups.num_against is None
    fewer = fewer_pairs(state.method, can_star=star)
    if state.meeting and state.meeting.entries.rows.size:
        check_number(total, most, known="at least", fewer=fewer)
        sampled, times = state.engine.sample(state.meeting, rule)
        predicted = total + times * sum(groups.num_between(part.a, part.b) for part in sampled)
        check_number(predicted, most, known="about", fewer=fewer)
        waiting: list[Found] = []
        for found in state.engine.join(state.meeting, rule):
            total += groups.num_between(found.a, found.b)
            check_number(total, most, known="at least", fewer=fewer)
            waiting.append(found)
            if sum(part.a.size for part in waiting) >= _MANY_PAIRS:
                yield _listed(state, groups, waiting)
                waiting = []
        yield _listed(state, groups, waiting)
    check_number(total, most, fewer=fewer)
    yield _turned(state, groups.within())


def _listed(state: State, groups: Groups, parts: list[Found]) -> Listed:
    found = Found.joined(parts)
    return _turned(state, groups.between(found, beside(state, found)))


def _turned(state: State, pairs: Listed) -> Listed:
    """The pairs with the document of higher priority first, where ties are not decided by reading."""
    return by_priority(pairs, state.ranks, state.step.mirror) if state.by_content else pairs


def beside(state: State, found: Found) -> npt.NDArray[np.float64]:
    """What pairs say beside their similarity: as many columns as the method's `Steps.columns` has names."""
    columns, best = state.step.columns, state.best
    if columns is None:
        return np.zeros((0, found.a.size))
    leaders = found._replace(a=best[found.a], b=best[found.b])
    return columns(leaders, state.measured_sizes, lambda rows: state.engine.take(state.distinct, rows))
