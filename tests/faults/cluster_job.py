"""A run on a cluster, in a process of its own: `cluster_job.py JSON`; the answer is written as a pickle.

1. A stage of the run may be replaced by one that fails, or dawdles, where it is tried for the first time.
2. A file says when so many stages are done and another one runs, so that somebody can do harm then.
"""

import itertools
import json
import os
import pickle
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

import nearsame as ns
from nearsame.flow import pipeline
from nearsame.recipes.methods import Method
from tests.frames import test_archive_layers as archives
from tests.frames import test_layers as layers
from tests.frames.test_labelled import ordered
from tests.frames.test_pages import crawl as pages
from tests.parity import corpora
from tests.parity.answers import deduplicated, listed, on_spark
from tests.web.test_mirrors import WEB

CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "700m",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # as in tests/sparks.py
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_EXECUTORS = 2
BEGUN = threading.Event()  # from then on stages count


@dataclass(frozen=True)
class Faulty:
    """A stage that on the first attempt at its task raises, or takes long; later attempts are the stage itself."""

    stage: Any
    fault: str

    @property
    def output(self) -> pa.Schema:
        """That of the stage."""
        return self.stage.output

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """One batch, with the fault before it."""
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0 and context.partitionId() == 1:
            if self.fault == "fail":
                raise RuntimeError("planted")
            time.sleep(60)
        return self.stage(batch)


def plant(fault: str) -> None:
    """Let the last stage that makes features be faulty."""
    make = pipeline.steps

    def faulty(method: Method, **settings: Any) -> Any:
        found = make(method, **settings)
        *first, last = found.features
        return found._replace(features=(*first, Faulty(last, fault)))

    pipeline.steps = faulty  # type: ignore[assignment]  # that is the fault


def dawdling(documents: Any, writing: Path) -> Any:
    """These documents, one part of which comes slowly for the first attempt once the file is there."""

    def slowly(text: str) -> str:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0 and context.partitionId() == 1 and writing.exists():
            writing.with_name("dawdled").touch()
            time.sleep(60)
            writing.with_name("woke up").touch()
        return text

    return documents.withColumn("text", udf(slowly, "string")("text"))


def watch(session: Any, num_stages: int, file: Path) -> None:
    """Touch a file when so many more stages are done, a task of another one runs, and both executors are known."""
    BEGUN.wait()
    before: int | None = None
    store = session.sparkContext._jsc.sc().statusStore()
    tracker, done = session.sparkContext.statusTracker(), set()
    while not file.exists():
        running = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        for job in range(200):
            found = tracker.getJobInfo(job)
            if found is None:
                break
            for stage in found.stageIds:
                about = tracker.getStageInfo(stage)
                if about is not None and about.numCompletedTasks == about.numTasks:
                    done.add(stage)
        before = len(done) if before is None else before
        known = store.executorList(True).size() > _EXECUTORS  # and the driver
        if known and len(done) - before >= num_stages and any(about and about.numActiveTasks for about in running):
            file.touch()
        time.sleep(0.02)


def harm(session: Any) -> dict[str, int]:
    """Executors that were lost, and tasks that failed or were killed."""
    store = session.sparkContext._jsc.sc().statusStore()
    executors = store.executorList(False)
    all_of_them = [executors.apply(number) for number in range(executors.size())]
    stages = store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None)
    listed = [stages.apply(number) for number in range(stages.size())]
    return {
        "lost": sum(not each.isActive() for each in all_of_them),
        "failed": sum(each.numFailedTasks() for each in listed),
        "killed": sum(each.numKilledTasks() for each in listed),
    }


def answered(asked: str, ask: Any, folder: Path) -> Any:
    """What is asked of either engine; files of its own lie in the folder."""
    if asked in _OTHERS:
        return _as_bag(_OTHERS[asked](ask, folder))
    settings = {**_SETTINGS, **_ASKED.get(asked, {"order_column": "number"})}
    return (listed if asked == "pairs" else deduplicated)(ask, _SOURCE, **settings)


_SOURCE = corpora.mixed(5, families=5, hot=8, links=8)
_SETTINGS: dict[str, Any] = {"method": ns.Jaccard(threshold=0.6, shingle_size=2)}
_ASKED: dict[str, dict[str, Any]] = {
    "pairs": {},
    "layers": {"use": "digest,text", "ties": "content"},
    "against": {"against": _SOURCE.slice(20, 15), "ties": "content"},
    "decisions": {
        "order_column": "number",
        "decisions": [
            {"id1": f"d{at}", "id2": f"d{at + step}", "label": "no" if at % 2 else "yes"}
            for at in range(0, 30, 3)
            for step in (1, 5)
        ],
    },
}


