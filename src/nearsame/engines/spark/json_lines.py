"""Lines of JSON that Spark reads otherwise than they stand: what it does not say, it is not asked to read.

1. Jackson stops behind the first value of a line, so what follows it would be lost; and of half a surrogate pair Spark
   makes a question mark, which makes different texts one.
2. A line that may be such is looked at by the rules of one machine, in Python; most lines cannot, which Java sees.
3. Only where there are such lines is a source read line by line: then they are records that cannot be read.
"""

import json
from functools import reduce
from operator import or_
from typing import Any

import orjson

from nearsame.engines.spark.plans import with_file
from nearsame.engines.spark.verbs import Verbs

__all__ = ["by_lines", "odd_lines"]

_LINE = "value"  # the column of Spark's reader of texts
_BOM = b"\xef\xbb\xbf"
_BEGINS, _ENDS = r"\A\x{FEFF}?\s*\{", r"\}\s*\z"
_MAY_GO_ON = r"\}\s*(?:[^,}\]\s]|,\s*\{|\}\s*\z)"  # what no line of one flat object has, outside of its strings
_MAY_BE_HALF = r"\\u[dD][89a-fA-F]"


def odd_lines(lines: Any) -> dict[str | None, int]:
    """How many such lines each file has; of a frame of lines, without files that have none."""
    from pyspark.sql import functions

    line = functions.col(_LINE)
    suspect = reduce(or_, [~line.rlike(_BEGINS), ~line.rlike(_ENDS), line.rlike(_MAY_GO_ON), line.rlike(_MAY_BE_HALF)])
    looked_at = functions.when(suspect & ~line.rlike(r"\A\s*\z"), line.cast("binary"))
    found = with_file(lines, "nearsame_file").select("nearsame_file", _oddly(looked_at).alias("nearsame_odd"))
    counts = Verbs.aggregated(found.filter("nearsame_odd"), ["nearsame_file"], ["count(1)"])
    return {row[0]: row[1] for row in counts.collect()}


def by_lines(lines: Any, frame: Any, unread: str) -> Any:
    """The same records as in a frame that Spark read from these lines, and in `unread` each line that has none."""
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, StructType

    names = [name for name in frame.columns if name != unread]
    beside = [name for name in lines.columns if name != _LINE]
    fields = [field for field in frame.schema.fields if field.name in names and field.name not in beside]
    line = functions.regexp_replace(_LINE, r"\A\x{FEFF}", "")
    good = functions.when(~_oddly(functions.col(_LINE).cast("binary")), line)
    records = functions.from_json(good, ArrayType(StructType(fields)), {"allowSingleQuotes": "false"})
    known = lines.filter(~functions.col(_LINE).rlike(r"\A\s*\z")).withColumn("nearsame_records", records)
    each = known.withColumn("nearsame_record", functions.explode_outer("nearsame_records"))
    each = each.filter("nearsame_records is null or nearsame_record is not null")  # an empty list has no records
    record = functions.col("nearsame_record")
    columns = [functions.col(f"`{_spelt(name)}`") if name in beside else record[name].alias(name) for name in names]
    no_record = functions.when(functions.col("nearsame_records").isNull(), functions.col(_LINE))
    return each.select(*columns, no_record.alias(unread))


def _spelt(name: str) -> str:
    return name.replace("`", "``")


def _oddly(line: Any) -> Any:
    from pyspark.sql import functions

    return functions.udf(_is_odd, "boolean")(line)


def _is_odd(line: bytes | None) -> bool:
    """Whether a line is no value of JSON, or one with half of a surrogate pair."""
    if line is None:
        return False
    line = bytes(line).removeprefix(_BOM)
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            json.dumps(json.loads(line.decode()), ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return True
    return False
