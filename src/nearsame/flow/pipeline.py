"""The data flow, once, for every engine.

    documents → texts → features → (sketches) → keys → pairs or clusters

1. A method is a choice of stages (steps.py), never a flow of its own.
2. This is the one place where stages, engines and what is known of documents meet: on one machine and on a cluster.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nearsame.arrow import Rows
from nearsame.clock import Clock
from nearsame.engines.base import Stage
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import NOTHING_DROPPED, Corpus, Dropped, Met, Question, State
from nearsame.flow.steps import Steps, steps
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.policies import order_of
from nearsame.stages.pairs.expand import Groups, Listed, by_priority, check_number, fewer_pairs
from nearsame.stages.pairs.join import JoinedPairs

__all__ = ["beside", "decide", "featured", "join", "joining", "prepare", "steps"]

Some = TypeVar("Some", bound=Corpus)

_MANY_PAIRS = 1 << 20  # are looked at together


def prepare(
    corpus: Some, method: Method, clock: Clock, *, ready_items: bool = False, listing: bool = False
) -> State[Some]:
    """Read all documents, and bring together those that share a key."""
    step = steps(method, ready_items=ready_items, listing=listing and corpus.at_once)
    features, frequencies, dropped = featured(corpus, method, step, clock)
    with clock("identical"):
        features, corpus = corpus.described(features)
        either = listing and step.larger_first  # one side may contain the other, or be contained
        corpus = corpus.ranked(order_of(corpus.keep, larger_first=step.larger_first, by_side=not either))
        corpus = corpus.collapsed(features)
        leaders = corpus.leaders(features)
    keys = step.keys
    met = Met() if keys is None else corpus.once(lambda: _meet(leaders, corpus, method, step, keys, clock))
    return State(method, step, corpus, leaders, met, frequencies, dropped)


def featured(corpus: Corpus, method: Method, step: Steps, clock: Clock) -> tuple[Any, Any, Dropped]:
    """What all documents are compared by: (features, the frequencies that weigh them, what was dropped)."""
    if not method.drops_boilerplate:
        with clock("features", corpus.size_bytes):
            flow, frequencies = _weighed(_mapped(corpus, method, step), corpus, method, step)
            return corpus.kept(flow, "features"), frequencies, NOTHING_DROPPED
    from nearsame.flow import boilerplate  # noqa: PLC0415  (which few methods drop)

    frequencies, hosts = None, boilerplate.hosts_for(corpus, method)
    with clock("features", corpus.size_bytes):
        features = corpus.kept(_mapped(corpus, method, step), "features")
    features, dropped = boilerplate.without_boilerplate(features, corpus, method, clock, hosts)
    if step.weigh:  # what is dropped weighs nothing
        with clock("weights"):
            flow, frequencies = _weighed(features, corpus, method, step)
            features = corpus.kept(flow)
    return features, frequencies, dropped


def _mapped(corpus: Corpus, method: Method, step: Steps) -> Any:
    """A flow of the features of all documents."""
    return corpus.engine.map(corpus.load(method, step), *step.features)


def _weighed(features: Any, corpus: Corpus, method: Method, step: Steps) -> tuple[Any, Any]:
    """Features by their weights, and the table of all of them that these go by: (weighed, frequencies)."""
    if step.weigh is None:
        return features, None
    if method.needs_frequencies and method.get("frequencies") is None:  # else they are known
        features = corpus.countable(features)
    return step.weigh(features, corpus.engine)


def _meet(  # noqa: PLR0913, PLR0917  (what prepare knows by then)
    leaders: Any, corpus: Corpus, method: Method, step: Steps, keys_by: Callable[[Any], Stage], clock: Clock
) -> Met:
    """Make keys, and bring together what shares one."""
    engine = corpus.engine
    made = engine.map(leaders, step.sketches) if step.sketches else leaders
    if step.by_sketch:
        with clock("sketches"):
            made = engine.keep(made)
    with clock("counts"):
        made, counts, notes = corpus.counted(made, method, step, clock.progress.note)
    clock.note(engine.room)
    with clock("keys"):
        keys, num_keys = corpus.offered(engine.map(made, keys_by(counts)))
    del counts  # as large as the memory allows
    with clock("meeting"):
        return Met(num_keys, corpus.meet(keys, made if step.by_sketch else leaders, step.compared), notes)


def decide(state: State[Any], question: Question, clock: Clock) -> Any:
    """Who is removed, and by which witness."""
    with clock("deciding"):
        decision = state.corpus.answer(state, question)
        return state.corpus.inherit(decision, within=question.within)


def joining(state: State[Arrays], question: Question, groups: Groups) -> Any:
    """The rule by which pairs are listed."""
    return state.corpus.rule(state.step, question, groups.below(state.corpus.num_against))


def join(state: State[Arrays], question: Question, groups: Groups, most: int) -> Iterator[Listed]:
    """All similar pairs of documents, in parts; refuses as soon as it is known that there are more than `most`."""
    rule = joining(state, question, groups)
    total, star = groups.num_within(), not groups.star and groups.num_against is None
    fewer = fewer_pairs(state.method, can_star=star)
    if state.meeting and state.meeting.entries.rows.size:
        check_number(total, most, known="at least", fewer=fewer)
        state.corpus.engine.room |= state.step.searched(rule, state.meeting)
        if total + groups.most_between(state.meeting.most_meetings()) > most:
            sampled, times = state.corpus.engine.sample(state.meeting, rule)
            predicted = total + times * sum(groups.num_between(part.a, part.b) for part in sampled)
            check_number(predicted, most, known="about", fewer=fewer)
        waiting: list[JoinedPairs] = []
        for pairs in state.corpus.engine.join(state.meeting, rule):
            total += groups.num_between(pairs.a, pairs.b)
            check_number(total, most, known="at least", fewer=fewer)
            waiting.append(pairs)
            if sum(part.a.size for part in waiting) >= _MANY_PAIRS:
                yield _listed(state, groups, waiting)
                waiting = []
        yield _listed(state, groups, waiting)
    check_number(total, most, fewer=fewer)
    yield _turned(state, groups.within())


def _listed(state: State[Arrays], groups: Groups, parts: list[JoinedPairs]) -> Listed:
    pairs = JoinedPairs.joined(parts)
    return _turned(state, groups.between(pairs, beside(state, pairs))._replace(work=pairs.work))


def _turned(state: State[Arrays], pairs: Listed) -> Listed:
    """The pairs with the document of higher priority first, where ties are not decided by reading."""
    return by_priority(pairs, state.corpus.ranks, state.step.mirror) if state.corpus.by_content else pairs


def beside(state: State[Arrays], pairs: JoinedPairs) -> npt.NDArray[np.float64]:
    """What pairs say besides their similarity: as many columns as the method's `Steps.columns` has names."""
    columns, best = state.step.columns, state.corpus.best
    if columns is None:
        return np.zeros((0, pairs.a.size))
    leaders = pairs._replace(a=best[pairs.a], b=best[pairs.b])
    return columns(leaders, _measured_sizes(state), lambda rows: state.corpus.engine.take(state.leaders, rows))


def _measured_sizes(state: State[Arrays]) -> Rows:
    """By row: how many items it has of what is compared, features or sketches; of who met somebody at least."""
    meeting = state.meeting
    if not state.step.by_sketch or meeting is None:
        return state.corpus.about.sizes
    sizes = np.zeros(state.corpus.best.size, np.int64)
    sizes[meeting.entries.rows] = np.diff(meeting.offsets[: meeting.entries.rows.size + 1])
    return sizes
