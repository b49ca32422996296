"""What a corpus of corpus.py holds in truth, computed the slow and obvious way, and how far an answer agrees.

1. Nothing here is shared with what is measured: words by a regular expression, shingles as tuples, sets as Python's.
2. Documents made from the same original are compared with each other, all with all. Others share almost no five
   words in a row (a test holds that on a sample); a removed one among them is compared with its witness all the same.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

SIZE = 5

Shingles = frozenset[tuple[str, ...]]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Truth:
    """The planted pairs at or above a threshold, and what is to go if the first documents stay."""

    threshold: Fraction
    pairs: dict[Pair, Fraction]
    expected: frozenset[int]


@dataclass(frozen=True)
class Quality:
    """How an answer compares with the truth."""

    removed: int = 0
    expected: int = 0  # removed by the slow method
    differing: int = 0  # removed by one of the two only
    pairs: int = 0  # planted, at or above the threshold
    missed: int = 0  # of these, with both documents kept
    wrong: int = 0  # removed documents whose witness is not kept, or not similar enough

    @property
    def recall(self) -> float:
        """The share of planted pairs of which one at least was removed."""
        return 1 - self.missed / self.pairs if self.pairs else 1.0

    @property
    def precision(self) -> float:
        """The share of removed documents whose witness stays and is as similar as it must be."""
        return 1 - self.wrong / self.removed if self.removed else 1.0

    def record(self) -> dict[str, Any]:
        """All of it, JSON-able."""
        return {**asdict(self), "recall": self.recall, "precision": self.precision}


def shingles(text: str, size: int = SIZE) -> Shingles:
    """The set of runs of `size` words; fewer words are one."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(tuple(words[start : start + size]) for start in range(max(len(words) - size + 1, 1)))


def jaccard(a: Shingles, b: Shingles) -> Fraction:
    """Shared over all."""
    shared = len(a & b)
    return Fraction(shared, len(a) + len(b) - shared)


def families(origins: Sequence[int | None]) -> list[list[int]]:
    """Documents that have the same origin, with it, in order; those that stand alone are left out."""
    found = defaultdict(list)
    for number, origin in enumerate(origins):
        if origin is not None:
            found[origin].append(number)
    return [sorted([origin, *made]) for origin, made in found.items()]


def truth(texts: Sequence[str], origins: Sequence[int | None], threshold: Fraction) -> Truth:
    """The pairs within families, and what the greedy rule removes: a document like an earlier kept one goes."""
    pairs, expected = {}, set()
    for family in families(origins):
        sets = {number: shingles(texts[number]) for number in family}
        alike = {(a, b): jaccard(sets[a], sets[b]) for a, b in combinations(family, 2)}
        alike = {pair: similarity for pair, similarity in alike.items() if similarity >= threshold}
        for number in family:
            if any(b == number and a not in expected for a, b in alike):
                expected.add(number)
        pairs.update(alike)
    return Truth(threshold, pairs, frozenset(expected))


def judge(texts: Sequence[str], known: Truth, removals: Iterable[Pair]) -> Quality:
    """An answer, given as (removed document, its witness), against the truth."""
    witnesses = dict(removals)
    return Quality(
        removed=len(witnesses),
        expected=len(known.expected),
        differing=len(known.expected ^ witnesses.keys()),
        pairs=len(known.pairs),
        missed=sum(a not in witnesses and b not in witnesses for a, b in known.pairs),
        wrong=sum(
            witness in witnesses or jaccard(shingles(texts[number]), shingles(texts[witness])) < known.threshold
            for number, witness in witnesses.items()
        ),
    )


def of_file(path: Path, threshold: Fraction) -> tuple[list[str], Truth]:
    """The texts of a corpus and the truth about it."""
    table = pq.read_table(path, columns=["text", "origin"])
    texts = table.column("text").to_pylist()
    return texts, truth(texts, table.column("origin").to_pylist(), threshold)


def removals(path: Path) -> list[Pair]:
    """The ids of removed.parquet, which corpus.py makes of row numbers."""
    table = pq.read_table(path, columns=["id", "witness_id"])
    return [(int(a), int(b)) for a, b in zip(*(column.to_pylist() for column in table.columns), strict=True)]
