"""What orders and filters leave of the pairs that share an item: counts, not seconds.

1. Prefixes are made and met here, by their definition; of the product only the last line of each shape is.
2. Orders: counts that stop at 255, so that all frequent items tie and hashes decide; the classes of the product; counts
   as they are. Filters, by the latter: sizes (a bucket sorted by size, partners a range of it), places (what is left
   behind the first common item), prefixes that are longer by one or two, with two or three common items (AdaptJoin).
3. Of a pair that meets, one has the item in the prefix of who is smaller, the other in that of who is larger.
"""

import argparse
import sys
from fractions import Fraction
from typing import Any

import _shapes
import numba
import numpy as np
import report

import nearsame as ns
from nearsame.stages.keys.prefix import class_edges

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numba", "numpy")
SHAPES = {"KOSARAK": 72_000, "BMS-POS": 50_000, "UNIFORM": 40_000, "ENRON": 10_000}
ORDERS = ("stop at 255", "classes", "exact")
HEADER = ("", "sets", "order, common items", "entries met", "after sizes", "pairs left by places")
_FULL = 255


def ranked(sets: _shapes.Sets, order: str) -> Any:
    """The items of each set as their ranks, ascending: the rarest first, of equals by a hash."""
    counts = np.bincount(sets.items)
    if order == "stop at 255":
        counts = np.minimum(counts, _FULL)
    elif order == "classes":
        counts = np.searchsorted(class_edges(int(counts.max())), counts, side="right")
    ranks = np.empty(counts.size, np.int64)
    ranks[np.lexsort((np.random.default_rng(2).permutation(counts.size), counts))] = np.arange(counts.size)
    owners = np.repeat(np.arange(sets.sizes.size), sets.sizes)
    found = ranks[sets.items]
    return found[np.lexsort((found, owners))]


def entered(sets: _shapes.Sets, ranks: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Buckets: where that of each rank begins, whose entries stand in it, and at which place of their set."""
    owners = np.repeat(np.arange(sets.sizes.size), sets.sizes)
    places = np.arange(sets.items.size) - sets.offsets[owners]
    at = np.flatnonzero(places < lengths[owners])
    at = at[np.argsort(ranks[at], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(ranks[at], minlength=int(ranks.max()) + 1))])
    return starts, owners[at], places[at]


def lengths(sizes: Any, share: Fraction, common: int) -> Any:
    """How long a prefix is, of which so many items are in that of any set that shares so much."""
    needed = -(-sizes * share.numerator // share.denominator)
    return np.minimum(sizes, sizes - needed + common)


@numba.njit
def met(sets: Any, lengths: Any, entries: Any, needed: Any, counts: Any) -> None:
    """Add to `counts` the entries that meet, those of sets of fitting sizes, and the pairs that places leave.

    `sets`: ranks, offsets; `lengths`: of prefixes in larger and smaller sets; `needed`: p, q, common items.
    """
    (ranks, offsets), (longs, shorts), (starts, owners, places), (p, q, common) = sets, lengths, entries, needed
    shared, touched = np.zeros(offsets.size, np.int64), np.empty(offsets.size, np.int64)
    for a in range(offsets.size - 1):
        filled, size = 0, offsets[a + 1] - offsets[a]
        for place in range(longs[a]):
            rank = ranks[offsets[a] + place]
            for entry in range(starts[rank], starts[rank + 1]):
                b, other_place = owners[entry], places[entry]
                if b >= a:
                    break
                if place >= shorts[a] and other_place >= shorts[b]:
                    continue
                counts[0] += 1
                other = offsets[b + 1] - offsets[b]
                if min(size, other) * q < max(size, other) * p:
                    continue
                counts[1] += 1
                if shared[b] == 0:
                    touched[filled] = b
                    filled += 1
                most = shared[b] + min(size - place, other - other_place)
                refused = shared[b] < 0 or most * (p + q) < p * (size + other)
                shared[b] = -1 if refused else shared[b] + 1
        for at in range(filled):
            counts[2] += shared[touched[at]] >= common
            shared[touched[at]] = 0


def left(sets: _shapes.Sets, order: str, threshold: Fraction, common: int = 1) -> tuple[int, ...]:
    """Entries met, those of fitting sizes, and pairs left."""
    ranks, counts = ranked(sets, order), np.zeros(3, np.int64)
    longs = lengths(sets.sizes, threshold, common)
    shorts = lengths(sets.sizes, 2 * threshold / (1 + threshold), common)
    needed = (*threshold.as_integer_ratio(), common)
    met((ranks, sets.offsets), (longs, shorts), entered(sets, ranks, longs), needed, counts)
    return tuple(counts.tolist())


def run(sets: _shapes.Sets, threshold: Fraction) -> tuple[str, str, str]:
    """Likewise of a run of the product; chains of items and bits are in it."""
    method = ns.Jaccard(threshold=threshold)
    work = ns.pairs(sets.table(), method=method, features_column="items", threads=1, audit=False).stats.comparing
    return f"{work['met']:,}", "", f"{work['left_by_places']:,} ({work['left_by_bits']:,} by bits)"


def rows_of(name: str, num: int, threshold: Fraction) -> list[tuple[str, ...]]:
    """The lines of one shape."""
    sets = _shapes.made(_shapes.SHAPES[name], num)
    asked = [*((order, 1) for order in ORDERS), ("exact", 2), ("exact", 3)]
    lines = [
        (f"{order}, {common}", *(f"{n:,}" for n in left(sets, order, threshold, common))) for order, common in asked
    ]
    return [(name, f"{sets.sizes.size:,}", *line) for line in [*lines, ("a run", *run(sets, threshold))]]


def main(arguments: list[str]) -> int:
    """Count, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench filters", description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", choices=_shapes.SHAPES, default=list(SHAPES))
    parser.add_argument("--sets", type=int, help="of each shape, in place of the number that SHAPES has for it")
    parser.add_argument("--threshold", type=Fraction, default=Fraction("0.5"))
    parser.add_argument("--no-write", action="store_true", help="only print")
    asked = parser.parse_args(arguments)
    rows = []
    for name in asked.shapes:
        rows += rows_of(name, asked.sets or SHAPES.get(name, 20_000), asked.threshold)
    about = (
        f"Counts at t = {float(asked.threshold):g}; `a run` is what `pairs` said of itself, with chains of items. It"
        " also counts meetings in which neither has the item among those by which a pair must begin, and which places"
        " refuse."
    )
    page = None if asked.no_write else PAGE
    report.tell(page, "filters", ("What orders and filters leave", HEADER, rows), about, PACKAGES)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
