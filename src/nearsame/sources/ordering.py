"""The column of --keep, whose type may differ from source to source, as one column that can be sorted.

1. Moments (dates, times with a zone or in UTC) go with moments, numbers with numbers, strings with strings.
2. No value changes on the way: where no type holds all of them exactly, it is an error.
3. A source that has nothing but nulls goes with any other.
"""

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from nearsame.errors import ConfigError

__all__ = ["one_order"]

_HINT = "Give the column one type in all sources."
_CANDIDATES: dict[str, list[pa.DataType]] = {  # the first that holds all values
    "moment": [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")],
    "integer": [pa.int64(), pa.decimal128(38, 0)],
    "number": [pa.float64()],
    "string": [pa.large_string()],
    "boolean": [pa.bool_()],
    "bytes": [pa.large_binary()],
    "time of day": [pa.time64("us"), pa.time64("ns")],
    "duration": [pa.duration("us"), pa.duration("ns")],
}
_DIGITS = 76  # of the widest decimal


def one_order(arrays: Sequence[pa.Array], sources: Sequence[str], name: str) -> pa.ChunkedArray:
    """The arrays as one column.

    Args:
        arrays: Values of the column, in order.
        sources: What the source of each is called.
        name: What the column is called.

    Raises:
        ConfigError: They have no order, or none in common.

    Example:
        >>> one_order([pa.array([1]), pa.array([2.5])], ["a.csv", "b.csv"], "score").to_pylist()
        [1.0, 2.5]
    """
    filled = {array.type: source for array, source in zip(arrays, sources, strict=True) if _has_values(array)}
    for kind in filled:
        if _family(kind) is None:
            message = f"column {name!r} is of type {kind}, which has no order"
            raise ConfigError(message, hint="Name a column of numbers, dates or texts.")
    for candidate in _candidates(list(filled)):
        try:
            chunks = [
                array.cast(candidate) if _has_values(array) else pa.nulls(len(array), candidate) for array in arrays
            ]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        return pa.chunked_array(chunks, candidate)
    raise _apart(filled, name)


def _has_values(array: pa.Array) -> bool:
    return bool(array.null_count < len(array))


def _candidates(kinds: list[pa.DataType]) -> list[pa.DataType]:
    """The types that could hold values of all the types."""
    families = {str(_family(kind)) for kind in kinds}
    if not families:
        return [pa.int64()]
    if len(kinds) == 1 and not (pa.types.is_float16(kinds[0]) or pa.types.is_decimal(kinds[0])):
        return kinds
    if families == {"integer", "number"}:
        return _CANDIDATES["number"]
    if families <= {"integer", "decimal"} and "decimal" in families:
        scale = max(kind.scale for kind in kinds if pa.types.is_decimal(kind))
        return [pa.decimal256(_DIGITS, scale)]
    return _CANDIDATES[families.pop()] if len(families) == 1 else []


def _family(kind: pa.DataType) -> str | None:  # noqa: PLR0911  (a table)
    """What values are compared with; None where they have no order."""
    types = pa.types
    if types.is_timestamp(kind) or types.is_date(kind):
        return "moment"
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind):
        return "number"
    if types.is_decimal(kind):
        return "decimal"
    if types.is_string(kind) or types.is_large_string(kind):
        return "string"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return "bytes"
    if types.is_time(kind):
        return "time of day"
    return "duration" if types.is_duration(kind) else None


def _apart(filled: dict[pa.DataType, str], name: str) -> ConfigError:
    """Two sources whose types do not go together, or, where only all do not, the first two."""
    pairs = [(one, other) for one in filled for other in filled if str(one) < str(other)]
    apart = [pair for pair in pairs if not _candidates(list(pair))] or pairs or [*pairwise([*filled, *filled])]
    one, other = sorted(apart[0], key=list(filled).index)
    message = f"column {name!r} is {one} in {filled[one]} and {other} in {filled[other]}"
    return ConfigError(f"{message}: no type holds the values of both exactly", hint=_HINT)
