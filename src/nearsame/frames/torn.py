"""Packed files that break off: Spark only says which one it met first, so all of them are looked at, once it has.

1. Each file is unpacked by one task, by the reader of one machine. What stands before the break is read likewise, a
   record a row, and then by Spark as the records of other files are; the rest of the file counts as one.
2. A run without such files does nothing here.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.engines.spark.failures import unread_file
from nearsame.engines.spark.forms import DELIMITERS
from nearsame.engines.spark.json_lines import LINE
from nearsame.engines.spark.mapping import ddl, quoted
from nearsame.engines.spark.places import as_name, on_disk
from nearsame.engines.spark.reading import FILE, Given, PackedFile, Salvaged, packed_files, whole_files
from nearsame.engines.spark.strings import read_lines, read_rows
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.keys import NULL, are_whole, said_by_path
from nearsame.files.systems import File
from nearsame.frames.archives import at_hand
from nearsame.named import NamedTuple
from nearsame.sources.delimited import PastRecord, split_rows
from nearsame.sources.jsonl import PastLine, split_lines
from nearsame.sources.streams import blocks, chunks, unread_rest, without_bom

__all__ = ["Torn"]

_LINE_ENDS = b"\r\n"
_FOUND = pa.schema([("file", pa.string()), ("why", pa.string()), ("head", pa.string())])


class _TornFile(NamedTuple):
    """A file that breaks off.

    Attributes:
        file: where it is.
        why: what its reader says; nothing where it finds it whole.
        head: of CSV its header, if it has got as far.
    """

    file: PackedFile
    why: str
    head: str | None

    @property
    def path(self) -> str:
        """Its path, as tasks have it."""
        return _path(self.file)

    @property
    def said(self) -> dict[str, str]:
        """What names of its folders say."""
        base, address = self.file.base, self.file.address
        return {} if base is None else said_by_path(address.removeprefix(base).rpartition("/")[0])


@dataclass(frozen=True)
class Torn:
    """The files of some sources that break off, and those that only Spark cannot read.

    Attributes:
        files: these.
        all_asked: whether all packed files were looked at, once Spark could not read one.
    """

    files: tuple[_TornFile, ...] = ()
    all_asked: bool = False

    def and_after(self, session: Any, sources: Sequence[Any], error: SourceError, *, strict: bool) -> "Torn":
        """These, and those of sources that Spark could not read; the same where the error is about something else.

        Raises:
            SourceError: With `strict`, one breaks off.
        """
        unread, known = unread_file(error), {torn.file for torn in self.files}
        packed = [file for file in packed_files(session, sources) if file not in known] if unread else []
        named = {_path(file) for file in packed} & {on_disk(str(unread))}  # whatever our reader says of it
        asked = [file for file in packed if not self.all_asked or _path(file) in named]
        found = [torn for torn in _looked_at(session, asked, strict=strict) if torn.why or torn.path in named]
        return replace(self, files=(*self.files, *found), all_asked=True) if found else self

    def salvaged(self, session: Any, text: str | None) -> Salvaged:
        """What stands before the breaks; `text` is the key of texts in JSON."""
        alike = defaultdict[_Alike, list[_TornFile]](list)
        for torn in self.files:
            if torn.file.kind not in DELIMITERS or torn.head is not None:
                alike[_Alike(torn.file.kind, torn.head, tuple(torn.said))].append(torn)
        reasons = {torn.file.address: torn.why for torn in self.files}
        said = (item for torn in self.files for item in torn.said.items())
        texts = frozenset(key for key, value in said if not are_whole({value, "0"}))
        return Salvaged(reasons, texts, tuple(form.read(session, some, text) for form, some in alike.items()))


def _looked_at(session: Any, packed: Sequence[PackedFile], *, strict: bool) -> list[_TornFile]:
    """What our reader says of files; with `strict` an error of the first one that breaks off."""
    if not packed:
        return []
    kinds = {_path(file): file.kind for file in packed}
    frame = whole_files(session, [file.address for file in packed])
    rows = {row.file: row for row in Verbs.map_batches(frame, partial(_read, kinds), ddl(_FOUND)).collect()}
    there = ((file, rows.get(_path(file))) for file in packed)  # Spark passes over those that are empty
    found = [_TornFile(file, row.why, row.head) for file, row in there if row is not None]
    first = next((torn for torn in found if torn.why), None)
    if strict and first is not None:
        raise SourceError(f"{first.path} cannot be read: {first.why}", hint="Repair the file, or leave it out.")
    return found


class _Alike(NamedTuple):
    """What torn files that are read together have in common: a kind, a header, and what names of folders speak of."""

    kind: str
    head: str | None
    said: tuple[str, ...]

    def read(self, session: Any, some: list[_TornFile], text: str | None) -> Given:
        """The records of some files."""
        values = {torn.path: torn.said for torn in some}
        schema = pa.schema([(name, pa.string()) for name in (LINE, FILE, *self.said)])
        frame = whole_files(session, [torn.file.address for torn in some])
        strings = Verbs.map_batches(frame, _Strings(self.kind, values, schema), ddl(schema))
        for key in self.said:
            if are_whole({known[key] for known in values.values()}):
                strings = strings.withColumn(key, strings[quoted(key)].cast("bigint"))
        name = as_name(some[0].file.address)
        if self.head is None:
            return Given(name, read_lines(strings, name, text), self.kind)
        header = next(csv.reader(io.StringIO(self.head, newline=""), delimiter=DELIMITERS[self.kind]))
        return Given(name, read_rows(strings, self.kind, header, name), self.kind)


def _path(file: PackedFile) -> str:
    """The path of a file, as tasks have it."""
    return on_disk(file.address)


def _read(kinds: Mapping[str, str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What is found of files: of CSV the header, and why they break off, if they do."""
    for name, _, path in at_hand(batches):
        head, reason = None, ""
        for records, why in _records(path, name, kinds[name]):
            if head is None and records and kinds[name] in DELIMITERS:
                head = records[0].decode("utf-8", "replace")
            reason = why or reason
        yield pa.RecordBatch.from_pylist([{"file": name, "why": reason, "head": head}], schema=_FOUND)


