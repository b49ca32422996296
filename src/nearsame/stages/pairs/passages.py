"""The passages that two texts share: runs of equal tokens, from their fingerprints.

1. Every common run of at least `least` tokens is covered, on both sides, by the passages that are given, and each of
   them is such a run, as long as it can be.
2. What only repeats others is left out: a sentence that stands in `a` once and in `b` three times gives three passages,
   a line repeated a thousand times in both does not give a million.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nearsame import arrow
from nearsame.kernels import winnow as kernel

__all__ = ["Side", "shared_passages"]


class Side(NamedTuple):
    """A text: its tokens, and its fingerprints with their places."""

    tokens: arrow.UInt64s
    hashes: arrow.UInt64s
    places: arrow.Int64s


def shared_passages(a: Side, b: Side, least: int) -> npt.NDArray[np.int64]:
    """[n, 3]: first token in a, first token in b, tokens; by their order in a."""
    order = np.argsort(b.hashes, kind="stable")
    found = b.hashes[order]
    covered = np.zeros(a.tokens.size, np.bool_), np.zeros(b.tokens.size, np.bool_)
    out = np.empty((a.tokens.size + b.tokens.size + 1, 3), np.int64)
    count = kernel.shared_runs(
        a.tokens, b.tokens, a.places,
        arrow.frozen(np.searchsorted(found, a.hashes, "left")), arrow.frozen(np.searchsorted(found, a.hashes, "right")),
        arrow.frozen(b.places[order]), least, *covered, np.zeros(a.tokens.size + b.tokens.size, np.int64), out,
    )  # fmt: skip
    return _needed(out[:count], a.tokens.size, b.tokens.size)


def _needed(found: npt.NDArray[np.int64], a_size: int, b_size: int) -> npt.NDArray[np.int64]:
    """The longest first, those that add nothing to longer ones left out."""
    in_a, in_b = np.zeros(a_size, np.bool_), np.zeros(b_size, np.bool_)
    kept = []
    for i, j, size in found[np.lexsort((found[:, 1], found[:, 0], -found[:, 2]))].tolist():
        if in_a[i : i + size].all() and in_b[j : j + size].all():
            continue
        in_a[i : i + size] = True
        in_b[j : j + size] = True
        kept.append((i, j, size))
    return np.array(sorted(kept), np.int64).reshape(-1, 3)
