"""Some records of a part: whole, as a table, or their texts alone.

A file's records are copied without the others, as they are for kept/, and the copy is read as a table.
"""

import json
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq

from nearsame.errors import ColumnError, SourceError
from nearsame.sources.base import Columns, Part
from nearsame.sources.delimited import Delimited
from nearsame.sources.feather import Feather
from nearsame.sources.files import File
from nearsame.sources.folder import TextFolder
from nearsame.sources.memory import Memory, table_of
from nearsame.sources.page_records import BESIDE, as_pages
from nearsame.sources.parquet import Parquet
from nearsame.sources.parts import Dangling, FilePart, damage
from nearsame.sources.streams import chunks, seekable
from nearsame.sources.tables import require_sound, without_removed_rows
from nearsame.sources.warc import WebArchive

__all__ = ["take", "texts", "together"]

Rows = npt.NDArray[np.int64]

_DEEPEST = 100  # levels of a record: at some thousand Arrow ends the process
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def take(part: Part, positions: Rows, others: Rows, columns: Columns) -> pa.Table:
    """The records at these positions, with all their columns.

    Args:
        part: Where they are.
        positions: Which they are, ascending.
        others: The positions of all other records, ascending.
        columns: What the run reads: a folder of texts has no more.
    """
    _require_unchanged(part, positions)
    match part:
        case Memory():
            return without_removed_rows(part.table, others, 0)
        case TextFolder() | WebArchive() if part.pages:
            return _pages(part, positions, columns)
        case TextFolder():
            batches = list(part.read(columns, lambda _: None, positions))
            found = pa.Table.from_batches(batches) if batches else pa.table({"id": [], "text": []})
            return found.select(["id", "text"])
        case FilePart():
            with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
                copy = Path(home) / "part"
                part.copy(copy, others, drop_unread=True)
                if not copy.exists():  # it could not be read at all
                    return pa.table({})
                with damage(part.name):
                    found = _whole(part, File(str(copy)))
                    require_sound(found, part.name)
                return found
        case Dangling():
            return pa.table({})
        case _:
            raise TypeError(f"no way to take records from a {type(part).__name__}")


def together(tables: Sequence[pa.Table], names: Sequence[str]) -> pa.Table:
    """Records of several sources as one table: a column of numbers takes the wider type, a missing one is null.

    Args:
        tables: The records of each source.
        names: What it is called.

    Raises:
        ColumnError: A column has values of types that have nothing in common.
    """
    try:
        return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
    except pa.ArrowException as error:
        raise _apart(tables, names, error) from None


def _apart(tables: Sequence[pa.Table], names: Sequence[str], error: pa.ArrowException) -> ColumnError:
    hint = "Give the column one type in all sources, or write the result: there each file keeps its own."
    first: dict[str, tuple[pa.Field, str]] = {}
    for table, name in zip(tables, names, strict=True):
        for field in table.schema:
            known, home = first.setdefault(field.name, (field, name))
            try:
                pa.unify_schemas([pa.schema([known]), pa.schema([field])], promote_options="permissive")
            except pa.ArrowException:
                message = f"column {field.name!r} is {known.type} in {home} and {field.type} in {name}"
                return ColumnError(message, hint=hint)
    return ColumnError(f"the records of {', '.join(names)} make no one table: {error}", hint=hint)


def _pages(part: TextFolder | WebArchive, positions: Rows, columns: Columns) -> pa.Table:
    """Pages with all that is known of them; `body` and `charset` have still to become a text."""
    wanted = replace(columns, beside=BESIDE)
    found = []
    for batch in part.read(wanted, lambda _: None):
        at = np.isin(batch.column("position").to_numpy(), positions)
        found.append(pa.Table.from_batches([batch.filter(pa.array(at))]))
    table = pa.concat_tables(found) if found else pa.table({})
    return table.drop_columns([name for name in ("position", "order") if name in table.column_names])


def _require_unchanged(part: Part, positions: Rows) -> None:
    """Refuse to read by positions that were counted in other contents."""
    if isinstance(part, FilePart):
        part.require_unchanged()
    if isinstance(part, TextFolder) and part.stamps:
        for position in positions.tolist():
            file = part.file(position)
            if file.stamp() != part.stamps[position]:
                hint = "Run again when nothing writes to it any more."
                raise SourceError(f"{file.url} changed while it was being read", hint=hint)


