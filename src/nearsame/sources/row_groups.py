"""A Parquet file whose row groups are encoded side by side: each by itself, and put one behind the other.

1. pyarrow writes one row group at a time, on one processor. Here each is made as a file of its own in memory; what
   stands between the marks at its ends goes into the file, and what its footer says of places is moved by as much.
2. The footer is written as Thrift's compact protocol has it: numbers have no fixed width there, but nothing says how
   long a struct is, so all else is taken over byte for byte.
"""

import io
import struct
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nearsame.arrow import held_bytes
from nearsame.named import NamedTuple
from nearsame.sources.footers import GROUPS, NUM_ROWS, Field, fields_of

__all__ = ["write_row_groups"]

_AT_ONCE = 2  # as quick as one thread reads
_HELD_BYTES = 80 << 20  # that their tables take together; a larger one is alone
_MAGIC, _TAIL = b"PAR1", 8
_COLUMNS, _GROUP_OFFSET, _ORDINAL, _ABOUT = 1, 5, 7, 3  # of a row group, and of a column there
_COLUMN_OFFSETS, _ABOUT_OFFSETS = (2, 4, 6), (9, 10, 11, 14)  # where it stands, its indexes; its pages and its filter
_STRUCT, _LONG = 12, 15  # the type in the head of a list; of a longer one the size stands behind it


def write_row_groups(out: Any, schema: pa.Schema, settings: dict[str, Any], tables: Iterator[pa.Table]) -> None:
    """Write a file to `out` that has each of the tables as a row group, by the settings of a `pq.ParquetWriter`."""

    def encoded(table: pa.Table | None) -> list[bytes]:
        sink = _Pieces()
        with pq.ParquetWriter(sink, schema, **settings) as writer:
            if table is not None:
                writer.write_table(table, row_group_size=max(len(table), 1))
        return sink.pieces

    file = _File(out)
    waiting = deque[tuple[Future[list[bytes]], int]]()
    with ThreadPoolExecutor(_AT_ONCE, "nearsame-write") as pool:
        for table in tables:
            size = held_bytes(table)
            while waiting and sum(held for _, held in waiting) + size > _HELD_BYTES:
                file.put(waiting.popleft()[0].result())
            waiting.append((pool.submit(encoded, table), size))
            del table  # or it would be held until the next one is there
            if len(waiting) == _AT_ONCE:
                file.put(waiting.popleft()[0].result())
        for done, _ in waiting:
            file.put(done.result())
    file.close(encoded(None))


class _Footer(NamedTuple):
    """What the footer of a row group's own file says.

    Attributes:
        data: all of it.
        num_rows: where their number stands, and what it is.
        group: where the row group stands, behind the head of their list.
        places: where numbers stand that are places in the file.
        ordinal: where its number among the row groups stands, if it does.
    """

    data: bytes
    num_rows: Field
    group: tuple[int, int]
    places: list[Field]
    ordinal: list[Field]


class _Pieces(io.RawIOBase):
    """A file in memory that is not copied when it grows."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Keep some bytes."""
        self.pieces.append(bytes(data))
        return len(data)


class _File:
    """A file that grows by whole row groups."""

    def __init__(self, out: Any) -> None:
        self.out, self.size, self.num_rows = out, len(_MAGIC), 0
        self.groups: list[bytes] = []
        out.write(_MAGIC)

    def put(self, pieces: list[bytes]) -> None:
        """Add the row group of a file that has no other."""
        start, data = _footer_of(pieces)
        footer = _read(data)
        moved = self.size - len(_MAGIC)
        changed = [field._replace(value=field.value + moved) for field in footer.places if field.value]
        changed += [field._replace(value=len(self.groups)) for field in footer.ordinal]
        self.groups.append(_changed(footer.data, footer.group, changed))
        self.num_rows += footer.num_rows.value
        at = 0
        for piece in pieces:
            self.out.write(memoryview(piece)[max(len(_MAGIC) - at, 0) : max(start - at, 0)])
            at += len(piece)
        self.size += start - len(_MAGIC)

    def close(self, empty: list[bytes]) -> None:
        """Write the footer, by that of a file without row groups."""
        _, data = _footer_of(empty)
        fields = fields_of(data)
        rows, groups = fields[NUM_ROWS], fields[GROUPS]
        head = data[: rows.start] + _spelt(self.num_rows) + data[rows.end : groups.start]
        footer = b"".join((head, _list_head(len(self.groups)), *self.groups, data[groups.end :]))
        self.out.write(footer + struct.pack("<I", len(footer)) + _MAGIC)


def _footer_of(pieces: list[bytes]) -> tuple[int, bytes]:
    """(where it begins, the footer of a file in pieces)."""
    end, some = sum(map(len, pieces)) - _TAIL, b""
    for piece in reversed(pieces):
        some = piece + some
        size = len(some) - _TAIL
        if size >= 0 and size >= (length := struct.unpack("<I", some[-_TAIL:-4])[0]):
            return end - length, some[size - length : size]
    raise ValueError("no footer")


def _read(data: bytes) -> _Footer:
    fields = fields_of(data)
    groups = fields[GROUPS]
    (group,) = groups.value
    places = [group[_GROUP_OFFSET]] if _GROUP_OFFSET in group else []
    for column in group[_COLUMNS].value:
        about = column[_ABOUT].value
        places += [column[number] for number in _COLUMN_OFFSETS if number in column]
        places += [about[number] for number in _ABOUT_OFFSETS if number in about]
    ordinal = [group[_ORDINAL]] if _ORDINAL in group else []
    return _Footer(data, fields[NUM_ROWS], (groups.start + 1, groups.end), places, ordinal)


def _changed(data: bytes, part: tuple[int, int], fields: list[Field]) -> bytes:
    """A part of a footer in which some numbers are others."""
    pieces, (at, end) = [], part
    for field in sorted(fields, key=lambda field: field.start):
        pieces += [data[at : field.start], _spelt(field.value)]
        at = field.end
    return b"".join((*pieces, data[at:end]))


def _spelt(number: int) -> bytes:
    """A number that is not negative, as the protocol has it.

    >>> _spelt(0).hex(), _spelt(100).hex()
    ('00', 'c801')
    """
    return _varint(2 * number)


def _varint(number: int) -> bytes:
    pieces = bytearray()
    while number > 0x7F:
        pieces.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*pieces, number))


def _list_head(size: int) -> bytes:
    """The head of a list of so many structs.

    >>> _list_head(2).hex(), _list_head(200).hex()
    ('2c', 'fcc801')
    """
    return bytes([size << 4 | _STRUCT]) if size < _LONG else bytes([_LONG << 4 | _STRUCT]) + _varint(size)
