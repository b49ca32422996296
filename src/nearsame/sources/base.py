"""What a source is: something that yields its records once, and copies itself without some of them.

1. A part is one file (or one table, or standard input). `read` yields its readable records in order;
   what cannot be read is reported to `skip`, with its place, and takes up its position all the same.
2. `copy` writes the same format with the same columns and values, without the removed positions; a
   record that could not be read is copied as it is, unless its position is among the removed.
3. A part holds no open file between calls: it is a description, and can be sent elsewhere.
4. Nothing here knows what a duplicate is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.files.inputs import Files
from nearsame.named import NamedTuple
from nearsame.recipes.choices import Extract
from nearsame.schemas import BESIDE, ORDER

__all__ = [
    "BATCH_BYTES",
    "MAX_DOCUMENT",
    "MAX_RECORD",
    "NOT_READ",
    "NOT_UTF8",
    "Annotations",
    "Aside",
    "Columns",
    "Part",
    "RecordRoom",
    "Skip",
    "Skipped",
    "TextChange",
    "apart",
    "into",
]

BATCH_BYTES = 8 << 20  # of text in a batch, about: enough to share out, and what allocators keep for the next one

MAX_DOCUMENT = 10 << 20

MAX_RECORD = 64 << 20


class RecordRoom(NamedTuple):
    """What one record may take of the memory, and what preparing it takes."""

    num_bytes: int
    token_bytes: int = 0  # for each token
    of_chars: bool = False  # whether each character is one


@dataclass(frozen=True)
class Columns:
    """Which columns a run needs from its sources, and how their web pages are read."""

    text: str | None = None  # None: `text`, else `content`, else the only string column
    id: str | None = None  # None: `id` where there is one, else null ids (meaning `path:position`)
    order: tuple[str, ...] = ()  # the columns of --keep newest:COLUMN and the like; come by their names
    items: str | None = None  # a list column of ready features; comes as `items`, and no `text`
    vectors: str | None = None  # a list column of numbers; comes as `vector`, and no `text`
    beside: tuple[
        str, ...
    ] = ()  # what may be known besides the content, as strings: come by these names, where they are
    html: str | None = None  # a text column that holds markup; comes as `text`, and is to be read as a page
    extract: Extract = "main"  # how the text is taken out of pages: see stages/texts/page_text.py
    max_document: int = MAX_DOCUMENT  # bytes of a page that are read, decompressed
    asked_of_pages: tuple[str, ...] = ()  # which of these settings somebody asked for
    max_record: int = MAX_RECORD  # bytes of a record that is compared; a longer one stays as it is (limits.py)
    room: RecordRoom | None = None  # what one record may take of the memory
    bare: bool = False  # redirects and revisits of archives come too, without a text
    may_lack: bool = False  # whether a source may lack columns of `order`
    against_text: str | None = None  # of the `against` side, where it calls the text otherwise
    against_id: str | None = None  # and the id
    encoding: str | None = None  # of files of text; `auto`: as it looks; None: by the byte order mark, else UTF-8
    codes: str | None = None  # a column of codes of bits; comes as `code`, and no `text`
    bits: int = 0  # of a code
    decimal: bool = False  # whether texts of digits alone are decimal numbers: see codes.py
    exact: str | None = None  # of `order` the column that groups go by: two values that differ are never taken for one

    @property
    def no_text(self) -> str | None:
        """The column of what stands in place of a text; None where texts are read."""
        return self.items or self.vectors or self.codes

    def of_side(self, *, against: bool) -> "Columns":
        """The same for the sources of one side; what is named for the other side alone is not said of it."""
        if not against:
            return replace(self, against_text=None, against_id=None)
        text, identity = self.against_text or "", self.against_id or ""  # not None: what is missing is missing there
        return replace(self, text=text or self.text, id=identity or self.id, against_text=text, against_id=identity)


class Skipped(NamedTuple):
    """A record that could not be read."""

    source: str
    position: int | None  # None: the file as a whole, or its unread rest
    line: int | None  # 1-based, where the format has lines
    reason: str


NOT_UTF8 = "invalid UTF-8"  # how the reasons of such records begin
NOT_READ = "?"  # and behind it the encoding that a file looks like, if that can be told


class Aside(NamedTuple):
    """Something to count: a record of an archive that is not a document, by what it is, or a page that was `cut`."""

    what: str
    is_encoding: bool = False  # of a file that is not UTF-8; with NOT_READ before it: it could not be read for that
    source: str = ""  # of an encoding that a record looks like, which could not be read for that: its file


Skip = Callable[[Skipped | Aside], None]


def apart(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, dict[str, pa.Array], dict[str, pa.Array]]:
    """The columns of RECORDS, and by their names those of --keep and those beside: a URL may be called `id`, too."""
    marks = [field.metadata for field in batch.schema]
    own = batch.select([at for at, mark in enumerate(marks) if mark not in (ORDER, BESIDE)])
    orders, beside = (
        {batch.schema.names[at]: batch.column(at) for at, mark in enumerate(marks) if mark == which}
        for which in (ORDER, BESIDE)
    )
    if "mime" in own.schema.names:  # of pages, which say it themselves
        beside["mime"] = own.column("mime")
    return own, orders, beside


def into(skipped: list[Skipped]) -> Skip:
    """What adds the records that could not be read to a list, and counts nothing else."""

    def report(record: Skipped | Aside) -> None:
        if isinstance(record, Skipped):
            skipped.append(record)

    return report


@dataclass(frozen=True)
class Annotations:
    """The three columns of --annotate, by position: row i of a part has cluster[i], and so on."""

    cluster: pa.Array  # int64, null for a document that has no near-duplicate
    witness_id: pa.Array  # string, null for a kept document
    num_duplicates: pa.Array  # int64: how many documents this one is the witness of


class TextChange(Protocol):
    """What is done to the texts of a part as it is copied: see cutting.py."""

    spans: Mapping[int, Any]  # by the positions of the records that change
    columns: Columns

    def within(self, start: int, count: int) -> list[int]:
        """Those of these positions whose records change."""

    def text(self, position: int, text: str) -> str:
        """A text as it is to be."""

    def line(self, position: int, line: bytes, key: str) -> bytes:
        """A line of JSON, whose text is the string of this key."""

    def record(self, position: int, record: bytes, number: int, delimiter: str) -> bytes:
        """A record of CSV, whose text is the field of this number."""

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what `table` returns."""

    def table(self, table: pa.Table, start: int) -> pa.Table:
        """A table, whose first row has the position `start`, as it is to be."""


