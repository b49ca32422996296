"""The values of JSON records: of one, each as its column wants it, or why it cannot be read; of many, as a table."""

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.json

from nearsame import computing
from nearsame.arrow import deeply
from nearsame.errors import ColumnError, ConfigError, SourceError
from nearsame.schemas import VECTORS
from nearsame.sources.base import NOT_UTF8
from nearsame.sources.codes import Coding, read_code, words_of
from nearsame.sources.columns import Chosen, not_finite
from nearsame.sources.kinds import table_of
from nearsame.sources.limits import MOST_BLOCK

__all__ = [
    "TYPES",
    "WIDE",
    "UnreadableError",
    "json_object",
    "kinds_of",
    "rounded",
    "row_values",
    "table_of_lines",
    "type_of",
]

TYPES = {
    "bool": pa.bool_(), "int": pa.int64(), "large": pa.uint64(), "float": pa.float64(), "string": pa.string()
}  # fmt: skip
WIDE = 2**53  # the least whole number that is the double of another one, too
_DEEPEST = 100  # levels of a record: at some thousand Arrow ends the process
_STRING = rb'"(?:[^"\\]|\\.)*"'
_KINDS = {bool: "bool", int: "int", float: "float", str: "string"}
_NAMES = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"}


class UnreadableError(Exception):
    """Why one record cannot be read."""


def json_object(line: bytes) -> dict[str, Any] | str:
    """The object of a line, or why there is none; NaN and what else pyarrow accepts included."""
    try:
        parsed = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        try:
            parsed = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return f"not valid JSON: {error}"
    return parsed if isinstance(parsed, dict) else f"not a JSON object but {_article(parsed)}"


def row_values(record: dict[str, Any] | str, chosen: Chosen, orders: Mapping[str, pa.DataType]) -> tuple[Any, ...]:
    """Id, text, what --keep goes by, items, vector, code, and what stands beside.

    Raises:
        UnreadableError: One of them cannot be.
    """
    if isinstance(record, str):
        raise UnreadableError(record)
    identity = None if chosen.id is None else _id(record.get(chosen.id))
    text = None if chosen.text is None else _text(record.get(chosen.text))
    items = None if chosen.items is None else _items(record.get(chosen.items))
    values = tuple(_ordered(record.get(name), kind) for name, kind in orders.items())
    vector = None if chosen.vectors is None else _vector(record.get(chosen.vectors))
    code = None if chosen.codes is None else _code(record.get(chosen.codes.name), chosen.codes)
    return identity, text, values, items, vector, code, tuple(_beside(record.get(name)) for name in chosen.beside)


def _id(value: Any) -> str | None:
    if isinstance(value, (dict, list)):
        raise UnreadableError(f"the id is {_article(value)}, not a scalar")
    return value if value is None else _text(value if isinstance(value, str) else json.dumps(value))


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise UnreadableError(f"the text is {_article(value)}, not a string")
    try:
        _ = (value or "").encode()
    except UnicodeEncodeError as error:
        escaped = "\udc80" <= error.object[error.start] <= "\udcff"
        what = NOT_UTF8 if escaped else "a lone surrogate"
        raise UnreadableError(f"{what} at character {error.start} of the text") from None
    return value


def _beside(value: Any) -> str | None:
    """What stands beside the content: lists and objects say nothing there, and are not a reason to skip a record."""
    if value is None or isinstance(value, (dict, list)):
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _items(value: Any) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(type(item) not in {str, int, type(None)} for item in value):
        raise UnreadableError(f"the features are {_article(value)}, not a list of strings or integers")
    return [_text(str(item)) or "" for item in value if item is not None]


