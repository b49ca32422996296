"""Joins of sets: all similar pairs of twelve shapes of corpora, exactly and by MinHash, beside what others take.

1. The shapes are made: as many items a set, of so large a universe, as Mann, Augsten and Bouros (PVLDB 9(9), 2016) give
   of the corpora that the literature joins; sizes by Poisson's law, items by Zipf's with exponent 1 (KOSARAK: 1.1;
   UNIFORM: none). Sets are fewer, and universes smaller by the same factor where they grow with their corpus. Copies
   are left out, as of unique queries: what is the same is told by a digest, and a join of it is a list of its pairs.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The yardsticks are a plain AllPairs in C++ (allpairs.cpp, where a compiler is) and SetSimilaritySearch from PyPI, in
   an environment of its own: CPU seconds from the sets in memory to the pairs in memory.
4. The pairs of all exact joins are compared, and those of some sets are looked for in the slow way, too; the run fails
   where there are others.
"""

import argparse
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
GROWTH = ("", "n", "pairs", "CPU s", "µs", "2n", "pairs", "CPU s", "µs", "4n", "pairs", "CPU s", "µs")
GROWN = (
    "How time grows, at t = .5: `µs` is the time for each set and each pair that there is to find. Where the universe"
    " does not grow with the corpus, each set meets more the more sets there are. Where it"
    " does, time for a set and a pair was to stay the same, and does not quite."
)
METHODS = {"jaccard": ns.Jaccard, "minhash": ns.MinHash}
SHAPE = ("", "sets", "made", "items a set", "universe", "exponent", "grows")
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


def by_hand(sets: Sets, threshold: Fraction) -> set[tuple[int, int]]:
    """All pairs with one of some sets: what each shares with all others is counted."""
    is_mine, sizes, found = np.zeros(sets.items.max() + 1, np.int64), sets.sizes, set()
    for a in looked_at(sizes.size):
        mine = sets.items[sets.offsets[a] : sets.offsets[a + 1]]
        is_mine[mine] = 1
        shared = np.add.reduceat(is_mine[sets.items], sets.offsets[:-1])
        is_mine[mine] = 0
        enough = shared * threshold.denominator >= threshold.numerator * (sizes[a] + sizes - shared)
        found |= {(min(a, b), max(a, b)) for b in np.flatnonzero(enough).tolist() if a != b}
    return found


