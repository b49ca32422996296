"""The audit of a run on Spark: the questions of flow/audits.py, asked of DataFrames.

1. The sample and its features come to the driver, no more of them than broadcast_bytes, and go to every worker as
   probes; so do the features of the removals that are compared once more.
2. Whether a partner stays, and is listed, is looked up for the pairs that were found, not for all documents. So
   the partners of a sampled document that stays are hardly cut short: the one that stays, too, may be among the last.
   A document that goes is compared with its witness besides: that is the partner which stays.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.answers.stats import Audit, Share
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.flow.audits import (
    NUM_RECHECKED,
    Sampling,
    affordable,
    compared_by,
    of_documents,
    of_pairs,
    partners_stage,
    similar_enough,
    witnessed,
)
from nearsame.flow.corpus import State
from nearsame.frames.corpus import Frames
from nearsame.frames.deciding import Decision
from nearsame.frames.documents import GROUP
from nearsame.stages.pairs.audit import ALL_PARTNERS, PARTNERS, Drawn

__all__ = ["audit_decision", "audit_pairs"]

Flags = npt.NDArray[np.bool_]

_MOST_OF_KEPT = 1024  # partners in a batch: who stays has few, unless a method misses nearly all
_MOST_OF_GONE = 16  # who goes has its witness
_PAIR_BYTES = 32
_SIZED = ("number", "row", "size", "text_bytes div 3 + 2 as letters")  # three letters are a number, behind how many


@dataclass(frozen=True)
class _Sample:
    """Some documents: their numbers, what they are called in the frames, and their features."""

    numbers: Rows
    asked: Drawn

    def where(self, chosen: Flags) -> "_Sample":
        """Those that are chosen."""
        return _Sample(self.numbers[chosen], self.asked.where(chosen))

    def places(self, numbers: Rows) -> Rows:
        """Where the documents of some numbers stand in the sample."""
        order = np.argsort(self.numbers)
        return order[np.searchsorted(self.numbers[order], numbers)]


@dataclass(frozen=True)
class _Partners:
    """The stage that finds the true partners of several samples."""

    stages: tuple[tuple[Any, Rows], ...]  # with the numbers of their documents

    output = PARTNERS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The partners in a batch of features; owner is the number of the sampled document."""
        columns = []
        for stage, numbers in self.stages:
            owner, *others = (column.to_numpy() for column in stage(batch).columns)
            columns.append((numbers[owner], *others))
        joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
        return pa.RecordBatch.from_arrays([*map(pa.array, joined)], schema=PARTNERS)


def audit_decision(state: State[Frames], decision: Decision, threshold: Fraction, *, within: bool) -> Audit:
    """Audit a run that has decided who stays."""
    verbs, sample = state.corpus.engine, _sampled(state, threshold)
    gone = verbs.keep(decision.found.selectExpr("a as number"))
    goes = np.isin(sample.numbers, _numbers(gone.join(_few(verbs, sample.numbers), "number", "left_semi")))
    limits = (~goes, _MOST_OF_KEPT), (goes, _MOST_OF_GONE)
    pairs = _true_pairs(state, threshold, [(sample.where(some), most) for some, most in limits], within=within)
    kept = pairs.join(gone.toDF("partner"), "partner", "left_anti")
    by_owner = verbs.aggregated(kept, ["owner"], ["bool_or(partner < owner) as outranked"]).toArrow()
    owners, outranked = (by_owner.column(name).to_numpy() for name in ("owner", "outranked"))
    has_kept, must_go = np.zeros((2, sample.numbers.size), np.bool_)
    has_kept[sample.places(owners)] = True
    must_go[sample.places(owners[outranked])] = True
    must_go |= _with_true_witness(state, sample, decision, threshold)
    audit = of_documents(state.method, threshold, goes, must_go, has_kept)
    return replace(audit, precision=_precision(state, decision, threshold))


def audit_pairs(state: State[Frames], decision: Decision, threshold: Fraction) -> Audit:
    """Audit a run that has found pairs: of two sides those across, where there are two."""
    sample = _sampled(state, threshold)
    pairs = _true_pairs(state, threshold, [(sample, ALL_PARTNERS)], within=len(state.corpus.sides) == 1)
    asked = pairs.selectExpr("owner", "least(owner, partner) as a", "greatest(owner, partner) as b")
    decided = decision.found.selectExpr("least(a, b) as a", "greatest(a, b) as b", "true as found")
    answers = asked.join(decided, ["a", "b"], "left").selectExpr("owner", "coalesce(found, false) as found").toArrow()
    owners, listed = (answers.column(name).to_numpy() for name in ("owner", "found"))
    return of_pairs(state.method, threshold, sample.numbers.size, sample.places(owners), listed)


def _sampled(state: State[Frames], threshold: Fraction) -> _Sample:
    """The distinct documents of the judged side of which a hash is least, in the order of that hash."""
    most = Sampling().most(state.method)
    asked = state.corpus.documents.filter("number = best and size > 0 and side = 1")
    drawn = asked.selectExpr(*_SIZED, "xxhash64(row, 7) as chance").sort("chance", "row").limit(most)
    sample = _with_features(state, drawn.drop("chance").toArrow())
    few = affordable(state.method, threshold, sample.asked, state.corpus.counts["different"])
    return _Sample(sample.numbers[: few.rows.size], few)


