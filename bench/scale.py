"""Scale: `nearsame dedup` on 100,000, 1 and 10 million documents of 2 KB within --memory: the cost of a document.

1. The documents are made part after part by corpus.py; only a sample of the planted families is kept beside them, and
   what is to go of these is computed by truth.py and compared with what went.
2. Before a size starts, the disk must have room for its text, the output and what is spilled. Everything is deleted
   after, but for the documents with --keep: then the next run finds them. A size that would take, or takes, longer than
   the limit is told so, not left out in silence.
3. The ratio is between the cost of a document at a size and at the first, in one run.
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

import corpora
import corpus
import limit
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report
import truth

PAGE = report.ROOT / "docs" / "performance.md"
SIZES, MEMORY = ("100k", "1M", "10M"), "6GB"
THRESHOLD = "0.8"
AIM = 1.3
LIMIT_MINUTES = 60
PART_DOCUMENTS = 100_000
SAMPLED = 5_000  # families, or all if there are fewer
ORIGINALS = 0.047  # of all documents: the number that others may be made from
DISK_BYTES = 5200  # a document: 1 KB of packed text, as much again in the output, 2.6 KB spilled, and some more
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
HEADER = (
    *("documents", "MB", "seconds", "µs a document", "ratio", "without the start", "MB/s", "peak MB", "anonymous MB"),
    *("removed", "of a sample to go", "missed", "too many"),
)


@dataclass(frozen=True)
class Sample:
    """Documents of some families: their numbers, and those that are to go."""

    numbers: frozenset[int]
    expected: frozenset[int]


@dataclass(frozen=True)
class Outcome:
    """What one size took, or why it did not run."""

    documents: int
    text_bytes: int = 0
    run: processes.Run | None = None
    steps_seconds: float = 0  # as the run itself tells
    removed: int = 0
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
    return Sample(frozenset(place), frozenset(rows[index][0] for index in known.expected))


def made(folder: Path, num_documents: int) -> tuple[int, Sample]:
    """What `make` gives; of documents that an earlier run kept, what it wrote beside them."""
    beside = folder.with_suffix(".json")
    if beside.exists():
        known = json.loads(beside.read_bytes())
        return known["text_bytes"], Sample(frozenset(known["numbers"]), frozenset(known["expected"]))
    shutil.rmtree(folder, ignore_errors=True)  # half made
    began = time.perf_counter()
    text_bytes, drawn = make(folder, num_documents)
    known = {"text_bytes": text_bytes, "numbers": sorted(drawn.numbers), "expected": sorted(drawn.expected)}
    beside.write_text(json.dumps(known), "utf-8")
    print(f"made {num_documents:,} documents in {time.perf_counter() - began:.0f} s", flush=True)
    return text_bytes, drawn


def measure(num_documents: int, folder: Path, settings: argparse.Namespace) -> Outcome:
    """One size, from making its documents to deleting them."""
    parts, target = folder / f"parts-{num_documents}", folder / "out"
    held = sum(file.stat().st_size for file in parts.glob("*")) if parts.exists() else 0
    needed, free = num_documents * DISK_BYTES - held, shutil.disk_usage(folder).free
    if needed > free:
        reason = f"needs about {needed / 1e9:.0f} GB of disk, {free / 1e9:.0f} GB are free"
        return Outcome(num_documents, reason=reason)
    try:
        text_bytes, drawn = made(parts, num_documents)
        outcome = Outcome(num_documents, text_bytes)
        if settings.only_make:
            return replace(outcome, reason="made only")
        return _dedup(outcome, drawn, (parts, target), settings.memory, settings.limit_minutes * 60)
    finally:
        shutil.rmtree(target, ignore_errors=True)
        if not settings.keep:
            shutil.rmtree(parts, ignore_errors=True)
            parts.with_suffix(".json").unlink(missing_ok=True)


def _dedup(outcome: Outcome, drawn: Sample, places: tuple[Path, Path], memory: str, limit_seconds: float) -> Outcome:
    parts, target = places
    settings = ["--method", "jaccard", "--threshold", THRESHOLD, "--memory", memory, "--quiet"]
    command = [*corpora.nearsame("dedup"), str(parts), "-o", str(target), *settings]
    environment = {**corpora.kernels(parts.parent), "TMPDIR": str(parts.parent)}
    try:
        run = processes.run(command, environment, limit_seconds)
    except processes.Failed as error:
        return Outcome(outcome.documents, outcome.text_bytes, reason=error.reason)
    removed = frozenset(map(int, pq.read_table(target / "removed.parquet", columns=["id"]).column(0).to_pylist()))
    seen = removed & drawn.numbers
    return Outcome(
        outcome.documents,
        outcome.text_bytes,
        run,
        sum(json.loads((target / "stats.json").read_bytes())["seconds"].values()),
        removed=len(removed),
        expected=len(drawn.expected),
        missed=len(drawn.expected - seen),
        wrong=len(seen - drawn.expected),
    )


def scale(folder: Path, settings: argparse.Namespace) -> list[Outcome]:
    """All sizes, from the smallest on."""
    limit_minutes = settings.limit_minutes
    found: list[Outcome] = []
    for size in sorted(settings.sizes):
        costs = [outcome.cost for outcome in found if outcome.run]
        minutes = costs[-1] * size / 60 if costs else 0
        if minutes > limit_minutes:
            reason = f"would take about {minutes:.0f} minutes, more than --limit-minutes {limit_minutes:g}"
            found.append(Outcome(size, reason=reason))
        else:
            print(f"{size:,} documents", flush=True)
            found.append(measure(size, folder, settings))
        print(found[-1].reason or f"{found[-1].cost * 1e6:.1f} µs a document", flush=True)
    return found


def rows(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """The table."""
    first = next((outcome for outcome in outcomes if outcome.run), outcomes[0])
    return [_row(outcome, first) for outcome in outcomes]


def failures(outcomes: Sequence[Outcome]) -> str:
    """Why rows are empty."""
    return " ".join(f"{each.documents:,} documents: {each.reason}." for each in outcomes if each.reason)


def _row(outcome: Outcome, first: Outcome) -> tuple[str, ...]:
    if outcome.run is None:
        return (f"{outcome.documents:,}", "", "did not run", *[""] * (len(HEADER) - 3))
    return (
        f"{outcome.documents:,}",
        f"{outcome.text_bytes / 1e6:,.0f}",
        f"{outcome.run.seconds:.1f}",
        f"{outcome.cost * 1e6:.1f}",
        f"{outcome.cost / first.cost:.2f}",
        f"{outcome.work / first.work:.2f}",
        f"{outcome.text_bytes / 1e6 / outcome.run.seconds:.0f}",
        f"{outcome.run.peak_bytes / 1e6:,.0f}",
        f"{outcome.run.anonymous_bytes / 1e6:,.0f}",
        f"{outcome.removed:,}",
        f"{outcome.expected:,}",
        f"{outcome.missed:,}",
        f"{outcome.wrong:,}",
    )


def about(memory: str, load: float) -> str:
    """What stands above the table."""
    return (
        f"`nearsame dedup --method jaccard --threshold {THRESHOLD} --memory {memory}`, whole processes, kernels "
        f"compiled before. The ratio is the cost of a document over that at the first size, with and without the start "
        f"of the process; the aim is at most {AIM}. Of the planted families about {SAMPLED:,} were drawn and compared "
        f"with the slow method.{limit.others(load)}"
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
