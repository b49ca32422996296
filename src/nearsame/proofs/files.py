"""The bytes of files, decompressed, and cut into records: small readers of lines, CSV, Parquet and folders of texts.

1. What a file holds before it breaks off is read; that it breaks off is reported.
2. A piece is the bytes of a record, or what stands between records: joined again they are the file.
"""

import base64
import codecs
import contextlib
import json
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from typing import Any, BinaryIO, Literal, cast

import pyarrow as pa

from nearsame.errors import SourceError
from nearsame.named import NamedTuple
from nearsame.proofs.unpacking import BROKEN_STREAM, unpacked

__all__ = [
    "BROKEN",
    "FORMS",
    "Form",
    "Part",
    "Piece",
    "Record",
    "as_utf8",
    "chosen",
    "csv_fields",
    "csv_pieces",
    "first_line",
    "line_pieces",
    "listed_files",
    "packing",
    "raw",
    "said_by",
    "same_bytes",
]

# What readers raise over bytes that somebody or something has changed.
BROKEN = (*BROKEN_STREAM, MemoryError, struct.error)
_CHUNK = 1 << 20
_MEMBERS = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_BOM = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"
_SNIFFED = 1_000
_DEEP = 100
_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]')


class Form(NamedTuple):
    """How a format is proven. A format is a row of FORMS; one of columns has its reader in `records`, too.

    Attributes:
        reads: What its records are here: JSON objects, rows between delimiters, rows of a table, a file each, nothing;
            None: the product reads it.
        delimiter: What stands between the fields of a row.
        is_folder: Whether it is a folder, of which each file has a line in the list of sources.
        names: Of what is not a file: what its names look like.
    """

    reads: Literal["objects", "rows", "index", "table", "texts", "nothing"] | None
    delimiter: str | None = None
    is_folder: bool = False
    names: str | None = None

    @property
    def is_file(self) -> bool:
        """Whether a source of this format is one file, which may be compressed."""
        return not self.is_folder and self.names is None

    @property
    def is_archive(self) -> bool:
        """Whether it is one file of web pages among other records."""
        return self.is_file and self.reads is None

    @property
    def is_stream(self) -> bool:
        """Whether it is a file whose bytes are its records one after the other."""
        return self.is_file and self.reads in ("objects", "rows", "index")


FORMS = {
    "jsonl": Form("objects"),
    "csv": Form("rows", delimiter=","),
    "tsv": Form("rows", delimiter="\t"),
    "parquet": Form("table"),
    "orc": Form("table"),
    "arrow": Form("table"),
    "warc": Form(None),
    "cdx": Form("index"),
    "wacz": Form(None),
    "text": Form("texts", is_folder=True),
    "pages": Form(None, is_folder=True),
    "stdin": Form("objects", names=r"-"),
    "memory": Form("table", names=r"(?s)(?:memory|against)(?:-\d+|/.+)?"),
    "nothing": Form("nothing", names=r".*"),
}


class Part(NamedTuple):
    """One source, as the output tells of it."""

    number: int
    against: bool
    name: str
    target: str
    format: str
    compression: str | None
    paths: Sequence[bytes | None]
    files: Sequence[bytes | None]
    stamps: Sequence[tuple[int | None, int | None]]
    encoding: str | None = None  # of lines and rows; None: UTF-8

    @property
    def path(self) -> str:
        """Where its first file is, as text: bytes that are not UTF-8 become surrogates."""
        return os.fsdecode(self.paths[0] or b"")

    @property
    def form(self) -> Form:
        """How its format is proven."""
        return FORMS[self.format]

    @property
    def is_own(self) -> bool:
        """Whether it is read here, and not by the product."""
        return self.form.reads is not None


class Record(NamedTuple):
    """A document as the proof reads it from a source or a copy."""

    position: int
    id: str | None
    content: Any  # a text, a list of items or a vector; None: nothing
    order: Mapping[str, Any] = {}  # what --keep goes by, as far as it is read
    beside: Mapping[str, str | None] = {}  # what else is known of it, by the names of the columns


