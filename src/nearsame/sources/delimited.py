"""CSV and TSV: split into records by our own kernel, so that copies are byte for byte; read by pyarrow.

1. The first record is the header: it has no position and is copied always. Quoted line ends are legal.
2. A record with another number of fields than the header, or a quote that never closes, is skipped.
3. An empty id or order is null; an empty text is an empty text (CSV has no null).
4. `order` needs one type for the whole file, so it takes a pass of its own: integers where all are, else numbers, else
   strings. Groups are numbers only where two of them that differ stay different.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import arrow, computing
from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError, SourceError
from nearsame.files.systems import File
from nearsame.kernels.records import ENDED, UNCLOSED, pass_record, split_records
from nearsame.named import NamedTuple
from nearsame.sources.base import MAX_RECORD, Annotations, Aside, Columns, Skip, Skipped, TextChange
from nearsame.sources.columns import Chosen, choose, is_stringlike, records
from nearsame.sources.delimited_types import are_told_apart, typed
from nearsame.sources.items import plain_records, require_single
from nearsame.sources.limits import longest, longest_copied, pass_by, too_long
from nearsame.sources.lined import Lined
from nearsame.sources.streams import Block, RecordSpans, blocks, unread_rest, with_edits, without_bom, without_removed
from nearsame.sources.tables import ANNOTATIONS, refuse_annotated, values_of

__all__ = ["Delimited", "PastRecord", "split_rows"]

_SNIFFED = 1_000
_BINARY = pa.large_binary()
_ORDERS = (pa.int64(), pa.uint64(), pa.float64(), pa.string())
_UTF16 = (b"\xff\xfe", b"\xfe\xff")  # the byte order marks
_LINE_ENDS = b"\r\n"
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\v")


@dataclass(frozen=True)
class Delimited(Lined):
    """A file of comma-separated values, or of tab-separated ones."""

    delimiter: str = ","

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = self.by_encoding(skip)
        orders = self._order_types(columns) if columns.order else {}
        for block, header in self._blocks(skip, longest(columns)):
            if block.passing is not None:
                pass_by(block, columns, skip, self.name)
                continue
            good = _good(block, header, columns, skip, self.name)
            if len(good):
                chosen = self._choose(columns, header, block, good)
                raw = _parsed(block, good, _Wanted(header.names, chosen.names(), self.delimiter))
                batch = _ready(raw, chosen, orders)
                block.data.release()  # what works on the records now needs the memory
                yield from records(batch, chosen, good + block.position, _with_lines(skip, block), self.name, columns)
                del raw, batch  # likewise what reads the next ones
            if block.broken:
                skip(unread_rest(block, self.name))

    def objects(self, columns: Columns, skip: Skip) -> Iterator[tuple[int, dict[str, Any]]]:
        """The readable records, whole, with their positions; all values are strings."""
        skip = self.by_encoding(skip)
        for block, header in self._blocks(skip, longest(columns)):
            if block.passing is not None:
                pass_by(block, columns, skip, self.name)
                continue
            good = _good(block, header, columns, skip, self.name)
            require_single(header.names, self.name)
            names = [name for name in header.names if header.names.count(name) == 1]
            if len(good) and names:
                self._refuse_header(header.names)
                raw = _parsed(block, good, _Wanted(header.names, names, self.delimiter))
                texts = {name: raw.column(name).view(pa.large_string()) for name in names}
                batch = pa.RecordBatch.from_pydict(texts)
                yield from plain_records(batch, good + block.position, _with_lines(skip, block), self.name)
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
        """Write header and raw records to `target` without the `removed` positions (ascending), or with annotations."""
        self.require_unchanged()
        plain = self.decompressed(lambda _: None)
        if plain is None:
            self.copy_unread(target, drop=drop_unread)
            return
        bom, _ = without_bom(plain)
        with self.written(target) as out:
            out.write(bom)
            for number, (block, header) in enumerate(self._blocks(lambda _: None, longest_copied(annotations))):
                if block.passing is not None:
                    out.writelines(self._passed(block, removed, annotations))
                elif annotations is None:
                    out.writelines(without_removed(block, removed, block.position))
                elif isinstance(annotations, Annotations):
                    heading = header if number == 0 else None
                    out.writelines(self._annotated(block, header, heading, removed, annotations))
                else:
                    out.writelines(self._changed(block, header, removed, annotations))
                out.write(b"" if drop_unread and block.broken else block.tail)

    def table(self, file: File) -> pa.Table:
        """All records of another file with the same delimiter."""
        data = self.copied(file)
        if not data.strip(b"\xef\xbb\xbf\r\n"):
            return pa.table({})
        if not data.endswith((b"\r", b"\n")):  # to pyarrow a header without its end is not a file
            data += b"\n"
        return typed(data, self.delimiter)

    def _blocks(self, skip: Skip, most: int = MAX_RECORD) -> Iterator[tuple[Block, "_Header"]]:
        """The blocks, their records without the header, and the header."""
        plain = self.decompressed(skip)
        if plain is None:
            return
        _, stream = without_bom(plain)
        header = None
        split = partial(split_rows, ord(self.delimiter))
        for block in blocks(stream, split, lambda: PastRecord(ord(self.delimiter)), most):
            if header is not None:
                yield block._replace(position=block.position - 1), header
            elif block.passing is not None:
                raise SourceError(f"{self.name}: its header has more than {most:,} bytes", hint="Fix the first line.")
            elif len(block.records.starts):
                header = self._header(block)
                yield block._replace(records=_from_second(block.records)), header
            else:
                yield block, _Header([], 0, 0)

    def _header(self, block: Block) -> "_Header":
        raw = block.raw(0)
        if raw.startswith(_UTF16) or _CONTROLS.intersection(raw):
            raise _no_text(self.name)
        text = raw.decode("utf-8", "replace")
        num_fields = int(_fields(block)[0])
        if num_fields < 0:
            raise SourceError(f"{self.name}: a quote in the header never closes", hint="Fix the first line.")
        try:
            names = next(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter))
        except csv.Error as error:
            raise SourceError(f"{self.name}: the header cannot be read: {error}", hint="Fix the first line.") from None
        return _Header(names, num_fields, int(block.records.ends[0]))

    def _choose(self, columns: Columns, header: "_Header", block: Block, good: npt.NDArray[np.int64]) -> Chosen:
        names = header.names
        if columns.items is not None or columns.vectors is not None:
            raise ColumnError(
                f"{self.name} is delimited text: it has no list column", hint="Use JSON lines or Parquet."
            )
        strings: list[str] = []
        if columns.codes is None and not {"text", "content", columns.text}.intersection(names):
            self._refuse_header(names)
            single = [name for name in names if names.count(name) == 1]
            sample = _parsed(block, good[:_SNIFFED], _Wanted(names, single, self.delimiter, None)) if single else None
            strings = [field.name for field in sample.schema if is_stringlike(field.type)] if sample else []
        return choose(columns, names, strings, self.name)

    def _refuse_header(self, names: Sequence[str]) -> None:
        """Raise a SourceError where no column can be told because the header is of another kind of file."""
        if any("\N{REPLACEMENT CHARACTER}" in name for name in names):
            raise _no_text(self.name)
        marks = [mark for mark in ";\t|" if len(names) == 1 and self.delimiter == "," and mark in names[0]]
        if marks:
            hint = "Name it .tsv." if marks[0] == "\t" else "Write it again with commas, or as .tsv with tabs."
            message = f"{self.name} has the one column {names[0]!r}: it looks separated by {marks[0]!r}"
            raise SourceError(message, hint=f"{hint} If this is its name, give it as --text-column.")

    def _order_types(self, columns: Columns) -> dict[str, pa.DataType]:
        """Of each column the narrowest of whole numbers, float64 and string that takes all its values."""
        kinds = {name: list(_ORDERS) for name in columns.order}
        for block, header in self._blocks(lambda _: None, longest(columns)):
            good = _good(block, header, columns, lambda _: None, self.name)
            if len(good):
                chosen = self._choose(columns, header, block, good)
                if not chosen.order:
                    break
                raw = _parsed(block, good, _Wanted(header.names, list(chosen.order), self.delimiter))
                for name in chosen.order:
                    values = _null_if_empty(raw.column(name))
                    is_exact = name == columns.exact
                    kinds[name] = [kind for kind in kinds[name] if _fits(values, kind, is_exact=is_exact)]
        return {name: left[0] for name, left in kinds.items()}

    def _passed(
        self, block: Block, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None
    ) -> Iterable[bytes | bytearray | memoryview]:
        """A record that is too long to be held; it gets its fields only if it was read, and so could be held."""
        raw = without_removed(block, removed, block.position)
        if not isinstance(annotations, Annotations) or block.position in removed:
            return raw
        (values,) = zip(*(column.to_pylist() for column in values_of(annotations, block.position, 1)), strict=True)
        return raw if values[2] is None else [self._widened(b"".join(raw), values)]

    def _annotated(
        self,
        block: Block,
        header: "_Header",
        heading: "_Header | None",
        removed: npt.NDArray[np.int64],
        annotations: Annotations,
    ) -> Iterator[bytes | memoryview]:
        at = 0
        if heading is not None and heading.names:
            refuse_annotated(heading.names, self.name)
            yield self._widened(bytes(block.data[: heading.end]), ANNOTATIONS.names)
            at = heading.end
        columns = values_of(annotations, block.position, len(block.records.starts))
        values = list(zip(*(column.to_pylist() for column in columns), strict=True))
        is_whole = _fields(block) == header.num_fields
        yield from with_edits(
            block, removed, lambda index, raw: self._widened(raw, values[index]) if is_whole[index] else raw, at
        )

    def _changed(
        self, block: Block, header: "_Header", removed: npt.NDArray[np.int64], change: TextChange
    ) -> Iterable[bytes | bytearray | memoryview]:
        """The block with its texts changed."""
        if not change.within(block.position, len(_fields(block))):
            return without_removed(block, removed, block.position)
        good = _good(block, header, change.columns, lambda _: None, self.name)
        number = header.names.index(str(self._choose(change.columns, header, block, good).text))
        return with_edits(
            block, removed, lambda index, raw: change.record(block.position + index, raw, number, self.delimiter)
        )

    def _widened(self, record: bytes, values: Iterable[Any]) -> bytes:
        """A record with more fields before its line end."""
        body = record.rstrip(b"\r\n") if record.endswith((b"\n", b"\r")) else record
        cells = ["" if value is None else _quoted(str(value), self.delimiter) for value in values]
        return body + (self.delimiter + self.delimiter.join(cells)).encode() + record[len(body) :]


class _Header(NamedTuple):
    names: list[str]
    num_fields: int
    end: int  # bytes, in the first block


def _no_text(name: str) -> SourceError:
    hint = "Name its encoding with --encoding (auto detects it), or convert it: iconv -f UTF-16 -t UTF-8."
    return SourceError(f"{name} is not UTF-8 text", hint=hint)


def split_rows(delimiter: int, data: bytes | bytearray, final: bool) -> RecordSpans:  # noqa: FBT001  (the signature that `blocks` calls)
    """The records of some bytes; quoted line ends are in them."""
    values = np.frombuffer(data, np.uint8)
    starts, ends, lines, fields, consumed, num_lines = split_records(values, delimiter, final=final)
    return RecordSpans(starts, ends, lines, num_lines, consumed, fields)


def _from_second(spans: RecordSpans) -> RecordSpans:
    fields = None if spans.num_fields is None else spans.num_fields[1:]
    return spans._replace(starts=spans.starts[1:], ends=spans.ends[1:], lines=spans.lines[1:], num_fields=fields)


def _fields(block: Block) -> npt.NDArray[np.int64]:
    return np.zeros(0, np.int64) if block.records.num_fields is None else block.records.num_fields


class PastRecord:
    """Finds the end of a record that comes in pieces."""

    def __init__(self, delimiter: int) -> None:
        self._delimiter = delimiter
        self._state = np.zeros(2, np.int64)

    def __call__(self, piece: bytes | bytearray) -> int:
        """How many bytes of the piece belong to it."""
        return int(pass_record(arrow.frozen(np.frombuffer(piece, np.uint8)), self._delimiter, self._state))

    @property
    def ended(self) -> bool:
        """Whether its end was found."""
        return bool(self._state[0] == ENDED)

    @property
    def num_lines(self) -> int:
        """How many lines ended in it."""
        return int(self._state[1])

    @property
    def remark(self) -> str:
        """What else there is to say of it."""
        return "; a quote that opens in it never closes" if self._state[0] == UNCLOSED else ""


def _good(block: Block, header: _Header, columns: Columns, skip: Skip, source: str) -> npt.NDArray[np.int64]:
    """The indices of the records with the header's number of fields that are not too long; others go to `skip`."""
    if block.passing is not None:
        return np.zeros(0, np.int64)
    fields = _fields(block)
    for index in np.flatnonzero(fields != header.num_fields).tolist():
        reason = f"{fields[index]} fields where the header has {header.num_fields}"
        if fields[index] < 0:
            reason = "a quote that opens here never closes"
        skip(Skipped(source, block.position + index, block.line_of(index), reason))
    good = np.flatnonzero(fields == header.num_fields)
    return good[~too_long(block, columns, skip, source, good)]


