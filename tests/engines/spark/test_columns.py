"""Which columns of DataFrames count, what is wrong with them, and what rows are called by."""

from typing import Any

import pytest

import nearsame as ns
from nearsame.clock import Clock
from nearsame.engines.spark.reading import Given, read
from nearsame.frames.documents import FrameSide
from nearsame.frames.inputs import part_of
from nearsame.frames.request import Request
from nearsame.sources import Columns
from nearsame.stages.clusters.policies import Keep


def _asked(spark: Any, **columns: Any) -> Request:
    return Request(ns.Spark(spark), ns.Jaccard(), Columns(**columns), Clock())


LONG_NUMBERS = [  # and of each group the first that is in it
    (("18446744073709551617", "18446744073709551616"), [0, 1]),
    (("18446744073709551615", "18446744073709551614", "018446744073709551614"), [0, 1, 1]),
    (("9007199254740993", "9007199254740992", ".5"), [0, 1, 2]),
    (("0.12345678901234568", "0.5", "0.50"), [0, 1, 2]),  # of so many digits all are texts
    (("12e4567", "13e4567", "5"), [0, 1, 2]),
    (("1e-400", "2e-400", "0"), [0, 1, 2]),
    (("4e-324", "5e-324"), [0, 1]),
    (("5d", "5f", "5"), [0, 1, 2]),
    (("0x10", "16"), [0, 1]),
    (("0x1p4", "16"), [0, 1]),
    ((" 10", "10", "9 "), [0, 1, 2]),
    (('"5\n"', "5"), [0, 1]),
    (("nan", "", "5.5", "5.50"), [0, 1, 2, 2]),
    (("01067", "1067", "+1067", "1e3", "1000."), [0, 0, 0, 3, 3]),
    (("0", "-0", "-0.0", "0e5", "1e5", "100000.0"), [0, 0, 0, 0, 4, 4]),
]


def _sides(spark: Any, source: Any, against: Any = None, keep: str = "first", **columns: Any) -> tuple[FrameSide, ...]:
    """What a run makes of its sources before it reads them."""
    given = [(1, source)] if against is None else [(0, against), (1, source)]
    policies = Keep.parse(keep, "reading")
    return _asked(spark, order=policies.reads, **columns)._sides(spark, given, policies)


def _documents(side: FrameSide, *names: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in names) for row in side.documents().collect()), key=str)


def _part(spark: Any, query: str, **columns: Any) -> Any:
    return part_of(Given("the DataFrame", spark.sql(query)), Columns(**columns), numbers=("n",))


@pytest.fixture
def write(tmp_path):
    """Write a file, and tell its path."""

    def written(name: str, content: bytes) -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return written


def test_sources_whose_texts_have_different_names_are_refused(spark, write):
    """Of the union one column would be chosen, and the texts of the other source would be nothing."""
    one, two = write("one.jsonl", b'{"id":"a","text":"x"}\n'), write("two.jsonl", b'{"id":"b","content":"y"}\n')
    with pytest.raises(ns.ColumnError, match=r"one\.jsonl would be 'text', that of .*two\.jsonl 'content'"):
        _sides(spark, (one, two))


def test_columns_of_one_name_and_several_types_become_strings(spark, write):
    """And what only one source has is null in the other."""
    one, two = write("one.jsonl", b'{"id":7,"text":"x","n":1}\n'), write("two.jsonl", b'{"id":"b","text":"y"}\n')
    (side,) = _sides(spark, (one, two))
    assert _documents(side, "id", "text") == [("7", "x"), ("b", "y")]
    assert dict(side.frame.dtypes) == {"id": "string", "n": "bigint", "text": "string"}


