"""Documents of each kind of source that is read here, with the bytes that they are copied by.

1. `documents` yields what the run may have read; a record that is no document is passed over, and missed in the count
   if the run has not skipped it.
2. What the run skipped is not looked at: `skipped` holds those positions.
"""

import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from nearsame.proofs.files import (
    BROKEN,
    Part,
    Piece,
    Record,
    chosen,
    csv_fields,
    csv_pieces,
    line_pieces,
    parquet,
    parsed,
    raw,
    sniffed,
)

__all__ = ["Reader", "default_id", "pieces_of"]

Other = Callable[[Part, str | None], Iterator[Record]]  # the product's readers: of a source, or of its copy at a path
_BATCH = 4_096


@dataclass
class Reader:
    """How the sources of a run are read.

    Attributes:
        columns: what was read of them.
        other: reads what is not read here.
        memory: tables in memory, by the names of their parts.
        skipped: positions that the run could not read, by part name.
        unread: parts of which it could read nothing.
        wants: a column of values to keep by.
        url: the column of URLs.
        broken: parts that cannot be read to their end, and why; filled on the way.
    """

    columns: Mapping[str, Any]
    other: Other
    memory: Mapping[str, pa.Table] = field(default_factory=dict)
    skipped: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    unread: AbstractSet[str] = frozenset()
    url: str = "url"
    broken: dict[str, str] = field(default_factory=dict)

    def documents(self, part: Part, pieces: Iterator[Piece] | None = None) -> Iterator[Record]:
        """The documents of a part; of one that has pieces, from these."""
        gone = self.skipped.get(part.name, frozenset())
        if part.name in self.unread:
            return
        for record in self._read(part, pieces):
            if record.position not in gone:
                yield record

    def _read(self, part: Part, pieces: Iterator[Piece] | None) -> Iterator[Record]:
        if not part.is_own or (self.columns.get("html") and part.format != "text"):
            return self.other(part, None)
        match part.format:
            case "jsonl" | "stdin":
                return self._objects(part, pieces or pieces_of(part, self))
            case "csv" | "tsv":
                return self._rows(part, pieces or pieces_of(part, self))
            case "text":
                return self._texts(part)
            case "parquet" | "memory":
                return self._table(part)
            case _:
                return iter(())

    def _objects(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Record]:
        first, names, strings = sniffed(pieces)
        content, name = chosen(self.columns, names, strings)
        gone = self.skipped.get(part.name, frozenset())
        for piece in itertools.chain(first, pieces):
            if piece.position is None or piece.position in gone:
                continue
            found = parsed(piece.data)
            if found is not None:
                order, url = found.get(self.columns.get("order") or ""), found.get(self.url)
                yield Record(piece.position, _id(found.get(name or "")), found.get(content or ""), order, _text(url))

    def _rows(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Record]:
        delimiter = "\t" if part.format == "tsv" else ","
        header: list[str] = []
        places: list[int | None] = []
        gone = self.skipped.get(part.name, frozenset())
        for piece in pieces:
            if piece.position is None and not header:
                if piece.data.strip(b"\xef\xbb\xbf\r\n"):
                    heading = csv_fields(piece.data.removeprefix(b"\xef\xbb\xbf"), delimiter)
                    header = [each.decode("utf-8", "replace") for each in heading]
            elif piece.position is not None and piece.position not in gone:
                fields = csv_fields(piece.data, delimiter)
                if not places:
                    places = self._places(header, fields)
                yield _row(piece.position, [None if at is None else fields[at] for at in places])

    def _places(self, header: list[str], fields: list[bytes]) -> list[int | None]:
        strings = [name for name, value in zip(header, fields, strict=False) if not _is_number(value)]
        content, name = chosen(self.columns, header, strings)
        wanted = (name, content, self.columns.get("order"), self.url)
        return [header.index(each) if each in header else None for each in wanted]

    def _texts(self, part: Part) -> Iterator[Record]:
        gone = self.skipped.get(part.name, frozenset())
        for position, (path, file) in enumerate(zip(part.paths, part.files, strict=True)):
            if position in gone:
                continue
            data = b"".join(raw(os.fsdecode(path or b""), None))
            name = (file or b"").decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape")
            yield Record(position, name.decode("utf-8", "backslashreplace"), data.decode("utf-8", "replace"))

    def _table(self, part: Part) -> Iterator[Record]:
        schema, batches = self.table(part)
        strings = [each.name for each in schema if _is_string(each.type)]
        content, name = chosen(self.columns, schema.names, strings)
        wanted = (name, content, self.columns.get("order"), self.url)
        position = 0
        for batch in batches([each for each in dict.fromkeys(filter(None, wanted)) if each in schema.names]):
            lists = [batch.column(each).to_pylist() if each in batch.schema.names else None for each in wanted]
            for at in range(len(batch)):
                one, text, order, url = (None if values is None else values[at] for values in lists)
                yield Record(position + at, _id(one), text, order, _text(url))
            position += len(batch)

    def table(self, part: Part) -> tuple[pa.Schema, Callable[[list[str] | None], Iterator[pa.RecordBatch]]]:
        """The columns of a table, in memory or as Parquet, and what reads some of them in batches."""
        if part.format == "memory":
            known = self.memory[part.name]
            return known.schema, lambda names: iter(
                (known.select(names) if names is not None else known).to_batches(_BATCH)
            )
        source = pa.BufferReader(b"".join(raw(part.path, part.compression))) if part.compression else part.path
        opened = parquet(source)
        return opened.schema_arrow, lambda names: opened.iter_batches(_BATCH, columns=names)


def pieces_of(part: Part, reader: Reader) -> Iterator[Piece]:
    """The pieces of a source that is lines or CSV, up to where it breaks off."""
    yield from pieces_at(part.path, part, reader.broken, part.name)


def pieces_at(path: str, part: Part, broken: dict[str, str], name: str) -> Iterator[Piece]:
    """Likewise of any file of that format."""
    chunks = _until_broken(raw(path, part.compression), broken, name)
    delimited = part.format in ("csv", "tsv")
    pieces = csv_pieces(chunks, "\t" if part.format == "tsv" else ",") if delimited else line_pieces(chunks)
    last = None
    for piece in pieces:
        if last is not None:
            yield last
        last = piece
    if last is not None:  # where a file breaks off, what stands there is half a record
        yield last._replace(position=None) if name in broken and not last.data.endswith(b"\n") else last


def _until_broken(chunks: Iterator[bytes], broken: dict[str, str], name: str) -> Iterator[bytes]:
    try:
        yield from chunks
    except BROKEN as error:
        if type(error).__name__ == "SourceError":
            raise
        broken[name] = str(error) or "it ends too early"


def default_id(part: Part, record: Record) -> str:
    """What a document is called: its id, or else its source and position."""
    return f"{part.name}:{record.position}" if record.id is None else record.id


def _row(position: int, fields: list[bytes | None]) -> Record:
    name, text, order, url = fields
    return Record(
        position,
        name.decode("utf-8", "backslashreplace") if name else None,
        None if text is None else text.decode("utf-8", "replace"),
        order,
        url.decode("utf-8", "backslashreplace") if url else None,
    )


def _id(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return json.dumps(value, default=str)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _is_string(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
