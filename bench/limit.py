"""The limit: `nearsame dedup` on a Parquet file against pyarrow, polars and DuckDB merely rewriting it, in one run.

1. Whole processes, from start to exit, output on disk; rounds of all of them in turn; medians. The file to read is
   in the system's cache. A small corpus goes before: where kernels were not built ahead they are compiled then, in a
   cache of this run's own.
2. Each time stands beside its peak of memory and its correctness, by the slow method of truth.py.
3. Beside it stands what one core answers without starting and writing (answering.py), of this corpus and of a real one.
4. The run fails if the exact join missed a pair, removed one document too many, or one too few.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import corpora
import corpus
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report
import truth

PAGE, README = report.ROOT / "docs" / "performance.md", report.ROOT / "README.md"
PACKAGES = ("nearsame", "pyarrow", "polars", "duckdb", "numba", "numpy")
THRESHOLD = "0.8"
REWRITES = {
    "pyarrow": "import sys, pyarrow.parquet as pq; pq.write_table(pq.read_table(sys.argv[1]), sys.argv[2])",
    "polars": "import sys, polars; polars.read_parquet(sys.argv[1]).write_parquet(sys.argv[2], compression='snappy')",
    "DuckDB": "import sys, duckdb; duckdb.read_parquet(sys.argv[1]).write_parquet(sys.argv[2], compression='snappy')",
}
BASELINE, METHODS, MASK = "pyarrow", ("minhash", "jaccard"), "mask"
PROSE = "msdocs-en"
WARM_BYTES = 10_000_000  # five batches: all but the first have planted documents, so every kernel runs
REPEATS = 5
BUSY = 0.7  # a load average, of the last minute
HEADER = ("", "seconds", "ratio", "MB/s", "CPU s", "peak MB", "removed", "recall", "precision")
NAMES = {
    **{tool: f"{tool} rewrites" for tool in REWRITES},
    **{method: f"dedup, {method}" for method in METHODS},
    MASK: "dedup, jaccard, a mask and no copy",
}


@dataclass
class Measured:
    """What was seen of one of the commands."""

    runs: list[processes.Run] = field(default_factory=list)
    stats: list[dict[str, Any]] = field(default_factory=list)
    quality: truth.Quality = field(default_factory=truth.Quality)

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu_seconds(self) -> float:
        """The median, of all threads together."""
        return statistics.median(run.cpu_seconds for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        """The highest of all runs."""
        return max(run.peak_bytes for run in self.runs)

    def steps(self) -> dict[str, float]:
        """The median seconds of each step, as the runs themselves tell, and what is left: start and exit."""
        names = self.stats[0]["seconds"]
        found = {name: statistics.median(stats["seconds"][name] for stats in self.stats) for name in names}
        return {**found, "start, exit": self.seconds - sum(found.values())}


@dataclass(frozen=True)
class Bench:
    """A corpus, and where the runs have their kernels and put their output."""

    file: Path
    folder: Path

    def run(self, what: str, file: Path | None = None) -> tuple[processes.Run, Path]:
        """One command from start to exit, and where its output is."""
        target = self.folder / what
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)
        environment = {"NUMBA_CACHE_DIR": str(self.folder / "kernels")}
        return processes.run(_command(what, file or self.file, target), environment), target

    def round(self, measured: dict[str, Measured]) -> None:
        """Each command once."""
        for what, seen in measured.items():
            run, target = self.run(what)
            seen.runs.append(run)
            if what not in REWRITES:
                seen.stats.append(json.loads((target / "stats.json").read_bytes()))

    def warm(self, small: Path) -> dict[str, float]:
        """Seconds of each method on a small corpus, all kernels compiled."""
        runs = {method: [self.run(method, small)[0].seconds for _ in range(2)] for method in METHODS}
        return {method: seconds[-1] for method, seconds in runs.items()}

    def judge(self, measured: dict[str, Measured]) -> None:
        """Compare the last answers with the truth."""
        texts, known = truth.of_file(self.file, Fraction(THRESHOLD))
        for method in (*METHODS, MASK):
            found = truth.removals(self.folder / method / "removed.parquet")
            measured[method].quality = truth.judge(texts, known, found)

    def hashing(self) -> int:
        """MB of text hashed in a second, word by word."""
        script = Path(__file__).with_name("hashing.py")
        done = processes.run([sys.executable, str(script), str(self.file)], {})
        return int(json.loads(done.output)["mb_per_second"])

    def answering(self) -> str:
        """MB of text that one core answers in a second, of the corpus and of real prose; and what three texts take."""
        files = {"the made corpus": self.file}
        with suppress(corpora.Absent):
            texts = pa.table({"text": pa.array(corpora.real_texts(PROSE), pa.large_string())})
            files[PROSE] = self.folder / f"{PROSE}-whole.parquet"
            pq.write_table(texts, files[PROSE])
        script = str(Path(__file__).with_name("answering.py"))
        told = {name: json.loads(processes.run([sys.executable, script, str(file)], {}).output)
                for name, file in files.items()}  # fmt: skip
        each = ", ".join(f"{name} {one['mb_per_second']:.0f} MB/s" for name, one in told.items())
        return f"{each}; three texts in such a process {min(one['few_ms'] for one in told.values()):.1f} ms"


def _command(what: str, file: Path, target: Path) -> list[str]:
    if what in REWRITES:
        return [sys.executable, "-c", REWRITES[what], str(file), str(target)]
    method = ["--method", "jaccard", "--mask"] if what == MASK else ["--method", what]
    settings = [*method, "--threshold", THRESHOLD, "--quiet"]
    return [str(Path(sys.executable).with_name("nearsame")), "dedup", str(file), "-o", str(target), *settings]


def rows(measured: dict[str, Measured], text_bytes: int) -> list[tuple[str, ...]]:
    """The table: a line for each command."""
    limit = measured[BASELINE].seconds
    return [
        (
            NAMES[what],
            f"{seen.seconds:.2f}",
            f"{seen.seconds / limit:.2f}",
            f"{text_bytes / 1e6 / seen.seconds:.0f}",
            f"{seen.cpu_seconds:.2f}",
            f"{seen.peak_bytes / 1e6:,.0f}",
            *(_correctness(seen.quality) if what not in REWRITES else ("", "", "")),
        )
        for what, seen in measured.items()
    ]


def _correctness(quality: truth.Quality) -> tuple[str, str, str]:
    return f"{quality.removed:,}", f"{quality.recall:.2%}", f"{quality.precision:.2%}"


def step_rows(measured: dict[str, Measured]) -> list[tuple[str, ...]]:
    """The second table: a line for each step."""
    steps = {method: measured[method].steps() for method in METHODS}
    names = dict.fromkeys(name for method in METHODS for name in steps[method])
    found = sorted(names, key=lambda name: name == "start, exit")
    return [(name, *(f"{steps[m][name]:.2f}" if name in steps[m] else "" for m in METHODS)) for name in found]


def about(measured: dict[str, Measured], repeats: int, load: float) -> str:
    """What the corpus has, and how it was measured."""
    stats, quality = measured["jaccard"].stats[-1], measured["jaccard"].quality
    return (
        f"{stats['documents']:,} documents, {stats['text_bytes'] / 1e6:,.0f} MB of text in a Parquet file "
        f"(snappy); {quality.pairs:,} planted pairs with a Jaccard similarity of {THRESHOLD} or more, "
        f"{quality.expected:,} documents to go. Medians of {repeats} rounds.{others(load)}"
    )


def others(load: float) -> str:
    """A warning, where other processes were at work before the start."""
    return "" if load < BUSY else f" The machine was busy with other work (load {load:.1f} at the start)."


def remarks(small: dict[str, float], speed: int, answered: str) -> str:
    """What stands below the tables."""
    each = ", ".join(f"{method} {seconds:.1f} s" for method, seconds in small.items())
    return (
        f"On {WARM_BYTES / 1e6:.0f} MB of the same, start included: {each}.\n\n"
        f"The exact join's answer on one core, reading included, without start and writing: {answered}. "
        f"Word hashing alone: {speed} MB/s."
    )


@contextmanager
def working_folder(given: Path | None) -> Iterator[Path]:
    """The folder that was named, or one that goes with the benchmark."""
    if given is None:
        with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
            yield Path(name)
    else:
        given.mkdir(parents=True, exist_ok=True)
        yield given


def limit(size: str, repeats: int, folder: Path) -> tuple[dict[str, str], bool]:
    """Measure; the texts for the two pages, and whether the exact join was exact."""
    load = os.getloadavg()[0]
    bench, small = Bench(folder / f"corpus-{size}.parquet", folder), folder / "small.parquet"
    for file, num_bytes in ((small, WARM_BYTES), (bench.file, corpus.parse_size(size))):
        if not file.exists():
            print(f"making {file.name}", flush=True)
            corpus.write(file, num_bytes)
    print("warming", flush=True)
    warm = bench.warm(small)
    measured = {what: Measured() for what in NAMES}
    for number in range(repeats):
        print(f"round {number + 1} of {repeats}", flush=True)
        bench.round(measured)
    bench.judge(measured)
    table, steps = rows(measured, measured["jaccard"].stats[-1]["text_bytes"]), step_rows(measured)
    step_header = ("step", *(f"{method}, seconds" for method in METHODS))
    made_by = report.made_by(f"limit --size {size}", PACKAGES)
    notes = remarks(warm, bench.hashing(), bench.answering())
    report.show(about(measured, repeats, load), HEADER, table)
    report.show("Where the time goes", step_header, steps)
    print(f"{notes}\n\n{made_by}")
    short = f"{about(measured, repeats, load)}\n\n{report.markdown(HEADER, table)}"
    long = f"{short}\n\n{report.markdown(step_header, steps)}\n\n{notes}\n\n{made_by}"
    found = measured["jaccard"].quality
    return {"short": f"{short}\n\n{made_by}", "long": long}, found.differing == found.wrong == 0


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the pages that have a place for this size."""
    parser = argparse.ArgumentParser(prog="scripts/bench limit", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="200MB", help="bytes of text (200MB, 2GB, …)")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="rounds")
    parser.add_argument("--folder", type=Path, help="where corpora are made and found again; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    with working_folder(given.folder) as folder:
        texts, exact = limit(given.size, given.repeats, folder)
    for page, text in ((PAGE, texts["long"]), (README, texts["short"])):
        if not given.no_write and report.has_place(page, f"limit {given.size}"):
            report.write_between(page, f"limit {given.size}", text)
    if not exact:
        print("the exact join differs from the slow method", file=sys.stderr)
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
