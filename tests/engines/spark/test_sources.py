"""What Spark reads for us, and what it is refused."""

import gzip
import json
import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.engines.spark import failures, reading
from nearsame.engines.spark.reading import read
from tests.sparks import jobs_since, newest_job

_ROWS = [{"id": "a", "text": "one two three four five six"}, {"id": "b", "text": "one two three four five six"}]


@pytest.fixture
def files(tmp_path, spark):
    """The same two documents in every format, by ending."""
    given = spark.createDataFrame(_ROWS)
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    (tmp_path / "x.csv").write_text('id,text\na,one two\nb,"one\n""two"""\n', "utf-8")
    (tmp_path / "x.txt").write_text("one two\nthree\n", "utf-8")
    given.write.parquet(str(tmp_path / "folder"))
    return tmp_path


def test_paths_are_read_by_their_endings_and_folders_by_those_of_their_files(spark, files):
    """JSON lines, CSV with line breaks in quotes, a text file as one document, a folder of Parquet parts, a pattern."""
    texts = {
        name: sorted(row["text"] for row in read(spark, [str(files / name)])[0].frame.collect())
        for name in ("x.jsonl", "x.csv", "x.txt", "folder", "x.json*")
    }
    same = [row["text"] for row in _ROWS]
    assert {"x.jsonl": same, "x.csv": ['one\n"two"', "one two"], "x.txt": ["one two\nthree\n"], "folder": same,
            "x.json*": same} == texts  # fmt: skip


@pytest.mark.parametrize("name", ["nowhere", "crawl.parquet", "crawl.v2.parquet"])
def test_a_name_that_is_neither_a_file_nor_a_table_does_not_exist(spark, name):
    """However many dots it has: a catalog that cannot have such a name is not what it is about."""
    with pytest.raises(ns.SourceError, match=f"^{re.escape(name)} does not exist"):
        read(spark, [name])


@pytest.mark.parametrize("path", ["nothing.parquet", "nowhere", "x.unknown"])
def test_a_path_that_cannot_be_read_is_an_error_in_one_line(spark, tmp_path, path):
    """With what Spark says of it, and no trace of Java."""
    (tmp_path / "x.unknown").write_text("?", "utf-8")
    with pytest.raises(ns.SourceError) as caught:
        read(spark, [str(tmp_path / path)])
    assert path in caught.value.message
    assert "\n" not in caught.value.message


def _table():
    columns = {"id": ["a", "b", "c"], "text": [*(row["text"] for row in _ROWS), "another"]}
    return pa.table(columns | {"size": pa.array([1, 2, 2**64 - 1], pa.uint64())})


@pytest.mark.few
@pytest.mark.parametrize(
    "given",
    [
        lambda: [*(row["text"] for row in _ROWS), "another"],
        lambda: _table().to_pylist(),
        lambda: dict(zip("abc", _table().column("text").to_pylist(), strict=True)),
        _table,
        lambda: _table().to_pandas(),
        lambda: pl.from_arrow(_table()),
        lambda: (_table().slice(0, 1), _table().slice(1)),
    ],
    ids=["texts", "records", "dict", "Arrow", "pandas", "polars", "several"],
)
def test_what_is_in_memory_here_is_taken_to_spark(spark, given):
    """With all its columns, and given back as a DataFrame."""
    found = ns.dedup(given(), engine=ns.Spark(spark))
    assert (3, 1) == (found.stats.documents, found.stats.removed)
    assert sorted([_ROWS[0]["text"], "another"]) == sorted(row.text for row in found.kept().collect())


_ODD = [
    b"b\xed\xa0\x80",
    b"\xff",
    b"caf\xc3\xa9\xc3",
    b"a\xe2\x82 \xf0\x9f\x98\x80\xf0\x9f",
    None,
    "α".encode(),
    b"",
    b"z\x80\\",
]


@pytest.mark.parametrize("driver_bytes", [0, "64MB"], ids=["many", "few"])
def test_ids_that_are_not_utf8_are_written_as_on_one_machine(spark, tmp_path, driver_bytes):
    """Each byte as a backslash, an x and its hex: of Arrow, and of files, whose strings nobody has looked at."""
    ids = pa.array(_ODD, pa.binary()).view(pa.string())
    pq.write_table(pa.table({"id": ids, "text": [_ROWS[0]["text"]] * len(ids)}), tmp_path / "odd.parquet")
    path = tmp_path / "odd.parquet"
    expected = ns.dedup(path, ties="content").removals.to_pydict()
    engine = ns.Spark(spark, driver_bytes=driver_bytes)
    for given in (path, pq.read_table(path)):
        found = ns.dedup(given, engine=engine, audit=False).removals.toArrow().to_pydict()
        for name in ("id", "witness_id"):
            assert sorted(map(_told, expected[name])) == sorted(map(_told, found[name]))


