"""Delimited text as a table: a column is numbers or dates only where these can be written again as they stand."""

import math
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame import computing
from nearsame.kernels.records import split_records
from nearsame.sources.columns import is_stringlike
from nearsame.sources.limits import MOST_BLOCK

__all__ = ["DIGITS", "LEAST", "NO_DIGITS", "are_held", "are_told_apart", "typed"]

_BLOCK = 1 << 20  # bytes that are parsed at once; a record is parsed whole
_TEXTS = ("text", "content")  # whatever they look like
_MORE_THAN_A_NUMBER = r"^[-+]?(0[0-9]|[0-9]{16,}$)|^[+]"  # whose digits a double would lose
DIGITS, LEAST = 15, 2.3e-308  # of a number that is no other one's double: so many at most, and no less than that
NO_DIGITS = ("[eE].*", "[^0-9]", "^0+", "0+$")  # what of a number is to go, one after the other, for its digits to stay
_SURE = 16  # bytes, of which fewer are digits that a double holds, if it is finite and no zero


def typed(data: bytes, delimiter: str) -> pa.Table:
    """Records as a table: numbers, dates and booleans where nothing of what is written is lost, else strings."""
    from pyarrow import csv  # noqa: PLC0415  (few runs read such a file)

    starts, ends, *_ = split_records(np.frombuffer(data, np.uint8), ord(delimiter), final=True)
    block_size = min(max(_BLOCK, int((ends - starts).max(initial=0)) + 2), MOST_BLOCK)
    how = {
        "parse_options": csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "read_options": csv.ReadOptions(block_size=block_size),
    }
    table = csv.read_csv(pa.py_buffer(data), **how)
    names = [field.name for field in table.schema if not is_stringlike(field.type)]
    if not names or len(set(table.column_names)) < len(table.column_names):
        return table
    strings = csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
    written = csv.read_csv(pa.py_buffer(data), convert_options=strings, **how)
    for name in names:
        values = written.column(name)
        is_named = name == "id" and pa.types.is_floating(table.schema.field(name).type)  # 1e5 is no name but that
        if name in _TEXTS or is_named or not _says_all(table.column(name), values):
            table = table.set_column(table.column_names.index(name), name, values)
    return table


def _says_all(values: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
    """Whether values are what is written: 7 is not 007, nor is a number of twenty digits what a double holds of it."""
    if pa.types.is_null(values.type):
        return bool(computing.all_(computing.equal(written, ""), min_count=0).as_py())
    if pa.types.is_floating(values.type):
        is_more = computing.any_(computing.match_substring_regex(written, _MORE_THAN_A_NUMBER)).as_py()
        return not is_more and are_held(written, values)
    same = computing.equal(
        values.cast(pa.string()), written if not pa.types.is_boolean(values.type) else computing.utf8_lower(written)
    )
    return bool(computing.all_(same, min_count=0).as_py())  # a missing value, as of NA, says nothing


def are_held(written: Any, values: Any) -> bool:
    """Whether doubles are the numbers that are written, as 0.1 is by the shortest text that means the same double.

    >>> [are_held(pa.array([text]), pa.array([float(text)])) for text in ("0.1", "1e400", "9007199254740993", "nan")]
    [True, False, False, True]
    """
    is_short = computing.less(computing.binary_length(written), _SURE)
    odd = computing.invert(computing.and_(is_short, computing.and_(computing.is_finite(values), _is_normal(values))))
    pairs = zip(written.filter(odd).to_pylist(), values.filter(odd).to_pylist(), strict=True)
    return all(_is_held(text, value) for text, value in pairs)


def _is_normal(values: Any) -> Any:
    return computing.or_(computing.greater_equal(values, LEAST), computing.less(values, -LEAST))


def _is_held(text: str, value: float) -> bool:
    if not math.isfinite(value):
        return not any(map(str.isdigit, text))
    try:
        return Decimal(text.strip()) in {Decimal(repr(value)), Decimal(f"{value:.17g}")}  # as programs write it
    except InvalidOperation:
        return False


def are_told_apart(written: Any, values: Any) -> bool:
    """Whether of the numbers that are written no two that differ are one double: none has more digits than that holds.

    >>> [are_told_apart(pa.array([text]), pa.array([float(text)])) for text in ("1e5", "1e400", "9007199254740993")]
    [True, False, False]
    """
    digits = written
    for pattern in NO_DIGITS:
        digits = computing.replace_substring_regex(digits, pattern=pattern, replacement="")
    size = computing.binary_length(digits)
    is_held = computing.or_(computing.equal(size, 0), computing.and_(_is_normal(values), computing.is_finite(values)))
    return bool(computing.all_(computing.and_(computing.less(size, DIGITS + 1), is_held), min_count=0).as_py())
