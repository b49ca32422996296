"""The feature step on one core: from texts in memory to sets of shingles, in processor seconds, each stage for itself.

1. The stages are those of the default recipe, as a run applies them, batch by batch; kernels are warm.
2. Beside them, in the same rounds and on as many tokens: how shingles are hashed, and the polynomial in a fixed base
   that this replaced. It was cheaper, and whoever knew the base could write a text with the shingles of another.
3. The least of several rounds counts: on a busy machine the others say more of its neighbours.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import report

import nearsame as ns
from nearsame import schemas
from nearsame.flow.steps import steps
from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import finish, hash_keys
from nearsame.kernels.shingles import shingle

PAGE = report.ROOT / "docs" / "performance.md"
ROUNDS = 5
HEADER = ("", "CPU s", "of the feature step")
_BATCH = 2_000
_BASE = np.uint64(0x9E3779B97F4A7C15)
_NAMES = ("texts made ready", "words, shingles and their sets", "the shingles of that", "as a polynomial, as before")


@jit
def polynomials(tokens: Any, count: Any, size: Any, out: Any) -> None:
    """Hash each run of `size` of `count` tokens as a polynomial in a fixed odd base, rolled along; `size` or more."""
    leaving = h = np.uint64(0)
    leaving += np.uint64(1)
    for i in range(size):
        h = h * _BASE + tokens[i]
        leaving = leaving * _BASE
    length = np.uint64(size)
    out[0] = finish(h + length)
    for i in range(size, count):
        h = h * _BASE + tokens[i] - tokens[i - size] * leaving
        out[i - size + 1] = finish(h + length)


@jit
def hash_before(counts: Any, size: Any, tokens: Any, out: Any) -> None:
    """The shingles of documents of so many tokens, as they were hashed before."""
    for i in range(counts.size):
        if counts[i] >= size:
            polynomials(tokens, counts[i], size, out)


@jit
def hash_now(counts: Any, size: Any, tokens: Any, keys: Any, out: Any) -> None:
    """The same as they are hashed now."""
    for i in range(counts.size):
        if counts[i] >= size:
            shingle(tokens, counts[i], size, 1, keys, out)


def batches(corpus: Path) -> list[pa.RecordBatch]:
    """DOCUMENTS of a corpus."""
    texts = pq.read_table(corpus, columns=["text"]).column("text").cast(pa.large_string()).combine_chunks()
    parts = [texts.slice(start, _BATCH) for start in range(0, len(texts), _BATCH)]
    return [pa.RecordBatch.from_arrays([pa.array(range(len(part))), part], schema=schemas.DOCUMENTS) for part in parts]


def measure(documents: list[pa.RecordBatch], recipe: ns.Jaccard, rounds: int) -> tuple[npt.NDArray[np.float64], int]:
    """CPU seconds: float64[rounds, 4], by _NAMES; and how many tokens there are."""
    ready, sets = steps(recipe).features
    counts = [sets(ready(batch)).column("num_tokens").to_numpy() for batch in documents]
    most, num_tokens = max(int(each.max()) for each in counts), sum(int(each.sum()) for each in counts)
    tokens = np.random.default_rng(0).integers(0, 1 << 64, most, np.uint64)
    out, keys, size = np.zeros(most, np.uint64), hash_keys(recipe.seed), recipe.shingle_size
    hash_now(counts[0][:1], size, tokens, keys, out)
    hash_before(counts[0][:1], size, tokens, out)
    seconds = np.zeros((rounds, len(_NAMES)))
    for times in seconds:
        for batch, each in zip(documents, counts, strict=True):
            texts = _timed(times, 0, ready, batch)
            _timed(times, 1, sets, texts)
            _timed(times, 2, hash_now, each, size, tokens, keys, out)
            _timed(times, 3, hash_before, each, size, tokens, out)
    return seconds, num_tokens


def _timed(times: npt.NDArray[np.float64], number: int, function: Callable[..., Any], *given: Any) -> Any:
    began = time.process_time()
    found = function(*given)
    times[number] += time.process_time() - began
    return found


def main(arguments: list[str]) -> None:
    """Time the stages, print a table, and put it into the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench features", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a Parquet file with a column `text`")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--no-write", action="store_true", help="leave the page as it is")
    given = parser.parse_args(arguments)
    load, documents = os.getloadavg()[0], batches(given.corpus)
    seconds, num_tokens = measure(documents, ns.Jaccard(), given.rounds)
    least, whole = seconds.min(axis=0), seconds[:, :2].sum(axis=1).min()
    rows = [(name, f"{value:.3f}", f"{100 * value / whole:.1f} %") for name, value in zip(_NAMES, least, strict=True)]
    more = least[2] - least[3]
    rows += [("more than before", f"{more:.3f}", f"{100 * more / whole:.1f} %"), ("all", f"{whole:.3f}", "100 %")]
    title = f"{sum(map(len, documents)):,} documents, {num_tokens:,} tokens; the least of {given.rounds} rounds."
    report.show(title, HEADER, rows)
    if not given.no_write:
        busy = f"The machine was busy with other work (load {load:.1f} at the start). " if load > 1 else ""
        made_by = report.made_by(f"features {given.corpus.name}", ["nearsame", "pyarrow", "numba", "numpy"])
        report.write_between(PAGE, "features", f"{title}\n\n{report.markdown(HEADER, rows)}\n\n{busy}{made_by}")


if __name__ == "__main__":
    main(sys.argv[1:])
