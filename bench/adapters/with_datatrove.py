"""datatrove: its four MinHash steps with the local executor; what its filter excludes, goes.

It is given the words of truth.py by a tokenizer of its own kind; its normalisation of numbers and accents is off. It
works on a file at a time, so there is one for each processor.
"""

import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
from _datatrove_words import Words
from _task import Task, task
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
)
from datatrove.pipeline.readers import ParquetReader
from datatrove.pipeline.writers import JsonlWriter, ParquetWriter
from datatrove.utils.text import TextNormConfig

AS_IT_IS = TextNormConfig(
    lowercase=False,
    norm_whitespace=False,
    remove_punctuation=False,
    norm_unicode_diacritics=False,
    norm_numbers=False,
)


def config(given: Task) -> MinhashConfig:
    """Its own bands, unless there are others."""
    bands = {"num_buckets": given.bands, "hashes_per_bucket": given.rows} if given.bands else {}
    return MinhashConfig(n_grams=given.size, norm_config=AS_IT_IS, **bands)


def split(given: Task, folder: Path) -> None:
    """One file for each processor."""
    table = pq.read_table(given.file, columns=["id", "text"])
    rows = -(-len(table) // given.processes)
    folder.mkdir()
    for number in range(given.processes):
        pq.write_table(table.slice(number * rows, rows), folder / f"{number:05d}.parquet")


def deduplicate(given: Task, base: Path) -> None:
    """The four steps."""
    settings = config(given)
    reader = ParquetReader(str(base / "in"), text_key="text", id_key="id")
    signatures, buckets, remove = (str(base / name) for name in ("signatures", "buckets", "remove"))
    excluded, stays = JsonlWriter(str(base / "removed")), ParquetWriter(str(base / "kept"))
    steps = (
        (given.processes, [reader, MinhashDedupSignature(signatures, config=settings, language=Words())]),
        (settings.num_buckets, [MinhashDedupBuckets(signatures, buckets, config=settings)]),
        (1, [MinhashDedupCluster(buckets, remove, config=settings)]),
        (given.processes, [reader, MinhashDedupFilter(remove, exclusion_writer=excluded), stays]),
    )
    for number, (tasks, pipeline) in enumerate(steps):
        LocalPipelineExecutor(
            pipeline=pipeline, tasks=tasks, workers=given.processes, logging_dir=str(base / f"logs{number}")
        ).run()


if __name__ == "__main__":
    given = task()
    base = Path(given.folder)
    split(given, base / "in")
    deduplicate(given, base)
    removed: list[int] = []
    for file in (base / "removed").glob("*.jsonl.gz"):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            removed.extend(int(json.loads(line)["id"]) for line in lines)
    given.answered(sorted(removed))
