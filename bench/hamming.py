"""Hamming self-join against faiss' multi-hash index: seconds, ratio, equality of answers, peak memory.

1. Each tool runs in a process of its own, on the same codes, after a small warm-up; its time is from codes in memory
   to an answer in memory (faiss: building the index and asking it, once; ours: planning, dealing, comparing and
   sorting, the median of three).
2. Both answers are compared as sets of (a, b, distance). faiss' radius is strict, so it is asked for k + 1.
3. Where faiss would take many minutes it is asked for some of the codes only; its time is then scaled, and says so.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nearsame.arrow import Int64s, UInt64s

BITS = 64
K = 3
ALL_QUERIES = 2_000_000  # to this size faiss is asked for every code
SOME_QUERIES = 100_000
ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "performance" / "hamming.md"


@dataclass(frozen=True)
class Measured:
    """What one tool took on one size."""

    tool: str
    threads: int
    seconds: float
    num_codes: int
    num_queries: int  # codes that were asked for
    num_pairs: int
    peak_bytes: int


def planted(num_codes: int, seed: int = 7) -> UInt64s:
    """Distinct uniform codes, one in a hundred of which has a twin up to 5 bits away, in random order."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 2**64, num_codes - num_codes // 100, np.uint64)
    twins = codes[: num_codes // 100].copy()
    for _ in range(5):
        flip = random.random(len(twins)) < 0.6
        twins[flip] ^= np.uint64(1) << random.integers(0, BITS, int(flip.sum())).astype(np.uint64)
    codes = np.unique(np.concatenate([codes, twins]))
    random.shuffle(codes)
    return codes[:, None]


def run_nearsame(codes: UInt64s, threads: int) -> tuple[float, Int64s, int]:
    """Our self-join: median seconds of three, rows of (a, b, distance), codes that were asked for."""
    from nearsame.kernels.hamming_search import self_join  # noqa: PLC0415  (a child loads only its own tool)
    from nearsame.stages.keys.blocks import CodeCounts, plan, tables, weigh_bits  # noqa: PLC0415  (likewise)

    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        run = pool.map if threads > 1 else map
        self_join(codes[:5000], K, tables(plan(CodeCounts(5000, BITS), K, num_blocks=4)), run=run)
        for _ in range(3):
            start = time.perf_counter()
            chosen = plan(CodeCounts(len(codes), BITS, weights=weigh_bits(codes, BITS)), K)
            pairs = self_join(codes, K, tables(chosen), run=run)
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), np.column_stack(pairs), len(codes)


def run_faiss(codes: UInt64s, threads: int) -> tuple[float, Int64s, int]:
    """The index of four hashes of 16 bits, asked once for every code, or for some."""
    import faiss  # noqa: PLC0415  (not a dependency: `pip install faiss-cpu`)

    faiss.omp_set_num_threads(threads)
    rows = codes.view(np.uint8)
    num_queries = len(codes) if len(codes) <= ALL_QUERIES else SOME_QUERIES
    start = time.perf_counter()
    index = faiss.IndexBinaryMultiHash(BITS, 4, 16)
    index.add(rows)
    built = time.perf_counter()
    limits, distances, found = index.range_search(rows[:num_queries], K + 1)
    done = time.perf_counter()
    queries = np.repeat(np.arange(num_queries), np.diff(limits.astype(np.int64)))
    keep = found > queries  # from one side only, as a self-join reports
    answer = np.column_stack([queries[keep], found[keep], distances[keep]]).astype(np.int64)
    return built - start + (done - built) * len(codes) / num_queries, answer, num_queries


TOOLS = {"nearsame": run_nearsame, "faiss": run_faiss}


def child(tool: str, num_codes: int, threads: int, answer: str) -> None:
    """Run one tool, save its answer and print what was measured."""
    codes = planted(num_codes)
    seconds, pairs, num_queries = TOOLS[tool](codes, threads)
    np.save(answer, pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(asdict(Measured(tool, threads, seconds, len(codes), num_queries, len(pairs), peak_bytes))))


def measure(tool: str, num_codes: int, threads: int, answer: str) -> Measured:
    """Run one tool in a process of its own."""
    command = [sys.executable, __file__, "--child", tool, "--sizes", str(num_codes), "--threads", str(threads)]
    done = subprocess.run([*command, "--answer", answer], check=True, capture_output=True, text=True)
    return Measured(**json.loads(done.stdout))


def compare(num_codes: int, threads: int, tools: list[str]) -> Iterator[str]:
    """One line of the table for each tool."""
    with tempfile.TemporaryDirectory() as folder:
        files = {tool: str(Path(folder) / f"{tool}.npy") for tool in tools}
        results = {tool: measure(tool, num_codes, threads, files[tool]) for tool in tools}
        equal = "not compared"
        if len(tools) == 2:
            theirs, ours = np.load(files["faiss"]), np.load(files["nearsame"])
            asked = ours[:, 0] < results["faiss"].num_queries
            equal = "yes" if np.array_equal(ours[asked], theirs) else "NO"
    for result in results.values():
        yield line(result, results["nearsame"].seconds if "nearsame" in results else result.seconds, equal)


def line(result: Measured, our_seconds: float, equal: str) -> str:
    """A line of the table."""
    scaled = "" if result.num_queries == result.num_codes else f" (scaled from {result.num_queries:,} codes asked for)"
    cells = [
        result.tool,
        f"{result.num_codes:,}",
        result.threads,
        f"{result.seconds:.3f}{scaled}",
        f"{result.seconds / our_seconds:.0f}",
        f"{result.num_pairs:,}",
        equal,
        f"{result.peak_bytes / 1e6:,.0f}",
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def machine() -> str:
    """The processor's name, as the kernel has it."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def heading() -> str:
    """What the numbers below were measured on."""
    git = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, check=False, capture_output=True, text=True, cwd=ROOT)
    versions = ", ".join(f"{name} {version(name)}" for name in ("nearsame", "numpy", "numba", "faiss-cpu"))
    return (
        f"Every pair of {BITS}-bit codes within {K} bits; uniform codes, one in a hundred with a planted twin. "
        "faiss is `IndexBinaryMultiHash(64, 4, 16)` with `range_search(codes, 4)`.\n\n"
        f"{machine()}, {os.cpu_count()} cores; Python {platform.python_version()}, {versions}; "
        f"commit {commit.stdout.strip()}, {datetime.now(UTC):%Y-%m-%d}. Made by `scripts/bench hamming`.\n\n"
        "| tool | codes | threads | seconds | times nearsame's | pairs | answers equal | peak MB |\n"
        "|---|---:|---:|---:|---:|---:|---|---:|"
    )


def main() -> None:
    """Parse the arguments; run one tool, or all and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--tools", nargs="+", choices=list(TOOLS), default=list(TOOLS))
    parser.add_argument("--no-write", action="store_true", help="print the table only")
    parser.add_argument("--child", choices=list(TOOLS), help=argparse.SUPPRESS)
    parser.add_argument("--answer", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.sizes[0], given.threads[0], given.answer)
        return
    lines = [heading()]
    print(lines[0], flush=True)
    for num_codes in given.sizes:
        for threads in given.threads:
            for result in compare(num_codes, threads, given.tools):
                print(result, flush=True)
                lines.append(result)
    if not given.no_write:
        TABLE.parent.mkdir(parents=True, exist_ok=True)
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
