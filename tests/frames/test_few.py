"""Few documents on Spark: one machine does the work, and nobody can tell from the answer."""

import datetime as dt
from contextlib import contextmanager, nullcontext
from functools import reduce
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark.util
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.serializers import NoOpSerializer

import nearsame as ns
from nearsame.engines.spark import fetching, settings
from nearsame.engines.spark.plans import is_tried_cheaply
from nearsame.frames import few
from tests.parity.answers import deduplicated, difference, listed
from tests.sparks import jobs_since, newest_job

pytestmark = pytest.mark.few

_START = "the council met on monday to talk about the new bridge and its cost over many years to come"
_TEXTS = [
    _START, _START, f"{_START} again", f"{_START} again", f"again {_START}", "", None, "a b c", "a  b c!", "A b c",
    "\N{GREEK SMALL LETTER ALPHA} b c", _START,
]  # fmt: skip


def _documents():
    size = len(_TEXTS)
    return pa.table({
        "id": ["a", "a", None, "d", "e", "f", "g", None, "i", "j", "k", "a"],
        "number": [0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0],
        "text": _TEXTS,
        "quality": [1.0, 1.0, float("nan"), 3.0, None, 0.0, 0.0, 2.0, 2.0, 1.0, 1.0, 1.0],
        "on": ["2024-01-02", "2024-01-02", "soon", "2023-05-06", *[None] * (size - 5), "2024-01-02"],
        "lang": ["en", "en", "en", "fi", "fi", None, None, "en", "fi", "fi", "en", "en"],
        "at": [dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * size,
    })  # fmt: skip


def _asked(engine, frame):
    def ask(source, **settings):
        if settings.get("against") is not None:
            settings["against"] = frame(settings["against"])
        return frame(source), {**settings, "engine": engine}

    return ask


@pytest.fixture
def engines(spark):
    """(few on the driver, few on the cluster)."""

    def frame(table):
        return spark.createDataFrame(table)

    return _asked(ns.Spark(spark), frame), _asked(ns.Spark(spark, driver_bytes=0), frame)


@pytest.mark.parametrize(
    "settings",
    [
        {"keep": "max:quality, newest:on, longest", "higher": "0.95"},
        pytest.param({"method": ns.MinHash(verify="estimate"), "group_by": "lang"}, marks=pytest.mark.long),
    ],
    ids=["keep", "groups"],
)
def test_what_goes_is_what_the_cluster_removes(engines, settings):
    """With repeated rows and ids, rows without an id, a text or a date, and all columns given back."""
    here, cluster = (deduplicated(ask, _documents(), **settings) for ask in engines)
    assert {} == difference(here, cluster)


@pytest.mark.parametrize("ids", [["x"] * 12, [None] * 12, [*"xy"] * 6], ids=["one", "none", "two"])
def test_rows_that_differ_beside_id_and_text_stay_as_on_the_cluster(spark, ids):
    """By what they are called, whatever tasks they come from: nothing else decides."""
    table = pa.table({"id": pa.array(ids, pa.string()), "text": [_START, "others"] * 6, "extra": range(12)})
    stay = {
        frozenset(row.extra for row in ns.dedup(frame, engine=engine).kept().collect())
        for frame in (
            spark.createDataFrame(rows).repartition(at + 1)
            for at, rows in enumerate((table, table.take([*range(11, -1, -1)])))
        )
        for engine in (ns.Spark(spark), ns.Spark(spark, driver_bytes=0))
    }
    assert 1 == len(stay)
    assert 2 == len(*stay)


@pytest.mark.parametrize(
    "settings",
    [
        {"against": _documents().slice(3), "method": ns.ModP(modulus=2, floor=1)},
        pytest.param({"identical": "star"}, marks=pytest.mark.long),
    ],
    ids=["two sides", "stars"],
)
def test_pairs_are_those_of_the_cluster(engines, settings):
    """Of two sides, and as stars."""
    here, cluster = (listed(ask, _documents(), ties=None, **settings) for ask in engines)
    assert {} == difference(here, cluster)


def test_statistics_and_what_is_written_are_those_of_the_cluster(spark, tmp_path):
    """Counts, a folder with its statistics, and no more jobs than these three steps need."""
    frame = spark.createDataFrame(_documents())
    few, many = (ns.dedup(frame, engine=ns.Spark(spark, driver_bytes=size)) for size in ("64MB", 0))
    assert "driver" == few.stats.room["documents"]
    one, other = few.stats.record(), many.stats.record()
    for name in (
        "documents",
        "empty",
        "bare",
        "distinct",
        "removed",
        "kept",
        "exact_copies",
        "near_copies",
        "clusters",
    ):
        assert one[name] == other[name], name
    assert one["recipe"] == other["recipe"]
    assert one["repeated_ids"] == other["repeated_ids"]
    assert set(few.write(tmp_path / "clean").record()) == set(one)
    assert few.stats.kept == spark.read.parquet(str(tmp_path / "clean" / "kept")).count()
    assert few.stats.removed == spark.read.parquet(str(tmp_path / "clean" / "removed")).count()


def test_few_documents_take_three_jobs(spark):
    """Of which the plan knows how large they are: one sum, one collection; the rest is no job of Spark's."""
    frame = spark.createDataFrame(_documents())
    before = newest_job(spark)
    assert ns.dedup(frame, method=ns.MinHash(), engine=ns.Spark(spark)).stats.removed
    assert 1 <= len(jobs_since(spark, before)) <= 3


@pytest.mark.parametrize("spread", [None, 40])
def test_few_rows_of_python_take_few_jobs_too(spark, spread):
    """Spark does not know how large a list was: its rows are looked at, wherever they are sent."""
    rows = [(str(number), f"{_START} {number // 2}") for number in range(300)]
    frame = spark.createDataFrame(rows, "id string, text string").filter("text is not null")
    frame = frame if spread is None else frame.repartition(spread)
    before = newest_job(spark)
    found = ns.dedup(frame, against=_documents(), engine=ns.Spark(spark))
    assert ("driver", 300) == (found.stats.room["documents"], found.stats.documents - len(_documents()))
    assert 1 <= len(jobs_since(spark, before)) <= 6


def test_what_would_be_computed_to_be_looked_at_is_the_clusters(spark, monkeypatch):
    """A join of rows of unknown size, more rows than are looked at, and rows that are shuffled from elsewhere."""
    frame = spark.createDataFrame(
        [(str(number), f"{_START} {number}") for number in range(30)], "id string, text string"
    )
    other = frame.selectExpr("id", "text as more")
    rows = spark.sparkContext.textFile(__file__).map(lambda line: (line,)).toDF("text string").repartition(3)
    for many in (frame.join(other, "id"), rows):
        assert not is_tried_cheaply(many)
    assert is_tried_cheaply(frame.union(frame).repartition(2))
    monkeypatch.setattr(few, "_TRIED", 20)
    assert "driver" != ns.dedup(frame, engine=ns.Spark(spark)).stats.room.get("documents")
    monkeypatch.setattr(few, "_TRIED", 30)
    assert "driver" == ns.dedup(frame, engine=ns.Spark(spark)).stats.room["documents"]
    found = ns.dedup(frame, engine=ns.Spark(spark, driver_bytes=1000))
    assert "driver" != found.stats.room.get("documents")


def test_texts_that_cannot_be_read_are_told_and_stay(spark):
    """And with strict they are an error, as on the cluster."""
    frame = spark.createDataFrame(_documents())
    found = ns.dedup(frame, max_record=50, engine=ns.Spark(spark))
    assert any("6 texts are not UTF-8, or of more than 50 bytes" in note for note in found.stats.notes)
    with pytest.raises(ns.SourceError, match="6 texts are not UTF-8"):
        ns.dedup(frame, max_record=50, strict=True, engine=ns.Spark(spark))


@pytest.mark.parametrize("driver_bytes", [None, pytest.param(0, marks=pytest.mark.slow)])
def test_answers_show_themselves_in_notebooks(spark, driver_bytes):
    """As one machine's do, with the same numbers; whichever way they were found."""
    engine = ns.Spark(spark, **({} if driver_bytes is None else {"driver_bytes": driver_bytes}))
    texts = [_START, f"{_START} again", _START, "x"]
    rows = [{"id": name, "text": text} for name, text in zip("abcd", texts, strict=True)]
    here, there = ns.dedup(rows, audit=False), ns.dedup(rows, engine=engine, audit=False)
    for shown in (here._repr_html_(), there._repr_html_()):
        assert '<div class="nearsame">' in shown
        assert all(f"{number}</" in shown for number in (here.stats.documents, here.stats.kept, here.stats.removed))
    pairs = ns.pairs(rows, engine=engine, audit=False)
    assert f"<dt>pairs</dt><dd>{pairs.num_pairs}</dd>" in pairs._repr_html_()


@pytest.mark.parametrize("kind", ["double", "float"])
def test_no_number_and_no_value_are_two_groups_that_are_an_order_as_well(spark, kind):
    """To an order they are one thing, which has no place."""
    values = ("null", "'NaN'", "1.5", "1.5", "'NaN'", "-0.0", "0.0")
    text = "'one and the same text of some words that is long enough'"
    rows = [
        spark.range(1).selectExpr(f"'{at}' id", f"{text} text", f"cast({value} as {kind}) n")
        for at, value in enumerate(values)
    ]
    frame = reduce(lambda one, other: one.union(other), rows)
    for driver_bytes in (0, "128MB"):
        engine = ns.Spark(spark, driver_bytes=driver_bytes)
        found = ns.dedup(frame, group_by="n", keep="max:n", audit=False, engine=engine)
        assert found.stats.removed == 3
        assert {None} < {row.n for row in found.kept().collect()}
        found.release()


def _crawl(folder, count=400):
    """Files of documents of about a kilobyte, of which every fourth is a copy and some have nothing; and a table."""
    texts = [f"{_START} {number % 300} " * 10 if number % 50 else None for number in range(count)]
    table = pa.table({
        "id": [f"d{number}" for number in range(count)],
        "text": texts,
        "on": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)] * count, pa.timestamp("us", "UTC")),
        "lang": ["en", "fi"] * (count // 2),
    })  # fmt: skip
    (folder / "crawl").mkdir()
    for number in range(5):
        pq.write_table(table.slice(number * count // 5, count // 5), folder / f"crawl/{number}.parquet")
    return str(folder / "crawl"), table


def _room(found):
    return found.stats.room.get("documents", "cluster")


@pytest.mark.parametrize("at_once", [1e9, 100_000, 20_000], ids=["one job", "some jobs", "a file is too large"])
@pytest.mark.parametrize("two_sides", [False, True])
def test_more_than_one_job_brings_come_in_some(spark, tmp_path, monkeypatch, at_once, two_sides):
    """As many partitions in a job as its bound allows; where it allows not even one, the cluster does the work."""
    source, table = _crawl(tmp_path)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    monkeypatch.setattr(fetching, "at_once", lambda _: at_once)
    asked = {"keep": ("oldest:on", "first"), "group_by": "lang", "audit": False}
    others = {"against": table.slice(0, 20)} if two_sides else {}
    before = newest_job(spark)
    found = ns.dedup(source, engine=ns.Spark(spark), **asked, **others)
    number = len(jobs_since(spark, before))
    here = ns.dedup(table, ties="content", **asked, **others)
    removed = found.removals.toArrow().sort_by("id")
    assert here.removals.sort_by("id").select(["id", "witness_id"]).equals(removed.select(["id", "witness_id"]))
    assert removed.num_rows == here.stats.removed > 50
    assert here.kept().num_rows == found.kept().count()
    assert ("cluster" if at_once == 20_000 else "driver") == _room(found)
    if at_once > 20_000 and not two_sides:
        assert (number <= 5) == (at_once == 1e9)  # else one for each of five files, besides those of all
    found.release()


@pytest.mark.parametrize("told", [{"maxRecordsPerBatch": "7"}, {"useLargeVarTypes": "true"}])
def test_what_comes_is_laid_out_as_the_session_has_it(spark, tmp_path, monkeypatch, setting, told):
    """Rows in a message, and how long texts may be."""
    source, table = _crawl(tmp_path, 100)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    for name, value in told.items():
        setting(f"spark.sql.execution.arrow.{name}", value)
    found = ns.dedup(source, engine=ns.Spark(spark), audit=False)
    assert ("driver", ns.dedup(table, audit=False).stats.removed) == (_room(found), found.stats.removed)


def _messages_by(monkeypatch, change, *, managed):
    """Let rows come by changed messages, in a context or not, as versions of pyspark have it."""
    load = pyspark.util._load_from_socket

    @contextmanager
    def context(served, how):
        found = load(served, how)
        with found if hasattr(found, "__enter__") else nullcontext(found) as messages:
            yield change(list(messages))

    def plain(served, how):
        with context(served, how) as messages:
            yield from messages

    def loaded(served, how):
        if not isinstance(how, NoOpSerializer):  # what pyspark itself asks for
            return load(served, how)
        return (context if managed else plain)(served, how)

    monkeypatch.setattr(pyspark.util, "_load_from_socket", loaded)


@pytest.mark.parametrize("managed", [False, True])
def test_rows_come_by_the_way_of_either_version_of_pyspark(managed, spark, tmp_path, monkeypatch):
    """4.0 gives messages one after the other, 4.3 a context that does."""
    source, table = _crawl(tmp_path, 100)
    _messages_by(monkeypatch, list, managed=managed)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    found = ns.dedup(source, engine=ns.Spark(spark), audit=False)
    assert ("driver", ns.dedup(table, audit=False).stats.removed) == (_room(found), found.stats.removed)


def test_what_is_shuffled_comes_in_one_job_or_not_at_all(spark, tmp_path, monkeypatch):
    """Nobody knows beforehand how large its partitions will be."""
    source, _ = _crawl(tmp_path)
    frame = spark.read.parquet(source).repartition(3)
    assert "driver" == _room(ns.dedup(frame, engine=ns.Spark(spark), audit=False))
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    assert "cluster" == _room(ns.dedup(frame, engine=ns.Spark(spark), audit=False))


def test_rows_of_python_that_one_says_are_few_come_in_some_jobs(spark, monkeypatch):
    """Spark knows nothing of their sizes: they are looked at."""
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    rows = [(str(number), f"{_START} {number // 2}") for number in range(300)]
    frame = spark.createDataFrame(rows, "id string, text string")
    assert "driver" == _room(ns.dedup(frame, engine=ns.Spark(spark), audit=False))


def test_more_rows_than_java_has_room_for_are_the_clusters(spark, tmp_path, monkeypatch):
    """What is said of each goes back to it; and what stands beside a text is a part of its size."""
    source, _ = _crawl(tmp_path, 100)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    for at_once, where in ((6400, "driver"), (6399, "cluster")):
        monkeypatch.setattr(fetching, "at_once", lambda _, bound=at_once: bound)
        frame = spark.read.parquet(source).selectExpr("id", "'a' as text").repartition(40).localCheckpoint()
        assert where == _room(ns.dedup(frame, engine=ns.Spark(spark), audit=False))
    monkeypatch.setattr(fetching, "at_once", lambda _: 1e9)
    for length, where in ((1, "driver"), (100, "cluster")):
        frame = spark.read.parquet(source).selectExpr(f"repeat(id, {length}) as id", "'a' as text")
        assert where == _room(ns.dedup(frame, engine=ns.Spark(spark, driver_bytes=20_000), audit=False))


def test_what_comes_is_read_by_the_sessions_settings(spark, tmp_path, monkeypatch, setting):
    """By others a month of one digit is none, so that rows would have other names than where they are read again."""
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    setting("spark.sql.legacy.timeParserPolicy", "LEGACY")
    lines = [
        f'{{"id": "{number}", "text": "{_START} {number // 2}", "at": "2024-{number % 9 + 1}-1"}}'
        for number in range(60)
    ]
    (tmp_path / "a.json").write_text("\n".join(lines))
    read = spark.read.schema("id string, text string, at timestamp").option("timestampFormat", "yyyy-MM-dd")
    frame = read.json(str(tmp_path / "a.json"))
    assert 60 == frame.filter("at is not null").count()
    found = ns.dedup(frame, keep=("newest:at", "first"), engine=ns.Spark(spark), audit=False)
    assert "driver" == _room(found)
    assert found.stats.kept == found.kept().count()


def test_of_much_that_is_read_nothing_may_be_left(spark, tmp_path, monkeypatch):
    """Files are large, and no row is chosen."""
    source, _ = _crawl(tmp_path, 100)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    found = ns.dedup(spark.read.parquet(source).filter("id = 'nobody'"), engine=ns.Spark(spark))
    assert (0, 0, "driver") == (found.stats.documents, found.kept().count(), _room(found))


def test_rows_that_are_lost_on_their_way_are_an_error(spark, tmp_path, monkeypatch):
    """What comes through a socket ends where the socket does."""
    source, _ = _crawl(tmp_path)
    monkeypatch.setattr(few, "_ONE_JOB", 1000)
    monkeypatch.setattr(fetching, "at_once", lambda _: 1e9)
    _messages_by(monkeypatch, lambda messages: messages[:-1], managed=False)
    with pytest.raises(ns.SourceError, match=r"the source changed: 400 rows were counted, and [123]\d\d came"):
        ns.dedup(source, engine=ns.Spark(spark), audit=False)


@given(st.lists(st.integers(0, 100)), st.integers(0, 120))
def test_each_partition_comes_once_and_no_job_takes_too_much(sizes, most):
    """In their order; a job more only where the next one does not fit."""
    jobs = fetching._together(sizes, most)
    if max(sizes, default=0) > most:
        assert jobs is None
        return
    assert list(range(len(sizes))) == [number for job in jobs for number in job]
    totals = [sum(sizes[number] for number in job) for job in jobs]
    assert all(total <= most for total in totals)
    assert all(total + sizes[after[0]] > most for total, after in zip(totals, jobs[1:], strict=False))


@pytest.mark.parametrize(
    ("asked", "deployed", "free", "documents"),
    [
        (None, "client", 100 << 30, 2 << 30),
        (None, "client", 10 << 30, 1 << 30),
        (None, "client", 1 << 20, 128 << 20),
        (None, "cluster", 100 << 30, 128 << 20),
        (None, "pod", 100 << 30, 128 << 20),
        ("64MB", "client", 100 << 30, 64 << 20),
        (0, "client", 100 << 30, 0),
    ],
)
def test_how_much_may_come(monkeypatch, asked, deployed, free, documents):
    """An eighth of what the driver has free, where nobody has said how much and it is no container of a cluster's."""
    monkeypatch.setattr(settings, "free_memory", lambda: free)
    told = {"spark.submit.deployMode": deployed} if deployed != "pod" else {"spark.kubernetes.submitInDriver": "true"}
    java = SimpleNamespace(maxMemory=lambda: 3 << 30, totalMemory=lambda: 1 << 30)
    names = SimpleNamespace(
        java=SimpleNamespace(lang=SimpleNamespace(Runtime=SimpleNamespace(getRuntime=lambda: java)))
    )
    session = SimpleNamespace(conf=SimpleNamespace(get=told.get), sparkContext=SimpleNamespace(_jvm=names))
    engine = ns.Spark(driver_bytes=asked)
    assert documents == settings.documents_bytes(engine, session)
    assert engine.decided_bytes == (128 << 20 if asked is None else documents)


def test_where_steps_are_to_be_kept_and_of_pages_fewer_come(spark, tmp_path, monkeypatch):
    """What comes leaves no steps, and one machine takes long to extract texts."""
    monkeypatch.setattr(ns.Spark, "decided_bytes", 10_000)
    source, _ = _crawl(tmp_path)
    engine = ns.Spark(spark)
    assert "driver" == _room(ns.dedup(source, engine=engine, audit=False))
    assert "cluster" == _room(ns.dedup(source, engine=engine, audit=False, workdir=tmp_path / "work"))
    pages = [{"html": f"<p>{_START} {number} {'more ' * 50}</p>"} for number in range(50)]
    assert "cluster" == _room(ns.dedup(pages, html_column="html", engine=engine, audit=False))