def _told(name):
    return "" if name.isdecimal() or ":" in name else name  # of what has no id


_NOTHING = {
    "records": lambda: [{"id": "a", "text": _ROWS[0]["text"], "y": None, "z": []}],
    "no texts": lambda: pd.DataFrame({"id": ["a", "b"], "text": [float("nan")] * 2}),
    "no rows": lambda: pd.DataFrame({"id": [], "text": []}),
    "no rows, no types": lambda: pd.DataFrame(columns=["id", "text"]),
}


@pytest.mark.parametrize("name", _NOTHING)
@pytest.mark.parametrize("driver_bytes", [0, "64MB"], ids=["many", "few"])
def test_a_column_without_any_value_has_no_type_and_is_read_and_written(spark, tmp_path, name, driver_bytes):
    """Whatever type somebody gave it: pandas says that none is a number."""
    given = _NOTHING[name]()
    expected = ns.dedup(given)
    found = ns.dedup(given, engine=ns.Spark(spark, driver_bytes=driver_bytes), audit=False)
    here, there = ((run.stats.documents, run.stats.kept, run.stats.empty) for run in (expected, found))
    assert here == there
    found.write(tmp_path / "out")
    assert found.stats.kept == spark.read.parquet(str(tmp_path / "out" / "kept")).count()
    if name == "records":
        assert [None, []] == [*spark.read.parquet(str(tmp_path / "out" / "kept")).select("y", "z").first()]


def test_a_type_that_spark_has_not_is_an_error_with_its_name(spark):
    """Nobody guesses what a time of the day is to become."""
    times = pa.table({"text": ["a"], "at": pa.array([0], pa.time64("us"))})
    with pytest.raises(ns.SourceError, match=r"cannot be taken to Spark: .*time64"):
        ns.dedup(times, engine=ns.Spark(spark))
    with pytest.raises(ns.SourceError, match="documents cannot be read from"):
        ns.dedup(7, engine=ns.Spark(spark))


@pytest.mark.few
def test_tables_and_views_are_read_by_name_where_there_is_no_such_file(spark, monkeypatch):
    """A file comes first: it is what was meant before there were tables."""
    spark.createDataFrame(_ROWS).createOrReplaceTempView("crawl")
    found = ns.dedup("crawl", engine=ns.Spark(spark))
    assert (2, 1) == (found.stats.documents, found.stats.removed)
    with pytest.raises(ns.SourceError, match="crawls does not exist"):
        ns.dedup("crawls", engine=ns.Spark(spark))
    monkeypatch.setattr(reading.HadoopFiles, "at", lambda *_: ["a file"])
    monkeypatch.setattr(reading, "_form", lambda *_: (_ for _ in ()).throw(ns.SourceError("the file was meant")))
    with pytest.raises(ns.SourceError, match="the file was meant"):
        ns.dedup("crawl", engine=ns.Spark(spark))
    spark.catalog.dropTempView("crawl")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"threads": 2}, "threads=2 is about one machine"),
        ({"memory": "1GB"}, "memory='1GB' is about one machine"),
        ({"url_column": "where"}, "url_column='where': on Spark URLs are read for layers alone"),
        (
            {"url_column": "where", "method": ns.Jaccard(boilerplate_per_host=0.3)},
            "boilerplate_per_host=0.3 is about one machine",
        ),
        ({"urls": ns.CanonicalUrl()}, "urls=.* is about one machine"),
        ({"workdir": "w"}, "workdir works with files only, and a DataFrame is not a file"),
        ({"ties": "reading"}, "ties='reading' on Spark"),
        ({"keep": "last"}, "keep='last' and ties='content'"),
        ({"engine": "spark"}, "engine='spark' is not an engine"),
        ({"method": ns.SimHash(search="adjacent")}, "search=adjacent"),
    ],
)
def test_what_spark_cannot_do_is_refused(spark, given, message):
    """Never ignored."""
    frame = spark.createDataFrame(_ROWS)
    with pytest.raises(ns.ConfigError, match=message):
        ns.dedup(frame, **{"engine": ns.Spark(spark), **given})


