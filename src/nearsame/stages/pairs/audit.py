"""Recall that is measured: the true partners of a repeatable sample, found without the sketch or the keys.

1. The sample is a simple random one of the distinct documents: those whose hash of (source, position) is least, so that
   the same input gives the same sample. (A hash of the text would sample copies together.)
2. Each audited document lends its bottom items under an independent hash; `hits` of them in another document make a
   candidate. Both numbers are chosen so that a true partner is overlooked with probability ≤ 1e-6.
3. Where pairs must reach a second measure, a true partner reaches both.
4. What the partners say of a run is for flow/audits.py to count.
"""

from collections.abc import Sequence
from math import comb

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, schemas
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.kernels import auditing
from nearsame.kernels.scores import APART, Bound
from nearsame.named import NamedTuple

__all__ = ["ALL_PARTNERS", "PARTNERS", "Drawn", "PartnersStage", "Probes", "Ranking", "VectorPartners", "num_probes"]

_HITS = 4
_LEAST_PROBES = 16
ALL_PARTNERS = 1 << 62
_OVERLOOKED = 1e-6
_SEED = np.uint64(0x2545F4914F6CDD1D)
_FILTER_BITS = 22  # half a megabyte: in cache
PARTNERS = pa.schema([(name, pa.int64()) for name in ("owner", "row", "num", "den")])


def num_probes(threshold: float) -> tuple[int, int]:
    """(items to lend, hits that make a candidate) so that P(Bin(items, threshold) < hits) ≤ 1e-6.

    >>> num_probes(0.8)
    (16, 4)
    """
    few, enough = _LEAST_PROBES - 1, _LEAST_PROBES
    while _overlooked(enough, threshold) > _OVERLOOKED:
        few, enough = enough, 2 * enough
    while enough - few > 1:  # the chance falls with every item: the first that suffices lies between
        middle = (few + enough) // 2
        few, enough = (middle, enough) if _overlooked(middle, threshold) > _OVERLOOKED else (few, middle)
    return enough, _HITS


def _overlooked(items: int, threshold: float) -> float:
    """P(Bin(items, threshold) < hits)."""
    return sum(comb(items, k) * threshold**k * (1 - threshold) ** (items - k) for k in range(_HITS))


