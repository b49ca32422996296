"""What an adapter is asked for, and the words and shingles that all of them use.

1. An adapter is a process in the peer's own environment: raw text in a Parquet file in, the numbers of the documents
   to remove out, as a JSON list. It does what the peer's documentation shows, and nothing that helps or hinders it.
2. Words are those of truth.py, where a peer can be given words; where it makes its own, the table says so.
3. Nothing but the standard library and pyarrow is loaded here: the peer's environment has no more.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq


@dataclass(frozen=True)
class Task:
    """One run."""

    file: str
    folder: str
    answer: str
    threshold: float
    num_perm: int
    size: int
    processes: int
    bands: int | None = None
    rows: int | None = None
    own_words: bool = False

    def answered(self, removed: list[int]) -> None:
        """Say which documents go."""
        Path(self.answer).write_text(json.dumps(removed), "utf-8")


def task() -> Task:
    """What the command line says."""
    return Task(**json.loads(sys.argv[1]))


def texts(file: str) -> Iterator[str]:
    """The documents, in order."""
    with pq.ParquetFile(file) as source:
        for batch in source.iter_batches(batch_size=2000, columns=["text"]):
            yield from batch.column(0).to_pylist()


def words(text: str) -> list[str]:
    """The words of a text."""
    return re.findall(r"\w+", text.lower())


def shingles(text: str, size: int) -> list[str]:
    """Runs of `size` words; fewer words are one."""
    found = words(text)
    if len(found) <= size:
        return [" ".join(found)]
    return list(map(" ".join, zip(*(found[start:] for start in range(size)), strict=False)))