@pytest.mark.parametrize(
    "given", [{"partitions": 0}, {"rounds": -1}, {"broadcast_bytes": "much"}, {"driver_bytes": "?"}]
)
def test_settings_are_checked_before_anything_starts(given):
    """By their names and values."""
    with pytest.raises(ns.ConfigError, match=str(next(iter(given.values()))).replace("?", "[?]")):
        ns.Spark(**given)


@pytest.mark.few
def test_an_answer_is_written_to_a_table_and_read_from_there_by_name(spark, tmp_path):
    """With its schema: what stays has all columns, and nothing of ours."""
    kept = ns.dedup(_table(), engine=ns.Spark(spark)).kept()
    kept.write.option("path", str(tmp_path / "clean")).saveAsTable("clean_texts")
    try:
        found = ns.dedup("default.clean_texts", engine=ns.Spark(spark))
        assert (2, 0) == (found.stats.documents, found.stats.removed)
        assert ["id", "text", "size"] == found.kept().columns
    finally:
        spark.sql("drop table clean_texts")


def test_jobs_and_stages_are_called_after_the_steps_of_the_run(spark, tmp_path):
    """So that the flow is seen in Spark's pages; what the session called its own before is there again."""
    context = spark.sparkContext
    context.setLocalProperty("spark.job.description", "mine")
    before, engine = newest_job(spark), ns.Spark(spark)
    found = ns.dedup(_table(), method=ns.MinHash(), engine=engine)
    assert 1 == found.stats.removed
    layered = ns.dedup(_table(), use="digest,text", engine=engine)
    assert 1 == layered.write(tmp_path / "layered").removed
    ns.pairs(_table(), engine=engine).write(tmp_path / "pairs.parquet")
    names = {job.description().get() for job in jobs_since(spark, before)}
    steps = ("identical", "keys", "deciding", "statistics", "joining", "writing")
    assert {f"nearsame: {step}" for step in steps} <= names
    assert all(name.startswith("nearsame: ") for name in names)
    assert "mine" == context.getLocalProperty("spark.job.description")
    context.setLocalProperty("spark.job.description", None)


@pytest.mark.parametrize(
    ("ask", "method", "engine", "most"),
    [
        (ns.dedup, ns.MinHash(), {}, 50),
        (ns.dedup, ns.MinHash(), {"task_bytes": 0}, 114),
        (ns.dedup, ns.Jaccard(), {"task_bytes": 0}, 42),
        (ns.pairs, ns.MinHash(), {}, 60),
    ],
    ids=["one task decides", "many tasks decide", "exact", "pairs"],
)
def test_a_run_by_the_cluster_takes_no_more_jobs_than_it_did(spark, ask, method, engine, most):
    """Counted where Spark adapts its plans, as it does by itself: each stage of such a plan is a job."""
    rows = [{"id": str(at), "text": f"{_ROWS[0]['text']} {'again' * (at % 2)}"} for at in range(8)]
    frame, before = spark.createDataFrame(rows), newest_job(spark)
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    try:
        found = ask(frame, method=method, audit=False, engine=ns.Spark(spark, driver_bytes=0, **engine))
        if ask is ns.dedup:
            assert (6, 2) == (found.stats.removed, len(found.examples(2)))
        else:
            assert 12 == len(found.pairs.collect())
        assert 10 < len(jobs_since(spark, before)) <= most
        assert "true" == spark.conf.get("spark.sql.adaptive.enabled")
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")
    found.release()


@pytest.mark.parametrize("name", ["a[1].jsonl", "{a,b}.jsonl", "a*.jsonl", "crawl [1]", "a\\b.jsonl", "a\\b"])
def test_a_name_that_leads_to_a_file_is_no_pattern(name, spark, tmp_path):
    """As a shell hands it on; it is told as it was given, and what it would match as a pattern is another file."""
    file = tmp_path / name if name.endswith("l") else tmp_path / name / "part.jsonl"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(_ROWS[0]) + "\n", "utf-8")
    for other in ("a1.jsonl", "ab.jsonl", "a.jsonl"):
        (tmp_path / other).write_text("".join(json.dumps(row) + "\n" for row in _ROWS), "utf-8")
    (given,) = read(spark, [str(tmp_path / name)])
    assert (str(tmp_path / name), 1) == (given.name, given.frame.count())


