"""The audit of a run: how much of what is true is in its answer, what it left, and what it took wrongly.

1. What is true is computed anew from the features; neither sketches nor keys nor decisions are believed.
2. Every figure is about the answer, after verification or estimate: of a list of pairs, the share of the true pairs
   that it has; of a decision, the share of the documents that had to go and went, and the duplicates that stay.
3. Only distinct documents are asked about: copies in the sample would flatter the recall.
4. Where pairs must reach a second measure, a true one reaches both: letters are compared, too.
5. What lies below the threshold is looked at in fewer documents, and only counted: it is judged by nobody.
6. The law is here, once (`of_pairs`, `of_documents`); engines only say which partners the sampled documents have.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.answers.stats import Audit, Below, Share
from nearsame.arrow import Rows, UInt64s, distinct, numbers
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.kernels.scores import APART, Bound
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Method
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.features.words import unpacked_letters
from nearsame.stages.pairs import measures
from nearsame.stages.pairs.audit import ALL_PARTNERS, PARTNERS, Drawn, PartnersStage, Probes, Ranking, VectorPartners
from nearsame.stages.pairs.expand import Listed
from nearsame.stages.pairs.shares import bunched_share, share

__all__ = [
    "NUM_RECHECKED",
    "Sampling",
    "affordable",
    "audit_decision",
    "audit_pairs",
    "compared_by",
    "of_documents",
    "of_pairs",
    "partners_stage",
    "similar_enough",
    "witnessed",
]

Flags = npt.NDArray[np.bool_]
_Ranked = Callable[[Rows], Ranking]

_NUM_AUDITED = 5_000
_NUM_VECTORS = 1_000  # each is compared with all others
_BELOW = 5  # one of so many of them is asked what lies below the threshold
_STEPS = 20  # from the threshold down, as wide as as many from there to 1
NUM_RECHECKED = 1_000
_FEWEST_AUDITED = 200
_MOST_COMPARED = 1 << 22  # some seconds
_PILOT = 512  # audited documents, by which the number of comparisons is predicted
_ROUNDING = 1e-12
_NOBODY = -1  # the place of a document that is not a partner to ask about
_SEEDS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC4CEB9FE1A85EC53)


class Sampling(NamedTuple):
    """What is drawn: so many documents at most (None: as many as suits the method), by a seed; and what is asked of it.

    `below` asks some of them, too, what lies below the threshold: another walk through all features.
    """

    documents: int | None = None
    seed: int = 0
    below: bool = False

    def most(self, method: Method) -> int:
        """How many documents to draw."""
        usual = _NUM_VECTORS if method.of_vectors else _NUM_AUDITED
        return usual if self.documents is None else self.documents


USUAL = Sampling()


def compared_by(method: Method) -> tuple[str, ...]:
    """The columns of features by which true pairs are found."""
    return schemas.COMPARED if _bound(method, method.least).second >= APART else schemas.COMPARED[:1]


def _bound(method: Method, threshold: Fraction) -> Bound:
    """What makes a pair a true one: of sketches too, what they stand for is compared."""
    if method.of_vectors:
        return measures.bound(measures.ANGLE, threshold)
    second = method.second
    also = second and (measures.second(second[0], sketched=False), second[1])
    return measures.bound(measures.JACCARD, threshold, also)


def _measured(method: Method) -> dict[str, Any]:
    """What the figures are about."""
    confirm, least = method.second or (None, None)
    return {
        "measure": "cosine" if method.of_vectors else "jaccard",
        "confirm": confirm,
        "confirm_threshold": None if least is None else float(least),
    }


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
    return Audit(float(threshold), num_sampled, int((totals > 0).sum()), recall, of="pairs", **_measured(method))


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
        **_measured(method),
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
    ranks, drawn = state.corpus.ranks, _drawn(state, origins, sampling).rows
    rows, owners, partners, _ = _partners(
        state, drawn, threshold, lambda rows: Ranking(places, ranks[rows], ~goes[rows]), most=1
    )
    must_go, has_kept = np.zeros((2, rows.size), np.bool_)
    must_go[owners[ranks[partners] < ranks[rows[owners]]]] = True
    has_kept[owners] = True
    audit = of_documents(state.method, threshold, goes[rows], must_go, has_kept)
    audit = replace(audit, precision=_precision(state, origins, decided, threshold))
    if not sampling.below:
        return audit
    staying = _drawn(state, origins, sampling, _BELOW, ~goes)
    below = _below(
        state, staying, threshold, lambda rows: Ranking(places, ranks[rows], np.zeros(rows.size, np.bool_)), ends=0
    )
    return replace(audit, below=below)


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

    def ranking(rows: Rows) -> Ranking:
        return Ranking(places, np.zeros_like(rows), rows >= 0)

    rows, owners, partners, _ = _partners(state, _drawn(state, origins, sampling).rows, threshold, ranking)
    asked = np.zeros(size, np.bool_)
    asked[rows] = True
    here = asked[listed.a] | asked[listed.b]
    known = _undirected(listed.a[here], listed.b[here], size)
    is_listed = np.isin(_undirected(rows[owners], partners, size), known, kind="sort")
    audit = of_pairs(state.method, threshold, rows.size, owners, is_listed)
    if not sampling.below:
        return audit
    some = _drawn(state, origins, sampling, _BELOW)
    return replace(audit, below=_below(state, some, threshold, ranking, ends=1 if across else 2))


def _undirected(a: Rows, b: Rows, size: int) -> Rows:
    """A number of each pair, whichever document is first."""
    return np.minimum(a, b) * size + np.maximum(a, b)


class _Some(NamedTuple):
    """Rows in a random order, and of how many they are the first."""

    rows: Rows
    of: int


def _drawn(
    state: State[Arrays], origins: pa.Table, sampling: Sampling, one_in: int = 1, among: Flags | None = None
) -> _Some:
    """Distinct documents of the judged side, of some if these are named."""
    leads = state.corpus.leads & (state.corpus.about.sizes > 0)
    leads[: state.corpus.num_against] = False
    all_of_them = np.flatnonzero(leads if among is None else leads & among)
    most = sampling.most(state.method) // one_in
    return _Some(_least(all_of_them, origins, most, sampling.seed), all_of_them.size)


def _below(state: State[Arrays], some: _Some, threshold: Fraction, ranking: _Ranked, ends: int) -> Below | None:
    """What is similar below a threshold: pairs, each of which has so many `ends` to be drawn by; of 0, the nearest."""
    width = (1 - threshold) / _STEPS
    steps = [threshold - width * step for step in range(_STEPS, 0, -1) if threshold - width * step >= threshold / 2]
    if not (width and steps and some.rows.size):
        return None
    rows, owners, _, similarity = _partners(state, some.rows, steps[0], ranking)
    if not ends:
        nearest = np.zeros(rows.size)
        np.maximum.at(nearest, owners, similarity)
        similarity = nearest
    edges = [round(float(step), 6) for step in (*steps, threshold)]
    counts = np.bincount(np.searchsorted(edges, similarity + _ROUNDING, side="right"), minlength=len(edges) + 1)
    stands_for = some.of / rows.size / max(1, ends)
    return Below(rows.size, stands_for, tuple(zip(edges[:-1], counts[1:-1].tolist(), strict=True)))


def _partners(
    state: State[Arrays], rows: Rows, threshold: Fraction, ranking: _Ranked, most: int = ALL_PARTNERS
) -> tuple[Rows, Rows, Rows, npt.NDArray[np.float64]]:
    """As many of the rows as can be asked about, and of each true partner whose it is (a number), its row, how similar.

    Args:
        state: what the run knows.
        rows: whom to ask about, in a random order.
        threshold: that makes a partner a true one.
        ranking: of some rows, whom they are to be compared with.
        most: partners of each that are wanted.
    """
    asked = Drawn(rows, *state.corpus.engine.take(state.leaders, rows, compared_by(state.method)))
    asked = affordable(state.method, threshold, asked, int(state.corpus.best.size), ranking)
    rows = asked.rows
    groups = state.corpus.engine.groups
    apart = state.corpus.apart
    most = most if groups is None and apart is None else ALL_PARTNERS  # the first ones may not count
    stage = partners_stage(state.method, threshold, asked, ranking(rows), most)
    pairs = state.corpus.engine.collect(state.corpus.engine.map(state.leaders, stage))
    owners, partners, nums, dens = (pairs.column(name).to_numpy() for name in PARTNERS.names)
    counts = np.ones(owners.size, np.bool_) if groups is None else groups[rows[owners]] == groups[partners]
    if apart is not None:
        counts &= ~apart.holds(rows[owners], state.corpus.best[partners])
    return rows, owners[counts], partners[counts], (nums / dens)[counts]


def _least(rows: Rows, origins: pa.Table, most: int, seed: int = 0) -> Rows:
    """At most so many of the rows, chosen and ordered by a hash of where they come from."""
    chosen = computing.take(origins.select(["source", "position"]), numbers(rows))
    source, position = (chosen.column(name).to_numpy().astype(np.uint64) for name in ("source", "position"))
    hashes = (source + np.uint64(1)) * _SEEDS[0] ^ position ^ np.uint64(seed) << np.uint64(40)
    for shift in (33, 29, 32):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * _SEEDS[1]
    return rows[np.argsort(hashes, kind="stable")[:most]]


def affordable(
    method: Method,
    threshold: Fraction,
    asked: Drawn,
    num_documents: int,
    ranking: Callable[[Rows], Ranking] | None = None,
) -> Drawn:
    """As many of the sampled documents, in their random order, as can be asked about in a few seconds.

    Where thousands of documents resemble each other, each sampled one is compared with all of them: fewer are asked
    about then, and the interval is wider. How often is predicted from the sample itself: its first documents among
    each other.
    """
    number = np.arange(asked.rows.size)
    pilot = asked.where(number < _PILOT)
    if method.of_vectors or pilot.rows.size == 0:
        return asked
    stage = partners_stage(method, threshold, pilot, ranking and ranking(pilot.rows))
    _, compared = stage.looked_up(pilot.lists(stage.bound), pilot.rows)
    predicted = compared * (num_documents / pilot.rows.size) * (number.size / pilot.rows.size)
    share_of_them = _MOST_COMPARED / max(predicted, 1)
    return asked.where(number < max(_FEWEST_AUDITED, int(number.size * share_of_them)))


def partners_stage(
    method: Method,
    threshold: Fraction,
    asked: Drawn,
    ranking: Ranking | None = None,
    most: int = ALL_PARTNERS,
) -> Any:
    """The stage that finds the true partners of some documents."""
    bound = _bound(method, threshold)
    if method.of_vectors:
        return VectorPartners(asked, bound, ranking, most)
    return PartnersStage(Probes.of(asked, bound), bound, ranking, most)


def _precision(state: State[Arrays], origins: pa.Table, decided: Decided, threshold: Fraction) -> Share | None:
    """Some removed documents, compared once more with their witnesses."""
    own = decided.rows[state.corpus.best[decided.rows] == decided.rows]
    rows = np.sort(_least(own, origins, NUM_RECHECKED))
    witnesses = decided.witnesses[np.searchsorted(decided.rows, rows)]
    leaders = state.corpus.best[witnesses]
    both = distinct(np.concatenate([rows, leaders]))
    known = Drawn(both, *state.corpus.engine.take(state.leaders, both, compared_by(state.method)))
    pairs = (np.searchsorted(both, rows), np.searchsorted(both, leaders))
    return witnessed(state.method, threshold, pairs, known)


def witnessed(method: Method, threshold: Fraction, pairs: tuple[Rows, Rows], known: Drawn) -> Share | None:
    """The share of pairs (by their places among some documents) that are as similar as they should be."""
    is_similar = similar_enough(method, threshold, pairs, known)
    return share(int(is_similar.sum()), is_similar.size)


def similar_enough(method: Method, threshold: Fraction, pairs: tuple[Rows, Rows], known: Drawn) -> Flags:
    """Which pairs are, by plain sets of items, and by plain texts."""
    lists = [known.items[start:end] for start, end in pairwise(known.offsets)]
    reached: Any = _cosine_reached if method.of_vectors else _jaccard_reached
    similar = np.array([reached(lists[a], lists[b], threshold) for a, b in zip(*pairs, strict=True)], np.bool_)
    if method.second is None:
        return similar
    confirm, least = method.second
    beside = lists[known.rows.size :] or lists
    reached = _CONFIRMED[confirm]
    return similar & np.array([reached(beside[a], beside[b], least) for a, b in zip(*pairs, strict=True)], np.bool_)


def _jaccard_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return Fraction(shared, max(1, a.size + b.size - shared)) >= threshold


def _cosine_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    x, y = (vector[1:].view(np.int16).astype(np.int64) for vector in (a, b))
    product, squares = int(x @ y), int(x @ x) * int(y @ y)
    return product > 0 and Fraction(product**2, squares) >= threshold**2


def _shared_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    shared = np.intersect1d(a, b, assume_unique=True).size
    return Fraction(shared**2, max(1, a.size * b.size)) >= threshold**2


def _letters_reached(a: UInt64s, b: UInt64s, threshold: Fraction) -> bool:
    from nearsame.stages.pairs import likeness  # noqa: PLC0415  (rapidfuzz, which few runs need)

    x, y = unpacked_letters(a), unpacked_letters(b)
    distance = likeness.indel_distance(x, y) or 0
    return bool(x and y) and likeness.edit_similarity(distance, len(x) + len(y)) >= threshold


_CONFIRMED = {"jaccard": _jaccard_reached, "cosine": _shared_reached, "edit": _letters_reached}
