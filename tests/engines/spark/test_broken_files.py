"""Files that Spark cannot read, or would misread, are one sentence with their names; what is left out is counted."""

import bz2
import gzip
import json
import random
import re
from collections import Counter

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.spark.failures import plainly

_TEXT = "one two three four five six seven eight"


def parquet(folder, name, **columns):
    """A file."""
    folder.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(columns), folder / name)


@pytest.fixture
def folder(tmp_path):
    """Two files with two documents each, in partitions."""
    home = tmp_path / "in"
    parquet(home / "day=1", "a.parquet", id=["a", "b"], text=[_TEXT, _TEXT])
    parquet(home / "day=2", "b.parquet", id=["c", "d"], text=[_TEXT, "something else"])
    return home


FEW = pytest.mark.few  # what can be read is known before anybody decides where the work is done


@pytest.mark.parametrize("how", ["cut", *(pytest.param(how, marks=FEW) for how in ("no Parquet", "empty"))])
def test_a_file_that_cannot_be_read_is_left_out_and_counted(how, folder, spark):
    """As on one machine; with `strict` it is an error with its name."""
    whole = (folder / "day=1" / "a.parquet").read_bytes()
    (folder / "day=2" / "c.parquet").write_bytes({"cut": whole[:-20], "no Parquet": b"no" * 50, "empty": b""}[how])
    found = ns.dedup(str(folder), engine=ns.Spark(spark))
    here = ns.dedup(str(folder))
    counts = ("documents", "skipped", "kept")
    assert (4, 1, 2) == tuple(getattr(found.stats, each) for each in counts)
    assert (4, 1, 2) == tuple(getattr(here.stats, each) for each in counts)
    (record,) = found.skipped.to_pylist()
    assert record["source"].endswith("c.parquet")
    assert len(record["reason"].splitlines()) == 1
    assert {"id", "text", "day"} == set(found.kept().columns)
    found.release()
    with pytest.raises(ns.SourceError, match=r"c\.parquet cannot be read: ") as caught:
        ns.dedup(str(folder), engine=ns.Spark(spark), strict=True)
    assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(ns.SourceError, match=r"c\.parquet cannot be read: "):
        ns.dedup(str(folder / "day=2" / "c.parquet"), engine=ns.Spark(spark))


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_the_text_is_settled_from_all_files(kind, tmp_path, spark):
    """The first has none, and its only string is not a text."""
    home = tmp_path / "in"
    home.mkdir()
    write = {"parquet": pq.write_table, "orc": pyarrow.orc.write_table}[kind]
    write(pa.table({"year": ["1999", "1999"]}), home / f"a.{kind}")
    write(pa.table({"text": [_TEXT, "something else"], "year": ["1999", "2000"]}), home / f"b.{kind}")
    for source in (home, home / f"*.{kind}"):
        with pytest.raises(ns.ColumnError, match=rf"a\.{kind} would be 'year', that of .*b\.{kind} 'text'"):
            ns.dedup(str(source), engine=ns.Spark(spark))


@pytest.mark.parametrize(
    "source", ["in", *(pytest.param(source, marks=FEW) for source in ("i*", "in/day=*", "in/day=*/*.parquet"))]
)
def test_folders_whose_files_differ_keep_what_their_names_say(source, folder, spark):
    """A column for each partition, where Spark makes one if all files have the same columns."""
    same = spark.read.parquet(f"{folder.parent}/{source}")
    parquet(folder / "day=3", "c.parquet", id=["e"], text=["others"], n=[1])
    found = ns.dedup(f"{folder.parent}/{source}", engine=ns.Spark(spark), audit=False)
    kept = found.kept()
    assert {*same.columns, "n"} == set(kept.columns)
    if "day" in same.columns:
        assert {("a", 1), ("d", 2), ("e", 3)} == {(row.id, row.day) for row in kept.collect()}
    found.release()


@FEW
def test_files_of_several_types_are_read_each_as_it_is(tmp_path, spark):
    """A column that is a number here and a string there holds strings."""
    home = tmp_path / "in"
    parquet(home, "a.parquet", text=[_TEXT], n=[1])
    parquet(home, "b.parquet", text=["something else"], n=["x"])
    for source in (str(home), f"{home}/*.parquet"):
        found = ns.dedup(source, engine=ns.Spark(spark))
        assert ["1", "x"] == sorted(row.n for row in found.kept().collect())
        found.release()


_PACK = {"gz": gzip.compress, "bz2": bz2.compress}


