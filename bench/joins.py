"""Joins of sets: all similar pairs of twelve shapes of corpora, exactly and by MinHash, beside what others take.

1. The shapes are made: as many items a set, of so large a universe, as Mann, Augsten and Bouros (PVLDB 9(9), 2016) give
   of the corpora that the literature joins; sizes by Poisson's law, items by Zipf's with exponent 1 (KOSARAK: 1.1;
   UNIFORM: none). Sets are fewer, and universes smaller by the same factor where they grow with their corpus.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The yardsticks are a plain AllPairs in C++ (allpairs.cpp, where a compiler is) and SetSimilaritySearch from PyPI, in
   an environment of its own: CPU seconds from the sets in memory to the pairs in memory.
4. The pairs of all exact joins are compared, and those of some sets are looked for in the slow way, too; the run fails
   where there are others.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import environments
import numpy as np
import processes
import pyarrow as pa
import report

import nearsame as ns

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numpy", "pyarrow")
CHECKED, BUSY, LEAST = 60, 0.5, 0.001
SOURCE, ADAPTER = (
    report.ROOT / "bench" / name for name in ("allpairs.cpp", "adapters/sets_with_setsimilaritysearch.py")
)
PEER = ["SetSimilaritySearch==1.0.1", "numpy"]
HEADER = ("", "sets", "t", "pairs", "exact", "C++", "times", "PyPI", "MinHash", "recall")
GROWTH = ("", "t", "n", "CPU s", "met a set", "2n", "CPU s", "met a set", "4n", "CPU s", "met a set", "pairs at 4n")
SHAPE = ("", "sets", "items a set", "universe", "exponent", "grows")
LIKE = (
    "The figures of the shapes are those of Mann, Augsten and Bouros (PVLDB 9(9), 2016): how many sets, how many items"
    " each has on average, and of how many. The exponent of Zipf's law is ours; so is whether the universe grows with"
    " the corpus: where it does, it is smaller by as much as the sets are fewer."
)


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


def measured(name: str, num: int, threshold: str, target: str, method: str = "jaccard") -> dict[str, float]:
    """CPU seconds of a method of ours; its pairs go to a file."""
    source, recipe = (
        table(made(SHAPES[name], num)),
        {"jaccard": ns.Jaccard, "minhash": ns.MinHash}[method](threshold=threshold),
    )
    ns.pairs(source.slice(0, 200), method=recipe, features_column="items", threads=1, audit=False)
    began = process_time()
    found = ns.pairs(source, method=recipe, features_column="items", threads=1, audit=False)
    pairs, seconds = found.pairs, process_time() - began
    ids = [np.array(pairs.column(side).to_pylist(), np.int64) for side in ("a_id", "b_id")]
    np.save(target, np.stack(ids, axis=1).reshape(-1, 2))
    return {"seconds": seconds, **found.stats.comparing}


class Case:
    """One shape at one threshold: who joins it, and what they found."""

    def __init__(self, name: str, num: int, threshold: str, folder: Path, limit: float) -> None:
        self._given, self._folder, self._limit = (name, num, threshold), folder, limit
        self._sets = made(SHAPES[name], num)
        self._threshold = Fraction(threshold)

    def ours(self, method: str) -> tuple[float, set[tuple[int, int]]]:
        """A method of ours."""
        target = self._folder / f"{method}.npy"
        command = [sys.executable, __file__, "--measure", *map(str, self._given), str(target), method]
        output = processes.run(command, {}).output
        return float(json.loads(output.splitlines()[-1])["seconds"]), _pairs(np.load(target))

    def compiled(self, program: Path) -> tuple[float, set[tuple[int, int]]]:
        """The AllPairs of allpairs.cpp."""
        offsets, items = self._flat()
        source, target = self._folder / "sets", self._folder / "cpp"
        np.concatenate([[len(self._sets)], offsets, items]).astype(np.int64).tofile(source)
        fraction = (str(self._threshold.numerator), str(self._threshold.denominator))
        output = processes.run([str(program), str(source), *fraction, str(target)], {}).output
        return float(output), _pairs(np.fromfile(target, np.int64).reshape(-1, 2))

    def from_pypi(self, python: Path) -> tuple[float, set[tuple[int, int]]] | None:
        """SetSimilaritySearch's; None if it takes too long."""
        source, target = self._folder / "sets.npz", self._folder / "peer.npy"
        offsets, items = self._flat()
        np.savez(source, offsets=offsets, items=items)
        command = [str(python), str(ADAPTER), str(source), str(float(self._threshold)), str(target)]
        try:
            output = processes.run(command, environments.variables(self._folder), self._limit).output
        except processes.Failed as failed:
            print(f"SetSimilaritySearch, {self._given}: {failed.reason}", flush=True)
            return None
        return float(output.splitlines()[-1]), _pairs(np.load(target))

    def is_right(self, found: set[tuple[int, int]]) -> bool:
        """Whether the pairs of some sets are those found by hand."""
        chosen = set(range(0, len(self._sets), max(1, len(self._sets) // CHECKED)))
        return by_hand(self._sets, self._threshold) == {pair for pair in found if chosen & set(pair)}

    def _flat(self) -> tuple[Any, Any]:
        offsets = np.cumsum([0, *map(len, self._sets)])
        return offsets, np.array([item for items in self._sets for item in items], np.int64)


def _pairs(found: Any) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a, b in found.tolist()}


def compiled(folder: Path) -> Path | None:
    """The yardstick's program; None, and a word, where no compiler is."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        print("no C++ compiler was found (c++, g++, clang++): the AllPairs in C++ is left out", flush=True)
        return None
    program = folder / "allpairs"
    processes.run([compiler, "-O3", "-march=native", "-std=c++17", "-o", str(program), str(SOURCE)], {})
    return program


def joined(case: Case, program: Path | None, python: Path | None) -> tuple[list[str], float | None, bool]:
    """Figures of all who join a case, how many times as long ours takes as the C++ one, and whether they agree."""
    ours, exact = case.ours("jaccard")
    hashed, near = case.ours("minhash")
    same, times, cells = case.is_right(exact), None, ["-", "-"]
    if program:
        seconds, found = case.compiled(program)
        same, times = same and found == exact, ours / max(seconds, LEAST)
        cells = [f"{seconds:.2f}", f"{times:.2f}"]
    peer = case.from_pypi(python) if python else None
    if peer is not None:
        same = same and peer[1] == exact
    recall = len(near & exact) / len(exact) if exact else 1.0
    shown = "-" if peer is None else f"{peer[0]:.2f}"
    return [f"{len(exact):,}", f"{ours:.2f}", *cells, shown, f"{hashed:.2f}", f"{recall:.3f}"], times, same


def grown(name: str, num: int) -> list[str]:
    """How CPU time grows, at n, 2n and 4n, with what met and what there is to find."""
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for number in (num, 2 * num, 4 * num):
            target = Path(folder) / "pairs.npy"
            command = [sys.executable, __file__, "--measure", name, str(number), "0.5", str(target), "jaccard"]
            one = json.loads(processes.run(command, {}).output.splitlines()[-1])
            cells += [f"{number:,}", f"{one['seconds']:.2f}", f"{one['met'] / number:,.0f}"]
        return [*cells, f"{len(np.load(target)):,}"]


def shapes(names: list[str]) -> list[tuple[str, ...]]:
    """What each shape is made like."""
    each = [(name, SHAPES[name]) for name in names]
    return [
        (
            name,
            f"{one.sets:,}",
            f"{one.mean:g}",
            f"{one.universe:,}",
            f"{one.exponent:g}",
            "with it" if one.grows else "not",
        )
        for name, one in each
    ]


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench joins", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20_000, help="of each shape")
    parser.add_argument("--thresholds", nargs="+", default=["0.5", "0.6", "0.7", "0.8", "0.9", "0.95"])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--growing", nargs="*", choices=SHAPES, default=["KOSARAK", "UNIFORM"], help="at n, 2n and 4n")
    parser.add_argument("--limit", type=float, default=120, help="seconds for SetSimilaritySearch; 0: it is left out")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        name, num, *rest = given.measure
        print(json.dumps(measured(name, int(num), *rest)))
        return 0
    load, rows, ratios, same = os.getloadavg()[0], [], [], True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        program = compiled(folder)
        python = environments.installed(PEER, environments.HOME / "setsimilaritysearch") if given.limit else None
        for name in given.shapes:
            for threshold in given.thresholds:
                case = Case(name, given.sets, threshold, folder, given.limit)
                cells, times, agree = joined(case, program, python)
                if not agree:
                    print(f"{name} at {threshold}: the pairs differ", flush=True)
                same, ratios = same and agree, ratios + ([times] if times else [])
                rows.append((name, f"{given.sets:,}", threshold, *cells))
    growth = [(name, "0.5", *grown(name, given.sets)) for name in given.growing]
    mean = ""
    if ratios:
        usual = math.exp(sum(map(math.log, ratios)) / len(ratios))
        mean = f", {usual:.2f} in the geometric mean, {max(ratios):.2f} at most"
    about = (
        "CPU seconds of `pairs` on one thread, in a process that had a small run before, without an audit; `C++` is a"
        " plain AllPairs (bench/allpairs.cpp, -O3, one thread) and `PyPI` SetSimilaritySearch, both from sets in memory"
        f" to pairs in memory; `times` is ours by C++{mean}; `recall` is MinHash's share of the exact pairs. A dash: it"
        f" was not there, or took longer than {given.limit:g} seconds. The pairs of {CHECKED} sets of each corpus were"
        f" looked for in the slow way, too. All exact pairs are {'the same' if same else '**not the same**'}."
    )
    if load >= BUSY:
        about += f" The machine was busy with other work (load {load:.1f} at the start)."
    made_by, like = report.made_by("joins", PACKAGES), shapes(given.shapes)
    report.show("Joins of sets", HEADER, rows)
    report.show("Growth of the exact join", GROWTH, growth)
    print(f"{about}\n\n{made_by}")
    if not given.no_write and report.has_place(PAGE, "joins"):
        tables = [report.markdown(*one) for one in ((HEADER, rows), (GROWTH, growth), (SHAPE, like))]
        report.write_between(PAGE, "joins", "\n\n".join([about, *tables[:2], LIKE, tables[2], made_by]))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
