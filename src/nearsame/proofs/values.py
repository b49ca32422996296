"""The values of columns as Python can hold them, whatever their type: no moment is too late, and no zone unknown.

1. `stored` views a column as what it is stored as: moments as whole numbers, strings as bytes, at any depth.
2. What is made of that is made here: contents, names, and what an order goes by.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["contents", "is_string", "orders", "stored", "texts"]

_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86_400 * 10**9


def stored(column: pa.Array) -> pa.Array:
    """A column as what it is stored as."""
    column = _unpacked(column)
    kind = _stored_kind(column.type)
    return column if kind == column.type else column.view(kind)


def contents(column: pa.Array) -> list[Any]:
    """Texts, from strings or from bytes, or whatever else stands there; bytes that are not UTF-8 stay bytes."""
    column = _unpacked(column)
    try:
        values: list[Any] = stored(column).to_pylist()
    except pa.ArrowException:  # what has no view holds no strings
        values = column.to_pylist()
    return [_decoded(value) for value in values]


def texts(column: pa.Array) -> list[Any]:
    """Values as texts, bytes as they are: what has none, as lists and records, says nothing."""
    column = _unpacked(column)
    try:
        return contents(column if is_string(column.type) or _is_bytes(column.type) else column.cast(pa.large_string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return [None] * len(column)


def orders(column: pa.Array) -> list[Any]:
    """What an order goes by: of moments and durations the nanoseconds."""
    column = _unpacked(column)
    steps = _steps(column.type)
    return contents(column) if steps is None else [value and value * steps for value in stored(column).to_pylist()]


def is_string(kind: pa.DataType) -> bool:
    """Whether a column holds strings, packed or not."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _unpacked(column: pa.Array) -> pa.Array:
    if isinstance(column, pa.ExtensionArray):
        return _unpacked(column.storage)
    if pa.types.is_dictionary(column.type):
        return _unpacked(column.dictionary_decode())
    if pa.types.is_run_end_encoded(column.type):
        return _unpacked(pc.run_end_decode(column))
    return column


def _stored_kind(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911  (a table)
    types = pa.types
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    if types.is_string(kind):
        return pa.binary()
    if types.is_large_string(kind):
        return pa.large_binary()
    if types.is_string_view(kind):
        return pa.binary_view()
    if types.is_struct(kind):
        return pa.struct([field.with_type(_stored_kind(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(_stored_kind(kind.key_type), kind.item_field.with_type(_stored_kind(kind.item_type)))
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _stored_kind(kind.value_type), kind.ordered)
    return _stored_list(kind)


def _stored_list(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_stored_kind(kind.value_type)), kind.list_size)
    makers = (
        (types.is_list, pa.list_),
        (types.is_large_list, pa.large_list),
        (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    )
    make = next((make for test, make in makers if test(kind)), None)
    return kind if make is None else make(kind.value_field.with_type(_stored_kind(kind.value_type)))


def _steps(kind: pa.DataType) -> int | None:
    """Nanoseconds in a step of a type; None: it is not a moment."""
    if pa.types.is_date(kind):
        return _DAY if pa.types.is_date32(kind) else _NANOSECONDS["ms"]
    is_moment = pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind)
    return _NANOSECONDS[kind.unit] if is_moment else None


def _is_bytes(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(element) for element in value]
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value
