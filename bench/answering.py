"""The exact join's answer on one thread of a process that has begun: MB of text for each second of its processor.

1. From a Parquet file to which documents go: reading, sets, keys, comparing, all verified; nothing is written.
2. The same file again and again in one process, of which the first time is not counted; the median of the others.
"""

import json
import statistics
import sys
import time

import nearsame as ns

REPEATS = 3


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
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
