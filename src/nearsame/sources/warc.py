"""A web archive: its 200 responses of textual types, resources and conversions (WET) are documents.

1. Every record has a position, requests and metadata too; what is no document is counted by what it is, and stays.
2. With a removed response go the request and metadata that were written for it, and the revisits that have no other
   content than its own.
3. A copy holds the other records' bytes as they were: whole compressed members where each record has its own, else
   the records' bytes, compressed again.
4. A body is decoded (chunks, gzip, deflate, brotli, zstd) up to `Columns.max_document` bytes; more is cut, and counted.
"""

import contextlib
import gzip
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from nearsame.sources import archives, http
from nearsame.sources.base import Annotations, Aside, Columns, Skip, Skipped
from nearsame.sources.columns import choose
from nearsame.sources.files import File
from nearsame.sources.markup import HTML, about_page, absolute, link_canonical, resiliparse
from nearsame.sources.page_records import BESIDE, Batched, PageRecord, pages_at
from nearsame.sources.parts import FilePart, strictly
from nearsame.sources.streams import BrokenStreamError, looks_compressed, sink, unused
from nearsame.sources.tables import ANNOTATIONS, values_of

__all__ = ["WebArchive"]

_TEXTS = frozenset({"application/xhtml+xml", "application/xml"})
_NO_TEXTS = frozenset({"text/css", "text/javascript", "text/ecmascript", "text/x-javascript"})
_OVERHEAD = 1 << 20  # of headers and chunks, beside the body
_BY_MEMBER = frozenset({None, "gzip", "zstd", "lz4"})  # what FastWARC reads by itself


class _Place(NamedTuple):
    """What a copy needs to know of a record."""

    offset: int
    kind: str
    id: str
    target: tuple[str, str]  # URL and date
    refers_to: tuple[str, ...]
    refers_to_target: tuple[str, str]


