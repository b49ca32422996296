"""What comparing will cost where much is shared: said before it begins, with its cause and what to do about it.

1. Nothing is said, and next to nothing done, where all pairs that share a key can be compared within BUDGET_SECONDS.
2. MinHash brings together whatever is somewhat alike, the exact join what has rare items in common: each is tried on
   a sample in place of the other, and recommended only if it takes less. Where comparing takes MinHash more than
   OFFER_SECONDS and the exact join a fraction of it, the exact join is offered.
3. Nothing depends on how fast the machine is, or on threads: the same run says the same (`instead.cpu_seconds`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import cast

import numpy as np

from nearsame import arrow
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.flow.instead import Ruling, Trial, cpu_seconds, recall_of, spread, tried
from nearsame.flow.runs import Run
from nearsame.kernels.buckets import Meeting
from nearsame.named import NamedTuple
from nearsame.recipes.counterparts import asked_for, coded_join, exact_join, hashed_join
from nearsame.recipes.methods import Method, Shingled
from nearsame.shares import percent
from nearsame.stages.features.shingles import ShingleSets
from nearsame.stages.keys.curves import within_distance
from nearsame.stages.pairs.estimate import Foresight, most_work

__all__ = ["BUDGET_SECONDS", "OFFER_SECONDS", "predicted"]

BUDGET_SECONDS, OFFER_SECONDS = 60.0, 2.0
_FRACTION = 4  # how many times as much is worth an offer, where one would otherwise say nothing
_LESS = 1.5  # and a recommendation: what a sample tells is no closer
_NAMED, _LOOKED_AT = 3, 12  # shingles to name, and the largest buckets to find them in
_MEMBERS, _OTHERS = 16, 256  # documents of a bucket, and of all, that tell what is rare and common to its members


class _Cost(NamedTuple):
    """What a run will take, and another method in its place: where there is one, and what it finds."""

    comparisons: int
    seconds: float
    trial: Trial | None = None
    recall: tuple[float, int, int] | None = None

    @property
    def is_less(self) -> bool:
        """Whether the other method is worth its name: one that may miss something, or that everything is found by."""
        times = _LESS if self.recall else _FRACTION
        return self.trial is not None and self.trial.seconds * times < self.seconds


def predicted(run: Run, ruling: Ruling) -> Run:
    """The run, with a note if comparing will take long; whoever watches sees it at once.

    Args:
        run: all documents have met.
        ruling: applies the rule that is to follow, as a method has it, to a meeting, and counts what it takes.
    """
    state = run.state
    meeting, offer = state.meeting, exact_join(state.method) if state.method.may_miss else None
    most = OFFER_SECONDS if offer else BUDGET_SECONDS
    if meeting is None or cpu_seconds(state, meeting, most_work(meeting)) <= most:
        return run
    with run.clock("foretelling"):
        foreseen = state.corpus.engine.sample(meeting, Foresight(partial(ruling, state)))
        cost = _Cost(foreseen.left_by_places, cpu_seconds(state, meeting, foreseen))
        elapsed = cost.seconds / state.corpus.engine.threads
        run.clock.foreseen(deciding=elapsed, joining=elapsed)
        if cost.seconds <= most:
            return run
        hashed = None if offer else hashed_join(state.method)
        other = offer or hashed
        trial = tried(state, other, ruling) if other else None
        recall = recall_of(state, hashed) if trial and hashed else None
        cost = cost._replace(trial=trial, recall=recall)
        is_long = cost.seconds > BUDGET_SECONDS
        if not is_long and not cost.is_less:
            return run
        causes = _causes(run) if is_long else []
    note = _note(cost, causes, state.method)
    run.clock.progress.note(note)
    return replace(run, notes=(*run.notes, note))


@dataclass(frozen=True)
class _Cause:
    """A shingle that brings many documents together."""

    text: str
    documents: int


def _note(cost: _Cost, causes: Sequence[_Cause], method: Method) -> str:
    """What is said."""
    is_offered = cost.is_less and cost.recall is None  # the exact join
    ways = [_in_place(cost.trial)] if cost.trial and is_offered else []
    if "drop_boilerplate" in type(method).model_fields:
        if causes:
            limit = _rounded(min(cause.documents for cause in causes) - 1)
            ways.append(f"set drop_boilerplate={limit} (--drop-boilerplate {limit})")
        else:
            ways.append("set drop_boilerplate")
    if method.stricter:
        ways.append(method.stricter)
    if cost.trial and cost.recall and cost.is_less:
        ways.append(_in_place(cost.trial, *cost.recall))
    ways = [*ways[:-2], " or ".join(ways[-2:])]
    named = ", ".join(f'"{cause.text}" (in {cause.documents:,} documents)' for cause in causes)
    because = "are somewhat alike, but less than is asked for" if is_offered else "share what is rare elsewhere"
    return (
        f"comparing may take about {_amount(cost.comparisons, cost.seconds)} of CPU time on one core, because many"
        f" documents {because}{f', above all {named}' if causes and not is_offered else ''}."
        f" To make it less: {', '.join(ways)}{_no_way_out(cost, method)}"
    )


def _in_place(trial: Trial, chance: float | None = None, found: int = 0, looked_at: int = 0) -> str:
    """Another method, with what it costs, and what it finds if that is not everything."""
    method, amount = trial.method, _amount(trial.comparisons, trial.seconds)
    if chance is None:
        return f"use method {method.name} ({asked_for(method)}: exact, about {amount})"
    finds = f"it finds {percent(chance, 1)} of the pairs at the threshold"
    of_sample = f", and {percent(found / looked_at, 1)} of {looked_at:,} similar pairs of a sample" if looked_at else ""
    return f"use method {method.name} ({asked_for(method)}: about {amount}; {finds}{of_sample})"


def _no_way_out(cost: _Cost, method: Method) -> str:
    """What is said of other methods where none is known to take less."""
    if cost.is_less:
        return ""
    if cost.trial is not None:
        amount = _amount(cost.trial.comparisons, cost.trial.seconds)
        return f". Method {cost.trial.method.name} would not make it much less: about {amount}"
    codes = coded_join(method)
    if codes is None:
        return f". No other method finds most of what {method.name} finds" if method.counts_items else ""
    chance = float(within_distance(float(method.least), codes.k, codes.bits, "cosine"))
    return (
        f". Method {codes.name} ({asked_for(codes)}) compares every code with every other, which may be less:"
        f" it finds about {percent(chance)} of the pairs at the threshold"
    )


def _amount(comparisons: int, seconds: float) -> str:
    return f"{comparisons:,} comparisons, {_time(seconds)}"


def _rounded(number: int) -> int:
    """Down to one digit and zeros.

    >>> _rounded(2379)
    2000
    """
    unit: int = 10 ** (len(str(number)) - 1)
    return max(1, number // unit * unit)


def _time(seconds: float) -> str:
    """In words.

    >>> _time(0.3), _time(90), _time(600), _time(9000)
    ('less than 2 seconds', 'about 90 seconds', 'about 10 minutes', 'about 2.5 hours')
    """
    if seconds < 180:
        return f"about {seconds:.0f} seconds" if seconds >= 1.5 else "less than 2 seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:,.1f} hours"


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
    from nearsame.flow.spelling import ShingleSpelling  # noqa: PLC0415  (where something is to be said)
    from nearsame.stages.features.boilerplate import CountThese  # noqa: PLC0415  (likewise)

    items = np.array(sorted(row_of_item), np.uint64)
    spelling = ShingleSpelling(cast("Shingled", run.state.method), stage)
    weights = np.bincount(run.state.corpus.best, minlength=run.state.corpus.best.size)
    counts = run.state.corpus.engine.fold(run.state.leaders, CountThese(items, weights))
    texts = run.texts(np.array([row_of_item[item] for item in items.tolist()], np.int64))
    named = [
        _Cause(text, count)
        for item, count, whole in zip(items.tolist(), counts.tolist(), texts, strict=True)
        if (text := spelling.around(whole, np.array([item], np.uint64), item)) is not None
    ]
    return sorted(named, key=lambda cause: -cause.documents)


def _largest(meeting: Meeting) -> Iterator[Rows]:
    """Some members of each of the largest buckets, all over it."""
    entries = meeting.entries
    sizes = np.diff(entries.bucket_starts)
    for bucket in np.argsort(-sizes, kind="stable")[:_LOOKED_AT]:
        members = np.searchsorted(entries.doc_starts, np.flatnonzero(entries.doc_buckets == bucket), "right") - 1
        yield spread(members, _MEMBERS)


def _rarest(run: Run, meeting: Meeting, members: Rows) -> int | None:
    """Of what some documents have in common that which is rarest elsewhere; of equals the least; None of nothing."""
    sets = _sets(run, meeting.entries.rows[members])
    shared = reduce(partial(np.intersect1d, assume_unique=True), sets)
    if shared.size == 0:
        return None
    others = np.concatenate(_sets(run, spread(meeting.entries.rows, _OTHERS)))
    return int(shared[np.argmin([(others == item).sum() for item in shared])])


def _sets(run: Run, rows: Rows) -> list[arrow.UInt64s]:
    items, offsets = run.state.corpus.engine.take(run.state.leaders, rows)
    return [items[start:end] for start, end in pairwise(offsets)]
