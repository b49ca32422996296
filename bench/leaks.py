"""Leaks on one core: MB of training text a second in which the items of benchmarks are looked for; reading not counted.

1. Texts of a made corpus, in memory, go through the stage of `leaks` in the thread that measures. Time is that thread's
   CPU time, so a machine that does other things changes it little.
2. Items are made of words of the same corpus. Into some documents one is written, so that the answer is known: the run
   fails unless these are found and no others.
"""

import argparse
import os
import random
import statistics
import sys
import time

import corpus
import pyarrow as pa
import report

from nearsame.recipes.leaks import LeakRule
from nearsame.stages.features.leaks import LeakStage
from nearsame.stages.features.sought import SoughtTexts

PAGE = report.ROOT / "docs" / "leaks.md"
HEADER = ("items", "shingles", "table MB", "text MB", "planted", "MB/s a core", "µs an item")
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
NUM_WORDS = 60  # of an item
EVERY = 1_000  # documents, of which one holds an item
REPEATS = 3


def items(texts: list[str], number: int) -> list[str]:
    """Rows of words, drawn from all words of some texts."""
    chance = random.Random(0)
    words = [word for text in texts[:2_000] for word in text.split()]
    return [" ".join(chance.choices(words, k=NUM_WORDS)) for _ in range(number)]


def batches(texts: list[str], made: list[str]) -> tuple[list[pa.RecordBatch], set[tuple[int, int]]]:
    """DOCUMENTS, and which of them hold which item."""
    planted = {(row, number % len(made)) for number, row in enumerate(range(0, len(texts), EVERY))}
    whole = list(texts)
    for row, item in planted:
        whole[row] = f"{texts[row]}\n{made[item]}\n{texts[row]}"
    rows = pa.array(range(len(whole)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(whole, pa.large_string())], ["row", "text"])
    return [batch.slice(at, 5_000) for at in range(0, len(batch), 5_000)], planted


def measure(texts: list[str], number: int) -> tuple[str, ...]:
    """A line of the table."""
    made = items(texts, number)
    SoughtTexts.made([made[:1]], [0], LeakRule())  # loads the kernels
    began = time.thread_time()
    sought = SoughtTexts.made([[item] for item in made], [0] * number, LeakRule())
    making = time.thread_time() - began
    stage, (some, planted) = LeakStage(sought), batches(texts, made)
    stage(some[0].slice(0, 1))
    seconds = []
    for _ in range(REPEATS):
        began = time.thread_time()
        found = [stage(batch) for batch in some]
        seconds.append(time.thread_time() - began)
    lines = {(line["row"], line["text"]) for batch in found for line in batch.select(["row", "text"]).to_pylist()}
    if lines != planted:
        raise SystemExit(f"{len(lines):,} leaks, not the {len(planted):,} that were put in")
    megabytes = sum(batch.column("text").nbytes for batch in some) / 1e6
    table = sum(column.nbytes for column in sought.table) / 1e6
    return (
        f"{number:,}", f"{sought.table.hashes.size:,}", f"{table:.1f}", f"{megabytes:.0f}", f"{len(planted):,}",
        f"{megabytes / statistics.median(seconds):.0f}", f"{1e6 * making / number:.0f}",
    )  # fmt: skip


def main(arguments: list[str]) -> None:
    """Measure as the command line says, and print a table."""
    parser = argparse.ArgumentParser(prog="scripts/bench leaks", description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=corpus.parse_size, default="50MB", help="of training text (50MB)")
    parser.add_argument("--items", type=int, nargs="+", default=(1_000, 10_000, 100_000), help="of the benchmark")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    texts = [text for batch in corpus.documents(given.size) for text in batch.column("text").to_pylist()]
    rows = [measure(texts, number) for number in given.items]
    busy = "" if load < 0.7 else f"The machine was busy with other work (load {load:.1f} at the start). "
    made_by = f"{busy}{report.made_by(' '.join(['leaks', *arguments]), PACKAGES)}"
    report.show("leaks", HEADER, rows)
    print(made_by)
    if not given.no_write:
        report.write_between(PAGE, "leaks", f"{report.markdown(HEADER, rows)}\n\n{made_by}")


if __name__ == "__main__":
    main(sys.argv[1:])
