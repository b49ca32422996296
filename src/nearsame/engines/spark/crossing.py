"""How tables come into Spark: the one place where they do, and nothing is lost on the way.

1. PySpark 4.0 drops what stands behind an empty batch of Arrow: a table goes in one piece, without empty ones.
2. What arrived is counted, without a job where Spark knows it.
"""

from typing import Any

import pyarrow as pa

from nearsame.errors import EngineError

__all__ = ["frame_of"]


def frame_of(session: Any, table: pa.Table) -> Any:
    """A small table as a frame.

    Raises:
        EngineError: Not all of its rows arrived.
    """
    frame = session.createDataFrame(table.combine_chunks())
    known = frame._jdf.queryExecution().analyzed().maxRows()  # noqa: SLF001  (no public word for a plan)
    number = int(known.get()) if known.isDefined() else frame.count()
    if number != table.num_rows:
        message = f"{table.num_rows:,} rows were given to Spark, and {number:,} arrived"
        raise EngineError(message, hint="Report this as a fault, with the versions of pyspark and pyarrow.")
    return frame
