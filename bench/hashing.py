"""Word hashing on one core: MB of text a second from UTF-8 bytes in memory to the hashes of their words.

1. It is the kernels of the pipeline that run, over all texts of a corpus, in one compiled loop that stores nothing
   but the last text's hashes.
2. The number of words is compared with a regular expression's on a sample.
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearsame import arrow
from nearsame.kernels import unicode
from nearsame.kernels._jit import jit
from nearsame.kernels.hashing import hash_keys
from nearsame.kernels.tokens import fold, hash_tokens

REPEATS = 5
SAMPLE = 1000


@jit
def hash_all(data, offsets, seed, stops, stage1, stage2, scratch, words, sums):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201, PLR0913, PLR0917  (a kernel)
    """Hash the words of every text; sums[0] counts them, sums[1] depends on the hashes, so that no work is left out."""
    for i in range(offsets.size - 1):
        size = fold(data, offsets[i], offsets[i + 1], 0, stage1, stage2, scratch[0], scratch[1])
        count = hash_tokens(scratch[0], scratch[1], size, seed, stops, words)
        sums[0] += np.uint64(count)
        sums[1] ^= words[count - 1] if count > 0 else np.uint64(0)


def count_words(texts: arrow.Strings) -> int:
    """The number of words of all texts."""
    longest = int(np.diff(texts.offsets).max(initial=0))
    tables, sums = unicode.tables(), np.zeros(2, np.uint64)
    scratch, words = np.zeros((2, 2 * longest + 128), np.uint8), np.empty(longest + 66, np.uint64)
    hash_all(
        texts.data, texts.offsets, hash_keys(0), arrow.NO_HASHES, tables.stage1, tables.stage2, scratch, words, sums
    )
    return int(sums[0])


def main(arguments: list[str]) -> None:
    """Time the loop, check a sample, print a record."""
    parser = argparse.ArgumentParser(prog="scripts/bench hashing", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a Parquet file with a column `text`")
    column = pq.read_table(parser.parse_args(arguments).corpus, columns=["text"]).column("text")
    texts = arrow.strings(column.cast(pa.large_string()).combine_chunks())
    sample = column[:SAMPLE].cast(pa.large_string()).combine_chunks()
    expected = sum(len(re.findall(r"\w+", text)) for text in sample.to_pylist())
    if expected != count_words(arrow.strings(sample)):
        raise SystemExit(f"{count_words(arrow.strings(sample))} words are not {expected}")
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        num_words = count_words(texts)
        seconds.append(time.perf_counter() - began)
    num_bytes = int(texts.offsets[-1] - texts.offsets[0])
    print(json.dumps({"mb_per_second": round(num_bytes / 1e6 / float(np.median(seconds))), "words": num_words}))


if __name__ == "__main__":
    main(sys.argv[1:])
