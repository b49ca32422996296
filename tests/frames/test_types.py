"""Columns of several types that an order or groups go by: on Spark as on one machine."""

import shutil
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nearsame as ns
from nearsame.frames.types import common_type, family

TEXT = "one and the same text of some words that is long enough"
_DAY = datetime(2024, 5, 1)  # noqa: DTZ001  (it has none)
NAIVE, ZONED = pa.timestamp("us"), pa.timestamp("us", "UTC")
SHORT, LONG = pa.decimal128(3, 1), pa.decimal128(4, 2)


def _at(hour, minute=0):
    """A moment of a day on which clocks are put forward in New York."""
    return datetime(2024, 3, 10, hour, minute)  # noqa: DTZ001  (it has none)


@pytest.fixture
def engine(spark):
    """Spark, with nothing on the driver."""
    return ns.Spark(spark, driver_bytes=0)


@pytest.fixture
def files(tmp_path):
    """A file for each value, of a document of the same text."""

    def written(*values):
        for number, (value, kind) in enumerate(values):
            table = {"id": [f"{number}"], "text": [TEXT], "n": pa.array([value], kind)}
            pq.write_table(pa.table(table), tmp_path / f"{number}.parquet")
        return tuple(str(tmp_path / f"{number}.parquet") for number in range(len(values)))

    return written


def _kept(source, **asked):
    kept = ns.dedup(source, audit=False, **asked).kept()
    rows = kept if isinstance(kept, pa.Table) else kept.toArrow()
    return sorted(zip(rows.column("id").to_pylist(), rows.column("n").to_pylist(), strict=True))


@pytest.mark.parametrize(
    "values",
    [
        [(Decimal("9.5"), SHORT), (Decimal("10.00"), LONG)],
        [(9, pa.int64()), (Decimal("10.00"), LONG)],
        pytest.param([(Decimal("9.5"), SHORT), (10, pa.int64())], marks=pytest.mark.long),
        pytest.param([(9, pa.int8()), (10, pa.int64())], marks=pytest.mark.long),
    ],
)
def test_the_greatest_number_stays_whatever_their_types_are(engine, files, values):
    """Strings would say that 9.5 is more than 10.00."""
    assert _kept(files(*values), keep="max:n", ties="content") == _kept(files(*values), keep="max:n", engine=engine)
    assert [("1", 10)] == _kept(files(*values), keep="max:n", engine=engine)


def test_the_other_side_changes_no_order(engine, files):
    """Its decimals are of another type than those of the judged side."""
    judged = files((Decimal("9.50"), LONG), (Decimal("10.00"), LONG))
    against = pa.table({"text": ["all else"], "n": pa.array([Decimal("1.5")], SHORT)})
    assert [("1", Decimal("10.00"))] == _kept(judged, against=against, keep="max:n", engine=engine)


@pytest.mark.parametrize("within", [True, False])
def test_equal_numbers_are_one_group_whatever_their_types_are(engine, files, within):
    """9.5 is 9.50, on one side and across both."""
    one, two = files((Decimal("9.5"), SHORT), (Decimal("9.50"), LONG))
    asked = {"source": (one, two)} if within else {"source": one, "against": two}
    for more in ({"engine": engine}, {"ties": "content"}):
        assert 1 == ns.dedup(**asked, group_by="n", audit=False, **more).stats.removed


def test_decimals_that_no_decimal_holds_are_refused(engine, files):
    """With both files."""
    source = files((Decimal(10) ** 37, pa.decimal128(38, 0)), (Decimal("1e-30"), pa.decimal128(38, 30)))
    with pytest.raises(ns.ConfigError, match=r"decimal\(38,30\) in .* and decimal\(38,0\) in "):
        _kept(source, keep="max:n", engine=engine)


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ([(_at(0).date(), pa.date32()), (_at(2), ZONED)], {"keep": "newest:n"}),
        pytest.param([(_at(1), NAIVE), (_at(2), ZONED)], {"keep": "newest:n"}, marks=pytest.mark.long),
        pytest.param([(_at(2), NAIVE), (_at(0).date(), pa.date32())], {"keep": "newest:n"}, marks=pytest.mark.long),
        ([(_at(2, 30), NAIVE), (_at(3, 30), NAIVE), (None, ZONED), (_at(9), ZONED)], {"group_by": "n"}),
        ([(_at(0), NAIVE), (_at(0).date(), pa.date32()), (_at(0), ZONED)], {"group_by": "n"}),
    ],
)
def test_moments_without_a_zone_are_in_utc(spark, engine, files, values, asked):
    """Whatever the session's zone; in this one 2:30 and 3:30 are one moment, as clocks are put forward."""
    source = files(*values)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        for sides in ({"source": source}, {"source": source[:-1], "against": source[-1]}):
            here = ns.dedup(**sides, audit=False, ties="content", **asked)
            there = ns.dedup(**sides, audit=False, engine=engine, **asked)
            gone = sorted(row.id for row in there.removals.select("id").collect())
            assert sorted(here.removals["id"].to_pylist()) == gone
        few = ns.dedup(source, audit=False, engine=ns.Spark(spark), **asked)
        assert ns.dedup(source, audit=False, **asked).stats.removed == few.stats.removed
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.parametrize("asked", [{"group_by": "n"}, {"keep": "max:n"}])
def test_whole_numbers_that_no_double_holds_are_refused_beside_doubles(engine, files, asked):
    """Two of them would be one."""
    fitting = files((2**53, pa.int64()), (-(2**53), pa.int64()), (1.5, pa.float64()))
    assert (0 if "group_by" in asked else 2) == ns.dedup(fitting, audit=False, engine=engine, **asked).stats.removed
    source = files((2**53, pa.int64()), (2**53 + 1, pa.int64()), (1.5, pa.float64()))
    for more in ({}, {"engine": engine}):
        with pytest.raises(ns.ConfigError, match=r"column 'n' is .* no type holds the values of both exactly"):
            ns.dedup(source, audit=False, **asked, **more)
    assert (0 if "group_by" in asked else 1) == ns.dedup(source[:2], audit=False, engine=engine, **asked).stats.removed


