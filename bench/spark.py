"""Spark: nearsame on local[2] against nearsame on one machine, and against MLlib's MinHashLSH on the same sets.

1. Each figure is of a process of its own, in which the same was done on a small corpus before: sessions, kernels and
   Python workers are up. Rounds of all of them in turn; medians.
2. Beside each time stand the bytes that shuffles wrote, as Spark's status store has them, and how right the answer is,
   by the slow method of truth.py. The two engines must give one answer, or the benchmark fails.
3. MLlib gets its vectors ready, nearsame the raw text; both the same documents, of a made corpus, which is smaller, as
   MLlib is slow, and of the real ones that are here.
4. With `--large`, the page on Spark gets one for larger corpora in place of that: a run on one of that size, beside a
   smaller one, and what was measured of it multiplied, and marked as that.
   They are of runs in which all is as it is there: nothing is decided on the driver or by one task, no rows are few
   enough to be sent to all workers, and the table of counts is as small beside its corpus.
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

PAGE, GUIDE = report.ROOT / "docs" / "performance.md", report.ROOT / "docs" / "spark.md"
TASK = Path(__file__).with_name("_spark_task.py")
PACKAGES = ("nearsame", "pyspark", "pyarrow", "numba", "numpy")
COUNTS, AT_SCALE = "counting by a shuffle", "Spark, as at scale"
TABLE_BYTES = 1 << 28
THRESHOLD, METHODS, TABLES = "0.8", ("minhash", "jaccard"), (2, 5)
MASTER, MEMORY, PARTITIONS = "local[2]", "3g", 8
SMALL_BYTES, LIMIT_MINUTES = 2_000_000, 15
CORES, TERABYTES = (64, 512, 4096), (1, 100)
OVERHEAD = (
    *("", "seconds", "times one machine", "task seconds", "shuffled MB", "keys, predicted MB", "bytes/document"),
    *("removed", "recall", "precision"),
)
LARGE = ("as at scale", "documents", "seconds", "times one machine", "task seconds/GB", "bytes/document", "removed")
PEERS = ("", "seconds", "documents/s", "shuffled MB", "pairs", "recall", "precision", "nearsame is … times as fast")


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
    def shuffle_bytes(self) -> int:
        """Written by Spark; the same in all runs but for how it compresses."""
        return int(statistics.median(run["shuffle_bytes"] for run in self.runs))

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
    def answer(self) -> set[tuple[int, int]]:
        """Pairs of document numbers."""
        return {(a, b) for a, b in self.runs[-1]["answer"]}


@dataclass(frozen=True)
class Bench:
    """Where corpora lie, and what a session is given."""

    folder: Path
    small: Path
    limit_seconds: float = LIMIT_MINUTES * 60
    partitions: int = PARTITIONS

    def run(self, file: Path, what: str, engine: str, **task: Any) -> dict[str, Any]:
        """One task in a process of its own."""
        conf = {
            "spark.driver.memory": MEMORY,
            "spark.sql.shuffle.partitions": str(self.partitions),
            "spark.sql.files.maxPartitionBytes": str(16 << 20),
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(self.folder / "spark"),
        }
        given = {"what": what, "engine": engine, "file": str(file), "small": str(self.small), "threshold": THRESHOLD}
        command = [sys.executable, str(TASK), json.dumps({**given, "conf": conf, "threads": 2, **task})]
        environment = {"NUMBA_CACHE_DIR": str(self.folder / "kernels"), "PYTHONPATH": str(report.ROOT / "src")}
        done = processes.run(command, environment, self.limit_seconds)
        return dict(json.loads(done.output.strip().splitlines()[-1]))

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
        for where in ("one machine", "Spark", AT_SCALE):
            name = f"{method}, {where}"
            each, on_spark = seen[name], where != "one machine"
            quality = truth.judge(texts, known, each.answer)
            found.append(
                (
                    name,
                    f"{each.seconds:.2f}",
                    f"{each.seconds / one.seconds:.1f}",
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
    fastest = seen["nearsame jaccard"].seconds
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
                "" if name.startswith("nearsame") else f"{each.seconds / fastest:.1f}",
            )
        )
    return found


def counts_text(seen: dict[str, Seen], num_documents: int) -> str:
    """What the other way to count would shuffle, before any key."""
    counted, joined = seen[COUNTS], seen["jaccard, Spark"]
    return (
        f"To count shingles by a shuffle, and to tell each document which of its own others have, takes "
        f"{counted.shuffle_bytes / num_documents:,.0f} bytes a document and {counted.task_seconds:.1f} task seconds, "
        f"before any key is made: {counted.shuffle_bytes / joined.shuffle_bytes:.1f} times what the whole exact join "
        "shuffles with its table."
    )


def cost_rows(seen: dict[str, Seen], num_documents: int, text_bytes: int) -> list[report.Row]:
    """What larger corpora of such documents would take: measured figures, multiplied."""
    found = []
    for method, each in zip(_methods(seen), seen.values(), strict=True):
        for terabytes in TERABYTES:
            times = terabytes * 1e12 / text_bytes
            hours = each.task_seconds * times / 3600
            found.append(
                (
                    f"{method}, {terabytes} TB, {num_documents * times / 1e9:,.1f} billion documents",
                    f"{each.shuffle_bytes * times / 1e12:,.2f}",
                    f"{hours:,.0f}",
                    *(f"{hours / cores:,.1f}" for cores in CORES),
                )
            )
    return found


def cost_text(seen: dict[str, Seen], num_documents: int, text_bytes: int) -> str:
    """The block of the guide."""
    header = (
        "**estimate**",
        "TB shuffled",
        "core hours",
        *(f"hours on {cores:,} cores" for cores in CORES),
    )
    table = report.markdown(header, cost_rows(seen, num_documents, text_bytes))
    return (
        f"By {MASTER} with {MEMORY[:-1]} GB of memory; of both sizes the answer is that of one machine.\n\n"
        "Nothing was decided on the driver or by one task, the table of counts was as small beside its corpus as "
        f"{TABLE_BYTES >> 20} MB are beside a terabyte, and, as there, no documents were held for few enough to be "
        "named to all workers: the features of all were shuffled, and so were the texts, to find what stays.\n\n"
        f"All below is an estimate: the figures of {text_bytes / 1e9:,g} GB multiplied, as if no core ever waited.\n\n"
        f"{table}"
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


def measure_large(given: argparse.Namespace, folder: Path) -> bool:
    """Write what a large corpus takes, beside a smaller one; whether both engines gave one answer."""
    load = os.getloadavg()[0]
    bench = Bench(folder, _made(folder, str(SMALL_BYTES)), given.limit_minutes * 60)
    table, seen = list[report.Row](), dict[str, Seen]()
    for method in given.large_methods:
        for size in (given.size, given.large):
            file, num_bytes = _made(folder, size), corpus.parse_size(size)
            tasks = {name: task for name, task in _tasks("dedup", num_bytes).items() if name.startswith(method)}
            del tasks[f"{method}, Spark"]
            one, scale = (bench.rounds({name: tasks[name]}, file, 1)[name] for name in tasks)
            if set(one.answer) != set(scale.answer):
                return False
            table.append(_large_row(f"{method}, {size}", scale, one, num_bytes))
        seen[f"{method}, {AT_SCALE}"] = scale
        script = f"spark --large {given.large} --size {given.size} --large-methods {' '.join(_methods(seen))}"
        documents, made = scale.said["documents"], report.made_by(script, PACKAGES) + limit.others(load)
        report.show(f"{documents:,} documents", LARGE, table)
        text = f"{report.markdown(LARGE, table)}\n\n{cost_text(seen, documents, num_bytes)}\n\n{made}"
        if not given.no_write and report.has_place(GUIDE, "spark-cost"):
            report.write_between(GUIDE, "spark-cost", text)
    return True


def _methods(seen: dict[str, Seen]) -> list[str]:
    return [name.partition(",")[0] for name in seen]


def _large_row(name: str, scale: Seen, one: Seen, num_bytes: int) -> report.Row:
    documents = scale.said["documents"]
    return (
        name,
        f"{documents:,}",
        f"{scale.seconds:,.0f}",
        f"{scale.seconds / one.seconds:.1f}",
        f"{scale.task_seconds / (num_bytes / 1e9):,.0f}",
        f"{scale.shuffle_bytes / documents:,.0f}",
        f"{len(scale.answer):,}",
    )


def _tasks(what: str, text_bytes: int) -> dict[str, dict[str, Any]]:
    spark = {f"{method}, Spark": {"what": what, "engine": MASTER, "method": method} for method in METHODS}
    table = max(1, round(TABLE_BYTES * text_bytes / 1e12))
    settings = {"broadcast_bytes": table, "driver_bytes": 0, "task_bytes": 0}
    scale = {
        f"{method}, {AT_SCALE}": {**spark[f"{method}, Spark"], "settings": settings, "few_rows": 1}
        for method in METHODS
    }
    one = {f"{method}, one machine": {"what": what, "engine": "local", "method": method} for method in METHODS}
    return {**one, **spark, **scale}


def _peers() -> dict[str, dict[str, Any]]:
    ours = {f"nearsame {name}": {"what": "pairs", "engine": MASTER, "method": name} for name in reversed(METHODS)}
    theirs = {f"MLlib, {count} tables": {"what": "mllib", "engine": MASTER, "tables": count} for count in TABLES}
    return {**ours, **theirs}


def _made(folder: Path, size: str) -> Path:
    file = folder / f"corpus-{size}.parquet"
    if not file.exists():
        print(f"making {file.name}", flush=True)
        corpus.write(file, corpus.parse_size(size))
    return file


def measure(given: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """The text for the page, and whether both engines gave one answer."""
    load = os.getloadavg()[0]
    bench = Bench(folder, _made(folder, str(SMALL_BYTES)), given.limit_minutes * 60)
    file = _made(folder, given.size)
    seen = bench.rounds(_tasks("dedup", corpus.parse_size(given.size)), file, given.repeats)
    seen |= bench.rounds({COUNTS: {"what": "counts", "engine": MASTER, "method": "jaccard"}}, file, 1)
    texts, known = truth.of_file(file, Fraction(THRESHOLD))
    size = sum(len(text.encode()) for text in texts)
    table = overhead_rows(seen, texts, known)
    about = f"{len(texts):,} documents, {size / 1e6:,.0f} MB of text in Parquet; medians of {given.repeats} rounds."
    report.show(about, OVERHEAD, table)
    beside = [mllib_text(bench, name, given) for name in given.corpora]
    script = f"spark --size {given.size} --mllib-size {given.mllib_size} --repeats {given.repeats}"
    made = report.made_by(script, PACKAGES) + limit.others(load)
    tables = (
        f"{about}\n\n{report.markdown(OVERHEAD, table)}",
        counts_text(seen, len(texts)),
        *filter(None, beside),
    )
    same = all(
        seen[f"{each}, {where}"].answer == seen[f"{each}, one machine"].answer
        for each in METHODS
        for where in ("Spark", AT_SCALE)
    )
    return "\n\n".join([*tables, made]), same


def main(arguments: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the pages."""
    parser = argparse.ArgumentParser(prog="scripts/bench spark", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="100MB", help="bytes of text for the two engines (100MB)")
    made = f"bytes of text of {corpora.MADE} for the comparison with MLlib (100MB)"
    parser.add_argument("--mllib-size", default="100MB", help=made)
    named = "that MLlib is compared on"
    parser.add_argument("--corpora", nargs="*", default=[corpora.MADE, *corpora.REAL], metavar="NAME", help=named)
    parser.add_argument("--repeats", type=int, default=1, help="rounds of the two engines")
    parser.add_argument("--large", metavar="SIZE", help="for the page on Spark: bytes of text beside --size")
    parser.add_argument(
        "--large-methods", nargs="+", choices=METHODS, default=["minhash"], help="with --large (minhash)"
    )
    parser.add_argument("--limit-minutes", type=float, default=LIMIT_MINUTES, help="for one run; then it is ended")
    parser.add_argument("--folder", type=Path, help="where corpora are made and found again; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    with limit.working_folder(given.folder) as folder:
        if given.large:
            same = measure_large(given, folder)
        else:
            text, same = measure(given, folder)
            print(text)
            if not given.no_write and report.has_place(PAGE, "spark"):
                report.write_between(PAGE, "spark", text)
    if not same:
        print("the two engines differ", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
