"""Joins of sets: all similar pairs of twelve shapes of corpora, exactly and by MinHash, beside what others take.

1. The shapes are those of _shapes.py.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The yardsticks are a plain AllPairs in C++ (allpairs.cpp, where a compiler is) and SetSimilaritySearch from PyPI, in
   an environment of its own: CPU seconds from the sets in memory to the pairs in memory.
4. The pairs of all exact joins are compared, and those of some sets are looked for in the slow way, too; the run fails
   where there are others.
5. `--spark` joins each shape at a tenth of its size on Spark instead, as spark.py runs it, and on one machine: wall
   time, and the pairs with their similarities, which must be the same.
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
import pyarrow.parquet as pq
import report
import spark
from _shapes import SHAPES, Sets, made

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
THRESHOLDS = ["0.5", "0.6", "0.7", "0.8", "0.9", "0.95"]
METHODS = {"jaccard": ns.Jaccard, "minhash": ns.MinHash}
SHAPE = ("", "sets", "made", "items a set", "universe", "exponent", "grows")
LIKE = (
    "The figures of the shapes are those of Mann, Augsten and Bouros (PVLDB 9(9), 2016): how many sets, how many items"
    " each has on average, and of how many. The exponent of Zipf's law is ours; so is whether the universe grows with"
    " the corpus: where it does, it is smaller by as much as the sets are fewer."
)
ON_SPARK = ("", "sets", "t", "pairs", "one machine, s", "Spark, s", "task seconds", "shuffled MB")
LESS, PARTS = 10, 2  # times fewer sets on Spark than on one machine; its partitions
SPREAD = {"driver_bytes": 0, "task_bytes": 0}  # as of a corpus for which they have no room


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
    for threshold in sorted(asked.thresholds or THRESHOLDS, reverse=True):
        one = found[threshold] = joined(case, threshold, program, python, asked.limit, hashed=hashed)
        python, hashed = None if one.late else python, not one.hashed_late
        print(case.name, threshold, *one.cells, "" if one.same else "the pairs differ", flush=True)
    return dict(sorted(found.items()))


def on_spark(name: str, threshold: str, num: int, folder: Path) -> tuple[tuple[str, ...], bool]:
    """A shape on one machine and on Spark: what it took, and whether both ended with the same pairs."""
    file, table = folder / f"{name}.parquet", made(SHAPES[name], num).table()
    pq.write_table(table, file)
    bench = spark.Bench(folder, file, partitions=PARTS)
    ways = {"engine": "local"}, {"engine": spark.MASTER, "settings": SPREAD}
    alone, spread = (bench.run(file, "sets", **way, threshold=threshold, method="jaccard", small=None) for way in ways)
    same = sorted(alone["answer"]) == sorted(spread["answer"])
    times = (alone["seconds"], spread["seconds"], spread["task_seconds"])
    cells = (f"{len(alone['answer']):,}", *(f"{each:.1f}" for each in times), f"{spread['shuffle_bytes'] / 1e6:,.1f}")
    print(name, threshold, *cells, "" if same else "the pairs differ", flush=True)
    return (name, f"{table.num_rows:,}", threshold, *cells), same


def tell_of_spark(asked: argparse.Namespace) -> bool:
    """All shapes on Spark: print, and write the page if it has a place; False if pairs differ."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as temporary:
        cases = [(name, threshold) for name in asked.shapes for threshold in asked.thresholds or ["0.5"]]
        nums = {name: asked.sets or SHAPES[name].made // LESS for name in asked.shapes}
        found = [on_spark(name, threshold, nums[name], Path(temporary)) for name, threshold in cases]
    same = all(agree for _, agree in found)
    about = (
        f"A tenth as many sets of each shape on Spark ({spark.MASTER}, {PARTS} partitions), where nothing is decided on"
        " the driver or by one task, as of a corpus for which they have no room; and on one thread of one machine. Wall"
        " seconds of `pairs`, one run each, in a process that had none before: Spark starts its workers, too. `task"
        f" seconds` are of all its tasks. {'All' if same else '**Not all**'} pairs, and their similarities, are the"
        f" same on both.{busy(load)}"
    )
    table = "Joins of sets on Spark", ON_SPARK, [row for row, _ in found]
    report.tell(None if asked.no_write else PAGE, "joins --spark", table, about, (*PACKAGES, "pyspark"))
    return same


def shapes(names: list[str], num: int | None) -> list[tuple[str, ...]]:
    """What each shape is made like."""
    return [
        (
            name, f"{one.sets:,}", f"{(num or one.made) / one.sets:.1%}", f"{one.mean:g}", f"{one.universe:,}",
            f"{one.exponent:g}", "with it" if one.grows else "not",
        )
        for name, one in ((name, SHAPES[name]) for name in names)
    ]  # fmt: skip


def busy(load: float) -> str:
    """A word on what else the machine did."""
    return f" The machine was busy with other work (load {load:.1f} at the start)." if load >= BUSY else ""


def about(found: list[Joined], limit: float, load: float) -> str:
    """What stands above the tables."""
    times, mean = [one.times for one in found if one.times], ""
    if times:
        usual = math.exp(sum(map(math.log, times)) / len(times))
        mean = f", {usual:.2f} in the geometric mean, {max(times):.2f} at most"
    same = "the same" if all(one.same for one in found) else "**not the same**"
    return (
        "CPU seconds of `pairs` on one thread, in a process that had a small run before, without an audit; `C++` is a"
        " plain AllPairs (bench/allpairs.cpp, -O3 -march=native, one thread) and `PyPI` SetSimilaritySearch, both from"
        " sets in memory to pairs in memory. They take items as the numbers that they are, and give no similarities;"
        " `pairs` hashes each item as a text, tells copies by BLAKE2b, and gives ids and similarities, all of which is"
        " counted."
        f" `times` is ours by C++{mean}; `recall` is MinHash's share of the exact pairs. A dash: there are no pairs,"
        f" it was not there, or took longer than {limit:g} seconds at this threshold or a higher one. The pairs of"
        f" {CHECKED} sets of each corpus were looked for in the slow way, too. All exact pairs are {same}.{busy(load)}"
    )


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench joins", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, help="of each shape, in place of the number that SHAPES has for it")
    parser.add_argument("--thresholds", nargs="+", help="0.5, 0.6, 0.7, 0.8, 0.9 and 0.95; on Spark 0.5")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--growing", nargs="*", choices=SHAPES, default=list(SHAPES), help="at n/4, n/2 and n")
    parser.add_argument(
        "--limit", type=float, default=20, help="seconds for MinHash and SetSimilaritySearch; 0: that is left out"
    )
    parser.add_argument("--spark", action="store_true", help="a tenth of each shape on Spark, and nothing else")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.measure:
        print(measured(*asked.measure))
        return 0
    if asked.spark:
        return 0 if tell_of_spark(asked) else 1
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
