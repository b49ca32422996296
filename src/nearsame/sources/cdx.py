"""Indexes of web archives, CDX and CDXJ: a line for each record, with its URL, its time and its payload's digest.

1. A document is a line. Its text is the digest in the spelling that digests are compared by, unless another column is
   named: equal digests are equal payloads. Columns have it as it is written.
2. A line of CDXJ has a JSON object behind its key and timestamp. Any other has the fields that the header
   (` CDX N b a ...`) names, or the usual 9, 10 or 11 of a file without one. `-` is nothing.
3. Headers and metadata (`!...`, `@...`) are no documents, and stay in a copy.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError
from nearsame.files.systems import File
from nearsame.sources.base import Annotations, Aside, Columns, Skip, Skipped, TextChange
from nearsame.sources.columns import Chosen, assemble, bounded, choose
from nearsame.sources.jsonl import JsonLines
from nearsame.sources.jsonvalues import UnreadableError, json_object
from nearsame.sources.limits import longest, pass_by, too_long
from nearsame.sources.parts import strictly
from nearsame.sources.payload_digests import comparable
from nearsame.sources.streams import unread_rest

__all__ = ["NAMES", "ArchiveIndex"]

NAMES = (
    "url", "urlkey", "timestamp", "date", "mime", "status", "digest", "payload_digest", "redirect", "length",
    "offset", "filename",
)  # fmt: skip
_LETTERS = {
    "N": "urlkey", "b": "timestamp", "a": "url", "m": "mime", "s": "status", "k": "digest", "r": "redirect",
    "S": "length", "V": "offset", "g": "filename",
}  # fmt: skip
_USUAL = {len(letters): tuple(letters) for letters in ("NbamskrVg", "NbamskrMVg", "NbamskrMSVg")}
_NUMBERS, _DIGESTS = ("status", "length", "offset"), ("digest", "payload_digest")
_HEADER = re.compile(rb"\s*(?:\xef\xbb\xbf\s*)?CDX((?:\s+\S)*)\s*")
_METADATA = (b"!", b"@", b"\xef\xbb\xbf!", b"\xef\xbb\xbf@")
_HALF = re.compile("[\ud800-\udfff]")
_WHOLE_TIMESTAMP = 14  # digits, to the second
_MOST_DIGITS = 19  # of a number of 64 bits

Values = dict[str, str | None]


@dataclass(frozen=True)
class ArchiveIndex(JsonLines):
    """A CDX or CDXJ file."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The lines that are documents, in order, as RECORDS batches."""
        skip, most = strictly(skip, strict=self.strict), longest(columns)
        chosen = _chosen(columns, self.name)
        fields: tuple[str, ...] = ()
        for block in self._blocks(skip, most):
            if block.passing is not None:
                pass_by(block, columns, skip, self.name)
                continue
            every = np.arange(len(block.records.starts))
            good = every[~too_long(block, columns, skip, self.name, every)]
            rows: list[tuple[int, Values]] = []
            for index in good.tolist():
                line = block.raw(index)
                try:
                    values, fields = _document(line, fields)
                except UnreadableError as error:
                    skip(Skipped(self.name, block.position + index, block.line_of(index), str(error)))
                    continue
                if values is None:
                    skip(Aside("line of metadata of an index"))
                else:
                    rows.append((block.position + index, values))
            yield from bounded(_batch(rows, chosen))
            if block.broken:
                skip(unread_rest(block, self.name))

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | TextChange | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the raw lines to `target` without the `removed` positions (ascending).

        Raises:
            ColumnError: Annotations are to be written, of which who reads an index knows nothing.
        """
        if annotations is not None:
            message = f"{self.name}: the lines of an index have no place for annotations"
            raise ColumnError(message, hint="Run without --annotate.")
        super().copy(target, removed, drop_unread=drop_unread)

    def table(self, file: File) -> pa.Table:
        """All documents of another index."""
        fields: tuple[str, ...] = ()
        rows: list[Values] = []
        other = ArchiveIndex(file, self.name, self.target, self.format, self.compression)
        for block in other._blocks(lambda _: None, 1 << 62):
            for index in range(len(block.records.starts)):
                values, fields = _document(block.raw(index), fields)
                rows += [] if values is None else [values]
        return pa.table({name: _column([row.get(name) for row in rows], name) for name in NAMES})


def _chosen(columns: Columns, source: str) -> Chosen:
    if columns.no_text is not None:
        message = f"{source} has no lists or codes, which column {columns.no_text!r} is to hold"
        raise ColumnError(message, hint="Leave it out.")
    named = columns if columns.html else replace(columns, text=columns.text or "digest")
    chosen = choose(named, NAMES, NAMES, source)
    return chosen._replace(id=chosen.id or "url")


def _header(line: bytes) -> tuple[str, ...] | None:
    """The letters of a header; None where it is none."""
    matched = _HEADER.fullmatch(line)
    return tuple(matched[1].decode("latin-1").split()) if matched else None


def _document(line: bytes, fields: tuple[str, ...]) -> tuple[Values | None, tuple[str, ...]]:
    """What a line says, or None where it is not a document, and the fields of the lines behind it.

    Raises:
        UnreadableError: It cannot be read.
    """
    header = _header(line)
    if header is not None or line.startswith(_METADATA):
        return None, header or fields
    return _values(line, fields), fields


def _values(line: bytes, fields: tuple[str, ...]) -> Values:
    """What the line of a document says, by the names of columns."""
    try:
        text = line.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise UnreadableError("not UTF-8") from None
    key, _, rest = text.partition(" ")
    timestamp, _, rest = rest.partition(" ")
    if rest.lstrip().startswith("{"):
        record = json_object(rest.encode())
        if isinstance(record, str):
            raise UnreadableError(record)
        values = {"urlkey": key, "timestamp": timestamp, **{name: _said(record.get(name)) for name in NAMES[4:]}}
        values["url"] = _said(record.get("url"))
    else:
        parts = text.split(" ")
        letters = fields or _USUAL.get(len(parts), ())
        if len(letters) != len(parts):
            expected = len(letters) or "9, 10 or 11"
            raise UnreadableError(f"{len(parts)} fields, where an index has {expected}")
        values = {
            _LETTERS[letter]: _said(part) for letter, part in zip(letters, parts, strict=True) if letter in _LETTERS
        }
    return values | {"date": _date(values.get("timestamp")), "payload_digest": values.get("digest")}


def _said(value: Any) -> str | None:
    """A value as a string; None for nothing, and for what is no scalar."""
    if value is None or isinstance(value, list | dict) or value in {"-", ""}:
        return None
    text = str(value)
    if _HALF.search(text):
        raise UnreadableError("half of a surrogate pair, which is not a character")
    return text


def _date(timestamp: str | None) -> str | None:
    """A timestamp as other sources write dates.

    >>> _date("20200102030405")
    '2020-01-02T03:04:05Z'
    """
    if timestamp is None or len(timestamp) != _WHOLE_TIMESTAMP or not (timestamp.isascii() and timestamp.isdigit()):
        return None
    year, *others = timestamp[:4], *(timestamp[at : at + 2] for at in range(4, _WHOLE_TIMESTAMP, 2))
    return "{}-{}-{}T{}:{}:{}Z".format(year, *others)


def _column(values: list[str | None], name: str) -> pa.Array:
    if name not in _NUMBERS:
        return pa.array(values, pa.string())
    return pa.array(map(_number, values), pa.int64())


def _number(value: str | None) -> int | None:
    is_one = value is not None and value.isascii() and value.isdigit() and len(value) < _MOST_DIGITS
    return int(value or 0) if is_one else None


def _contents(column: pa.Array, name: str | None) -> pa.Array:
    """What is compared of the lines."""
    if name in _DIGESTS:
        column = pa.array([None if value is None else comparable(value) for value in column.to_pylist()], pa.string())
    return column.cast(pa.large_string())


def _batch(rows: list[tuple[int, Values]], chosen: Chosen) -> pa.RecordBatch:
    def strings(name: str | None) -> pa.Array:
        return pa.array([values.get(str(name)) for _, values in rows], pa.string())

    return assemble(
        np.array([position for position, _ in rows], np.int64),
        strings(chosen.id),
        _contents(strings(chosen.text), chosen.text),
        orders={name: _column([values.get(name) for _, values in rows], name) for name in chosen.order},
        beside={name: strings(name) for name in chosen.beside},
    )