class Drawn(NamedTuple):
    """Audited documents: their rows, and their items; behind all items the letters of each, where they are compared."""

    rows: Rows
    items: arrow.UInt64s
    offsets: Rows

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Drawn":
        """Those that are chosen."""
        of_lists = np.tile(chosen, (self.offsets.size - 1) // max(1, chosen.size))
        sizes = np.diff(self.offsets)
        offsets = np.concatenate([[0], np.cumsum(sizes[of_lists], dtype=np.int64)])
        return Drawn(self.rows[chosen], self.items[np.repeat(of_lists, sizes)], offsets)

    def lists(self, bound: Bound) -> list[arrow.Lists]:
        """What they are compared by: the items, and the letters where a second measure is about them."""
        ends = np.array_split(self.offsets[1:], 2 if bound.second >= APART else 1)
        starts = np.array_split(self.offsets[:-1], len(ends))
        return [arrow.Lists(self.items, start, end) for start, end in zip(starts, ends, strict=True)]


class Probes(NamedTuple):
    """What the audited documents lend."""

    asked: Drawn
    lent: arrow.UInt64s  # ascending
    owners: Rows
    least: Rows  # hits that make a candidate
    filter: arrow.UInt64s

    @classmethod
    def of(cls, asked: Drawn, bound: Bound) -> "Probes":
        """The probes of some documents."""
        _rows, items, offsets = asked._replace(offsets=asked.offsets[: asked.rows.size + 1])
        most, hits = num_probes(bound.p / bound.q)
        sizes = np.diff(offsets)
        room = int(np.minimum(sizes, most).sum())
        lent, owners = np.empty(room, np.uint64), np.empty(room, np.int64)
        filled = auditing.bottom_items(items, offsets, most, _SEED, lent, owners)
        order = np.argsort(lent[:filled], kind="stable")
        whole = -(-bound.p * sizes // bound.q)  # a small set is lent whole: a partner shares ceil(t·n) of it
        table = np.zeros(1 << (_FILTER_BITS - 6), np.uint64)
        auditing.mark_filter(lent[:filled], np.uint64(64 - _FILTER_BITS), table)
        least = np.where(sizes <= most, whole, hits)
        return cls(asked, lent[order], owners[order], least, arrow.frozen(table))


class Ranking(NamedTuple):
    """Which partners are asked about, where that is known beforehand.

    Attributes:
        places: by row, the place in the order of priority; -1 for a document that is not a partner to ask about.
        owners: the places of the audited documents.
        stays: whether these stay; of one that does not, only partners that outrank it are asked about.
    """

    places: Rows
    owners: Rows
    stays: npt.NDArray[np.bool_]


def _sides(
    ranking: Ranking | None, lists: Sequence[arrow.Lists], rows: Rows, asked: Drawn
) -> tuple[auditing.Others, auditing.Audited]:
    """Some documents and the audited ones, with their places; all partners are equal where nothing is known."""
    if ranking is None:
        number = asked.rows.size
        places, ranks, stays = np.zeros(rows.size, np.int64), np.zeros(number, np.int64), np.ones(number, np.bool_)
    else:
        places, ranks, stays = ranking.places[rows], ranking.owners, ranking.stays
    return auditing.Others(*lists[0], rows, places, *lists[-1]), auditing.Audited(*asked, ranks, stays)


@dataclass(frozen=True, eq=False)
class PartnersStage:
    """The stage that looks every document's items up among the probes."""

    probes: Probes
    bound: Bound
    ranking: Ranking | None = None  # None: whoever is similar is a partner
    most: int = ALL_PARTNERS

    output = PARTNERS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The true partners among a batch of FEATURES."""
        names = schemas.COMPARED if self.bound.second >= APART else schemas.COMPARED[:1]
        return self.looked_up([arrow.lists(batch.column(name)) for name in names], arrow.ints(batch.column("row")))[0]

    def looked_up(self, lists: Sequence[arrow.Lists], rows: Rows) -> tuple[pa.RecordBatch, int]:
        """The true partners among some documents, and how many comparisons that took."""
        probes, number = self.probes, self.probes.asked.rows.size
        documents, audited = _sides(self.ranking, lists, rows, probes.asked)
        lent = auditing.Lent(np.uint64(64 - _FILTER_BITS), probes.filter, probes.lent, probes.owners, probes.least)
        hits, touched = np.zeros(number, np.int64), np.empty(number, np.int64)
        room = 1 << 12
        while True:
            out = auditing.Partners(*(np.empty(room, np.int64) for _ in range(4)))
            num_partners = np.zeros((number, 2), np.int64)
            filled, compared = auditing.lookup_documents(
                documents, lent, audited, self.bound, self.most, num_partners, hits, touched, out
            )
            if filled >= 0:
                columns = [arrow.numbers(column[:filled]) for column in out]
                return pa.RecordBatch.from_arrays(columns, schema=PARTNERS), compared
            room *= 8


@dataclass(frozen=True, eq=False)
class VectorPartners:
    """The stage that compares every vector with the audited ones."""

    asked: Drawn
    bound: Bound
    ranking: Ranking | None = None  # None: whoever is similar is a partner
    most: int = ALL_PARTNERS

    output = PARTNERS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The true partners among a batch of FEATURES."""
        lists, rows = [arrow.lists(batch.column("items"))], arrow.ints(batch.column("row"))
        documents, audited = _sides(self.ranking, lists, rows, self.asked)
        room = 1 << 12
        while True:
            out = auditing.Partners(*(np.empty(room, np.int64) for _ in range(4)))
            num_partners = np.zeros((self.asked.rows.size, 2), np.int64)
            filled = auditing.compare_vectors(
                documents, audited, self.bound.p, self.bound.q, self.most, num_partners, out
            )
            if filled >= 0:
                return pa.RecordBatch.from_arrays([arrow.numbers(column[:filled]) for column in out], schema=PARTNERS)
            room *= 8
