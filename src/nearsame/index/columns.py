"""Columns that an index keeps beside each document, and conditions on them.

1. Which ones is decided when an index is made, and written down in it. A document need not have them.
2. Values are texts, as what a source has beside its texts is everywhere: a number is what it looks like in JSON.
3. They stand behind the items of a row, so they are covered by its checksum, and are part of what the document is.
4. Nothing is compared by them: a condition chooses among what was found. Each value is a key, too: where a crowd hides
   the few documents that have it, these are looked at by themselves.
"""

import hashlib
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import orjson

from nearsame.arrow import Int64s
from nearsame.errors import ConfigError
from nearsame.index.facet import Facets
from nearsame.index.shelves import behind
from nearsame.named import NamedTuple
from nearsame.recipes.arguments import shown

__all__ = [
    "Condition",
    "Where",
    "column_keys",
    "conditions",
    "exact_values",
    "kept_columns",
    "key_of",
    "packed",
    "passes",
    "read_kept",
    "text_of",
    "unpacked",
]

Where = str | Sequence[str] | Mapping[str, Any]

_OWN = (
    "id",
    "url",
    "text",
    "html",
    "features",
    "sketch",
    "num_features",
    "code",
)  # what a document, or an export, has anyway
_WORD = 8
_NAME = re.compile(r"[^=!<>|,\s]([^=!<>|,]*[^=!<>|,\s])?")
_CONDITION = re.compile(r"([^=!<>]+)(<=|>=|!=|=|<|>)(.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,6})?\s*")
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge
}  # fmt: skip
_HINT = 'Write "lang=en", "lang=en|de", "lang!=en" or "date>=2024-01-01".'


class Condition(NamedTuple):
    """What a value must be: one of some, none of some, or before or behind one."""

    name: str
    operator: str
    values: tuple[str, ...]

    def holds(self, columns: Mapping[str, str]) -> bool:
        """Whether it does, of a document with these columns; one that it does not have is empty, and in no order."""
        value = columns.get(self.name)
        if self.operator not in _ORDERS:
            return ((value or "") in self.values) == (self.operator == "=")
        if value is None:
            return False
        one, other = _number(value), _number(self.values[0])
        compare = _ORDERS[self.operator]
        return compare(value, self.values[0]) if one is None or other is None else compare(one, other)


def kept_columns(given: str | Sequence[str] | None, taken: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of columns to keep, as a caller gives them: several, or one text with commas; none that is `taken`.

    Raises:
        ConfigError: One is given twice, is something that a document has anyway, or cannot stand in a condition.
    """
    names = tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else tuple(given or ())
    for name in names:
        if name in _OWN or name in taken:
            hint = f"Leave it out; {', '.join((*_OWN, *taken))} are not columns to keep."
            raise ConfigError(f"keep_columns={name}: an index has a place of its own for that", hint=hint)
        if not _NAME.fullmatch(name):
            hint = "Name columns without commas, spaces around them, and the signs of conditions: = ! < > |."
            raise ConfigError(f"keep_columns={name!r} is no name for a column", hint=hint)
        if names.count(name) > 1:
            raise ConfigError(f"keep_columns={name} is given twice", hint="Give each column once.")
    return names


def read_kept(settings: Mapping[str, str]) -> tuple[str, ...]:
    """Which columns an index keeps, as it is written down."""
    return tuple(json.loads(settings.get("columns", "[]")))


def text_of(name: str, value: Any) -> str | None:
    """A value of a column as it is kept.

    Raises:
        ConfigError: It is no value of a column.
    """
    if value is None or isinstance(value, str):
        text = value
    elif isinstance(value, (bool, int, float)):
        text = json.dumps(value)
    else:
        text = str(value) if type(value).__module__ in ("datetime", "numpy") else None
    if text is None and value is not None:
        raise ConfigError(f"{name} must be a text or a number, got {shown(value)}", hint="A column keeps one value.")
    with suppress(UnicodeEncodeError):
        return text if text is None else text.encode().decode()
    raise ConfigError(f"{name}={value!r} holds what no store can keep", hint=f"Leave surrogates out of {name}.")


def packed(columns: Mapping[str, str | None]) -> bytes:
    """Columns as they stand behind the items of a row: JSON, filled up with spaces to a multiple of eight bytes."""
    there = {name: value for name, value in columns.items() if value is not None}
    if not there:
        return b""
    text = orjson.dumps(there, option=orjson.OPT_SORT_KEYS)
    return text + b" " * (-len(text) % _WORD)


def column_keys(facets: Facets, blobs: Sequence[bytes]) -> tuple[Int64s, Int64s]:
    """(keys, rows): a key for each value of a column, which all documents share that have it."""
    pairs = [(key_of(*pair), row) for row, blob in enumerate(blobs) for pair in unpacked(facets, blob).items()]
    table = np.array(pairs, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])


def key_of(name: str, value: str) -> int:
    """By which the documents are found that have this value in the column of this name."""
    named = orjson.dumps(["column", name, value])
    return int.from_bytes(hashlib.blake2b(named, digest_size=8).digest(), "little", signed=True)


def unpacked(facets: Facets, blob: bytes) -> dict[str, str]:
    """The columns of a row."""
    text = behind(facets, blob)
    columns: dict[str, str] = orjson.loads(text) if text else {}
    return columns


def conditions(where: Where | None, kept: Sequence[str]) -> tuple[Condition, ...]:
    """What documents must fulfil, all of it.

    Args:
        where: As in `"lang=en"`, a list of those, or exact values by name, `{"lang": ["en", "de"]}`.
        kept: The columns of the index.

    Raises:
        ConfigError: It cannot be read, or the index does not keep a column of that name.
    """
    if isinstance(where, Mapping):
        given = [Condition(name, "=", exact_values(name, values)) for name, values in where.items()]
    else:
        given = [_condition(text) for text in ([where] if isinstance(where, str) else where or ())]
    for condition in given:
        if condition.name not in kept:
            message = f"where: the index keeps no column {shown(condition.name)}"
            hint = f"Choose from {', '.join(kept)}." if kept else "Create the index with --keep-columns (keep_columns)."
            raise ConfigError(message, hint=hint)
    return tuple(given)


def exact_values(name: str, values: Any) -> tuple[str, ...]:
    """What a column may be: a value, or one of several."""
    several = values if isinstance(values, (list, tuple, set, frozenset)) else [values]
    return tuple(text_of(name, value) or "" for value in several)


def passes(where: Sequence[Condition], columns: Mapping[str, str]) -> bool:
    """Whether a document with these columns fulfils all."""
    return all(condition.holds(columns) for condition in where)


def _condition(text: str) -> Condition:
    read = _CONDITION.fullmatch(text)
    if read is None or not read[1].strip():
        raise ConfigError(f"where={shown(text)} is no condition on a column", hint=_HINT)
    name, sign, value = read.groups()
    return Condition(name.strip(), sign, tuple(value.split("|")) if sign not in _ORDERS else (value,))


def _number(text: str) -> Decimal | None:
    """The number that a text is, with all its digits; NaN and infinity are texts."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None
