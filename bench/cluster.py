"""Larger corpora on Spark: a whole run beside one machine's, and what is as at scale at two sizes, multiplied.

1. `--whole SIZE` is `dedup` of a corpus of that size with ordinary settings, from its path to the last row that stays,
   in as much memory as the smaller ones of spark.py have.
2. `--at-scale SIZE SIZE` measures two sizes in runs in which all is as it is at scale, and multiplies what was measured
   of the second, marked as that.
3. Each is beside one machine's run of the same corpus, and both engines must give one answer, or the benchmark fails.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import corpus
import limit
import report
import spark

GUIDE = report.ROOT / "docs" / "spark.md"
CORES, TERABYTES = (64, 512, 4096), (1, 100)
PARTITION_BYTES = 128 << 20  # of text: as docs/spark.md advises
LIMIT_MINUTES = 90
WHOLE = (
    *("", "documents", "seconds", "times one machine", "MB/s a core", "task seconds/GB", "bytes/document"),
    *("memory MB", "removed"),
)
LARGE = ("as at scale", "documents", "seconds", "times one machine", "task seconds/GB", "bytes/document", "removed")


class Differ(SystemExit):
    """The two engines gave two answers."""


class Beside(NamedTuple):
    """A corpus by a method: on Spark, and on one machine."""

    name: str
    spark: spark.Seen
    one: spark.Seen
    text_bytes: int

    @property
    def documents(self) -> int:
        """That were compared."""
        return int(self.spark.said["documents"])


def whole_row(seen: Beside) -> report.Row:
    """A run with ordinary settings."""
    return (
        seen.name,
        *_times(seen),
        f"{seen.text_bytes / 1e6 / seen.spark.seconds / 2:.1f}",
        *_costs(seen),
        f"{seen.spark.memory_bytes / 1e6:,.0f}",
        f"{len(seen.spark.answer):,}",
    )


def large_row(seen: Beside) -> report.Row:
    """A run in which all is as at scale."""
    return (seen.name, *_times(seen), *_costs(seen), f"{len(seen.spark.answer):,}")


def cost_rows(seen: Sequence[Beside]) -> list[report.Row]:
    """What larger corpora of such documents would take: measured figures, multiplied."""
    found = []
    for each in seen:
        for terabytes in TERABYTES:
            times = terabytes * 1e12 / each.text_bytes
            hours = each.spark.task_seconds * times / 3600
            method, _, _ = each.name.partition(",")
            found.append(
                (
                    f"{method}, {terabytes} TB, {each.documents * times / 1e9:,.1f} billion documents",
                    f"{each.spark.shuffle_bytes * times / 1e12:,.2f}",
                    f"{hours:,.0f}",
                    *(f"{hours / cores:,.1f}" for cores in CORES),
                )
            )
    return found


def cost_text(seen: Sequence[Beside]) -> str:
    """What is said of runs as at scale, and what they come to."""
    header = ("**estimate**", "TB shuffled", "core hours", *(f"hours on {cores:,} cores" for cores in CORES))
    return (
        f"By {_machine()}; of both sizes the answer is that of one machine.\n\n"
        "Nothing was decided on the driver or by one task, the table of counts was as small beside its corpus as "
        f"{spark.TABLE_BYTES >> 20} MB are beside a terabyte, and, as there, no documents were held for few enough to "
        "be named to all workers: the features of all were shuffled, and so were the texts, to find what stays.\n\n"
        f"All below is an estimate: the figures of {seen[-1].text_bytes / 1e9:,g} GB multiplied, as if no core ever "
        f"waited.\n\n{report.markdown(header, cost_rows(seen))}"
    )


def _machine() -> str:
    return f"{spark.MASTER} with {spark.MEMORY[:-1]} GB of memory for Java"


def _times(seen: Beside) -> report.Row:
    return f"{seen.documents:,}", f"{seen.spark.seconds:,.0f}", f"{seen.spark.seconds / seen.one.seconds:.1f}"


def _costs(seen: Beside) -> report.Row:
    each = seen.spark.task_seconds / (seen.text_bytes / 1e9), seen.spark.shuffle_bytes / seen.documents
    return tuple(f"{figure:,.0f}" for figure in each)


def _beside(given: argparse.Namespace, folder: Path, size: str, where: str) -> Iterator[Beside]:
    """Each method on a corpus of that size, there and on one machine.

    Raises:
        Differ: As it says.
    """
    file, num_bytes = spark.made_corpus(folder, size), corpus.parse_size(size)
    small, partitions = spark.made_corpus(folder, str(spark.SMALL_BYTES)), -(-num_bytes // PARTITION_BYTES)
    bench = spark.Bench(folder, small, given.limit_minutes * 60, max(spark.PARTITIONS, partitions))
    tasks = spark.tasks("dedup", num_bytes)
    for method in given.methods:
        on_spark, one = (
            spark.Seen([bench.run(file, **tasks[f"{method}, {there}"])]) for there in (where, "one machine")
        )
        if on_spark.answer != one.answer:
            raise Differ(f"{method} of {size}: the two engines differ")
        yield Beside(f"{method}, {size}", on_spark, one, num_bytes)


def measure_whole(given: argparse.Namespace, folder: Path) -> str:
    """The block on a whole run."""
    seen = list(_beside(given, folder, given.whole, "Spark"))
    said = f"By {_machine()}, from a warm session; the answer is that of one machine with two threads."
    return f"{report.markdown(WHOLE, [whole_row(each) for each in seen])}\n\n{said}"


def measure_at_scale(given: argparse.Namespace, folder: Path) -> str:
    """The block on what is as at scale, and what larger corpora would take."""
    sizes = [list(_beside(given, folder, size, spark.AT_SCALE)) for size in given.at_scale]
    table = [large_row(each) for several in zip(*sizes, strict=True) for each in several]
    return f"{report.markdown(LARGE, table)}\n\n{cost_text(sizes[-1])}"


def main(arguments: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--whole", metavar="SIZE", help="bytes of text for a run with ordinary settings")
    parser.add_argument("--at-scale", nargs=2, metavar="SIZE", help="bytes of text of two runs as at scale")
    parser.add_argument("--methods", nargs="+", choices=spark.METHODS, default=list(spark.METHODS))
    parser.add_argument("--limit-minutes", type=float, default=LIMIT_MINUTES, help="for one run; then it is ended")
    parser.add_argument("--folder", type=Path, help="where corpora are made and found again; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    if not given.whole and not given.at_scale:
        parser.error("nothing to do: --whole, --at-scale, or both")
    every, parts = given.methods, []
    if given.whole:  # the largest size takes a run for each method
        parts += [(f"spark-whole-{one}", f"--whole {given.whole}", measure_whole, [one]) for one in every]
    if given.at_scale:
        parts += [("spark-cost", f"--at-scale {' '.join(given.at_scale)}", measure_at_scale, every)]
    with limit.working_folder(given.folder) as folder:
        for place, asked, measure, given.methods in parts:
            load, script = os.getloadavg()[0], f"cluster {asked} --methods {' '.join(given.methods)}"
            text = f"{measure(given, folder)}\n\n{report.made_by(script, spark.PACKAGES)}{limit.others(load)}"
            print(text)
            if not given.no_write and report.has_place(GUIDE, place):
                report.write_between(GUIDE, place, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