def _whole(part: FilePart, file: File) -> pa.Table:
    """A file of the same format as a part, read whole."""
    match part:
        case Parquet():
            with seekable(file, part.compression) as source:
                return pq.ParquetFile(source).read()
        case Feather():
            with seekable(file, part.compression) as source:
                return _batches(source)
        case Delimited():
            return _delimited(b"".join(chunks(file, part.compression)), part.delimiter)
        case _:
            return _json(part, b"".join(chunks(file, part.compression)))


def _batches(source: pa.NativeFile) -> pa.Table:
    try:
        return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:  # it has no footer: a stream
        source.seek(0)
        return pa.ipc.open_stream(source).read_all()


def _delimited(data: bytes, delimiter: str) -> pa.Table:
    if not data.strip(b"\xef\xbb\xbf\r\n"):
        return pa.table({})
    if not data.endswith((b"\r", b"\n")):  # to pyarrow a header without its end is not a file
        data += b"\n"
    options = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    return pa.csv.read_csv(pa.py_buffer(data), parse_options=options)


def _json(part: FilePart, data: bytes) -> pa.Table:
    """JSON lines as a table: by Arrow, or where a key has values of several types, record by record.

    Raises:
        SourceError: A record is nested deeper than a table can be.
    """
    if not data.strip():
        return pa.table({})
    depth = _depth(data)
    if depth > _DEEPEST:
        message = f"{part.name} has a record that is nested {depth:,} levels deep, and a table at most {_DEEPEST}"
        raise SourceError(message, hint="Write the answer to a folder: records are copied there as they are.")
    try:
        return pa.json.read_json(pa.py_buffer(data), read_options=pa.json.ReadOptions(block_size=max(len(data), 1)))
    except pa.ArrowInvalid:
        lines = data.removeprefix(b"\xef\xbb\xbf").splitlines()
        return table_of([_record(line) for line in lines if line.strip()])


def _record(line: bytes) -> Any:
    """A record; Python's own reader takes numbers that are too large for a double for infinite."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return json.loads(line)


def _depth(data: bytes) -> int:
    """How many levels deep the deepest record of JSON lines is nested; 0 where none is deeper than a table may be.

    >>> _depth(b'{"a": "[[["}'), _depth(b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}")
    (0, 151)
    """
    deepest = 0
    for line in data.splitlines():
        if line.count(b"[") + line.count(b"{") > _DEEPEST:
            codes = np.frombuffer(_STRING.sub(b"", line), np.uint8)
            steps = np.isin(codes, list(b"[{")).astype(np.int64) - np.isin(codes, list(b"]}"))
            deepest = max(deepest, int(np.cumsum(steps).max(initial=0)))
    return deepest if deepest > _DEEPEST else 0


def _word(item: str | float) -> str:
    return item if isinstance(item, str) else f"{item:.4g}"


def texts(
    part: Part, positions: Rows, columns: Columns, extract: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None
) -> dict[int, str]:
    """The texts (or the items or numbers, joined) at these positions; reads no further than the last of them.

    Args:
        part: Where they are.
        positions: Which they are.
        columns: What the run reads.
        extract: Takes the texts out of PAGES, where the run reads pages.
    """
    found: dict[int, str] = {}
    wanted = np.unique(positions)
    _require_unchanged(part, wanted)
    for batch in part.read(columns, lambda _: None):
        chosen = batch.filter(pa.array(np.isin(batch.column("position").to_numpy(), wanted)))
        if extract is not None:
            pages = as_pages(chosen.column("position"), chosen, columns)
            chosen = pa.RecordBatch.from_arrays(
                [chosen.column("position"), extract(pages).column("text")], ["position", "text"]
            )
        values = chosen.column("vector" if columns.vectors else "items" if columns.items else "text").to_pylist()
        for position, value in zip(chosen.column("position").to_pylist(), values, strict=True):
            found[position] = " ".join(map(_word, value)) if isinstance(value, list) else value or ""
        if len(found) == len(wanted):
            break
    return found
