"""Documents of each kind of source that is read here, with the bytes that they are copied by.

1. `documents` yields what the run may have read; a record that is not a document is passed over, and missed in the
   count if the run has not skipped it.
2. What the run skipped is not looked at: `skipped` holds those positions.
"""

import codecs
import contextlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from nearsame.errors import SourceError
from nearsame.named import NamedTuple
from nearsame.proofs.codes import bytes_of, unread
from nearsame.proofs.files import (
    BROKEN,
    Part,
    Piece,
    Record,
    chosen,
    csv_fields,
    first_line,
    parsed,
    raw,
    said_by,
    sniffed,
)
from nearsame.proofs.indexes import IndexLines, content_in, order_in
from nearsame.proofs.pieces import pieces_of
from nearsame.proofs.tables import Look
from nearsame.proofs.values import contents, is_string, orders, texts

__all__ = ["Opened", "Reader", "default_id"]

Other = Callable[[Part, str | None], Iterator[Record]]  # the product's readers: of a source, or of its copy at a path
Labels = Callable[[Part, str | None], Sequence[tuple[str, str]]]  # likewise of archives: id and URL of each record
_BATCH = 4_096
_MARKS = (  # of 32 bits first: they begin as those of 16 do
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip


class Opened(NamedTuple):
    """A table in memory, or a file of one.

    Attributes:
        schema: its columns.
        batches: reads some of them (None: all).
        said: what is said besides the columns, and where.
        file: of what format; none: it is in memory.
        rest: bytes that follow its end, and that nobody reads.
    """

    schema: pa.Schema
    batches: Callable[[Sequence[str] | None], Iterator[pa.RecordBatch]]
    said: Mapping[bytes, bytes]
    file: str
    rest: Callable[[], int] = lambda: 0


@dataclass
class Reader:
    """How the sources of a run are read.

    Attributes:
        columns: what was read of them.
        other: reads what is not read here.
        labels: reads the records of an archive, documents or not.
        memory: tables in memory, by the names of their parts.
        skipped: positions that the run could not read, by part name.
        unread: parts of which it could read nothing.
        look: says why a Parquet file must not be opened.
        broken: parts that cannot be read to their end, and why; filled on the way.
    """

    columns: Mapping[str, Any]
    other: Other
    labels: Labels
    look: Look
    memory: Mapping[str, pa.Table] = field(default_factory=dict)
    skipped: Mapping[str, AbstractSet[int]] = field(default_factory=dict)
    unread: AbstractSet[str] = frozenset()
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def beside(self) -> tuple[str, ...]:
        """What may be known of a document besides its content, the URL first."""
        return tuple(self.columns["beside"])

    @property
    def orders(self) -> tuple[str, ...]:
        """The columns that --keep goes by."""
        return tuple(self.columns.get("order", ()))

    def columns_of(self, part: Part) -> Mapping[str, Any]:
        """The columns that are read of a part."""
        given = self.columns
        if not part.against:
            return given
        names = {name: given.get(f"against_{name}") or given.get(name) for name in ("text", "id")}
        return {**given, **names}

    def documents(self, part: Part, pieces: Iterator[Piece] | None = None) -> Iterator[Record]:
        """The documents of a part; of one that has pieces, from these."""
        gone = self.skipped.get(part.name, frozenset())
        if part.name in self.unread:
            return
        try:
            for record in self._read(part, pieces):
                if record.position not in gone:
                    yield self._with_folder(part, self._as_compared(record))
        except (*BROKEN, SourceError) as error:
            self.broken.setdefault(part.name, first_line(error))

    def _as_compared(self, record: Record) -> Record:
        """The record with the bytes of its code, where documents are codes; of lists nulls are nothing."""
        if self.columns.get("items") is not None and isinstance(record.content, list):
            return record._replace(content=[item for item in record.content if item is not None])
        if self.columns.get("codes") is None:
            return record
        bits, decimal = self.columns["bits"], self.columns["decimal"]
        return record._replace(content=bytes_of(record.content, bits, decimal=decimal))

    def _read(  # noqa: PLR0911  (one for each kind)
        self, part: Part, pieces: Iterator[Piece] | None
    ) -> Iterator[Record]:
        by_product = self.columns.get("encoding") if part.form.reads == "texts" else self.columns.get("html")
        if not part.is_own or by_product:
            return self.other(part, None)
        match part.form.reads:
            case "objects":
                return self._objects(part, pieces or pieces_of(part, self.broken))
            case "rows":
                return self._rows(part, pieces or pieces_of(part, self.broken))
            case "index":
                return self._index(part, pieces or pieces_of(part, self.broken))
            case "texts":
                return self._texts(part)
            case "table":
                return self._table(part)
            case "nothing" | None:
                return iter(())

    def _with_folder(self, part: Part, record: Record) -> Record:
        """The record with what names of folders say, in place of columns of --keep that its file lacks."""
        lacking = [name for name in self.orders if name not in record.order]
        if not lacking or not part.is_own:
            return record
        at = record.position if part.form.is_folder else 0
        path = os.fsdecode(part.paths[at] or b"") if part.paths else ""
        said = {name: value for name in lacking for value in _said_by_folder(path, name)}
        return record._replace(order={**record.order, **dict.fromkeys(lacking), **said})

    def _objects(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Record]:
        first, names, strings = sniffed(pieces)
        content, name = chosen(self.columns_of(part), names, strings)
        gone = self.skipped.get(part.name, frozenset())
        for piece in itertools.chain(first, pieces):
            if piece.position is None or piece.position in gone:
                continue
            fields = parsed(piece.data)
            if fields is not None:
                order = {column: fields.get(column) for column in self.orders if column in names}
                others = self._beside(fields.get)
                yield Record(piece.position, _id(fields.get(name or "")), fields.get(content or ""), order, others)

    def _beside(self, get: Callable[[str], Any]) -> dict[str, str | None]:
        return {name: _text(get(name)) for name in self.beside}

    def _rows(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Record]:
        delimiter = part.form.delimiter or ","
        header: list[str] = []
        places: list[int | None] = []
        gone = self.skipped.get(part.name, frozenset())
        for piece in pieces:
            if piece.position is None and not header:
                if piece.data.strip(b"\xef\xbb\xbf\r\n"):
                    heading = csv_fields(piece.data.removeprefix(b"\xef\xbb\xbf"), delimiter)
                    header = [cell.decode("utf-8", "replace") for cell in heading]
            elif piece.position is not None and piece.position not in gone:
                fields = csv_fields(piece.data, delimiter)
                if not places:
                    places = self._places(part, header, fields)
                yield self._row(
                    piece.position, [None if at is None or at >= len(fields) else fields[at] for at in places]
                )

    def _places(self, part: Part, header: list[str], fields: list[bytes]) -> list[int | None]:
        strings = [name for name, value in zip(header, fields, strict=False) if not _is_number(value)]
        content, name = chosen(self.columns_of(part), header, strings)
        wanted = (name, content, *self.orders, *self.beside)
        return [header.index(column) if column in header else None for column in wanted]

    def _row(self, position: int, fields: list[bytes | None]) -> Record:
        (name, text), others = fields[:2], fields[2 + len(self.orders) :]
        order = {name: value for name, value in zip(self.orders, fields[2:], strict=False) if value is not None}
        known = [cell.decode("utf-8", "backslashreplace") if cell else None for cell in (name, *others)]
        content = None if text is None else text.decode("utf-8", "replace")
        return Record(position, known[0], content, order, dict(zip(self.beside, known[1:], strict=True)))

    def _index(self, part: Part, pieces: Iterator[Piece]) -> Iterator[Record]:
        columns = self.columns_of(part)
        content, name = columns.get("text") or "digest", columns.get("id") or "url"
        lines, gone = IndexLines(), self.skipped.get(part.name, frozenset())
        for piece in pieces:
            said = None if piece.position is None else lines.read(piece.data)
            if piece.position is not None and piece.position not in gone and said is not None:
                order = {column: order_in(said, column) for column in self.orders}
                yield Record(piece.position, said.get(name), content_in(said, content), order, self._beside(said.get))

    def _texts(self, part: Part) -> Iterator[Record]:
        gone = self.skipped.get(part.name, frozenset())
        for position, (path, file) in enumerate(zip(part.paths, part.files, strict=True)):
            if position in gone:
                continue
            data = b"".join(raw(os.fsdecode(path or b""), None))
            name = (file or b"").decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape")
            yield Record(position, name.decode("utf-8", "backslashreplace"), _text_of(data))

    def _table(self, part: Part) -> Iterator[Record]:
        with self.table(part) as opened:
            schema = opened.schema
            strings = [column.name for column in schema if is_string(column.type)]
            content, name = chosen(self.columns_of(part), schema.names, strings)
            wanted = (name, content, *self.orders, *self.beside)
            content_of = contents if self.columns.get("codes") is None else unread
            read = (texts, content_of, *([orders] * len(self.orders)), *([texts] * len(self.beside)))
            position = 0
            for batch in opened.batches(
                [column for column in dict.fromkeys(filter(None, wanted)) if column in schema.names]
            ):
                there = batch.schema.names
                lists = [
                    how(batch.column(column)) if column in there else itertools.repeat(None)
                    for how, column in zip(read, wanted, strict=True)
                ]
                for at, (one, text, *others) in zip(range(len(batch)), zip(*lists, strict=False), strict=False):
                    order = {
                        column: value for column, value in zip(self.orders, others, strict=False) if column in there
                    }
                    known = dict(zip(self.beside, map(_text, others[len(self.orders) :]), strict=True))
                    yield Record(position + at, _id(one), text, order, known)
                position += len(batch)

    @contextlib.contextmanager
    def table(self, part: Part, path: str | None = None) -> Iterator[Opened]:
        """The columns of a table, and what reads some of them in batches; or of its copy at a path."""
        if part.format == "memory" and path is None:
            known = self.memory[part.name]
            yield Opened(
                known.schema,
                lambda names: iter((known.select(names) if names is not None else known).to_batches(_BATCH)),
                known.schema.metadata or {},
                "",
            )
            return
        place = part.path if path is None else path
        whole = pa.BufferReader(b"".join(raw(place, part.compression))) if part.compression or "://" in place else None
        with contextlib.closing(whole or _file(place)) as file:
            own = {"arrow": _arrow, "orc": _orc}
            yield own.get(part.format, self._parquet)(file)

    def _parquet(self, file: Any) -> Opened:
        if reason := self.look(file):
            raise pa.ArrowInvalid(reason)
        file.seek(0)
        opened = pq.ParquetFile(file, pre_buffer=False, coerce_int96_timestamp_unit="us")  # of the years 1 to 9999
        to_all, to_arrow = said_by(opened.metadata.metadata)
        said = to_all | {b"ARROW:" + name: value for name, value in to_arrow.items()}
        # by no threads of Arrow's: one that lets go of a Python file while the process ends would end it by a signal
        batches = partial(opened.iter_batches, _BATCH, use_threads=False)
        return Opened(opened.schema_arrow, lambda names: batches(columns=names), said, "parquet")


def _file(path: str) -> Any:
    try:
        return open(path, "rb")  # noqa: PTH123  (whoever asked closes it; a path need not be Unicode)
    except FileNotFoundError as error:
        raise SourceError(f"{path} is not there any more", hint="Put it back where it was for the run.") from error


def _arrow(file: Any) -> Opened:
    """Arrow's own format, as a file or as a stream."""
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    opened = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
    batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else iter(opened)

    def rest() -> int:
        return 0 if is_file else len(file.read())

    return Opened(
        opened.schema,
        lambda names: (batch if names is None else batch.select(names) for batch in batches),
        opened.schema.metadata or {},
        "arrow",
        rest,
    )


def _orc(file: Any) -> Opened:
    """ORC, stripe by stripe."""
    opened = orc.ORCFile(file)

    def batches(names: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        return (opened.read_stripe(number, None if names is None else list(names)) for number in range(opened.nstripes))

    return Opened(opened.schema, batches, opened.schema.metadata or {}, "orc")


def default_id(part: Part, record: Record) -> str:
    """What a document is called: its id, or else its source and position."""
    return f"{part.name}:{record.position}" if record.id is None else record.id


def _said_by_folder(path: str, name: str) -> Iterator[int | str | None]:
    """What the nearest folder says, as in `year=2024`; nothing where none does."""
    for folder in reversed(path.split("/")[:-1]):
        key, equals, value = map(unquote, folder.partition("="))
        if equals and key == name:
            is_number = re.fullmatch(r"-?[0-9]{1,18}", value)
            yield None if value == "__HIVE_DEFAULT_PARTITION__" else int(value) if is_number else value
            return


def _text_of(data: bytes) -> str:
    """A file's text: UTF-8, unless a byte order mark says otherwise."""
    wide = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    return data.decode(wide, "replace")


def _id(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return json.dumps(value, default=str)


def _text(value: Any) -> str | None:
    """What stands beside a content, as a text; what has none says nothing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return None if isinstance(value, list | dict) else json.dumps(value, default=str)


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
