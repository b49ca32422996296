"""Folders that Spark writes: whole or not at all, and over nothing that nearsame did not write."""

import contextlib
import csv
import io
import json
import os
import shutil
from datetime import UTC, date, datetime
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.clock import Clock
from nearsame.engines.spark.places import HadoopPlace, place_at
from nearsame.engines.spark.plans import roots
from nearsame.errors import OutputError
from nearsame.frames.runs import FrameReading, FrameRun
from nearsame.frames.writing import MADE, STATS, check_target, format_of, write_folder, write_frame


@pytest.fixture(params=["a path", "a URL"])
def target(request, tmp_path):
    """A place as a local path, and as a URL."""
    return str(tmp_path / "out.parquet") if request.param == "a path" else (tmp_path / "out.parquet").as_uri()


_DELETE = HadoopPlace.delete
RUN = {"documents": 10, "recipe": {"method": "jaccard"}}  # by which the statistics of a run are known


def written(session, target, **settings):
    """A folder with ten numbers."""
    frames = {"numbers": settings.get("frame", session.range(10, numPartitions=2))}
    check_target(session, target, [], STATS, overwrite=settings.get("overwrite", False))
    write_folder(session, target, frames, settings.get("record", lambda kept: {**RUN, "kept": kept.count()}))


def test_a_folder_has_its_tables_and_the_statistics(spark, target, tmp_path):
    """And nothing else is left."""
    written(spark, target)
    folder = tmp_path / "out.parquet"
    assert {**RUN, "kept": 10} == json.loads((folder / STATS).read_bytes())
    assert list(range(10)) == sorted(pyarrow.dataset.dataset(folder / "numbers").to_table().column("id").to_pylist())
    assert ["out.parquet"] == [path.name for path in tmp_path.iterdir()]


def test_a_folder_of_an_earlier_run_is_replaced_when_asked(spark, target, tmp_path):
    """Else it is refused, and stays."""
    written(spark, target)
    with pytest.raises(OutputError, match="exists"):
        written(spark, target)
    (tmp_path / "out.parquet" / "old").touch()
    written(spark, target, overwrite=True)
    assert not (tmp_path / "out.parquet" / "old").exists()
    assert (tmp_path / "out.parquet" / STATS).exists()


def test_what_nearsame_did_not_write_is_not_replaced(spark, target, tmp_path):
    """A folder without the mark."""
    (tmp_path / "out.parquet").mkdir()
    (tmp_path / "out.parquet" / "precious").touch()
    (tmp_path / "out.parquet" / "_SUCCESS").touch()  # of Spark's, and so of anybody's
    for mark in (STATS, MADE):
        with pytest.raises(OutputError, match=f"was not written by nearsame: it has no {mark}"):
            check_target(spark, target, [], mark, overwrite=True)
    assert (tmp_path / "out.parquet" / "precious").exists()


def test_a_place_in_a_source_is_refused(spark, tmp_path):
    """Or over one; as paths and as URLs."""
    for home in (str(tmp_path), tmp_path.as_uri()):
        with pytest.raises(OutputError):
            check_target(spark, f"{home}/in", [home], STATS, overwrite=False)
        with pytest.raises(OutputError):
            check_target(spark, home, [f"{home}/in"], STATS, overwrite=True)
    check_target(spark, tmp_path.as_uri() + "-beside", [tmp_path.as_uri()], STATS, overwrite=False)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv"])
def test_a_frame_is_written_in_the_format_of_its_name(suffix, spark, tmp_path):
    """Parts that others read back."""
    target = tmp_path / f"numbers.{suffix}"
    write_frame(spark, target, spark.range(10), {})
    reader = spark.read.option("header", True).option("inferSchema", True).format(format_of(target))
    assert 45 == reader.load(str(target)).agg({"id": "sum"}).first()[0]
    (target / "_SUCCESS").unlink()  # which many platforms do not write
    check_target(spark, target, [], MADE, overwrite=True)


