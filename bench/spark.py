"""Spark: nearsame on local[2] against nearsame on one machine, and against MLlib's MinHashLSH on the same sets.

1. Each figure is of a process of its own, in which the same was done on a small corpus before: sessions, kernels and
   Python workers are up. Rounds of all of them in turn; medians.
2. Beside each time stand the bytes that shuffles wrote, as Spark's status store has them, and how right the answer is,
   by the slow method of truth.py. The two engines must give one answer, or the benchmark fails.
3. MLlib gets its vectors ready, nearsame the raw text, and in a line of its own the same sets; all the same documents,
   of a made corpus, which is smaller, as MLlib is slow, and of the real ones that are here.
4. What runs "as at scale" is as it is on a cluster's corpora: nothing is decided on the driver or by one task, no rows
   are few enough to be sent to all workers, and the table of counts is as small beside its corpus. What larger corpora
   cost is cluster.py's.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import corpora
import corpus
import limit
import processes
import report
import truth

PAGE = report.ROOT / "docs" / "performance.md"
TASK = Path(__file__).with_name("_spark_task.py")
PACKAGES = ("nearsame", "pyspark", "pyarrow", "numba", "numpy")
COUNTS, AT_SCALE, READY = "counting by a shuffle", "Spark, as at scale", "nearsame jaccard, of sets"
ALONE = "nearsame jaccard, by the cluster"
BY_CLUSTER = "Spark, by the cluster"
ON_SPARK = ("Spark", BY_CLUSTER, AT_SCALE)
TABLE_BYTES = 1 << 28
THRESHOLD, METHODS, TABLES = "0.8", ("minhash", "jaccard"), (2, 5)
MASTER, MEMORY, PARTITIONS = "local[2]", "3g", 8
SMALL_BYTES, LIMIT_MINUTES = 2_000_000, 15
OVERHEAD = (
    *("", "seconds", "times one machine", "jobs", "tasks", "task seconds", "shuffled MB", "keys, predicted MB"),
    *("bytes/document", "removed", "recall", "precision"),
)
PEERS = (
    *("", "seconds", "documents/s", "shuffled MB", "pairs", "recall", "precision"),
    *("nearsame is … times as fast", "by the cluster", "from the same sets"),
)


@dataclass(frozen=True)
class Seen:
    """What the runs of one task told."""

    runs: list[dict[str, Any]]

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(run["seconds"] for run in self.runs)

    @property
    def task_seconds(self) -> float:
        """Of all tasks of Spark together, the median."""
        return statistics.median(run["task_seconds"] for run in self.runs)

    @property
    def work(self) -> tuple[int, int]:
        """Jobs and tasks of Spark, of the last run."""
        return self.runs[-1]["jobs"], self.runs[-1]["tasks"]

    @property
    def shuffle_bytes(self) -> int:
        """Written by Spark; the same in all runs but for how it compresses."""
        return int(statistics.median(run["shuffle_bytes"] for run in self.runs))

    @property
    def memory_bytes(self) -> int:
        """The most at one moment, of Java and Python together, without what files have of it."""
        return max(run["memory_bytes"] for run in self.runs)

    @property
    def predicted_bytes(self) -> int | None:
        """What the run itself predicted of its keys."""
        predicted = self.said.get("room", {}).get("shuffle", {}).get("predicted", {})
        return predicted.get(self.said.get("recipe", {}).get("method"), {}).get("bytes")

    @property
    def said(self) -> dict[str, Any]:
        """The statistics of the last run."""
        return dict(self.runs[-1]["said"])

    @property
    def answer(self) -> set[tuple[Any, Any]]:
        """Pairs of documents, by what they are called."""
        return {(a, b) for a, b in self.runs[-1]["answer"]}


@dataclass(frozen=True)
class Bench:
    """Where corpora lie, and what a session is given."""

    folder: Path
    small: Path
    limit_seconds: float = LIMIT_MINUTES * 60
    partitions: int = PARTITIONS
    more: tuple[tuple[str, str], ...] = ()  # settings of the session

    def run(self, file: Path, what: str, engine: str, **task: Any) -> dict[str, Any]:
        """One task in a process of its own."""
        conf = {
            "spark.driver.memory": MEMORY,
            "spark.sql.shuffle.partitions": str(self.partitions),
            "spark.sql.files.maxPartitionBytes": str(16 << 20),
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(self.folder / "spark"),
            **dict(self.more),
        }
        given = {"what": what, "engine": engine, "file": str(file), "small": str(self.small), "threshold": THRESHOLD}
        command = [sys.executable, str(TASK), json.dumps({**given, "conf": conf, "threads": 2, **task})]
        environment = {"NUMBA_CACHE_DIR": str(self.folder / "kernels"), "PYTHONPATH": str(report.ROOT / "src")}
        done = processes.run(command, environment, self.limit_seconds)
        return {**json.loads(done.output.strip().splitlines()[-1]), "memory_bytes": done.anonymous_bytes}

    def rounds(self, tasks: dict[str, dict[str, Any]], file: Path, repeats: int) -> dict[str, Seen]:
        """Each task so many times, in turn; what fails is left out, and said."""
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in tasks}
        for number in range(repeats):
            for name, task in tasks.items():
                print(f"{file.name}: {name}, round {number + 1} of {repeats}", flush=True)
                try:
                    found[name].append(self.run(file, **task))
                except processes.Failed as error:
                    print(f"{name}: {error.reason}", file=sys.stderr)
        return {name: Seen(runs) for name, runs in found.items() if runs}


def overhead_rows(seen: dict[str, Seen], texts: list[str], known: truth.Truth) -> list[report.Row]:
    """A line for each method and engine."""
    found = []
    for method in METHODS:
        one = seen[f"{method}, one machine"]
        for where in ("one machine", *ON_SPARK):
            name = f"{method}, {where}"
            each, on_spark = seen[name], where != "one machine"
            quality = truth.judge(texts, known, each.answer)
            found.append(
                (
                    name,
                    f"{each.seconds:.2f}",
                    f"{each.seconds / one.seconds:.1f}",
                    *(f"{number:,}" if on_spark else "" for number in each.work),
                    f"{each.task_seconds:.1f}" if on_spark else "",
                    f"{each.shuffle_bytes / 1e6:,.1f}" if on_spark else "",
                    f"{each.predicted_bytes / 1e6:,.1f}" if on_spark and each.predicted_bytes is not None else "",
                    f"{each.shuffle_bytes / len(texts):,.0f}" if on_spark else "",
                    f"{quality.removed:,}",
                    f"{quality.recall:.2%}",
                    f"{quality.precision:.2%}",
                )
            )
    return found


def peer_rows(seen: dict[str, Seen], num_documents: int, right: frozenset[truth.Pair]) -> list[report.Row]:
    """A line for each of ours, and for each number of MLlib's hash tables."""
    ours = [seen[name].seconds if name in seen else None for name in ("nearsame jaccard", ALONE, READY)]
    found = []
    for name, each in seen.items():
        good = len(right & {(min(pair), max(pair)) for pair in each.answer})
        found.append(
            (
                name,
                f"{each.seconds:.2f}",
                f"{num_documents / each.seconds:,.0f}",
                f"{each.shuffle_bytes / 1e6:,.1f}",
                f"{len(each.answer):,}",
                f"{good / len(right):.2%}" if right else "",
                f"{good / len(each.answer):.2%}" if each.answer else "",
                *("" if name.startswith("nearsame") or not own else f"{each.seconds / own:.1f}" for own in ours),
            )
        )
    return found


