"""Changes of an output, made mechanically: of every value of every file, of files as a whole, and of their bytes."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["Change", "damages", "differing", "of_files", "of_json", "of_metadata", "of_tables", "same_meaning"]

_MOST_ROWS = 4  # of a table whose cells are changed, one by one


class Change(NamedTuple):
    """Something done to a file of an output.

    Attributes:
        file: its path in the folder.
        where: what of it, as in `recipe.threshold` or `similarity[2]`.
        what: is done.
        apply: does it, to the folder.
    """

    file: str
    where: str
    what: str
    apply: Callable[[Path], None]

    def __str__(self) -> str:
        return f"{self.file} {self.where}: {self.what}"


def _others(value: Any) -> Iterator[Any]:
    """Other values for one of JSON: near it, and of another type."""
    match value:
        case bool():
            yield from (not value, int(value))
        case int():
            yield from (value + 1, str(value), *([value - 1] if value else [-1]))
        case float():
            yield from (value + 0.015625, str(value))
        case str():
            yield from (f"{value}x", 5)
        case None:
            yield from ("x", 0)
        case list():
            yield from ({}, [*value, "x"], *([value[1:]] if value else []))
        case dict():
            yield from ([], {**value, "x": 1})


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values within one of JSON."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from _places(each, (*path, name))


def _put(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    found = copy.deepcopy(record)
    inner = found
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return found


def _without(record: Any, path: tuple[Any, ...]) -> Any:
    found = copy.deepcopy(record)
    inner = found
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return found


def _of_record(record: Any) -> Iterator[tuple[str, str, Any]]:
    """(where, what, the record changed) for every value in it."""
    for path in _places(record):
        where, value = ".".join(map(str, path)), record
        for name in path:
            value = value[name]
        for other in _others(value):
            yield where, f"{json.dumps(value)[:40]} to {json.dumps(other)[:40]}", _put(record, path, other)
        if isinstance(path[-1], str):
            yield where, "dropped", _without(record, path)


def of_json(home: Path) -> Iterator[Change]:
    """Every value of stats.json, changed and dropped."""
    record = json.loads((home / "stats.json").read_text("utf-8"))
    for where, what, other in _of_record(record):
        yield Change("stats.json", where, what, _writes("stats.json", json.dumps(other)))


def _writes(name: str, text: str) -> Callable[[Path], None]:
    return lambda home: (home / name).write_text(text, "utf-8") and None


def of_metadata(home: Path) -> Iterator[Change]:
    """Every value that sources.parquet says beside its columns, but of the call: what it was is all that it says."""
    table = pq.read_table(home / "sources.parquet")
    for where, what, other in _of_record(json.loads(table.schema.metadata[b"nearsame"])):
        if where.startswith("call"):
            continue
        changed = table.replace_schema_metadata({b"nearsame": json.dumps(other).encode()})
        yield Change("sources.parquet", where, what, _stores("sources.parquet", changed))
    yield Change("sources.parquet", "", "no metadata", _stores("sources.parquet", table.replace_schema_metadata(None)))


def _stores(name: str, table: pa.Table) -> Callable[[Path], None]:
    return lambda home: pq.write_table(table, home / name)


def of_tables(home: Path, names: list[str]) -> Iterator[Change]:
    """Every column of the tables: values of some rows, nulls, the type, the name, the column; rows lost and doubled."""
    for name in names:
        table = pq.read_table(home / name)
        for where, what, other in [*_of_columns(table), *_of_rows(table)]:
            yield Change(name, where, what, _stores(name, other))


def _of_columns(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    for at, field in enumerate(table.schema):
        column = table.column(at)
        for row in range(min(len(table), _MOST_ROWS)):
            value = column[row].as_py()
            for other in _other_cells(value, field.type):
                values = [*column.to_pylist()[:row], other, *column.to_pylist()[row + 1 :]]
                changed = table.set_column(at, pa.field(field.name, field.type), [pa.array(values, field.type)])
                yield f"{field.name}[{row}]", f"{value!r:.40} to {other!r:.40}", changed
        kind = _other_type(field.type)
        if kind is not None:
            yield (
                field.name,
                f"cast to {kind}",
                table.set_column(at, pa.field(field.name, kind), column.cast(kind, safe=False)),
            )
        yield field.name, "dropped", table.drop_columns([field.name])
        names = [f"{each}x" if each == field.name else each for each in table.column_names]
        yield field.name, "renamed", table.rename_columns(names)
    yield "", "a column more", table.append_column("more", pa.nulls(len(table), pa.string()))


def _of_rows(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    if len(table):
        yield "", "the first row lost", table.slice(1)
        yield "", "the last row lost", table.slice(0, len(table) - 1)
        yield "", "a row doubled", pa.concat_tables([table, table.slice(0, 1)])
    if len(table) > 1:
        yield "", "no rows", table.slice(0, 0)


def _other_cells(value: Any, kind: pa.DataType) -> Iterator[Any]:
    if value is not None:
        yield None
    if pa.types.is_list(kind):
        yield ["mirror"] if value != ["mirror"] else ["url-usual"]
        yield []
    elif pa.types.is_boolean(kind):
        yield not value
    elif pa.types.is_integer(kind):
        yield from ((value or 0) + 1, -3)
    elif pa.types.is_floating(kind):
        yield from (float("nan"), 0.90625, -1.0)
    elif pa.types.is_binary(kind):
        yield (value or b"") + b"x"
    else:
        yield f"{value or ''}x"


def _other_type(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_string(kind):
        return pa.large_string()
    if pa.types.is_int64(kind) or pa.types.is_boolean(kind):
        return pa.int32() if pa.types.is_int64(kind) else pa.int8()
    return pa.float32() if pa.types.is_floating(kind) else None


def of_files(home: Path) -> Iterator[Change]:
    """Every file deleted, emptied and replaced by a folder; strange files wherever files are."""
    files = sorted(path.relative_to(home) for path in home.rglob("*") if path.is_file())
    for path in files:
        yield Change(str(path), "", "deleted", lambda home, path=path: (home / path).unlink())
        yield Change(str(path), "", "a folder", lambda home, path=path: _as_folder(home / path))
        if (home / path).stat().st_size:
            yield Change(str(path), "", "emptied", lambda home, path=path: (home / path).write_bytes(b"") and None)
    folders = sorted({path.parent for path in files})
    for folder in folders:
        for name in ("strange.parquet", ".hidden", "stats.json.old"):
            yield Change(
                str(folder / name), "", "added", lambda home, at=folder / name: (home / at).write_bytes(b"x") and None
            )
        yield Change(str(folder / "empty"), "", "a folder added", lambda home, at=folder / "empty": (home / at).mkdir())
    for text in (
        "{}",
        "[]",
        "null",
        "3",
        "",
        "{",
        "\ufeff{}",
        '{"recipe": {}}',
        "[" * 100_000,
        '{"recipe": 1, "recipe": 2}',
    ):
        yield Change("stats.json", "", f"is {text[:20]}", _writes("stats.json", text))
    yield Change("stats.json", "", "not UTF-8", lambda home: (home / "stats.json").write_bytes(b"\xff{}") and None)


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def damages(home: Path, stride: int) -> Iterator[Change]:
    """Every file cut at several places, and one bit of every so many bytes turned."""
    for path in sorted(path.relative_to(home) for path in home.rglob("*") if path.is_file()):
        data = (home / path).read_bytes()
        for cut in sorted({1, 4, 8, 50, len(data) // 2, len(data) - 1} & set(range(1, len(data)))):
            yield Change(str(path), "", f"cut by {cut}", _becomes(path, data[:-cut]))
        yield Change(str(path), "", "with more", _becomes(path, data + b"\x00more"))
        for at in range(len(path.name) % stride, len(data), stride):
            turned = data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]
            yield Change(str(path), "", f"byte {at} turned", _becomes(path, turned))


def _becomes(path: Path, data: bytes) -> Callable[[Path], None]:
    return lambda home: (home / path).write_bytes(data) and None


def differing(one: Path, other: Path) -> list[str]:
    """The places of all values that differ between two files of JSON."""
    a, b = (
        {".".join(map(str, path)): value for path, value in _leaves(json.loads(each.read_bytes()))}
        for each in (one, other)
    )
    return sorted({name for name in a.keys() | b.keys() if name not in a or name not in b or a[name] != b[name]})


def _leaves(record: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for path in _places(record):
        value = record
        for name in path:
            value = value[name]
        if not isinstance(value, dict | list) or not value:
            yield path, value


def _meant(table: pa.Table) -> pa.Table:
    """A table without what may be another: sentences for people, and the times of sources."""
    return table.drop_columns([name for name in ("reason", "mtime_ns") if name in table.column_names])


def same_meaning(one: Path, other: Path) -> bool:
    """Whether two files say the same: the values and the columns of a table, the JSON, the decompressed bytes."""
    try:
        match one.suffix:
            case ".parquet":
                a, b = (_meant(pq.read_table(pa.BufferReader(path.read_bytes()))) for path in (one, other))
                same = a.schema.equals(b.schema, check_metadata=True)
                return same and repr(a.to_pylist()) == repr(b.to_pylist())
            case ".arrow":
                a, b = (pa.ipc.open_file(path.read_bytes()).read_all() for path in (one, other))
                return bool(a.equals(b))
            case ".json":
                return bool(json.loads(one.read_bytes()) == json.loads(other.read_bytes()))
            case ".gz":
                return gzip.decompress(one.read_bytes()) == gzip.decompress(other.read_bytes())
            case _:
                return one.read_bytes() == other.read_bytes()
    except (OSError, ValueError, EOFError, pa.ArrowException):
        return False
