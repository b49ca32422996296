"""What stands in a list, or comes out of an iterator: texts, records, or pairs of an id and a text.

1. All elements are of one form. None, NaN and pandas' NA stand for a missing text, among texts and in pairs.
2. Bytes are UTF-8; those that are not are skipped when they are read, as in a column of bytes.
3. A string with a lone surrogate is stored as the bytes it stands for: not UTF-8, hence skipped, not lost.
"""

import math
import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.sources.listed import require_texts

__all__ = ["Form", "column", "described", "is_missing", "table_of_elements"]

_NUMBERS = (
    (pa.int64(), -(1 << 63), 1 << 63),
    (pa.uint64(), 0, 1 << 64),
    (pa.decimal128(38), 1 - 10**38, 10**38),
    (pa.decimal256(76), 1 - 10**76, 10**76),
)
Form = str  # "text", "bytes", "number", "record", "pair"; of nothing but missing texts ""

_NAMES = {
    "text": "a text", "bytes": "bytes", "number": "a whole number", "record": "a record",
    "pair": "a pair of an id and a text",
}  # fmt: skip
_HINT = 'Give texts, records such as {"id": "a", "text": "…"}, or pairs such as ("a", "…"): all elements of one form.'
_HINTS = {
    "list": "Give each document as one text, a record (a dict), or a pair (id, text) in a tuple.",
    "tuple": "Give pairs (id, text), or records (dicts) where there is more to a document.",
    "path": "Give paths alone, as a list or a tuple of Paths; of an iterator, list(iterator).",
}


def table_of_elements(elements: Sequence[Any], form: Form = "", first: int = 0) -> tuple[pa.Table, Form]:
    """Elements as a table, and their form.

    Args:
        elements: Some or all of them.
        form: That of those before, if there are any.
        first: How many were before.

    Raises:
        SourceError: One is of another form than those before it, or of none.

    Example:
        >>> table_of_elements([("a", "a rose"), ("b", None)])[0].to_pylist()
        [{'id': 'a', 'text': 'a rose'}, {'id': 'b', 'text': None}]
    """
    form = _common_form(elements, form, first)
    if form == "record":
        return _of_records(elements), form
    if form == "pair":
        ids, texts = [pair[0] for pair in elements], [_text(pair[1]) for pair in elements]
        return pa.table({"id": column("id", ids), "text": _strings(texts)}), form
    if form == "number":
        return pa.table({"code": _numbers(elements)}), form
    texts = list(elements) if _are_plain(elements) else [_text(element) for element in elements]
    if form == "bytes":
        whole = [text if text is None else bytes(text) for text in texts]
        return pa.table({"text": pa.array(whole, pa.large_binary()).view(pa.large_string())}), form
    require_texts(texts)
    return pa.table({"text": _strings(texts)}), form


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or pandas' NA or NaT."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _common_form(elements: Sequence[Any], form: Form, first: int) -> Form:
    if form in {"", "text"} and _are_plain(elements):
        return "text" if any(element is not None for element in elements) else form
    for at, element in enumerate(elements, start=first):
        own = _form(element)
        if not own and form in {"", "text", "bytes", "number"}:
            continue
        if own != form and form:
            what = _NAMES.get(own, f"{'None' if element is None else f'a {type(element).__name__}'}")
            raise SourceError(f"element {at:,} is {what}, and those before it are of another form", hint=_HINT)
        if own not in _NAMES:
            message = f"documents cannot be read from elements of type {type(element).__name__} (element {at:,})"
            raise SourceError(message, hint=_HINTS.get(own, _HINT))
        form = own
    return form


def _are_plain(elements: Sequence[Any]) -> bool:
    """Whether they are texts and None: of a million, all are looked at in one step."""
    return set(map(type, elements)) <= {str, type(None)}


def _form(element: Any) -> str:  # noqa: PLR0911  (a line for each form)
    """The form of an element; what is none by a name that hints go by, and nothing for a missing text."""
    match element:
        case _ if is_missing(element):
            return ""
        case str():
            return "text"
        case int() if not isinstance(element, bool):
            return "number"
        case bytes() | bytearray():
            return "bytes"
        case Mapping():
            return "record"
        case (_, text) if isinstance(element, tuple) and (is_missing(text) or isinstance(text, str)):
            return "pair"
        case os.PathLike():
            return "path"
    return type(element).__name__


def _text(value: Any) -> Any:
    return None if is_missing(value) else value


def _of_records(records: Sequence[Mapping[Any, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({_name(name): column(name, [record.get(name) for record in records]) for name in names})


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise SourceError(f"the key {name!r} of a record is not a string", hint="Give records whose keys are strings.")
    return name


def column(name: Any, values: Sequence[Any]) -> pa.Array:
    """Values of a key as a column.

    Raises:
        SourceError: They are not of one type.
        UnicodeEncodeError: A string in a list or a record has half of a surrogate pair.
    """
    texts = [_text(value) for value in values]
    if any(isinstance(text, str) for text in texts) and all(text is None or isinstance(text, str) for text in texts):
        return _strings(texts)
    if {type(text) for text in texts} - {type(None)} == {int}:
        return _numbers(texts)
    if any(isinstance(text, np.ma.MaskedArray) for text in texts):  # of which Arrow sees no mask
        return column(name, [value.tolist() if isinstance(value, np.ma.MaskedArray) else value for value in values])
    if all(text is None for text in texts):
        return pa.nulls(len(texts))
    if len(kinds := sorted({kind for text in texts if (kind := _kind(text))})) > 1:
        message = f"the values of {name!r} are not of one type: {' and '.join(kinds)}"
        raise SourceError(message, hint="Give all records the same type for a key.")
    try:
        return pa.array([None if is_missing(value) and not isinstance(value, float) else value for value in values])
    except (pa.ArrowException, OverflowError) as error:
        message = f"the values of {name!r} are not of one type: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint="Give all records the same type for a key.") from None


def _kind(value: Any) -> str:
    """What a value is, where Arrow would turn one kind into the other in silence; nothing of all else."""
    if is_missing(value):
        return ""
    if isinstance(value, datetime):
        return "a time without a zone" if value.tzinfo is None else "a time of a zone"
    if isinstance(value, date):
        return "a date"
    if isinstance(value, bool):
        return "a truth value"
    return "a number" if isinstance(value, float) else ""


def _numbers(values: Sequence[Any]) -> pa.Array:
    """Whole numbers, of the narrowest type that holds them; of what none holds, as of long codes, the digits.

    Raises:
        SourceError: One is negative, and the digits of another are more than a number has.
    """
    numbers = [_text(value) for value in values]
    known = [number for number in numbers if number is not None]
    least, most = min(known, default=0), max(known, default=0)
    for kind, first, end in _NUMBERS:
        if first <= least and most < end:
            return pa.array(numbers, kind)
    if least < 0:
        digits = len(str(max(-least, most)))
        message = f"whole numbers of up to {digits:,} digits and negative ones do not fit into one column"
        raise SourceError(message, hint="Give numbers of at most 76 digits, or texts.")
    return pa.array([None if number is None else hex(number) for number in numbers], pa.large_string())


def _strings(values: Sequence[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError:
        encoded = [None if value is None else value.encode("utf-8", "surrogatepass") for value in values]
        return pa.array(encoded, pa.large_binary()).view(pa.large_string())


def described(thing: Any) -> str:
    """What a thing is called in messages."""
    if isinstance(thing, (list, tuple)):
        return f"a list of {', '.join(sorted({kind.__name__ for kind in set(map(type, thing))}))}"
    return f"a {type(thing).__name__}"