@pytest.mark.parametrize(
    ("name", "content", "bad"),
    [
        ("x.jsonl", b'{"id":"a","text":"x"}\n{"id":"b","te\n\n', 1),
        ("x.csv", b"id,text\na,x\nb,y,z\nc\n", 2),
        ("x.jsonl", b'{"id":"a","text":"x"}\n{"id":"b","text":"\xff"}\n', 1),
    ],
)
def test_records_that_cannot_be_read_are_counted_and_no_documents(spark, write, name, content, bad):
    """By the file that they stand in."""
    (side,) = _sides(spark, write(name, content))
    ((source, number, _),) = side.parts[0].unread
    assert (source.endswith(f"/{name}"), number) == (True, bad)
    assert _documents(side, "id", "text") == [("a", "x")]
    assert side.frame.columns == ["id", "text"]


@pytest.mark.parametrize("content", [b"", b"{oops\n"])
def test_files_without_a_record_have_no_documents(spark, write, content):
    """And are no error."""
    (side,) = _sides(spark, write("x.jsonl", content))
    assert _documents(side, "text") == []
    assert sum(number for _, number, _ in side.parts[0].unread) == len(content.splitlines())


def test_vectors_that_hold_no_numbers_are_counted(spark):
    """They say nothing, and stay; lists of several types go together."""
    frame = spark.sql("select 'a' as id, array(1D, double('NaN')) as v union all select 'b', array(1D, 2D)")
    (side,) = _sides(spark, (frame, spark.sql("select 'c' as id, array(3, 4) as v")), vectors="v")
    assert _documents(side, "id", "vector") == [("a", None), ("b", [1.0, 2.0]), ("c", [3.0, 4.0])]
    assert [part.mended for part in side.parts] == [1, 0]


def test_strict_stops_at_a_record_that_cannot_be_read(spark, write):
    """Where JSON is concerned, at once."""
    with pytest.raises(ns.SourceError):
        read(spark, [write("x.jsonl", b'{"id":"a","text":"x"}\n{"id":"b","te\n')], strict=True)


def test_texts_of_csv_that_are_no_utf8_are_nothing(spark, write):
    """Spark has put one character in the place of all bad bytes, so they would be equal."""
    (side,) = _sides(spark, write("x.csv", b"id,text\na,caf\xe9\nb,caf\xe8\nc,plain\n"))
    assert _documents(side, "id", "text") == [("a", None), ("b", None), ("c", "plain")]
    assert side.parts[0].mended == 2


def test_bytes_that_are_no_utf8_are_nothing(spark):
    """And those that are become their text."""
    frame = spark.sql("select 'a' as id, cast('plain' as binary) as text union all select 'b', x'ff'")
    assert _documents(*_sides(spark, frame), "id", "text") == [("a", "plain"), ("b", None)]


@pytest.mark.parametrize(
    ("one", "other"), [("string", "bigint"), ("timestamp", "bigint"), ("decimal(9,2)", "double"), ("boolean", "int")]
)
def test_orders_that_cannot_be_compared_are_refused(spark, one, other):
    """By the error of one machine: Spark would make texts of both."""
    frames = [spark.sql(f"select 'a' as id, 'x' as text, cast(null as {kind}) as n") for kind in (one, other)]
    with pytest.raises(ns.ConfigError, match=r"column 'n' is .* no type holds the values of both exactly"):
        _sides(spark, frames[0], frames[1], keep="max:n")


@pytest.mark.parametrize("kind", ["array<int>", "struct<a int>", "map<string,int>"])
def test_an_order_of_lists_or_records_is_refused(spark, kind):
    """They have none."""
    kind = kind.replace("<a int>", "<a: int>")
    with pytest.raises(ns.ConfigError, match="which has no order"):
        _sides(spark, spark.sql(f"select 'a' as id, 'x' as text, cast(null as {kind}) as n"), keep="max:n")


def test_orders_of_whole_and_other_numbers_are_compared_as_numbers(spark):
    """On both sides, and within one; a side without any has null."""
    whole, other = (
        spark.sql("select 'a' as id, 'x' as text, 2 as n"),
        spark.sql("select 'b' as id, 'x' as text, 1.5D n"),
    )
    without = spark.sql("select 'c' as id, 'x' as text")
    against, side = _sides(spark, (whole, other), without, keep="max:n")
    assert _documents(side, "id", "value0") == [("a", 2.0), ("b", 1.5)]
    assert _documents(against, "id", "value0") == [("c", None)]


