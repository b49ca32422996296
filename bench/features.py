"""The feature step on one core: from texts in memory to sets of shingles, in processor seconds, each stage for itself.

1. The stages are those of the default recipe, as a run applies them, batch by batch; kernels are warm.
2. The least of several rounds counts: on a busy machine the others say more of its neighbours.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import nearsame as ns
from nearsame import schemas
from nearsame.steps import steps

ROUNDS = 5
_BATCH = 2_000


def batches(corpus: Path) -> list[pa.RecordBatch]:
    """DOCUMENTS of a corpus."""
    texts = pq.read_table(corpus, columns=["text"]).column("text").cast(pa.large_string()).combine_chunks()
    parts = [texts.slice(start, _BATCH) for start in range(0, len(texts), _BATCH)]
    return [pa.RecordBatch.from_arrays([pa.array(range(len(part))), part], schema=schemas.DOCUMENTS) for part in parts]


def main(arguments: list[str]) -> None:
    """Time the stages, print a record."""
    parser = argparse.ArgumentParser(prog="scripts/bench features", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a Parquet file with a column `text`")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(arguments)
    documents, stages = batches(given.corpus), steps(ns.Jaccard()).features
    seconds = [[0.0] * len(stages) for _ in range(given.rounds)]
    for batch in documents[:1]:
        stages[1](stages[0](batch))
    for times in seconds:
        for batch in documents:
            for number, stage in enumerate(stages):
                began = time.process_time()
                batch = stage(batch)  # noqa: PLW2901  (what comes out goes into the next stage)
                times[number] += time.process_time() - began
    least = [min(column) for column in zip(*seconds, strict=True)]
    names = [type(stage).__name__ for stage in stages]
    shown = {name: round(value, 3) for name, value in zip(names, least, strict=True)}
    print(json.dumps({"documents": sum(map(len, documents)), **shown, "all": round(min(map(sum, seconds)), 3)}))


if __name__ == "__main__":
    main(sys.argv[1:])
