"""Records that come as strings, each in LINE: lines of JSON, and rows of CSV as Spark itself reads them from files."""

from collections.abc import Sequence
from typing import Any

from nearsame.engines.spark.files import require_apart
from nearsame.engines.spark.forms import DELIMITERS
from nearsame.engines.spark.json_lines import LINE, by_lines, fields_of
from nearsame.engines.spark.mapping import quoted
from nearsame.errors import ColumnError

__all__ = ["UNREAD", "read_lines", "read_rows", "require_one_home", "row_options", "strings_of"]

UNREAD = "nearsame_unread"


def read_lines(lines: Any, name: str, text: str | None) -> Any:
    """The records of lines of JSON, without what Spark would make of some of them."""
    fields = fields_of(lines, text)
    names = [field.name for field in fields]
    require_apart(names, name)
    require_one_home(_twice(lines, names), name)
    return by_lines(lines, fields, UNREAD, text)


def read_rows(rows: Any, kind: str, header: Sequence[str], name: str) -> Any:
    """The records of rows of CSV or TSV; `header` has the names of their columns."""
    from pyspark.sql import functions

    names = _called(header)
    require_apart(names, name)
    require_one_home(_twice(rows, names), name)
    types = strings_of((*header, UNREAD))
    how = {key: str(value) for key, value in row_options(kind).items()} | {"columnNameOfCorruptRecord": UNREAD}
    read = rows.withColumn("nearsame_record", functions.from_csv(LINE, types, how))
    columns = [read["nearsame_record"][column].alias(column) for column in (*names, UNREAD)]
    return read.select(*columns, *(read[quoted(column)] for column in rows.columns if column != LINE))


def strings_of(header: Sequence[str]) -> str:
    """The columns of rows of CSV, for Spark."""
    return ", ".join(f"{quoted(column)} string" for column in _called(header))


def _called(header: Sequence[str]) -> list[str]:
    """What Spark calls the columns of a header."""
    return [named or f"_c{at}" for at, named in enumerate(header)]


def row_options(kind: str) -> dict[str, Any]:
    """How rows of CSV and TSV are read."""
    return {"sep": DELIMITERS[kind], "multiLine": True, "escape": '"'}


def require_one_home(twice: Sequence[str], name: str) -> None:
    """Refuse columns that files have, and that names of their folders say, too."""
    if twice:
        message = f"{name}: column {twice[0]!r} stands in files, and names of their folders say it, too"
        hint = "Rename it in one of them; or run on one machine, where what the files say counts."
        raise ColumnError(message, hint=hint)


def _twice(records: Any, names: Sequence[str]) -> list[str]:
    """Names of columns that stand beside the strings, too."""
    beside = {column.lower() for column in records.columns}
    return [name for name in names if name.lower() in beside]
