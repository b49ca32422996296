"""A table as a file of the format that its name says, or as JSON lines on a stream."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from nearsame.errors import ConfigError, OutputError
from nearsame.outputs.folder import write_table

__all__ = ["json_lines", "writer"]

_ROWS = 10_000
# How a cell begins that spreadsheets compute: with one of these signs, full-width and small ones too, behind blanks and
# what is not shown, too; or with a tab or an end of line (OWASP, CSV injection).
_FORMULA = r"\A(?:[\s\p{Z}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n])"


def writer(path: str | Path, *, spreadsheet: bool = False) -> Callable[[pa.Table, Path], None]:
    """What writes a table in the format of the path's suffix.

    Args:
        path: The file.
        spreadsheet: Whether a text that a spreadsheet would take for a formula gets a ' before it: in .csv alone.

    Raises:
        OutputError: The suffix is none of a known format.
        ConfigError: It is not .csv, and for a spreadsheet.

    Example:
        >>> writer("pairs.csv").__name__
        '_csv'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise OutputError(f"{path} has an unknown format", hint=f"Name it by what it is to hold: {' '.join(_WRITERS)}.")
    if spreadsheet and suffix != ".csv":
        raise ConfigError(f"spreadsheet (--spreadsheet) is about .csv, and {path} is another", hint="Leave it out.")
    return _csv_of_texts if spreadsheet else _WRITERS[suffix]


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


def _csv_of_texts(table: pa.Table, path: Path) -> None:
    for at, column in enumerate(table.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            table = table.set_column(at, table.column_names[at], pc.replace_substring_regex(column, _FORMULA, r"'\0"))
    _csv(table, path)


def _jsonl(table: pa.Table, path: Path) -> None:
    with path.open("wb") as out:
        json_lines(table, out)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {".csv": _csv, ".jsonl": _jsonl, ".parquet": write_table}