def _with_lines(skip: Skip, block: Block) -> Skip:
    def report(skipped: Skipped | Aside) -> None:
        if isinstance(skipped, Aside):
            skip(skipped)
            return
        skip(skipped._replace(line=block.line_of(int(skipped.position or 0) - block.position)))

    return report


class _Wanted(NamedTuple):
    """Which columns to parse: as bytes, or with no `kind` as what pyarrow takes them for."""

    header: Sequence[str]
    names: Sequence[str]
    delimiter: str
    kind: pa.DataType | None = _BINARY


def _parsed(block: Block, good: npt.NDArray[np.int64], wanted: _Wanted) -> pa.RecordBatch:
    """Some columns of the good records."""
    starts, ends = block.records.starts[good], block.records.ends[good]
    if len(good) == len(block.records.starts):
        data = block.data[int(starts[0]) : int(ends[-1])]
    else:
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        data = memoryview(b"".join(block.data[start:end] for start, end in spans))
    if data[-1] not in _LINE_ENDS:  # to pyarrow one record without its end is not a record
        data = memoryview(bytes(data) + b"\n")
    columns = {f"f{wanted.header.index(name)}": name for name in wanted.names}
    reader, block_size = _arrow(), max(1 << 20, int((ends - starts).max()) + 2)
    table = reader.read_csv(
        pa.BufferReader(pa.py_buffer(data)),
        read_options=reader.ReadOptions(autogenerate_column_names=True, block_size=block_size),
        parse_options=reader.ParseOptions(delimiter=wanted.delimiter, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            include_columns=list(columns),
            column_types=None if wanted.kind is None else dict.fromkeys(columns, wanted.kind),
            check_utf8=False,
        ),
    )
    return table.rename_columns(list(columns.values())).combine_chunks().to_batches()[0]