def looked_at(num: int) -> range:
    """The sets whose pairs are looked for by hand."""
    return range(0, num, max(1, num // CHECKED))


def measured(source: str, threshold: str, target: str, method: str) -> float:
    """CPU seconds of a method of ours; its pairs go to a file."""
    table, recipe = Sets.read(source).table(), METHODS[method](threshold=threshold)
    ns.pairs(table.slice(0, 200), method=recipe, features_column="items", threads=1, audit=False)
    began = process_time()
    found = ns.pairs(table, method=recipe, features_column="items", threads=1, audit=False)
    pairs, seconds = found.pairs, process_time() - began
    ids = [np.array(pairs.column(side).to_pylist(), np.int64) for side in ("a_id", "b_id")]
    np.save(target, np.stack(ids, axis=1).reshape(-1, 2))
    return seconds


class Case:
    """The sets of one shape: who joins them at a threshold, and what they found."""

    def __init__(self, name: str, num: int, folder: Path) -> None:
        self.name, self.sets = name, made(SHAPES[name], num)
        self._source, self._folder = folder / "sets", folder
        self.sets.write(self._source)

    def exact(self, threshold: str) -> tuple[float, Any]:
        """Our exact join: CPU seconds, and its pairs."""
        target = self._folder / "exact.npy"
        output = processes.run(self._of_ours("jaccard", threshold, target), {}).output
        return float(output.splitlines()[-1]), self._pairs(np.load(target))

    def hashed(self, threshold: str, limit: float) -> tuple[float, Any] | None:
        """Our MinHash; None if it takes too long."""
        target = self._folder / "hashed.npy"
        return self._within(
            limit, f"MinHash, {self.name} at {threshold}", self._of_ours("minhash", threshold, target), target
        )

    def _of_ours(self, method: str, threshold: str, target: Path) -> list[str]:
        return [sys.executable, __file__, "--measure", str(self._source), threshold, str(target), method]

    def compiled(self, program: Path, threshold: str) -> tuple[float, Any]:
        """The AllPairs of allpairs.cpp: CPU seconds, and its pairs."""
        target = self._folder / "cpp"
        fraction = map(str, Fraction(threshold).as_integer_ratio())
        output = processes.run([str(program), str(self._source), *fraction, str(target)], {}).output
        return float(output), self._pairs(np.fromfile(target, np.int64).reshape(-1, 2))

    def from_pypi(self, python: Path, threshold: str, limit: float) -> tuple[float, Any] | None:
        """SetSimilaritySearch's; None if it takes too long."""
        target = self._folder / "peer.npy"
        command = [str(python), str(ADAPTER), str(self._source), threshold, str(target)]
        variables = environments.variables(self._folder)
        return self._within(limit, f"SetSimilaritySearch, {self.name} at {threshold}", command, target, variables)

    def _within(
        self, limit: float, who: str, command: list[str], target: Path, environment: Any = None
    ) -> tuple[float, Any] | None:
        """CPU seconds and pairs of a command that ends in time."""
        try:
            output = processes.run(command, environment or {}, limit).output
        except processes.Failed as failed:
            print(f"{who}: {failed.reason}", flush=True)
            return None
        return float(output.splitlines()[-1]), self._pairs(np.load(target))

    def is_right(self, found: Any, threshold: str) -> bool:
        """Whether the pairs of some sets are those found by hand."""
        num = self.sets.sizes.size
        mine = np.isin(found // num, looked_at(num)) | np.isin(found % num, looked_at(num))
        by_them = self._pairs(np.array(sorted(by_hand(self.sets, Fraction(threshold))), np.int64).reshape(-1, 2))
        return np.array_equal(by_them, found[mine])

    def _pairs(self, found: Any) -> Any:
        """A number of each pair, ascending."""
        return np.sort(found.min(axis=1) * self.sets.sizes.size + found.max(axis=1))


def compiled(folder: Path) -> Path | None:
    """The yardstick's program; None, and a word, where no compiler is."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        print("no C++ compiler was found (c++, g++, clang++): the AllPairs in C++ is left out", flush=True)
        return None
    program = folder / "allpairs"
    processes.run([compiler, "-O3", "-march=native", "-std=c++17", "-o", str(program), str(SOURCE)], {})
    return program


class Joined(NamedTuple):
    """Who joins a case at a threshold, and how fast."""

    cells: list[str]
    times: float | None  # as long as the C++ one ours takes
    same: bool  # are their pairs
    late: bool  # was SetSimilaritySearch
    hashed_late: bool  # was MinHash


def joined(  # noqa: PLR0913  (who, but for the exact join: None is left out)
    case: Case, threshold: str, program: Path | None, python: Path | None, limit: float, *, hashed: bool
) -> Joined:
    """All of them, one after the other."""
    ours, exact = case.exact(threshold)
    near = case.hashed(threshold, limit) if hashed else None
    same, times, cells = case.is_right(exact, threshold), None, ["-", "-"]
    if program:
        seconds, found = case.compiled(program, threshold)
        same, times = same and np.array_equal(found, exact), ours / max(seconds, LEAST)
        cells = [f"{seconds:.2f}", f"{times:.2f}"]
    peer = case.from_pypi(python, threshold, limit) if python else None
    same = same and (peer is None or np.array_equal(peer[1], exact))
    cells = [f"{exact.size:,}", f"{ours:.2f}", *cells, "-" if peer is None else f"{peer[0]:.2f}"]
    if near is None:
        cells += ["-", "-"]
    else:
        cells += [f"{near[0]:.2f}", f"{np.isin(exact, near[1]).mean():.3f}" if exact.size else "-"]
    return Joined(cells, times, same, late=peer is None, hashed_late=near is None)


def grown(name: str, num: int, folder: Path) -> tuple[str, ...]:
    """CPU time for a quarter, a half and all of the sets, and how much that is for each set and pair."""
    cells = []
    for number in (num // 4, num // 2, num):
        seconds, pairs = Case(name, number, folder).exact("0.5")
        each = 1e6 * seconds / (number + pairs.size)
        cells += [f"{number:,}", f"{pairs.size:,}", f"{seconds:.2f}", f"{each:.1f}"]
    return (name, *cells)


def of_shape(case: Case, asked: argparse.Namespace, program: Path | None, python: Path | None) -> dict[str, Joined]:
    """Who joins a shape, by threshold; what took too long at one is not tried below it."""
    found: dict[str, Joined] = {}
    hashed = True
    for threshold in sorted(asked.thresholds, reverse=True):
        one = found[threshold] = joined(case, threshold, program, python, asked.limit, hashed=hashed)
        python, hashed = None if one.late else python, not one.hashed_late
        print(case.name, threshold, *one.cells, "" if one.same else "the pairs differ", flush=True)
    return dict(sorted(found.items()))


def shapes(names: list[str], num: int | None) -> list[tuple[str, ...]]:
    """What each shape is made like."""
    return [
        (
            name, f"{one.sets:,}", f"{(num or one.made) / one.sets:.1%}", f"{one.mean:g}", f"{one.universe:,}",
            f"{one.exponent:g}", "with it" if one.grows else "not",
        )
        for name, one in ((name, SHAPES[name]) for name in names)
    ]  # fmt: skip


def about(found: list[Joined], limit: float, load: float) -> str:
    """What stands above the tables."""
    times, mean = [one.times for one in found if one.times], ""
    if times:
        usual = math.exp(sum(map(math.log, times)) / len(times))
        mean = f", {usual:.2f} in the geometric mean, {max(times):.2f} at most"
    same = "the same" if all(one.same for one in found) else "**not the same**"
    busy = f" The machine was busy with other work (load {load:.1f} at the start)." if load >= BUSY else ""
    return (
        "CPU seconds of `pairs` on one thread, in a process that had a small run before, without an audit; `C++` is a"
        " plain AllPairs (bench/allpairs.cpp, -O3 -march=native, one thread) and `PyPI` SetSimilaritySearch, both from"
        " sets in memory to pairs in memory. They take items as the numbers that they are, and give no similarities;"
        " `pairs` hashes each item as a text, tells copies by BLAKE2b, and gives ids and similarities, all of which is"
        " counted."
        f" `times` is ours by C++{mean}; `recall` is MinHash's share of the exact pairs. A dash: there are no pairs,"
        f" it was not there, or took longer than {limit:g} seconds at this threshold or a higher one. The pairs of"
        f" {CHECKED} sets of each corpus were looked for in the slow way, too. All exact pairs are {same}.{busy}"
    )


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench joins", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, help="of each shape, in place of the number that SHAPES has for it")
    parser.add_argument("--thresholds", nargs="+", default=["0.5", "0.6", "0.7", "0.8", "0.9", "0.95"])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--growing", nargs="*", choices=SHAPES, default=list(SHAPES), help="at n/4, n/2 and n")
    parser.add_argument(
        "--limit", type=float, default=20, help="seconds for MinHash and SetSimilaritySearch; 0: that is left out"
    )
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure:
        print(measured(*asked.measure))
        return 0
    load, rows, found = os.getloadavg()[0], [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        program = compiled(folder)
        python = environments.installed(PEER, environments.HOME / "setsimilaritysearch") if asked.limit else None
        for name in asked.shapes:
            case = Case(name, asked.sets or SHAPES[name].made, folder)
            by_threshold = of_shape(case, asked, program, python)
            found += by_threshold.values()
            rows += [(name, f"{case.sets.sizes.size:,}", t, *one.cells) for t, one in by_threshold.items()]
        growth = [grown(name, asked.sets or SHAPES[name].made, folder) for name in asked.growing]
    told, made_by, like = (
        about(found, asked.limit, load),
        report.made_by("joins", PACKAGES),
        shapes(asked.shapes, asked.sets),
    )
    report.show("Joins of sets", HEADER, rows)
    report.show("Growth of the exact join", GROWTH, growth)
    print(f"{told}\n\n{made_by}")
    if not asked.no_write and report.has_place(PAGE, "joins"):
        tables = [report.markdown(*one) for one in ((HEADER, rows), (GROWTH, growth), (SHAPE, like))]
        parts = [told, tables[0], GROWN, tables[1], LIKE, tables[2], made_by]
        report.write_between(PAGE, "joins", "\n\n".join(parts))
    return 0 if all(one.same for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
