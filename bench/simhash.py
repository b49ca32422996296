"""SimHash codes a second against the `simhash` package, and a block-permuted job against comparing every pair.

1. Seconds are of processor time, all threads together, so that other work on the machine does not count; each figure
   is the least of several rounds, after a warm-up.
2. The package has one kind of code: MD5, frequencies. It gets ready words, our stages the raw text. Where both are
   asked for the same, codes are compared one by one.
3. Comparing every pair is done by rapidfuzz (edits in C++), for some of the pairs, scaled to all. The job is
   `pairs` with blocks, from a list of texts to a table; its answer is compared with that of `search="brute"`.
"""

import argparse
import re
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import corpus
import numpy as np
import pyarrow as pa
import report
from rapidfuzz.distance import Indel

import nearsame as ns
from nearsame import schemas
from nearsame.flow import pipeline

PAGE = report.ROOT / "docs" / "performance" / "simhash.md"
PACKAGES = ("nearsame", "simhash", "rapidfuzz", "numba", "numpy")
ROUNDS = 5
FEW = 300  # documents that the package is given
NUM_DOCUMENTS, NUM_WORDS = 1000, 500
SOME_PAIRS = 5000
SPEEDS = ("weights", "shingles", "hash", "MB/s", "documents/s", "times simhash's", "codes equal")
KINDS = (("one", 1, "xxh3"), ("tf", 1, "xxh3"), ("one", 3, "xxh3"), ("tf", 1, "md5"))
JOBS = ("", "seconds", "pairs compared", "pairs within 3 bits", "share of time")


def processor_seconds(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The least of several rounds."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def codes(texts: list[str], **settings: Any) -> list[int]:
    """The codes of texts, as the pipeline's stages make them."""
    batch = documents(texts)
    for stage in pipeline.steps(ns.SimHash(**settings)).features:
        batch = stage(batch)
    return batch.column("items").values.to_numpy().view(np.uint64).tolist()


def documents(texts: list[str]) -> pa.RecordBatch:
    """Texts as the stages read them."""
    columns = [pa.array(range(len(texts)), pa.int64()), pa.array(texts, pa.large_string())]
    return pa.RecordBatch.from_arrays(columns, schema=schemas.DOCUMENTS)


def package_codes(features: list[list[str]]) -> list[int]:
    """What the package makes of ready words."""
    simhash = package().Simhash
    return [simhash(words).value for words in features]


@cache
def package() -> Any:
    """The package `simhash` (not a dependency: `pip install simhash`), which has the name of this file."""
    file = distribution("simhash").locate_file("simhash/__init__.py")
    spec = spec_from_file_location("simhash_package", str(file))
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def speeds(texts: list[str]) -> list[report.Row]:
    """One line for each kind of features: our codes a second, and the package's, which has one kind only."""
    num_bytes = sum(len(text.encode()) for text in texts)
    some = texts[:FEW]
    words = [re.findall(r"\w+", text.lower()) for text in some]
    theirs = FEW / processor_seconds(lambda: package_codes(words))
    found = []
    for weights, size, function in KINDS:
        settings = {"weights": weights, "shingle_size": size, "feature_hash": function}
        stages = pipeline.steps(ns.SimHash(**settings)).features
        batch = documents(texts)

        def run(stages: Any = stages, batch: pa.RecordBatch = batch) -> None:
            for stage in stages:
                batch = stage(batch)

        each = len(texts) / processor_seconds(run)
        speed = f"{num_bytes / 1e6 * each / len(texts):.0f}"
        equal = ""
        if (weights, function) == ("tf", "md5"):
            equal = "yes" if codes(some, **settings) == package_codes(words) else "NO"
        found.append((weights, str(size), function, speed, f"{each:,.0f}", f"{each / theirs:,.1f}", equal))
    return [*found, ("simhash", "1", "md5", "", f"{theirs:,.0f}", "1", "")]


def jobs(texts: list[str]) -> list[report.Row]:
    """Every pair compared, and the job by blocks."""
    method = ns.SimHash()
    exact = ns.pairs(texts, method=ns.SimHash(search="brute"), threads=1)
    by_blocks = ns.pairs(texts, method=method, threads=1)
    if not exact.table.equals(by_blocks.table):
        raise SystemExit("blocks and brute force give different pairs")
    seconds = processor_seconds(lambda: ns.pairs(texts, method=method, threads=1).table)
    everything = len(texts) * (len(texts) - 1) // 2
    random = np.random.default_rng(0)
    chosen = [random.choice(len(texts), 2, replace=False) for _ in range(SOME_PAIRS)]
    compared = processor_seconds(lambda: [Indel.distance(texts[a], texts[b]) for a, b in chosen])
    all_seconds = compared * everything / SOME_PAIRS
    return [
        ("every pair, by edits", f"{all_seconds:.2f} (scaled from {SOME_PAIRS:,} pairs)", f"{everything:,}", "", "1"),
        ("codes and blocks", f"{seconds:.4f}", "", str(by_blocks.table.num_rows), f"1/{all_seconds / seconds:,.0f}"),
    ]


def made_texts(num_bytes: int) -> list[str]:
    """Texts of the benchmarks' own corpus."""
    return [text for batch in corpus.documents(num_bytes) for text in batch.column("text").to_pylist() if text]


def texts_of_500_words(texts: list[str]) -> list[str]:
    """A thousand documents of 500 words, one in fifty nearly another."""
    words = [word for text in texts for word in text.split()]
    found = [words[i * NUM_WORDS : (i + 1) * NUM_WORDS] for i in range(NUM_DOCUMENTS)]
    for copy in range(0, NUM_DOCUMENTS, 50):
        found[copy + 1] = [*found[copy][:-2], "nearly", "equal"]
    return [" ".join(each) for each in found]


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=corpus.parse_size, default=40_000_000, help="bytes of text (40 MB)")
    parser.add_argument("--no-write", action="store_true", help="print the tables only")
    given = parser.parse_args()
    texts = made_texts(given.size)
    tables = [(SPEEDS, speeds(texts)), (JOBS, jobs(texts_of_500_words(texts)))]
    titles = (
        "Codes of 64 bits from raw text, on one core. The last line is the package `simhash`, which gets ready words.",
        f"{NUM_DOCUMENTS:,} documents of {NUM_WORDS} words, one processor.",
    )
    made = report.made_by("simhash", PACKAGES)
    for title, (header, rows) in zip(titles, tables, strict=True):
        report.show(title, header, rows)
    if not given.no_write:
        pieces = [f"{title}\n\n{report.markdown(*table)}" for title, table in zip(titles, tables, strict=True)]
        PAGE.write_text("\n\n".join(["# SimHash", *pieces, made]) + "\n", "utf-8")


if __name__ == "__main__":
    main()
