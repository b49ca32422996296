"""JSON lines: one object a line, read through pyarrow a block at a time.

1. A record is a line that is not blank. A block that pyarrow reads as exactly its lines is taken as it
   is; any other is gone through line by line, to find the records that are broken.
2. The columns of a file are the keys of its first 1,000 readable records; a record without the text's
   key has a null text; fields that nobody asked for are not looked at.
3. `order` needs one type for the whole file, so it takes a pass of its own: integers, numbers, strings
   or booleans; a mixture becomes strings.
4. A copy is made of the raw lines. An annotated record gets its keys before the closing brace.
"""

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.json

from nearsame.errors import ColumnError, SourceError
from nearsame.schemas import VECTORS
from nearsame.sources.base import Annotations, Columns, Skip, Skipped
from nearsame.sources.columns import Chosen, assemble, bounded, choose, not_finite
from nearsame.sources.files import suffixed_name
from nearsame.sources.parts import FilePart, strictly
from nearsame.sources.streams import Block, Records, blocks, sink, unread_rest, without_bom, without_removed
from nearsame.sources.tables import ANNOTATIONS, refuse_annotated, values_of

__all__ = ["JsonLines", "annotate_line"]

_SNIFFED = 1_000
_BLANKS = b" \t\r\n"
_KEYS = (*(f'"{key}"'.encode() for key in ANNOTATIONS.names), b"\\u")  # the last: a key may be escaped
_KINDS = {bool: "bool", int: "int", float: "float", str: "string"}
_NAMES = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "an array", dict: "an object"}
_TYPES = {"bool": pa.bool_(), "int": pa.int64(), "float": pa.float64(), "string": pa.string()}


@dataclass(frozen=True)
class _Plan:
    """The chosen columns of a file and what pyarrow is told to expect of them."""

    chosen: Chosen
    types: dict[str, pa.DataType]
    order: pa.DataType | None

    def schema(self) -> pa.Schema:
        return pa.schema(list(self.types.items()))


@dataclass(frozen=True)
class JsonLines(FilePart):
    """A file of JSON lines, or standard input."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = strictly(skip, strict=self.strict)
        order = None if columns.order is None else self._order_type(columns.order)
        plan = None
        for block in self._blocks(skip):
            plan = plan or _plan(block, columns, self.name, order)
            fast = _fast(block, plan) if plan else None
            yield from bounded(_slow(block, plan, skip, self.name) if fast is None else fast)
            if block.broken:
                skip(unread_rest(block, self.name))

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the raw lines to `target` without the `removed` positions (ascending), or with annotations."""
        self.require_unchanged()
        plain = self.decompressed(lambda _: None)
        if plain is None:
            self.copy_unread(target, drop=drop_unread)
            return
        bom, stream = without_bom(plain)
        with sink(target, self.compression) as out:
            out.write(bom)
            for block in blocks(stream, split_lines):
                if annotations is None:
                    out.writelines(without_removed(block, removed, block.position))
                else:
                    _refuse_keys(block, self.name)
                    out.writelines(_annotated(block, removed, annotations))
                out.write(b"" if drop_unread and block.broken else block.tail)

    def _blocks(self, skip: Skip) -> Iterator[Block]:
        plain = self.decompressed(skip)
        if plain is None:
            return
        _, stream = without_bom(plain)
        for block in blocks(stream, split_lines):
            if not block.position and (self.name == "-" or ".json" in _suffixes(self.name)):
                _refuse_whole(block, self.name)
            yield block

    def _order_type(self, name: str) -> pa.DataType:
        kinds: set[str] = set()
        for block in self._blocks(lambda _: None):
            kinds |= _kinds(block, name)
        if kinds == {"mixed"}:
            hint = "Name a column of numbers, dates or texts."
            raise ColumnError(f"{self.name}: column {name!r} is of lists or objects, which have no order", hint=hint)
        if kinds == {"int", "float"}:
            return pa.float64()
        return _TYPES[kinds.pop()] if len(kinds) == 1 else pa.string()


