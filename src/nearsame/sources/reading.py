"""Parts to numbered documents: the one place where rows get their numbers.

1. Rows are numbered in order of reading, from 0: the `against` side first, then the others, part by part.
2. Where a document came from is written down beside it, and so are the value that --keep goes by and what else is
   known besides its content (`Columns.beside`), null where its source has no such column. A column of --keep that a
   file does not have may be said by its folder (folder_keys.py).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing, schemas
from nearsame.arrow import held_bytes, numbers
from nearsame.clock import Progress, Silent
from nearsame.dataclass import dataclass
from nearsame.errors import ColumnError, SourceError
from nearsame.files.passed_over import PassedOver
from nearsame.sources.base import Aside, Columns, Part, Skip, Skipped, apart
from nearsame.sources.encoding_notes import encoding_notes
from nearsame.sources.folder import TextFolder, alike
from nearsame.sources.folder_keys import folder_names, folder_values, of_positions
from nearsame.sources.limits import require_room
from nearsame.sources.one_text import OneText
from nearsame.sources.ordering import one_order
from nearsame.sources.page_records import are_cut, as_pages

__all__ = ["Reading"]

_FEW_ROWS, _MOST_ROWS, _MOST_BYTES = 256, 1024, 1 << 20  # of small batches, and of those that are joined


@dataclass
class Reading:
    """Documents of two sides, to be iterated once; the other attributes are filled on the way."""

    parts: Sequence[Part]
    columns: Columns
    against: Sequence[Part] = ()
    batch_rows: int | None = None  # at most so many rows in a batch
    progress: Progress = field(default_factory=Silent)
    strict: bool = False
    raw_bytes: bool = False  # only equal bytes matter: files that equal no other need not be read
    num_against: int = 0
    num_documents: int = 0
    unread: dict[int, npt.NDArray[np.int64]] = field(default_factory=dict)  # positions that equal no other, by part
    skipped: list[Skipped] = field(default_factory=list)
    encodings: Counter[Aside] = field(default_factory=Counter)  # what was said of some that are not UTF-8
    aside: Counter[str] = field(default_factory=Counter)  # records of archives that are not documents, and pages cut
    unreadable: dict[int, list[int]] = field(default_factory=dict)  # positions of skipped records, by part
    _origins: list[pa.RecordBatch] = field(default_factory=list)
    _orders: list[dict[str, pa.Array]] = field(default_factory=list)
    _beside: list[tuple[pa.Array, ...]] = field(default_factory=list)  # by batch, a column for each name
    _text: OneText = field(default_factory=OneText)
    _vector: tuple[str, int] | None = None  # where the first vector is, and its length

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """DOCUMENTS batches (PAGES, where there are some; ITEMS, VECTORS or CODES, where the columns name these).

        Nothing is numbered that stands in no batch yet when one is given.
        """
        needed, small = self._needed(), _Small(min(self.batch_rows or _MOST_ROWS, _MOST_ROWS))
        for number, part in enumerate(self.all_parts):
            only = needed.get(number)
            skip = partial(self._skip, number)
            batches = self._read(number, part, skip, only)
            if isinstance(part, TextFolder) and only is not None:
                self.unread[number] = np.setdiff1d(np.arange(len(part.paths)), only)
            for batch in batches:
                waiting = list(self._pieces(batch))[::-1]
                del batch  # it may be large, and what is given is held by others as long as they need it
                while waiting:
                    piece = waiting.pop()
                    if not small.takes(piece):
                        yield from small.taken()
                    if small.takes(piece):
                        small.add(self._number(number, piece))
                    else:
                        yield self._number(number, piece)
            if number + 1 == len(self.against):
                yield from small.taken()
                self.num_against = self.num_documents
        yield from small.taken()

    def _read(
        self, number: int, part: Part, skip: Skip, only: npt.NDArray[np.int64] | None
    ) -> Iterator[pa.RecordBatch]:
        """The records of a part; it may lack columns of --keep, where another part of the judged side has them."""

        def read(columns: Columns) -> Iterator[pa.RecordBatch]:
            if isinstance(part, TextFolder) and only is not None:  # bytes are compared: no text is another's in UTF-16
                return part.read(replace(columns, encoding="utf-8"), skip, only)
            return part.read(columns, skip)

        lenient, num_skipped = replace(self.columns_of(number), may_lack=True), len(self.skipped)
        if number != len(self.against) or not self.columns.order or self.columns.may_lack:
            return read(lenient)
        batches, first = read(self.columns), list[pa.RecordBatch]()
        encodings = self.encodings.copy()
        try:
            first.append(next(batches))
        except StopIteration:
            self._require_orders()
        except ColumnError:
            del self.skipped[num_skipped:]
            self.unreadable.pop(number, None)
            self.encodings = encodings
            self._require_orders()
            return read(lenient)
        return _after(first, batches)

    def _require_orders(self) -> None:
        """Refuse a column of --keep that no part of the judged side has."""
        for name in self.columns.order:
            if any(values is not None for values in self._said[name][len(self.against) :]):
                continue
            lacking: list[ColumnError] = []
            for part in self.parts:
                try:
                    if next(part.read(replace(self.columns, order=(name,)), lambda _: None), None) is not None:
                        break
                except ColumnError as error:
                    lacking.append(error)
            else:
                if lacking:
                    said = folder_names(self.parts)
                    folders = f"; or what names of folders say: {', '.join(said)}." if said else "."
                    lacking[0].hint = lacking[0].hint.removesuffix(".") + folders
                    raise lacking[0]

    @cached_property
    def _said(self) -> dict[str, list[pa.Array | None]]:
        """Of each column of --keep what names of folders say, by part."""
        return {name: folder_values(name, self.all_parts) for name in self.columns.order}

    def columns_of(self, number: int) -> Columns:
        """What is read of a part."""
        return self.columns.of_side(against=number < len(self.against))

    @cached_property
    def all_parts(self) -> list[Part]:
        """The against side, then the other: `source` in ORIGINS counts in this list, which each batch asks for."""
        return [*self.against, *self.parts]

    @cached_property
    def pages(self) -> bool:
        """Whether batches are PAGES: some part holds web pages, or a column does."""
        native = any(getattr(part, "pages", False) for part in self.all_parts)
        return (native or self.columns.html is not None) and self.columns.no_text is None

    @property
    def num_unread(self) -> int:
        """Documents that have no row: they equal no other."""
        return sum(positions.size for positions in self.unread.values())

    @property
    def num_unread_against(self) -> int:
        """Of these, those of the against side."""
        return sum(positions.size for part, positions in self.unread.items() if part < len(self.against))

    @property
    def size_bytes(self) -> int | None:
        """Bytes on disk of all parts, where all are known."""
        sizes = [part.size_bytes() for part in self.all_parts]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def passed_over(self) -> PassedOver:
        """Files of folders and patterns that are not read."""
        sides = (getattr(side, "passed_over", PassedOver()) for side in (self.parts, self.against))
        return sum(sides, PassedOver())

    @property
    def notes(self) -> tuple[str, ...]:
        """How files were read that are not UTF-8, and what could not be read for that."""
        return encoding_notes(self.encodings)

    @property
    def origins(self) -> pa.Table:
        """ORIGINS of all documents, by row."""
        return pa.Table.from_batches(self._origins, schema=schemas.ORIGINS)

    def let_go(self) -> pa.Table:
        """ORIGINS of what was read since the last call, which nobody asks for again."""
        origins = self.origins
        self._origins.clear()
        return origins

    @property
    def orders(self) -> dict[str, pa.ChunkedArray]:
        """The columns of --keep, by row."""
        names = [self.all_parts[batch.column("source")[0].as_py()].name for batch in self._origins]
        columns = {name: [orders[name] for orders in self._orders] for name in self.columns.order}
        return {name: one_order(arrays, names, name) for name, arrays in columns.items()}

    def beside(self, name: str) -> pa.ChunkedArray:
        """One of the columns that `Columns.beside` names, by row."""
        number = self.columns.beside.index(name)
        return pa.chunked_array([batch[number] for batch in self._beside], pa.string())

    def require_unchanged(self) -> None:
        """Refuse to go by what was counted in files that have changed; those of a folder are looked at one by one.

        Raises:
            SourceError: A file changed.
        """
        for part in self.all_parts:
            part.require_unchanged()

    def _needed(self) -> dict[int, npt.NDArray[np.int64]]:
        """Of each part the positions that have to be read, where others can be ruled out unread."""
        folders = [part for part in self.all_parts if isinstance(part, TextFolder)]
        if not self.raw_bytes or self.pages or len(folders) < len(self.all_parts):
            return {}
        return dict(enumerate(alike(folders)))

    def _skip(self, number: int, skipped: Skipped | Aside) -> None:
        if isinstance(skipped, Aside):
            if skipped.is_encoding:
                self.encodings[skipped] += 1
            else:
                self.aside[skipped.what] += 1
            return
        if self.strict:
            line = "" if skipped.line is None else f", line {skipped.line}"
            record = "" if line or skipped.position is None else f", record {skipped.position}"
            place = f"{skipped.source}{line}{record}"
            raise SourceError(f"{place}: {skipped.reason}", hint="Fix the record, or leave out --strict to skip it.")
        self.skipped.append(skipped)
        if skipped.position is not None:
            self.unreadable.setdefault(number, []).append(skipped.position)

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        step = self.batch_rows or max(1, len(batch))
        for start in range(0, len(batch), step):
            yield batch.slice(start, step)

    def _number(self, source: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Give the records their rows."""
        self._text.require(batch, self.all_parts[source].name, against=source < len(self.against))
        batch, orders, beside = apart(batch)
        rows = numbers(np.arange(self.num_documents, self.num_documents + len(batch)))
        self.num_documents += len(batch)
        sources = numbers(np.full(len(batch), source, np.int32))
        self._origins.append(
            pa.RecordBatch.from_arrays(
                [rows, sources, batch.column("position"), batch.column("id")], schema=schemas.ORIGINS
            )
        )
        if self.columns.order:
            self._orders.append(
                {name: orders[name] if name in orders else self._of_folders(name, source, batch) for name in self._said}
            )
        if self.columns.beside:
            nulls = pa.nulls(len(batch), pa.string())
            self._beside.append(tuple(beside.get(name, nulls) for name in self.columns.beside))
        if self.pages:
            if num_cut := int(are_cut(batch, self.columns).sum()):
                self.aside["cut"] += num_cut
            pages = as_pages(rows, batch, self.columns)
            self.progress.add(len(batch), computing.sum_(computing.binary_length(pages.column("body"))).as_py() or 0)
            return pages
        name, schema = self._content
        content = batch.column(name)
        if name == "text":
            positions, part = batch.column("position"), self.all_parts[source].name
            require_room(content, self.columns, lambda row: f"{part}, record {positions[row]}")
        if name == "vector":
            self._check_lengths(source, batch)
        if name == "text":
            self.progress.add(len(batch), computing.sum_(computing.binary_length(content)).as_py() or 0)
        else:
            self.progress.add(len(batch), 0)
        return pa.RecordBatch.from_arrays([rows, content], schema=schema)

    def _of_folders(self, name: str, source: int, batch: pa.RecordBatch) -> pa.Array:
        """What names of folders say of some records, whose file has no such column; nulls, where they say nothing."""
        values, part = self._said[name][source], self.all_parts[source]
        positions = batch.column("position").to_numpy()
        return pa.nulls(len(batch)) if values is None else of_positions(values, part, positions)

    @property
    def _content(self) -> tuple[str, pa.Schema]:
        if self.columns.vectors is not None:
            return "vector", schemas.VECTORS
        if self.columns.codes is not None:
            return "code", schemas.CODES
        return ("text", schemas.DOCUMENTS) if self.columns.items is None else ("items", schemas.ITEMS)

    def _check_lengths(self, source: int, batch: pa.RecordBatch) -> None:
        """Raise a SourceError at the first vector whose length is not that of the first of all."""
        lengths = computing.list_value_length(batch.column("vector")).fill_null(0).to_numpy()
        for at in np.flatnonzero((lengths > 0) & (lengths != (self._vector or ("", 0))[1]))[:1].tolist():
            place = f"{self.all_parts[source].name}, record {batch.column('position')[at]}"
            if self._vector is None:
                self._vector = place, int(lengths[at])
                self._check_lengths(source, batch)
            else:
                first, length = self._vector
                message = f"{place}: a vector of {lengths[at]} numbers, where that of {first} has {length}"
                raise SourceError(message, hint="Give vectors of one length, from one model.")


@dataclass
class _Small:
    """Small batches that come one after the other, of files with few records: each costs the same, so they are joined.

    Attributes:
        most_rows: of what is joined.
    """

    most_rows: int
    _batches: list[pa.RecordBatch] = field(default_factory=list)
    _rows: int = 0
    _bytes: int = 0

    def takes(self, batch: pa.RecordBatch) -> bool:
        """Whether a batch is small, and there is room for it."""
        if len(batch) > _FEW_ROWS or self._rows + len(batch) > self.most_rows:
            return False
        return self._bytes + held_bytes(batch) <= _MOST_BYTES

    def add(self, batch: pa.RecordBatch) -> None:
        """Keep it until others are there."""
        self._batches.append(batch)
        self._rows += len(batch)
        self._bytes += held_bytes(batch)

    def taken(self) -> Iterator[pa.RecordBatch]:
        """What is there, as one batch, if there is something."""
        batches, self._batches, self._rows, self._bytes = self._batches, [], 0, 0
        if batches:
            yield batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _after(first: list[pa.RecordBatch], others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The first batches, which nobody holds any longer, and the others."""
    while first:
        yield first.pop()
    yield from others
