"""Hot buckets: corpora in which much is shared, at n and at 4n documents: time for each document, peak memory.

1. Each in a process of its own, on a Parquet file; the time is that of reading to deciding once a tiny corpus has been
   through, so that neither the start of Python nor loading the kernels makes small corpora look slow.
2. A run fails if it does not keep as many documents as there are to keep.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import boilerplate
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report

import nearsame as ns

PAGE = report.ROOT / "docs" / "performance.md"
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
HEADER = ("", "documents", "seconds", "µs a document", "compared, a document", "peak MB", "kept")
BUSY = 0.7  # a load average, of the last minute
_BATCH = 10_000


@dataclass(frozen=True)
class Case:
    """A corpus at its full size, and how it is run.

    Attributes:
        title: in the table.
        corpus: which one.
        num: documents.
        kept: how many of so many stay; None: not known beforehand.
        settings: of the recipe.
        method: which.
    """

    title: str
    corpus: str
    num: int
    kept: Callable[[int], int] | None
    settings: dict[str, int] = field(default_factory=dict)
    method: str = "jaccard"


CASES = {
    "template": Case("copies of one template", "template", 200_000, lambda _: 1),
    "half": Case("half boilerplate", "half", 100_000, lambda num: num),
    "just_under": Case("85 % boilerplate, J = .7", "just_under", 100_000, lambda num: num),
    "alike": Case("all at J = .63", "alike", 16_000, lambda num: num),
    "alike, minhash": Case("the same, MinHash", "alike", 16_000, lambda num: num, method="minhash"),
    "chain": Case("a chain", "chain", 10_000, lambda num: (num + 1) // 2),
    "pools": Case("words from pools", "pools", 8_000, None, {"shingle_size": 1}),
    "pools, dropped": Case(
        "the same, drop_boilerplate=50", "pools", 8_000, None, {"shingle_size": 1, "drop_boilerplate": 50}
    ),
}


def _write(texts: list[str], file: Path) -> None:
    pq.write_table(pa.table({"text": texts}), file, row_group_size=_BATCH)


def run_one(file: str, name: str, settings: dict[str, int]) -> None:
    """What the process of a measurement does: a tiny corpus, then the file; the statistics as JSON."""
    method = {"jaccard": ns.Jaccard, "minhash": ns.MinHash}[name](**settings)
    ns.dedup(boilerplate.chain(20), method=method, audit=False)
    began = time.perf_counter()
    stats = ns.dedup(file, method=method, audit=False).stats
    print(json.dumps({"took": time.perf_counter() - began, "kept": stats.kept, "compared": stats.compared}))


def measure(case: Case, num: int, folder: Path) -> tuple[str, ...]:
    """A line of the table."""
    file = folder / "corpus.parquet"
    _write(boilerplate.CORPORA[case.corpus](num), file)
    command = [sys.executable, str(Path(__file__)), "--one", str(file), case.method, json.dumps(case.settings)]
    run = processes.run(command, {"NUMBA_CACHE_DIR": str(folder / "kernels")})
    stats = json.loads(run.output)
    seconds = stats["took"]
    if case.kept is not None and stats["kept"] != case.kept(num):
        raise SystemExit(f"{case.title}: {stats['kept']:,} of {num:,} kept, not {case.kept(num):,}")
    return (
        case.title,
        f"{num:,}",
        f"{seconds:.2f}",
        f"{1e6 * seconds / num:.0f}",
        f"{stats['compared'] / num:,.1f}",
        f"{run.peak_bytes / 1e6:,.0f}",
        f"{stats['kept']:,}",
    )


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench hot", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), help="which; default: all")
    parser.add_argument("--share", type=float, default=1.0, help="of the full sizes, for a trial")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    if given.one:
        run_one(*given.one[:2], json.loads(given.one[2]))
        return 0
    load, rows = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
        for case in (CASES[each] for each in given.cases):
            full = int(case.num * given.share)
            for num in (full // 4, full):
                rows.append(measure(case, num, Path(name)))
                print(" | ".join(rows[-1]), flush=True)
    made_by = report.made_by("hot", PACKAGES)
    report.show("Hot buckets", HEADER, rows)
    busy = "" if load < BUSY else f"The machine was busy with other work (load {load:.1f} at the start). "
    if not given.no_write:
        report.write_between(PAGE, "hot", f"{report.markdown(HEADER, rows)}\n\n{busy}{made_by}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