def split_lines(data: bytes, final: bool) -> Records:  # noqa: FBT001  (the signature that `blocks` calls)
    """The lines of some bytes that are not blank."""
    values = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(values == ord("\n")) + 1
    if final and len(data) > (int(ends[-1]) if len(ends) else 0):
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1]])[: len(ends)].astype(np.int64)
    lines = np.arange(len(ends), dtype=np.int64)
    # a line that begins and ends with a brace needs no closer look
    odd = np.flatnonzero(~_braced(values, starts, ends)).tolist()
    blank = [line for line in odd if not data[starts[line] : ends[line]].strip(_BLANKS)]
    full = np.ones(len(ends), np.bool_)
    full[blank] = False
    return Records(starts[full], ends[full], lines[full], len(ends), int(ends[-1]) if len(ends) else 0)


def _braced(values: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Any:
    if not len(starts):
        return np.zeros(0, np.bool_)
    last = ends - 1
    last = last - (values[last] == ord("\n")) * (last > starts)
    last = last - (values[last] == ord("\r")) * (last > starts)
    return (values[starts] == ord("{")) & (values[last] == ord("}"))


def _suffixes(name: str) -> list[str]:
    return Path(suffixed_name(name).lower()).suffixes[-2:]


def _refuse_whole(block: Block, name: str) -> None:
    """Raise a SourceError where a file is one JSON value over its lines."""
    first = block.raw(0).strip(_BLANKS) if len(block.records.starts) else b""
    what, path = "", "."
    if first.startswith(b"["):
        what, path = "one JSON array", ".[]"
    elif first == b"{" or (first.startswith(b"{") and isinstance(_object(first), str) and _is_object(block)):
        what = "a JSON object over several lines"
    if what:
        hint = f"Convert it with: jq -c '{path}' {name} > {Path(name).stem}.jsonl"
        raise SourceError(f"{name} holds {what}, not one object a line", hint=hint)


def _is_object(block: Block) -> bool:
    """Whether all bytes of a block are one object."""
    return bool(block.data[-1:] or block.tail) and isinstance(_object(bytes(block.data) + block.tail), dict)


def _refuse_keys(block: Block, name: str) -> None:
    """Raise a ColumnError where a record already has one of the three keys."""
    for index in range(len(block.records.starts)):
        line = block.raw(index)
        if not any(key in line for key in _KEYS):
            continue
        found = _object(line)
        if isinstance(found, dict):
            refuse_annotated(list(found), f"{name}, line {block.line_of(index)}")


def _plan(block: Block, columns: Columns, source: str, order: pa.DataType | None) -> _Plan | None:
    """What the first readable records say; None when the block has none."""
    count = len(block.records.starts)
    readable = (found for index in range(count) if isinstance(found := _object(block.raw(index)), dict))
    sample = list(itertools.islice(readable, _SNIFFED))
    if not sample:
        return None
    seen: dict[str, set[type]] = {}
    for record in sample:
        for name, value in record.items():
            seen.setdefault(name, set()).add(type(value))
    strings = [name for name, kinds in seen.items() if kinds - {type(None)} == {str}]
    chosen = choose(columns, list(seen), strings, source)._replace(beside=columns.beside)  # later lines may have it
    return _Plan(chosen, _expected(chosen, seen, sample, order), order)


def _expected(
    chosen: Chosen, seen: dict[str, set[type]], sample: list[dict[str, Any]], order: pa.DataType | None
) -> dict[str, pa.DataType]:
    expected: dict[str, pa.DataType] = {}
    if chosen.order is not None:
        expected[chosen.order] = order
    if chosen.id is not None:
        expected[chosen.id] = pa.int64() if seen[chosen.id] - {type(None)} == {int} else pa.string()
    if chosen.items is not None:
        ints = all(type(item) is int for record in sample for item in record.get(chosen.items) or [])
        expected[chosen.items] = pa.list_(pa.int64() if ints else pa.string())
    if chosen.vectors is not None:
        expected[chosen.vectors] = pa.list_(pa.float64())
    if chosen.text is not None:
        expected[chosen.text] = pa.large_string()
    return dict.fromkeys(chosen.beside, pa.string()) | expected


def _table(block: Block, schema: pa.Schema) -> pa.Table | None:
    """The block through pyarrow, or None unless that gives one row for each of its lines."""
    starts, ends = block.records.starts, block.records.ends
    values = np.frombuffer(block.data, np.uint8)
    if not len(starts) or not _braced(values, starts, ends).all():
        return None
    longest = int((ends - starts).max())
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(pa.py_buffer(block.data)),
            read_options=pyarrow.json.ReadOptions(block_size=max(1 << 20, longest + 2)),
            parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        ).combine_chunks()
        table.validate(full=True)
    except (pa.ArrowException, UnicodeDecodeError, ValueError):
        return None
    return table if len(table) == len(starts) else None


