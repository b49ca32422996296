"""Whether the printed interval of a measured recall holds the truth: of 100 seeded runs on each corpus, in how many.

1. Each run has a seed of its own, for its signatures and for the order of the documents, and so for the sample that is
   audited. That is a fifth of the documents: of a corpus that is sampled whole the audit would print the truth itself.
2. What is held against the truth is the line that the command prints. The truth is the run's own answer against all
   true pairs of distinct texts: of a list the share that it has; of a decision the share of the documents that had to
   go and went, and of those that stayed the share that resembles another.
3. All true pairs are those of the exact join. It is checked against the lists that come with the real corpora, which
   were made without any hash (3-word shingles); a difference ends the benchmark. Made ones have groups of 40 and 400.
4. Runs that are done stand in a file (--state): what is stopped goes on where it was.
"""

import argparse
import csv
import gzip
import io
import json
import os
import random
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpora
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import report

import nearsame as ns
from nearsame.flow import audits
from nearsame.outputs.promises import measured

PAGE = report.ROOT / "docs" / "output.md"
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
RUNS, NEEDED = 100, 90
MOST_DOCUMENTS, MOST_CHARACTERS = 1_000, 1_500_000  # of a real corpus, as whole groups drawn by a seed
SAMPLED = 5  # one document of so many is audited
REAL = {  # and the threshold at which it has pairs to miss
    "react-native-docs": 0.8,
    "debian-installguide": 0.8,
    "debian-handbook": 0.8,
    "docs-l10n": 0.8,
    "redis-valkey-docs": 0.5,
    "eips-ercs": 0.5,
    "webis-copycat": 0.5,
    "irplag-java": 0.5,
}
MADE = {
    "20 groups of 40": [40] * 20,
    "2 groups of 400": [400] * 2,
    "400, 5 x 40, 100 x 2": [400, *[40] * 5, *[2] * 100],
}
MEASURED = re.compile(r"(recall|residual duplicates)[^%]*? ([\d.e-]+) % \[([\d.e-]+), ([\d.e-]+)\]")

Rows = npt.NDArray[np.int64]
Truths = dict[str, float | None]  # of recall and of residual duplicates; None: of nothing


@dataclass(frozen=True)
class Way:
    """A column of the table, or two: what is asked of a corpus, and by which method."""

    name: str
    of: str  # pairs or dedup
    settings: dict[str, Any]
    threshold: float | None = None  # None: that of the corpus

    def method(self, threshold: float, seed: int) -> Any:
        """The recipe of one run."""
        kind = ns.ModP if self.name == "modp" else ns.MinHash
        return kind(threshold=self.threshold or threshold, shingle_size=3, seed=seed, **self.settings)


WAYS = [
    Way(".5", "pairs", {"recall": 0.5}),
    Way(".9", "pairs", {"recall": 0.9}),
    Way(".99", "pairs", {"recall": 0.99}),
    Way("estimate", "pairs", {"recall": 0.9, "verify": "estimate"}),
    Way("modp", "pairs", {}, 0.5),
    Way(".5", "dedup", {"recall": 0.5}),
    Way(".9", "dedup", {"recall": 0.9}),
]


class Corpus:
    """Texts, and their true pairs at each threshold: between groups of texts with equal features."""

    def __init__(self, ids: list[str], texts: list[str], threshold: float) -> None:
        self.ids, self.texts, self.threshold = ids, texts, threshold
        self._known: dict[float, tuple[Rows, Rows, Rows]] = {}

    def pairs(self, threshold: float) -> tuple[Rows, Rows, Rows]:
        """(a, b) of all true pairs of distinct texts, by the first text that is equal, and that of each text."""
        if threshold not in self._known:
            found = ns.pairs(self.texts, method=ns.Jaccard(threshold=threshold, shingle_size=3), max_pairs=10**7)
            a, b = (found.table.column(name).to_numpy() for name in ("a_row", "b_row"))
            equal = found.table.column("similarity").to_numpy() == 1
            first = np.arange(len(self.texts))
            np.minimum.at(first, b[equal], a[equal])
            distinct = ~equal & (first[a] == a) & (first[b] == b)
            self._known[threshold] = a[distinct], b[distinct], first
        return self._known[threshold]

    def check(self, file: Path) -> None:
        """End the benchmark unless the exact join has the pairs that are listed in a file."""
        numbers = {name: number for number, name in enumerate(self.ids)}
        with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
            rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
            next(rows)
            listed = {frozenset((numbers[a], numbers[b])) for a, b, *_ in rows if a in numbers and b in numbers}
        threshold = int(file.name.split(".pairs")[1][:2]) / 100
        found = ns.pairs(self.texts, method=ns.Jaccard(threshold=threshold, shingle_size=3), max_pairs=10**7).table
        own = {frozenset(pair) for pair in zip(*(found.column(n).to_pylist() for n in ("a_row", "b_row")), strict=True)}
        if own != listed:
            raise SystemExit(f"{file.name}: {len(listed - own)} pairs missed, {len(own - listed)} too many")


