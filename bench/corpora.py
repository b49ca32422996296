"""The corpora that tools are compared on, each with its exact answer: all pairs at or above the threshold.

1. A corpus is a Parquet file with `id` (the number of the row) and `text`, in random order, so that its beginning is a
   sample. Real ones stand outside of the project (NEARSAME_DATA, or ../shared/data); where they are not, they are left
   out.
2. What tools take for words differs where marks combine and where there are no spaces, so real texts with letters that
   are neither Latin nor Cyrillic are left out, and counted (Greek, too: some tell a final sigma from others).
3. The exact answer of a made corpus is truth.py's. That of a real one is `nearsame pairs`, after the slow method gave
   the same pairs for documents drawn at random, each compared with all; a difference ends the benchmark.
"""

import io
import json
import os
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import corpus
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report
import truth

MADE, REAL = "web-like", ("debian-installguide", "msdocs-en")
NUM_CHECKED = 200  # documents of a real corpus that the slow method compares with all
PLAIN = (range(0x80, 0x250), range(0x400, 0x530), range(0x1E00, 0x1F00))  # Latin and Cyrillic letters outside of ASCII
SEED = 1


class Absent(Exception):  # noqa: N818  (not an error: the corpus is left out)
    """A corpus that is not here, with the reason."""


@dataclass(frozen=True)
class Corpus:
    """Documents and their exact answer."""

    name: str
    file: Path
    num_documents: int
    text_bytes: int
    pairs: frozenset[truth.Pair]
    about: str  # where it comes from, and how its exact answer was found

    def beginning(self, num_documents: int, folder: Path) -> "Corpus":
        """The first documents, as a corpus of its own."""
        if num_documents >= self.num_documents:
            return self
        table = pq.read_table(self.file).slice(0, num_documents)
        file = folder / f"{self.file.stem}-{num_documents}.parquet"
        pq.write_table(table, file)
        pairs = frozenset((a, b) for a, b in self.pairs if b < num_documents)
        return replace(self, file=file, num_documents=num_documents, text_bytes=_text_bytes(table), pairs=pairs)


def load(name: str, folder: Path, size: str, threshold: Fraction) -> Corpus:
    """A corpus by its name.

    Raises:
        Absent: It is a real one, and not on this machine.
    """
    return _made(folder, size, threshold) if name == MADE else _real(name, folder, threshold)


def _made(folder: Path, size: str, threshold: Fraction) -> Corpus:
    file = folder / f"corpus-{size}.parquet"
    if not file.exists():
        corpus.write(file, corpus.parse_size(size))
    texts, known = truth.of_file(file, threshold)
    text_bytes = sum(len(text.encode()) for text in texts)
    about = "made by `scripts/bench corpus`; the exact answer is computed with regular expressions and sets of tuples"
    return Corpus(MADE, file, len(texts), text_bytes, frozenset(known.pairs), about)


def _real(name: str, folder: Path, threshold: Fraction) -> Corpus:
    known = real_texts(name)
    texts = [text for text in known if is_plain(text)]
    num_left_out = len(known) - len(texts)
    Random(SEED).shuffle(texts)
    file = folder / f"{name}.parquet"
    table = pa.table({"id": [str(number) for number in range(len(texts))], "text": pa.array(texts, pa.large_string())})
    pq.write_table(table, file)
    pairs = _exact_pairs(file, folder / f"{name}-pairs.parquet", threshold)
    check(texts, pairs, threshold, NUM_CHECKED)
    about = (
        f"real text in random order, without {num_left_out:,} documents in other scripts than Latin and Cyrillic; "
        f"the exact answer is `nearsame pairs`, equal to the slow method's on all pairs of {NUM_CHECKED} "
        "documents drawn at random"
    )
    return Corpus(name, file, len(texts), _text_bytes(table), pairs, about)


def real_texts(name: str) -> list[str]:
    """All texts of a corpus that others published.

    Raises:
        Absent: It is not on this machine.
    """
    folder = Path(os.environ.get("NEARSAME_DATA") or report.ROOT.parent / "shared" / "data") / "docs"
    found = sorted(folder.glob(f"{name}.docs.jsonl.*"))
    if not found:
        raise Absent(f"{name} is not in {folder.parent.name}/docs: set NEARSAME_DATA to the folder that has it")
    codec = {".zst": "zstd", ".gz": "gzip"}[found[0].suffix]
    with pa.OSFile(str(found[0])) as packed, pa.CompressedInputStream(packed, codec) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        return [json.loads(line)["text"] for line in lines]


def is_plain(text: str) -> bool:
    """Whether all tools make the same words of it."""
    return text.isascii() or all(map(_is_plain_character, set(text)))


@cache
def _is_plain_character(character: str) -> bool:
    kind = unicodedata.category(character)[0]
    if character.isascii() or kind not in "LMN":
        return True
    return kind == "L" and len(character.lower()) == 1 and any(ord(character) in letters for letters in PLAIN)


def _exact_pairs(file: Path, target: Path, threshold: Fraction) -> frozenset[truth.Pair]:
    command = [*nearsame("pairs"), str(file), "-o", str(target), "--threshold", str(float(threshold))]
    processes.run([*command, "--overwrite", "--no-audit", "--quiet"], kernels(file.parent))
    rows = pq.read_table(target, columns=["a_row", "b_row"])
    return frozenset(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def nearsame(command: str) -> list[str]:
    """The command line of the package that is checked out."""
    return [str(Path(sys.executable).with_name("nearsame")), command]


def kernels(folder: Path) -> dict[str, str]:
    """An environment in which compiled kernels are kept with the benchmark."""
    return {"NUMBA_CACHE_DIR": str(folder / "kernels")}


def check(texts: Sequence[str], pairs: Iterable[truth.Pair], threshold: Fraction, num_checked: int) -> None:
    """End the benchmark unless the slow method finds the same partners of some documents.

    Each shingle of the drawn documents is looked for in every document: shared over all, without a hash of ours.
    """
    drawn = set(Random(SEED).sample(range(len(texts)), min(num_checked, len(texts))))
    sizes, having = {}, defaultdict(list)
    for number in drawn:
        shingles = truth.shingles(texts[number])
        sizes[number] = len(shingles)
        for shingle in shingles:
            having[shingle].append(number)
    slow = set()
    for number, text in enumerate(texts):
        shingles = truth.shingles(text)
        shared = Counter(other for shingle in shingles for other in having.get(shingle, ()) if other != number)
        for other, count in shared.items():
            if Fraction(count, len(shingles) + sizes[other] - count) >= threshold and shingles != EMPTY:
                slow.add((min(number, other), max(number, other)))
    listed = {(a, b) for a, b in pairs if a in drawn or b in drawn}
    if slow != listed:
        missed, wrong = sorted(slow - listed), sorted(listed - slow)
        raise SystemExit(f"nearsame misses {len(missed)} pairs {missed[:3]}, has {len(wrong)} too many {wrong[:3]}")


EMPTY = frozenset({()})  # of a text without words, which resembles nothing


def _text_bytes(table: pa.Table) -> int:
    return sum(int(corpus.text_bytes(batch).sum()) for batch in table.to_batches())