def test_what_is_no_number_has_no_place_in_the_order(spark):
    """Spark would hold NaN for the greatest."""
    frame = spark.sql("select 'a' as id, 'x' as text, double('NaN') as n union all select 'b', 'x', 1D")
    assert _documents(*_sides(spark, frame, keep="max:n"), "id", "value0") == [("a", None), ("b", 1.0)]


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (("9", "10", ""), [9, 10, None]),
        (("9", "1.5", ""), [9.0, 1.5, None]),
        (("9", "x", ""), ["9", "x", None]),
        (("9", "9.123456789012345e-05", "nan"), [9.0, 9.123456789012345e-05, None]),
        (("9", "1.000000000000000000e+00", "1e400"), [9.0, 1.0, float("inf")]),
        (("9223372036854775808", "9223372036854775807", ""), [2**63, 2**63 - 1, None]),
    ],
)
def test_numbers_of_csv_are_ordered_as_numbers(spark, write, values, kept):
    """Where all are; as texts, 9 would be more than 10."""
    lines = "".join(f"{name},x,{value}\n" for name, value in zip("abc", values, strict=True))
    (side,) = _sides(spark, write("x.csv", f"id,text,n\n{lines}".encode()), keep="max:n")
    assert [row[1] for row in _documents(side, "id", "value0")] == kept
    assert dict(side.frame.dtypes)["n"] == "string"  # as it is written again


@pytest.mark.parametrize(("numbers", "groups"), LONG_NUMBERS)
def test_numbers_that_differ_are_never_one_group(spark, write, numbers, groups):
    """As on one machine: a double takes many long numbers for one."""
    lines = "".join(f"{at},the same few words,{number}\n" for at, number in enumerate(numbers))
    path = write("x.csv", f"id,text,n\n{lines}".encode())
    engines = [{}, {"engine": ns.Spark(spark)}]
    engines += [{"engine": ns.Spark(spark, driver_bytes=0)}] * (
        numbers[0] in {"9007199254740993", "0"}
    )  # which is slow
    for engine in engines:
        kept = ns.dedup(path, group_by="n", **engine).kept()
        rows = kept.collect() if engine else kept.to_pylist()
        assert sorted(set(groups)) == sorted(int(row["id"]) for row in rows)


def test_dates_of_csv_stay_texts(spark, write):
    """They are read as dates where that is asked for."""
    path = write("x.csv", b"id,text,n\na,x,2024\nb,x,2023\n")
    assert _documents(*_sides(spark, path, keep="newest:n"), "id", "value0") == [("a", "2024"), ("b", "2023")]


def test_fields_of_json_that_spark_cannot_tell_apart_are_refused(spark, write):
    """By the same error as columns."""
    with pytest.raises(ns.ColumnError, match="`text` already exists"):
        _sides(spark, write("x.jsonl", b'{"text":"x","Text":"y"}\n'))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select 'x' as text, 1 as n, 2 as N", "columns 'n', 'N', which Spark takes for one"),
        ("select 'x' as text, 1 as nearsame_row", "column 'nearsame_row': names that begin with nearsame_"),
    ],
)
def test_names_that_spark_cannot_tell_apart_are_refused(spark, query, message):
    """So are those that are ours."""
    with pytest.raises(ns.ColumnError, match=message):
        _part(spark, query)


def test_names_with_dots_and_backticks_are_names(spark):
    """Wherever they stand."""
    frame = spark.sql("select 'a' as `my.id`, 'x' as `the``text`, 3 as `n.n`, 4 as `n`")
    other = frame.selectExpr("`my.id`", "`the``text`", "`n.n`")
    (side,) = _sides(spark, (frame, other), id="my.id", text="the`text", keep="max:n.n")
    assert _documents(side, "id", "text", "value0") == [("a", "x", 3), ("a", "x", 3)]


