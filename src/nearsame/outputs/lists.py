"""A table as a file of the format that its name says, or as JSON lines on a stream."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import pyarrow as pa

from nearsame import computing
from nearsame.arrow import deeply
from nearsame.errors import ConfigError, OutputError
from nearsame.files.compressions import compressor
from nearsame.files.inputs import Inputs
from nearsame.outputs.destinations import Destination, meaning, unknown_format, written_suffixes
from nearsame.outputs.folder import appearing, require_place

__all__ = ["json_lines", "lines_of", "write_as", "write_file", "writer"]

_ROWS = 10_000
_AS_IT_IS = "Write a folder, where every record stays as it is; or mend the text."
_OTHER_FORMAT = "Name a .parquet or .arrow file, or a folder, in which every file keeps its format."
_NO_JSON = (TypeError, ValueError, OverflowError)  # what a value is for which there is no form
# How a cell begins that spreadsheets compute: with one of these signs, full-width and small ones too, behind blanks and
# what is not shown, too; or with a tab or an end of line (OWASP, CSV injection).
_FORMULA = r"\A(?:[\s\p{Z}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n])"


def writer(path: str | Path, *, spreadsheet: bool = False) -> Callable[[pa.Table, Path], None]:
    """What writes a table in the format of the path's suffix.

    Args:
        path: The file.
        spreadsheet: Whether a text that a spreadsheet would take for a formula gets a ' before it: in .csv alone.

    Raises:
        OutputError: The suffix is not one of a known format.
        ConfigError: It is not .csv, and for a spreadsheet.

    Example:
        >>> writer("pairs.csv", spreadsheet=True).func.__name__
        '_written'
    """
    place, name = _file_at(path)
    if spreadsheet and name != "csv":
        raise ConfigError(f"spreadsheet (--spreadsheet) is for .csv only, not for {path}", hint="Leave it out.")
    return partial(_written, place, _csv_of_texts if spreadsheet else _WRITERS[name])


def write_file(
    path: str | Path, table: Callable[[], pa.Table], read: Inputs, *, overwrite: bool, spreadsheet: bool
) -> None:
    """Write a table, made when it is needed, as a file that appears complete or not at all.

    Raises:
        OutputError: It cannot be written, or would lie in what was `read`, or over it.
    """
    write = writer(path, spreadsheet=spreadsheet)
    place = require_place(path, read, folder=False, overwrite=overwrite)
    with appearing(place) as made:
        write(table(), made)


def _file_at(path: str | Path) -> tuple[Destination, str]:
    """What the name of a file means, and the name of its format; nothing else will do."""
    with suppress(OutputError):  # its hint speaks of folders
        place = meaning(path)
        if place.form is not None and not place.is_stream:
            return place, place.form.name
    raise unknown_format(path, written_suffixes())


def write_as(place: Destination, table: pa.Table, path: Path) -> None:
    """A table as the file that a destination says, at a path whose name says nothing.

    Raises:
        OutputError: It has a column that the format has no way to write.
    """
    _written(place, _WRITERS[place.form.name if place.form else ""], table, path)


def _written(place: Destination, write: Callable[[pa.Table, Any], None], table: pa.Table, path: Path) -> None:
    try:
        _require_texts(table, place.typed)
        with path.open("wb") as raw, compressor(raw, place.compression) as out:
            write(table, out)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        what = next((f"column {name!r}" for name in _unwritable(table, write)), "the records")
        message = f"{place.typed}: {what} cannot be written in this format: {str(error).partition(chr(10))[0]}"
        raise OutputError(message, hint=_OTHER_FORMAT) from None


def _unwritable(table: pa.Table, write: Callable[[pa.Table, Any], None]) -> Iterator[str]:
    """The columns that cannot be written by themselves."""
    for at, name in enumerate(table.column_names):
        try:
            write(table.select([at]), BytesIO())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            yield name


def _require_texts(table: pa.Table, name: str) -> None:
    """See that what is called a text is UTF-8: formats take it unseen, and who reads the file refuses all of it."""
    for field, column in zip(table.schema, table.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error):
                message = f"{name}: column {field.name!r} has a text that is not UTF-8, or half of a surrogate pair"
                raise OutputError(message, hint=_AS_IT_IS) from None
            raise


def json_lines(table: pa.Table, out: BinaryIO) -> None:
    """Each row as one JSON object on a line."""
    out.writelines(lines_of(table))
    out.flush()


def lines_of(table: pa.Table) -> Iterator[bytes]:
    """Rows as JSON objects, one a line, many at a time.

    Raises:
        OutputError: A column has values for which JSON has no form.
    """
    _require_apart(table.column_names)
    for batch in table.to_batches(max_chunksize=_ROWS):
        plain = _without_nanoseconds(batch)
        try:
            yield b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in plain.to_pylist())
        except _NO_JSON:
            raise _no_json(plain) from None


def _require_apart(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            message = f"{names.count(name)} columns are called {name!r}, and an object of JSON has one value for a name"
            raise OutputError(message, hint=_OTHER_FORMAT)


def _without_nanoseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times that Python has; finer ones as texts, and no column of lists or records that has such."""
    for at, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        kind = deeply(column.type, _coarser)
        if kind != column.type:
            try:
                plain = column.cast(kind)
            except pa.ArrowInvalid:
                plain = _as_texts(column, name)
            batch = batch.set_column(at, name, plain)
    return batch