def _fast(block: Block, plan: _Plan) -> pa.RecordBatch | None:
    table = _table(block, plan.schema())
    if table is None:
        return None
    chosen, column = plan.chosen, {name: _whole(table.column(name)) for name in plan.types}
    if chosen.items is not None and column[chosen.items].flatten().null_count:
        return None
    vectors = None if chosen.vectors is None else column[chosen.vectors].cast(VECTORS.field("vector").type)
    if vectors is not None and not_finite(vectors):
        return None
    return assemble(
        np.arange(block.position, block.position + len(table), dtype=np.int64),
        None if chosen.id is None else column[chosen.id].cast(pa.string()),
        None if chosen.text is None else column[chosen.text].cast(pa.large_string()),
        order=None if chosen.order is None else column[chosen.order].cast(plan.order),
        items=None if chosen.items is None else column[chosen.items].cast(pa.large_list(pa.large_string())),
        vectors=vectors,
        beside={name: column[name].cast(pa.string()) for name in chosen.beside},
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _slow(block: Block, plan: _Plan | None, skip: Skip, source: str) -> pa.RecordBatch:
    """The block line by line; what cannot be read goes to `skip`."""
    chosen = plan.chosen if plan else Chosen("text", None, None, None)
    order = plan.order if plan else None
    rows: list[tuple[int, Any, Any, Any, Any, Any, Any]] = []
    for index in range(len(block.records.starts)):
        try:
            rows.append((block.position + index, *_values(_object(block.raw(index)), chosen, order)))
        except _UnreadableError as error:
            skip(Skipped(source, block.position + index, block.line_of(index), str(error)))
    positions, ids, texts, orders, items, vectors, beside = map(list, zip(*rows, strict=True)) if rows else [[]] * 7
    strings = zip(*beside, strict=True) if beside else [[]] * len(chosen.beside)
    return assemble(
        np.array(positions, np.int64),
        pa.array(ids, pa.string()),
        pa.array(texts, pa.large_string()),
        order=None if order is None else pa.array(orders, order),
        items=None if chosen.items is None else pa.array(items, pa.large_list(pa.large_string())),
        vectors=None if chosen.vectors is None else pa.array(vectors, VECTORS.field("vector").type),
        beside={name: pa.array(values, pa.string()) for name, values in zip(chosen.beside, strings, strict=True)},
    )


class _UnreadableError(Exception):
    """Why one record cannot be read."""


def _object(line: bytes) -> dict[str, Any] | str:
    """The object of a line, or why there is none; NaN and what else pyarrow accepts included."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        try:
            found = json.loads(line.decode("utf-8", "surrogateescape"))
        except (ValueError, RecursionError):
            return f"not valid JSON: {error}"
    return found if isinstance(found, dict) else f"not a JSON object but {_article(found)}"


def _values(record: dict[str, Any] | str, chosen: Chosen, order: pa.DataType | None) -> tuple[Any, ...]:
    if isinstance(record, str):
        raise _UnreadableError(record)
    identity = None if chosen.id is None else _id(record.get(chosen.id))
    text = None if chosen.text is None else _text(record.get(chosen.text))
    items = None if chosen.items is None else _items(record.get(chosen.items))
    value = None if chosen.order is None else _ordered(record.get(chosen.order), order)
    vector = None if chosen.vectors is None else _vector(record.get(chosen.vectors))
    return identity, text, value, items, vector, tuple(_beside(record.get(name)) for name in chosen.beside)


def _id(value: Any) -> str | None:
    if isinstance(value, (dict, list)):
        raise _UnreadableError(f"the id is {_article(value)}, not a scalar")
    return value if value is None else _text(value if isinstance(value, str) else json.dumps(value))


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise _UnreadableError(f"the text is {_article(value)}, not a string")
    try:
        _ = (value or "").encode()
    except UnicodeEncodeError as error:
        escaped = "\udc80" <= error.object[error.start] <= "\udcff"
        what = "invalid UTF-8" if escaped else "a lone surrogate"
        raise _UnreadableError(f"{what} at character {error.start} of the text") from None
    return value


def _beside(value: Any) -> str | None:
    """What stands beside the content: lists and objects say nothing there, and are no reason to skip a record."""
    if value is None or isinstance(value, (dict, list)):
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _items(value: Any) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(type(item) not in {str, int, type(None)} for item in value):
        raise _UnreadableError(f"the features are {_article(value)}, not a list of strings or integers")
    return [_text(str(item)) or "" for item in value if item is not None]


def _vector(value: Any) -> list[float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or any(type(item) not in {int, float, type(None)} for item in value):
        raise _UnreadableError(f"the vector is {_article(value)}, not a list of numbers")
    bad = not_finite(pa.array([value], VECTORS.field("vector").type))
    if bad:
        raise _UnreadableError(bad[0])
    return value


def _ordered(value: Any, kind: pa.DataType | None) -> Any:
    if value is None or kind != pa.string():
        return float(value) if value is not None and kind == pa.float64() else value
    return _text(value if isinstance(value, str) else json.dumps(value))


def _article(value: Any) -> str:
    return _NAMES.get(type(value), "null")


def _kinds(block: Block, name: str) -> set[str]:
    """The kinds of value that a key has in a block."""
    for kind in ("int", "float", "string", "bool"):
        table = _table(block, pa.schema([(name, _TYPES[kind])]))
        if table is not None:
            return set() if table.column(name).null_count == len(table) else {kind}
    found = (_object(block.raw(index)) for index in range(len(block.records.starts)))
    values = (record.get(name) for record in found if isinstance(record, dict))
    return {_kind(value) for value in values if value is not None}


def _kind(value: Any) -> str:
    if type(value) is int and not -(2**63) <= value < 2**63:
        return "float"
    return _KINDS.get(type(value), "mixed")


def _annotated(block: Block, removed: npt.NDArray[np.int64], annotations: Annotations) -> Iterator[bytes | memoryview]:
    count, at = len(block.records.starts), 0
    low, high = np.searchsorted(removed, [block.position, block.position + count])
    gone = set(removed[low:high].tolist())
    values = zip(*(column.to_pylist() for column in values_of(annotations, block.position, count)), strict=True)
    for index, row in enumerate(values):
        start, end = int(block.records.starts[index]), int(block.records.ends[index])
        yield block.data[at:start]
        if block.position + index not in gone:
            yield annotate_line(block.raw(index), row)
        at = end
    yield block.data[at:]


def annotate_line(line: bytes, values: tuple[Any, ...]) -> bytes:
    """A line with the three keys before its closing brace; a line that is no object as it is."""
    if values[2] is None and isinstance(_object(line), str):
        return line
    head, brace, tail = line.rpartition(b"}")
    comma = b"" if head.rstrip(_BLANKS) == b"{" else b","
    return head + comma + orjson.dumps(dict(zip(ANNOTATIONS.names, values, strict=True)))[1:-1] + brace + tail
