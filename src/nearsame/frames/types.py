"""The types of columns, as Spark writes them: what values of several have in common, and what has an order."""

import re

__all__ = ["INTEGERS", "NO_TYPE", "NUMBERS", "as_type", "common_type", "family"]

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBERS = ("float", "double")
NO_TYPE = "void"

_DIGITS = dict(zip(INTEGERS, (3, 5, 10, 19), strict=True))  # of the largest of them
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_MOST_DIGITS = 38  # of a decimal of Spark's
_NO_ORDER = ("interval", "interval year", "interval month", "interval year to month")  # or none that Arrow can carry
_FAMILIES = {
    **dict.fromkeys(("timestamp", "timestamp_ntz", "timestamp_ltz", "date"), "moment"),
    **dict.fromkeys(INTEGERS, "integer"),
    **dict.fromkeys(NUMBERS, "number"),
    **dict.fromkeys(("string", "varchar", "char"), "string"),
    "decimal": "decimal",
    "boolean": "boolean",
    "binary": "bytes",
    "interval": "duration",
}
_UNZONED = {"timestamp_ntz": "Z", "date": "T00:00:00Z"}  # what makes their texts moments
_COMMON = {"moment": "timestamp", "duration": "interval day to second"}


def common_type(kinds: list[str], *, is_order: bool) -> str:
    """The type that takes all values: strings do.

    >>> common_type(["int", "decimal(4,2)", "decimal(3,1)"], is_order=True)
    'decimal(12,2)'
    """
    kinds = [kind for kind in dict.fromkeys(kinds) if kind != NO_TYPE] or [NO_TYPE]
    if len(kinds) == 1:
        return kinds[0]
    if set(kinds) <= set(INTEGERS):
        return "bigint"
    if not is_order:
        return "string"
    if all(family(kind) in ("integer", "decimal") for kind in kinds):
        return _decimal(kinds)
    if set(kinds) <= {*INTEGERS, *NUMBERS}:
        return "double"
    families = {family(kind) for kind in kinds}
    common = next((kind for own, kind in _COMMON.items() if families == {own}), "string")
    return "timestamp_ntz" if common == "timestamp" and set(kinds) <= {*_UNZONED} else common


def _decimal(kinds: list[str]) -> str:
    """The decimal that holds all values of these, whole numbers among them; strings do where none is so long."""
    known = (_DECIMAL.fullmatch(kind) for kind in kinds)
    sizes = [(int(one[1]), int(one[2])) if one else (_DIGITS[kind], 0) for kind, one in zip(kinds, known, strict=True)]
    scale = max(behind for _, behind in sizes)
    digits = max(whole - behind for whole, behind in sizes) + scale
    return f"decimal({digits},{scale})" if digits <= _MOST_DIGITS else "string"


def family(kind: str) -> str | None:
    """What values are compared with; None where they have no order."""
    word = re.split("[( ]", kind)[0]
    return None if kind in _NO_ORDER else _FAMILIES.get(word)


def as_type(value: str, kind: str, common: str, cast: str = "cast") -> str:
    """A value of a type as one of another, in SQL; times without a zone are in UTC, whatever the session's zone is."""
    if common == "timestamp" and kind in _UNZONED:
        return f"cast(concat(cast({value} as string), '{_UNZONED[kind]}') as timestamp)"
    return f"{cast}({value} as {common})"