def _arrow() -> Any:
    from pyarrow import csv  # noqa: PLC0415  (all runs that write a folder know of these files; few read one)

    return csv


def _ready(batch: pa.RecordBatch, chosen: Chosen, orders: Mapping[str, pa.DataType]) -> pa.RecordBatch:
    """The batch with its empty ids and orders (and what is beside) null, and orders of their types."""
    ready = {name: batch.column(name) for name in batch.schema.names}
    for name in {chosen.id, *chosen.order, *chosen.beside} - {None, chosen.text}:
        ready[str(name)] = _null_if_empty(ready[str(name)])
    for name in chosen.order:
        ready[name] = _as_strings(_null_if_empty(batch.column(name))).cast(orders[name])
    if chosen.codes is not None:  # digits, and not the bytes that they are
        ready[chosen.codes.name] = _null_if_empty(batch.column(chosen.codes.name)).view(pa.large_string())
    return pa.RecordBatch.from_pydict(ready)


def _null_if_empty(values: pa.Array) -> pa.Array:
    return computing.if_else(computing.equal(computing.binary_length(values), 0), pa.scalar(None, values.type), values)


def _as_strings(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        decoded = (value and value.decode("utf-8", "backslashreplace") for value in values.to_pylist())
        return pa.array(list(decoded), pa.string())


def _fits(values: pa.Array, kind: pa.DataType, *, is_exact: bool) -> bool:
    if kind == pa.string():
        return True
    strings = _as_strings(values)
    if computing.any_(computing.match_substring_regex(strings, pattern="[xX]")).as_py():
        return False  # to Arrow 0x10 is 16
    try:
        numbers = strings.cast(kind)
    except pa.ArrowInvalid:
        return False
    return not (is_exact and pa.types.is_floating(kind)) or are_told_apart(strings, numbers)


def _quoted(value: str, delimiter: str) -> str:
    if any(mark in value for mark in (delimiter, '"', "\n", "\r")):
        return '"' + value.replace('"', '""') + '"'
    return value