@pytest.mark.few
def test_names_of_files_of_csv_are_no_patterns(spark, tmp_path):
    """Where Spark looks for columns, it takes them for such: it found no file, or another one."""
    for folder, name, at in (("n=7", "a[1].csv.gz", 0), ("n=7", "a1.csv.gz", 1), ("n=8", "b{c,d}.csv.gz", 2)):
        (tmp_path / folder).mkdir(exist_ok=True)
        _csv(tmp_path / folder / name, "\r\n" if at else "\n", [f"cell {at}\r\n"] * 2, packed=True)
    for source, documents in ((tmp_path, 6), (tmp_path / "n=7" / "a[1].csv.gz", 2), (tmp_path / "*" / "*.csv.gz", 6)):
        here, there = (ns.dedup(source, ties="content", **on) for on in ({}, {"engine": ns.Spark(spark)}))
        texts = sorted(here.kept()["text"].to_pylist())
        assert (documents, texts) == (there.stats.documents, sorted(row.text for row in there.kept().collect()))
        assert texts[0].endswith("\r\n")
    assert {"id", "text", "n"} == set(ns.dedup(tmp_path, engine=ns.Spark(spark)).kept().columns)
    _csv(tmp_path / "n=8" / "c[1].csv", "\n", name="text,N")
    with pytest.raises(ns.ColumnError, match="column 'N' stands in files, and names of their folders say it, too"):
        ns.dedup(tmp_path / "n=8" / "..", engine=ns.Spark(spark))


@pytest.mark.few
def test_a_column_without_a_name_does_not_keep_csv_from_being_read(spark, tmp_path):
    """As pandas writes its index; one file, or a folder of them, whose headers are the same or not."""
    for at in range(3):
        header = ",id,text" if at < 2 else ",id,text,more"
        (tmp_path / f"{at}.csv").write_text(f"{header}\n0,{at},one two three{',x' * (at == 2)}\n", "utf-8")
    assert [2, 1] == [given.frame.count() for given in read(spark, [str(tmp_path)])]
    found = ns.dedup(tmp_path, engine=ns.Spark(spark))
    assert (3, 2, 0) == (found.stats.documents, found.stats.removed, found.stats.skipped)
    (tmp_path / "2.csv").unlink()
    assert [2, 1] == [read(spark, [f"{tmp_path}{part}"])[0].frame.count() for part in ("/*.csv", "/0.csv")]


@pytest.mark.few
def test_a_column_may_be_called_as_what_spark_knows_of_files(spark, tmp_path):
    """Bad records are counted by file all the same."""
    (tmp_path / "a.jsonl").write_text('{"_metadata": "x", "text": "one"}\n{"_metadata": "y", "text": "one"}\n{\n')
    found = ns.dedup(tmp_path, engine=ns.Spark(spark))
    assert (2, 1, 1) == (found.stats.documents, found.stats.removed, found.stats.skipped)


def test_what_is_wrong_with_a_file_is_told_with_its_name(spark, tmp_path):
    """Also where Spark leaves it out, or tells of another."""
    (tmp_path / "twice.jsonl").write_text('{"text": "one", "text": "two"}\n', "utf-8")
    times = pa.table({"text": ["a"], "at": pa.array([0], pa.time64("us"))})
    pq.write_table(times, tmp_path / "times.parquet")
    pq.write_table(times.select(["text"]), tmp_path / "a:1.parquet")
    (tmp_path / "empty").mkdir()
    for name, said in {
        "twice.jsonl": f"^{tmp_path}/twice.jsonl: The column `text` already exists",
        "times.parquet": f"^{tmp_path}/times.parquet: Illegal Parquet type: INT64 .TIME",
        "a:1.parquet": r"a:1.parquet: Hadoop reads no file with a colon",
        "empty": f"^{tmp_path}/empty holds no file of a known format",
    }.items():
        with pytest.raises(ns.NearSameError, match=said), failures.plainly():
            read(spark, [str(tmp_path / name)])


_CELLS = ["one two\r\nthree", "one two\nthree", "a\rb", "\r\n\r\n", "plain", "ends\r\n"]


def _csv(path, end, cells=_CELLS, packed=False, name="text"):
    """A file of CSV whose rows end in this way, and whose cells hold all kinds of line ends."""
    rows = [f"id,{name}", *(f'{at},"{cell}"' for at, cell in enumerate(cells))]
    content = "".join(row + end for row in rows).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    return path


