"""A crawl on Spark: pages in a column, layers, archives and mirrors on local[2], against one machine with two threads.

1. The crawl is made (_crawled.py), and the same in Parquet and in archives. Sessions are warm, as in spark.py.
   What is found is written: of archives one machine writes copies, and Spark lists of records.
2. `as at scale` is as there, too: nothing is decided on the driver or by one task, nothing is named to all workers.
3. Both engines must give one answer, or the benchmark fails. Beside each time stands how right it is, by the slow
   method of truth.py: recall of pairs of made texts, one page of which went at least, and precision of the pages that
   went, by the texts of their witnesses; of mirrors, recall and precision of hosts.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import _crawled
import corpus
import limit
import report
import spark
import truth

PAGE = report.ROOT / "docs" / "performance.md"
METHOD = "jaccard"
LAYERS = "url,digest,text"
PARTITION_BYTES = 64 << 20  # of markup
SMALL_BYTES = 3_000_000
HEADER = (
    *("", "seconds", "times one machine", "pages/s", "jobs", "tasks", "task seconds", "shuffled MB", "bytes/page"),
    *("memory MB", "found", "recall", "precision"),
)
ONE = "one machine"
CONF = (("spark.sql.execution.arrow.maxRecordsPerBatch", "1000"),)  # as docs/spark.md advises for pages


def tasks() -> dict[str, dict[str, Any]]:
    """What is done, and where the pages are read."""
    markup, layers = {"html_column": "html", "id_column": "url"}, {"use": LAYERS}
    return {
        "pages": {"what": "crawl", "where": "files", "asked": markup},
        "pages, layers": {"what": "crawl", "where": "files", "asked": {**markup, **layers, "url_column": "url"}},
        "archives": {"what": "crawl", "where": "archives", "asked": {}},
        "archives, layers": {"what": "crawl", "where": "archives", "asked": layers},
        "mirrors": {"what": "mirrors", "where": "files", "asked": {"html_column": "html", "url_column": "url"}},
    }


def engines(text_bytes: int) -> dict[str, dict[str, Any]]:
    """One machine, Spark as it comes, and as at scale."""
    return {
        ONE: {"engine": "local"},
        "Spark": {"engine": spark.MASTER},
        spark.AT_SCALE.removeprefix("Spark, "): {"engine": spark.MASTER, **spark.at_scale(text_bytes)},
    }


def row(name: str, seen: spark.Seen, one: spark.Seen, num_pages: int, quality: tuple[float, float]) -> report.Row:
    """A line, beside one machine's run of the same."""
    on_spark = seen is not one
    return (
        name,
        f"{seen.seconds:.1f}",
        f"{seen.seconds / one.seconds:.1f}",
        f"{num_pages / seen.seconds:,.0f}",
        *(f"{number:,}" if on_spark else "" for number in seen.work),
        f"{seen.task_seconds:,.1f}" if on_spark else "",
        f"{seen.shuffle_bytes / 1e6:,.1f}" if on_spark else "",
        f"{seen.shuffle_bytes / num_pages:,.0f}" if on_spark else "",
        f"{seen.memory_bytes / 1e6:,.0f}",
        f"{len(seen.answer):,}",
        *(f"{share:.2%}" for share in quality),
    )


def quality(what: str, seen: spark.Seen, made: _crawled.Crawl, known: truth.Truth) -> tuple[float, float]:
    """(recall, precision) of an answer."""
    if what == "crawl":
        judged = truth.judge(made.texts, known, [(made.numbers[a], made.numbers[b]) for a, b in seen.answer])
        return judged.recall, judged.precision
    right = seen.answer & {(f"http://h{host}.example/", f"http://{twin}/") for host, twin in _crawled.MIRRORS.items()}
    return len(right) / len(_crawled.MIRRORS), len(right) / len(seen.answer) if seen.answer else 1.0


def measure(given: argparse.Namespace, folder: Path) -> tuple[str, bool]:
    """The text, and whether the engines gave one answer."""
    print("making crawls", flush=True)
    made, small = (_crawled.of_size(folder, size) for size in (corpus.parse_size(given.size), SMALL_BYTES))
    known = truth.truth(made.texts, made.origins, Fraction(spark.THRESHOLD))
    partitions = max(spark.PARTITIONS, -(-made.markup_bytes // PARTITION_BYTES))
    rows, differ, num_pages, text_bytes = [], [], len(made.texts), sum(len(text.encode()) for text in made.texts)
    for name in given.tasks:
        asked = tasks()[name]
        where = asked.pop("where")
        bench = spark.Bench(folder, Path(getattr(small, where)), given.limit_minutes * 60, partitions, CONF)
        seen = {}
        for engine, settings in engines(text_bytes).items():
            print(f"{name}, {engine}", flush=True)
            seen[engine] = spark.Seen([bench.run(Path(getattr(made, where)), **asked, **settings, method=METHOD)])
            right = quality(asked["what"], seen[engine], made, known)
            rows.append(row(f"{name}, {engine}", seen[engine], seen[ONE], num_pages, right))
        differ += [name for each in seen.values() if each.answer != seen[ONE].answer]
    size = f"{made.markup_bytes / 1e6:,.0f} MB of markup, {text_bytes / 1e6:,.0f} MB of text"
    about = f"{num_pages:,} pages, {size}, in {_crawled.FILES} files."
    report.show(about, HEADER, rows)
    for name in differ:
        print(f"{name}: the two engines differ", file=sys.stderr)
    return f"{about}\n\n{report.markdown(HEADER, rows)}", not differ


def main(arguments: Sequence[str]) -> int:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench crawl", description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="1GB", help="bytes of markup (1GB)")
    parser.add_argument("--tasks", nargs="+", choices=tasks(), default=list(tasks()), help="what is done (all)")
    parser.add_argument("--limit-minutes", type=float, default=30, help="for one run; then it is ended")
    parser.add_argument("--folder", type=Path, help="where crawls are made and found again; default: a temporary one")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    with limit.working_folder(given.folder) as folder:
        text, same = measure(given, folder)
    few = "" if given.tasks == list(tasks()) else f" --tasks {' '.join(f'{name!r}' for name in given.tasks)}"
    made_by = report.made_by(f"crawl --size {given.size}{few}", (*spark.PACKAGES, "resiliparse", "fastwarc"))
    place, said = f"crawl {given.size}", f"{text}\n\n{made_by}{limit.others(load)}"
    print(said)
    if same and not given.no_write and report.has_place(PAGE, place):
        report.write_between(PAGE, place, said)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
