"""The exact join of real texts: long ones by words, beside an earlier checkout, and sentences by characters.

1. Each measurement is a process of its own: CPU seconds of `pairs` alone, on one thread, after a small run.
2. Both checkouts are run by this Python, in turns, each as often as the other; the least seconds of each count. Kernels
   are those that were built in each checkout, or compiled by the small run.
3. The run fails where two exact joins list another number of pairs.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import corpora
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report

PAGE = report.ROOT / "docs" / "decisions" / "short-sets.md"
PACKAGES = ("nearsame", "numpy", "pyarrow")
ADAPTER = report.ROOT / "bench" / "adapters" / "pairs_of_texts.py"
LONG, SENTENCES = ("msdocs-en", "debian-installguide", "scancode-licences"), "turku-paraphrase-fi"
WORDS, LETTERS = {"threshold": 0.8}, {"threshold": 0.6, "unit": "chars", "shingle_size": 3}
TURNS = 2
BEFORE = ("", "texts", "pairs", "before, CPU s", "now, CPU s", "times")
HASHED = ("", "texts", "pairs", "exact, CPU s", "MinHash, CPU s", "times")


def measured(source: Path, number: int, method: str, settings: dict[str, Any], checkout: Path = report.ROOT) -> Any:
    """CPU seconds and pairs of one run by a checkout."""
    command = [sys.executable, str(ADAPTER), str(source), str(number), method, json.dumps(settings)]
    output = processes.run(command, {"PYTHONPATH": str(checkout / "src")}).output
    return json.loads(output.splitlines()[-1])


def in_turns(*ways: Callable[[], Any]) -> list[Any]:
    """What each way measured in the least seconds, when they took turns."""
    runs = [[way() for way in ways] for _ in range(TURNS)]
    return [min(column, key=lambda run: run["seconds"]) for column in zip(*runs, strict=True)]


def beside_before(name: str, before: Path, folder: Path) -> tuple[str, ...]:
    """Long texts by words: an earlier checkout, this one, and how many times as long this one takes."""
    source, number = written(name, folder)
    old, new = in_turns(
        partial(measured, source, number, "jaccard", WORDS, before), partial(measured, source, number, "jaccard", WORDS)
    )
    if old["pairs"] != new["pairs"]:
        raise SystemExit(f"{name}: {new['pairs']:,} pairs, and {old['pairs']:,} by {before}")
    return _row(name, number, new["pairs"], (old["seconds"], new["seconds"]), new["seconds"] / old["seconds"])


def beside_hashed(numbers: Iterable[int], folder: Path) -> list[tuple[str, ...]]:
    """Sentences by characters: the exact join, MinHash, and how many times as long the exact join takes."""
    source, most = written(SENTENCES, folder)
    rows = []
    for number in (*(number for number in numbers if number < most), most):
        exact, hashed = in_turns(*(partial(measured, source, number, way, LETTERS) for way in ("jaccard", "minhash")))
        seconds = exact["seconds"], hashed["seconds"]
        rows.append(_row(SENTENCES, number, exact["pairs"], seconds, seconds[0] / seconds[1]))
    return rows


def written(name: str, folder: Path) -> tuple[Path, int]:
    """A file of all texts of a corpus, and how many they are."""
    texts, path = corpora.real_texts(name), folder / f"{name}.parquet"
    pq.write_table(pa.table({"text": pa.array(texts, pa.large_string())}), path)
    return path, len(texts)


def _row(name: str, number: int, pairs: int, seconds: tuple[float, float], times: float) -> tuple[str, ...]:
    return (name, f"{number:,}", f"{pairs:,}", *(f"{each:.2f}" for each in seconds), f"{times:.2f}")


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench texts", description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="another checkout, to be run beside this one")
    parser.add_argument("--corpora", nargs="*", default=list(LONG), help="of long texts")
    parser.add_argument("--sentences", nargs="*", type=int, default=[10_000, 20_000], help="how many, and then all")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        long = [beside_before(name, given.before, folder) for name in given.corpora if given.before]
        short = beside_hashed(given.sentences, folder)
    about = (
        "CPU seconds of `pairs` on one thread, in a process that had a small run before, without an audit: the least of"
        f" {TURNS} runs each, which took turns."
    )
    words = f"Long texts, 5 words, t = .8; `before` is commit {report.commit(given.before)}." if given.before else ""
    letters = "Sentences, 3 characters, t = .6."
    made_by = report.made_by("texts", PACKAGES)
    tables = [(words, BEFORE, long), (letters, HASHED, short)]
    for title, header, rows in tables:
        report.show(title, header, rows)
    print(f"{about}\n\n{made_by}")
    if not given.no_write and report.has_place(PAGE, "texts"):
        shown = [part for title, header, rows in tables if rows for part in (title, report.markdown(header, rows))]
        report.write_between(PAGE, "texts", "\n\n".join([about, *shown, made_by]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
