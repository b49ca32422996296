"""What a question to an index reads, of some ten thousand documents: all different, all equal, all near copies.

1. Rows and postings are counted between the index and its store: they do not depend on the machine. Times are beside.
2. The questions are near copies of documents that are there, one word changed, ten matches each.
3. A document more is added at the end, twenty times over: what that costs in the crowd.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import report

import nearsame as ns

PAGE = report.ROOT / "docs" / "performance.md"
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
HEADER = ("", "documents", "rows a question", "postings", "ms", "complete", "ms to add one", "µs a document to build")
BUSY = 0.7  # a load average, of the last minute
WORDS = 120
SIZES = "documents; default: 10000 40000, which takes five minutes; a million near copies take more than an hour"
_QUESTIONS, _ADDED, _BATCH = 50, 20, 10_000
_TEMPLATE = [f"w{at}" for at in range(WORDS)]


def different(number: int) -> str:
    """A text that is like no other."""
    chance = random.Random(number)
    return " ".join(f"v{chance.randrange(10**6)}" for _ in range(WORDS))


def equal(_: int) -> str:
    """Always the same text."""
    return " ".join(_TEMPLATE)


def near(number: int) -> str:
    """The text with a word changed."""
    return edited(equal(number), number)


def edited(text: str, number: int) -> str:
    """A text with one word changed."""
    words = text.split(" ")
    words[number % WORDS] = f"x{number}"
    return " ".join(words)


KINDS: dict[str, Callable[[int], str]] = {"different": different, "equal": equal, "near copies": near}


@contextmanager
def counted(index: ns.Index) -> Iterator[Counter[str]]:
    """Count what an index reads of its store."""
    counts: Counter[str] = Counter()
    store: Any = index._store  # noqa: SLF001  (nowhere else is it seen)
    reading = store.reading

    class Counting:
        def __init__(self, reader: Any) -> None:
            self._reader = reader

        def __getattr__(self, name: str) -> Any:
            return getattr(self._reader, name)

        def rows(self, numbers: Any, **how: Any) -> Any:
            found = self._reader.rows(numbers, **how)
            counts["rows"] += len(found)
            return found

        def postings(self, keys: Any, most: int) -> Any:
            found = self._reader.postings(keys, most)
            counts["postings"] += found.numbers.size
            return found

    @contextmanager
    def watched() -> Iterator[Counting]:
        with reading() as reader:
            yield Counting(reader)

    store.reading = watched
    yield counts
    del store.reading


def write(kind: str, num: int, file: Path) -> None:
    """The documents, as Parquet."""
    schema = pa.schema([("id", pa.string()), ("text", pa.string())])
    with pq.ParquetWriter(str(file), schema) as writer:
        for start in range(0, num, _BATCH):
            some = range(start, min(start + _BATCH, num))
            texts = [KINDS[kind](number) for number in some]
            writer.write_table(pa.table([[str(number) for number in some], texts], schema=schema))


def measure(kind: str, num: int, folder: Path) -> tuple[str, ...]:
    """A line of the table."""
    file = folder / "documents.parquet"
    write(kind, num, file)
    chance = random.Random(7)
    asked = [edited(KINDS[kind](chance.randrange(num)), num + number) for number in range(_QUESTIONS)]
    began = time.perf_counter()
    with ns.Index.create(folder / "crowd.ns", source=str(file), method=["minhash", "digest"], overwrite=True) as index:
        built = time.perf_counter() - began
        index.query(asked[0])
        began = time.perf_counter()
        found = [index.query(text) for text in asked]
        took = time.perf_counter() - began
        with counted(index) as counts:
            for text in asked:
                index.query(text)
        began = time.perf_counter()
        for number in range(_ADDED):
            index.add({"id": f"new{number}", "text": edited(asked[number], number + 1)})
        added = time.perf_counter() - began
    return (
        kind,
        f"{num:,}",
        f"{counts['rows'] / _QUESTIONS:,.0f}",
        f"{counts['postings'] / _QUESTIONS:,.0f}",
        f"{1e3 * took / _QUESTIONS:.2f}",
        f"{sum(each.complete for each in found)} of {_QUESTIONS}",
        f"{1e3 * added / _ADDED:.1f}",
        f"{1e6 * built / num:,.0f}",
    )


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench crowds", description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="which; default: all")
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 40_000], help=SIZES)
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    load, rows = os.getloadavg()[0], []
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
        for kind in given.kinds:
            for num in given.sizes:
                rows.append(measure(kind, num, Path(name)))
                print(" | ".join(rows[-1]), flush=True)
    made_by = report.made_by("crowds", PACKAGES)
    report.show("Crowds", HEADER, rows)
    busy = "" if load < BUSY else f"The machine was busy with other work (load {load:.1f} at the start). "
    if not given.no_write:
        report.write_between(PAGE, "crowds", f"{report.markdown(HEADER, rows)}\n\n{busy}{made_by}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