def real(name: str, threshold: float) -> Corpus:
    """Some whole groups of a real corpus, without scripts of which words are taken in another way."""
    folder = Path(os.environ.get("NEARSAME_DATA") or report.ROOT.parent / "shared" / "data")
    groups: dict[str, list[dict[str, str]]] = {}
    for record in _records(folder, name):
        if corpora.is_plain(record["text"]):
            groups.setdefault(str(record.get("group", record["id"])), []).append(record)
    chosen = list(groups.values())
    random.Random(1).shuffle(chosen)
    records: list[dict[str, str]] = []
    characters = 0
    for group in chosen:
        size = sum(len(record["text"]) for record in group)
        if len(records) + len(group) <= MOST_DOCUMENTS and characters + size <= MOST_CHARACTERS:
            records, characters = records + group, characters + size
    found = Corpus([record["id"] for record in records], [record["text"] for record in records], threshold)
    for file in sorted((folder / "exact").glob(f"{name}.pairs*.tsv.gz")):
        found.check(file)
    return found


def _records(folder: Path, name: str) -> Iterator[dict[str, str]]:
    files = sorted((folder / "docs").glob(f"{name}.docs.jsonl.*"))
    if not files:
        raise corpora.Absent(f"{name} is not in {folder.name}/docs: set NEARSAME_DATA to the folder that has it")
    codec = {".zst": "zstd", ".gz": "gzip"}[files[0].suffix]
    with pa.OSFile(str(files[0])) as packed, pa.CompressedInputStream(packed, codec) as stream:
        yield from map(json.loads, io.TextIOWrapper(stream, encoding="utf-8", newline="\n"))