def _with_features(state: State[Frames], drawn: pa.Table) -> _Sample:
    """Documents (as `_SIZED` says) with what they are compared by: the first ones, as many as there is room for."""
    verbs, names = state.corpus.engine, compared_by(state.method)
    sizes = (sum(8 * document[size] for size in ("size", "letters")[: len(names)]) for document in drawn.to_pylist())
    chosen = drawn.slice(0, sum(size <= verbs.table_bytes for size in accumulate(sizes)))
    few = verbs.frame(chosen.select(["row"])).hint("broadcast")
    features = state.corpus.features.select("row", *names).join(few, "row", "left_semi").dropDuplicates(["row"])
    found: dict[tuple[str, int], arrow.UInt64s] = {}
    for batch in verbs.tables(features):
        for name in names:
            lists, rows = arrow.lists(batch.column(name)), arrow.ints(batch.column("row"))
            found |= {(name, int(row)): lists.items[lists.starts[at] : lists.ends[at]] for at, row in enumerate(rows)}
    numbers, rows = (chosen.column(name).to_numpy() for name in ("number", "row"))
    parts = [found[name, int(row)] for name in names for row in rows]
    offsets = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
    return _Sample(numbers, Drawn(rows, np.concatenate([np.zeros(0, np.uint64), *parts]), offsets))


def _true_pairs(state: State[Frames], threshold: Fraction, samples: list[tuple[_Sample, int]], *, within: bool) -> Any:
    """The true pairs of sampled documents with others, at most so many of each in a batch: owner, partner, by number.

    Without `within`, only those with a document of the `against` side.
    """
    verbs, documents, is_grouped = state.corpus.engine, state.corpus.documents, state.corpus.is_grouped
    stages, apart = [], state.corpus.apart
    for some, limit in samples:
        if some.numbers.size:
            most = limit if not is_grouped and apart is None else ALL_PARTNERS  # the first ones may not count
            stages.append((partners_stage(state.method, threshold, some.asked, most=most), some.numbers))
    if not stages:
        return verbs.frame(pa.schema([("owner", pa.int64()), ("partner", pa.int64())]).empty_table())
    partners = verbs.map(state.corpus.features, _Partners(tuple(stages))).select("owner", "row")
    partners = _small(verbs, verbs.computed(partners))
    pairs = documents.join(partners, "row").filter("owner <> best")
    if is_grouped:
        owners = _few(verbs, np.concatenate([some.numbers for some, _ in samples]))
        owners = documents.join(owners, "number").selectExpr("number as owner", f"{GROUP} as own")
        pairs = pairs.join(owners, "owner").filter(f"own = {GROUP}")
    if not within:
        pairs = pairs.filter("side = 0")
    pairs = pairs.selectExpr("owner", "best as partner")
    if apart is not None:
        a, b = np.concatenate([apart.a, apart.b]), np.concatenate([apart.b, apart.a])
        told = verbs.frame(pa.table({"owner": a, "partner": b})).hint("broadcast")
        pairs = pairs.join(told, ["owner", "partner"], "left_anti")
    return verbs.computed(pairs.distinct())


def _with_true_witness(state: State[Frames], sample: _Sample, decision: Decision, threshold: Fraction) -> Flags:
    """Which sampled documents go for a witness that is a true near-duplicate."""
    verbs = state.corpus.engine
    removals = decision.found.selectExpr("a as number", "b").join(_few(verbs, sample.numbers), "number", "left_semi")
    rows, witnesses = (removals.toArrow().column(name).to_numpy() for name in ("number", "b"))
    known, pairs, here = _known(state, rows, witnesses)
    out = np.zeros(sample.numbers.size, np.bool_)
    right = similar_enough(state.method, threshold, pairs, known.asked)
    out[sample.places(rows[here][right])] = True
    return out


def _known(state: State[Frames], rows: Rows, witnesses: Rows) -> tuple[_Sample, tuple[Rows, Rows], Flags]:
    """The features behind pairs of numbers, the pairs by their places there, and which there was room for."""
    both = state.corpus.documents.selectExpr(*_SIZED).join(
        _few(state.corpus.engine, np.unique(np.concatenate([rows, witnesses]))), "number", "left_semi"
    )
    known = _with_features(state, both.toArrow())
    here = np.isin(rows, known.numbers) & np.isin(witnesses, known.numbers)
    return known, (known.places(rows[here]), known.places(witnesses[here])), here


def _precision(state: State[Frames], decision: Decision, threshold: Fraction) -> Share | None:
    """Some removed documents, compared once more with their witnesses."""
    drawn = decision.found.selectExpr("a", "b", "xxhash64(a, 7) as chance").sort("chance", "a").limit(NUM_RECHECKED)
    rows, witnesses = (drawn.toArrow().column(name).to_numpy() for name in "ab")
    known, pairs, _ = _known(state, rows, witnesses)
    return witnessed(state.method, threshold, pairs, known.asked)


def _small(verbs: Any, pairs: Any) -> Any:
    """Pairs that go to every worker if they are few enough."""
    return pairs.hint("broadcast") if pairs.count() * _PAIR_BYTES <= verbs.table_bytes else pairs


def _few(verbs: Any, numbers: Rows) -> Any:
    return verbs.frame(pa.table({"number": pa.array(numbers, pa.int64())})).hint("broadcast")


def _numbers(frame: Any) -> Rows:
    numbers: Rows = frame.toArrow().column("number").to_numpy()
    return numbers
