"""The footer of a Parquet file, looked through before it is believed.

1. pyarrow ends the process when it is asked about a column that is encrypted, that a row group has and the schema does
   not, or whose statistics of sizes are not those of its type: none of it can be caught. So the footer is read here
   first, as Thrift's compact protocol writes it.
2. Nothing is kept but what is asked: names, numbers of columns and of rows, and whether something is encrypted.
"""

import struct
from collections.abc import Iterator
from typing import Any

from nearsame.named import NamedTuple

__all__ = ["largest_page", "why_not_readable"]

_MAGIC, _TAIL = b"PAR1", 8
_DEEPEST = 64
_TRUE, _FALSE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 1, 2, 7, 8, 9, 10, 11, 12, 13
_BYTE, _INTEGERS = 3, (4, 5, 6)
_LONG = 15  # of a list: its size follows
# numbers of fields, as parquet.thrift gives them
_SCHEMA, _NUM_ROWS, _GROUPS, _ALGORITHM = 2, 3, 4, 8
_SEEN = 1 << 16  # bytes at the end that are read at once: a small file at a web server without ranges is one read
_NAME, _NUM_CHILDREN = 4, 5
_TYPE, _REPETITION, _OPTIONAL, _REPEATED, _BYTES = 1, 3, 1, 2, 6
_COLUMNS, _GROUP_ROWS = 1, 3
_SIZES, _PLAIN_BYTES, _REPETITIONS, _DEFINITIONS = 16, 1, 2, 3
_ABOUT, _KEY, _SEALED = 3, 8, 9
_PAGE_BYTES, _PACKED_BYTES = 2, 3


class _Leaf(NamedTuple):
    """A column: its physical type, and how deep its values may stand."""

    name: str
    kind: int | None
    definition: int
    repetition: int


def why_not_readable(source: Any) -> str:
    """Why a file cannot be opened; nothing if it can, or if pyarrow will say it.

    Args:
        source: The file, which can seek.
    """
    source.seek(0, 2)
    size = source.tell()
    if size < 2 * _TAIL:
        return ""
    seen = min(size, _SEEN)
    source.seek(size - seen)
    tail = bytes(source.read(seen))
    (length,) = struct.unpack("<I", tail[-_TAIL:-4])
    if tail[-4:] != _MAGIC or length > size - _TAIL:
        return ""
    if length + _TAIL > seen:
        source.seek(size - _TAIL - length)
        tail = bytes(source.read(length + _TAIL))
    try:
        return _complaint(_Compact(tail[-_TAIL - length : -_TAIL]).struct(0))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error):  # of what it should hold
        return "its footer is damaged"


def largest_page(source: Any, start: int, size: int) -> int:
    """Bytes of the largest page of a column, decompressed, by what stands before each: no page is read.

    Args:
        source: The file, which can seek.
        start: Where the pages of the column begin.
        size: How many bytes they take.
    """
    end, most = start + size, 0
    try:
        while start < end:
            source.seek(start)
            head = _Compact(bytes(source.read(_SEEN)))
            page = head.struct(0)
            most = max(most, page[_PAGE_BYTES])
            start += head.num_read + max(page[_PACKED_BYTES], 0)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return most  # damage, which pyarrow reports
    return most


def _complaint(footer: dict[int, Any]) -> str:
    elements = iter(footer[_SCHEMA])
    leaves = [leaf for _ in range(next(elements).get(_NUM_CHILDREN) or 0) for leaf in _leaves(elements, 0, 0)]
    groups = footer[_GROUPS]
    for group in groups:
        if len(group[_COLUMNS]) != len(leaves):
            return f"a row group has {len(group[_COLUMNS])} columns, and the schema {len(leaves)}"
        for leaf, column in zip(leaves, group[_COLUMNS], strict=True):
            name = leaf.name
            if _KEY in column or _SEALED in column:
                return f"column {name!r} is encrypted"
            if _ABOUT not in column:
                return f"nothing is said of column {name!r}"
            if not _fits(column[_ABOUT].get(_SIZES, {}), leaf):
                return f"the sizes of column {name!r} are not of its type"
    if _ALGORITHM in footer:
        return "it is encrypted"
    rows = sum(group[_GROUP_ROWS] for group in groups)
    return f"its row groups hold {rows} rows, and it says {footer[_NUM_ROWS]}" if rows != footer[_NUM_ROWS] else ""


def _leaves(elements: Iterator[dict[int, Any]], definition: int, repetition: int) -> Iterator[_Leaf]:
    """The columns below the next element of a schema, which stand behind it."""
    element = next(elements)
    kind = element.get(_REPETITION, 0)
    definition, repetition = definition + (kind in (_OPTIONAL, _REPEATED)), repetition + (kind == _REPEATED)
    if not element.get(_NUM_CHILDREN):
        yield _Leaf(element[_NAME].decode("utf-8", "replace"), element.get(_TYPE), definition, repetition)
    for _ in range(element.get(_NUM_CHILDREN) or 0):
        yield from _leaves(elements, definition, repetition)


def _fits(sizes: dict[int, Any], leaf: _Leaf) -> bool:
    """Whether statistics of sizes may be of a column."""
    levels = ((sizes.get(_DEFINITIONS), leaf.definition), (sizes.get(_REPETITIONS), leaf.repetition))
    return (_PLAIN_BYTES not in sizes or leaf.kind == _BYTES) and all(
        not histogram or len(histogram) == most + 1 for histogram, most in levels
    )


class _Compact:
    """Values of Thrift's compact protocol, one after the other: a struct is a dict by the numbers of its fields."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def num_read(self) -> int:
        """How many bytes have been taken from the start."""
        return self._at

    def struct(self, depth: int) -> dict[int, Any]:
        """The fields up to the stop."""
        if depth > _DEEPEST:
            raise ValueError("too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15, depth)
        return fields

    def _value(self, kind: int, depth: int, *, in_list: bool = False) -> Any:  # noqa: PLR0911  (a table)
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE if in_list else kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in (_DOUBLE, _UUID):
            return self._bytes(8 if kind == _DOUBLE else 16)
        raise ValueError(f"no type {kind}")

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        size = self._varint() if head >> 4 == _LONG else head >> 4
        if size > len(self._data) - self._at:
            raise ValueError("longer than the footer")
        return [self._value(head & 15, depth, in_list=True) for _ in range(size)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise ValueError("longer than the footer")
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("no number")

    def _integer(self) -> int:
        zigzag = self._varint()
        return (zigzag >> 1) ^ -(zigzag & 1)
