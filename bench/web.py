"""Web archives: records from WARC to features, against a plain loop of FastWARC and resiliparse alone, in one run.

1. Each is a process of its own, timed from its first record to its last; what is imported and compiled comes before.
   The archive is made on the fly, a gzip member a record: of real pages if NEARSAME_DATA has them, else of made ones.
2. The loop reads each response and takes its main content out; ours also decodes, bounds and counts, and makes the sets
   of 5-word shingles. On one core both are pinned to the same one.
3. Beside each time stands how many texts differ from the loop's: those of pages that say more than their main content,
   or whose readers' words are marked in ways that the loop does not know (docs/quality.md). One core and two must give
   the same texts, or the run fails; that main content is the library's is a test (tests/stages/texts).
"""

import argparse
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _crawled
import processes
import pyarrow as pa
import report
from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree

from nearsame.engines.local import Local
from nearsame.flow import steps
from nearsame.recipes.methods import Jaccard
from nearsame.sources import Columns, open_parts
from nearsame.sources.reading import Reading
from nearsame.stages.texts.page_text import PageTexts

PACKAGES = ("nearsame", "fastwarc", "resiliparse", "pyarrow")
PAGE = report.ROOT / "docs" / "performance.md"
RUNS = (("the loop alone", "loop", 1), ("nearsame, one core", "ours", 1), ("nearsame, two cores", "ours", 2))
HEADER = ("", "seconds", "ratio", "records/s", "MB/s", "own CPU s", "other texts")


def pages() -> Iterator[bytes]:
    """Markup, for ever: real pages, or generated ones."""
    root = Path(os.environ.get("NEARSAME_DATA") or report.ROOT.parent / "shared" / "data")
    file = root / "web" / "testpages-html.docs.jsonl.zst"
    if file.exists():
        with pa.CompressedInputStream(pa.OSFile(str(file)), "zstd") as stream:
            found = [json.loads(line)["html"].encode("utf-8", "replace") for line in stream.read().splitlines()]
    else:
        found = [generated(number) for number in range(500)]
    while True:
        yield from found


def generated(number: int) -> bytes:
    """A page of some 60 KB, of which a tenth is its text."""
    links = "".join(f"<li class='menu-item'><a href='/{number}/{n}'>Section {n}</a></li>" for n in range(400))
    words = "".join(
        f"<p>{' '.join(f'word{(number * 31 + n * k) % 9973}' for n in range(90))}.</p>" for k in range(1, 9)
    )
    script = f"<script>{'var x = [1, 2, 3];' * 500}</script>"
    head = f"<head><title>{number}</title>{script}</head>"
    return f"<html>{head}<body><nav><ul>{links}</ul></nav><article>{words}</article></body></html>".encode()


def make(path: Path, size: int) -> tuple[int, int]:
    """Write an archive of so many bytes of markup; (records, bytes)."""
    count = written = 0
    found = pages()
    with path.open("wb") as out:
        while written < size:
            body = next(found)
            out.write(_crawled.record(count, f"http://a.example/{count}", body, level=5))
            count, written = count + 1, written + len(body)
    return count, written