def packed(home, name, prefix, num):
    """A packed file of made documents."""
    draw = random.Random(prefix)
    rows = [(f"{prefix}{at}", " ".join(f"{draw.random():.9f}" for _ in range(20))) for at in range(num)]
    lines = [json.dumps(dict(zip(("id", "text"), row, strict=True))) for row in rows]
    lines = ["id,text", *(",".join(row) for row in rows)] if ".csv" in name else lines
    plain = "".join(f"{line}\n" for line in lines).encode()
    home.mkdir(exist_ok=True, parents=True)
    (home / name).write_bytes(_PACK[name.rsplit(".", 1)[1]](plain))
    return plain


def cut(place, share):
    """Let a file break off."""
    whole = place.read_bytes()
    place.write_bytes(whole[: int(len(whole) * share)])


def reasons(skipped):
    """What is left out, and why, without what a library adds."""
    return sorted((row["source"], re.sub("(not readable as [^:]+): .*", r"\1", row["reason"])) for row in skipped)


def both(source, spark, **settings):
    """What Spark counts, when it and one machine have read the same, and left the same out."""
    here = ns.dedup(source, **settings)
    there = ns.dedup(source, engine=ns.Spark(spark), audit=False, **settings)
    assert here.stats.documents == there.stats.documents
    names = here.kept().column_names
    assert set(names) == set(there.kept().columns)
    rows = Counter(repr([row[name] for name in names]) for row in here.kept().to_pylist())
    others = Counter(repr([row[name] for name in names]) for row in there.kept().collect())
    assert (Counter(), Counter()) == (rows - others, others - rows)
    said = Counter[str]()
    for row in there.skipped.to_pylist():
        number = re.match(r"([\d,]+) records? (is|are) not readable", row["reason"])
        said[row["source"]] += int(number[1].replace(",", "")) if number else 1
    assert Counter(here.skipped.column("source").to_pylist()) == said
    found = there.stats
    there.release()
    return found


@FEW
@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.bz2"])
def test_packed_files_that_break_off_are_left_out_and_counted(ending, tmp_path, spark):
    """Each of them, with the reason that one machine gives; what is empty has nothing to leave out."""
    home = tmp_path / "in"
    packed(home / "day=1", f"a.{ending}", "a", 5)
    plain = packed(home / "day=2", f"b.{ending}", "b", 900)
    whole = (home / "day=2" / f"b.{ending}").read_bytes()
    (home / "day=2" / f"b.{ending}").write_bytes(whole[:60])
    (home / "day=2" / f"c.{ending}").write_bytes(whole[:70])
    (home / "day=2" / f"d.{ending}").write_bytes(plain)  # as it is, under a packed name
    (home / "day=2" / f"e.{ending}").write_bytes(b"")
    broken = {str(home / "day=2" / f"{name}.{ending}") for name in "bcd"}
    here = ns.dedup(str(home)).skipped.to_pylist()
    assert broken == {row["source"] for row in here}
    several = tuple(sorted(home.glob("day=*/[a-d].*")))  # named one by one
    for source in (str(home), several):
        found = ns.dedup(source, engine=ns.Spark(spark), audit=False)
        assert (5, 3, 5) == tuple(getattr(found.stats, each) for each in ("documents", "skipped", "kept"))
        kept = found.kept().collect()
        assert {f"a{at}" for at in range(5)} == {row.id for row in kept}
        assert source != str(home) or {1} == {row.day for row in kept}
        assert reasons(here) == reasons(found.skipped.to_pylist())
        found.release()
    with pytest.raises(ns.SourceError, match=rf"[bcd]\.{ending} cannot be read: ") as caught:
        ns.dedup(str(home), engine=ns.Spark(spark), strict=True)
    assert len(str(caught.value).splitlines()) == 1


_LINES = {  # what is odd in the part that can be read
    "jsonl.gz": [
        '{"id": "odd0", "text": "one two three", "more": [1, 2]}',
        '{"id": "odd1", "text": "half of a pair \\ud83d"}',
        '{"id": "odd2", "text": "something behind"} x',
        '{"id": "odd3", "text": 7}',
        "no JSON",
        "",
        '{"id": "odd6", "text": "caf\udce9"}',
        '{"id": "odd7", "text": "caf\udcea"}',
    ],
    "csv.gz": ['odd0,"a quoted\r\nline, and ""more"""', "odd1,one,two", "odd2", "", 'odd4," blank "'],
}


