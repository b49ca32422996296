"""The audit of a run: how much of what is true is in its answer, what it left, and what it took wrongly.

1. What is true is computed anew from the features; neither sketches nor keys nor decisions are believed.
2. Every figure is about the answer, after verification or estimate: of a list of pairs, the share of the true pairs
   that it has; of a decision, the share of the documents that had to go and went, and the duplicates that stay.
3. Only distinct documents are asked about: copies in the sample would flatter the recall.
4. The law is here, once (`of_pairs`, `of_documents`); engines only say which partners the sampled documents have.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow
from nearsame.answers.stats import Audit, Share
from nearsame.arrow import Rows, UInt64s
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.recipes.choices import AuditedMeasure
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.audit import ALL_PARTNERS, PartnersStage, Probes, Ranking, VectorPartners
from nearsame.stages.pairs.expand import Listed
from nearsame.stages.pairs.shares import bunched_share, share

__all__ = [
    "NUM_RECHECKED",
    "Sampling",
    "affordable",
    "audit_decision",
    "audit_pairs",
    "can_be_audited",
    "of_documents",
    "of_pairs",
    "partners_stage",
    "similar_enough",
    "witnessed",
]

Flags = npt.NDArray[np.bool_]

_NUM_AUDITED = 5_000
_NUM_VECTORS = 1_000  # each is compared with all others
NUM_RECHECKED = 1_000
_FEWEST_AUDITED = 200
_MOST_COMPARED = 1 << 22  # some seconds
_PILOT = 512  # audited documents, by which the number of comparisons is predicted
_NOBODY = -1  # the place of a document that is not a partner to ask about
_SEEDS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC4CEB9FE1A85EC53)


class Sampling(NamedTuple):
    """How documents are drawn: at most so many (None: as many as suits the method), and by which seed."""

    documents: int | None = None
    seed: int = 0

    def most(self, method: Method) -> int:
        """How many documents to draw."""
        usual = _NUM_VECTORS if method.of_vectors else _NUM_AUDITED
        return usual if self.documents is None else self.documents


USUAL = Sampling()


def can_be_audited(method: Method) -> bool:
    """Whether a method is about Jaccard or the cosine of vectors alone, which is what the audit computes."""
    return method.of_vectors or (method.measure == "jaccard" and method.get("confirm") is None)


def _measured(method: Method) -> AuditedMeasure:
    return "cosine" if method.of_vectors else "jaccard"


def of_pairs(method: Method, threshold: Fraction, num_sampled: int, owners: Rows, listed: Flags) -> Audit:
    """What a list of pairs has of the true ones.

    Args:
        method: of the run.
        threshold: that makes a pair a true one.
        num_sampled: documents that were asked about.
        owners: the sampled document of each true pair that was found for it, numbered from 0.
        listed: whether the pair is in the list.
    """
    totals, hits = (np.bincount(some, minlength=num_sampled) for some in (owners, owners[listed]))
    recall = bunched_share(hits, totals)
    return Audit(float(threshold), num_sampled, int((totals > 0).sum()), recall, measure=_measured(method), of="pairs")


def of_documents(method: Method, threshold: Fraction, goes: Flags, must_go: Flags, has_kept: Flags) -> Audit:
    """What a decision has of the documents that had to go, and what it left.

    Args:
        method: of the run.
        threshold: that makes a pair a true one.
        goes: of each sampled document, whether it is removed.
        must_go: whether it has a true partner that outranks it and stays.
        has_kept: whether it has a true partner that stays.
    """
    return Audit(
        threshold=float(threshold),
        sampled=goes.size,
        with_partner=int(must_go.sum()),
        recall=share(int((must_go & goes).sum()), int(must_go.sum())),
        residual=share(int((has_kept & ~goes).sum()), int((~goes).sum())),
        measure=_measured(method),
    )


def audit_decision(  # noqa: PLR0913  (what was decided, about what, by whose rules, and how it is sampled)
    state: State[Arrays],
    origins: pa.Table,
    decided: Decided,
    threshold: Fraction,
    sampling: Sampling = USUAL,
    *,
    within: bool,
) -> Audit:
    """Audit a run that has decided who stays."""
    goes = np.zeros(state.corpus.best.size, np.bool_)
    goes[decided.rows] = True
    places = np.where(goes, _NOBODY, state.corpus.ranks)
    if not within:
        places[state.corpus.num_against :] = _NOBODY
    rows, owners, partners = _partners(
        state, origins, threshold, sampling, lambda rows: Ranking(places, state.corpus.ranks[rows], ~goes[rows]), most=1
    )
    must_go, has_kept = np.zeros((2, rows.size), np.bool_)
    must_go[owners[state.corpus.ranks[partners] < state.corpus.ranks[rows[owners]]]] = True
    has_kept[owners] = True
    audit = of_documents(state.method, threshold, goes[rows], must_go, has_kept)
    return replace(audit, precision=_precision(state, origins, decided, threshold))


def audit_pairs(  # noqa: PLR0913  (as above)
    state: State[Arrays],
    origins: pa.Table,
    listed: Listed,
    threshold: Fraction,
    sampling: Sampling = USUAL,
    *,
    across: bool,
) -> Audit:
    """Audit a run that has listed pairs; `across`, of two sides."""
    size = state.corpus.best.size
    places = np.zeros(size, np.int64)
    if across:
        places[state.corpus.num_against :] = _NOBODY
    rows, owners, partners = _partners(
        state, origins, threshold, sampling, lambda rows: Ranking(places, np.zeros_like(rows), rows >= 0)
    )
    asked = np.zeros(size, np.bool_)
    asked[rows] = True
    here = asked[listed.a] | asked[listed.b]
    known = _undirected(listed.a[here], listed.b[here], size)
    is_listed = np.isin(_undirected(rows[owners], partners, size), known, kind="sort")
    return of_pairs(state.method, threshold, rows.size, owners, is_listed)


def _undirected(a: Rows, b: Rows, size: int) -> Rows:
    """A number of each pair, whichever document is first."""
    return np.minimum(a, b) * size + np.maximum(a, b)


def _partners(  # noqa: PLR0913, PLR0917  (of whom, by what, drawn how, whom to ask about, and how many of them)
    state: State[Arrays], origins: pa.Table, threshold: Fraction, sampling: Sampling,
    ranking: Callable[[Rows], Ranking], most: int = ALL_PARTNERS,
) -> tuple[Rows, Rows, Rows]:  # fmt: skip
    """The sampled rows, and of each of their true partners whose it is (a number) and its row."""
    leads = state.corpus.leads & (state.corpus.about.sizes > 0)
    leads[: state.corpus.num_against] = False  # only who is judged is asked about
    rows = _least(np.flatnonzero(leads), origins, sampling.most(state.method), sampling.seed)
    items, offsets = state.corpus.engine.take(state.leaders, rows)
    few = affordable(state.method, threshold, (rows, items, offsets), int(state.corpus.best.size), ranking)
    rows, items, offsets = rows[:few], items[: offsets[few]], offsets[: few + 1]
    groups = state.corpus.engine.groups
    most = most if groups is None else ALL_PARTNERS  # the first ones may be of other groups
    stage = partners_stage(state.method, threshold, (rows, items, offsets), ranking(rows), most)
    pairs = state.corpus.engine.collect(state.corpus.engine.map(state.leaders, stage))
    owners, partners = (pairs.column(name).to_numpy() for name in ("owner", "row"))
    same = slice(None) if groups is None else groups[rows[owners]] == groups[partners]
    return rows, owners[same], partners[same]


def _least(rows: Rows, origins: pa.Table, most: int, seed: int = 0) -> Rows:
    """At most so many of the rows, chosen and ordered by a hash of where they come from."""
    chosen = origins.select(["source", "position"]).take(pa.array(rows))
    source, position = (chosen.column(name).to_numpy().astype(np.uint64) for name in ("source", "position"))
    hashes = (source + np.uint64(1)) * _SEEDS[0] ^ position ^ np.uint64(seed) << np.uint64(40)
    for shift in (33, 29, 32):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * _SEEDS[1]
    return rows[np.argsort(hashes, kind="stable")[:most]]


def affordable(
    method: Method,
    threshold: Fraction,
    asked: tuple[Rows, UInt64s, Rows],
    num_documents: int,
    ranking: Callable[[Rows], Ranking] | None = None,
) -> int:
    """How many of the sampled documents, in their random order, can be asked about in a few seconds.

    Where thousands of documents resemble each other, each sampled one is compared with all of them: fewer are asked
    about then, and the interval is wider. How often is predicted from the sample itself: its first documents among
    each other.
    """
    rows, items, offsets = asked
    few = min(rows.size, _PILOT)
    if method.of_vectors or few == 0:
        return rows.size
    pilot = rows[:few], items[: offsets[few]], offsets[: few + 1]
    stage = partners_stage(method, threshold, pilot, ranking and ranking(pilot[0]))
    _, compared = stage.looked_up(arrow.Lists(pilot[1], pilot[2][:-1], pilot[2][1:]), pilot[0])
    predicted = compared * (num_documents / few) * (rows.size / few)
    share_of_them = _MOST_COMPARED / max(predicted, 1)
    return min(rows.size, max(_FEWEST_AUDITED, int(rows.size * share_of_them)))


def partners_stage(
    method: Method,
    threshold: Fraction,
    asked: tuple[Rows, UInt64s, Rows],
    ranking: Ranking | None = None,
    most: int = ALL_PARTNERS,
) -> Any:
    """The stage that finds the true partners of some documents: rows, features, and where each one's begin."""
    if method.of_vectors:
        return VectorPartners(*asked, measures.bound(measures.ANGLE, threshold), ranking, most)
    bound = measures.bound(measures.JACCARD, threshold)
    return PartnersStage(Probes.of(*asked, bound), bound, ranking, most)


