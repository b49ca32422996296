"""Documents whose URLs are one by a guess only: each is compared with the others, and goes if its text is near enough.

1. They are read once more (of pages, the texts are at hand), and nothing else is: where no guess brings two documents
   together, nothing is read.
2. What is near enough is what the method of the run says, where it compares sets of shingles or whole texts; else the
   default method does.
3. This is the flow of `Jaccard` with a URL in place of all keys, so the rule of deciding is the same one.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import Mask, Rows
from nearsame.engines.base import Machine
from nearsame.flow.arrays import Arrays, numbered
from nearsame.flow.decisions import Standings, met_similar
from nearsame.flow.passing_on import Passed
from nearsame.flow.rereading import Left, changed
from nearsame.flow.steps import steps
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Method
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.keepers import NOBODY, Decided, Greedy
from nearsame.stages.clusters.policies import Keep, Policy
from nearsame.stages.features.document_facts import About, Describe
from nearsame.stages.keys.unordered import unordered

__all__ = ["confirmed", "shared"]


_SPREAD = 0x9E3779B97F4A7C15  # keys are dealt by their highest bits


class Ranked(NamedTuple):
    """What is known of every document once all are read, its place among those to keep, who meets whom, and texts."""

    about: About
    priority: Rows
    within: bool  # whether documents of the judged side are compared with each other
    texts: Iterable[pa.RecordBatch] | None = None  # that have been taken out of pages


def confirmed(  # noqa: PLR0913, PLR0917  (who is compared, how, where, and what people say of them)
    reading: Reading,
    urls: pa.Array,
    entering: Mask,
    method: Method,
    documents: Ranked,
    engine: Machine,
    told: Passed | None = None,
) -> tuple[Decided, Passed | None]:
    """Who goes of the documents that enter, and by which witness; and what was decided, with what of it fits here.

    Documents of one URL in `urls` are compared.

    Raises:
        SourceError: A source changed since it was read.
    """
    groups = shared(urls, entering)
    if not (groups >= 0).any():
        return NOBODY, told
    step, (about, priority, within, texts) = steps(method), documents
    left = Left.out_of(reading, texts, groups < 0, priority)
    corpus = Arrays(left, engine, Keep((Policy("min", "priority"),)))
    features = engine.keep(engine.map(corpus.load(method, step), *step.features))
    again = Describe.close(engine.fold(features, Describe()))
    if texts is None:
        _require_unchanged(left, about, again, groups >= 0)
    rows = np.flatnonzero((groups >= 0) & (again.sizes > 0))
    meeting = engine.meet(engine.load([_keys(rows, groups[rows])]), features, priority, step.compared)
    bound = step.bound(method.least)
    rule = Greedy(bound, reading.num_against, within, None if told is None else told.between)
    decided: Decided = engine.decide(meeting, rule)
    if told is not None:

        def similar(first: Rows, later: Rows) -> Mask:
            same = (groups[first] == groups[later]) & (groups[first] >= 0)
            if engine.groups is not None:
                same &= engine.groups[first] == engine.groups[later]
            return np.asarray(same & met_similar(meeting, bound, first, later))

        known = Standings(rows, priority, again.sizes, reading.num_against)
        told = told.fitting(similar, known, within=within)
    return decided, told


def shared(urls: pa.Array, entering: Mask) -> Rows:
    """By row the number of its URL, where another one that enters has the same; else -1."""
    asked = computing.if_else(pa.array(entering), urls, pa.scalar(None, urls.type))
    numbers = numbered(asked)
    counts = np.bincount(numbers[numbers >= 0], minlength=1)
    return np.where((numbers >= 0) & (counts[np.maximum(numbers, 0)] > 1), numbers, -1)


def _keys(rows: Rows, groups: Rows) -> pa.RecordBatch:
    return unordered(groups.astype(np.uint64) * np.uint64(_SPREAD), rows)


def _require_unchanged(reading: Reading, before: About, again: About, asked: Mask) -> None:
    """Refuse what would be decided about other texts than were read first."""
    if again.sizes.size != asked.size:
        raise changed()
    pairs = ((before.digest_a, again.digest_a), (before.digest_b, again.digest_b))
    if not all(np.array_equal(one[asked], two[asked]) for one, two in pairs):
        raise changed()
    reading.require_unchanged()
