"""datasketch as an index: MinHashLSH in memory or in Redis, asked one document at a time, with our bands.

Raw texts in two Parquet files (documents and questions); out, the seconds of everything and the candidates' numbers.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from _task import shingles
from datasketch import MinHash, MinHashLSH

SIZE, NUM_PERM = 5, 128


def sketches(texts: list[str]) -> Iterator[MinHash]:
    """A signature of each text."""
    sets = ([shingle.encode() for shingle in shingles(text, SIZE)] for text in texts)
    return MinHash.generator(sets, num_perm=NUM_PERM)


def main(files: list[str], bands: int, rows: int, port: int) -> None:
    """Add all, then ask."""
    documents, questions, answer = files
    storage = {"type": "redis", "redis": {"host": "127.0.0.1", "port": port}} if port else None
    index = MinHashLSH(num_perm=NUM_PERM, params=(bands, rows), storage_config=storage)
    num, seconds = 0, 0.0
    for batch in pq.ParquetFile(documents).iter_batches(2000, columns=["text"]):
        texts = batch.column("text").to_pylist()
        began = time.perf_counter()
        with index.insertion_session() as session:
            for sketch in sketches(texts):
                session.insert(num, sketch, check_duplication=False)
                num += 1
        seconds += time.perf_counter() - began
    asked = pq.read_table(questions).column("text").to_pylist()
    found, each = [], []
    for text in asked:
        began = time.perf_counter()
        found.append([int(name) for name in index.query(next(iter(sketches([text]))))])
        each.append(time.perf_counter() - began)
    Path(answer).write_text(json.dumps({"add_seconds": seconds, "query_seconds": each, "found": found}), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:4], *map(int, sys.argv[4:]))