def of_archives(ask: Any, folder: Path) -> Any:
    """Layers of archives."""
    return archives.answer(_run(ask, archives.crawl(folder / "crawl", 1, 40), use=layers.EVERY, **_SETTINGS))


def of_pages(ask: Any, _: Path) -> Any:
    """Layers of pages in a column."""
    settings = {**_SETTINGS, "url_column": "where", "html_column": "html", "use": "url,canonical,digest,text"}
    return _told(_run(ask, pages(), **settings))


def of_a_work_directory(ask: Any, folder: Path) -> Any:
    """A run that keeps its steps."""
    return _told(_run(ask, in_files(_SOURCE, folder / "files"), workdir=str(folder / "work"), **_SETTINGS))


def written(ask: Any, folder: Path) -> Any:
    """What is written."""
    found = _run(ask, in_files(_SOURCE, folder / "files"), **_SETTINGS)
    BEGUN.set()
    (folder / "writing").touch()
    found.write(str(folder / "clean"))
    kept, removed = (pq.read_table(next((folder / "clean").glob(f"{name}*"))) for name in ("kept", "removed"))
    lines = kept.to_pylist(), removed.select(["id", "witness_id", "similarity"]).to_pylist()
    return lines, {"removed": found.stats.removed}


def remembered(ask: Any, folder: Path) -> Any:
    """Later documents beside features of earlier ones, where the engine keeps such."""
    found = _run(ask, _SOURCE.slice(0, 40), **_SETTINGS)
    if isinstance(found.removals, pa.Table):
        against = found.kept()
    else:
        against = str(folder / "before")
        found.write(against, features=True)
    BEGUN.set()
    documents, given = ask(_SOURCE.slice(40), ties="content", keep="longest", **_SETTINGS)
    return _told(ns.dedup(documents, **given, against=against))


def leaks(ask: Any, _: Path) -> Any:
    """Some of the texts, as items of a benchmark."""
    items = [{"id": str(at), "item": text} for at, text in enumerate(_SOURCE["text"].to_pylist()[::9])]
    documents, given = ask(_SOURCE)
    found = ns.leaks(documents, {"quiz": items}, **given)
    spans = [{**line, "source": None, "row": None} for line in found.spans.to_pylist()]
    return (found.items.to_pylist(), spans), {"leaked": found.stats.leaked}


def mirrored(ask: Any, _: Path) -> Any:
    """Mirrors, and where URLs lead."""
    crawl = ordered(WEB)
    documents, given = ask(crawl.append_column("number", pa.array(range(len(crawl)))))
    found = ns.mirrors(documents, **given)
    return (found.table.to_pylist(), found.map.to_pylist()), found.stats.record()


_OTHERS = {
    "archives": of_archives,
    "pages": of_pages,
    "work directory": of_a_work_directory,
    "written": written,
    "remembered": remembered,
    "leaks": leaks,
    "mirrors": mirrored,
}


def _told(found: Any) -> Any:
    return layers.answer(found, table=isinstance(found.removals, pa.Table))


def _run(ask: Any, source: Any, **settings: Any) -> Any:
    documents, given = ask(source, ties="content", keep="longest", **settings)
    return ns.dedup(documents, **given)


def in_files(table: pa.Table, folder: Path) -> Path:
    """A folder of four files that have the rows of a table."""
    folder.mkdir()
    size = -(-table.num_rows // 4)
    for number in range(4):
        pq.write_table(table.slice(size * number, size), folder / f"{number}.parquet")
    return folder


def _as_bag(answer: Any) -> Counter[str]:
    lines, counts = answer
    return Counter(repr(line) for line in [*itertools.chain(*lines), *counts.items()])


def main(task: dict[str, Any]) -> None:
    """Run, and write the answer with the harm that was done."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(task["master"]).appName("nearsame faults").config(map=CONF)
    session = builder.config(map=task.get("conf", {})).getOrCreate()
    if task.get("fault") in ("fail", "dawdle"):
        plant(task["fault"])
    folder = Path(task["folder"])
    if task["asked"] not in ("written", "remembered"):
        BEGUN.set()
    if "stages" in task:
        threading.Thread(target=watch, args=(session, task["stages"], folder / "reached"), daemon=True).start()
    table = {"broadcast_bytes": 128} if task["asked"] == "past the table" else {}
    engine = ns.Spark(session, driver_bytes=0, task_bytes=0, rounds=1, **table)  # some side by side, the rest in order

    def laid_out(source: Any) -> Any:
        if task.get("fault") == "dawdle while writing":
            return dawdling(session.read.parquet(str(source)), folder / "writing")
        return str(source) if isinstance(source, Path) else session.createDataFrame(source).repartition(4, "number")

    answer = answered(task["asked"], on_spark(engine, laid_out), folder)
    (folder / "answer.pickle").write_bytes(pickle.dumps((answer, harm(session))))
    session.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
