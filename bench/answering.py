"""The exact join's answer on one thread of a process that has begun: MB of text for each second of its processor.

1. From a Parquet file to which documents go: reading, sets, keys, comparing, all verified; nothing is written.
2. The same file again and again in one process, of which the first time is not counted; the median of the others.
3. Behind it a few texts, again and again, as scripts and loops have them: the least of several means, in milliseconds.
"""

import json
import statistics
import sys
import time

import nearsame as ns

REPEATS = 3
FEW = ["a rose is a rose is a rose", "a rose is a rose is a rose", "a daisy is a flower that grows"]
ROUNDS, CALLS = 9, 30


def measure(file: str) -> dict[str, float]:
    """MB of text a second of the processor, and how many went."""
    seconds = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        found = ns.dedup(file, threads=1)
        seconds.append(time.process_time() - began)
    return {
        "mb_per_second": found.stats.text_bytes / 1e6 / statistics.median(seconds[1:]),
        "removed": found.stats.removed,
        "few_ms": few(),
    }


def few() -> float:
    """Milliseconds of the processor for a `dedup` of three texts."""
    means = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            ns.dedup(FEW)
        means.append((time.process_time() - began) / CALLS * 1e3)
    return min(means)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