@pytest.mark.parametrize(
    ("query", "columns", "message"),
    [
        ("select 1 as text", {}, "column 'text' is int, not text"),
        ("select map('a', 1) as text", {}, "column 'text' is map<string,int>, not text"),
        ("select array(1.5D) as f", {"items": "f"}, "is array<double>, not a list of strings or integers"),
        ("select 'x' as f", {"items": "f"}, "is string, not a list of strings or integers"),
        ("select array('1') as v", {"vectors": "v"}, "is array<string>, not a list of numbers"),
        ("select array(1) as id, 'x' as text", {}, "is array<int>, not a scalar"),
        ("select 1.5D as id, 'x' as text", {}, "is double, which Spark spells in its own way"),
        ("select timestamp '2024-01-01' as id, 'x' as text", {}, "is timestamp, which"),
        ("select x'00' as id, 'x' as text", {}, "is binary, which"),
    ],
)
def test_columns_of_another_type_are_refused(spark, query, columns, message):
    """As on one machine; Spark would cast them without a word."""
    with pytest.raises(ns.ColumnError, match=message):
        _part(spark, query, **columns)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("array('a', null)", "array('a')"),
        ("array(array(1), array(2))", "array(array(1, 2))"),
        ("struct(1 as a, null as b)", "struct(null as a, 1 as b)"),
        ("map('a', 1)", "map('a', 2)"),
        ("array(map('a', 1))", "array(map('a', null))"),
        ("make_interval(0, 1, 0, 1)", "make_interval(0, 1, 0, 2)"),
        ("parse_json('[1]')", "parse_json('[2]')"),
        ("collate('a', 'UTF8_LCASE')", "collate('A', 'UTF8_LCASE')"),
        ("struct(1 as interval_map)", "struct(2 as interval_map)"),
        ("cast(null as struct<a: int>)", "named_struct('a', cast(null as int))"),
        ("struct(timestamp_micros(1) as t)", "struct(timestamp_micros(2) as t)"),
        ("struct(struct(array(timestamp_micros(1)) as t))", "struct(struct(array(timestamp_micros(2)) as t))"),
        ("map('k', timestamp_micros(1))", "map('k', timestamp_micros(2))"),
        ("map(timestamp_micros(1), 'k')", "map(timestamp_micros(2), 'k')"),
        ("struct('a,1:b' as a, 'c' as b)", "struct('a' as a, 'b,1:c' as b)"),
        ("map('a', 'b', 'c', null)", "map('a', 'b', 'c', 'n')"),
        ("cast(map() as map<string, int>)", "cast(null as map<string, int>)"),
        ("cast(struct(1, 2) as struct<a: int, A: int>)", "cast(struct(1, 3) as struct<a: int, A: int>)"),
    ],
)
def test_rows_that_differ_within_a_value_are_called_differently(spark, one, other):
    """Spark's hash knows of no nulls within, no bounds of lists, and no maps."""
    frame = spark.sql(f"select 'x' as text, {one} as v union all select 'x', {other}")
    assert len({row["nearsame_row"] for row in _sides(spark, frame)[0].named(()).select("nearsame_row").collect()}) == 2


@pytest.mark.parametrize(
    "value",
    [
        "map(cast('a' as binary), 1)",
        "struct(timestamp_micros(1577836800000001) as t)",
        "map('k', timestamp_micros(1577836800000001))",
        "struct(1 as `odd.name`, 2 as `a``b`)",
    ],
)
def test_a_row_is_called_the_same_each_time(spark, setting, value):
    """Java has no text for bytes, and a session may change its time zone between a run and writing."""
    frame = spark.sql(f"select 'x' as text, {value} as v").alias("v").selectExpr("*", "7 as t")
    names = set()
    for zone in ("Asia/Kolkata", "America/New_York"):
        setting("spark.sql.session.timeZone", zone)
        names |= {row["nearsame_row"] for row in _sides(spark, frame)[0].named(()).select("nearsame_row").collect()}
    assert 1 == len(names)


