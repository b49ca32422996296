"""Joins of sets: all similar pairs of twelve shapes of corpora, exactly and by MinHash, and how time grows.

1. The shapes are made: as many items a set, of so large a universe, as Mann, Augsten and Bouros (PVLDB 9(9), 2016) give
   of the corpora that the literature joins; sizes by Poisson's law, items by Zipf's with exponent 1 (KOSARAK: 1.1;
   UNIFORM: none). Sets are fewer, and universes smaller by the same factor where they grow with their corpus.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The pairs of some sets are looked for in the slow way, too; the run fails where the exact join has others.
"""

import argparse
import json
import os
import sys
from fractions import Fraction
from time import process_time
from typing import NamedTuple

import numpy as np
import processes
import pyarrow as pa
import report

import nearsame as ns

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numpy", "pyarrow")
CHECKED, BUSY = 60, 0.5
HEADER = ("", "sets", "t", "pairs", "exact: CPU s", "MinHash: CPU s", "recall")
GROWTH = ("", "t", "n", "CPU s", "2n", "CPU s", "4n", "CPU s", "pairs at 4n")


class Shape(NamedTuple):
    """A corpus of the literature: how many sets, how large on average, of how many items."""

    sets: int
    mean: float
    universe: int
    exponent: float = 1.0
    grows: bool = True  # the universe, with the corpus


SHAPES = {
    "AOL": Shape(10_000_000, 3.0, 3_900_000),
    "BMS-POS": Shape(320_000, 9.3, 1_657, grows=False),
    "DBLP": Shape(100_000, 82.7, 6_864, grows=False),
    "ENRON": Shape(250_000, 135, 1_100_000),
    "FLICKR": Shape(1_200_000, 10.1, 810_000),
    "KOSARAK": Shape(610_000, 11.9, 41_000, 1.1, grows=False),
    "LIVEJ": Shape(3_100_000, 36.4, 7_500_000),
    "NETFLIX": Shape(480_000, 209.5, 18_000, grows=False),
    "ORKUT": Shape(2_700_000, 119.7, 8_700_000),
    "SPOTIFY": Shape(440_000, 12.8, 760_000),
    "UNIFORM": Shape(100_000, 10, 209, 0.0, grows=False),
    "ZIPF": Shape(100_000, 50, 100_000),
}


def made(shape: Shape, num: int) -> list[list[int]]:
    """So many sets, the same on every call."""
    random = np.random.default_rng(1)
    universe = max(int(shape.universe * num / shape.sets), 1_000) if shape.grows else shape.universe
    weights = np.cumsum(np.arange(1, universe + 1) ** -shape.exponent)
    sets = []
    for size in np.clip(random.poisson(shape.mean, num), 1, universe // 2):
        items: set[int] = set()
        while len(items) < size:
            drawn = random.random(2 * size) * weights[-1]
            items.update(np.searchsorted(weights, drawn)[: size - len(items)].tolist())
        sets.append(sorted(items))
    return sets


def table(sets: list[list[int]]) -> pa.Table:
    """As `pairs` takes them."""
    return pa.table({"id": [str(i) for i in range(len(sets))], "items": pa.array(sets, pa.list_(pa.int64()))})


def by_hand(sets: list[list[int]], threshold: Fraction) -> set[tuple[int, int]]:
    """All pairs with one of some sets."""
    several, found = [set(items) for items in sets], set()
    for a in range(0, len(sets), max(1, len(sets) // CHECKED)):
        for b, other in enumerate(several):
            shared = len(several[a] & other)
            if a != b and shared >= threshold * (len(several[a]) + len(other) - shared):
                found.add((min(a, b), max(a, b)))
    return found


def measured(name: str, num: int, threshold: str, *, check: bool) -> dict[str, float]:
    """CPU seconds and pairs of both methods, and whether the exact join's are those found by hand."""
    sets = made(SHAPES[name], num)
    source, result = table(sets), dict[str, float]()
    found: dict[str, set[tuple[int, int]]] = {}
    for method in (ns.Jaccard(threshold=threshold), ns.MinHash(threshold=threshold)):
        ns.pairs(source.slice(0, 200), method=method, features_column="items", threads=1)
        if not check and found:
            break
        began = process_time()
        answer = ns.pairs(source, method=method, features_column="items", threads=1).pairs
        result[f"{type(method).__name__} s"] = process_time() - began
        ids = (answer.column(side).to_pylist() for side in ("a_id", "b_id"))
        found[type(method).__name__] = {
            (min(a, b), max(a, b)) for a, b in zip(*(map(int, side) for side in ids), strict=True)
        }
    exact = found["Jaccard"]
    result["pairs"] = len(exact)
    if check:
        result["recall"] = len(found["MinHash"] & exact) / len(exact) if exact else 1.0
        chosen = set(range(0, len(sets), max(1, len(sets) // CHECKED)))
        right = by_hand(sets, Fraction(threshold))
        result["same"] = right == {pair for pair in exact if chosen & set(pair)}
    return result


def in_a_process(*call: object) -> dict[str, float]:
    """`measured`, elsewhere."""
    output = processes.run([sys.executable, __file__, "--measure", *map(str, call)], {}).output
    return dict(json.loads(output.splitlines()[-1]))


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench joins", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20_000, help="of each shape")
    parser.add_argument("--thresholds", nargs="+", default=["0.5", "0.8"])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--growing", nargs="*", choices=SHAPES, default=["KOSARAK", "UNIFORM"], help="at n, 2n and 4n")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        name, num, threshold, check = given.measure
        print(json.dumps(measured(name, int(num), threshold, check=check == "True")))
        return 0
    load, rows, growth, same = os.getloadavg()[0], [], [], True
    for name in given.shapes:
        for threshold in given.thresholds:
            one = in_a_process(name, given.sets, threshold, True)
            same = same and bool(one["same"])
            figures = (f"{one['Jaccard s']:.2f}", f"{one['MinHash s']:.2f}", f"{one['recall']:.3f}")
            rows.append((name, f"{given.sets:,}", threshold, f"{int(one['pairs']):,}", *figures))
    for name in given.growing:
        steps = [in_a_process(name, number * given.sets, "0.5", False) for number in (1, 2, 4)]
        cells = [
            cell
            for k, one in zip((1, 2, 4), steps, strict=True)
            for cell in (f"{k * given.sets:,}", f"{one['Jaccard s']:.2f}")
        ]
        growth.append((name, "0.5", *cells, f"{int(steps[-1]['pairs']):,}"))
    about = (
        "CPU seconds of `pairs` on one thread, in a process that had a small run before; `recall` is MinHash's share of"
        f" the exact pairs. The pairs of {CHECKED} sets of each corpus were looked for in the slow way, too: they are"
        f" {'the same' if same else '**not the same**'}."
    )
    if load >= BUSY:
        about += f" The machine was busy with other work (load {load:.1f} at the start)."
    made_by = report.made_by("joins", PACKAGES)
    report.show("Joins of sets", HEADER, rows)
    report.show("Growth of the exact join", GROWTH, growth)
    print(f"{about}\n\n{made_by}")
    if not given.no_write and report.has_place(PAGE, "joins"):
        tables = f"{report.markdown(HEADER, rows)}\n\n{report.markdown(GROWTH, growth)}"
        report.write_between(PAGE, "joins", f"{about}\n\n{tables}\n\n{made_by}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
