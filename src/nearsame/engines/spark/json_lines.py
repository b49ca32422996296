"""Lines of JSON that Spark reads otherwise than they stand: what it does not say, it is not asked to read.

1. Jackson stops behind the first value of a line, so what follows it would be lost; and of half a surrogate pair Spark
   makes a question mark, which makes different texts one. Beside texts it makes texts of numbers and records, too.
2. A line that may be such is looked at by the rules of one machine, in Python; most lines cannot, which Java sees.
3. Only where there are such lines is a source read line by line: then they are records that cannot be read.
"""

import json
import re
from typing import Any

import orjson

from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.plans import with_file
from nearsame.engines.spark.verbs import Verbs

__all__ = ["LINE", "by_lines", "fields_of", "odd_lines"]

LINE = "nearsame_line"  # the column that lines stand in: a name that no folder has
_BOM = b"\xef\xbb\xbf"
_QUOTES = {"allowSingleQuotes": "false"}
# What most lines are not: other than an object to their end, outside of strings and in them; escaped halves of pairs;
# and what is not UTF-8, which Java shows so.
_SUSPECT = r"\A(?!\x{FEFF}?\s*\{)|\}\s*\S|\\u[dD][89a-fA-F]|\x{FFFD}"
_NO_TEXT = r"\s*:\s*[^\s\"n]"  # behind a key: neither a string nor null
_ESCAPED = r"\\[^\"]*\"\s*:"  # a key that may be another than it looks
_BLANK = r"\A\s*\z"


def odd_lines(lines: Any, text: str | None = None) -> dict[str | None, int]:
    """How many such lines each file has, without files that have none; `text` is the key of texts."""
    from pyspark.sql import functions

    line = functions.col(LINE)
    suspect = (
        _SUSPECT
        if text is None
        else f"{_SUSPECT}|{re.escape(json.dumps(text, ensure_ascii=False))}{_NO_TEXT}|{_ESCAPED}"
    )
    looked_at = functions.when(line.rlike(suspect) & ~line.rlike(_BLANK), line.cast("binary"))
    found = with_file(lines, "nearsame_file").select("nearsame_file", _oddly(looked_at, text).alias("nearsame_odd"))
    counts = Verbs.aggregated(found.filter("nearsame_odd"), ["nearsame_file"], ["count(1)"])
    return {row[0]: row[1] for row in counts.collect()}


def fields_of(lines: Any, text: str | None = None) -> list[Any]:
    """The columns of the records of lines that are fine: the others have no say in their types."""
    session = lines.sparkSession
    good = lines.filter(~_oddly(lines[LINE].cast("binary"), text)).select(LINE)
    texts = getattr(good._jdf, "as")(session._jvm.org.apache.spark.sql.Encoders.STRING())  # noqa: SLF001  (without a way over Python)
    reader = session._jsparkSession.read().option("columnNameOfCorruptRecord", "nearsame_unread")  # noqa: SLF001  (likewise)
    schema = type(lines)(reader.options(_QUOTES).json(texts), session).schema
    return [field for field in schema.fields if field.name != "nearsame_unread"]


def by_lines(lines: Any, fields: list[Any], unread: str, text: str | None = None) -> Any:
    """The records of lines, with these columns and those of their folders; in `unread` each line that has none."""
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType

    beside = [name for name in lines.columns if name != LINE]
    fields = fields or [StructField("text", StringType())]
    line = functions.regexp_replace(LINE, r"\A\x{FEFF}", "")
    good = functions.when(~_oddly(functions.col(LINE).cast("binary"), text), line)
    records = functions.from_json(good, ArrayType(StructType(fields)), _QUOTES)
    known = lines.filter(~functions.col(LINE).rlike(_BLANK)).withColumn("nearsame_records", records)
    each = known.withColumn("nearsame_record", functions.explode_outer("nearsame_records"))
    each = each.filter("nearsame_records is null or nearsame_record is not null")  # an empty list has no records
    columns = [functions.col("nearsame_record")[field.name].alias(field.name) for field in fields]
    columns += [functions.col(quoted(name)) for name in beside]
    no_record = functions.when(functions.col("nearsame_records").isNull(), functions.col(LINE))
    return each.select(*columns, no_record.alias(unread))


def _oddly(line: Any, text: str | None) -> Any:
    from pyspark.sql import functions

    return functions.udf(lambda found: _is_odd(found, text), "boolean")(line)  # a partial has no hints of types


def _is_odd(line: bytes | None, text: str | None) -> bool:
    """Whether a line is no record of JSON, nor a list of some, has half of a surrogate pair, or a text that is none."""
    if line is None:
        return False
    line = bytes(line).removeprefix(_BOM)
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(line.decode())
            json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return True
    records = found if isinstance(found, list) else [found]
    return not all(isinstance(one, dict) and isinstance(one.get(text), str | None) for one in records)