@dataclass(frozen=True)
class WebArchive(FilePart):
    """A WARC, WET or ARC file."""

    form: str = archives.WARC

    pages: ClassVar[bool] = True  # its records are PAGES, not texts
    copied_last: ClassVar[bool] = True  # annotations take a name that no copy has

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The documents, in order, as RECORDS batches with `body`, `charset` and `mime` in the place of `text`."""
        skip = strictly(skip, strict=self.strict)
        chosen = choose(columns, ("id", "text", *BESIDE), ("text",), self.name)
        batched = Batched(chosen, columns)
        wanted = {name for name in (chosen.text, chosen.id, chosen.order, *columns.beside) if name is not None}
        broken: list[str] = []
        with self._opened(skip, broken) as path:
            for position, record in enumerate(self._walked(path, columns)):
                if record.kind == archives.DAMAGE:
                    skip(Skipped(self.name, position, None, f"at byte {record.offset:,}: {record.reason}"))
                    broken.clear()  # it is told by this
                    continue
                page = _page(record, columns, wanted)
                if isinstance(page, str):
                    skip(Aside(page))
                    continue
                if page.cut:
                    skip(Aside("cut"))
                yield from batched.add(position, page)
        for reason in broken:
            skip(Skipped(self.name, None, None, f"unread from here on: {reason}"))
        yield from batched.close()

    def take(
        self,
        positions: npt.NDArray[np.int64],
        others: npt.NDArray[np.int64],  # noqa: ARG002  (records are read again)
        columns: Columns,
    ) -> pa.Table:
        """The pages at these positions, with all that is known of them."""
        self.require_unchanged()
        return pages_at(self, positions, columns)

    def table(self, file: File) -> pa.Table:
        """No table: what is taken of an archive are its pages."""
        raise TypeError(f"{file.url} is an archive of pages")

    @contextlib.contextmanager
    def _opened(self, skip: Skip, broken: list[str]) -> Iterator[str | None]:
        """The path of the file, decompressed where need be; None, and a skip, where nothing of it can be."""
        with contextlib.ExitStack() as stack:
            try:
                path = stack.enter_context(self._path(broken))
            except BrokenStreamError as error:
                path = None
                if looks_compressed(self.file, str(self.compression)):
                    skip(Skipped(self.name, None, None, f"unread from here on: {error}"))
                else:
                    self._undecompressed(error, skip)
            yield path

    def _walked(self, path: str | None, columns: Columns) -> Iterator[archives.Archived]:
        return iter(()) if path is None else archives.walk(path, self.form, columns.max_document + _OVERHEAD)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the other records, or all of them with annotations.jsonl beside; what cannot be read, as it is."""
        self.require_unchanged()
        with self._opened(lambda _: None, []) as path:
            if path is None:
                self.copy_unread(target, drop=drop_unread)
                return
            places = self._places(path)
            offsets = [place.offset for place in places]
            gone = _with_companions(places, removed)
            if all(a < b for a, b in itertools.pairwise(offsets)) and self.compression in _BY_MEMBER:
                _copy_spans(path, offsets, gone, target)
            else:
                self._copy_packed(gone, target)
        if annotations is not None:
            self._annotate(target, places, gone, annotations)

    def labels(self) -> list[tuple[str, str]]:
        """Id and URL of each record, in order, documents or not: what its annotations call it."""
        with self._opened(lambda _: None, []) as path:
            return [] if path is None else [(place.id, place.target[0]) for place in self._places(path)]

    def _path(self, broken: list[str]) -> Any:
        return archives.local(self.file, None if self.compression in _BY_MEMBER else self.compression, broken)

    def _places(self, path: str) -> list[_Place]:
        return [_place(record) for record in archives.walk(path, self.form, 1)]

    def _copy_packed(self, gone: set[int], target: Path) -> None:
        """The same where several records share a member: from a decompressed copy."""
        with archives.local(self.file, self.compression or "gzip") as path:
            offsets = [place.offset for place in self._places(path)]
            if self.compression in {None, "gzip"}:
                _copy_spans(path, offsets, gone, target, lambda raw: gzip.compress(raw, 6, mtime=0))
            else:
                _copy_spans(path, offsets, gone, target, None, self.compression)

    def _annotate(self, target: Path, places: list[_Place], gone: set[int], annotations: Annotations) -> None:
        columns = [column.to_pylist() for column in values_of(annotations, 0, len(places))]
        with sink(unused(target.with_name(f"{target.name}.annotations.jsonl")), None) as out:
            for position, place in enumerate(places):
                if position not in gone:
                    values = dict(zip(ANNOTATIONS.names, (column[position] for column in columns), strict=True))
                    known = {"position": position, "record_id": place.id, "url": place.target[0]}
                    out.write(orjson.dumps({**known, **values}) + b"\n")


def _copy_spans(  # noqa: PLR0913, PLR0917  (what is copied, without what, whereto, how it is packed)
    path: str,
    offsets: list[int],
    gone: set[int],
    target: Path,
    pack: Callable[[bytes], bytes] | None = None,
    compression: str | None = None,
) -> None:  # fmt: skip
    with Path(path).open("rb") as raw, sink(target, compression) as out:
        size = raw.seek(0, 2)
        for position, (start, end) in enumerate(itertools.pairwise([*offsets, size] if offsets else [0, size])):
            if position in gone:
                continue
            first = 0 if position == 0 else start
            raw.seek(first)
            if pack is None:
                for at in range(first, end, 4 << 20):
                    out.write(raw.read(min(4 << 20, end - at)))
            else:
                out.write(pack(raw.read(end - first)))


def _place(record: archives.Archived) -> _Place:
    headers = record.headers
    refers = tuple(headers[name] for name in ("warc-concurrent-to", "warc-refers-to") if name in headers)
    target = (headers.get("warc-target-uri", ""), headers.get("warc-date", ""))
    origin = (headers.get("warc-refers-to-target-uri", ""), headers.get("warc-refers-to-date", ""))
    return _Place(record.offset, record.kind, headers.get("warc-record-id", ""), target, refers, origin)


def _with_companions(places: list[_Place], removed: npt.NDArray[np.int64]) -> set[int]:
    """The positions that go: those that are removed, and what means nothing without them."""
    gone = {position for position in removed.tolist() if position < len(places)}
    lost = [places[position] for position in gone if places[position].kind != archives.DAMAGE]
    ids = {place.id for place in lost} - {""}
    targets = {place.target for place in lost} - {("", "")}
    for position, place in enumerate(places):
        about = bool(ids.intersection(place.refers_to))
        if (place.kind in {"request", "metadata"} and about) or (
            place.kind == "revisit" and (about or place.refers_to_target in targets)
        ):
            gone.add(position)
    return gone


