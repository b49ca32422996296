"""Scale: `dedup` and `pairs` on 100,000, 1 and 10 million documents of 2 KB within --memory: the cost of a document.

1. The documents are made part after part by corpus.py; only a sample of the planted families is kept beside them. What
   is to go of these, and which pairs are to be listed, is computed by truth.py and compared with what went and was.
2. Before a size starts, the disk must have room for its text, the output and what is spilled. Everything is deleted
   after, but for the documents with --keep: then the next run finds them. A size that would take, or takes, longer than
   the limit is told so, not left out in silence.
3. The ratio is between the cost of a document at a size and at the first, of one command in one run.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import corpora
import corpus
import limit
import processes
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import report
import truth

PAGE = report.ROOT / "docs" / "performance.md"
SIZES, MEMORY, COMMANDS = ("100k", "1M", "10M"), "8GB", ("dedup", "pairs")
THRESHOLD = "0.8"
AIM = 1.3
LIMIT_MINUTES = 60
PART_DOCUMENTS = 100_000
SAMPLED = 5_000  # families, or all if there are fewer
ORIGINALS = 0.047  # of all documents: the number that others may be made from
DISK_BYTES = 5200  # a document: 1 KB of packed text, as much again in the output, 2.6 KB spilled, and some more
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
HEADER = (
    *("command", "documents", "MB", "seconds", "CPU s", "µs a document", "ratio", "without the start", "MB/s"),
    *("peak MB", "anonymous MB", "written MB", "removed or listed", "of a sample to be", "missed", "too many"),
)


@dataclass(frozen=True)
class Sample:
    """Documents of some families: their numbers, those that are to go, and the pairs that are to be listed."""

    numbers: frozenset[int]
    expected: frozenset[int]
    pairs: frozenset[truth.Pair]

    def wanted(self, command: str) -> frozenset[Any]:
        """What the answer of a command is to hold of these."""
        return self.expected if command == "dedup" else self.pairs

    def seen(self, command: str, target: Path) -> tuple[int, frozenset[Any]]:
        """How much an answer holds, and what of it is about these."""
        if command == "dedup":
            ids = pq.read_table(target / "removed.parquet", columns=["id"]).column(0).to_pylist()
            return len(ids), self.numbers.intersection(map(int, ids))
        table = pq.read_table(target, columns=["a_id", "b_id"])
        known = pa.array(sorted(map(str, self.numbers)), table.column(0).type)
        both = table.filter(pc.and_(*(pc.is_in(column, known) for column in table.columns)))
        pairs = (sorted(map(int, pair)) for pair in zip(*(column.to_pylist() for column in both.columns), strict=True))
        return len(table), frozenset((a, b) for a, b in pairs)


@dataclass(frozen=True)
class Outcome:
    """What one size took, or why it did not run."""

    command: str
    documents: int
    text_bytes: int = 0
    run: processes.Run | None = None
    steps_seconds: float = 0  # as the run itself tells
    written: int = 0  # bytes
    found: int = 0
    expected: int = 0
    missed: int = 0
    wrong: int = 0
    reason: str = ""

    @property
    def cost(self) -> float:
        """Seconds a document."""
        return self.run.seconds / self.documents if self.run else 0.0

    @property
    def work(self) -> float:
        """Seconds a document, without what it takes to start and to end."""
        return self.steps_seconds / self.documents


def batches(num_documents: int) -> Iterator[pa.RecordBatch]:
    """As many documents, corpus.py's first ones."""
    generator = corpus.Generator()
    while generator.num_made < num_documents:
        missing = num_documents - generator.num_made
        yield generator.batch()[:missing]


