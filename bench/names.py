"""Names that are nearly the same: all pairs by characters, and of these the ones that are alike letter by letter.

1. Names are made, of 10 to 60 characters: two to four words of syllables, and behind every second one a variant: a
   letter dropped, added or changed, words in another order, an initial in the place of a word.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The truth is by brute force: rapidfuzz compares every two names letter by letter, and of those that reach that
   threshold the sets of characters are compared as fractions. The run fails where a pair is missing or false.
"""

import argparse
import json
import sys
from fractions import Fraction
from time import process_time
from typing import Any

import numpy as np
import processes
import pyarrow as pa
import report
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

import nearsame as ns

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numpy", "pyarrow", "rapidfuzz")
LEAST, EDIT, SIZE = Fraction("0.6"), Fraction("0.85"), 3
METHODS = {
    "jaccard": {},
    "jaccard, confirmed": {"confirm": "edit"},
    "minhash, confirmed": {"confirm": "edit"},
    "cosine, confirmed": {"confirm": "edit"},
}
HEADER = ("", "names", "pairs", "CPU s", "missing", "false")
_BLOCK = 500
_SYLLABLES = [first + vowel + last for first in "bdfgklmnprstv" for vowel in "aeiou" for last in ("", "n", "r", "s")]


def made(num: int) -> list[str]:
    """So many names, the same on every call."""
    random = np.random.default_rng(1)
    words = ["".join(random.choice(_SYLLABLES, random.integers(2, 5))).title() for _ in range(max(num // 8, 50))]
    names: list[str] = []
    while len(names) < num:
        name = " ".join(words[int(len(words) * random.random() ** 2)] for _ in range(random.integers(2, 5)))
        names += [name for name in (name, _variant(name, random)) if 10 <= len(name) <= 60]
        if random.random() < 0.5:
            names.pop()
    return names[:num]


def _variant(name: str, random: Any) -> str:
    at, words = int(random.integers(0, len(name))), name.split()
    letter = str(random.choice(list("aeinorst")))
    return (
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[:at] + letter + name[at + 1 :],
        " ".join(words[::-1]),
        " ".join([words[0][0], *words[1:]]),
    )[random.integers(0, 5)]


def recipe(label: str) -> Any:
    """A method by what it is called here."""
    threshold = str(LEAST) if not label.startswith("cosine") else "0.75"  # of sets of one size 0.6 by Jaccard
    also = METHODS[label] | ({"confirm_threshold": str(EDIT)} if METHODS[label] else {})
    kind = {"jaccard": ns.Jaccard, "minhash": ns.MinHash, "cosine": ns.Cosine}[label.partition(",")[0]]
    return kind(threshold=threshold, unit="chars", shingle_size=SIZE, **also)


def measured(label: str, num: int) -> dict[str, Any]:
    """CPU seconds of a method, and its pairs."""
    source = pa.table({"id": [str(row) for row in range(num)], "text": made(num)})
    ns.pairs(source.slice(0, 200), method=recipe(label), threads=1, audit=False)
    began = process_time()
    pairs = ns.pairs(source, method=recipe(label), threads=1, audit=False).pairs
    seconds = process_time() - began
    sides = [map(int, pairs.column(side).to_pylist()) for side in ("a_id", "b_id")]
    return {"seconds": seconds, "pairs": sorted(sorted(pair) for pair in zip(*sides, strict=True))}


def alike(names: list[str]) -> list[tuple[int, int]]:
    """All pairs that are alike letter by letter, by brute force: those at the threshold are compared as fractions."""
    found = []
    for low in range(0, len(names), _BLOCK):
        block = names[low : low + _BLOCK]
        scores = cdist(block, names, scorer=Indel.normalized_similarity, score_cutoff=float(EDIT) - 1e-6)
        found += [(low + int(a), int(b)) for a, b in zip(*np.nonzero(scores), strict=True) if low + a < b]
    return [pair for pair in found if _edit(*(names[row] for row in pair)) >= EDIT]


def _edit(a: str, b: str) -> Fraction:
    return 1 - Fraction(Indel.distance(a, b), len(a) + len(b))


def expected(label: str, names: list[str], near: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Of the pairs that are alike letter by letter those that a method is to find."""
    sets = {row: _characters(names[row]) for row in {row for pair in near for row in pair}}

    def reaches(a: int, b: int) -> bool:
        shared, sizes = len(sets[a] & sets[b]), (len(sets[a]), len(sets[b]))
        if label.startswith("cosine"):
            return bool(Fraction(shared**2, sizes[0] * sizes[1]) >= Fraction(9, 16))
        return Fraction(shared, sum(sizes) - shared) >= LEAST

    return {pair for pair in near if reaches(*pair)}


def _characters(name: str) -> set[str]:
    plain = " ".join(name.lower().split())
    return {plain[at : at + SIZE] for at in range(len(plain) - SIZE + 1)}


def main(arguments: list[str]) -> int:
    """Measure, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench names", description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(json.dumps(measured(given.measure, given.names)))
        return 0
    names, rows, right = made(given.names), [], True
    near = alike(names)
    for label, also in METHODS.items():
        command = [sys.executable, __file__, "--names", str(given.names), "--measure", label]
        one = json.loads(processes.run(command, {}).output.splitlines()[-1])
        found = {(a, b) for a, b in one["pairs"]}
        missing = expected(label, names, near) - found
        false = found - expected(label, names, near) if also else set()
        right = right and not false and not (missing and recipe(label).name != "minhash")
        counts = (f"{len(missing):,}", f"{len(false):,}" if also else "-")
        rows.append((label, f"{given.names:,}", f"{len(found):,}", f"{one['seconds']:.2f}", *counts))
    about = (
        f"Made names of 10 to 60 characters, `--unit chars --shingle-size {SIZE} --threshold {float(LEAST):g}` (cosine"
        f" 0.75), confirmed by `--confirm edit --confirm-threshold {float(EDIT):g}`: CPU seconds of `pairs` on one"
        f" thread, in a process that had a small run before. `missing` and `false` are against those of the"
        f" {len(near):,} pairs alike letter by letter, found by brute force, that reach this threshold, too."
    )
    made_by = report.made_by("names", PACKAGES)
    report.show("Names that are nearly the same", HEADER, rows)
    print(f"{about}\n\n{made_by}")
    if not given.no_write and report.has_place(PAGE, "names"):
        report.write_between(PAGE, "names", "\n\n".join([about, report.markdown(HEADER, rows), made_by]))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