def test_months_have_no_order(spark, engine):
    """Arrow cannot carry them; days have one."""
    frame = spark.range(3).selectExpr("cast(id as string) id", f"'{TEXT}' text", "make_ym_interval(1, int(id)) n")
    with pytest.raises(ns.ConfigError, match="interval year to month, which has no order"):
        ns.dedup(frame, keep="max:n", engine=engine)
    days = frame.selectExpr("id", "text", "make_dt_interval(int(id)) n")
    assert ["2"] == [row.id for row in ns.dedup(days, keep="max:n", engine=engine).kept().collect()]


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ([(9, pa.int64()), (9.0, pa.float64())], {"group_by": "n"}),
        ([(date(2024, 5, 1), pa.date32()), (_DAY, pa.timestamp("us"))], {"group_by": "n"}),
        ([(9, pa.int64()), ("9", pa.string())], {"keep": "max:n"}),
    ],
)
def test_features_that_went_by_another_type_are_refused(engine, files, tmp_path, values, asked):
    """Their groups would be others, and nothing be found."""
    first, second = files(*values)
    ns.dedup(first, engine=engine, audit=False, **asked).write(tmp_path / "out", features=True)
    with pytest.raises(ns.ConfigError, match=r"column 'n' of its features was .*, and is .* here") as raised:
        ns.dedup(second, against=tmp_path / "out", engine=engine, audit=False, **asked)
    assert f"{tmp_path / 'out'}/kept" in raised.value.hint
    same = {**asked, "engine": engine, "audit": False}
    assert 1 == ns.dedup(first, against=tmp_path / "out", **same).stats.removed
    with pytest.raises(ns.ConfigError, match="is named twice"):
        ns.dedup(first, against=(tmp_path / "out", f"{tmp_path}/out"), **same)


@pytest.mark.parametrize("value", [(9.5, pa.float64()), (Decimal("9.5"), SHORT), (None, pa.int64())])
def test_features_that_went_by_other_numbers_are_as_good(engine, files, tmp_path, value):
    """Whole ones on one day, and others on the next."""
    first, second = files((9, pa.int64()), value)
    asked = {"engine": engine, "keep": "max:n", "audit": False}
    ns.dedup(first, **asked).write(tmp_path / "out", features=True)
    assert 1 == ns.dedup(second, against=tmp_path / "out", **asked).stats.removed


def test_ids_stay_as_they_are_beside_decimals(engine, tmp_path):
    """As texts: only what an order goes by is made one number."""
    for name, ids in (("a", pa.array([5, 6])), ("b", pa.array([Decimal(7)], pa.decimal128(5, 2)))):
        pq.write_table(pa.table({"id": ids, "text": [TEXT] * len(ids)}), tmp_path / f"{name}.parquet")
    source = (str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet"))
    pairs = ns.pairs(source, engine=engine).table
    rows = pairs if isinstance(pairs, pa.Table) else pairs.toArrow()
    assert {"5", "6", "7.00"} == {*rows.column("a_id").to_pylist(), *rows.column("b_id").to_pylist()}


@pytest.mark.parametrize("number", ["0", "-1"])
def test_frames_are_made_where_batches_have_no_limit(spark, engine, setting, number):
    """PySpark makes none then."""
    setting("spark.sql.execution.arrow.maxRecordsPerBatch", number)
    assert 1 == ns.dedup([TEXT, TEXT, "all else"], engine=engine, audit=False).stats.removed


@pytest.mark.parametrize("inferred", ["true", "false"])
@pytest.mark.parametrize("names", [("9", "10"), ("+5", "4"), ("-5", "4"), ("007", "4"), ("\u0663", "1"), ("1e3", "4")])
def test_what_folders_say_is_whole_numbers_by_one_rule(engine, setting, tmp_path, names, inferred):
    """Java takes more for a number, and Spark may be told to take none."""
    setting("spark.sql.sources.partitionColumnTypeInference.enabled", inferred)
    for at, name in enumerate(names):
        (tmp_path / f"in/n={name}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [str(at)], "text": [TEXT]}), tmp_path / f"in/n={name}/a.parquet")
    source = str(tmp_path / "in")
    assert _kept(source, keep="max:n", ties="content") == _kept(source, keep="max:n", engine=engine)


def test_folders_that_differ_in_capitals_are_refused(engine, tmp_path):
    """Spark makes one column of both."""
    for name in ("K=1", "k=2", "k=3"):
        (tmp_path / f"K=0/in/{name}").mkdir(parents=True)
        pq.write_table(pa.table({"text": [TEXT]}), tmp_path / f"K=0/in/{name}/a.parquet")
    source = tmp_path / "K=0/in"
    with pytest.raises(ns.ColumnError, match="which Spark takes for one"):
        ns.dedup(str(source), engine=engine)
    shutil.rmtree(source / "K=1")  # what stands above the folder is no column
    assert 1 == ns.dedup(str(source), engine=engine, audit=False).stats.removed


def test_types_of_all_kinds_have_a_family():
    """As Spark writes them."""
    assert ["duration", None, "integer", "decimal", "moment"] == [
        family(kind) for kind in ("interval day to second", "interval month", "int", "decimal(3,1)", "timestamp_ntz")
    ]
    assert "interval day to second" == common_type(["interval day", "interval hour to second"], is_order=True)
    assert "string" == common_type(["date", "int"], is_order=False)
