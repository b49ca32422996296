"""The audit of a run on Spark: the questions of audits.py, asked of DataFrames.

1. The sample and its features come to the driver, no more of them than broadcast_bytes, and go to every worker as
   probes; so do the features of the removals that are compared once more.
2. Whether a partner stays, and shares a key, is looked up for the pairs that were found, not for all documents. So
   the partners of a sampled document that stays are hardly cut short: the one that stays, too, may be among the last.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.audits import NUM_AUDITED, NUM_RECHECKED, NUM_VECTORS, partners_stage, witnessed
from nearsame.frames.deciding import Decision
from nearsame.frames.flow import Frames
from nearsame.results import Audit, Share
from nearsame.stages.pairs.audit import MOST_PARTNERS, PARTNERS, share

__all__ = ["audit"]

Rows = npt.NDArray[np.int64]

_MOST_OF_KEPT = 1024  # partners in a batch: who stays has few, unless a method misses nearly all
_PAIR_BYTES = 32


@dataclass(frozen=True)
class _Sample:
    """Some documents: their numbers, ascending, what they are called in the frames, and their features."""

    numbers: Rows
    rows: Rows
    items: arrow.UInt64s
    offsets: Rows

    def where(self, chosen: npt.NDArray[np.bool_]) -> "_Sample":
        """Those that are chosen."""
        sizes = np.diff(self.offsets)
        items = self.items[np.repeat(chosen, sizes)]
        return _Sample(self.numbers[chosen], self.rows[chosen], items, _offsets(sizes[chosen]))


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


def audit(frames: Frames, decision: Decision, threshold: Fraction, *, within: bool, listing: bool) -> Audit:
    """Audit a run that has decided or, if it was listing, has found pairs."""
    method, verbs = frames.method, frames.verbs
    sample = _sampled(frames)
    gone = verbs.frame_of_numbers() if listing else verbs.keep(decision.found.selectExpr("a as number"))
    leaves = np.isin(sample.numbers, _numbers(gone.join(_few(verbs, sample.numbers), "number", "left_semi")))
    stages = tuple(
        (partners_stage(method, threshold, (some.rows, some.items, some.offsets), most=most), some.numbers)
        for some, most in ((sample.where(~leaves), _MOST_OF_KEPT), (sample.where(leaves), MOST_PARTNERS))
        if some.numbers.size
    )
    owners, met, beside = _told(frames, _Partners(stages), gone, within=within) if stages else _NOTHING
    missed = int((beside & ~np.isin(owners, sample.numbers[leaves])).sum())
    return Audit(
        threshold=float(threshold),
        sampled=sample.numbers.size,
        with_partner=owners.size,
        key_recall=share(int(met.sum()), owners.size),
        residual=None if listing else share(missed, int((~leaves).sum())),
        precision=None if listing else _precision(frames, decision, threshold),
        measure=method.measure,
    )


_NOTHING = np.zeros(0, np.int64), np.zeros(0, np.bool_), np.zeros(0, np.bool_)


def _sampled(frames: Frames) -> _Sample:
    """The distinct documents of the judged side of which a hash is least."""
    most = NUM_VECTORS if frames.method.of_vectors else NUM_AUDITED
    asked = frames.documents.filter("number = best and size > 0 and side = 1")
    drawn = asked.selectExpr("number", "row", "size", "xxhash64(row, 7) as chance").sort("chance", "row").limit(most)
    return _with_features(frames, drawn.select("number", "row", "size").toArrow())


def _with_features(frames: Frames, drawn: pa.Table) -> _Sample:
    """Documents (number, row, size) with their features: the first ones, as many as there is room for."""
    verbs = frames.verbs
    room = sum(size <= verbs.table_bytes for size in accumulate(8 * size for size in drawn.column("size").to_pylist()))
    chosen = drawn.slice(0, room).sort_by("number")
    few = verbs.frame(chosen.select(["row"])).hint("broadcast")
    found = frames.features.select("row", "items").join(few, "row", "left_semi").dropDuplicates(["row"])
    items: dict[int, arrow.UInt64s] = {}
    for batch in verbs.tables(found):
        lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        items |= {int(row): lists.items[lists.starts[at] : lists.ends[at]] for at, row in enumerate(rows)}
    numbers, rows = (chosen.column(name).to_numpy() for name in ("number", "row"))
    parts = [items[int(row)] for row in rows]
    sizes = np.array([part.size for part in parts], np.int64)
    return _Sample(numbers, rows, np.concatenate([np.zeros(0, np.uint64), *parts]), _offsets(sizes))


def _told(
    frames: Frames, stage: _Partners, gone: Any, *, within: bool
) -> tuple[Rows, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The numbers of sampled documents with a true partner, and whether of each one shares a key, and one stays."""
    verbs, documents = frames.verbs, frames.documents
    found = _small(verbs, verbs.once(verbs.map(frames.features, stage).select("owner", "row")))
    pairs = documents.select("row", "best", "side").join(found, "row").filter("owner <> best")
    if not within:
        pairs = pairs.filter("side = 0")
    pairs = verbs.once(pairs.selectExpr("owner", "best as partner").distinct())
    both = pairs.join(gone.selectExpr("number as partner", "true as gone"), "partner", "left")
    if frames.entries is None:
        both = both.selectExpr("*", "false as met")
    else:
        keys = frames.entries.select("number", "key")
        ours = keys.toDF("owner", "key").join(_small(verbs, pairs), "owner")
        keyed = keys.toDF("partner", "key").join(ours, ["partner", "key"]).select("owner", "partner").distinct()
        both = both.join(keyed.selectExpr("*", "true as met"), ["owner", "partner"], "left")
    sums = ["bool_or(coalesce(met, false)) as met", "bool_or(gone is null) as stays"]
    table = verbs.aggregated(both, ["owner"], sums).toArrow()
    owners, met, stays = (table.column(name).to_numpy() for name in ("owner", "met", "stays"))
    return owners, met, stays


def _precision(frames: Frames, decision: Decision, threshold: Fraction) -> Share | None:
    """Some removed documents, compared once more with their witnesses."""
    verbs = frames.verbs
    drawn = decision.found.selectExpr("a", "b", "xxhash64(a, 7) as chance").sort("chance", "a").limit(NUM_RECHECKED)
    rows, witnesses = (drawn.toArrow().column(name).to_numpy() for name in "ab")
    both = frames.documents.select("number", "row", "size").join(
        _few(verbs, np.unique(np.concatenate([rows, witnesses]))), "number", "left_semi"
    )
    known = _with_features(frames, both.toArrow())
    here = np.isin(rows, known.numbers) & np.isin(witnesses, known.numbers)
    pairs = (np.searchsorted(known.numbers, rows[here]), np.searchsorted(known.numbers, witnesses[here]))
    return witnessed(frames.method, threshold, pairs, known.items, known.offsets)


def _small(verbs: Any, pairs: Any) -> Any:
    """Pairs that go to every worker if they are few enough."""
    return pairs.hint("broadcast") if pairs.count() * _PAIR_BYTES <= verbs.table_bytes else pairs


def _few(verbs: Any, numbers: Rows) -> Any:
    return verbs.frame(pa.table({"number": pa.array(numbers, pa.int64())})).hint("broadcast")


def _numbers(frame: Any) -> Rows:
    found: Rows = frame.toArrow().column("number").to_numpy()
    return found


def _offsets(sizes: Rows) -> Rows:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