def _page(record: archives.Archived, columns: Columns, wanted: set[str]) -> PageRecord | str:
    """The document of a record; of what is none, what it is."""
    match record.kind:
        case "response":
            found = http.response(record.block, columns.max_document)
            if found is None:
                return _plain(record, columns, wanted)
            return _responded(record, found, columns, wanted)
        case "resource" | "conversion":
            return _plain(record, columns, wanted)
        case "revisit" if columns.bare:
            return PageRecord(None, None, None, _values(record, wanted) | _revisited(record))
        case kind:
            return f"record {kind}"


def _responded(record: archives.Archived, found: http.Response, columns: Columns, wanted: set[str]) -> PageRecord | str:
    status, headers = found.status or 0, found.headers
    if status != 200:
        if columns.bare and 300 <= status < 400:
            target = absolute(headers.get("location"), record.headers.get("warc-target-uri"))
            return PageRecord(None, None, None, _values(record, wanted) | {"redirect": target, "status": str(status)})
        return f"status {status}"
    kind = headers.get("content-type", "")
    mime = http.media_type(kind) or record.headers.get("warc-identified-payload-type", "").lower()
    mime = mime or _sniffed(found.body.data)
    if not _is_text(mime):
        return f"type {mime}"
    charset = http.charset_of(kind)
    cut = found.body.cut or len(record.block) < record.length
    values = _values(record, wanted) | {"status": str(status), "mime": mime}
    if not {"title", "canonical"}.isdisjoint(wanted) and mime in HTML:
        title, canonical = about_page(found.body.data, charset, values["url"], title="title" in wanted)
        values |= {"title": title, "canonical": canonical or link_canonical(headers.get("link", ""), values["url"])}
    return PageRecord(found.body.data, charset, mime, values, cut)


def _plain(record: archives.Archived, columns: Columns, wanted: set[str]) -> PageRecord | str:
    """A record whose block is the document itself."""
    kind = record.headers.get("content-type", "")
    body = record.block[: columns.max_document]
    mime = http.media_type(kind) or _sniffed(body)
    scheme = record.headers.get("warc-target-uri", "").partition(":")[0]
    if scheme in {"dns", "metadata", "filedesc"}:
        return f"record {scheme}"
    if not _is_text(mime):
        return f"type {mime}"
    charset = http.charset_of(kind) or ("utf-8" if record.kind == "conversion" else None)
    values = _values(record, wanted) | {"mime": mime}
    if not {"title", "canonical"}.isdisjoint(wanted) and mime in HTML:
        values["title"], values["canonical"] = about_page(body, charset, values["url"], title="title" in wanted)
    return PageRecord(body, charset, mime, values, record.length > len(body))


def _values(record: archives.Archived, wanted: set[str]) -> dict[str, str | None]:
    headers = record.headers
    return {
        "url": _unbracketed(headers.get("warc-target-uri")),
        **({"date": headers.get("warc-date")} if "date" in wanted else {}),
        **({"record_id": headers.get("warc-record-id")} if "record_id" in wanted else {}),
        **({"payload_digest": headers.get("warc-payload-digest")} if "payload_digest" in wanted else {}),
        **({"record_type": record.kind} if "record_type" in wanted else {}),
    }


def _revisited(record: archives.Archived) -> dict[str, str | None]:
    headers = record.headers
    origin = headers.get("warc-refers-to-target-uri") or headers.get("warc-refers-to")
    return {"revisit_of": _unbracketed(origin), "revisit_date": headers.get("warc-refers-to-date")}


def _unbracketed(url: str | None) -> str | None:
    """A URL without the angle brackets that some writers put around it."""
    return url[1:-1] if url and url.startswith("<") and url.endswith(">") and not url.startswith("<urn:") else url


def _is_text(mime: str) -> bool:
    return mime in _TEXTS or (mime.startswith("text/") and mime not in _NO_TEXTS)


def _sniffed(body: bytes) -> str:
    """The type of what says none."""
    return str(resiliparse("parse.encoding").detect_mime(body[:4096])) if body else "application/octet-stream"