def test_white_space_around_values_stays_in_csv(spark, tmp_path):
    """Spark's own writer takes it off, and ids that differ in it became one."""
    ids = [" a", "a ", "a", "\ta", "", None, ' "a" ', "a\n"]
    write_frame(spark, tmp_path / "ids.csv", spark.createDataFrame([(id, 1) for id in ids], "id string, n int"), {})
    parts = [part.read_bytes().decode() for part in (tmp_path / "ids.csv").glob("part-*")]
    rows = [row for part in parts for row in csv.reader(io.StringIO(part, newline=""))]
    assert sorted(["", *(id or "" for id in ids if id is not None)]) == sorted(id for id, n in rows if n == "1")


def test_what_fails_leaves_nothing(spark, tmp_path):
    """Neither the folder nor a part of it."""
    with pytest.raises(ZeroDivisionError):
        written(spark, tmp_path / "out", record=lambda _: {"kept": 1 // 0})
    assert [] == list(tmp_path.iterdir())


def _spellings(path):
    """Ways to write one address."""
    linked = path.parent / "link"
    linked.symlink_to(path.parent)
    name, home = path.name, path.parent
    return [str(path), f"file:{path}", path.as_uri(), f"{path}/", f"{home}/./x/../{name}", f"{linked}/{name}"]


def test_a_source_is_not_touched_however_it_is_spelled(spark, tmp_path):
    """Neither where the new answer would hold it, nor where it would lie in it; nor what a pattern would match."""
    (tmp_path / "x").mkdir()
    written(spark, tmp_path / "clean")
    for target in _spellings(tmp_path / "clean"):
        for source in (f"{tmp_path}/clean/numbers", f"file:{tmp_path}/clean/numbers", f"{tmp_path}/clea*/num*"):
            with pytest.raises(OutputError, match="is or holds the source"):
                check_target(spark, target, [source], STATS, overwrite=True)
            with pytest.raises(OutputError, match="is inside the source"):
                check_target(spark, f"{target.rstrip('/')}/numbers/new", [source], STATS, overwrite=True)
    with pytest.raises(OutputError, match="the next run would read it"):
        check_target(spark, tmp_path / "new", [f"{tmp_path}/*/*/*.parquet"], STATS, overwrite=False)
    check_target(spark, tmp_path / "new", [f"{tmp_path}/*/*.jsonl", "s3a://other/data", "?:"], STATS, overwrite=False)


def test_a_former_answer_stands_when_writing_fails(spark, tmp_path):
    """A function of the user's raises in the midst."""
    from pyspark.sql.functions import udf

    written(spark, tmp_path / "out")
    failing = spark.range(10).select(udf(lambda number: 1 // (number - 5), "long")("id").alias("id"))
    with pytest.raises(ns.EngineError, match="ZeroDivisionError") as caught:
        written(spark, tmp_path / "out", frame=failing, overwrite=True)
    assert len(str(caught.value).splitlines()) == 1
    assert {**RUN, "kept": 10} == json.loads((tmp_path / "out" / STATS).read_bytes())
    assert 10 == pyarrow.dataset.dataset(tmp_path / "out" / "numbers").count_rows()
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("failing", [1, 2])
def test_a_former_answer_stands_when_a_renaming_fails(failing, spark, tmp_path, monkeypatch):
    """That of the old one, and that of the new."""
    written(spark, tmp_path / "out")
    rename, times = HadoopPlace.move_to, []

    def move_to(self, other):
        times.append(other)
        if len(times) == failing:
            raise OutputError("no")
        rename(self, other)

    monkeypatch.setattr(HadoopPlace, "move_to", move_to)
    with pytest.raises(OutputError, match="no"):
        written(spark, tmp_path / "out", record=lambda _: {"kept": 11}, overwrite=True)
    assert {**RUN, "kept": 10} == json.loads((tmp_path / "out" / STATS).read_bytes())
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


def test_what_a_killed_run_left_is_put_right_or_named(spark, tmp_path):
    """Between the two renamings the former answer is set aside: it stands again."""
    written(spark, tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.0123abcd.old")
    (tmp_path / ".out.0123abcd.new").mkdir()
    (tmp_path / ".out.other").mkdir()
    with pytest.raises(OutputError, match="exists"):
        check_target(spark, tmp_path / "out", [], STATS, overwrite=False)
    assert {**RUN, "kept": 10} == json.loads((tmp_path / "out" / STATS).read_bytes())
    (note,) = check_target(spark, tmp_path / "out", [], STATS, overwrite=True)
    assert f"{tmp_path}/.out.0123abcd.new was left by a run that was killed: delete it" in note


def test_of_former_answers_the_last_whole_one_stands_again(spark, tmp_path):
    """Not one that a killed run had begun to delete, however late that was; where none is whole, nothing does."""
    for kept in (30, 10, 20):
        written(spark, tmp_path / "elsewhere", frame=spark.range(kept))
        (tmp_path / "elsewhere").rename(tmp_path / f".out.000000{kept}.old")
    begun, older, last = (tmp_path / f".out.000000{kept}.old" for kept in (30, 10, 20))
    (begun / STATS).unlink()
    for at, folder in enumerate((older, last, begun)):
        os.utime(folder, (1e9 + at, 1e9 + at))
    notes = check_target(spark, tmp_path / "out", [], STATS, overwrite=True)
    assert {**RUN, "kept": 20} == json.loads((tmp_path / "out" / STATS).read_bytes())
    told = [f"{tmp_path}/out is back", f"{older} was left", f"{begun} was left"]
    assert told == [
        note.removeprefix("file://").rpartition(" in its" if " back " in note else " by a")[0] for note in notes
    ]
    for folder in (older, tmp_path / "out"):
        shutil.rmtree(folder)
    (note,) = check_target(spark, tmp_path / "out", [], STATS, overwrite=False)
    assert f"{begun} was left" in note
    assert not (tmp_path / "out").exists()


def test_a_former_answer_that_is_being_deleted_says_no_more_that_it_is_whole(spark, tmp_path, monkeypatch):
    """Whatever a process that is killed meanwhile leaves of it."""
    written(spark, tmp_path / "out")
    deleted = list[tuple[str, bool]]()

    def delete(place):
        if place.name.endswith(".old"):
            deleted.append((place.name, place.inside(STATS).exists()))
        _DELETE(place)

    monkeypatch.setattr(HadoopPlace, "delete", delete)
    written(spark, tmp_path / "out", overwrite=True)
    assert [False] == [said for _, said in deleted]


@pytest.mark.parametrize("is_copied", [True, False])
def test_what_a_store_had_half_copied_gives_way_to_the_former_answer(spark, tmp_path, monkeypatch, *, is_copied):
    """Where renaming copies; elsewhere such a folder is somebody's own, and nothing is moved."""
    monkeypatch.setattr(HadoopPlace, "is_copied", is_copied)
    written(spark, tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.0123abcd.old")
    (tmp_path / "out" / "numbers").mkdir(parents=True)
    (tmp_path / "out" / "numbers" / "part-0.parquet").write_bytes(b"some of it")
    if not is_copied:
        with pytest.raises(OutputError, match="is not empty, and was not written by nearsame"):
            check_target(spark, tmp_path / "out", [], STATS, overwrite=True)
        return
    back, left = check_target(spark, tmp_path / "out", [], STATS, overwrite=True)
    assert "is back in its place" in back
    assert {**RUN, "kept": 10} == json.loads((tmp_path / "out" / STATS).read_bytes())
    (aside,) = tmp_path.glob(".out.*.new")
    assert aside.name in left
    assert b"some of it" == (aside / "numbers" / "part-0.parquet").read_bytes()
    assert [left] == check_target(spark, tmp_path / "out", [], STATS, overwrite=True)


def test_somebody_s_own_folder_stays_where_a_former_answer_was(spark, tmp_path, monkeypatch):
    """It has what no answer has; it is not taken for a half copied one, nor replaced."""
    monkeypatch.setattr(HadoopPlace, "is_copied", True)
    written(spark, tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.0123abcd.old")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty, and was not written by nearsame"):
        check_target(spark, tmp_path / "out", [], STATS, overwrite=True)
    assert "mine" == (tmp_path / "out" / "notes.txt").read_text()


@pytest.mark.parametrize("name", ["a b", "a%20b", "a[1]", "a{b,c}", "ä", "numbers"])
def test_a_folder_may_have_any_name(name, spark, tmp_path):
    """What patterns and addresses make of such signs is no matter; nor that a folder in it has the same."""
    written(spark, tmp_path / name)
    assert {**RUN, "kept": 10} == json.loads((tmp_path / name / STATS).read_bytes())
    written(spark, tmp_path / name, overwrite=True)
    assert [name] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/clean", "https://127.0.0.1:9/clean/it"])
def test_nothing_is_written_over_http(address, spark):
    """Java would say that an operation is not supported, once all is done."""
    with pytest.raises(OutputError, match=f"^{address}: Spark writes nothing over HTTP$"):
        check_target(spark, address, (), STATS, overwrite=False)


def test_a_path_without_a_scheme_is_of_the_default_file_system(spark, tmp_path):
    """As it is for reading."""
    with hadoop(spark, "fs.defaultFS", "viewfs://one/", f"fs.viewfs.mounttable.one.link./data={tmp_path.as_uri()}"):
        written(spark, "/data/out")
        assert place_at(spark, "/data/out").address == "viewfs://one/data/out"
        assert 10 == spark.read.parquet("/data/out/numbers").count()
        with pytest.raises(OutputError, match="exists"):
            check_target(spark, "viewfs://one/data/out", [], STATS, overwrite=False)
        with pytest.raises(OutputError, match="is or holds the source"):
            check_target(spark, "/data/out", [(tmp_path / "out" / "numbers").as_uri()], STATS, overwrite=True)
        written(spark, "/data/out", overwrite=True)
        (tmp_path / "out" / STATS).write_text('{"players": 10}')
        with pytest.raises(OutputError, match="was not written by nearsame"):
            check_target(spark, "/data/out", [], STATS, overwrite=True)
        with pytest.raises(OutputError, match="was not written by nearsame"):
            check_target(spark, "/data/out", [], MADE, overwrite=True)
    assert ["out"] == [path.name for path in tmp_path.iterdir()]


def test_a_folder_in_the_root_of_a_store_is_beside_nothing_else(spark, tmp_path):
    """Its folder is the root, not an address without a path, which HDFS refuses."""
    with hadoop(spark, "fs.defaultFS", "viewfs://one/", f"fs.viewfs.mounttable.one.link./data={tmp_path.as_uri()}"):
        (parent,) = {place_at(spark, name).parent().address for name in ("/data", "viewfs://one/data/")}
        assert ("viewfs://one/", ["data"]) == (parent, place_at(spark, parent).names())
    assert "file:/" == place_at(spark, "/").parent().address.replace("///", "/")
    with pytest.raises(OutputError, match="an output needs a name"):
        check_target(spark, "", [], STATS, overwrite=False)


def test_the_files_behind_a_frame_are_not_touched(spark, tmp_path):
    """Whatever was made of it, persisted or not; by either version of Spark's sources, as an RDD, or in a condition."""
    written(spark, tmp_path / "clean")
    frame = spark.read.parquet(f"{tmp_path}/clean/num*").selectExpr("cast(id as string) as text")
    lines = spark.sparkContext.textFile(str(tmp_path / "clean" / "numbers")).map(lambda line: (line,))
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    second = spark.read.parquet(f"{tmp_path}/clean/numbers")
    spark.conf.unset("spark.sql.sources.useV1SourceList")
    for given in (
        frame,
        frame.union(frame).distinct(),
        frame.filter("text > ''").persist(),
        second.selectExpr("cast(id as string) as text"),
        _asking(spark, frame),
        spark.createDataFrame(frame.rdd, "text string"),
        spark.createDataFrame(lines, "text string"),
    ):
        assert [f"{tmp_path}/clean/numbers"] == [root.removeprefix("file:") for root in roots(given)]
        given.unpersist()
    side = SimpleNamespace(parts=[SimpleNamespace(frame=frame)])
    run = FrameRun(FrameReading((side,), SimpleNamespace(session=spark)), Clock())
    with pytest.raises(OutputError, match="is or holds the source"):
        run.check_target((tmp_path / "clean").as_uri(), STATS, overwrite=True)


def test_what_links_in_a_source_lead_to_is_not_touched(spark, tmp_path):
    """Folders and files, behind further links, too; one that leads in a circle is no matter."""
    written(spark, tmp_path / "clean")
    source = tmp_path / "crawl" / "days"
    source.mkdir(parents=True)
    (source / "circle").symlink_to(source)
    (source / "gone").symlink_to(tmp_path / "nowhere")
    check_target(spark, tmp_path / "clean", [str(tmp_path / "crawl")], STATS, overwrite=True)
    (tmp_path / "more").mkdir()
    (source / "more").symlink_to(tmp_path / "more")
    for place in (source, tmp_path / "more"):
        for leads_to in (tmp_path / "clean" / "numbers", next((tmp_path / "clean" / "numbers").glob("*.parquet"))):
            (place / "one").symlink_to(leads_to)
            for given in (str(tmp_path / "crawl"), f"{tmp_path}/cra*"):
                with pytest.raises(OutputError, match="is or holds the source"):
                    check_target(spark, tmp_path / "clean", [given], STATS, overwrite=True)
            (place / "one").unlink()


def test_partitions_of_a_table_are_not_touched_wherever_they_lie(spark, tmp_path):
    """A table of days may have each day in the answer of a run."""
    for day in ("a b", "c"):
        written(spark, tmp_path / day)
    spark.sql(f"create table days (id long, day string) using parquet partitioned by (day) location '{tmp_path}/days'")
    try:
        for day in ("a b", "c"):
            spark.sql(f"alter table days add partition (day='{day}') location '{tmp_path}/{day}/numbers'")
        assert 20 == spark.table("days").count()
        found = {root.removeprefix("file:") for root in roots(spark.table("days").filter("id > 2"))}
        assert {f"{tmp_path}/days", f"{tmp_path}/a b/numbers", f"{tmp_path}/c/numbers"} == found
        with pytest.raises(OutputError, match="is or holds the source"):
            check_target(spark, tmp_path / "a b", [], STATS, overwrite=True, roots=[*found])
    finally:
        spark.sql("drop table days")


def _asking(session, frame):
    """A frame of which another one is asked in a condition."""
    frame.createOrReplaceTempView("asked")
    return session.range(1).filter("cast(id as string) not in (select text from asked)")


@contextlib.contextmanager
def hadoop(session, *settings):
    """Settings of Hadoop's for a while: name, value, name=value."""
    name, value, *others = settings
    conf = session.sparkContext._jsc.hadoopConfiguration()
    given = dict([(name, value), *(each.split("=", 1) for each in others)])
    before = {each: conf.get(each) for each in given}
    for each, wanted in given.items():
        conf.set(each, wanted)
    try:
        yield
    finally:
        for each, old in before.items():
            conf.unset(each) if old is None else conf.set(each, old)


def test_another_ending_is_refused():
    """The formats are named."""
    with pytest.raises(OutputError, match=r"pairs\.xml has an unknown format") as told:
        format_of("s3a://bucket/pairs.xml")
    assert ".parquet .jsonl .csv" in told.value.hint


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (["three four", "five six"], "the source changed: it has rows that were not there"),
        (["one two"], "the source changed: 2 documents were to stay, and 1 were read again"),
    ],
    ids=["others", "fewer"],
)
def test_a_source_that_changes_is_not_written(later, told, spark, tmp_path):
    """What is read the second time is not what was decided about: an error, and no folder."""
    texts = ["one two", "one two", "seven eight"]
    pq.write_table(pa.table({"id": ["a", "b", "c"], "text": texts}), tmp_path / "in.parquet")
    found = ns.dedup(tmp_path / "in.parquet", engine=ns.Spark(spark))
    pq.write_table(pa.table({"id": list("abcd")[: len(later)], "text": later}), tmp_path / "in.parquet")
    with pytest.raises(ns.SourceError, match=told):
        found.write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.few
def test_a_place_where_workers_cannot_write_is_told_in_a_sentence(spark):
    """Not as the trace of the task that failed."""
    with pytest.raises(ns.OutputError, match=r"^(file:)?/proc: Spark's workers cannot make a folder there"):
        ns.dedup(["a"], engine=ns.Spark(spark)).write("/proc/clean")


@pytest.mark.parametrize(
    ("address", "said", "hint"),
    [
        ("file:out", "is no whole address", "file:///data/clean"),
        ("file:///", "/ exists", "Name another"),
        ("s3a://bucket/out", "S3AFileSystem not found", "spark.jars.packages"),
        ("abc://x/out", "No FileSystem for scheme", "spark.jars.packages"),
        ("hdfs://nohost.invalid/out", "nohost.invalid", "name of the host"),
    ],
)
def test_an_address_that_leads_nowhere_is_told_in_a_sentence(spark, address, said, hint):
    """With what to do about it, and not only what Java calls it."""
    found = ns.dedup(["a rose", "a rose"], engine=ns.Spark(spark))
    with pytest.raises(ns.NearSameError, match=said) as caught:
        found.write(address)
    assert hint in caught.value.hint


def test_dates_of_another_calendar_are_written_as_they_are(spark, tmp_path, setting):
    """Which Spark refuses by itself; who has asked it to is told by which setting."""
    days = [date(1500, 1, 1), date(2024, 1, 1)]
    table = pa.table({"text": ["a b c", "d e f"], "day": days})
    found = ns.dedup(table, keep="oldest:day", engine=ns.Spark(spark))
    found.write(tmp_path / "clean")
    assert set(days) == set(pq.read_table(tmp_path / "clean/kept").column("day").to_pylist())
    setting("spark.sql.parquet.datetimeRebaseModeInWrite", "EXCEPTION")
    with pytest.raises(ns.EngineError, match=r"may get a different result .*: ") as caught:
        found.write(tmp_path / "other")
    assert "datetimeRebaseModeInWrite" in caught.value.hint
    assert not (tmp_path / "other").exists()


def test_times_are_written_as_others_read_them(spark, tmp_path, setting):
    """With their years and their zone; who has said otherwise is heard."""
    until = pa.array([datetime(9999, 12, 31, tzinfo=UTC)], pa.timestamp("us", "UTC"))
    table = pa.table({"text": ["a b c"], "until": until})
    found = ns.dedup(table, engine=ns.Spark(spark))
    found.write(tmp_path / "clean")
    assert table.equals(pq.read_table(tmp_path / "clean/kept").replace_schema_metadata(None))
    setting("spark.sql.parquet.outputTimestampType", "INT96")
    found.write(tmp_path / "older")
    (older,) = (tmp_path / "older/kept").glob("*.parquet")
    assert "INT96" == pq.ParquetFile(older).schema.column(1).physical_type
