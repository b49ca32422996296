"""Recall that is measured: the true partners of a repeatable sample, found without the sketch or the keys.

1. The sample is a simple random one of the distinct documents: those whose hash of (source, position) is least, so that
   the same input gives the same sample. (A hash of the text would sample copies together.)
2. Each audited document lends its bottom items under an independent hash; `hits` of them in another document make a
   candidate. Both numbers are chosen so that a true partner is overlooked with probability ≤ 1e-6.
3. Every figure is a share of audited documents, with its Clopper-Pearson interval.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.kernels import auditing
from nearsame.kernels.scores import Bound
from nearsame.results import Share

__all__ = [
    "MOST_PARTNERS",
    "PARTNERS",
    "PartnersStage",
    "Probes",
    "VectorPartners",
    "num_probes",
    "share",
    "share_keys",
]

Rows = npt.NDArray[np.int64]

_HITS = 4
_LEAST_PROBES = 16
MOST_PARTNERS = 16  # of each kind, for an audited document in a batch
_OVERLOOKED = 1e-6
_SEED = np.uint64(0x2545F4914F6CDD1D)
_FILTER_BITS = 22  # half a megabyte: in cache
PARTNERS = pa.schema([(name, pa.int64()) for name in ("owner", "row", "num", "den")])


def share(num: int, of: int) -> Share | None:
    """So many of so many, with the Clopper-Pearson interval; None of nothing.

    >>> [round(x, 3) for x in share(973, 1000)[:3]]
    [0.973, 0.961, 0.982]
    """
    from scipy.stats import beta  # noqa: PLC0415  (half a second, which only an audited run should take)

    if of == 0:
        return None
    low = float(beta.ppf(0.025, num, of - num + 1)) if num else 0.0
    high = float(beta.ppf(0.975, num + 1, of - num)) if num < of else 1.0
    return Share(num / of, low, high, num, of)


def num_probes(threshold: float) -> tuple[int, int]:
    """(items to lend, hits that make a candidate) so that P(Bin(items, threshold) < hits) ≤ 1e-6.

    >>> num_probes(0.8)
    (16, 4)
    """
    from scipy.stats import binom  # noqa: PLC0415  (as above)

    few, enough = _LEAST_PROBES - 1, _LEAST_PROBES
    while binom.cdf(_HITS - 1, enough, threshold) > _OVERLOOKED:
        few, enough = enough, 2 * enough
    while enough - few > 1:  # the chance falls with every item: the first that suffices lies between
        middle = (few + enough) // 2
        few, enough = (middle, enough) if binom.cdf(_HITS - 1, middle, threshold) > _OVERLOOKED else (few, middle)
    return enough, _HITS


class Probes(NamedTuple):
    """What the audited documents lend."""

    rows: Rows
    items: arrow.UInt64s
    offsets: Rows
    lent: arrow.UInt64s  # ascending
    owners: Rows
    least: Rows  # hits that make a candidate
    filter: arrow.UInt64s

    @classmethod
    def of(cls, rows: Rows, items: arrow.UInt64s, offsets: Rows, bound: Bound) -> "Probes":
        """The probes of some documents, given their features."""
        most, hits = num_probes(bound.p / bound.q)
        lent, owners = np.empty(rows.size * most, np.uint64), np.empty(rows.size * most, np.int64)
        filled = auditing.bottom_items(items, offsets, most, _SEED, lent, owners)
        order = np.argsort(lent[:filled], kind="stable")
        sizes = np.diff(offsets)
        whole = -(-bound.p * sizes // bound.q)  # a small set is lent whole: a partner shares ceil(t·n) of it
        table = np.zeros(1 << (_FILTER_BITS - 6), np.uint64)
        auditing.mark_filter(lent[:filled], np.uint64(64 - _FILTER_BITS), table)
        return cls(
            rows, items, offsets, lent[order], owners[order], np.where(sizes <= most, whole, hits), arrow.frozen(table)
        )


@dataclass(frozen=True, eq=False)
class PartnersStage:
    """The stage that looks every document's items up among the probes."""

    probes: Probes
    bound: Bound
    kept: npt.NDArray[np.bool_] | None = None  # by row; None where that is asked later
    most: int = MOST_PARTNERS

    output = PARTNERS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The true partners among a batch of FEATURES."""
        probes = self.probes
        lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        kept = _kept(self.kept, rows)
        hits, touched = np.zeros(probes.rows.size, np.int64), np.empty(probes.rows.size, np.int64)
        room = 1 << 12
        while True:
            out = [np.empty(room, np.int64) for _ in range(4)]
            found = np.zeros((probes.rows.size, 2), np.int64)
            filled, _ = auditing.lookup_documents(
                *lists, rows, kept, np.uint64(64 - _FILTER_BITS), probes.filter, probes.lent, probes.owners,
                probes.least, probes.rows, probes.items, probes.offsets, self.bound.p, self.bound.q, self.most,
                found, hits, touched, *out,
            )  # fmt: skip
            if filled >= 0:
                return pa.RecordBatch.from_arrays([pa.array(column[:filled]) for column in out], schema=PARTNERS)
            room *= 8


@dataclass(frozen=True, eq=False)
class VectorPartners:
    """The stage that compares every vector with the audited ones."""

    rows: Rows
    items: arrow.UInt64s
    offsets: Rows
    bound: Bound
    kept: npt.NDArray[np.bool_] | None = None  # by row; None where that is asked later
    most: int = MOST_PARTNERS

    output = PARTNERS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The true partners among a batch of FEATURES."""
        lists, rows = arrow.lists(batch.column("items")), arrow.ints(batch.column("row"))
        kept = _kept(self.kept, rows)
        out = [np.empty(2 * self.most * self.rows.size, np.int64) for _ in range(4)]
        filled = auditing.compare_vectors(
            *lists, rows, kept, self.rows, self.items, self.offsets, self.bound.p, self.bound.q, self.most,
            np.zeros((self.rows.size, 2), np.int64), *out,
        )  # fmt: skip
        return pa.RecordBatch.from_arrays([pa.array(column[:filled]) for column in out], schema=PARTNERS)


def _kept(kept: npt.NDArray[np.bool_] | None, rows: Rows) -> npt.NDArray[np.bool_]:
    return np.ones(rows.size, np.bool_) if kept is None else kept[rows]


def share_keys(a: Rows, b: Rows, rows: Rows, doc_starts: Rows, doc_buckets: Rows) -> npt.NDArray[np.bool_]:
    """Whether rows a[i] and b[i] have a key in common, by the entries of a meeting."""
    order = np.argsort(rows)
    numbers = [_numbers(column, rows, order) for column in (a, b)]
    out = np.empty(a.size, np.bool_)
    auditing.share_buckets(*numbers, doc_starts, doc_buckets, out)
    return out


def _numbers(wanted: Rows, rows: Rows, order: Rows) -> Rows:
    """The number in the meeting of each wanted row; -1 for one that is not in it."""
    if rows.size == 0:
        return np.full(wanted.size, -1)
    at = order[np.minimum(np.searchsorted(rows[order], wanted), rows.size - 1)]
    return np.where(rows[at] == wanted, at, -1)