@pytest.mark.few
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_in_cells_of_csv_stay(spark, tmp_path, end, packed):
    """However rows end: Spark by itself makes those in cells what these are."""
    source = _csv(tmp_path / f"a.csv{'.gz' * packed}", end, packed=packed)
    (given,) = read(spark, [str(source)])
    assert _CELLS == [row.text for row in given.frame.sort("id").collect()]
    here, there = (ns.dedup(source, method="digest", **on) for on in ({}, {"engine": ns.Spark(spark)}))
    assert (here.stats.documents, here.stats.kept) == (there.stats.documents, there.stats.kept) == (6, 6)


@pytest.mark.few
def test_files_of_csv_whose_rows_end_otherwise_are_read_apart(spark, tmp_path):
    """In a folder, by a pattern or by their names, in partitions and with headers that differ."""
    for at, end in enumerate(["\n", "\r\n", "\n", "\r\n"]):
        _csv(tmp_path / f"{at}.csv", end)
    _csv(tmp_path / "empty.csv", "\n", [])
    (tmp_path / "nothing.csv").touch()
    for source in ([str(tmp_path)], [f"{tmp_path}/*.csv"], [f"{tmp_path}/{at}.csv" for at in range(4)]):
        parts = read(spark, source)
        assert sorted(_CELLS * 4) == sorted(row.text for part in parts for row in part.frame.collect())
        assert 2 == len(parts)
    for at, end in enumerate(["\n", "\r\n"]):
        (tmp_path / "parts" / f"k={at}").mkdir(parents=True)
        _csv(tmp_path / "parts" / f"k={at}" / "a.csv", end)
    rows = [row for part in read(spark, [f"{tmp_path}/parts"]) for row in part.frame.collect()]
    assert sorted((at, cell) for at in range(2) for cell in _CELLS) == sorted((row.k, row.text) for row in rows)


@pytest.mark.few
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_of_csv_without_rows_goes_with_the_others(spark, tmp_path, end):
    """It does not say how rows end: empty, packed and empty, or a header without an end."""
    _csv(tmp_path / "a.csv", end)
    (tmp_path / "b.csv").touch()
    (given,) = read(spark, [str(tmp_path)])
    assert sorted(_CELLS) == sorted(row.text for row in given.frame.collect())
    (tmp_path / "b.csv").unlink()
    (tmp_path / "c.csv").write_text("id,text", "utf-8")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b""))
    assert 6 == ns.dedup(tmp_path, method="digest", engine=ns.Spark(spark)).stats.documents


@pytest.mark.few
@pytest.mark.parametrize("inside", ["\n", "\r\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_in_a_header_do_not_say_how_rows_end(spark, tmp_path, end, inside):
    """As spreadsheets write them, in quotes; however long the header is."""
    for name in ("a", "a" * 9000):
        rows = [f'id,"{name}{inside}b",text', *(f'{at},x,"{cell}"' for at, cell in enumerate(_CELLS)), "6,y,plain"]
        (tmp_path / "a.csv").write_bytes("".join(row + end for row in rows).encode())
        (given,) = read(spark, [str(tmp_path / "a.csv")])
        assert [*_CELLS, "plain"] == [row.text for row in given.frame.sort("id").collect()]


@pytest.mark.few
def test_settings_of_a_session_do_not_keep_files_from_being_read(spark, tmp_path, setting):
    """Sources of the second version, which say nothing of their files; groups without the columns they are made by."""
    (tmp_path / "in").mkdir()
    for at in range(3):
        (tmp_path / "in" / f"{at}.txt").write_text(f"{at // 2} one two three", "utf-8")
    (tmp_path / "a.jsonl").write_text('{"id": 1, "text": "a b c"}\n{bad\n', "utf-8")
    setting("spark.sql.sources.useV1SourceList", "")
    setting("spark.sql.retainGroupColumns", "false")
    found = ns.dedup(tmp_path / "in", engine=ns.Spark(spark))
    assert ["1.txt"] == [row.id.rpartition("/")[2] for row in found.removals.collect()]
    assert 1 == ns.dedup(tmp_path / "a.jsonl", engine=ns.Spark(spark)).stats.skipped


def test_groups_without_their_columns_do_not_keep_a_run_from_its_answer(spark, setting):
    """By the cluster, too."""
    setting("spark.sql.retainGroupColumns", "false")
    found = ns.dedup(spark.createDataFrame([*_ROWS, *_ROWS]), engine=ns.Spark(spark, driver_bytes=0))
    assert (4, 1) == (found.stats.documents, found.stats.kept)