def counts_text(seen: dict[str, Seen], num_documents: int) -> str:
    """What the other way to count would shuffle, before any key."""
    counted, joined = seen[COUNTS], seen[f"jaccard, {BY_CLUSTER}"]
    return (
        f"To count shingles by a shuffle, and to tell each document which of its own others have, takes "
        f"{counted.shuffle_bytes / num_documents:,.0f} bytes a document and {counted.task_seconds:.1f} task seconds, "
        f"before any key is made: {counted.shuffle_bytes / joined.shuffle_bytes:.1f} times what the whole exact join "
        "shuffles with its table."
    )


def mllib_text(bench: Bench, name: str, given: argparse.Namespace) -> str:
    """The table of one corpus, where it is here."""
    try:
        part = corpora.load(name, bench.folder, given.mllib_size, Fraction(THRESHOLD))
    except corpora.Absent as reason:
        print(f"left out: {reason}")
        return ""
    seen = bench.rounds(_peers(), part.file, 1)
    table = peer_rows(seen, part.num_documents, part.pairs)
    slow = [each for each in _peers() if each not in seen]
    gave_up = f" {' and '.join(slow)}: no answer within {given.limit_minutes:g} minutes." if slow else ""
    size = f"{part.num_documents:,} documents, {part.text_bytes / 1e6:,.0f} MB"
    about = f"{name}: {size}, {len(part.pairs):,} pairs at {THRESHOLD} or more.{gave_up}"
    report.show(about, PEERS, table)
    return f"{about}\n\n{report.markdown(PEERS, table)}"


def at_scale(text_bytes: int) -> dict[str, Any]:
    """What lets all be as with a terabyte, by the text that there is."""
    table = max(1, round(TABLE_BYTES * text_bytes / 1e12))
    return {"settings": {"broadcast_bytes": table, "driver_bytes": 0, "task_bytes": 0}, "few_rows": 1}