class Piece(NamedTuple):
    """Some bytes of a file; a record if it has a position."""

    data: bytes
    position: int | None = None


def raw(path: str, compression: str | None) -> Iterator[bytes]:
    """The decompressed bytes, in chunks."""
    try:
        if compression is not None:
            yield from unpacked(lambda: _opened(path), compression)
            return
        with contextlib.closing(_opened(path)) as file:
            while chunk := file.read(_CHUNK):
                yield bytes(chunk)
    except FileNotFoundError as error:
        raise SourceError(f"{path} is not there any more", hint="Put it back where it was for the run.") from error


def as_utf8(chunks: Iterator[bytes], encoding: str | None) -> Iterator[bytes]:
    """The same in UTF-8; bytes that are no characters are none there, either."""
    if encoding is None:
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
    for chunk in chain(chunks, [b""]):
        yield decoder.decode(chunk, not chunk).encode("utf-8", "surrogatepass")


def listed_files(part: Part, stay: Sequence[int]) -> tuple[bytes, bytes]:
    """What the list of those files of a folder holds that stay, and what ends each of its lines."""
    names = [name or b"" for name in part.files]
    end = b"\0" if any(b"\n" in name or b"\r" in name for name in names) else b"\n"
    return b"".join(names[at] + end for at in stay), end


def same_bytes(one: str, other: str) -> bool:
    """Whether two files are the same, as they are stored."""
    return all(a == b for a, b in zip_longest(raw(one, None), raw(other, None)))


def packing(path: str, named: str | None) -> str | None:
    """How an archive is compressed: by members it is told by its first bytes, whatever its name says."""
    head = next(raw(path, None), b"")
    known = (name for magic, name in _MEMBERS.items() if head.startswith(magic))
    return next(known, None if head.startswith(b"WARC/") else named)


def _opened(path: str) -> BinaryIO:
    if "://" in path:
        system, place = _located(path)
        return cast("BinaryIO", system.open(place, "rb"))
    return open(path, "rb")  # noqa: PTH123  (whoever asked closes it)


@lru_cache(maxsize=64)
def _located(path: str) -> tuple[Any, str]:
    """The file system of an address, and the place in it; held, as one that reads a zip closes it when it goes."""
    import fsspec  # noqa: PLC0415  (with asyncio and ssl, which local files have no use for)

    return cast("tuple[Any, str]", fsspec.core.url_to_fs(path))


def line_pieces(chunks: Iterator[bytes]) -> Iterator[Piece]:
    """Lines; those that are not blank are records."""
    position = 0
    for line in _lines(chunks):
        is_record = bool((line.removeprefix(_BOM) if not position else line).strip(_BLANKS))
        yield Piece(line, position if is_record else None)
        position += is_record


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    for chunk in chunks:
        head, *lines = chunk.split(b"\n")
        if not lines:
            rest.append(chunk)
            continue
        yield b"".join([*rest, head, b"\n"])
        yield from (line + b"\n" for line in lines[:-1])
        rest = [lines[-1]]
    if any(rest):
        yield b"".join(rest)


def csv_pieces(chunks: Iterator[bytes], delimiter: str) -> Iterator[Piece]:
    """The header, records, and empty lines between them."""
    mark = re.escape(delimiter.encode())
    field = rb'(?:"(?:[^"]|"")*+"|(?!"))[^' + mark + rb"\r\n]*+"
    record = re.compile(field + rb"(?:" + mark + field + rb")*+(?:\r\n|\n|\r|\Z)")
    data, at, wanted, number, ended = b"", 0, _CHUNK, -1, False
    while True:
        match = record.match(data, at)
        whole = match is not None and match.end() > at and (ended or match.end() < len(data) - 1)
        if not whole and not ended:
            data, at = data[at:], 0
            ended = not (more := _at_least(chunks, wanted))
            data, wanted = data + more, 2 * max(len(data), _CHUNK)
            continue
        wanted = _CHUNK
        end = match.end() if match is not None and whole else len(data)
        if end == at:
            return
        line, at = data[at:end], end
        is_record = bool((line.removeprefix(_BOM) if number < 0 else line).strip(b"\r\n"))
        yield Piece(line, number if is_record and number >= 0 else None)
        number += is_record


