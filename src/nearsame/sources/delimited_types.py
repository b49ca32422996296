"""Delimited text as a table: a column is numbers or dates only where these can be written again as they stand."""

import pyarrow as pa

from nearsame import computing
from nearsame.sources.columns import is_stringlike

__all__ = ["typed"]

_TEXTS = ("text", "content")  # whatever they look like
_MORE_THAN_A_NUMBER = r"^[-+]?(0[0-9]|[0-9]{16,}$)|^[+]"  # whose digits a double would lose


def typed(data: bytes, delimiter: str) -> pa.Table:
    """Records as a table: numbers, dates and booleans where nothing of what is written is lost, else strings."""
    from pyarrow import csv  # noqa: PLC0415  (few runs read such a file)

    options = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    table = csv.read_csv(pa.py_buffer(data), parse_options=options)
    names = [field.name for field in table.schema if not is_stringlike(field.type)]
    if not names or len(set(table.column_names)) < len(table.column_names):
        return table
    strings = csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
    written = csv.read_csv(pa.py_buffer(data), parse_options=options, convert_options=strings)
    for name in names:
        values = written.column(name)
        if name in _TEXTS or not _says_all(table.column(name), values):
            table = table.set_column(table.column_names.index(name), name, values)
    return table


def _says_all(values: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
    """Whether values are what is written: 7 is not 007, nor is a number of twenty digits what a double holds of it."""
    if pa.types.is_null(values.type):
        return bool(computing.all_(computing.equal(written, ""), min_count=0).as_py())
    if pa.types.is_floating(values.type):
        return not computing.any_(computing.match_substring_regex(written, _MORE_THAN_A_NUMBER)).as_py()
    same = computing.equal(
        values.cast(pa.string()), written if not pa.types.is_boolean(values.type) else computing.utf8_lower(written)
    )
    return bool(computing.all_(same, min_count=0).as_py())  # a missing value, as of NA, says nothing
