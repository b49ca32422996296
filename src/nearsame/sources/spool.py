"""Tables that come one after the other, and only once: kept together, in memory or in temporary files.

1. The first of them stay in memory. What is more goes to Arrow files without a name, which are mapped: they are gone
   when nothing refers to them any more, whatever ends the process.
2. Columns widen as new tables ask for it: a file holds what has one schema, and later ones may have a wider one.
3. What has no end is stopped by the disk: some of it stays free.
"""

import mmap
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from nearsame.arrow import held_bytes
from nearsame.errors import SourceError

__all__ = ["spooled"]

HELD_BYTES = 64 << 20  # as much stays in memory
SPARE_BYTES = 256 << 20  # so much of a disk is left to others


def spooled(tables: Iterable[pa.Table], what: str) -> pa.Table:
    """All the tables as one.

    Args:
        tables: Read once, one at a time.
        what: Where they come from, for messages.

    Raises:
        SourceError: A column changes to a type that has nothing in common with its own, or the disk is full.

    Example:
        >>> spooled(iter([pa.table({"n": [1]}), pa.table({"n": [2.5], "m": ["a"]})]), "a generator").to_pylist()
        [{'n': 1.0, 'm': None}, {'n': 2.5, 'm': 'a'}]
    """
    held: list[pa.Table] = []
    files: list[_File] = []
    size = 0
    try:
        for table in tables:
            held.append(table)
            size += held_bytes(table)
            if size > HELD_BYTES:
                _write(files, _joined(held, what), what)
                held, size = [], 0
        return _joined([*(file.table() for file in files), *held], what)
    finally:
        for file in files:
            file.close()


def _joined(tables: list[pa.Table], what: str) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})
    except pa.ArrowException as error:
        names = [name for table in tables for name, times in Counter(table.column_names).items() if times > 1]
        if names:
            message = f"{what} has several columns that are called {names[0]!r}"
            raise SourceError(message, hint="Rename all but one.") from None
        message = f"a column of {what} changes its type: {str(error).partition(chr(10))[0]}"
        raise SourceError(message, hint="Give all records the same type for a key.") from None


def _write(files: "list[_File]", table: pa.Table, what: str) -> None:
    """Write to the last of the files, or where the columns are wider now to another one."""
    if files:
        table = _joined([files[-1].schema.empty_table(), table], what)
    if not files or table.schema != files[-1].schema:
        files.append(_File(table.schema))
    place = tempfile.gettempdir()
    free = shutil.disk_usage(place).free
    if free - held_bytes(table) < SPARE_BYTES:
        raise _full(what, files, f"{place} has {free:,} bytes free")
    try:
        files[-1].write(table)
    except OSError as error:
        raise _full(what, files, f"{place}: {error.strerror or error}") from error


def _full(what: str, files: "list[_File]", why: str) -> SourceError:
    rows = sum(file.num_rows for file in files)
    return SourceError(
        f"{what} does not fit on the disk for temporary files: after {rows:,} documents {why}",
        hint="Make sure that it ends; set TMPDIR to a larger folder, or write the documents to files and give those.",
    )


class _File:
    """An Arrow stream in a temporary file that has no name."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema, self.num_rows = schema, 0
        self._file: Any = tempfile.TemporaryFile(prefix="nearsame-")  # noqa: SIM115  (it lives as long as what is mapped)
        self._writer = pa.ipc.new_stream(self._file, schema)

    def write(self, table: pa.Table) -> None:
        """Append what has the schema."""
        self._writer.write_table(table)
        self.num_rows += len(table)

    def table(self) -> pa.Table:
        """All of it, mapped; nothing more can be written."""
        self._writer.close()
        self._file.flush()
        mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return pa.ipc.open_stream(pa.py_buffer(mapped)).read_all()

    def close(self) -> None:
        """Let go of the file; what is mapped stays."""
        self._file.close()
