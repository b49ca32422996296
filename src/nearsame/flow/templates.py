"""Templates: documents that differ, and go because much of each is one text that many have; and what keeps them.

1. Looked at are some of the near copies not far above the threshold, then some of those in large clusters. Where most
   of them have hardly anything in common with their witnesses that others of them have in common with theirs, nothing
   more is done.
2. Dropping what too many documents have is tried on them, for several numbers. It is advised where most of them are no
   longer similar to their witnesses then: these hang on what many documents have.
3. How many documents have a feature is counted exactly, over all of them; nothing is drawn, so the same run says the
   same. On Spark nobody looks.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.arrow import Mask, Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.flow.arrays import Arrays
from nearsame.flow.corpus import State
from nearsame.flow.runs import Run
from nearsame.named import NamedTuple
from nearsame.recipes.methods import Method, Shingled
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.features.shingles import ShingleSets

__all__ = ["looked_for", "warnings"]

_NEAR = 0.5  # of the way from the threshold to 1
_HONEST = 0.85  # from here on those in a large cluster are taken for versions of one text
_MANY = 50  # near copies near the threshold, or of one witness: of fewer nothing is said, nor a smaller number tried
_SEEN = 10  # documents of a sample that have a feature: of fewer, nobody can tell how many have it
_TRIED, _OTHERS = 800, 400  # of these, and of those further up
_MOST_ITEMS = 1 << 18  # of those that are tried
_POPULAR = 3  # pairs, of those that are tried, that share a feature
_SOME = 0.25  # of what two documents share
_MOST = 0.7  # of the near copies that are tried
_NUMBERS = tuple(digit * 10**power for power in range(1, 7) for digit in (1, 2, 5))[2:]
_ENOUGH = 0.95  # of what the best number parts: then a higher one is better
_ROUNDING = 1e-9

Texts = Callable[[Rows], list[str]]
Floats = npt.NDArray[np.float64]


def looked_for(run: Run, decided: Decided) -> Run:
    """The run, with a note if there are any among the documents that go."""
    return replace(run, notes=(*run.notes, *warnings(run.state, decided, run.texts, run.clock)))


def warnings(state: State[Arrays], decided: Decided, texts: Texts, clock: Clock, times: float = 1) -> tuple[str, ...]:
    """What to say of templates among the documents that go: nothing, or a sentence.

    Args:
        state: what the method knows.
        decided: who goes.
        texts: reads the texts of some rows again.
        clock: counts the seconds, where there is something to look at.
        times: how many documents each stands for, where these are a sample.
    """
    if not _can_drop(state.method) or state.leaders is None:
        return ()
    near = _NearCopies.of(state, decided, times)
    for some in (near.close, near.crowded):
        if some.mask.sum() >= near.many:
            with clock("templates"):
                told = _told(state, near, some, texts)
            if told is not None:
                return (told,)
    return ()


def _told(state: State[Arrays], near: "_NearCopies", some: "_Some", texts: Texts) -> str | None:
    """What to say of some of the near copies."""
    pairs = _Pairs.of(state, near, some.mask)
    if not pairs.alike(_POPULAR if near.times == 1 else 2):  # in a sample, fewer meet their like
        return None
    trial = _Trial.of(state, pairs, near.times)
    number = trial.best()
    if number is None:
        return None
    part = trial.part(number)
    spelt = _spelt(state, part, trial, texts)
    return _sentence(near, some, trial, number, (spelt, round(float(trial.counts[part]))))


def _can_drop(method: Method) -> bool:
    """Whether frequent features can be dropped, and what that does can be tried: sets, by a measure of theirs."""
    has_it = "drop_boilerplate" in type(method).model_fields
    return has_it and method.get("weights") in (None, "one") and method.get("boilerplate_per_host") is None


class _Some(NamedTuple):
    """Near copies that are looked at: where they are, and where the others."""

    mask: Mask
    where: str
    others: str


class _NearCopies(NamedTuple):
    """Different documents that go, each with the witness whose features are not its own."""

    rows: Rows
    witnesses: Rows
    similarity: Floats
    least: float
    size: int  # documents there are
    times: float  # how many each of them stands for

    @classmethod
    def of(cls, state: State[Arrays], decided: Decided, times: float) -> "_NearCopies":
        """All of them."""
        best = state.corpus.best
        own = (best[decided.rows] == decided.rows) & (decided.nums < decided.dens)
        similarity = decided.nums[own] / decided.dens[own]
        rows, witnesses = decided.rows[own], best[decided.witnesses[own]]
        return cls(rows, witnesses, similarity, float(state.method.least), best.size, times)

    @property
    def many(self) -> float:
        """Of fewer nothing is said."""
        return max(_SEEN, _MANY / self.times)

    @property
    def close(self) -> _Some:
        """Those not far above the threshold."""
        is_close = self.similarity < self.least + _NEAR * (1 - self.least)
        return _Some(is_close, "not far above the threshold", "further above it")

    @property
    def crowded(self) -> _Some:
        """Those whose witness many others have, too, and that are no versions of one text."""
        changed = self.similarity < _HONEST
        crowd = np.bincount(self.witnesses[changed], minlength=self.size)
        count = (crowd >= self.many).sum()
        where = f"in {count:,} large clusters" if count > 1 else "in one large cluster"
        return _Some(changed & (crowd[self.witnesses] >= self.many), where, "others")


@dataclass(frozen=True)
class _Pairs:
    """Some near copies with what they and their witnesses have.

    Attributes:
        rows: by pair: the document.
        is_near: whether it is one of those that are looked at; the others are beside them to compare.
        items: all features, ascending.
        owners: by feature of a pair: the pair's number.
        places: where in `items` it is.
        sides: bit 0 where the document has it, bit 1 where its witness has.
    """

    rows: Rows
    is_near: Mask
    items: arrow.UInt64s
    owners: Rows
    places: Rows
    sides: npt.NDArray[np.int64]

    @classmethod
    def of(cls, state: State[Arrays], near: _NearCopies, some: Mask) -> "_Pairs":
        """Evenly over the order of reading."""
        kinds = ((some, _TRIED), (~some, _OTHERS))
        chosen = np.concatenate([_spread(np.flatnonzero(kind), most) for kind, most in kinds])
        sizes = state.corpus.about.sizes
        size = int(sizes[near.rows[chosen]].sum() + sizes[near.witnesses[chosen]].sum())
        chosen = chosen[:: 1 + size // _MOST_ITEMS]
        rows = np.concatenate([near.rows[chosen], near.witnesses[chosen]])
        features, offsets = state.corpus.engine.take(state.leaders, rows)
        documents = np.repeat(np.arange(rows.size), np.diff(offsets))
        items, places = np.unique(features, return_inverse=True)
        keys, at = np.unique((documents % chosen.size) * items.size + places, return_inverse=True)
        sides = np.bincount(at, 1 + documents // chosen.size).astype(np.int64)
        return cls(near.rows[chosen], some[chosen], items, keys // items.size, keys % items.size, sides)

    @property
    def shared(self) -> Mask:
        """By feature: whether both have it, of a pair that is looked at."""
        shared: Mask = (self.sides == 3) & self.is_near[self.owners]
        return shared

    def alike(self, popular_from: int) -> bool:
        """Whether most of those looked at share something that others of them share."""
        owners, places, size = self.owners[self.shared], self.places[self.shared], self.rows.size
        is_popular = np.bincount(places, minlength=self.items.size)[places] >= popular_from
        popular, every = (np.bincount(owners[some], minlength=size) for some in (is_popular, slice(None)))
        return _share(popular[self.is_near] >= _SOME * every[self.is_near]) >= _MOST


@dataclass(frozen=True)
class _Trial:
    """What dropping frequent features would do to some pairs: `counts` says how many documents have each."""

    pairs: _Pairs
    counts: Floats
    times: float
    least: float
    measure: str

    @classmethod
    def of(cls, state: State[Arrays], pairs: _Pairs, times: float) -> "_Trial":
        """With everything counted."""
        weights = np.bincount(state.corpus.best, minlength=state.corpus.best.size)
        from nearsame.stages.features.boilerplate import CountThese  # noqa: PLC0415  (where there is something to try)

        counts = state.corpus.engine.fold(state.leaders, CountThese(pairs.items, weights)) * times
        return cls(pairs, counts, times, float(state.method.least), state.method.measure)

    def parted(self, number: int) -> Mask:
        """Which pairs are no longer similar without what stands in more than that many documents."""
        left, size = self.counts[self.pairs.places] <= number, self.pairs.rows.size
        a, b, both = (
            np.bincount(self.pairs.owners[left & (self.pairs.sides & side == side)], minlength=size)
            for side in (1, 2, 3)
        )
        parted: Mask = (both < self.least * _ROOM[self.measure](a, b, both) - _ROUNDING) | (a + b == 0)
        return parted

    def best(self) -> int | None:
        """The number to advise; None where none parts most of them."""
        numbers = [number for number in _NUMBERS if _SEEN * self.times <= number < self.counts.max()]
        shares = {number: _share(self.parted(number)[self.pairs.is_near]) for number in numbers}
        most = max(shares.values(), default=0.0)
        return max((n for n in numbers if shares[n] >= _ENOUGH * most), default=None) if most >= _MOST else None

    def part(self, number: int) -> int:
        """Of what would be dropped, where in `items` that stands which most of the pairs share."""
        times = np.bincount(self.pairs.places[self.pairs.shared], minlength=self.pairs.items.size)
        return int(np.argmax(np.where(self.counts > number, times, -1)))


_ROOM: dict[str, Callable[[Any, Any, Any], Any]] = {  # what the number of shared features is a share of
    "jaccard": lambda a, b, both: a + b - both,
    "cosine": lambda a, b, both: np.sqrt(a * b),  # noqa: ARG005  (each asks what it needs)
    "containment": lambda a, b, both: np.minimum(a, b),  # noqa: ARG005
}


def _share(parted: Mask) -> float:
    return float(parted.mean()) if parted.size else 0.0


def _spread(values: Rows, most: int) -> Rows:
    """At most so many of them, at even distances."""
    return values[np.linspace(0, values.size - 1, min(values.size, most)).astype(np.int64)]


def _spelt(state: State[Arrays], part: int, trial: _Trial, texts: Texts) -> str:
    """How the frequent part reads in a document that has it, with what is beside it in as many documents or more.

    Empty where documents are no texts.
    """
    stage, pairs = state.step.features[-1], trial.pairs
    if not isinstance(stage, ShingleSets):
        return ""
    from nearsame.flow.spelling import ShingleSpelling  # noqa: PLC0415  (where something is to be said)
    from nearsame.stages.features.boilerplate import FirstWith  # noqa: PLC0415  (likewise)

    first = state.corpus.engine.fold(state.leaders, FirstWith(pairs.items[part]))
    (text,) = texts(first)
    spelling = ShingleSpelling(cast("Shingled", state.method), stage)
    return spelling.around(text, pairs.items[trial.counts >= trial.counts[part]], pairs.items[part]) or ""


def _sentence(near: _NearCopies, some: _Some, trial: _Trial, number: int, part: tuple[str, int]) -> str:
    """Which documents, what they share, what helps, and what that does."""
    parted, is_near = trial.parted(number), trial.pairs.is_near
    tried, others = parted[is_near], parted[~is_near]
    sampled, about = (f" of {near.size:,} sampled documents", "about ") if near.times > 1 else ("", "")
    text = f' "{part[0]}"' if part[0] else " something"
    further = f", and {others.sum():,} of {others.size:,} {some.others}" if others.size else ""
    return (
        f"At {near.least:g}, {some.mask.sum():,} of {some.mask.size:,} near copies below 1{sampled} are {some.where},"
        f" and most hang on what many documents have, above all{text} (in {about}{part[1]:,} documents). If they differ"
        f" in what counts, set drop_boilerplate={number} (--drop-boilerplate {number}): tried on a sample,"
        f" {tried.sum():,} of {tried.size:,} are no longer similar to their witnesses then{further}"
    )