@dataclass(frozen=True)
class _Strings:
    """The records of files, and what the names of their folders say."""

    kind: str
    values: Mapping[str, Mapping[str, str]]
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name, _, path in at_hand(batches):
            said = [None if value == NULL else value for value in self.values[name].values()]
            first = int(self.kind in DELIMITERS)  # the header is none
            for records, _ in _records(path, name, self.kind):
                own, first = records[first:], 0 if records else first
                columns = [
                    pa.array(own, pa.binary()).view(pa.string()),
                    *(pa.repeat(pa.scalar(value, pa.string()), len(own)) for value in (name, *said)),
                ]
                yield pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _records(path: str, name: str, kind: str) -> Iterator[tuple[list[bytes], str]]:
    """The records of a file up to where it breaks off, some at a time, without their line ends; and why it does."""
    split: Callable[..., Any] = split_lines
    past: Callable[[], Any] = PastLine
    if kind in DELIMITERS:
        delimiter = ord(DELIMITERS[kind])
        split, past = partial(split_rows, delimiter), partial(PastRecord, delimiter)
    compression = COMPRESSIONS.get(PurePosixPath(name).suffix.lower())
    _, stream = without_bom(chunks(File(path), compression))
    for block in blocks(stream, split, past):
        if block.passing is not None:
            long = b"".join(block.passing.pieces)
            yield [long.rstrip(_LINE_ENDS)] if not block.passing.broken else [], ""
        else:
            why = unread_rest(block, name).reason if block.broken else ""
            yield [block.raw(number).rstrip(_LINE_ENDS) for number in range(len(block.records.starts))], why
