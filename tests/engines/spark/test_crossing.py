"""Tables come into Spark whole, by the one way there is."""

import re
from datetime import date, datetime
from types import SimpleNamespace

import pyarrow as pa
import pytest

from nearsame.engines.spark.crossing import frame_of, taken
from nearsame.errors import EngineError, SourceError

_SCHEMA = pa.schema([("a", pa.int64()), ("note", pa.string())])


@pytest.mark.parametrize("sizes", [(2, 0, 7), (0, 9), (9, 0), (0, 0), ()])
def test_no_row_is_lost_behind_an_empty_batch(sizes, spark):
    """PySpark 4.0 drops what stands behind one."""
    parts = [pa.table({"a": range(size), "note": [None] * size}, schema=_SCHEMA) for size in sizes]
    table = pa.concat_tables([_SCHEMA.empty_table(), *parts])
    frame = frame_of(spark, table)
    assert sum(sizes) == frame.count()
    assert sorted(table.column("a").to_pylist()) == sorted(row.a for row in frame.collect())


@pytest.mark.parametrize("kind", [pa.decimal256(50, 2), pa.time64("us"), pa.month_day_nano_interval()])
def test_a_type_that_spark_has_not_is_an_error_with_its_name(kind, spark):
    """Whatever pyspark itself raises for it."""
    table = pa.table({"text": ["a b c"], "odd": pa.nulls(1, kind)})
    with pytest.raises(
        SourceError, match=f"the table cannot be taken to Spark: its column 'odd' is {re.escape(str(kind))}"
    ):
        taken(spark, table, "the table")


def test_rows_that_do_not_arrive_are_an_error():
    """Whether Spark knows their number, or has to count them."""
    none = SimpleNamespace(isDefined=lambda: False)
    analyzed = SimpleNamespace(maxRows=lambda: none)
    plan = SimpleNamespace(queryExecution=lambda: SimpleNamespace(analyzed=lambda: analyzed))
    frame = SimpleNamespace(_jdf=plan, count=lambda: 2)
    conf = SimpleNamespace(get=lambda *_: "10000")
    with pytest.raises(EngineError, match="3 rows were given to Spark, and 2 arrived"):
        frame_of(SimpleNamespace(createDataFrame=lambda _: frame, conf=conf), pa.table({"a": [1, 2, 3]}))


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_times_come_as_they_are(spark, setting, zone):
    """An hour comes twice in autumn and not at all in spring; a day is no moment."""
    setting("spark.sql.session.timeZone", zone)
    naive = [datetime(2024, 11, 3, 1, 30), datetime(2024, 3, 10, 2, 30), datetime(9999, 12, 31), None]  # noqa: DTZ001  (it has none)
    table = pa.table(
        {
            "naive": pa.array(naive, pa.timestamp("us")),
            "fine": pa.array([1_000, 2_000, None, 3_000], pa.timestamp("ns")),
            "zoned": pa.array([0, 1, 2, None], pa.timestamp("s", "UTC")),
            "day": pa.array([0, 86_400_000, None, 0], pa.date64()),
        }
    )
    found = taken(spark, table, "memory").toArrow()
    kinds = [pa.timestamp("us"), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.date32()]
    assert kinds == [field.type for field in found.schema]
    assert table.cast(found.schema).to_pylist() == found.to_pylist()


def test_nanoseconds_are_an_error(spark):
    """As in a file of Parquet: they were cut without a word."""
    with pytest.raises(SourceError, match="memory cannot be taken to Spark: a time has nanoseconds"):
        taken(spark, pa.table({"t": pa.array([1_001], pa.timestamp("ns"))}), "memory")


def test_what_is_deep_inside_comes_likewise(spark):
    """Unsigned numbers, days and times in lists and records."""
    inside = pa.struct([("n", pa.uint8()), ("days", pa.list_(pa.date64())), ("at", pa.timestamp("ns"))])
    rows = [[{"n": 200, "days": [date(2024, 1, 1)], "at": datetime(2024, 1, 1)}], None]  # noqa: DTZ001  (it has none)
    table = pa.table({"in": pa.array(rows, pa.list_(inside))})
    found = taken(spark, table, "memory").toArrow()
    assert rows == found.column("in").to_pylist()