def make(folder: Path, num_documents: int) -> tuple[int, Sample]:
    """Write the parts; the bytes of text, and the sample."""
    folder.mkdir(parents=True)
    every = max(int(num_documents * ORIGINALS) // SAMPLED, 1)
    text_bytes, waiting, num_rows, rows = 0, [], 0, []
    for batch in batches(num_documents):
        text_bytes += int(corpus.text_bytes(batch).sum())
        rows += _sampled(batch, every)
        waiting.append(batch)
        num_rows += len(batch)
        if num_rows >= PART_DOCUMENTS:
            _write(folder, waiting)
            waiting, num_rows = [], 0
    _write(folder, waiting)
    return text_bytes, sample(rows)


def _write(folder: Path, waiting: Sequence[pa.RecordBatch]) -> None:
    if waiting:
        number = sum(1 for _ in folder.iterdir())
        # packed tightly: 10 million documents, their copies and what is spilled must fit on a common disk
        table = pa.Table.from_batches(waiting).drop_columns(["origin"])
        pq.write_table(table, folder / f"part-{number:04d}.parquet", compression="zstd")


def _sampled(batch: pa.RecordBatch, every: int) -> list[tuple[int, str, int | None]]:
    """Of each `every`-th family the documents that a batch has: number, text, origin."""
    numbers, origins = map(int, batch.column("id").to_pylist()), batch.column("origin").to_pylist()
    chosen = [
        (row, number, origin)
        for row, (number, origin) in enumerate(zip(numbers, origins, strict=True))
        if (number if origin is None else origin) % every == 0
    ]
    texts = batch.column("text").take(pa.array([row for row, _, _ in chosen], pa.int64())).to_pylist()
    return [(number, text, origin) for (_, number, origin), text in zip(chosen, texts, strict=True)]


def sample(rows: Sequence[tuple[int, str, int | None]]) -> Sample:
    """What is to go of the documents that were sampled."""
    place = {number: index for index, (number, _, _) in enumerate(rows)}
    origins = [None if origin is None else place[origin] for _, _, origin in rows]
    known = truth.truth([text for _, text, _ in rows], origins, Fraction(THRESHOLD))
    pairs = frozenset((rows[a][0], rows[b][0]) for a, b in known.pairs)
    return Sample(frozenset(place), frozenset(rows[index][0] for index in known.expected), pairs)


def made(folder: Path, num_documents: int) -> tuple[int, Sample]:
    """What `make` gives; of documents that an earlier run kept, what it wrote beside them."""
    beside = folder.with_suffix(".json")
    if beside.exists():
        known = json.loads(beside.read_bytes())
        pairs = frozenset((a, b) for a, b in known["pairs"])
        return known["text_bytes"], Sample(frozenset(known["numbers"]), frozenset(known["expected"]), pairs)
    shutil.rmtree(folder, ignore_errors=True)  # half made
    began = time.perf_counter()
    text_bytes, drawn = make(folder, num_documents)
    lists = {"numbers": sorted(drawn.numbers), "expected": sorted(drawn.expected), "pairs": sorted(drawn.pairs)}
    known = {"text_bytes": text_bytes, **lists}
    beside.write_text(json.dumps(known), "utf-8")
    print(f"made {num_documents:,} documents in {time.perf_counter() - began:.0f} s", flush=True)
    return text_bytes, drawn


def measure(num_documents: int, folder: Path, settings: argparse.Namespace) -> list[Outcome]:
    """One size, from making its documents to deleting them."""
    parts = folder / f"parts-{num_documents}"
    held = sum(file.stat().st_size for file in parts.glob("*")) if parts.exists() else 0
    needed, free = num_documents * DISK_BYTES - held, shutil.disk_usage(folder).free
    if needed > free:
        reason = f"needs about {needed / 1e9:.0f} GB of disk, {free / 1e9:.0f} GB are free"
        return [Outcome(command, num_documents, reason=reason) for command in settings.commands]
    try:
        text_bytes, drawn = made(parts, num_documents)
        empty = [Outcome(command, num_documents, text_bytes) for command in settings.commands]
        if settings.only_make:
            return [replace(outcome, reason="made only") for outcome in empty]
        return [_measured(outcome, drawn, parts, settings) for outcome in empty]
    finally:
        if not settings.keep:
            shutil.rmtree(parts, ignore_errors=True)
            parts.with_suffix(".json").unlink(missing_ok=True)


def _measured(outcome: Outcome, drawn: Sample, parts: Path, given: argparse.Namespace) -> Outcome:
    name, target = outcome.command, parts.with_name("out" if outcome.command == "dedup" else "pairs.parquet")
    settings = ["--method", "jaccard", "--threshold", THRESHOLD, "--memory", given.memory, "--json"]
    command = [*corpora.nearsame(name), str(parts), "-o", str(target), *settings]
    environment = {**corpora.kernels(parts.parent), "TMPDIR": str(parts.parent)}
    try:
        run = processes.run(command, environment, given.limit_minutes * 60)
        found, seen = drawn.seen(name, target)
        files = [file for file in (target, *target.rglob("*")) if file.is_file()]
        wanted = drawn.wanted(name)
        return replace(
            outcome,
            run=run,
            steps_seconds=sum(json.loads(run.output)["seconds"].values()),
            written=sum(file.stat().st_size for file in files),
            found=found,
            expected=len(wanted),
            missed=len(wanted - seen),
            wrong=len(seen - wanted),
        )
    except processes.Failed as error:
        return replace(outcome, reason=error.reason)
    finally:
        shutil.rmtree(target, ignore_errors=True)
        target.unlink(missing_ok=True)


def scale(folder: Path, settings: argparse.Namespace) -> list[Outcome]:
    """All sizes, from the smallest on."""
    limit_minutes = settings.limit_minutes
    found: list[Outcome] = []
    for size in sorted(settings.sizes):
        costs = [outcome.cost for outcome in found if outcome.run]
        minutes = max(costs[-len(settings.commands) :], default=0) * size / 60
        if minutes > limit_minutes:
            reason = f"would take about {minutes:.0f} minutes, more than --limit-minutes {limit_minutes:g}"
            found += [Outcome(command, size, reason=reason) for command in settings.commands]
        else:
            print(f"{size:,} documents", flush=True)
            found += measure(size, folder, settings)
        for outcome in found[-len(settings.commands) :]:
            print(f"{outcome.command}: {outcome.reason or f'{outcome.cost * 1e6:.1f} µs a document'}", flush=True)
    return found


def rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The table."""
    first = {outcome.command: outcome for outcome in reversed(outcomes) if outcome.run}
    return [
        _row(outcome, first.get(outcome.command, outcome)) for outcome in sorted(outcomes, key=lambda one: one.command)
    ]


def failures(outcomes: Sequence[Outcome]) -> str:
    """Why rows are empty."""
    return " ".join(
        f"`{each.command}` of {each.documents:,} documents: {each.reason}." for each in outcomes if each.reason
    )


def _row(outcome: Outcome, first: Outcome) -> tuple[str, ...]:
    if outcome.run is None:
        return (outcome.command, f"{outcome.documents:,}", "", "did not run", *[""] * (len(HEADER) - 4))
    return (
        outcome.command,
        f"{outcome.documents:,}",
        f"{outcome.text_bytes / 1e6:,.0f}",
        f"{outcome.run.seconds:.1f}",
        f"{outcome.run.cpu_seconds:.1f}",
        f"{outcome.cost * 1e6:.1f}",
        f"{outcome.cost / first.cost:.2f}",
        f"{outcome.work / first.work:.2f}",
        f"{outcome.text_bytes / 1e6 / outcome.run.seconds:.0f}",
        f"{outcome.run.peak_bytes / 1e6:,.0f}",
        f"{outcome.run.anonymous_bytes / 1e6:,.0f}",
        f"{outcome.written / 1e6:,.0f}",
        f"{outcome.found:,}",
        f"{outcome.expected:,}",
        f"{outcome.missed:,}",
        f"{outcome.wrong:,}",
    )


def about(memory: str, load: float) -> str:
    """What stands above the table."""
    return (
        f"`nearsame dedup` and `pairs` with `--method jaccard --threshold {THRESHOLD} --memory {memory}`, whole "
        "processes, kernels compiled before. The ratio is the cost of a document over that at the first size, with and "
        f"without the start of the process; the aim is at most {AIM}. Of the planted families about {SAMPLED:,} were "
        f"drawn and compared with the slow method.{limit.others(load)}"
    )


def parse_count(text: str) -> int:
    """Documents, given as 100k, 10M or a plain number."""
    return corpus.parse_size(text)


def warm(folder: Path) -> None:
    """Compile the kernels."""
    file, target = folder / "warm.parquet", folder / "warm"
    corpus.write(file, limit.WARM_BYTES)
    processes.run([*corpora.nearsame("dedup"), str(file), "-o", str(target), "--quiet"], corpora.kernels(folder))
    shutil.rmtree(target)


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench scale", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=parse_count, default=[parse_count(size) for size in SIZES])
    parser.add_argument("--commands", nargs="+", choices=COMMANDS, default=COMMANDS, help="what is measured")
    parser.add_argument("--memory", default=MEMORY, help=f"the bound of each run (default {MEMORY})")
    parser.add_argument("--limit-minutes", type=float, default=LIMIT_MINUTES, help="for one size; then it is ended")
    parser.add_argument("--folder", type=Path, help="where documents are made and deleted; default: a temporary one")
    parser.add_argument("--keep", action="store_true", help="leave the documents for the next run; needs --folder")
    parser.add_argument("--only-make", action="store_true", help="make the documents, and measure nothing")
    parser.add_argument("--no-write", action="store_true", help="only print")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    settings, load = arguments(given), os.getloadavg()[0]
    with limit.working_folder(settings.folder) as folder:
        warm(folder)
        outcomes = scale(folder, settings)
    if settings.only_make:
        return 0
    table = report.markdown(HEADER, rows(outcomes))
    parts = (about(settings.memory, load), table, failures(outcomes), report.made_by("scale", PACKAGES))
    text = "\n\n".join(filter(None, parts))
    print(text)
    if not settings.no_write and report.has_place(PAGE, "scale"):
        report.write_between(PAGE, "scale", text)
    return 0 if all(outcome.missed == outcome.wrong == 0 for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
