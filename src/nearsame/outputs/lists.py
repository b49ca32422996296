"""A table as a file of the format that its name says, or as JSON lines on a stream."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.csv

from nearsame.errors import OutputError
from nearsame.outputs.folder import write_table

__all__ = ["json_lines", "writer"]

_ROWS = 10_000


def writer(path: str | Path) -> Callable[[pa.Table, Path], None]:
    """What writes a table in the format of the path's suffix.

    Raises:
        OutputError: The suffix is none of a known format.

    Example:
        >>> writer("pairs.csv").__name__
        '_csv'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise OutputError(f"{path} is of no known format", hint=f"Name it by what it is to hold: {' '.join(_WRITERS)}.")
    return _WRITERS[suffix]


def json_lines(table: pa.Table, out: BinaryIO) -> None:
    """Each row as one JSON object on a line."""
    out.writelines(_lines(table))
    out.flush()


def _lines(table: pa.Table) -> Iterator[bytes]:
    for batch in table.to_batches(max_chunksize=_ROWS):
        records: list[dict[str, Any]] = batch.to_pylist()
        yield b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records)


def _csv(table: pa.Table, path: Path) -> None:
    pyarrow.csv.write_csv(table, path)


def _jsonl(table: pa.Table, path: Path) -> None:
    with path.open("wb") as out:
        json_lines(table, out)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": write_table}
