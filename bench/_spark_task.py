"""One measured run in a process of its own, told by JSON: nearsame on Spark or on one machine, or MLlib's MinHashLSH.

1. The session and the kernels are warm: each task is done on a small corpus first, if there is one, by the cluster as
   the large one is: not counted.
2. Bytes of shuffles and seconds of tasks are those of Spark's own status store, of the jobs of the measured run alone.
3. `few_rows` is what the engine holds for few enough to be sent to all workers.
4. MLlib is given the sets ready; nearsame the raw text, or as `ready` the same sets.
"""

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import nearsame as ns
from nearsame import schemas
from nearsame.engines.spark.verbs import Verbs
from nearsame.flow import pipeline
from nearsame.flow.kept import chosen_of
from nearsame.frames import corpus, layers, records

FILES = 8  # that the vectors lie in
PRIME = 2038074743  # MLlib's, which elements are taken modulo
Answer = tuple[list[tuple[Any, ...]], dict[str, Any]]  # pairs of documents, and what a run says of itself


def main(task: dict[str, Any]) -> None:
    """Do the task twice, on the small corpus and on the corpus, and print what was seen of the second."""
    work: dict[str, Callable[[Any, str, dict[str, Any]], Answer]] = {
        "dedup": dedup,
        "pairs": pairs,
        "mllib": mllib,
        "ready": ready,
        "counts": counts,
        "sets": sets,
        "crawl": crawl,
        "mirrors": mirrors,
    }
    for module in (corpus, layers, records):
        module.FEW_ROWS = task.get("few_rows", corpus.FEW_ROWS)
    session = start(task) if task["engine"] != "local" else None
    one = work[task["what"]]
    made = {"mllib": ready_vectors, "ready": ready_sets}.get(task["what"])
    for name in ("small", "file") if made else ():
        task[name] = made(session, task[name])
    if task["small"]:
        one(session, task["small"], {**task, "settings": {**task.get("settings", {}), "driver_bytes": 0}})
    before, jobs_before = stages(session), jobs(session)
    began = time.perf_counter()
    found, said = one(session, task["file"], task)
    seconds = time.perf_counter() - began
    seen = {number: each for number, each in stages(session).items() if number not in before}
    totals = {name: sum(each[name] for each in seen.values()) for name in ("shuffle_bytes", "task_seconds", "tasks")}
    number = {"jobs": len(jobs(session) - jobs_before), "stages": len(seen)}
    print(json.dumps({"seconds": seconds, "answer": found, "said": said, **number, **totals}))
    if session is not None:
        session.stop()


def start(task: dict[str, Any]) -> Any:
    """A session on loopback with as many threads as asked for."""
    from pyspark.sql import SparkSession  # noqa: PLC0415  (the local engine is measured without)

    os.environ["PYSPARK_PYTHON"] = sys.executable
    conf = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        **task["conf"],
    }
    return SparkSession.builder.master(task["engine"]).appName("nearsame bench").config(map=conf).getOrCreate()


def stages(session: Any) -> dict[tuple[int, int], dict[str, float]]:
    """Of each attempt of a stage that has run: bytes that it gave to a shuffle, its tasks and their seconds."""
    if session is None:
        return {}
    store = status_store(session)
    listed = store.stageList(None, False, False, getattr(store, "stageList$default$4")(), None)
    found = {}
    for place in range(listed.size()):
        stage = listed.apply(place)
        found[stage.stageId(), stage.attemptId()] = {
            "shuffle_bytes": stage.shuffleWriteBytes(),
            "task_seconds": stage.executorRunTime() / 1000,
            "tasks": stage.numCompleteTasks(),
        }
    return found


def jobs(session: Any) -> set[int]:
    """The numbers of all jobs that have run."""
    if session is None:
        return set()
    listed = status_store(session).jobsList(None)
    return {listed.apply(place).jobId() for place in range(listed.size())}


def status_store(session: Any) -> Any:
    """Spark's own, up to date."""
    context = session.sparkContext._jsc.sc()  # noqa: SLF001  (there is no public way to the status store)
    context.listenerBus().waitUntilEmpty(60_000)
    return context.statusStore()


def method(task: dict[str, Any]) -> Any:
    """The recipe of a task."""
    return {"jaccard": ns.Jaccard, "minhash": ns.MinHash}[task["method"]](threshold=task["threshold"])


def engine(session: Any, task: dict[str, Any]) -> dict[str, Any]:
    """What says where a run runs."""
    return {} if session is None else {"engine": ns.Spark(session, **task.get("settings", {}))}


def source(session: Any, file: str) -> Any:
    """The documents: on one machine the path, on Spark a table."""
    return file if session is None else session.read.parquet(file).select("id", "text")