@FEW
@pytest.mark.parametrize("ending", ["jsonl.gz", "csv.gz"])
@pytest.mark.parametrize("alone", [False, True])
def test_what_stands_before_a_break_is_read_as_on_one_machine(ending, alone, tmp_path, spark):
    """Also where that is odd, and names of folders say what it is; and where no file is whole."""
    home = tmp_path / "in"
    if not alone:
        packed(home / "day=1", f"a.{ending}", "a", 5)
    plain = packed(home / "day=2", f"b.{ending}", "b", 900).decode().splitlines()
    place = home / "day=2" / f"b.{ending}"
    plain[3:3] = _LINES[ending]
    place.write_bytes(gzip.compress("\n".join([*plain, ""]).encode("utf-8", "surrogateescape")))
    cut(place, 0.6)
    packed(home / "day=x%20y", f"c.{ending}", "c", 400)
    cut(home / "day=x%20y" / f"c.{ending}", 0.9)
    found = both(str(home), spark)
    assert 600 < found.documents < 1200
    one = tmp_path / place.name
    one.write_bytes(place.read_bytes())
    assert found.documents > both(str(one), spark).documents > 400


@FEW
@pytest.mark.parametrize("torn", ["a", "b", "ab"])
def test_headers_without_a_name_beside_a_file_that_breaks_off(torn, tmp_path, spark):
    """Whichever is the first: Spark gives such columns names, and then finds that headers differ."""
    for letter in "abc":
        place = tmp_path / f"{letter}.csv.gz"
        rows = "".join(f"{at},{f'{letter}{at} ' * 40},e,{letter}{at}\n" for at in range(99))
        place.write_bytes(gzip.compress(f'"a.b",text,"",id\n{rows}'.encode()))
        if letter in torn:
            cut(place, 0.6)
    found = ns.dedup(str(tmp_path), engine=ns.Spark(spark), audit=False)
    here = ns.dedup(str(tmp_path), audit=False)
    assert here.stats.documents == found.stats.documents > 99
    assert len(torn) == here.stats.skipped == found.stats.skipped
    assert {"a.b", "text", "_c2", "id"} == set(found.kept().columns)


@FEW
def test_a_key_twice_in_a_record_that_is_read_line_by_line(tmp_path, spark):
    """Is one sentence, as where Spark reads the file."""
    packed(tmp_path, "a.jsonl.gz", "a", 99)
    lines = gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes())
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"id": "x", "text": "a", "text": "b"}\n' + lines))
    cut(tmp_path / "a.jsonl.gz", 0.6)
    with pytest.raises(ns.ColumnError, match="'text'"):
        ns.dedup(str(tmp_path), engine=ns.Spark(spark))


@FEW
@pytest.mark.parametrize("strict", [False, True])
def test_whatever_spark_alone_cannot_read_is_read_as_on_one_machine(strict, tmp_path, spark):
    """Zeros behind gzip, as on a tape, beside a file that breaks off, or alone."""
    home = tmp_path / "in"
    for letter in "abc":
        packed(home, f"{letter}.jsonl.gz", letter, 200)
    for letter in "ab":
        with (home / f"{letter}.jsonl.gz").open("ab") as out:
            out.write(bytes(512))
    assert 600 == both(str(home), spark, strict=strict).documents
    cut(home / "c.jsonl.gz", 0.5)
    if strict:
        with pytest.raises(ns.SourceError, match=r"c\.jsonl\.gz cannot be read: unread from here on"):
            ns.dedup(str(home), engine=ns.Spark(spark), strict=True)
    else:
        found = both(str(home), spark)
        assert (400 < found.documents < 600, 1) == (True, found.skipped)


@FEW
@pytest.mark.parametrize("end", [1, 2, 5])
def test_an_end_that_spark_does_not_miss_is_missed(end, tmp_path, spark):
    """That of bz2, as one machine does: all rows are there, and the file is damaged."""
    place = tmp_path / "a.csv.bz2"
    packed(tmp_path, place.name, "a", 200)
    assert (200, 0) == (both(str(place), spark).documents, both(str(place), spark).skipped)
    place.write_bytes(place.read_bytes()[:-end])
    assert 1 == both(str(place), spark).skipped
    with pytest.raises(ns.SourceError, match=r"a\.csv\.bz2 cannot be read: unread from here on"):
        ns.dedup(str(place), engine=ns.Spark(spark), strict=True)


@pytest.mark.parametrize("ignoring", [False, True])
def test_a_page_that_is_damaged_is_an_error_with_its_file(folder, spark, ignoring):
    """Nothing tells of it before it is read, on one machine either; in a session that would pass over it, too."""
    setting = "spark.sql.files.ignoreCorruptFiles"
    before = spark.conf.get(setting)
    spark.conf.set(setting, ignoring)
    try:
        _require_told(folder, spark)
    finally:
        spark.conf.set(setting, before)