def loop(path: str, _: int) -> tuple[float, float, list[str]]:
    """FastWARC and resiliparse alone; where there is no main content, all visible text, as ours."""
    texts = []
    began, busy = time.perf_counter(), time.process_time()
    for record in ArchiveIterator(path, record_types=WarcRecordType.response, parse_http=True):
        body = record.reader.read()
        tree = HTMLTree.parse_from_bytes(body, record.http_charset or detect_encoding(body))
        text = extract_plain_text(tree, main_content=True, comments=False)
        texts.append(_digest(text if text.strip() else extract_plain_text(tree)))
    return time.perf_counter() - began, time.process_time() - busy, texts


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def ours(path: str, threads: int) -> tuple[float, float, list[str]]:
    """The first step of a run: reading, texts, sets of shingles; then once more, without a clock, the texts."""
    stages = (PageTexts(), *steps.steps(Jaccard()).features)
    kinds = (pa.int64(), pa.large_binary(), pa.string(), pa.string())
    values = ([0], [b"<p>compiled"], ["utf-8"], ["text/html"])
    made = [pa.array(value, kind) for value, kind in zip(values, kinds, strict=True)]
    warm = pa.RecordBatch.from_arrays(made, ["row", "body", "charset", "mime"])
    for stage in stages:
        warm = stage(warm)
    engine, columns = Local(threads), Columns()
    began, busy = time.perf_counter(), time.process_time()
    flow = engine.load(Reading(open_parts([path], columns=columns), columns))
    for stage in stages:
        flow = engine.map(flow, stage)
    engine.keep(flow, "features")
    seconds, cpu = time.perf_counter() - began, time.process_time() - busy
    texts = []
    for batch in Reading(open_parts([path], columns=columns), columns):
        texts += map(_digest, stages[0](batch).column("text").to_pylist())
    return seconds, cpu, texts


def measure(path: Path, what: str, threads: int) -> dict[str, Any]:
    """One of them in a process of its own, on its cores."""
    cores = sorted(os.sched_getaffinity(0))[:threads]
    call = [sys.executable, __file__, "--measure", what, "--threads", str(threads), str(path)]
    run = processes.run(["taskset", "-c", ",".join(map(str, cores)), *call], {})
    return dict(json.loads(run.output.splitlines()[-1]))


def compared(path: Path, size: int, repeats: int) -> tuple[list[tuple[str, ...]], bool, str]:
    """The table, whether the texts agree, and what was read."""
    count, num_bytes = make(path, size)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name, _, _ in RUNS}
    for _ in range(repeats):
        for name, what, threads in RUNS:
            found[name].append(measure(path, what, threads))
    seconds = {name: statistics.median(run["seconds"] for run in runs) for name, runs in found.items()}
    limit, right = seconds[RUNS[0][0]], found[RUNS[0][0]][0]["texts"]
    other = {name: sum(a != b for a, b in zip(right, runs[0]["texts"], strict=True)) for name, runs in found.items()}
    rows = [
        (
            name,
            f"{seconds[name]:.2f}",
            f"{seconds[name] / limit:.2f}",
            f"{count / seconds[name]:,.0f}",
            f"{num_bytes / 1e6 / seconds[name]:.0f}",
            f"{statistics.median(run['cpu'] for run in runs):.2f}",
            f"{other[name]:,}",
        )
        for name, runs in found.items()
    ]
    same = len({tuple(run["texts"]) for name, what, _ in RUNS if what == "ours" for run in found[name]}) == 1
    about = f"{count:,} records, {num_bytes / 1e6:,.0f} MB of markup; medians of {repeats} rounds."
    return rows, same, about


def main(arguments: list[str]) -> int:
    """Measure as the command line says, print, and write the page if it has a place."""
    parser = argparse.ArgumentParser(prog="scripts/bench web", description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2000, help="MB of markup")
    parser.add_argument("--repeats", type=int, default=3, help="rounds")
    parser.add_argument("--no-write", action="store_true", help="only print")
    parser.add_argument("--measure", choices=("loop", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("path", nargs="?", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.measure:
        names = ("seconds", "cpu", "texts")
        measured = {"loop": loop, "ours": ours}[given.measure](given.path, given.threads)
        print(json.dumps(dict(zip(names, measured, strict=True))))
        return 0
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as home:
        rows, same, about = compared(Path(home) / "pages.warc.gz", given.size * 1_000_000, given.repeats)
    made_by = report.made_by(f"web --size {given.size}", PACKAGES)
    report.show(about, HEADER, rows)
    print(made_by)
    if not given.no_write and report.has_place(PAGE, "web"):
        report.write_between(PAGE, "web", f"{about}\n\n{report.markdown(HEADER, rows)}\n\n{made_by}")
    if not same:
        print("the texts differ", file=sys.stderr)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
