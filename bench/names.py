"""Names that are nearly the same: all pairs by characters, and of these the ones that are alike letter by letter.

1. Names are made, of 10 to 60 characters: two to four words of syllables, and behind every second one a variant: a
   letter dropped, added or changed, words in another order, an initial in the place of a word.
2. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
3. The truth is by brute force: rapidfuzz compares names (all, or some of them) with all others letter by letter, and of
   those that reach that threshold the sets of characters are compared as fractions. The run fails where a pair of the
   names that were compared is missing or false.
"""

import argparse
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

import nearsame as ns

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numpy", "pyarrow", "rapidfuzz")
EDIT, SIZE = Fraction("0.85"), 3
METHODS = {
    "jaccard": {},
    "jaccard, confirmed": {"confirm": "edit"},
    "minhash, confirmed": {"confirm": "edit"},
    "cosine, confirmed": {"confirm": "edit"},
}
HEADER = ("", "names", "t", "pairs", "CPU s", "looked for", "missing", "false")
_SCORES = 10_000_000  # of a block
_MOST_PAIRS = 1_000_000_000
_SYLLABLES = [first + vowel + last for first in "bdfgklmnprstv" for vowel in "aeiou" for last in ("", "n", "r", "s")]


class Truth(NamedTuple):
    """Names that were compared with all others, and the pairs of them that are alike letter by letter."""

    rows: Any
    pairs: list[tuple[int, int]]


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


def recipe(label: str, least: Fraction) -> Any:
    """A method by what it is called here; a cosine of sets of one size that have this Jaccard similarity."""
    threshold = 2 * least / (1 + least) if label.startswith("cosine") else least
    also = METHODS[label] | ({"confirm_threshold": EDIT} if METHODS[label] else {})
    kind = {"jaccard": ns.Jaccard, "minhash": ns.MinHash, "cosine": ns.Cosine}[label.partition(",")[0]]
    return kind(threshold=threshold, unit="chars", shingle_size=SIZE, **also)


def measured(label: str, least: str, source: str, target: str) -> float:
    """CPU seconds of a method; its pairs go to a file."""
    table, method = pq.read_table(source), recipe(label, Fraction(least))
    given = {"method": method, "threads": 1, "audit": False, "max_pairs": _MOST_PAIRS}
    ns.pairs(table.slice(0, 200), **given)
    began = process_time()
    pairs = ns.pairs(table, **given).pairs
    seconds = process_time() - began
    np.save(target, np.stack([pairs.column(side).cast(pa.int64()).to_numpy() for side in ("a_id", "b_id")], axis=1))
    return seconds


def alike(names: list[str], most: int) -> Truth:
    """Pairs of some names that are alike letter by letter, by brute force: those at the threshold as fractions."""
    rows, found = np.unique(np.linspace(0, len(names) - 1, min(most, len(names))).astype(np.int64)), set()
    step = max(1, _SCORES // len(names))
    for low in range(0, rows.size, step):
        block = rows[low : low + step]
        mine = [names[row] for row in block]
        scores = cdist(mine, names, scorer=Indel.normalized_similarity, score_cutoff=float(EDIT) - 1e-6)
        places, others = (axis.tolist() for axis in np.nonzero(scores))
        pairs = ((int(block[place]), other) for place, other in zip(places, others, strict=True))
        found |= {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return Truth(rows, [pair for pair in sorted(found) if _edit(*(names[row] for row in pair)) >= EDIT])


def _edit(a: str, b: str) -> Fraction:
    return 1 - Fraction(Indel.distance(a, b), len(a) + len(b))


def expected(method: Any, names: list[str], near: Truth) -> set[tuple[int, int]]:
    """Of the pairs that are alike letter by letter those that a method is to find."""
    sets = {row: _characters(names[row]) for row in {row for pair in near.pairs for row in pair}}

    def reaches(a: int, b: int) -> bool:
        shared, sizes = len(sets[a] & sets[b]), (len(sets[a]), len(sets[b]))
        if method.measure == "cosine":
            return bool(Fraction(shared**2, sizes[0] * sizes[1]) >= method.least**2)
        return Fraction(shared, sum(sizes) - shared) >= method.least

    return {pair for pair in near.pairs if reaches(*pair)}


def _characters(name: str) -> set[str]:
    plain = " ".join(name.lower().split())
    return {plain[at : at + SIZE] for at in range(len(plain) - SIZE + 1)}


class Case:
    """So many names, and who is alike."""

    def __init__(self, num: int, checked: int, folder: Path) -> None:
        self.names, self._source, self._target = made(num), folder / "names.parquet", folder / "pairs.npy"
        self._near = alike(self.names, checked)
        ids = pa.array(range(num)).cast(pa.string())
        pq.write_table(pa.table({"id": ids, "text": pa.array(self.names, pa.large_string())}), self._source)

    def row(self, label: str, least: Fraction) -> tuple[tuple[str, ...], bool]:
        """What one method takes and finds, and whether that is right."""
        command = [sys.executable, __file__, "--measure", label, str(least), str(self._source), str(self._target)]
        seconds = float(processes.run(command, {}).output.splitlines()[-1])
        found, method = np.load(self._target), recipe(label, least)
        mine = found[np.isin(found, self._near.rows).any(axis=1)]
        mine = {(min(pair), max(pair)) for pair in mine.tolist()}
        wanted, confirmed = expected(method, self.names, self._near), bool(METHODS[label])
        missing, false = len(wanted - mine), len(mine - wanted) if confirmed else 0
        told = (f"{len(wanted):,}", f"{missing:,}", f"{false:,}" if confirmed else "-")
        cells = (f"{float(least):g}", f"{len(found):,}", f"{seconds:.2f}", *told)
        return (label, f"{len(self.names):,}", *cells), not false and not (missing and method.name != "minhash")


def main(arguments: list[str]) -> int:
    """Measure, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench names", description=__doc__.splitlines()[0])
    parser.add_argument("--names", type=int, nargs="+", default=[20_000, 1_000_000])
    parser.add_argument("--thresholds", type=Fraction, nargs="+", default=[Fraction("0.6"), Fraction("0.8")])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--checked", type=int, default=2_000, help="names whose pairs are looked for by brute force")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        print(measured(*given.measure))
        return 0
    rows, right = [], True
    with tempfile.TemporaryDirectory() as folder:
        for num in given.names:
            case = Case(num, given.checked, Path(folder))
            for least in given.thresholds:
                for label in given.methods:
                    row, is_right = case.row(label, least)
                    print(*row, "" if is_right else "the pairs are wrong", flush=True)
                    rows.append(row)
                    right = right and is_right
    about = (
        f"Made names of 10 to 60 characters, `--unit chars --shingle-size {SIZE}`, at a Jaccard similarity of t (or the"
        " cosine that sets of one size have then), confirmed by `--confirm edit --confirm-threshold"
        f" {float(EDIT):g}`: CPU seconds of `pairs` on one thread, in a process that had a small run before."
        f" {given.checked:,} of the names were compared with all others by brute force: `looked for` are their pairs"
        " that are alike letter by letter and reach the threshold, too, `missing` and `false` what was found otherwise."
    )
    page = None if given.no_write else PAGE
    report.tell(page, "names", ("Names that are nearly the same", HEADER, rows), about, PACKAGES)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
