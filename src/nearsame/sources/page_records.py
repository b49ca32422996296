"""Pages as records: a body, what its header says of it, and what is known beside it.

1. `body`, `charset` and `mime` stand in place of `text`, which a stage takes out of them (texts/page_text.py).
2. What is known beside a page are strings by the names of BESIDE.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame import computing
from nearsame.files.formats import PAGES as MIME_TYPES
from nearsame.named import NamedTuple
from nearsame.schemas import BESIDE as MARK
from nearsame.schemas import ORDER, PAGES, RECORDS
from nearsame.sources.base import BATCH_BYTES, Columns, Part
from nearsame.sources.columns import BATCH_ROWS, Chosen
from nearsame.sources.limits import while_room
from nearsame.sources.markup import about_page

__all__ = ["BESIDE", "MHTML", "Batched", "PageRecord", "are_cut", "as_pages", "is_page", "page_of_file", "pages_at"]

BESIDE = (
    "url", "title", "canonical", "status", "mime", "record_type", "date", "redirect", "payload_digest", "revisit_of",
    "revisit_date", "record_id",
)  # fmt: skip
MHTML = MIME_TYPES[".mhtml"]
_FIRST_BYTES = 4 << 20


class PageRecord(NamedTuple):
    """One document as it came."""

    body: bytes | None
    charset: str | None
    mime: str | None
    values: dict[str, str | None]  # by the names of BESIDE
    cut: bool = False


class Batched:
    """Pages gathered to RECORDS batches; the first ones are small, so that work on them begins early."""

    def __init__(self, chosen: Chosen, columns: Columns) -> None:
        self._chosen = chosen
        self._beside = tuple(name for name in columns.beside if name in BESIDE)
        self._rows: list[tuple[int, str | None, PageRecord]] = []
        self._size = 0
        self._most = min(_FIRST_BYTES, BATCH_BYTES)

    def add(self, position: int, page: PageRecord, path: str | None = None) -> Iterator[pa.RecordBatch]:
        """Add a page (of a file by its path); gives a batch where that makes one full."""
        size = len(page.body or b"")
        if self._rows and (self._size + size > self._most or len(self._rows) == BATCH_ROWS):
            yield from self.close()
            self._most = min(2 * self._most, BATCH_BYTES)
        self._rows.append((position, path, page))
        self._size += size

    def close(self) -> Iterator[pa.RecordBatch]:
        """A last batch of the pages that no full batch took; nothing, where none are left."""
        if not self._rows:
            return
        pages = [page for _, _, page in self._rows]
        text = self._chosen.text
        plain = text if text in BESIDE else None  # what is known beside the pages is to be read in their place
        content = [RECORDS.field("text")] if plain else list(PAGES)[1:]
        names = [RECORDS.field("position"), RECORDS.field("id"), *content]
        columns = [
            pa.array([position for position, _, _ in self._rows], pa.int64()),
            pa.array([self._id(path, page) for _, path, page in self._rows], pa.string()),
        ]
        if plain:
            columns.append(pa.array([page.values.get(plain) for page in pages], pa.large_string()))
        else:
            columns.append(_binaries([page.body for page in pages]))
            columns.append(pa.array([page.charset for page in pages], pa.string()))
            columns.append(pa.array([page.mime for page in pages], pa.string()))
        beside = [name for name in self._beside if name != "mime" or plain]  # else it stands there already
        for mark, others in ((ORDER, self._chosen.order), (MARK, beside)):
            names += [pa.field(name, pa.string(), metadata=mark) for name in others]
            columns += [pa.array([page.values.get(name) for page in pages], pa.string()) for name in others]
        self._rows, self._size = [], 0
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(names))

    def _id(self, path: str | None, page: PageRecord) -> str | None:
        """A file's path, a record's URL, or the column that was asked for."""
        name = self._chosen.id
        return (path if path is not None else page.values.get("url")) if name in {None, "id"} else page.values.get(name)


def is_page(path: str) -> str | None:
    """The media type of a web page, by its name; None for any other file."""
    return MIME_TYPES.get(PurePosixPath(path).suffix.lower())


def as_pages(rows: pa.Array, batch: pa.RecordBatch, columns: Columns) -> pa.RecordBatch:
    """PAGES of RECORDS of any kind: texts are marked as such, and a column of markup as HTML."""
    if "body" in batch.schema.names:
        content = [batch.column(name) for name in ("body", "charset", "mime")]
    else:
        body = batch.column("text").cast(pa.large_string()).view(pa.large_binary())
        kind = pa.repeat("text/html", len(batch)) if columns.html else pa.nulls(len(batch), pa.string())
        charset = pa.repeat("utf-8", len(batch)) if columns.html else pa.nulls(len(batch), pa.string())
        content = [_cut(body, columns.max_document) if columns.html else body, charset, kind]
    return pa.RecordBatch.from_arrays([rows, *content], schema=PAGES)


def are_cut(batch: pa.RecordBatch, columns: Columns) -> npt.NDArray[np.bool_]:
    """Which RECORDS lose what is behind `max_document`: of markup; other pages are cut where they are read."""
    if columns.html is None or "body" in batch.schema.names:
        return np.zeros(len(batch), np.bool_)
    sizes = computing.binary_length(batch.column("text")).fill_null(0).to_numpy(zero_copy_only=False)
    return np.asarray(sizes > columns.max_document)


def _binaries(values: list[bytes | None]) -> pa.Array:
    """The same as a column: pages are large, and a builder would copy them several times."""
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum([len(value or b"") for value in values], out=offsets[1:])
    data = pa.py_buffer(b"".join(value or b"" for value in values))
    valid = pa.array([value is not None for value in values]).buffers()[1] if None in values else None
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(values), [valid, pa.py_buffer(offsets), data])


def _cut(body: pa.Array, most: int) -> pa.Array:
    if (computing.max_(computing.binary_length(body)).as_py() or 0) <= most:
        return body
    return pa.array([value and value[:most] for value in body.to_pylist()], pa.large_binary())


def page_of_file(data: bytes, mime: str, columns: Columns) -> PageRecord:
    """The page that a file holds; MHTML unpacked.

    Raises:
        ValueError: It is MHTML without a page, or cut.
    """
    if mime == MHTML:
        return _unpacked(data, columns)
    body = data[: columns.max_document]
    return PageRecord(body, None, mime, {"mime": mime, **_about(body, None, None, columns)}, len(data) > len(body))


def _unpacked(data: bytes, columns: Columns) -> PageRecord:
    from nearsame.sources.mhtml import unpacked  # noqa: PLC0415  (a library that few runs need)

    page = unpacked(data)
    values = {"url": page.url, "mime": page.mime, "date": page.date}
    cut = page.body[: columns.max_document]
    about = {**values, **_about(cut, page.charset, page.url, columns)}
    return PageRecord(cut, page.charset, page.mime, about, len(page.body) > len(cut))


def _about(body: bytes, charset: str | None, url: str | None, columns: Columns) -> dict[str, str | None]:
    if {"title", "canonical"}.isdisjoint({*columns.beside, *columns.order, columns.id, columns.text}):
        return {}
    title, canonical = about_page(body, charset, url)
    return {"title": title, "canonical": canonical}


def pages_at(part: Part, positions: npt.NDArray[np.int64], columns: Columns) -> pa.Table:
    """Pages with all that is known of them; `body` and `charset` have still to become a text."""
    wanted = replace(columns, beside=BESIDE, order=())

    def chosen(batch: pa.RecordBatch) -> pa.Table:
        at = np.isin(batch.column("position").to_numpy(), positions)
        return pa.Table.from_batches([batch.filter(pa.array(at))])

    tables = list(while_room(map(chosen, part.read(wanted, lambda _: None)), part.name, again=1))  # bodies, then texts
    table = pa.concat_tables(tables) if tables else pa.table({})
    return table.drop_columns(["position"] if "position" in table.column_names else [])