def dedup(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """Removed documents with their witnesses, and what stays, written nowhere; ties go by content on both engines."""
    extra = {"threads": task["threads"], "ties": "content"} if session is None else {}
    found = ns.dedup(source(session, file), method=method(task), audit=False, **engine(session, task), **extra)
    table = _arrow(found.removals.select(["id", "witness_id"]) if session is None else found.removals)
    if session is not None:
        found.kept().write.format("noop").mode("overwrite").save()
    else:
        read_kept(found)
    return _numbers(table, "id", "witness_id"), found.stats.record()


def read_kept(found: ns.Result) -> None:
    """Read what stays, a row group at a time: `kept` would hold all of it, which is more than there is memory."""
    for chosen in chosen_of(found.run, found._removals.decided, stay=True):  # noqa: SLF001  (nothing public passes them on)
        deque(chosen.part.tables(chosen.others), maxlen=0)


def pairs(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """All pairs."""
    extra = {"threads": task["threads"]} if session is None else {}
    found = ns.pairs(source(session, file), method=method(task), audit=False, **engine(session, task), **extra)
    return _numbers(_arrow(found.pairs), "a_id", "b_id"), found.stats.record()


def crawl(session: Any, path: str, task: dict[str, Any]) -> Answer:
    """Removed pages of a folder with their witnesses, once the answer is written: from archives Spark writes lists."""
    extra = {"threads": task["threads"], "ties": "content"} if session is None else {}
    found = ns.dedup(path, method=method(task), audit=False, **task["asked"], **engine(session, task), **extra)
    found.write(f"{path}.out", overwrite=True)
    return _names(_arrow(found.removals), "id", "witness_id"), found.stats.record()


def mirrors(session: Any, path: str, task: dict[str, Any]) -> Answer:
    """Prefixes of URLs that are mirrors of each other, in their order: the engines read pages in another one."""
    extra = {"threads": task["threads"]} if session is None else {}
    found = ns.mirrors(path, method=method(task), **task["asked"], **engine(session, task), **extra)
    return [tuple(sorted(pair)) for pair in _names(found.table, "a", "b")], found.stats.record()


def ready(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """All pairs of sets that are ready, as MLlib has them."""
    frame = session.read.parquet(file)
    found = ns.pairs(frame, method=method(task), features_column="items", audit=False, **engine(session, task))
    return _numbers(_arrow(found.pairs), "a_id", "b_id"), found.stats.record()


def sets(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """All pairs of sets, with their similarities behind them."""
    extra, where = {"threads": 1}, file
    if session is not None:
        num = int(session.conf.get("spark.sql.shuffle.partitions"))
        extra, where = {}, session.read.parquet(file).repartition(num)
    given = {"method": method(task), "features_column": "items", "audit": False, **engine(session, task), **extra}
    found = ns.pairs(where, **given)
    table = _arrow(found.pairs)
    similarities = table.column("similarity").to_pylist()
    pairs = zip(_numbers(table, "a_id", "b_id"), similarities, strict=True)
    return [(min(pair), max(pair), similarity) for pair, similarity in pairs], found.stats.record()


def counts(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """What a count by a shuffle would take: which shingles stand in several documents, told to these documents."""
    from pyspark.sql import functions  # noqa: PLC0415  (as above)

    verbs = Verbs(ns.Spark(session), session)
    texts = source(session, file).select(functions.expr("cast(id as bigint)").alias("row"), "text")
    features = verbs.keep(verbs.map(texts, *pipeline.steps(method(task)).features))
    items = features.select("row", functions.explode("items").alias("item"))
    shared = items.groupBy("item").count().filter("count > 1").select("item")
    told = items.join(shared, "item", "left_semi").groupBy("row").agg(functions.collect_list("item").alias("items"))
    found = told.count()
    verbs.release()
    return [], {"documents": found}


def ready_sets(session: Any, file: str) -> str:
    """The shingle sets of a corpus, in files beside it: made once, not measured."""
    sets, target = f"{file}.sets", f"{file}.ready"
    if not os.path.exists(target):  # noqa: PTH110  (paths are JSON's)
        pq.write_table(shingle_sets(file), sets)
        session.read.parquet(sets).where("size(items) > 0").repartition(FILES).write.parquet(target)
    return target


def ready_vectors(session: Any, file: str) -> str:
    """The same as MLlib wants them, as vectors."""
    from pyspark.ml.linalg import SparseVector, VectorUDT  # noqa: PLC0415  (as above)
    from pyspark.sql import functions  # noqa: PLC0415  (likewise)

    target = f"{file}.vectors"
    if not os.path.exists(target):  # noqa: PTH110  (as above)
        sparse = functions.udf(lambda items: SparseVector(PRIME, items, [1.0] * len(items)), VectorUDT())
        frame = session.read.parquet(ready_sets(session, file)).select("id", sparse("items").alias("features"))
        frame.write.parquet(target)
    return target


def shingle_sets(file: str) -> pa.Table:
    """The ids, and the items of each document: exactly the sets that nearsame compares, modulo MLlib's prime."""
    table = pq.read_table(file, columns=["id", "text"])
    rows = pa.array(range(table.num_rows), pa.int64())
    texts = table.column("text").cast(pa.large_string()).combine_chunks()
    batch = pa.RecordBatch.from_arrays([rows, texts], schema=schemas.DOCUMENTS)
    for stage in pipeline.steps(ns.Jaccard()).features:
        batch = stage(batch)
    sets = [sorted({item % PRIME for item in items}) for items in batch.column("items").to_pylist()]
    return pa.table({"id": table.column("id"), "items": sets})


def mllib(session: Any, file: str, task: dict[str, Any]) -> Answer:
    """The pairs that approxSimilarityJoin finds, each once."""
    from pyspark.ml.feature import MinHashLSH  # noqa: PLC0415  (as above)
    from pyspark.sql import functions  # noqa: PLC0415  (likewise)

    frame = session.read.parquet(file)
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=task["tables"], seed=1).fit(frame)
    most = 1 - float(task["threshold"]) + 1e-9  # it wants less than so much
    joined = model.approxSimilarityJoin(frame, frame, most, distCol="distance")
    ids = joined.select(functions.col("datasetA.id").alias("a_id"), functions.col("datasetB.id").alias("b_id"))
    return _numbers(_arrow(ids.where("int(a_id) < int(b_id)")), "a_id", "b_id"), {}


def _arrow(frame: Any) -> pa.Table:
    return frame if isinstance(frame, pa.Table) else frame.toArrow()


def _numbers(table: pa.Table, first: str, second: str) -> list[tuple[Any, ...]]:
    columns = (table.column(name).to_pylist() for name in (first, second))
    return [(int(a), int(b)) for a, b in zip(*columns, strict=True)]


def _names(table: pa.Table, first: str, second: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in (first, second)), strict=True))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
