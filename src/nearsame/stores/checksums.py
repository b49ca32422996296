"""A checksum for each stored row, over all its columns: what a disk changed is noticed by whoever reads it.

1. XXH3 of 64 bits, kept as a signed number. It is not a signature: it finds damage, not forgery.
2. A text has a checksum of its own, which that of its row covers. So a row that is read without its text is verified
   all the same, and a text is verified when it is read.
3. Whom a document follows changes by itself, so it is a part of the checksum that can be taken out and put in.
4. A counter is kept beside its complement, which a database can do the sums on.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from nearsame.errors import StoreDamagedError, StoreError
from nearsame.stores.base import FORMAT, Row

__all__ = [
    "checksum_of",
    "is_counter",
    "led",
    "require_all",
    "require_ascending",
    "require_settings",
    "sealed",
    "sorted_out",
    "sum_of_text",
    "verified",
]

_CHECKSUM = "checksum"  # of all settings, among them
_HEAD = struct.Struct("<qqqq?")
_LEADER = struct.Struct("<qq")
_NO_URL = -1


def sum_of_text(text: bytes | None) -> int | None:
    """The checksum of a text as it is stored; None for none."""
    return None if text is None else _signed(xxh3_64_intdigest(memoryview(text)))


def checksum_of(row: Row, text_sum: int | None) -> int:
    """The checksum of a document, whose text has that one."""
    id_ = row.id.encode()
    url = b"" if row.url is None else row.url.encode()
    head = _HEAD.pack(
        row.number, len(id_), _NO_URL if row.url is None else len(url), text_sum or 0, text_sum is not None
    )
    return _signed(xxh3_64_intdigest(b"".join((head, id_, url, row.items)))) ^ _of_leader(row.number, row.leader)


def led(checksum: int, number: int, before: int | None, after: int | None) -> int:
    """The checksum of a document that follows another one from now on."""
    return checksum ^ _of_leader(number, before) ^ _of_leader(number, after)


def _is_whole(record: tuple[Any, ...], *, text: bool) -> bool:
    """Whether a record is what was written: the columns of a Row, the checksum of its text, and its own.

    Args:
        record: As it came from the database.
        text: Whether it was read with its text.
    """
    row, text_sum, checksum = Row(*record[:-2]), *record[-2:]
    try:
        return checksum_of(row, text_sum) == checksum and (not text or sum_of_text(row.text) == text_sum)
    except (AttributeError, TypeError, ValueError, struct.error):
        return False  # a value of another type than its column


def verified(record: tuple[Any, ...], name: str, *, text: bool) -> Row:
    """A record as a row.

    Raises:
        StoreError: It is not what was written.
    """
    if not _is_whole(record, text=text):
        raise StoreDamagedError.of(name, f"document {record[0]} is not what was written")
    return Row(*record[:-2])


def require_ascending(values: Sequence[Any], name: str) -> None:
    """See that what was read in order is in order: of a damaged table the same part may be read over and over.

    Raises:
        StoreDamagedError: It is not.
    """
    if not all(one < other for one, other in pairwise(values)):
        raise StoreDamagedError.of(name, "a table is not in order")


def sorted_out(records: Iterable[tuple[Any, ...]]) -> tuple[list[Row], list[int]]:
    """Of records that were read with their texts, those that are whole, and the numbers of the others."""
    rows, damage = [], []
    for record in records:
        if _is_whole(record, text=True):
            rows.append(Row(*record[:-2]))
        else:
            damage.append(record[0])
    return rows, damage


def require_all(numbers: Iterable[int], rows: Mapping[int, Row], name: str) -> None:
    """See that documents are there, to which something leads.

    Raises:
        StoreError: One is not.
    """
    for number in numbers:
        if number not in rows:
            raise StoreDamagedError.of(name, f"document {number} is missing, but something refers to it")


def is_counter(value: Any, checksum: Any) -> bool:
    """Whether a counter is what was written."""
    return type(value) is int and type(checksum) is int and value == ~checksum


def sealed(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings with the format, and their checksum."""
    complete = {**settings, "format": FORMAT}
    return {**complete, _CHECKSUM: _of_settings(complete)}


def require_settings(name: str, settings: Mapping[Any, Any]) -> dict[str, str]:
    """The settings of an index without their checksum.

    Raises:
        StoreError: They are not what was written, or of another format.
    """
    stored = {key: value for key, value in settings.items() if key != _CHECKSUM}
    seal = settings.get(_CHECKSUM)
    is_sealed = seal is not None and _of_settings(stored) == seal
    theirs = stored.get("format")
    if theirs not in (FORMAT, None) and (is_sealed or seal is None):
        message = f"{name} is an index of format {theirs}; this version of nearsame reads format {FORMAT}"
        raise StoreError(message, hint="Create it again from its source, or use the version that made it.")
    if not is_sealed:
        raise StoreDamagedError.of(name, "its settings are not what was written")
    return stored


def _of_settings(settings: Mapping[Any, Any]) -> str:
    pairs = sorted((str(key), str(value)) for key, value in settings.items() if key != _CHECKSUM)
    return xxh3_64_hexdigest(json.dumps(pairs).encode())


def _of_leader(number: int, leader: int | None) -> int:
    return 0 if leader is None else _signed(xxh3_64_intdigest(_LEADER.pack(number, leader)))


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