def _vector(value: Any) -> list[float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(type(item) not in {int, float, type(None)} for item in value):
        raise UnreadableError(f"the vector is {_article(value)}, not a list of numbers")
    bad = not_finite(pa.array([value], VECTORS.field("vector").type))
    if bad:
        raise UnreadableError(bad[0])
    return value


def _code(value: Any, chosen: Coding) -> list[int] | None:
    """The words of a code, as the int64 that crosses."""
    if value is None:
        return None
    if type(value) not in {int, str}:
        raise UnreadableError(f"the code is {_article(value)}, not a whole number or a string")
    try:
        words = words_of(read_code(value, chosen.bits, decimal=chosen.decimal), chosen.bits)
    except ConfigError as error:
        raise UnreadableError(str(error)) from None
    return [word - (word >> 63 << 64) for word in words]


def _ordered(value: Any, kind: pa.DataType) -> Any:
    if value is None or kind != pa.string():
        return float(value) if value is not None and kind == pa.float64() else value
    return _text(value if isinstance(value, str) else json.dumps(value))


def _article(value: Any) -> str:
    return _NAMES.get(type(value), "null")


def kinds_of(value: Any) -> set[str]:
    """The kind of a value: bool, int (which may be negative), large, float, string or mixed; also wide, or rounded."""
    wide: set[str] = set()
    if type(value) in {int, float} and abs(value) >= WIDE:
        wide = {"wide" if type(value) is int else "rounded"}
    if type(value) is int and not -(2**63) <= value < 2**63:
        return {"large" if 0 < value < 2**64 else "float"} | wide
    kind = _KINDS.get(type(value), "mixed")
    return {kind, "negative"} | wide if kind == "int" and value < 0 else {kind} | wide


def type_of(kinds: set[str]) -> pa.DataType:
    """The type that takes values of all these kinds; of a mixture, strings."""
    kinds = kinds - {"wide", "rounded"}
    if "negative" in kinds:
        kinds = kinds - {"negative"} | ({"float"} if "large" in kinds else {"int"})
    if kinds <= {"int", "large"}:
        return TYPES["large" if "large" in kinds else "int"]
    if kinds <= {"int", "large", "float"}:
        return TYPES["float"]
    return TYPES[min(kinds)] if len(kinds) == 1 else pa.string()


def rounded(name: str, source: str) -> ColumnError:
    """Why a column of numbers cannot be groups: doubles, which hold them here, take some of them for one."""
    what = "has numbers that are rounded, as they are from 2^53 on beside fractions, or beyond 64 bits"
    return ColumnError(f"{source}: column {name!r} {what}: two groups could be one", hint="Write them as strings.")


def table_of_lines(data: bytes, name: str) -> pa.Table:
    """JSON lines as a table: by Arrow, or where a key has values of several types, record by record.

    Raises:
        SourceError: A record is nested deeper than a table can be.
    """
    if not data.strip():
        return pa.table({})
    depth = _depth(data)
    if depth > _DEEPEST:
        message = f"{name} has a record that is nested {depth:,} levels deep, and a table at most {_DEEPEST}"
        raise SourceError(message, hint="Write the answer to a folder: records are copied there as they are.")
    try:
        return _with_whole_numbers(_with_texts(data), data)
    except pa.ArrowInvalid:
        lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        return table_of([_record(line) for line in lines if line.strip()])


def _read(data: bytes, schema: pa.Schema | None = None) -> pa.Table:
    """Lines through pyarrow: all keys, or with a schema those that it has."""
    others = "infer" if schema is None else "ignore"
    return pa.json.read_json(
        pa.py_buffer(data),
        read_options=pa.json.ReadOptions(block_size=min(max(len(data), 1), MOST_BLOCK)),
        parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=others),
    )


def _with_texts(data: bytes) -> pa.Table:
    """All lines, with strings as they stand: pyarrow takes those that look like times for times."""
    table = _read(data)
    plain = pa.schema([(field.name, deeply(field.type, _untimed)) for field in table.schema])
    return table if plain.equals(table.schema) else _read(data, plain)


def _untimed(kind: pa.DataType) -> pa.DataType:
    """Strings for times."""
    return pa.string() if pa.types.is_temporal(kind) else kind


def _with_whole_numbers(table: pa.Table, data: bytes) -> pa.Table:
    """The table with whole numbers from 2 ** 63 on as they stand: to pyarrow they are doubles, which lose digits."""
    for at, field in enumerate(table.schema):
        kind = _unsigned(table.column(at).combine_chunks())
        if kind != field.type:
            try:
                table = table.set_column(at, field.name, _read(data, pa.schema([(field.name, kind)])).column(0))
            except pa.ArrowInvalid:  # there are fractions, or more than 64 bits
                continue
    return table


def _unsigned(values: pa.Array) -> pa.DataType:
    """The type of values, with numbers of 64 bits where doubles are as large as only these are, also deep inside."""
    kind = values.type
    if pa.types.is_floating(kind):
        return pa.uint64() if (computing.max_(values).as_py() or 0) >= 2**63 else kind
    if pa.types.is_list(kind):
        return pa.list_(_unsigned(values.flatten()))
    if pa.types.is_struct(kind):
        return pa.struct([(kind.field(at).name, _unsigned(values.field(at))) for at in range(kind.num_fields)])
    return kind


def _record(line: bytes) -> Any:
    """A record; Python's own reader takes numbers that are too large for a double for infinite."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line)


def _depth(data: bytes) -> int:
    """How many levels deep the deepest record of JSON lines is nested; 0 where none is deeper than a table may be.

    >>> _depth(b'{"a": "[[["}'), _depth(b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}")
    (0, 151)
    """
    deepest = 0
    for line in data.split(b"\n"):
        if line.count(b"[") + line.count(b"{") > _DEEPEST:
            codes = np.frombuffer(re.sub(_STRING, b"", line), np.uint8)
            steps = np.isin(codes, list(b"[{")).astype(np.int64) - np.isin(codes, list(b"]}"))
            deepest = max(deepest, int(np.cumsum(steps).max(initial=0)))
    return deepest if deepest > _DEEPEST else 0