class Part(Protocol):
    """One file, table or stream of records."""

    @property
    def name(self) -> str:
        """What ids, reports and removed.parquet call it."""

    @property
    def target(self) -> str:
        """Its path below kept/."""

    @property
    def files(self) -> Files:
        """The files that it is read from."""

    @property
    def format(self) -> str:
        """What the list of sources of an output calls its format."""

    @property
    def pages(self) -> bool:
        """Whether its records are web pages, which come with a `body` in place of `text`."""

    def size_bytes(self) -> int | None:
        """Bytes on disk, where that is known without reading: for progress."""

    def text_bytes(self, columns: Columns) -> int:
        """About how many bytes of text (or ready items, or vectors) there are to read; 0 where nothing says."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""

    def require_unchanged(self, positions: npt.NDArray[np.int64] | None = None) -> None:
        """Refuse to go by positions (of a folder, by these) that were counted in other contents.

        Raises:
            SourceError: A file changed since then.
        """

    def take(self, positions: npt.NDArray[np.int64], others: npt.NDArray[np.int64], columns: Columns) -> pa.Table:
        """The records at these positions, ascending, with all their columns; `others` are those of all other records.

        Raises:
            SourceError: The file changed since the positions were counted.
        """

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the part to `target` without the `removed` positions (ascending), or with annotations.

        With `drop_unread` also without what has no position: the torn end of a stream, or a file that cannot be
        read at all, of which nothing is written.
        """
