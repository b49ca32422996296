"""Make a corpus of a given size, with near-duplicates planted at known similarities: Parquet or JSON lines.

1. The same size and seed give the same documents; memory does not grow with the size.
2. Words are drawn from a made vocabulary by Zipf's law and dressed as sentences and paragraphs. Two documents
   that were drawn apart share almost no five words in a row.
3. A planted document is made from an earlier one: a copy, the same words in other punctuation and capitals, or an
   edit with some words replaced, scattered or in one run, so many that the Jaccard similarity of 5-word shingles
   comes near a value drawn from .5 to 1.
4. `origin` names the document that it was made from. How similar the two are is not written down: truth.py
   computes it.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

SCHEMA = pa.schema([("id", pa.string()), ("text", pa.string()), ("origin", pa.int64())])
SEED = 1

VOCABULARY = 1 << 16  # so that a word is a uint16
CELLS = 1 << 20  # of the table that draws are looked up in: the rarest words still have one or two
MEAN_BYTES, SPREAD, FEWEST_WORDS, MOST_WORDS = 2000, 0.9, 20, 50_000  # of a document; the spread is of its logarithm
BATCH_ROWS = 2000
GROUP_BYTES = 64 << 20  # of text in a row group

PLANTED = 0.088  # of all documents; with what follows, about 5 % of the documents go at .8
REMEMBERED = 0.052  # of the others, so that an original has 1.7 planted documents on average
MEMORY = 2000  # originals at a time
COPIES, DRESSED = 0.15, 0.15  # of the planted ones; the rest are edits
SHINGLE = 5

# Forms of a word in its sentence.
PLAIN, COMMA, FIRST, STOP, QUESTION, PARAGRAPH, LAST, BRACKETS = range(8)
ENDS = (STOP, QUESTION, PARAGRAPH, LAST)
SHARES = {COMMA: 0.06, STOP: 0.045, QUESTION: 0.004, PARAGRAPH: 0.01, BRACKETS: 0.004}

Words = npt.NDArray[np.uint16]
Forms = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Original:
    """A document that others may be made from."""

    number: int
    words: Words
    forms: Forms


@dataclass
class Generator:
    """Draws batch after batch."""

    seed: int = SEED
    batch_rows: int = BATCH_ROWS
    num_made: int = 0
    memory: list[Original] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def batch(self) -> pa.RecordBatch:
        """The next documents."""
        random, count = self.random, self.batch_rows
        planted = {int(slot): self._any() for slot in np.flatnonzero(random.random(count) < PLANTED) if self.memory}
        lengths = _lengths(random, count)
        for slot, original in planted.items():
            lengths[slot] = original.words.size
        ends = np.cumsum(lengths)
        words = draw_table()[random.integers(0, CELLS, ends[-1], np.uint32)]
        forms = _dress(random, ends)
        for slot, original in planted.items():
            here = slice(ends[slot] - lengths[slot], ends[slot])
            words[here], forms[here] = vary(random, original, words[here], forms[here])
        self._remember(words, forms, ends, planted)
        origins = [planted[slot].number if slot in planted else None for slot in range(count)]
        ids = [str(number) for number in range(self.num_made, self.num_made + count)]
        self.num_made += count
        return pa.record_batch([pa.array(ids), spell(words, forms, ends), pa.array(origins, pa.int64())], schema=SCHEMA)

    def _any(self) -> Original:
        return self.memory[self.random.integers(len(self.memory))]

    def _remember(self, words: Words, forms: Forms, ends: npt.NDArray[np.int64], planted: dict[int, Original]) -> None:
        for slot in np.flatnonzero(self.random.random(ends.size) < REMEMBERED):
            if int(slot) in planted:
                continue
            here = slice(ends[slot - 1] if slot else 0, ends[slot])
            original = Original(self.num_made + int(slot), words[here].copy(), forms[here].copy())
            if len(self.memory) < MEMORY:
                self.memory.append(original)
            else:
                self.memory[self.random.integers(MEMORY)] = original


def documents(size_bytes: int, *, seed: int = SEED, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Batches of documents until their texts have `size_bytes`."""
    generator, missing = Generator(seed, batch_rows), size_bytes
    while missing > 0:
        batch = generator.batch()
        reached = np.cumsum(text_bytes(batch))
        yield batch[: int(np.searchsorted(reached, missing)) + 1]
        missing -= int(reached[-1])


