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
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.json

from nearsame import computing
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError, SourceError
from nearsame.files.systems import File, suffixed_name
from nearsame.kernels import lines
from nearsame.schemas import CODES, VECTORS
from nearsame.sources.base import BATCH_BYTES, Annotations, Columns, Skip, Skipped, TextChange
from nearsame.sources.codes import code_lists, json_type
from nearsame.sources.columns import Chosen, assemble, bounded, choose, not_finite, why_not_utf8
from nearsame.sources.json_keys import annotate_line
from nearsame.sources.jsonvalues import (
    TYPES,
    UnreadableError,
    json_object,
    kinds_of,
    rounded,
    row_values,
    table_of_lines,
    type_of,
)
from nearsame.sources.limits import longest, longest_copied, pass_by, too_long
from nearsame.sources.lined import Lined
from nearsame.sources.streams import Block, RecordSpans, blocks, unread_rest, with_edits, without_bom, without_removed
from nearsame.sources.tables import ANNOTATIONS, refuse_annotated, values_of
from nearsame.sources.transcoding import raw_bytes

__all__ = ["JsonLines", "PastLine"]

_SNIFFED = 1_000
_BLANKS = b" \t\r\n"
_KEYS = (*(f'"{key}"'.encode() for key in ANNOTATIONS.names), b"\\u")  # the last: a key may be escaped


@dataclass(frozen=True)
class _Plan:
    """The chosen columns of a file and what pyarrow is to expect of them."""

    chosen: Chosen
    types: dict[str, pa.DataType]
    orders: dict[str, pa.DataType]

    def schema(self) -> pa.Schema:
        return pa.schema(list(self.types.items()))


