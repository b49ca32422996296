"""The shapes of corpora that the literature joins: sets as large, of as large a universe, items as unevenly spread.

1. As many items a set, of so large a universe, as Mann, Augsten and Bouros (PVLDB 9(9), 2016) give; sizes by Poisson's
   law, items by Zipf's with exponent 1 (KOSARAK: 1.1; UNIFORM: none). Universes are smaller by the same factor as the
   sets are fewer where they grow with their corpus.
2. Copies are left out, as of unique queries: what is the same is told by a digest, and a join of it is a list of its
   pairs.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa


class Shape(NamedTuple):
    """A corpus of the literature: how many sets, how large on average, of how many items."""

    sets: int
    mean: float
    universe: int
    exponent: float = 1.0
    grows: bool = True  # the universe, with the corpus
    made: int = 100_000  # sets that are made, where nothing else is asked for


SHAPES = {
    "AOL": Shape(10_000_000, 3.0, 3_900_000, made=200_000),
    "BMS-POS": Shape(320_000, 9.3, 1_657, grows=False, made=200_000),
    "DBLP": Shape(100_000, 82.7, 6_864, grows=False, made=40_000),
    "ENRON": Shape(250_000, 135, 1_100_000, made=50_000),
    "FLICKR": Shape(1_200_000, 10.1, 810_000, made=200_000),
    "KOSARAK": Shape(610_000, 11.9, 41_000, 1.1, grows=False, made=200_000),
    "LIVEJ": Shape(3_100_000, 36.4, 7_500_000),
    "NETFLIX": Shape(480_000, 209.5, 18_000, grows=False, made=20_000),
    "ORKUT": Shape(2_700_000, 119.7, 8_700_000, made=50_000),
    "SPOTIFY": Shape(440_000, 12.8, 760_000, made=200_000),
    "UNIFORM": Shape(100_000, 10, 209, 0.0, grows=False, made=50_000),
    "ZIPF": Shape(100_000, 50, 100_000),
}


class Sets(NamedTuple):
    """Sets one after the other: set i has items[offsets[i]:offsets[i + 1]], ascending."""

    offsets: Any
    items: Any

    @property
    def sizes(self) -> Any:
        """How many items each has."""
        return np.diff(self.offsets)

    def table(self) -> pa.Table:
        """As `pairs` takes them."""
        items = pa.LargeListArray.from_arrays(self.offsets, self.items)
        return pa.table({"id": pa.array(range(len(items))).cast(pa.string()), "items": items})

    def write(self, path: Path) -> None:
        """As all who join them read them: how many, where each begins, the items."""
        np.concatenate([[self.sizes.size], self.offsets, self.items]).astype(np.int64).tofile(path)

    @staticmethod
    def read(path: Path | str) -> "Sets":
        """What was written."""
        words = np.fromfile(path, np.int64)
        return Sets(words[1 : words[0] + 2], words[words[0] + 2 :])


def made(shape: Shape, num: int) -> Sets:
    """So many sets but for copies, the same on every call: each draws until it has the items that its size asks for."""
    random = np.random.default_rng(1)
    universe = max(int(shape.universe * num / shape.sets), 1_000) if shape.grows else shape.universe
    weights = np.cumsum(np.arange(1, universe + 1) ** -shape.exponent)
    sizes = np.clip(random.poisson(shape.mean, num), 1, universe // 2)
    chosen, missing = np.zeros(0, np.int64), sizes
    while missing.any():  # all sets draw at once, each as many as it lacks
        drawn = np.searchsorted(weights, random.random(missing.sum()) * weights[-1])
        drawn = np.unique(np.repeat(np.arange(num), missing) * universe + drawn)
        places = np.searchsorted(chosen, drawn)
        is_new = np.append(chosen, -1)[places] != drawn
        chosen = np.insert(chosen, places[is_new], drawn[is_new])
        missing = sizes - np.bincount(chosen // universe, minlength=num)
    return _distinct(Sets(np.concatenate([[0], np.cumsum(sizes)]), chosen % universe))


def _distinct(sets: Sets) -> Sets:
    """The first of equal sets, told by two sums of hashes."""
    hashes = np.stack([sets.items.astype(np.uint64) + np.uint64(1) << np.uint64(32)] * 2)
    for shift in (29, 31):
        hashes = (hashes ^ hashes >> np.uint64(shift)) * np.array(
            [[0x9E3779B97F4A7C15], [0xC4CEB9FE1A85EC53]], np.uint64
        )
    sums = np.add.reduceat(hashes ^ hashes >> np.uint64(32), sets.offsets[:-1], axis=1)
    first = np.zeros(sets.sizes.size, np.bool_)
    first[np.unique(sums, axis=1, return_index=True)[1]] = True
    sizes = sets.sizes[first]
    return Sets(np.concatenate([[0], np.cumsum(sizes)]), sets.items[np.repeat(first, sets.sizes)])
