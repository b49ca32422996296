"""Judged pairs, and what a threshold of any score makes of them: curves, resamples, folds. Arithmetic only.

1. A score is a similarity; a pair is found at a threshold if its score is that or above. Only scores that some pair has
   are thresholds that differ, and a curve has a line for each.
2. A pair stands for `weight` pairs, so a sample that was drawn by strata says what all of them would.
3. Pairs that share documents are not independent: what is drawn again, or held out, is a group of pairs.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nearsame.answers.advice import Ranged, Trade
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.named import NamedTuple

__all__ = [
    "Curve",
    "Sorted",
    "Verdicts",
    "best",
    "curve",
    "cut_between",
    "folds",
    "grouped",
    "in_order",
    "resampled",
    "shares",
]

Floats = npt.NDArray[np.float64]
_LARGEST_GROUP = 0.2  # of all pairs: where one group is larger, groups say too little
_DIGITS = 12


@dataclass(frozen=True)
class Verdicts:
    """Judged pairs: whether each is true, how many pairs it stands for, and with which others it is drawn."""

    is_true: npt.NDArray[np.bool_]
    weights: Floats
    groups: Rows

    def some(self, which: npt.NDArray[np.bool_]) -> "Verdicts":
        """Those of some of the pairs."""
        return Verdicts(self.is_true[which], self.weights[which], self.groups[which])


class Curve(NamedTuple):
    """By threshold, the highest first: how many pairs are found, and how many of these are true."""

    thresholds: Floats
    found: Floats
    both: Floats
    true: float

    @property
    def f1(self) -> Floats:
        """The harmonic mean of precision and recall at each threshold."""
        return np.asarray(2 * self.both / np.maximum(self.found + self.true, 1e-300))

    def trades(self) -> tuple[Trade, ...]:
        """Each line, as people read it."""
        precision = self.both / np.maximum(self.found, 1e-300)
        recall = self.both / self.true if self.true else np.ones(self.both.size)
        columns = (self.thresholds, precision, recall, self.f1)
        return tuple(Trade(*line) for line in zip(*(column.tolist() for column in columns), strict=True))


class Sorted(NamedTuple):
    """Scores in order, the highest first, and where each different one ends."""

    order: Rows
    ends: Rows
    thresholds: Floats

    def of(self, weights: Floats, is_true: npt.NDArray[np.bool_]) -> Curve:
        """The curve of the pairs with these weights; lines that nothing stands for are there, too."""
        weighed = weights[self.order]
        found = np.cumsum(weighed)[self.ends]
        both = np.cumsum(weighed * is_true[self.order])[self.ends]
        return Curve(self.thresholds, found, both, float(weights[is_true].sum()))


def in_order(scores: Floats, floor: float) -> Sorted:
    """Scores above 0, and at the floor or above: what is below was not looked for."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    size = int(np.count_nonzero((ranked > 0) & (ranked >= floor)))
    order, ranked = order[:size], ranked[:size]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if size else np.zeros(0, np.int64)
    return Sorted(order, ends, ranked[ends])


def curve(scores: Floats, verdicts: Verdicts, floor: float = 0.0) -> Curve:
    """What each threshold makes of the pairs."""
    return in_order(scores, floor).of(verdicts.weights, verdicts.is_true)


def best(line: Curve) -> int:
    """The place of the highest threshold of those with the greatest F1; -1 where there is none."""
    return int(np.argmax(line.f1)) if line.thresholds.size else -1


def cut_between(above: float, below: float) -> float:
    """A short decimal number that lets in `above`, but not `below`: near the middle, if such a one is short.

    Example:
        >>> cut_between(0.6667, 0.6), cut_between(0.7, 0.6999), cut_between(1.0, 0.0)
        (0.63, 0.69995, 0.5)
    """
    middle = (above + below) / 2
    for digits in range(1, _DIGITS):
        cut = round(middle, digits)
        if below < cut <= above and abs(cut - middle) <= (above - below) / 4:
            return cut
    return above


def grouped(a: Rows, b: Rows, num: int) -> tuple[Rows, str]:
    """The group of each pair, and what groups are: pairs joined by documents that they share, or single pairs."""
    roots = np.arange(num)
    while True:  # each document takes the least root among those that it is paired with
        least = np.minimum(roots[a], roots[b])
        new = roots.copy()
        np.minimum.at(new, a, least)
        np.minimum.at(new, b, least)
        new = new[new]
        if np.array_equal(new, roots):
            break
        roots = new
    groups = np.unique(roots[a], return_inverse=True)[1] if a.size else np.zeros(0, np.int64)
    if a.size and np.bincount(groups).max() > max(2, _LARGEST_GROUP * a.size):
        return np.arange(a.size), "single pairs"
    return groups, "groups of pairs that share documents"


def folds(verdicts: Verdicts, number: int, seed: int = 0) -> Iterator[npt.NDArray[np.bool_]]:
    """Which pairs are held out, fold by fold: groups stay together, each pair is held out once."""
    num_groups = int(verdicts.groups.max()) + 1
    fold_of = np.random.Generator(np.random.PCG64(seed)).permutation(num_groups) % number
    for fold in range(number):
        yield fold_of[verdicts.groups] == fold


def resampled(verdicts: Verdicts, number: int, seed: int = 0) -> Iterator[Floats]:
    """The weights of the pairs when as many groups are drawn again as there are, with repetition; so often."""
    random = np.random.Generator(np.random.PCG64(seed))
    num_groups = int(verdicts.groups.max()) + 1
    for _ in range(number):
        drawn = np.bincount(random.integers(0, num_groups, num_groups), minlength=num_groups)
        yield verdicts.weights * drawn[verdicts.groups]


def shares(found: npt.NDArray[np.bool_], verdicts: Verdicts, number: int) -> tuple[Ranged, Ranged, Ranged]:
    """Precision, recall and F1 of the pairs that were found, with their intervals."""
    every = [_shares(found, verdicts.is_true, weights) for weights in resampled(verdicts, number)]
    low, high = np.percentile(np.array(every), [2.5, 97.5], axis=0)
    values = _shares(found, verdicts.is_true, verdicts.weights)
    one, two, three = (Ranged(*map(float, each)) for each in zip(values, low, high, strict=True))
    return one, two, three


def _shares(
    found: npt.NDArray[np.bool_], is_true: npt.NDArray[np.bool_], weights: Floats
) -> tuple[float, float, float]:
    both, total, true = (float(weights[which].sum()) for which in (found & is_true, found, is_true))
    precision, recall = both / total if total else 1.0, both / true if true else 1.0
    return precision, recall, 2 * both / (total + true) if total + true else 1.0
