"""Both cores: taking the text out of the pages of an archive with one process and with two, in several sizes.

1. The archives are those of web.py. Each measurement is a process of its own, which reads its archive twice: the first
   time with the start of the workers, then with those that are there. What is imported and compiled comes before.
2. On a machine that does other things, seconds of two cores say little. So beside them stands what CPU seconds allow at
   best (twice those of one core by those of two), and how long a worker had nothing to do, which is neither
   its CPU time nor its waiting for a core (Linux: /proc/PID/schedstat).
3. What two cores are worth to two processes that share nothing is measured, too: both read the archive at the same
   time, each with one process. Cores that share caches, memory or a clock slow each other down, whatever runs on them.
4. The texts must be the same, in order; else the run fails.
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import processes
import report
import web

from nearsame.engines.local import Local
from nearsame.engines.processes import _LIVING
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.texts.page_text import PageTexts, page_text

PAGE = report.ROOT / "docs" / "decisions" / "extraction-processes.md"
SIZES = (2, 30, 200)  # MB of markup
BUSY = 0.5
PASSES = ("first", "again")
HEADER = ("", "1: s", "2: s", "times", "two apart", "1: CPU s", "2: CPU s", "at best", "idle s")
APART = 0  # the key of two processes that share nothing, beside those of one process and of two


def cpu_and_waiting(pid: int) -> tuple[float, float]:
    """Seconds that a process had a core, and waited for one."""
    on, waiting, _ = Path(f"/proc/{pid}/schedstat").read_text("ascii").split()
    return int(on) / 1e9, int(waiting) / 1e9


def taken_out(path: str, threads: int) -> dict[str, Any]:
    """One pass: seconds, CPU seconds, seconds that each worker was idle, and the digest of all texts."""
    before = {process.pid: cpu_and_waiting(process.pid) for process in _LIVING}
    engine, columns, digest = Local(threads), Columns(), hashlib.blake2b(digest_size=8)
    began, own = time.perf_counter(), time.process_time()
    flow = engine.map(engine.load(Reading(open_parts([path], columns=columns), columns)), PageTexts())
    for batch in engine.read(flow):
        for text in batch.column("text").to_pylist():
            digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    seconds, own = time.perf_counter() - began, time.process_time() - own
    workers = []
    for process in _LIVING:
        cpu, waiting = (
            now - then
            for now, then in zip(cpu_and_waiting(process.pid), before.get(process.pid, (0.0, 0.0)), strict=True)
        )
        workers.append((cpu, max(0.0, seconds - cpu - waiting)))
    engine.close()
    return {
        "seconds": seconds,
        "cpu": own + sum(cpu for cpu, _ in workers),
        "idle": [idle for _, idle in workers],
        "texts": digest.hexdigest(),
    }


def measure(path: Path, threads: int) -> list[dict[str, Any]]:
    """Both passes, in a process of its own."""
    call = [sys.executable, __file__, "--measure", str(path), "--threads", str(threads)]
    return list(json.loads(processes.run(call, {}).output.splitlines()[-1]))


def measure_apart(path: Path) -> list[dict[str, Any]]:
    """Both passes of two processes that share nothing, at the same time: those of the slower one."""
    with ThreadPoolExecutor(2) as pool:
        both = pool.map(lambda _: measure(path, 1), range(2))
    return [max(passes, key=lambda run: run["seconds"]) for passes in zip(*both, strict=True)]


def row(name: str, runs: dict[int, list[dict[str, Any]]]) -> tuple[str, ...]:
    """A line of the table: medians."""
    seconds, cpu = (
        [statistics.median(run[what] for run in runs[threads]) for threads in (1, 2)] for what in ("seconds", "cpu")
    )
    idle = statistics.median(statistics.mean(run["idle"] or [0]) for run in runs[2])
    apart = 2 * seconds[0] / statistics.median(run["seconds"] for run in runs[APART])
    figures = (*seconds, seconds[0] / seconds[1], apart, *cpu, 2 * cpu[0] / cpu[1], idle)
    return name, *(f"{figure:.2f}" for figure in figures)


def compared(size: int, folder: Path, repeats: int) -> tuple[list[tuple[str, ...]], bool]:
    """The lines of a size, and whether all texts are the same."""
    path = folder / f"{size}.warc.gz"
    count, _ = web.make(path, size * 1_000_000)
    runs: dict[str, dict[int, list[dict[str, Any]]]] = {name: {1: [], 2: [], APART: []} for name in PASSES}
    for _ in range(repeats):
        for threads in runs[PASSES[0]]:
            measured = measure(path, threads) if threads else measure_apart(path)
            for name, run in zip(PASSES, measured, strict=True):
                runs[name][threads].append(run)
    digests = {run["texts"] for of_pass in runs.values() for some in of_pass.values() for run in some}
    return [row(f"{size} MB, {count:,} pages, {name}", runs[name]) for name in PASSES], len(digests) == 1


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench extraction", description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="MB of markup")
    parser.add_argument("--repeats", type=int, default=3, help="rounds")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        page_text(b"<p>loaded and compiled")
        print(json.dumps([taken_out(given.measure, given.threads) for _ in PASSES]))
        return 0
    load, rows, are_same = os.getloadavg()[0], [], True
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as home:
        for size in given.sizes:
            lines, same = compared(size, Path(home), given.repeats)
            rows, are_same = [*rows, *lines], are_same and same
    about = (
        "Seconds and CPU seconds with one process and with two; `two apart` is how many times as much two processes"
        " that share nothing do as one, which is what the cores allow; `at best` is twice the CPU seconds of one by"
        " those of two, `idle s` how long a worker had nothing to do. `again`: with the workers of the first pass. The"
        f" texts are {'the same' if are_same else '**not the same**'}. Medians of {given.repeats} rounds."
    )
    if load >= BUSY:
        about += f" The machine was busy with other work (load {load:.1f} at the start)."
    page = None if given.no_write else PAGE
    report.tell(page, "extraction", ("Text out of pages", HEADER, rows), about, web.PACKAGES)
    return 0 if are_same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
