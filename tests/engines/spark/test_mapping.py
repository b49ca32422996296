"""What a map takes to its workers: small work with each task, a large table once for each process."""

import gc
import random
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearsame as ns
from nearsame import schemas
from nearsame.engines.spark import mapping
from nearsame.engines.spark.mapping import map_batches
from nearsame.engines.spark.settings import Spark
from nearsame.engines.spark.verbs import Verbs

pytestmark = [  # pyspark leaves the sockets of what it fetched to the garbage collector
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LOADED: list[int] = []  # one for each time that this process unpickled a table


class Table:
    """Work that tells how often it came to its process, and the sum of its numbers."""

    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        LOADED.append(1)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row for a partition."""
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"loaded": [len(LOADED)], "sum": [int(self.numbers.sum())]})


def test_a_process_holds_a_large_table_once(spark):
    """However many tasks it has."""
    numbers = np.arange(1 << 17)
    told = map_batches(spark.range(0, 60, 1, 6), Table(numbers), "loaded bigint, sum bigint").collect()
    assert [(1, int(numbers.sum()))] * 6 == [tuple(row) for row in told]


@pytest.mark.parametrize("size", [10, 1 << 17])
def test_work_that_has_no_name_goes_too(spark, size):
    """A function within a function, with a small table or a large one."""
    numbers = np.arange(size)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array(batch.column(0).to_numpy() + numbers[-1])], names=["id"])

    told = map_batches(spark.range(0, 4, 1, 2), work, "id bigint").collect()
    assert [size - 1 + at for at in range(4)] == sorted(row["id"] for row in told)


@dataclass(frozen=True)
class Behind:
    """A stage that writes a word behind each text."""

    word: str
    output = schemas.DOCUMENTS

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The texts with the word."""
        texts = [None if text is None else text + self.word for text in batch.column("text").to_pylist()]
        return pa.RecordBatch.from_arrays([batch.column("row"), pa.array(texts, pa.large_string())], ["row", "text"])


def documents(spark: Any, texts: list[bytes | None]) -> Any:
    """Documents of some bytes, which Spark takes for texts, the third of which is bad already."""
    rows = [(row, None if text is None else bytearray(text)) for row, text in enumerate(texts)]
    frame = spark.createDataFrame(rows, "row bigint, bytes binary").repartition(3)
    return frame.selectExpr(
        "row", "cast(bytes as string) as text", "if(row = 2, true, null) as bad", "concat('id', row) as id"
    )


@pytest.mark.parametrize("keeps", [False, True])
def test_stages_behind_stages_do_not_go_back_to_java(spark, keeps):
    """They are one map; what is kept between them is not made again."""
    verbs = Verbs(Spark(spark), spark, carried=("id", "bad"))
    first = verbs.map(documents(spark, [b"a", None, b"c", b"d"]), Behind("1"))
    first = verbs.keep(first) if keeps else first
    second = verbs.map(first, Behind("2"), Behind("3"))
    assert [(0, "a123", "id0"), (1, None, "id1"), (2, "c123", "id2"), (3, "d123", "id3")] == sorted(
        tuple(row) for row in second.select("row", "text", "id").collect()
    )
    assert second._jdf.queryExecution().optimizedPlan().toString().count("MapInArrow") == 1
    assert first.count() == 4
    verbs.release()


def test_what_is_carried_otherwise_is_mapped_apart(spark):
    """Two maps that carry different columns are not made one."""
    verbs = Verbs(Spark(spark), spark, carried=("id",))
    first = verbs.map(documents(spark, [b"a"]), Behind("1"))
    verbs.carried = ()
    second = verbs.map(first, Behind("2"))
    assert [(0, "a12")] == [tuple(row) for row in second.collect()]
    assert second._jdf.queryExecution().optimizedPlan().toString().count("MapInArrow") == 2


def test_texts_that_are_not_utf8_are_told_as_python_tells_them(spark):
    """Stages see nothing of them, and `bad` says which they are."""
    draw = random.Random(7)
    pieces = [b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80", b"\xef\xbf\xbd", b"\x00"]
    pieces += [b"\x80", b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\xaf"]
    texts = [None, b"", b"bad", *(b"".join(draw.choices(pieces, k=draw.randrange(1, 5))) for _ in range(400))]
    verbs = Verbs(Spark(spark), spark, carried=("id", "bad"))
    told = sorted(verbs.map(documents(spark, texts), Behind("!")).select("row", "text", "bad").collect())
    expected = []
    for row, text in enumerate(texts):
        try:
            expected.append((row, None if text is None else text.decode() + "!", row == 2))
        except UnicodeDecodeError:
            expected.append((row, None, True))
    assert expected == [tuple(row) for row in told]
    assert {0, 1} == {int(bad) for _, _, bad in expected[3:]}


def test_texts_of_nobody_who_asks_are_left_as_they_are(spark):
    """Without `bad` beside them nothing is looked at."""
    verbs = Verbs(Spark(spark), spark)
    told = verbs.map(documents(spark, [b"plain"]).drop("bad"), Behind("!"))
    assert [(0, "plain!")] == [tuple(row) for row in told.select("row", "text").collect()]


@dataclass(frozen=True)
class AsHex(Behind):
    """A stage that reads texts as bytes, as pages are."""

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Their bytes, in hexadecimal digits."""
        texts = [text and text.hex() for text in batch.column("text").cast(pa.large_binary()).to_pylist()]
        return pa.RecordBatch.from_arrays([batch.column("row"), pa.array(texts, pa.large_string())], ["row", "text"])


def test_bytes_of_which_it_is_known_are_left_as_they_are(spark):
    """Where `bad` is known nobody looks, though others of the batch are asked: pages come as bytes."""
    verbs = Verbs(Spark(spark), spark, carried=("id", "bad"))
    frame = documents(spark, [b"\xff\xfe", b"\xc3\xa9", b"\xff", b"\xff", b"a"]).coalesce(1)
    known = "case when row = 0 then false when row = 2 then true end as bad"
    told = verbs.map(frame.drop("bad").selectExpr("*", known), AsHex("")).select("row", "text", "bad").collect()
    expected = [(0, "fffe", False), (1, "c3a9", False), (2, "ff", True), (3, None, True), (4, "61", False)]
    assert expected == sorted(tuple(row) for row in told)


@pytest.mark.parametrize("keeps", [False, True])
def test_stages_of_a_map_are_let_go_of(spark, keeps):
    """They may hold tables of hundreds of megabytes."""
    verbs, stage = Verbs(Spark(spark), spark, carried=("id",)), Behind("1")
    gone = weakref.ref(stage)
    made = verbs.map(documents(spark, [b"a"]), stage)
    kept = verbs.keep(made) if keeps else None
    del stage, made
    gc.collect()
    assert gone() is None
    assert kept is None or kept.count() == 1
    verbs.release()


def test_workers_of_another_version_are_an_error(spark, monkeypatch):
    """They would make other features, and nobody would see it."""
    monkeypatch.setattr(mapping, "__version__", "0.0.7")
    with pytest.raises(
        ns.EngineError, match=rf"workers have nearsame {ns.__version__} \(.*\), and the driver 0\.0\.7"
    ) as caught:
        ns.dedup(["a rose", "a rose"], engine=ns.Spark(spark, driver_bytes=0))
    assert "PYSPARK_PYTHON" in caught.value.hint
