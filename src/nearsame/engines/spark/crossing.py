"""How tables come into Spark: the one place where they do, and nothing is lost on the way.

1. PySpark 4.0 drops what stands behind an empty batch of Arrow: a table goes in one piece, without empty ones.
2. What arrived is counted, without a job where Spark knows it.
3. Documents of types that Spark has not come as the next larger type, or not at all.
4. A column without any value has no type, which no file can hold: what leaves Spark has strings there.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from nearsame.arrow import deeply
from nearsame.engines.spark.confs import setting
from nearsame.engines.spark.mapping import quoted
from nearsame.errors import EngineError, SourceError

__all__ = ["frame_of", "taken", "writable"]

_WITHOUT_ZONE = {"spark.sql.timestampType": "TIMESTAMP_NTZ"}  # else Spark gives times the session's, where they exist
_RECORDS, _USUAL = "spark.sql.execution.arrow.maxRecordsPerBatch", "10000"
_TYPES = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}


def taken(session: Any, table: pa.Table, name: str) -> Any:
    """Documents that are in memory here, as a frame.

    Raises:
        SourceError: A column has a type that Spark knows nothing like.
    """
    from pyspark.errors import PySparkException

    known = [column.with_type(deeply(column.type, _type_of)) for column in table.schema]
    try:
        return frame_of(session, table.cast(pa.schema(known)), _WITHOUT_ZONE)
    except (PySparkException, pa.ArrowException, ValueError) as error:
        odd = next((column for column in known if not _is_known(session, column)), None)
        what = str(error).partition("\n")[0] if odd is None else f"its column {odd.name!r} is {odd.type}"
        what = f"a time has nanoseconds ({what})" if "would lose data" in what else what
        message = f"{name} cannot be taken to Spark: {what}"
        raise SourceError(message, hint="Cast the column to another type, or leave it out.") from None


def _type_of(kind: pa.DataType) -> pa.DataType:
    """What values come as; of nanoseconds, which Spark has not, those that are whole microseconds."""
    return pa.timestamp("us", kind.tz) if pa.types.is_timestamp(kind) else _TYPES.get(kind, kind)


def _is_known(session: Any, column: pa.Field) -> bool:
    """Whether Spark has the type of a column; of some it has not pyspark says so without a name."""
    from pyspark.errors import PySparkException

    try:
        frame_of(session, pa.schema([column]).empty_table())
    except (PySparkException, pa.ArrowException, ValueError):
        return False
    return True


def frame_of(session: Any, table: pa.Table, settings: Mapping[str, str] = {}) -> Any:
    """A small table as a frame, which is planned with these settings of the session.

    Raises:
        EngineError: Not all of its rows arrived.
    """
    limited = int(session.conf.get(_RECORDS)) > 0  # without a limit pyspark makes no frame
    with setting(session, settings if limited else {**settings, _RECORDS: _USUAL}):
        frame = session.createDataFrame(table.combine_chunks())
    known = frame._jdf.queryExecution().analyzed().maxRows()  # noqa: SLF001  (no public word for a plan)
    number = int(known.get()) if known.isDefined() else frame.count()
    if number != table.num_rows:
        message = f"{table.num_rows:,} rows were given to Spark, and {number:,} arrived"
        raise EngineError(message, hint="Report this as a fault, with the versions of pyspark and pyarrow.")
    return frame


def writable(frame: Any) -> Any:
    """The same with strings, all null, for what has no type, as `select null` and `[]` have none."""
    named = ((frame[quoted(field.name)], field.dataType) for field in frame.schema.fields)
    typed = [(column, kind, _typed(kind)) for column, kind in named]
    if all(kind == known for _, kind, known in typed):
        return frame
    return frame.select(*(column if kind == known else column.cast(known) for column, kind, known in typed))


def _typed(kind: Any) -> Any:
    """A type of Spark's with strings for what has none."""
    from pyspark.sql import types

    match kind:
        case types.NullType():
            return types.StringType()
        case types.ArrayType():
            return types.ArrayType(_typed(kind.elementType), kind.containsNull)
        case types.MapType():
            return types.MapType(_typed(kind.keyType), _typed(kind.valueType), kind.valueContainsNull)
        case types.StructType():
            fields = (
                types.StructField(each.name, _typed(each.dataType), each.nullable, each.metadata)
                for each in kind.fields
            )
            return types.StructType(list(fields))
    return kind