def _require_told(folder, spark):
    place = folder / "day=2" / "b.parquet"
    whole = bytearray(place.read_bytes())
    whole[8:60] = b"\xff" * 52
    place.write_bytes(whole)
    with pytest.raises(ns.SourceError, match=r"b\.parquet is damaged: "):
        ns.dedup(str(folder))
    with pytest.raises(ns.SourceError, match=r"b\.parquet cannot be read: ") as caught:
        ns.dedup(str(folder), engine=ns.Spark(spark))
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (
            "Total size of serialized results of 3 tasks is bigger than spark.driver.maxResultSize (1024.0 KiB)",
            ns.EngineError,
            "Spark gave up: the results of its tasks are larger than spark.driver.maxResultSize=1024.0 KiB",
        ),
        ("java.lang.IllegalStateException: no\n\tat a.b.C\n\tat d", ns.EngineError, "IllegalStateException: no"),
    ],
)
def test_what_spark_says_is_one_sentence(said, error, message, spark):
    """Of many lines."""
    from pyspark.errors import PySparkException

    with pytest.raises(error) as caught, plainly():
        raise PySparkException(said)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


class _Java:
    """An exception of Java, as py4j shows it."""

    def __init__(self, said, cause=None):
        self._said, self._cause = said, cause

    def getMessage(self):  # noqa: N802  (Java's)
        return self._said.partition(": ")[2]

    def toString(self):  # noqa: N802  (likewise)
        return self._said

    def getCause(self):  # noqa: N802  (likewise)
        return self._cause


@pytest.mark.parametrize(
    "outer", ["[TASK_WRITE_FAILED] Task failed while writing rows to file:/a.", "Exception thrown in awaitResult: "]
)
def test_who_only_passes_on_why_is_passed_over(outer):
    """A task that writes, or one that waited."""
    errors = pytest.importorskip("pyspark.errors")
    error = errors.PySparkException(outer)
    error.java_exception = _Java(outer, _Java("[ANCIENT_DATE] the reason\nand more"))
    with pytest.raises(ns.EngineError, match=r"^Spark gave up: \[ANCIENT_DATE\] the reason$"), plainly():
        raise error


@pytest.mark.parametrize("named", ["java_exception", "_origin"])
@pytest.mark.parametrize("lost", ["java.lang.OutOfMemoryError: Java heap space", "TaskResultLost (result lost)"])
def test_too_little_memory_is_said_with_what_to_raise(lost, named):
    """Whoever waited for it only says that it waited, and that was all that was told."""
    errors = pytest.importorskip("pyspark.errors")
    inner = _Java(f"org.apache.spark.SparkException: Job aborted due to stage failure: Lost task 0.0: {lost}")
    outer = _Java("org.apache.spark.SparkException: Exception thrown in awaitResult: ", inner)
    error = errors.PySparkException(outer.getMessage())
    setattr(error, named, outer)
    with pytest.raises(ns.EngineError) as caught, plainly():
        raise error
    said = f"Spark gave up: Job aborted due to stage failure: Lost task 0.0: {lost.rpartition('.')[2]}"
    assert said == str(caught.value)
    assert "spark.driver.memory" in caught.value.hint


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("IOException: No space left on device", "spark.local.dir"),
        ("SparkException: Block rdd_174_1 was not found even though it's read-locked", "release()"),
        ("SparkException: Python worker exited unexpectedly (crashed).", "spark.executor.memoryOverhead"),
    ],
)
def test_what_a_disk_or_a_worker_lacks_is_said_with_what_to_do(said, what):
    """Spark only says what has happened."""
    errors = pytest.importorskip("pyspark.errors")
    with pytest.raises(ns.EngineError, match=re.escape(said)) as caught, plainly():
        raise errors.PySparkException(f"Job aborted due to stage failure: Lost task 1.0: {said}")
    assert what in caught.value.hint


@pytest.mark.parametrize("raised", [AttributeError("no"), AssertionError(), ConnectionError("no")])
def test_errors_of_other_things_stay_what_they_are(spark, raised):
    """Only of a session that was stopped, or of Java that has ended, are they Spark's."""
    assert spark is not None
    with pytest.raises(type(raised)) as caught, plainly():
        raise raised
    assert caught.value is raised


def test_a_worker_without_our_packages_is_told_what_to_set():
    """As with a session that was started without PYSPARK_PYTHON beside an environment that is not activated."""
    errors = pytest.importorskip("pyspark.errors")
    said = (
        "An exception was thrown from the Python worker:\nTraceback\nModuleNotFoundError: No module named 'pyarrow'\n"
    )
    with (
        pytest.raises(ns.EngineError, match="gave up: ModuleNotFoundError: No module named 'pyarrow'") as caught,
        plainly(),
    ):
        raise errors.PySparkException(said)
    assert "PYSPARK_PYTHON" in caught.value.hint