def test_a_group_is_a_moment_and_not_what_a_clock_shows(spark, setting):
    """In autumn an hour comes twice."""
    setting("spark.sql.session.timeZone", "Europe/Berlin")
    moments = "select 'one two three' as text, timestamp_seconds(1603585800 + 3600 * id) as at, id from range(2)"
    for engine in (ns.Spark(spark), ns.Spark(spark, driver_bytes=0)):
        assert 0 == ns.dedup(spark.sql(moments), group_by="at", engine=engine).stats.removed
    assert 1 == ns.dedup(spark.sql(moments), group_by="text", engine=ns.Spark(spark)).stats.removed


def test_lists_that_are_cut_elsewhere_are_called_differently(spark):
    """Though they hold the same one after the other."""
    frame = spark.sql("select 'x' as text, array('a') as v, array() as w union all select 'x', array(), array('a')")
    assert len({row["nearsame_row"] for row in _sides(spark, frame)[0].named(()).select("nearsame_row").collect()}) == 2


def test_what_could_not_be_read_is_in_the_statistics(spark, write, tmp_path):
    """So the command ends with the exit code that says so; and it is told in words."""
    lines = b'{"id":"a","text":"one two three"}\n{"id":"b","text":"one two three"}\n{"id":"c","te\n'
    found = ns.dedup(write("x.jsonl", lines), engine=ns.Spark(spark))
    stats = found.stats
    assert (stats.documents, stats.kept, stats.skipped) == (2, 1, 1)
    (record,) = found.skipped.to_pylist()
    assert record["source"].endswith("x.jsonl")
    assert record["reason"] == "1 record is not readable"
    assert [row["id"] for row in found.kept().collect()] == ["a"]
    assert found.kept().count() == 1


def test_frames_with_other_columns_go_through_a_run(spark):
    """From the sources to what stays."""
    frame = spark.sql("select 'a' as id, 'one two three' as text, map('a', null) as m")
    other = spark.sql("select 'b' as id, 'one two three' as text, 4 as o")
    found = ns.dedup((frame, other), engine=ns.Spark(spark))
    assert [row["id"] for row in found.kept().collect()] == ["a"]
    assert [row["id"] for row in found.removed().collect()] == ["b"]


def test_names_in_which_spark_sees_something_else_are_refused(spark, setting):
    """A variable of its SQL; and with a setting of the session every name is a pattern."""
    with pytest.raises(
        ns.ColumnError, match=r"a column '\$\{spark.app.name\}', in whose name Spark's SQL sees a variable"
    ):
        ns.dedup([{"text": "a b", "${spark.app.name}": "x"}], engine=ns.Spark(spark))
    setting("spark.sql.parser.quotedRegexColumnNames", "true")
    with pytest.raises(ns.ConfigError, match="quotedRegexColumnNames"):
        ns.dedup(["a b"], engine=ns.Spark(spark))


@pytest.mark.few
def test_what_folders_of_csv_say_has_an_order(tmp_path, spark):
    """It has a type, where cells of the files are texts until all of them are numbers."""
    for day in (2, 10):
        (tmp_path / f"day={day}").mkdir()
        rows = "".join(f"d{day}.{number},{number},{f'word{number} ' * 9}\n" for number in range(5))
        (tmp_path / f"day={day}" / "a.csv").write_text(f"id,n,text\n{rows}")
    for keep in ("max:day", "min:day, max:n"):
        here = ns.dedup(str(tmp_path), keep=keep, ties="content")
        there = ns.dedup(str(tmp_path), keep=keep, engine=ns.Spark(spark))
        kept = {row["id"] for row in here.kept().to_pylist()}
        assert kept == {row.id for row in there.kept().collect()}
        assert kept == {f"d{10 if keep == 'max:day' else 2}.{number}" for number in range(5)}
        there.release()
