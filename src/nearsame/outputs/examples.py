"""Which pairs to show to a person who has time for a few."""

import numpy as np
import numpy.typing as npt

__all__ = ["some", "spread"]


def some(similarity: npt.NDArray[np.float64], same: npt.NDArray[np.bool_], count: int | None) -> npt.NDArray[np.int64]:
    """Indices of so many pairs as `spread` chooses them, or of all in their order."""
    return np.arange(similarity.size) if count is None else spread(similarity, same, count)


def spread(similarity: npt.NDArray[np.float64], same: npt.NDArray[np.bool_], count: int) -> npt.NDArray[np.int64]:
    """Indices of at most `count` pairs, the least similar first, evenly over the order of similarity.

    Pairs of the same text show nothing: a fifth of the places is theirs, more only where there is nothing else.

    Args:
        similarity: Of each pair.
        same: Whether its texts are equal.
        count: How many to choose.

    Example:
        >>> spread(np.array([0.8, 1.0, 0.9]), np.array([False, True, False]), 2).tolist()
        [0, 2]
    """
    near, exact = np.flatnonzero(~same), np.flatnonzero(same)
    num_exact = min(exact.size, max(count // 5, count - near.size))
    order = near[np.argsort(similarity[near], kind="stable")]
    return np.concatenate([_evenly(order, count - num_exact), _evenly(exact, num_exact)])


def _evenly(values: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
    if values.size <= count:
        return values
    return values[np.linspace(0, values.size - 1, count).round().astype(np.int64)] if count > 0 else values[:0]
