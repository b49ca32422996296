"""Indexes as documents to compare with, read as they are and never changed.

1. Texts are compared as those of any source, by the method of the run: so the settings of the index do not matter, and
   what is promised is what the run promises.
2. Shingles and sketches are hashes by the settings of the index, which no method of other settings can use. Documents
   of such an index have no text here: it is asked (asked.py).
3. What is read is one snapshot: the documents up to the last that was there, which `verify` reads again.
"""

import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import name_as_text
from nearsame.printable import without_secrets
from nearsame.sources import Columns
from nearsame.sources.memory import Memory
from nearsame.sources.spool import spooled
from nearsame.stores import open_store
from nearsame.stores.base import Reader

__all__ = ["extent", "has_texts", "index_name", "is_index", "remark", "stored"]

_ENDING, _SERVERS = ".ns", ("postgresql://", "postgres://")
_PAGE = 1_000
_LAST, _KIND = b"last number", b"store"


def is_index(source: Any) -> bool:
    """Whether a source of the against side is the name of an index.

    Example:
        >>> is_index("seen.ns"), is_index("postgresql://host/base"), is_index("seen.jsonl"), is_index(["a.ns"])
        (True, True, False, False)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    name = str(os.fspath(source))
    return name.startswith(_SERVERS) or (name.lower().endswith(_ENDING) and not os.path.isdir(name))  # noqa: PTH112  (a text)


def index_name(where: str) -> str:
    """What reports call it: without a password."""
    plain = without_secrets(where).rpartition("@")[2] if where.startswith(_SERVERS) else name_as_text(where.lstrip("/"))
    return f"against/{plain}"


def stored(where: str, columns: Columns, upto: Sequence[int] | None = None) -> Memory:
    """The documents of an index, in the order in which they were added.

    Args:
        where: Its path or address.
        columns: What is read of the against side, whose names they take.
        upto: The extent that another run has read: no more is.

    Raises:
        ConfigError: Texts are not what is compared.
        StoreError: It is none, or cannot be read.
        SourceError: It is not what that run has read.
    """
    name = index_name(where)
    for option, column in (("features", columns.items), ("vector", columns.vectors)):
        if column is not None:
            message = f"{name} is an index, which has no column {column!r} (--{option}-column)"
            raise ConfigError(message, hint="Compare with the source of the index.")
    store = open_store(where, read_only=True)
    kind = store.settings.get("store", "")
    try:
        with store.reading() as reader:
            last = reader.last_number() if upto is None else upto[0]
            batches = _batches(reader, columns.of_side(against=True), last, text=kind == "text")
            table = spooled(batches, where)
    finally:
        store.close()
    if upto is not None and len(table) != upto[1]:
        was = f"had {upto[1]:,} documents up to number {upto[0]:,} when it was compared with"
        message = f"{where} {was}, and has {len(table):,} now"
        raise SourceError(message, hint="Compare with a copy of the index that nobody changes.")
    return Memory(table.replace_schema_metadata({_LAST: str(last).encode(), _KIND: kind.encode()}), name)


def extent(part: Memory) -> tuple[int, int]:
    """How far an index was read: the number of its last document, and how many there were."""
    return int(_metadata(part)[_LAST]), len(part.table)


def has_texts(part: Memory) -> bool:
    """Whether its documents have their texts, which are compared; else it is asked."""
    return _metadata(part)[_KIND] == b"text"


def remark(part: Memory) -> str:
    """What one must know of one that has texts."""
    number = len(part.table)
    what, by = ("document", "is compared by its text") if number == 1 else ("documents", "are compared by their texts")
    return f"{number:,} {what} of the index {part.name.removeprefix('against/')} {by}"


def _metadata(part: Memory) -> Mapping[bytes, bytes]:
    return part.table.schema.metadata or {}


def _batches(reader: Reader, columns: Columns, last: int, *, text: bool) -> Iterator[pa.Table]:
    names = [columns.id or "id", columns.text or columns.html or "text", columns.beside[0]]
    schema = pa.schema(dict(zip(names, (pa.string(), pa.large_string(), pa.string()), strict=True)))
    yield schema.empty_table()
    after = 0
    while rows := reader.page(after, _PAGE, text=text):
        after = rows[-1].number
        whole = [row for row in rows if row.number <= last]
        texts = pa.array([row.text and zlib.decompress(row.text) for row in whole], pa.large_binary())
        ids, urls = (pa.array(list(values), pa.string()) for values in ((r.id for r in whole), (r.url for r in whole)))
        yield pa.Table.from_arrays([ids, texts.view(pa.large_string()), urls], schema=schema)
        if after >= last:
            return
