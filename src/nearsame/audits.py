"""The audit of a run: how many true near-duplicates its keys met, how many it left, and how many it took wrongly.

1. What is true is computed anew from the features; neither sketches nor keys nor decisions are believed.
2. Only distinct documents are asked about: copies in the sample would flatter the recall.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.arrow import UInt64s
from nearsame.engines.base import Stage
from nearsame.methods import Method, Shingled
from nearsame.pipeline import State
from nearsame.results import Audit, Share
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.audit import MOST_PARTNERS, PartnersStage, Probes, VectorPartners, share, share_keys

__all__ = ["NUM_AUDITED", "NUM_RECHECKED", "NUM_VECTORS", "audit", "can_be_audited", "partners_stage", "witnessed"]

Rows = npt.NDArray[np.int64]

NUM_AUDITED = 5_000
NUM_VECTORS = 1_000  # each is compared with all others
NUM_RECHECKED = 1_000
_SEEDS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC4CEB9FE1A85EC53)


@dataclass(frozen=True)
class _Truth:
    """The audited rows, and the pairs that they are really in."""

    rows: Rows
    owners: Rows  # numbers in rows
    partners: Rows  # rows


def can_be_audited(method: Method) -> bool:
    """Whether a method is about Jaccard or the cosine of vectors, which is what the audit computes."""
    return method.of_vectors or (isinstance(method, Shingled) and method.measure == "jaccard")


def audit(state: State, origins: pa.Table, decided: Decided | None, threshold: Fraction, *, within: bool) -> Audit:
    """Audit a run that has decided (or, with None, one that has only listed pairs)."""
    kept = np.ones(state.best.size, np.bool_)
    if decided is not None:
        kept[decided.rows] = False
    truth = _truth(state, _sampled(state, origins), kept, threshold, within=within)
    has_partner = np.unique(truth.owners)
    keyed = share_keys(truth.rows[truth.owners], truth.partners, *_entries(state))
    met = np.unique(truth.owners[keyed])
    stay = np.flatnonzero(kept[truth.rows])
    missed = np.unique(truth.owners[kept[truth.rows[truth.owners]] & kept[truth.partners]])
    return Audit(
        threshold=float(threshold),
        sampled=truth.rows.size,
        with_partner=has_partner.size,
        key_recall=share(met.size, has_partner.size),
        residual=None if decided is None else share(missed.size, stay.size),
        precision=None if decided is None else _precision(state, origins, decided, threshold),
        measure=state.method.measure,
    )


def _sampled(state: State, origins: pa.Table) -> Rows:
    """The distinct documents of the judged side whose hash of (source, position) is least, by row."""
    rows = np.arange(state.best.size)
    asked = (state.best == rows) & (state.about.sizes > 0) & (rows >= state.num_against)
    return _least(np.flatnonzero(asked), origins, NUM_VECTORS if state.method.of_vectors else NUM_AUDITED)


def _least(rows: Rows, origins: pa.Table, most: int) -> Rows:
    """At most so many of the rows, chosen by a hash of where they come from; ascending."""
    chosen = origins.select(["source", "position"]).take(pa.array(rows))
    source, position = (chosen.column(name).to_numpy().astype(np.uint64) for name in ("source", "position"))
    hashes = (source + np.uint64(1)) * _SEEDS[0] ^ position
    for shift in (33, 29, 32):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * _SEEDS[1]
    return np.sort(rows[np.argsort(hashes, kind="stable")[:most]])


def _truth(state: State, rows: Rows, kept: npt.NDArray[np.bool_], threshold: Fraction, *, within: bool) -> _Truth:
    stage = partners_stage(state.method, threshold, (rows, *state.engine.take(state.distinct, rows)), kept)
    found = state.engine.collect(state.engine.map(state.distinct, stage))
    owners, partners = (found.column(name).to_numpy() for name in ("owner", "row"))
    counts = within | (partners < state.num_against)
    return _Truth(rows, owners[counts], partners[counts])


def partners_stage(
    method: Method,
    threshold: Fraction,
    asked: tuple[Rows, UInt64s, Rows],
    kept: npt.NDArray[np.bool_] | None = None,
    most: int = MOST_PARTNERS,
) -> Stage:
    """The stage that finds the true partners of some documents: rows, features, and where each one's begin."""
    if method.of_vectors:
        return VectorPartners(*asked, measures.bound(measures.ANGLE, threshold), kept, most)
    bound = measures.bound(measures.JACCARD, threshold)
    return PartnersStage(Probes.of(*asked, bound), bound, kept, most)


def _entries(state: State) -> tuple[Any, ...]:
    entries = state.meeting.entries if state.meeting else None
    nothing = np.zeros(0, np.int64)
    return entries[:3] if entries else (nothing, np.zeros(1, np.int64), nothing)


def _precision(state: State, origins: pa.Table, decided: Decided, threshold: Fraction) -> Share | None:
    """Some removed documents, compared once more with their witnesses."""
    own = decided.rows[state.best[decided.rows] == decided.rows]
    rows = _least(own, origins, NUM_RECHECKED)
    witnesses = decided.witnesses[np.searchsorted(decided.rows, rows)]
    leaders = state.best[witnesses]
    both = np.unique(np.concatenate([rows, leaders]))
    items, offsets = state.engine.take(state.distinct, both)
    pairs = (np.searchsorted(both, rows), np.searchsorted(both, leaders))
    return witnessed(state.method, threshold, pairs, items, offsets)


def witnessed(
    method: Method, threshold: Fraction, pairs: tuple[Rows, Rows], items: UInt64s, offsets: Rows
) -> Share | None:
    """The share of pairs (by their places in the offsets of features) that are as similar as they should be."""
    sets = [items[start:end] for start, end in pairwise(offsets)]
    reached = _cosine_reached if method.of_vectors else _jaccard_reached
    found = [reached(sets[a], sets[b], threshold) for a, b in zip(*pairs, strict=True)]
    return share(sum(found), len(found))


def _jaccard_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return Fraction(shared, max(1, a.size + b.size - shared)) >= threshold


def _cosine_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    x, y = (vector[1:].view(np.int16).astype(np.int64) for vector in (a, b))
    product, squares = int(x @ y), int(x @ x) * int(y @ y)
    return product > 0 and Fraction(product**2, squares) >= threshold**2