def made(sizes: list[int]) -> Corpus:
    """Groups of versions of a text of 100 words, of which three or nine at most are replaced; half as many others."""
    chance = random.Random(2)

    def text() -> list[str]:
        return [f"w{chance.randrange(10**9)}" for _ in range(100)]

    texts = []
    for number, size in enumerate(sizes):
        base = text()
        for _ in range(size):
            words = list(base)
            for place in chance.sample(range(100), chance.randrange(10 if number % 2 else 4)):
                words[place] = f"w{chance.randrange(10**9)}"
            texts.append(" ".join(words))
    texts += [" ".join(text()) for _ in range(len(texts) // 2)]
    return Corpus([str(number) for number in range(len(texts))], texts, 0.8)


def load(name: str) -> Corpus:
    """A corpus of the table."""
    return made(MADE[name]) if name in MADE else real(name, REAL[name])


def run(corpus: Corpus, way: Way, seed: int) -> dict[str, Any]:
    """One run: of recall (and of residual duplicates) the truth, and what was printed: value, low and high."""
    order = np.random.default_rng(seed).permutation(len(corpus.texts))
    method = way.method(corpus.threshold, seed)
    audits._NUM_AUDITED = len(corpus.texts) // SAMPLED  # noqa: SLF001  (see the first law)
    ask = ns.pairs if way.of == "pairs" else ns.dedup
    found = ask([corpus.texts[number] for number in order], method=method, audit=True, threads=1)
    pairs = corpus.pairs(float(method.threshold))
    truths = (_of_list if way.of == "pairs" else _of_decision)(found, order, pairs)
    line = measured(found.stats.audit or {})
    printed = {what: [float(x) / 100 for x in shares] for what, *shares in MEASURED.findall(line)}
    return {what: {"truth": truth, "printed": printed.get(what)} for what, truth in truths.items()}


def _of_list(found: Any, order: Rows, pairs: tuple[Rows, Rows, Rows]) -> Truths:
    a, b, first = pairs
    listed_a, listed_b = (first[order[found.table.column(name).to_numpy()]] for name in ("a_row", "b_row"))
    known = np.isin(_numbers(a, b, first.size), _numbers(listed_a, listed_b, first.size))
    return {"recall": float(known.mean()) if known.size else None}


def _numbers(a: Rows, b: Rows, size: int) -> Rows:
    return np.minimum(a, b) * size + np.maximum(a, b)


def _of_decision(found: Any, order: Rows, pairs: tuple[Rows, Rows, Rows]) -> Truths:
    a, b, first = pairs
    place = np.full(first.size, first.size)  # of each distinct text, the row of its first copy
    np.minimum.at(place, first[order], np.arange(first.size))
    goes = np.zeros(first.size + 1, np.bool_)
    goes[found.removals.column("row").to_numpy()] = True
    better, worse = np.minimum(place[a], place[b]), np.maximum(place[a], place[b])
    must_go = np.unique(worse[~goes[better]])
    kept = np.setdiff1d(place[place < first.size], np.flatnonzero(goes))
    left = np.unique(np.concatenate([worse, better])[~goes[np.concatenate([better, worse])]])
    return {
        "recall": float(goes[must_go].mean()) if must_go.size else None,
        "residual duplicates": float(np.isin(kept, left).mean()) if kept.size else None,
    }


def holds(one: dict[str, Any]) -> bool | None:
    """Whether a printed interval has the truth in it; None where nothing was printed or there is none."""
    if one["truth"] is None or one["printed"] is None:
        return None
    _, low, high = one["printed"]
    return bool(low - 1e-9 <= one["truth"] <= high + 1e-9)


def cell(done: list[dict[str, Any]]) -> str:
    """In how many runs of those that printed an interval it held the truth; the mean truth and width, in percent."""
    said = [one for one in done if holds(one) is not None]
    if not said:
        return "-"
    inside = sum(bool(holds(one)) for one in said)
    truth = 100 * float(np.mean([one["truth"] for one in said]))
    width = 100 * float(np.mean([one["printed"][2] - one["printed"][1] for one in said]))
    runs = f"{inside}" if len(said) == RUNS else f"{inside} of {len(said)}"
    return f"{f'**{runs}**' if inside < NEEDED / 100 * len(said) else runs} ({truth:.3g}, {width:.2g})"


def finish(name: str, state: Path, runs: int) -> dict[tuple[int, int], dict[str, Any]]:
    """All runs on a corpus, those that stand in the file and those that are missing."""
    done = {}
    if state.exists():
        for line in map(json.loads, state.read_text("utf-8").splitlines()):
            if line["corpus"] == name:
                done[line["way"], line["seed"]] = line["found"]
    missing = [(way, seed) for way in range(len(WAYS)) for seed in range(runs) if (way, seed) not in done]
    if not missing:
        return done
    corpus = load(name)
    with state.open("a", encoding="utf-8") as lines:
        for way, seed in missing:
            done[way, seed] = run(corpus, WAYS[way], seed)
            record = {"corpus": name, "way": way, "seed": seed, "found": done[way, seed]}
            print(json.dumps(record), file=lines, flush=True)
    return done


def main(arguments: list[str]) -> int:
    """Run what is missing, print the table, and write the page when it is whole; 1 if an interval holds too rarely."""
    parser = argparse.ArgumentParser(prog="scripts/bench audit", description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", choices=[*REAL, *MADE], default=[*REAL, *MADE], help="default: all")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each; default {RUNS}")
    parser.add_argument("--state", type=Path, default=Path("audit-runs.jsonl"), help="the file of runs that are done")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    kinds = [(number, what) for number, way in enumerate(WAYS) for what in _measures(way)]
    named = ((WAYS[way].of if what == "recall" else "residual", WAYS[way].name) for way, what in kinds)
    header = ("corpus", *map(" ".join, named))
    rows, bad = [], False
    for name in given.corpora:
        try:
            done = finish(name, given.state, given.runs)
        except corpora.Absent as absent:
            print(absent)
            continue
        cells = [cell([done[way, seed][what] for seed in range(given.runs)]) for way, what in kinds]
        bad = bad or any(text.startswith("**") for text in cells)
        rows.append((name, *cells))
        print(" | ".join(rows[-1]), flush=True)
    report.show("Runs whose interval holds the truth", header, rows)
    if not given.no_write:
        chosen = "" if given.corpora == [*REAL, *MADE] else f" --corpora {shlex.join(given.corpora)}"
        note = report.made_by(f"audit{chosen}", PACKAGES)
        report.write_between(PAGE, "audit", f"{report.markdown(header, rows)}\n\n{note}")
    return int(bad)


def _measures(way: Way) -> tuple[str, ...]:
    return ("recall",) if way.of == "pairs" else ("recall", "residual duplicates")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
