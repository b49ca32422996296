"""Tables come into Spark whole, by the one way there is."""

import re
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
    with pytest.raises(EngineError, match="3 rows were given to Spark, and 2 arrived"):
        frame_of(SimpleNamespace(createDataFrame=lambda _: frame), pa.table({"a": [1, 2, 3]}))