def tasks(what: str, text_bytes: int) -> dict[str, dict[str, Any]]:
    """Each method on one machine, and on Spark: as it comes, without the driver, and as at scale."""
    spark = {f"{method}, Spark": {"what": what, "engine": MASTER, "method": method} for method in METHODS}
    scale = {f"{method}, {AT_SCALE}": {**spark[f"{method}, Spark"], **at_scale(text_bytes)} for method in METHODS}
    whole = {
        f"{method}, {BY_CLUSTER}": {**spark[f"{method}, Spark"], "settings": {"driver_bytes": 0}} for method in METHODS
    }
    one = {f"{method}, one machine": {"what": what, "engine": "local", "method": method} for method in METHODS}
    return {**one, **spark, **whole, **scale}


def _peers() -> dict[str, dict[str, Any]]:
    ours = {f"nearsame {name}": {"what": "pairs", "engine": MASTER, "method": name} for name in reversed(METHODS)}
    ours[ALONE] = {**ours["nearsame jaccard"], "settings": {"driver_bytes": 0}}
    ours[READY] = {"what": "ready", "engine": MASTER, "method": "jaccard"}
    theirs = {f"MLlib, {count} tables": {"what": "mllib", "engine": MASTER, "tables": count} for count in TABLES}
    return {**ours, **theirs}


def made_corpus(folder: Path, size: str) -> Path:
    """A corpus of so many bytes of text, made where it is not there yet."""
    file = folder / f"corpus-{size}.parquet"
    if not file.exists():
        print(f"making {file.name}", flush=True)
        corpus.write(file, corpus.parse_size(size))
    return file


def measure_engines(given: argparse.Namespace, bench: Bench) -> tuple[str, bool]:
    """The text on the two engines, and whether they gave one answer."""
    file = made_corpus(bench.folder, given.size)
    seen = bench.rounds(tasks("dedup", corpus.parse_size(given.size)), file, given.repeats)
    seen |= bench.rounds({COUNTS: {"what": "counts", "engine": MASTER, "method": "jaccard"}}, file, 1)
    texts, known = truth.of_file(file, Fraction(THRESHOLD))
    size = sum(len(text.encode()) for text in texts)
    table = overhead_rows(seen, texts, known)
    about = f"{len(texts):,} documents, {size / 1e6:,.0f} MB of text in Parquet; medians of {given.repeats} rounds."
    report.show(about, OVERHEAD, table)
    same = all(
        seen[f"{each}, {where}"].answer == seen[f"{each}, one machine"].answer for each in METHODS for where in ON_SPARK
    )
    return f"{about}\n\n{report.markdown(OVERHEAD, table)}\n\n{counts_text(seen, len(texts))}", same


def measure_mllib(given: argparse.Namespace, bench: Bench) -> tuple[str, bool]:
    """The text on MLlib: there is nothing in it that has to agree."""
    return "\n\n".join(filter(None, (mllib_text(bench, name, given) for name in given.corpora))), True


def main(arguments: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench spark", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="100MB", help="bytes of text for the two engines (100MB)")
    made = f"bytes of text of {corpora.MADE} for the comparison with MLlib (100MB)"
    parser.add_argument("--mllib-size", default="100MB", help=made)
    named = "that MLlib is compared on"
    parser.add_argument("--corpora", nargs="*", default=[corpora.MADE, *corpora.REAL], metavar="NAME", help=named)
    parser.add_argument("--repeats", type=int, default=1, help="rounds of the two engines")
    parser.add_argument("--only", choices=("engines", "mllib"), help="leave the other comparison, and its table, alone")
    parser.add_argument("--limit-minutes", type=float, default=LIMIT_MINUTES, help="for one run; then it is ended")
    parser.add_argument("--folder", type=Path, help="where corpora are made and found again; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    parts = (
        ("engines", "spark", measure_engines, f"--size {given.size} --repeats {given.repeats}"),
        ("mllib", "spark-mllib", measure_mllib, f"--mllib-size {given.mllib_size} --corpora {' '.join(given.corpora)}"),
    )
    every_same = True
    with limit.working_folder(given.folder) as folder:
        bench = Bench(folder, made_corpus(folder, str(SMALL_BYTES)), given.limit_minutes * 60)
        for part, place, measure, asked in parts:
            if given.only in (None, part):
                load = os.getloadavg()[0]
                text, same = measure(given, bench)
                made = report.made_by(f"spark --only {part} {asked}", PACKAGES) + limit.others(load)
                print(f"{text}\n\n{made}")
                if not given.no_write and report.has_place(PAGE, place):
                    report.write_between(PAGE, place, f"{text}\n\n{made}")
                every_same = every_same and same
    if not every_same:
        print("the two engines differ", file=sys.stderr)
    return 0 if every_same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
