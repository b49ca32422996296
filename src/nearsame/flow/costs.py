"""What comparing will cost where much is shared: said before it begins, with its cause and what to do about it.

1. Nothing is said, and next to nothing done, where all pairs that share a key can be compared within BUDGET_SECONDS.
2. MinHash brings together whatever is somewhat alike, the exact join what has rare items in common. Where comparing
   takes MinHash more than OFFER_SECONDS and the exact join a fraction of it, the exact join is offered.
3. Nothing depends on how fast the machine is, or on threads: the same run says the same. Seconds are CPU seconds of one
   core: 4 ns a meeting, 25 more for a pair that places leave, and 3 an item of either set that is passed. Measured:
   2.3 to 3.7 ns an item with 100 to 2,000 items a set; 185 million meetings and 85 million pairs in 2.7 s.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, cast

import numpy as np

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.flow.hashed import found_by
from nearsame.flow.runs import Run
from nearsame.flow.spelling import ShingleSpelling
from nearsame.flow.steps import steps
from nearsame.kernels.buckets import Meeting
from nearsame.kernels.deciding import Work
from nearsame.kernels.scores import OF_SETS
from nearsame.recipes.counterparts import exact_join, hashed_join
from nearsame.recipes.methods import Jaccard, Method, Shingled
from nearsame.stages.features.boilerplate import CountThese
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.estimate import Foresight, most_work

__all__ = ["BUDGET_SECONDS", "OFFER_SECONDS", "predicted"]

BUDGET_SECONDS, OFFER_SECONDS = 60.0, 2.0
_FRACTION = 4  # how many times as much is worth an offer
_SAMPLED = 2048  # documents that the exact join is tried on
_MEETING_SECONDS, _COMPARISON_SECONDS, _ITEM_SECONDS = 4e-9, 25e-9, 3e-9
_VALUE_SECONDS = 1e-9  # of each value of two signatures: they are compared place by place
_NAMED, _LOOKED_AT = 3, 12  # shingles to name, and the largest buckets to find them in
_MEMBERS, _OTHERS = 16, 256  # documents of a bucket, and of all, that tell what is rare and common to its members


def predicted(run: Run, work: Callable[[State[Arrays], Meeting, Any], Work]) -> Run:
    """The run, with a note if comparing will take long; whoever watches sees it at once.

    Args:
        run: all documents have met.
        work: applies the rule that is to follow, as a method has it, to a meeting, and counts what it takes.
    """
    state = run.state
    meeting, offer = state.meeting, exact_join(state.method) if state.method.may_miss else None
    most = OFFER_SECONDS if offer else BUDGET_SECONDS
    if meeting is None or _seconds(state, meeting, most_work(meeting)) <= most:
        return run
    with run.clock("foretelling"):
        foreseen = state.corpus.engine.sample(meeting, Foresight(partial(work, state)))
        number, seconds = foreseen.left_by_places, _seconds(state, meeting, foreseen)
        elapsed = seconds / state.corpus.engine.threads
        run.clock.foreseen(deciding=elapsed, joining=elapsed)
        if seconds <= most:
            return run
        exact = _by_exact_join(state, offer, work) if offer else number
        offered = exact if number >= _FRACTION * max(exact, 1) else None
        if seconds <= BUDGET_SECONDS and offered is None:
            return run
        causes = _causes(run) if seconds > BUDGET_SECONDS else []
        hashed = hashed_join(state.method)
        found = found_by(state, hashed) if hashed else (0, 0)
    note = _note(number, seconds, causes, state.method, offered, found)
    run.clock.progress.note(note)
    return replace(run, notes=(*run.notes, note))


def _by_exact_join(state: State[Arrays], method: Jaccard, work: Callable[[State[Arrays], Meeting, Any], Work]) -> int:
    """About how many comparisons the exact join takes for the same documents: what a sample of them says."""
    exact = replace(state, method=method, step=steps(method))
    leads = np.flatnonzero(state.corpus.leads & (state.corpus.about.sizes > 0))
    rows = _spread(leads, _SAMPLED)
    chosen = np.zeros(state.corpus.best.size, np.bool_)
    chosen[rows] = True
    engine, room = state.corpus.engine, dict(state.corpus.engine.room)
    num_items = int(state.corpus.about.sizes[rows].sum())
    features, counts = exact.step.counted(engine.only(state.leaders, chosen), num_items, engine)
    keys = engine.map(features, *([exact.step.keys(counts)] if exact.step.keys else []))
    meeting = engine.meet(engine.keep(keys), features, state.corpus.ranks, exact.step.compared)
    engine.room.clear()  # it says how the run goes, not this trial
    engine.room.update(room)
    times = leads.size / max(1, rows.size)
    return int(engine.sample(meeting, Foresight(partial(work, exact), times)).left_by_places)


@dataclass(frozen=True)
class _Cause:
    """A shingle that brings many documents together."""

    text: str
    documents: int


def _seconds(state: State[Arrays], meeting: Meeting, work: Work) -> float:
    meetings = work.met * _MEETING_SECONDS + work.left_by_places * _COMPARISON_SECONDS
    if state.step.measure in OF_SETS:
        return float(meetings + work.items * _ITEM_SECONDS)
    items = 2 * meeting.items.size / max(1, meeting.entries.rows.size)
    per_item = _VALUE_SECONDS if state.step.measure == measures.AGREEMENT else _ITEM_SECONDS
    return float(meetings + work.left_by_bits * per_item * items)


def _note(  # noqa: PLR0913, PLR0917  (two of the work, two of what causes it, two of the ways out)
    number: int,
    seconds: float,
    causes: Sequence[_Cause],
    method: Method,
    exact: int | None,
    found: tuple[int, int],
) -> str:
    """What is said; `exact` are the comparisons of the exact join, where that is worth naming.

    `found` are how many of how many pairs of a sample the quicker method finds.
    """
    ways = [] if exact is None else [f"use method jaccard (--method jaccard: exact, about {exact:,} comparisons)"]
    if "drop_boilerplate" in type(method).model_fields:
        if causes:
            limit = _rounded(min(cause.documents for cause in causes) - 1)
            ways.append(f"set drop_boilerplate={limit} (--drop-boilerplate {limit})")
        else:
            ways.append("set drop_boilerplate")
    if method.stricter:
        ways.append(method.stricter)
    if method.quicker:
        share = f" (of {found[1]:,} similar pairs of a sample it finds {found[0] / found[1]:.1%})" if found[1] else ""
        ways.append(f"use method {method.quicker}{share}")
    ways = [*ways[:-2], " or ".join(ways[-2:])]
    named = ", ".join(f'"{cause.text}" (in {cause.documents:,} documents)' for cause in causes)
    because = "share what is rare elsewhere" if exact is None else "are somewhat alike, but less than is asked for"
    return (
        f"comparing may take about {number:,} comparisons, about {_time(seconds)} of CPU time on one core, because many"
        f" documents {because}{f', above all {named}' if causes and exact is None else ''}."
        f" To make it less: {', '.join(ways)}"
    )


def _rounded(number: int) -> int:
    """Down to one digit and zeros.

    >>> _rounded(2379)
    2000
    """
    unit: int = 10 ** (len(str(number)) - 1)
    return max(1, number // unit * unit)


def _time(seconds: float) -> str:
    """In words.

    >>> _time(90), _time(600), _time(9000)
    ('90 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 180:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:,.1f} hours"


def _causes(run: Run) -> list[_Cause]:
    """The shingles that fill the largest buckets, as they read, and in how many documents each stands."""
    stage, meeting = run.state.step.features[-1], run.state.meeting
    if not isinstance(stage, ShingleSets) or meeting is None:
        return []
    row_of_item: dict[int, int] = {}  # items, and a row that has it
    for members in _largest(meeting):
        item = _rarest(run, meeting, members)
        if item is not None:
            row_of_item.setdefault(item, int(meeting.entries.rows[members[0]]))
        if len(row_of_item) == _NAMED:
            break
    items, spelling = (
        np.array(sorted(row_of_item), np.uint64),
        ShingleSpelling(cast("Shingled", run.state.method), stage),
    )
    weights = np.bincount(run.state.corpus.best, minlength=run.state.corpus.best.size)
    counts = run.state.corpus.engine.fold(run.state.leaders, CountThese(items, weights))
    texts = run.texts(np.array([row_of_item[item] for item in items.tolist()], np.int64))
    named = [
        _Cause(text, count)
        for item, count, whole in zip(items.tolist(), counts.tolist(), texts, strict=True)
        if (text := spelling.longest(whole, np.array([item], np.uint64))) is not None
    ]
    return sorted(named, key=lambda cause: -cause.documents)


def _largest(meeting: Meeting) -> Iterator[Rows]:
    """Some members of each of the largest buckets, all over it."""
    entries = meeting.entries
    sizes = np.diff(entries.bucket_starts)
    for bucket in np.argsort(-sizes, kind="stable")[:_LOOKED_AT]:
        members = np.searchsorted(entries.doc_starts, np.flatnonzero(entries.doc_buckets == bucket), "right") - 1
        yield _spread(members, _MEMBERS)


def _spread(values: Rows, most: int) -> Rows:
    """At most so many of them, at even distances."""
    return values[np.linspace(0, values.size - 1, min(values.size, most)).astype(np.int64)]


def _rarest(run: Run, meeting: Meeting, members: Rows) -> int | None:
    """Of what some documents have in common that which is rarest elsewhere; of equals the least; None of nothing."""
    sets = _sets(run, meeting.entries.rows[members])
    shared = reduce(partial(np.intersect1d, assume_unique=True), sets)
    if shared.size == 0:
        return None
    others = np.concatenate(_sets(run, _spread(meeting.entries.rows, _OTHERS)))
    return int(shared[np.argmin([(others == item).sum() for item in shared])])


def _sets(run: Run, rows: Rows) -> list[arrow.UInt64s]:
    items, offsets = run.state.corpus.engine.take(run.state.leaders, rows)
    return [items[start:end] for start, end in pairwise(offsets)]
