"""Web archives as DataFrames: each file is read by one task, with the reader of one machine, and its records are rows.

1. A file on a disk is opened where it lies. One in another store comes to its task whole, and is put on the disk there.
2. A row says where its record stands, and what is known of it; its body is read, digested, and stays in the task. Who
   asks for texts gets them beside the same columns, taken out of the pages by the same task; layers, which compare
   bytes first, get the pages as they came (pages.py).
3. Records stand in an order, that of their files' paths and of their places in them: by it ties are broken last, as on
   one machine.
4. What is damaged, or no document, is counted by a pass of its own, and has no row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Literal, cast

import pyarrow as pa
import pyarrow.compute as pc

from nearsame import schemas
from nearsame.dataclass import dataclass
from nearsame.engines.spark.mapping import ddl
from nearsame.engines.spark.reading import Given
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.files.compressions import Compression
from nearsame.files.formats import BY_SUFFIX
from nearsame.files.systems import File
from nearsame.frames.inputs import ORDERED, FramePart
from nearsame.sources import Columns, Skipped, Wanted
from nearsame.sources.base import Aside
from nearsame.sources.columns import choose
from nearsame.sources.page_records import BESIDE
from nearsame.sources.wacz import Wacz
from nearsame.sources.warc import BY_MEMBER, WebArchive
from nearsame.stages.texts.page_text import PageTexts

__all__ = ["LISTED", "at_hand", "part_of_archives"]

LISTED = ("file", "position", "offset", "length", "id")  # where a record stands, and what it is called
_PARSED = ("title", "canonical")  # what one must parse a page for: only if somebody asks
_PLACES = [("file", pa.string()), *((name, pa.int64()) for name in LISTED[1:4]), ("id", pa.string())]
_DIGEST = ("content_digest", pa.string())
_POSITION_BITS = 40
_COUNTS = pa.schema([("file", pa.string()), ("what", pa.string()), ("number", pa.int64()), ("why", pa.string())])
Batches = Iterator[pa.RecordBatch]


def part_of_archives(given: Given, columns: Columns, first: int, *, strict: bool, as_they_came: bool) -> FramePart:
    """The records of some archives, looked at.

    Args:
        given: The archives.
        columns: The columns that are asked for.
        first: The number of their first file among all of the side.
        strict: Whether damage is an error.
        as_they_came: Whether pages are asked for with all that is known of them, and not the texts in them.

    Raises:
        ColumnError: A column is asked for that records of archives have not.
        SourceError: With `strict`, one is damaged.
    """
    chosen = choose(columns, ("id", "text", *BESIDE), ("text",), given.name)
    asked = {*columns.beside[: None if as_they_came else 1], *chosen.order, chosen.text, chosen.id}
    names = tuple(name for name in BESIDE if name not in _PARSED or name in asked)
    paths = given.frame.select("path").toArrow().column("path").to_pylist()
    paths.sort(key=lambda path: (_number_of(path, given.roots), path))
    numbers = {path: first + number for number, path in enumerate(paths)}
    reading = _Reading(replace(columns, text=None, order=(), beside=names), numbers)
    frame = Verbs.map_batches(given.frame, reading, reading.ddl)
    of_pages = chosen.text == "text"
    with_pages = replace(reading, pages="bodies" if as_they_came else "texts")
    pages = Verbs.map_batches(given.frame, with_pages, with_pages.ddl)
    counts = Verbs.map_batches(given.frame, partial(_counted, reading.columns), ddl(_COUNTS))
    counts = counts.withColumn("file", Verbs.expression("if(what is null, file, null)"))  # of damage only
    rows = Verbs.aggregated(counts, ["file", "what"], ["sum(number) as number", "min(why) as why"]).collect()
    damaged = tuple(sorted((row.file, row.number, row.why) for row in rows if row.what is None))
    if strict and damaged:
        file, _, why = damaged[0]
        raise SourceError(f"{file}: {why}", hint="Repair the file, or leave out strict.")
    return FramePart(
        given.name,
        frame,
        chosen._replace(id="id", beside=tuple(name for name in columns.beside if name in names)),
        dict.fromkeys(chosen.order, "string"),
        unread=tuple((file, number, _said(number, why)) for file, number, why in damaged),
        ignored=given.ignored,
        files=given.frame.selectExpr("path as file", "length as size_bytes", "modified as mtime_ms"),
        paths=tuple(paths),
        pages=pages if of_pages else None,
        aside=Counter({row.what: row.number for row in rows if row.what is not None}),
    )


def _number_of(path: str, roots: Mapping[str, int]) -> int:
    """Which of several paths that were given leads to a file first.

    >>> _number_of("s3a://a/b/c.warc", {"/x": 0, "s3a://a/b": 1, "s3a://a/b/c.warc": 2})
    1
    """
    ends = [at for at, letter in enumerate(path) if letter == "/"] if roots else []
    return min((roots[way] for way in (path, *(path[:end] for end in ends)) if way in roots), default=0)


def _said(number: int, why: str) -> str:
    return why if number == 1 else f"{number:,} places are not readable, such as: {why}"


@dataclass(frozen=True)
class _Reading:
    """Files, each with its number, to the documents in them, and what of their pages is asked for."""

    columns: Columns
    numbers: Mapping[str, int]
    pages: Literal["bodies", "texts"] | None = None

    @property
    def fields(self) -> list[tuple[str, pa.DataType]]:
        """What is known of a document."""
        known = ((name, pa.string()) for name in (*self.columns.beside, "charset"))
        return [*_PLACES, *known, _DIGEST, (ORDERED, pa.int64())]

    @property
    def ddl(self) -> str:
        """The same as Spark writes it, and what is asked for of pages."""
        more = {
            None: "",
            "bodies": ", text binary",
            "texts": ", text string, found tinyint, bounded boolean, cut boolean",
        }
        return ddl(pa.schema(self.fields)) + more[self.pages]

    def __call__(self, batches: Batches) -> Batches:
        extract = PageTexts(self.columns.extract) if self.pages == "texts" else None
        for name, size, path in at_hand(batches):
            part = _opened(path, name, [])
            for batch in part.read(self.columns, lambda _: None):
                yield self._rows(batch, part, size, extract)

    def _rows(self, batch: pa.RecordBatch, part: WebArchive, size: int, extract: PageTexts | None) -> pa.RecordBatch:
        positions = batch.column("position")
        known = dict(zip(batch.schema.names, batch.columns, strict=True))
        bodies = (None if body is None else bytes(body) for body in batch.column("body").to_pylist())
        digests = [None if body is None else sha256(body).hexdigest() for body in bodies]
        places = dict(zip(("offset", "length"), _places(part, positions, size), strict=True))
        known |= places | {"file": pa.repeat(part.name, len(batch)), _DIGEST[0]: pa.array(digests, pa.string())}
        known[ORDERED] = pc.add(positions, self.numbers[part.name] << _POSITION_BITS)
        columns = {name: known[name].cast(kind) for name, kind in self.fields}
        if self.pages == "bodies":
            columns["text"] = known["body"]
        if extract is not None:
            pages = pa.RecordBatch.from_arrays(
                [positions, *(known[name] for name in ("body", "charset", "mime"))], schema=schemas.PAGES
            )
            made = extract(pages)
            columns |= {name: made.column(name) for name in ("text", "found", "bounded")}
            columns["cut"] = pa.repeat(False, len(batch))
        return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])


def _counted(columns: Columns, batches: Batches) -> Batches:
    """What is no document, by what it is; what is damaged, with the first reason."""
    for name, _, path in at_hand(batches):
        seen: Counter[str | None] = Counter()
        reasons: list[str] = []

        def note(record: Skipped | Aside) -> None:
            if isinstance(record, Aside):
                seen[record.what] += 1  # noqa: B023  (called before the next file)
            else:
                seen[None] += 1  # noqa: B023  (likewise)
                reasons.append(record.reason)  # noqa: B023  (likewise)

        for _ in _opened(path, name).read(replace(columns, beside=()), note):
            pass
        rows = [(name, what, number, reasons[0] if what is None else None) for what, number in seen.items()]
        yield pa.RecordBatch.from_pylist([dict(zip(_COUNTS.names, row, strict=True)) for row in rows], schema=_COUNTS)


def at_hand(batches: Batches) -> Iterator[tuple[str, int, str]]:
    """Of each file its name, its bytes, and the path where it lies on this machine meanwhile."""
    for batch in batches:
        for address, size, content in zip(*map(batch.column, ("path", "length", "content")), strict=True):
            name = address.as_py()
            if not content.is_valid:
                yield name, size.as_py(), name
                continue
            with TemporaryDirectory(prefix="nearsame-") as home:
                copy = Path(home) / PurePosixPath(name).name
                copy.write_bytes(content.as_buffer())
                yield name, size.as_py(), str(copy)


def _places(part: WebArchive, positions: pa.Array, size: int) -> list[pa.Array]:
    """Offset and length of records that are read; null where they share a member, or lie in what is packed whole."""
    if isinstance(part, Wacz):
        return [pa.nulls(len(positions), pa.int64())] * 2
    after = pa.array([*(part.offsets or ()), size if part.compression in BY_MEMBER else None], pa.int64())
    starts = after.take(positions)
    lengths = pc.subtract(after.take(pc.add(positions, 1)), starts)
    return [starts, pc.if_else(pc.greater(lengths, 0), lengths, pa.scalar(None, pa.int64()))]


def _opened(path: str, name: str, offsets: list[int] | None = None) -> WebArchive:
    suffix, compression = Wanted().form(path)
    form, packing = BY_SUFFIX[str(suffix)], cast("Compression | None", compression)
    reader = Wacz if form.name == "wacz" else WebArchive
    return reader(File(path), name, name, form.name, packing, lenient=True, offsets=offsets, **form.settings)
