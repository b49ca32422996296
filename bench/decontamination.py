"""Items put into documents in several ways: which of them leaks finds, and which datatrove's decontamination.

1. Items and ways are those of the suite of injections (tests/studies/leak_cases.py): each item in a document of its
   own. Beside them are documents of the made corpus, which hold none.
2. What counts is the document, since datatrove does not say which item it has found: a document with an item is found
   or not, and one without is a phantom if it is.
3. Time is that of the thread which looks through the documents without an item, in memory.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import corpus
import environments
import processes
import pyarrow as pa
import pyarrow.parquet as pq
import report

from nearsame.recipes.leaks import LeakRule
from nearsame.stages.features.leaks import LeakStage
from nearsame.stages.features.sought import SoughtTexts

sys.path.append(str(report.ROOT))
from tests.studies.leak_cases import WAYS, Item, documents, items

PAGE = report.ROOT / "docs" / "leaks.md"
HEADER = ("an item in a document", "documents", "leaks", "datatrove", "with queries")
PACKAGES = ("nearsame", "pyarrow", "numba", "numpy")
ADAPTER = report.ROOT / "bench" / "adapters" / "leaks_with_datatrove.py"
LONG = "inside 100 kB"  # fewer of these
REPEATS = 3
BUSY = 1.5


class Answer(NamedTuple):
    """Which documents were found, and what that took."""

    rows: frozenset[int]
    seconds: float


def ours(made: Sequence[Item], texts: list[str], timed: int) -> Answer:
    """What the stage of leaks finds with settings by default."""
    pieces = [text for item in made for _, text in item.texts]
    stage = LeakStage(SoughtTexts.made(pieces, [0] * len(pieces), LeakRule()))
    rows = pa.array(range(len(texts)), pa.int64())
    batch = pa.RecordBatch.from_arrays([rows, pa.array(texts, pa.large_string())], ["row", "text"])
    found = [stage(batch.slice(at, 1_000)) for at in range(timed, len(batch), 1_000)]
    seconds = []
    for _ in range(REPEATS):
        began = time.thread_time()
        found.append(stage(batch.slice(0, timed)))
        seconds.append(time.thread_time() - began)
    leaked = frozenset(row for some in found for row in some.column("row").to_pylist())
    return Answer(leaked, statistics.median(seconds))


def theirs(made: Sequence[Item], texts: list[str], timed: int, python: Path, queries: str) -> Answer:
    """What datatrove's filter drops, with the query of each item beside its label or as what is sought, too."""
    with tempfile.TemporaryDirectory(prefix="nearsame-bench-") as name:
        home = Path(name)
        listed = [{"label": item.answer, "query": item.written().removesuffix(item.answer)} for item in made]
        pq.write_table(pa.Table.from_pylist(listed), home / "evals.parquet")
        pq.write_table(pa.table({"text": pa.array(texts, pa.large_string())}), home / "documents.parquet")
        (home / "index").mkdir()
        places = [str(home / each) for each in ("evals.parquet", "documents.parquet", "index", "answer.json")]
        processes.run([str(python), str(ADAPTER), *places, queries, str(timed)], environments.variables(home), 3_600)
        answer = json.loads((home / "answer.json").read_text("utf-8"))
        return Answer(frozenset(answer["dropped"]), answer["seconds"])


def measure(number: int, strangers: list[str], python: Path) -> list[tuple[str, ...]]:
    """A line for each way, and one for documents without an item and one for the speed."""
    made = items(number, seed=1)
    texts, ends = list(strangers), [len(strangers)]
    for way in WAYS:
        texts += documents(made[: number // 20] if way == LONG else made, way)
        ends.append(len(texts))
    timed = len(strangers)
    answers = [ours(made, texts, timed)]
    answers += [theirs(made, texts, timed, python, queries) for queries in ("labels", "queries")]
    lines = []
    for way, start, end in zip(["none", *WAYS], [0, *ends], ends, strict=False):
        counts = [sum(start <= row < end for row in answer.rows) for answer in answers]
        told = [f"{count:,}" if way == "none" else f"{count / (end - start):.1%}" for count in counts]
        lines.append((way, f"{end - start:,}", *told))
    megabytes = sum(len(text.encode()) for text in strangers) / 1e6
    speeds = (f"{megabytes / answer.seconds:,.1f}" for answer in answers)
    return [*lines[1:], ("found, of those without an item", *lines[0][1:]), ("MB/s a core", "", *speeds)]


def main(arguments: list[str]) -> None:
    """Measure as the command line says, print, and write the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench decontamination", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=2_000, help="put into documents in each way (2,000)")
    parser.add_argument("--size", type=corpus.parse_size, default="10MB", help="of documents without an item (10MB)")
    parser.add_argument("--python", type=Path, help="of an environment with datatrove; default: one of its own")
    parser.add_argument("--no-write", action="store_true", help="only print")
    given = parser.parse_args(arguments)
    python = given.python or environments.python("datatrove", environments.HOME)
    load = os.getloadavg()[0]
    strangers = [text for batch in corpus.documents(given.size) for text in batch.column("text").to_pylist()]
    rows = measure(given.items, strangers, python)
    report.show("Decontamination", HEADER, rows)
    made_by = report.made_by("decontamination", PACKAGES)
    peer = " ".join(environments.requirements()["datatrove"][0].split("=="))
    busy = "" if load < BUSY else f"The machine was busy with other work (load {load:.1f} at the start). "
    if not given.no_write:
        text = f"{report.markdown(HEADER, rows)}\n\n{busy}{made_by} Beside it: {peer}."
        report.write_between(PAGE, "decontamination", text)


if __name__ == "__main__":
    main(sys.argv[1:])