def _coarser(kind: pa.DataType) -> pa.DataType:
    """Microseconds for nanoseconds."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return pa.time64("us") if pa.types.is_time64(kind) else kind


def _as_texts(times: pa.Array, name: str) -> pa.Array:
    if pa.types.is_timestamp(times.type):
        return computing.strftime(times, "%Y-%m-%dT%H:%M:%S" + ("%z" if times.type.tz else ""))
    if pa.types.is_time64(times.type):
        return times.cast(pa.string())
    raise OutputError(f"column {name!r} has times with nanoseconds, which JSON cannot represent", hint=_OTHER_FORMAT)


def _no_json(batch: pa.RecordBatch) -> OutputError:
    """Which column of a batch it is that JSON has no form for."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            orjson.dumps(column.to_pylist())
        except _NO_JSON as error:
            what = f"is {column.type}, which JSON cannot represent"
            if isinstance(error, UnicodeDecodeError):
                what = "has a text that is not UTF-8"
            elif isinstance(error, OverflowError):
                what = f"is {column.type}, and has a time beyond the years 1 to 9999, which JSON has no form for"
            message = f"column {name!r} {what}"
            return OutputError(message, hint=_OTHER_FORMAT)
    return OutputError("the records cannot be written as JSON", hint=_OTHER_FORMAT)


def _csv(table: pa.Table, out: Any, delimiter: str = ",") -> None:
    from pyarrow import csv  # noqa: PLC0415  (only for these)

    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_timestamp(field.type) or pa.types.is_date(field.type):
            _require_times(column, field)
    csv.write_csv(table, out, csv.WriteOptions(delimiter=delimiter))


def _require_times(times: pa.ChunkedArray, field: pa.Field) -> None:
    """See that Arrow can spell times: it writes a remark in the place of one that is too far away, as "infinity" is."""
    for far in (computing.min_(times), computing.max_(times)):
        if "out of range" in (far.cast(pa.string()).as_py() or ""):
            message = f"column {field.name!r} is {field.type}, and has a time that is too far away to be written"
            raise OutputError(message, hint=_OTHER_FORMAT)


def _csv_of_texts(table: pa.Table, out: Any) -> None:
    for at, column in enumerate(table.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            table = table.set_column(
                at, table.column_names[at], computing.replace_substring_regex(column, _FORMULA, r"'\0")
            )
    _csv(table, out)


def _orc(table: pa.Table, out: Any) -> None:
    from pyarrow import orc  # noqa: PLC0415  (only who writes it)

    orc.write_table(table, out)


def _parquet(table: pa.Table, out: Any) -> None:
    from pyarrow import parquet  # noqa: PLC0415  (with all file systems that Arrow has)

    parquet.write_table(table, out, compression="zstd")


def _arrow(table: pa.Table, out: Any) -> None:
    table = table.unify_dictionaries()  # a file has one for each column
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


_WRITERS: dict[str, Callable[[pa.Table, Any], None]] = {
    "jsonl": json_lines,
    "csv": _csv,
    "tsv": partial(_csv, delimiter="\t"),
    "parquet": _parquet,
    "orc": _orc,
    "arrow": _arrow,
}
