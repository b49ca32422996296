"""Memory of `dedup --against seen.ns`: the same new documents against indexes of two sizes, by what these store.

1. Documents are those of corpus.py, of three seeds, so the new ones are near-duplicates of each other only; a tenth of
   the new ones are in each index too, and the run fails unless just these, or more, are said to be there.
2. Each run is a process. What counts is memory that is no file's: pages of the index and of temporary files can be let
   go of. `grows by` is what a document more of the index takes.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import corpus
import environments
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report

PAGE = report.ROOT / "docs" / "inputs.md"
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
STORES = ("text", "shingles", "sketch")
HEADER = ("new documents against", "in it", "known", "anonymous MB", "peak MB", "CPU seconds", "grows by bytes")
LIMIT_SECONDS = 3600
SHARED = 10  # one of so many new documents is in the index


def write(file: Path, number: int, seed: int, shared: int = 0) -> None:
    """A Parquet file of `number` documents of this seed, of which the first `shared` are those of seed 1."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(str(file), schema) as writer:
        for part, wanted in ((1, shared), (seed, number - shared)):
            left = wanted
            generator = corpus.Generator(seed=part)
            while left:
                texts = generator.batch().column("text").to_pylist()[:left]
                ids = [f"{part}-{left - at}" for at in range(len(texts))]
                writer.write_table(pa.table([ids, texts], schema=schema))
                left -= len(texts)


def run(folder: Path, against: Path) -> tuple[processes.Run, int]:
    """One run, and how many new documents it found in `against`."""
    out = folder / "out"
    command = [sys.executable, "-m", "nearsame", "dedup", str(folder / "new.parquet"), "-o", str(out), "--overwrite"]
    whole = processes.run(
        [*command, "--against", str(against), "--quiet"], environments.variables(folder), LIMIT_SECONDS
    )
    removed = pq.read_table(out / "removed.parquet", columns=["witness_source"]).column(0).to_pylist()
    return whole, sum(source != "new.parquet" for source in removed)


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench seen", description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=100_000, help="new ones, and of the larger index (100,000)")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    load, most = os.getloadavg()[0], given.documents
    rows = []
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
        folder = Path(name)
        shared = most // SHARED
        write(folder / "new.parquet", most, 2, shared)
        for store in ("a file", *STORES):
            before = None
            for number in (most // 4, most):
                old = folder / "old.parquet"
                write(old, number, 3, shared)
                if store != "a file":
                    file, old = old, folder / f"{store}-{number}.ns"
                    make = ["index", "create", str(old), "--from", str(file), "--store", store, "--quiet"]
                    command = [sys.executable, "-m", "nearsame", *make]
                    processes.run(command, environments.variables(folder), LIMIT_SECONDS)
                whole, known = run(folder, old)
                if known < shared:
                    raise SystemExit(f"{store}: {known:,} of {shared:,} documents that were in it were found")
                more = None if before is None else (whole.anonymous_bytes - before) / (number - most // 4)
                before = whole.anonymous_bytes
                rows.append((
                    store if store == "a file" else f"an index, {store}", f"{number:,}", f"{known:,}",
                    f"{whole.anonymous_bytes / 1e6:.0f}", f"{whole.peak_bytes / 1e6:.0f}", f"{whole.cpu_seconds:.0f}",
                    "" if more is None else f"{more:,.0f}",
                ))  # fmt: skip
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                old.unlink()
    busy = "" if load < 0.7 else f"The machine was busy with other work (load {load:.1f} at the start). "
    report.show("Against an index", HEADER, rows)
    name = " ".join(["seen", *arguments])
    made_by = f"{busy}{report.made_by(name, PACKAGES)}"
    print(made_by)
    if not given.no_write:
        report.write_between(PAGE, "seen", f"{report.markdown(HEADER, rows)}\n\n{made_by}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