def _precision(state: State[Arrays], origins: pa.Table, decided: Decided, threshold: Fraction) -> Share | None:
    """Some removed documents, compared once more with their witnesses."""
    own = decided.rows[state.corpus.best[decided.rows] == decided.rows]
    rows = np.sort(_least(own, origins, NUM_RECHECKED))
    witnesses = decided.witnesses[np.searchsorted(decided.rows, rows)]
    leaders = state.corpus.best[witnesses]
    both = np.unique(np.concatenate([rows, leaders]))
    items, offsets = state.corpus.engine.take(state.leaders, both)
    pairs = (np.searchsorted(both, rows), np.searchsorted(both, leaders))
    return witnessed(state.method, threshold, pairs, items, offsets)


def witnessed(
    method: Method, threshold: Fraction, pairs: tuple[Rows, Rows], items: UInt64s, offsets: Rows
) -> Share | None:
    """The share of pairs (by their places in the offsets of features) that are as similar as they should be."""
    is_similar = similar_enough(method, threshold, pairs, items, offsets)
    return share(int(is_similar.sum()), is_similar.size)


def similar_enough(
    method: Method, threshold: Fraction, pairs: tuple[Rows, Rows], items: UInt64s, offsets: Rows
) -> Flags:
    """Which pairs are, by plain sets of items."""
    sets = [items[start:end] for start, end in pairwise(offsets)]
    reached = _cosine_reached if method.of_vectors else _jaccard_reached
    return np.array([reached(sets[a], sets[b], threshold) for a, b in zip(*pairs, strict=True)], np.bool_)


def _jaccard_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return Fraction(shared, max(1, a.size + b.size - shared)) >= threshold


def _cosine_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    x, y = (vector[1:].view(np.int16).astype(np.int64) for vector in (a, b))
    product, squares = int(x @ y), int(x @ x) * int(y @ y)
    return product > 0 and Fraction(product**2, squares) >= threshold**2