@dataclass(frozen=True)
class JsonLines(Lined):
    """A file of JSON lines, or standard input."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = self.by_encoding(skip)
        most = longest(columns)
        orders = self._order_types(columns, most) if columns.order else {}
        plan = None
        for block in self._blocks(skip, most):
            if block.passing is not None:
                pass_by(block, columns, skip, self.name)
                continue
            good = _good(block, columns, skip, self.name)
            plan = plan or _plan(block, good, columns, self.name, orders)
            fast = _fast(block, plan) if plan and good.size == block.records.starts.size else None
            batch = _slow(block, good, plan, skip, self.name) if fast is None else fast
            block.data.release()  # what works on the records now needs the memory
            yield from bounded(batch)
            del fast, batch  # likewise what reads the next ones
            if block.broken:
                skip(unread_rest(block, self.name))

    def objects(self, columns: Columns, skip: Skip) -> Iterator[tuple[int, dict[str, Any]]]:
        """The readable records, whole, with their positions."""
        skip = self.by_encoding(skip)
        for block in self._blocks(skip, longest(columns)):
            if block.passing is not None:
                pass_by(block, columns, skip, self.name)
                continue
            for index in _good(block, columns, skip, self.name).tolist():
                raw = block.raw(index)
                record = why_not_utf8(raw) or json_object(raw)
                if isinstance(record, dict):
                    yield block.position + index, record
                else:
                    skip(Skipped(self.name, block.position + index, block.line_of(index), record))
            if block.broken:
                skip(unread_rest(block, self.name))

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | TextChange | None = None,
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
        with self.written(target) as out:
            out.write(bom)
            out.writelines(self._edited(stream, removed, annotations, drop_unread=drop_unread))

    def lines(self, removed: Rows, change: TextChange | None = None, *, drop_unread: bool = False) -> Iterator[Any]:
        """The raw lines without the `removed` positions (ascending), the last one ended; with other texts, or not."""
        self.require_unchanged()
        plain = self.decompressed(lambda _: None)
        last = b"\n"
        for piece in (
            () if plain is None else self._edited(without_bom(plain)[1], removed, change, drop_unread=drop_unread)
        ):
            yield piece if self.codec is None else raw_bytes(piece)
            last = bytes(piece[-1:]) or last
        if last != b"\n":
            yield b"\n"

    def _edited(
        self, stream: Iterator[bytes], removed: Rows, annotations: Annotations | TextChange | None, *, drop_unread: bool
    ) -> Iterator[Any]:
        plan = None
        for block in blocks(stream, split_lines, PastLine, longest_copied(annotations)):
            if annotations is None or block.passing is not None:
                yield from _passed(block, removed, annotations)
            elif isinstance(annotations, Annotations):
                _refuse_keys(block, self.name)
                yield from _annotated(block, removed, annotations)
            else:
                num = len(block.records.starts)
                plan = plan or _plan(block, np.arange(num), annotations.columns, self.name, {})
                if plan and annotations.within(block.position, num):
                    edit = partial(_changed, annotations, str(plan.chosen.text), block.position)
                    yield from with_edits(block, removed, edit)
                else:
                    yield from _passed(block, removed, None)
            yield b"" if drop_unread and block.broken else block.tail

    def table(self, file: File) -> pa.Table:
        """All records of another file of JSON lines."""
        return table_of_lines(self.copied(file), self.name)

    def _blocks(self, skip: Skip, most: int) -> Iterator[Block]:
        plain = self.decompressed(skip)
        if plain is None:
            return
        _, stream = without_bom(plain)
        for block in blocks(stream, split_lines, PastLine, most):
            if not block.position and (self.name == "-" or ".json" in _suffixes(self.name)):
                _refuse_whole(block, self.name)
            yield block

    def _order_types(self, columns: Columns, most: int) -> dict[str, pa.DataType]:
        """The type of each column that has any value."""
        kinds = {name: set[str]() for name in columns.order}
        for block in self._blocks(lambda _: None, most):
            for name in columns.order:
                kinds[name] |= _kinds(block, name, most)
        return {
            name: self._order_type(name, values, is_exact=name == columns.exact)
            for name, values in kinds.items()
            if values
        }

    def _order_type(self, name: str, kinds: set[str], *, is_exact: bool) -> pa.DataType:
        if kinds == {"mixed"}:
            hint = "Name a column of numbers, dates or texts."
            raise ColumnError(f"{self.name}: column {name!r} is of lists or objects, which have no order", hint=hint)
        kind = type_of(kinds)
        if is_exact and ("rounded" in kinds or ("wide" in kinds and pa.types.is_floating(kind))):
            raise rounded(name, self.name)
        return kind


def split_lines(data: bytes | bytearray, final: bool) -> RecordSpans:  # noqa: FBT001  (the signature that `blocks` calls)
    """The lines of some bytes that are not blank."""
    starts, ends, numbers, count, consumed, blank = lines.split_lines(np.frombuffer(data, np.uint8), final=final)
    if blank and not consumed and len(data) >= BATCH_BYTES:
        consumed = len(data)  # blanks without an end are held by nobody: the line begins behind them
    return RecordSpans(starts, ends, numbers, count, consumed)


class PastLine:
    """Finds the end of a line that comes in pieces."""

    ended = False
    num_lines = 0

    def __call__(self, piece: bytes | bytearray) -> int:
        """How many bytes of the piece belong to it."""
        end = piece.find(b"\n") + 1
        self.ended, self.num_lines = end > 0, int(end > 0)
        return end or len(piece)


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
    first = block.passing.head if block.passing else block.raw(0) if len(block.records.starts) else b""
    first = first.strip(_BLANKS)
    what, path = "", "."
    if first.startswith(b"["):
        what, path = "one JSON array", ".[]"
    elif first == b"{" or (first.startswith(b"{") and isinstance(json_object(first), str) and _is_object(block)):
        what = "a JSON object over several lines"
    if what:
        filtered = f"jq -c '{path}'"
        as_file = f"Convert it with: {filtered} {name} > {Path(name).stem}.jsonl"
        hint = f"Pass it through: {filtered}" if name == "-" else as_file
        raise SourceError(f"{name} holds {what}, not one object a line", hint=hint)


def _is_object(block: Block) -> bool:
    """Whether all bytes of a block are one object."""
    return bool(block.data[-1:] or block.tail) and isinstance(json_object(bytes(block.data) + block.tail), dict)


def _refuse_keys(block: Block, name: str) -> None:
    """Raise a ColumnError where a record already has one of the three keys."""
    for index in range(len(block.records.starts)):
        line = block.raw(index)
        if not any(key in line for key in _KEYS):
            continue
        record = json_object(line)
        if isinstance(record, dict):
            refuse_annotated(list(record), f"{name}, line {block.line_of(index)}")


def _good(block: Block, columns: Columns, skip: Skip, source: str) -> Rows:
    """The indices of the records that are not too long; the others go to `skip`."""
    every = np.arange(len(block.records.starts))
    return every[~too_long(block, columns, skip, source, every)]


def _plan(block: Block, good: Rows, columns: Columns, source: str, orders: dict[str, pa.DataType]) -> _Plan | None:
    """What the first readable records say; None when the block has none."""
    readable = (parsed for index in good.tolist() if isinstance(parsed := json_object(block.raw(index)), dict))
    sample = list(itertools.islice(readable, _SNIFFED))
    if not sample:
        return None
    seen: dict[str, set[type]] = {}
    for record in sample:
        for name, value in record.items():
            seen.setdefault(name, set()).add(type(value))
    strings = [name for name, kinds in seen.items() if kinds - {type(None)} == {str}]
    names = list(dict.fromkeys((*seen, *orders)))
    chosen = choose(columns, names, strings, source)._replace(beside=columns.beside)  # later lines may have it
    types = {name: orders.get(name, pa.string()) for name in chosen.order}
    codes = chosen.codes
    coded = (
        {} if codes is None else {codes.name: json_type([record.get(codes.name) for record in sample], codes, source)}
    )
    return _Plan(chosen, types | _expected(chosen, seen, sample) | coded, types)


def _expected(chosen: Chosen, seen: dict[str, set[type]], sample: list[dict[str, Any]]) -> dict[str, pa.DataType]:
    expected: dict[str, pa.DataType] = {}
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
    size = max(1 << 20, int((ends - starts).max()) + 2)
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(pa.py_buffer(block.data)),
            read_options=pyarrow.json.ReadOptions(block_size=size, use_threads=values.size > size),
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
    vectors = None if chosen.vectors is None else computing.cast(column[chosen.vectors], VECTORS.field("vector").type)
    if vectors is not None and not_finite(vectors):
        return None
    codes, bad = None, dict[int, str]()
    if chosen.codes is not None:
        codes, bad = code_lists(column[chosen.codes.name], chosen.codes, "", is_first=False)
    if bad:
        return None
    return assemble(
        np.arange(block.position, block.position + len(table), dtype=np.int64),
        None if chosen.id is None else computing.cast(column[chosen.id], pa.string()),
        None if chosen.text is None else computing.cast(column[chosen.text], pa.large_string()),
        orders={name: computing.cast(column[name], kind) for name, kind in plan.orders.items()},
        items=None if chosen.items is None else computing.cast(column[chosen.items], pa.large_list(pa.large_string())),
        vectors=vectors,
        codes=codes,
        beside={name: computing.cast(column[name], pa.string()) for name in chosen.beside},
        guessed=chosen.guessed,
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _slow(block: Block, good: Rows, plan: _Plan | None, skip: Skip, source: str) -> pa.RecordBatch:
    """The good lines of a block, one by one; what cannot be read goes to `skip`."""
    chosen, types = (plan.chosen, plan.orders) if plan else (Chosen("text", None), {})
    rows: list[tuple[int, Any, Any, Any, Any, Any, Any, Any]] = []
    for index in good.tolist():
        try:
            rows.append((block.position + index, *row_values(json_object(block.raw(index)), chosen, types)))
        except UnreadableError as error:
            skip(Skipped(source, block.position + index, block.line_of(index), str(error)))
    columns = map(list, zip(*rows, strict=True)) if rows else [[]] * 8
    positions, ids, texts, orders, items, vectors, codes, extras = columns
    strings = zip(*extras, strict=True) if extras else [[]] * len(chosen.beside)
    ordered = zip(*orders, strict=True) if orders else [[]] * len(types)
    return assemble(
        np.array(positions, np.int64),
        pa.array(ids, pa.string()),
        pa.array(texts, pa.large_string()),
        orders={name: pa.array(values, types[name]) for name, values in zip(types, ordered, strict=True)},
        items=None if chosen.items is None else pa.array(items, pa.large_list(pa.large_string())),
        vectors=None if chosen.vectors is None else pa.array(vectors, VECTORS.field("vector").type),
        codes=None if chosen.codes is None else pa.array(codes, CODES.field("code").type),
        beside={name: pa.array(values, pa.string()) for name, values in zip(chosen.beside, strings, strict=True)},
        guessed=chosen.guessed,
    )


def _kinds(block: Block, name: str, most: int) -> set[str]:
    """The kinds of value that a key has in a block; of records longer than `most` it has none."""
    good = np.flatnonzero(block.records.ends - block.records.starts <= most)
    for kind in ("int", "large", "float", "string", "bool") if good.size == block.records.starts.size else ():
        table = _table(block, pa.schema([(name, TYPES[kind])]))
        if table is not None:
            values = table.column(name)
            ends = [] if kind in {"string", "bool"} else [computing.min_(values), computing.max_(values)]
            return set() if values.null_count == len(table) else {kind}.union(*(kinds_of(end.as_py()) for end in ends))
    objects = (json_object(block.raw(index)) for index in good.tolist() if block.passing is None)
    values = (record.get(name) for record in objects if isinstance(record, dict))
    return set().union(*(kinds_of(value) for value in values if value is not None))


def _passed(block: Block, removed: Rows, annotations: Annotations | TextChange | None) -> Iterable[Any]:
    """A block without the removed records; a long one gets its keys only if it was read, and so could be held."""
    if block.passing is None or not isinstance(annotations, Annotations):
        return without_removed(block, removed, block.position)
    (values,) = zip(*(column.to_pylist() for column in values_of(annotations, block.position, 1)), strict=True)
    if values[2] is None or block.position in removed:
        return without_removed(block, removed, block.position)
    return [annotate_line(b"".join(block.passing.pieces), values)]


def _annotated(block: Block, removed: Rows, annotations: Annotations) -> Iterator[bytes | memoryview]:
    columns = values_of(annotations, block.position, len(block.records.starts))
    values = list(zip(*(column.to_pylist() for column in columns), strict=True))
    return with_edits(block, removed, lambda index, line: annotate_line(line, values[index]))


def _changed(change: TextChange, key: str, first: int, index: int, line: bytes) -> bytes:
    return change.line(first + index, line, key)