def _at_least(chunks: Iterator[bytes], size: int) -> bytes:
    pieces, have = [], 0
    for chunk in chunks:
        pieces.append(chunk)
        have += len(chunk)
        if have >= size:
            break
    return b"".join(pieces)


def csv_fields(record: bytes, delimiter: str) -> list[bytes]:
    """The fields of a record, quotes undone."""
    mark = re.escape(delimiter.encode())
    body = re.sub(rb"(\r\n|\n|\r)\Z", b"", record)
    fields: list[bytes] = []
    at = 0
    field = re.compile(rb'(?:"((?:[^"]|"")*+)")?([^' + mark + rb"]*+)")
    while True:
        match = field.match(body, at)
        if match is None:
            return fields
        fields.append((match.group(1) or b"").replace(b'""', b'"') + match.group(2))
        at = match.end() + 1
        if at > len(body):
            return fields


_CONTENTS = ("items", "vectors", "codes", "text", "html")


def chosen(columns: Mapping[str, Any], names: Sequence[str], strings: Sequence[str]) -> tuple[str | None, str | None]:
    """The columns of the content and of the id, by the rules of docs/output.md."""
    name = columns.get("id") or ("id" if "id" in names else None)
    special = next((columns[kind] for kind in _CONTENTS if columns.get(kind)), None)
    if special:
        is_only = columns.get("codes") and special not in names and len(names) == 1
        return names[0] if is_only else special, name
    others = [column for column in strings if column not in {columns.get("id") or "id", *columns.get("order", ())}]
    return next((column for column in ("text", "content", *others) if column in names), None), name


def first_line(error: BaseException) -> str:
    """What an error says, briefly."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def said_by(file: Mapping[bytes, bytes] | None) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
    """What a Parquet file says besides its columns, to everybody and in its schema for Arrow, which repeats it."""
    metadata = dict(file or {})
    schema = metadata.pop(b"ARROW:schema", None)
    if schema is None:
        return metadata, metadata
    return metadata, dict(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(schema))).metadata or {})


def parsed(line: bytes) -> dict[str, Any] | None:
    """The object of a line; None where it is none."""
    try:
        record = _loaded(line.removeprefix(_BOM))
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "surrogateescape"))
    except RecursionError:
        return json.loads(_flat(line).decode("utf-8", "surrogateescape"))


def _flat(line: bytes) -> bytes:
    """JSON with null for what stands too deep for Python; nobody asks for that."""
    pieces, at, depth = [], 0, 0
    for bracket in _BRACKETS.finditer(line):
        step = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(bracket.group(), 0)
        if step == 1 and depth == _DEEP:
            pieces += [line[at : bracket.start()], b"null"]
        depth += step
        if step == -1 and depth == _DEEP:
            at = bracket.end()
    return b"".join([*pieces, line[at:]])


def sniffed(pieces: Iterator[Piece]) -> tuple[list[Piece], list[str], list[str]]:
    """Some pieces at the start of JSON lines, the names of their values, and which of these are all strings."""
    first: list[Piece] = []
    kinds: dict[str, set[type]] = {}
    count = 0
    for piece in pieces:
        first.append(piece)
        record = parsed(piece.data) if piece.position is not None else None
        for name, value in (record or {}).items():
            kinds.setdefault(name, set()).add(type(value))
        count += record is not None
        if count >= _SNIFFED:
            break
    return first, list(kinds), [name for name, types in kinds.items() if types - {type(None)} == {str}]
