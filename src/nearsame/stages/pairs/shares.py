"""Shares with 95 % intervals: of documents drawn one by one, and of pairs that come in bunches, a bunch a document.

1. Documents drawn singly: Clopper and Pearson, which covers 95 % or more whatever the share is.
2. Pairs of sampled documents: the share is a ratio of two sums over documents, so its variance is that of a ratio
   estimator. The interval is Clopper and Pearson's for as many independent pairs as would have that variance (Korn
   and Graubard 1998); where few documents miss anything, their variance says little, and no more independent pairs are
   believed in than Kish's number of documents (docs/decisions/audit-interval.md).
   Nor more than there are pairs.
3. No distribution comes from a library: importing one took longer than the audit itself.
"""

from math import exp, fsum, lgamma, log

import numpy as np
import numpy.typing as npt

from nearsame.answers.stats import Share
from nearsame.arrow import Rows

__all__ = ["beta_quantile", "bunched_share", "share"]

_TAIL = 0.025
_ENOUGH_BUNCHES = 30  # that miss something: then their variance is believed
_TINY = 1e-300


def share(num: int, of: int) -> Share | None:
    """The share num / of, with the Clopper-Pearson interval; None of nothing.

    >>> [round(x, 3) for x in share(973, 1000)[:3]]
    [0.973, 0.961, 0.982]
    """
    return None if of == 0 else Share(num / of, *_interval(num, of), num, of)


def bunched_share(hits: Rows, totals: Rows) -> Share | None:
    """The share of pairs that were found, given for each sampled document how many it is in and how many were found.

    >>> [round(x, 3) for x in bunched_share(np.array([9, 10, 0, 1]), np.array([10, 10, 0, 1]))[:3]]
    [0.952, 0.16, 1.0]
    """
    num, of = int(hits.sum()), int(totals.sum())
    if of == 0:
        return None
    value = num / of
    kish = of**2 / _squares(totals.astype(np.float64))
    believed = kish
    if 0 < num < of:
        errors = hits - value * totals
        variance = _squares(errors) / of**2 * hits.size / max(hits.size - 1, 1)
        believed = min(of, value * (1 - value) / variance) if variance else kish
        missing = int((hits < totals).sum())
        if missing < _ENOUGH_BUNCHES:
            believed = min(believed, kish)
    return Share(value, *_interval(value * believed, believed), num, of)


def _squares(values: npt.NDArray[np.float64]) -> float:
    """Their sum, rounded once: whoever puts documents in another order has the same."""
    return fsum((values**2).tolist())


def _interval(num: float, of: float) -> tuple[float, float]:
    low = beta_quantile(_TAIL, num, of - num + 1) if num > 0 else 0.0
    high = beta_quantile(1 - _TAIL, num + 1, of - num) if num < of else 1.0
    return low, high


def beta_quantile(chance: float, a: float, b: float) -> float:
    """The value that a Beta(a, b) variable stays below with this chance.

    >>> round(beta_quantile(0.025, 973, 28), 4)
    0.961
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _beta_below(middle, a, b) < chance else (low, middle)
    return (low + high) / 2


def _beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by the continued fraction that converges on its side of the mean."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_below(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    return front * _continued(x, a, b)


def _continued(x: float, a: float, b: float) -> float:
    """Lentz's way to evaluate the fraction (DLMF 8.17.22)."""
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > _TINY else _TINY)
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d, c = 1 + term * d, 1 + term / c
            d = 1 / (d if abs(d) > _TINY else _TINY)
            c = c if abs(c) > _TINY else _TINY
            step = d * c
            value *= step
        if abs(step - 1) < 1e-14:
            break
    return value