def text_bytes(batch: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """The bytes of each text."""
    return pc.binary_length(batch.column("text")).to_numpy().astype(np.int64)


def vary(random: np.random.Generator, original: Original, fresh: Words, fresh_forms: Forms) -> tuple[Words, Forms]:
    """The words and forms of a document made from another; what it needs anew it takes from what was drawn."""
    kind = random.random()
    if kind < COPIES:
        return original.words, original.forms
    if kind < COPIES + DRESSED:
        return original.words, fresh_forms
    replaced = edit(random, fresh.size, random.uniform(0.5, 1))
    return np.where(replaced, fresh, original.words), original.forms


def edit(random: np.random.Generator, num_words: int, similarity: float) -> npt.NDArray[np.bool_]:
    """Which words to replace for about this similarity: N - c of N shingles stay where J = (N - c) / (N + c)."""
    lost = (num_words - SHINGLE + 1) * (1 - similarity) / (1 + similarity)
    replaced = np.zeros(num_words, np.bool_)
    if random.random() < 0.5:  # a run of n words is in n + 4 shingles
        length = min(max(round(lost) - SHINGLE + 1, 1), num_words)
        start = random.integers(num_words - length + 1)
        replaced[start : start + length] = True
    else:  # n words far apart are in 5 n, so one to each of n equal stretches
        edges = np.linspace(0, num_words, max(round(lost / SHINGLE), 1) + 1)
        replaced[(edges[:-1] + random.random(edges.size - 1) * np.diff(edges)).astype(np.int64)] = True
    return replaced


def spell(words: Words, forms: Forms, ends: npt.NDArray[np.int64]) -> pa.Array:
    """The texts: all words spelled one after the other, and cut at the documents' ends."""
    spelled = spellings().take(pa.array(words.astype(np.int32) * 8 + forms))
    _, offsets, data = spelled.buffers()
    cuts = np.frombuffer(offsets, np.int32)[np.concatenate([[0], ends])]
    return pa.StringArray.from_buffers(ends.size, pa.py_buffer(cuts), data)


@cache
def vocabulary() -> list[str]:
    """Distinct words, the frequent ones short; some have a letter outside of ASCII. The same for every seed."""
    random = Random(0)
    openings = ["", *"bcdfghjklmnprstvwz", "st", "tr", "ch", "sh", "th", "pl", "br"]
    vowels = [*("aeiou" * 12), "ea", "ou", "ai", "é", "ö"]
    closings = ["", "", "", *"nrstlmd", "ng", "nd"]
    found: dict[str, None] = {}
    while len(found) < VOCABULARY:
        most = 1 + (len(found) >= 150) + (len(found) >= 4000) + (len(found) >= 30_000)
        syllables = range(random.randint(max(most - 1, 1), most))
        found["".join(random.choice(kind) for _ in syllables for kind in (openings, vowels, closings))] = None
    return list(found)


@cache
def spellings() -> pa.Array:
    """Word w in form f at 8 · w + f."""
    forms = ("{} ", "{}, ", "", "{}. ", "{}? ", "{}.\n\n", "{}.", "({}) ")
    return pa.array(
        [form.format(word) if form else f"{word.capitalize()} " for word in vocabulary() for form in forms], pa.string()
    )


@cache
def draw_table() -> Words:
    """The word of each of CELLS equally likely draws: Zipf's law as Mandelbrot put it, 1 / (rank + 2.7)."""
    weights = 1 / (np.arange(VOCABULARY) + 3.7)
    shares = np.cumsum(weights) / weights.sum()
    return np.searchsorted(shares, (np.arange(CELLS) + 0.5) / CELLS).astype(np.uint16)


@cache
def _form_table() -> Forms:
    table = np.full(1 << 16, PLAIN, np.uint8)
    start = 0
    for form, share in SHARES.items():
        stop = start + round(share * table.size)
        table[start:stop] = form
        start = stop
    return table


@cache
def _mean_word_bytes() -> float:
    lengths = np.array([len(word.encode()) for word in vocabulary()])
    return float(lengths[draw_table()].mean()) + 1.15  # and what stands around it


def _lengths(random: np.random.Generator, count: int) -> npt.NDArray[np.int64]:
    centre = np.log(MEAN_BYTES / _mean_word_bytes()) - SPREAD**2 / 2
    return np.clip(random.lognormal(centre, SPREAD, count).astype(np.int64), FEWEST_WORDS, MOST_WORDS)


def _dress(random: np.random.Generator, ends: npt.NDArray[np.int64]) -> Forms:
    forms = _form_table()[random.integers(0, 1 << 16, ends[-1], np.uint16)]
    forms[ends - 1] = LAST
    begins = np.ones(forms.size, np.bool_)
    begins[1:] = np.isin(forms[:-1], ENDS)
    forms[begins & ~np.isin(forms, ENDS)] = FIRST
    return forms


def write(path: Path, size_bytes: int, *, seed: int = SEED, batch_rows: int = BATCH_ROWS) -> None:
    """Write a corpus in the format that the name ends with: .parquet or .jsonl."""
    batches = documents(size_bytes, seed=seed, batch_rows=batch_rows)
    part = path.with_name(path.name + ".part")
    (_write_jsonl if path.suffix == ".jsonl" else _write_parquet)(part, batches)
    part.rename(path)


def _write_parquet(path: Path, batches: Iterator[pa.RecordBatch]) -> None:
    with pq.ParquetWriter(path, SCHEMA) as writer:
        group: list[pa.RecordBatch] = []
        for batch in batches:
            group.append(batch)
            if sum(waiting.nbytes for waiting in group) >= GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(group), row_group_size=1 << 30)
                group = []
        if group:
            writer.write_table(pa.Table.from_batches(group), row_group_size=1 << 30)


def _write_jsonl(path: Path, batches: Iterator[pa.RecordBatch]) -> None:
    with path.open("wb") as file:
        for batch in batches:
            file.writelines(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in batch.to_pylist())


def parse_size(text: str) -> int:
    """Bytes, given as 200MB, 2GB, 500kB or a plain number."""
    number = text.strip().upper().removesuffix("B")
    scale = {"K": 10**3, "M": 10**6, "G": 10**9}.get(number[-1:], 1)
    return int(float(number if scale == 1 else number[:-1]) * scale)


def main(arguments: list[str]) -> Any:
    """Write a corpus where the command line says."""
    parser = argparse.ArgumentParser(prog="scripts/bench corpus", description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path, help="a .parquet or .jsonl file")
    parser.add_argument("--size", type=parse_size, default="200MB", help="bytes of text (default 200MB)")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args(arguments)
    if given.path.suffix not in (".parquet", ".jsonl"):
        parser.error(f"{given.path.name} does not end with .parquet or .jsonl")
    write(given.path, given.size, seed=given.seed)


if __name__ == "__main__":
    main(sys.argv[1:])
