"""A web archive: its 200 responses of textual types, resources and conversions (WET) are documents.

1. Every record has a position, requests and metadata too; what is not a document is counted by what it is, and stays.
2. With a removed response go the request and metadata that were written for it, and the revisits that have no other
   content than its own, unless revisits are documents themselves.
3. A copy holds the other records' bytes as they were, and whole compressed members, but for those that hold a removed
   record beside others: what stays of these is compressed anew.
4. A body is decoded (chunks, gzip, deflate, brotli, zstd) up to `Columns.max_document` bytes; more is cut, and counted.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.files.compressions import Compression
from nearsame.sources import archives
from nearsame.sources.archive_copies import RecordPlace, copy_without, places_of, with_companions
from nearsame.sources.archive_pages import page_of
from nearsame.sources.archive_records import copy_replacing, have_records, raw_records
from nearsame.sources.base import Annotations, Aside, Columns, Skip, Skipped
from nearsame.sources.columns import choose
from nearsame.sources.members import ArchiveForm
from nearsame.sources.page_records import BESIDE, Batched, pages_at
from nearsame.sources.parts import FilePart, strictly
from nearsame.sources.revisits import Responses, led_to, origin_of
from nearsame.sources.streams import BrokenStreamError, copy_raw, looks_compressed, sink, unused
from nearsame.sources.tables import ANNOTATIONS, values_of

__all__ = ["BY_MEMBER", "WebArchive"]

_OVERHEAD = 1 << 20  # of headers and chunks, besides the body
BY_MEMBER = frozenset({None, "gzip", "zstd", "lz4"})  # what FastWARC reads by itself


@dataclass(frozen=True)
class WebArchive(FilePart):
    """A WARC, WET or ARC file."""

    form: ArchiveForm = archives.WARC
    offsets: list[int] | None = field(
        default=None, repr=False, compare=False
    )  # gets those of all records as they are read

    pages: ClassVar[bool] = True  # its records are PAGES, not texts
    copied_last: ClassVar[bool] = True  # annotations take a name that no copy has

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The documents, in order, as RECORDS batches with `body`, `charset` and `mime` in place of `text`."""
        skip = strictly(skip, strict=self.strict)
        chosen = choose(columns, ("id", "text", *BESIDE), ("text",), self.name)
        batched = Batched(chosen, columns)
        wanted = {name for name in (chosen.text, chosen.id, *chosen.order, *columns.beside) if name is not None}
        broken: list[str] = []
        with self.opened(skip, broken) as path:
            most = columns.max_document + _OVERHEAD
            for position, record in enumerate(() if path is None else self.walked(path, most)):
                if self.offsets is not None:
                    self.offsets.append(record.offset)
                if record.kind == archives.DAMAGE:
                    skip(Skipped(self.name, position, None, f"at byte {record.offset:,}: {record.reason}"))
                    broken.clear()  # it is told by this
                    continue
                page = page_of(record, columns, wanted)
                if isinstance(page, str):
                    skip(Aside(page))
                    continue
                if page.cut:
                    skip(Aside("cut"))
                yield from batched.add(position, page)
        for reason in broken:
            skip(Skipped(self.name, None, None, f"breaks off: {reason}"))
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

    @contextlib.contextmanager
    def opened(self, skip: Skip, broken: list[str]) -> Iterator[str | None]:
        """The path of the file, decompressed where need be; None, and a skip, where nothing of it can be."""
        with contextlib.ExitStack() as stack:
            try:
                path = stack.enter_context(self.local_path(broken))
            except BrokenStreamError as error:
                path = None
                if looks_compressed(self.file, self.compression):
                    skip(Skipped(self.name, None, None, f"unread from here on: {error}"))
                else:
                    self._undecompressed(error, skip)
            yield path

    def walked(self, path: str, most: int) -> Iterator[archives.Archived]:
        """The records of a file, of whose blocks at most so many bytes are held."""
        return archives.walk(path, self.form, most)

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the other records, or all of them with annotations.jsonl next to it; what cannot be read, as it is."""
        self.require_unchanged()
        broken: list[str] = []
        with self.opened(lambda _: None, broken) as path:
            if path is None:
                self.copy_unread(target, drop=drop_unread)
                return
            places = places_of(path, self.form)
            gone = with_companions(places, removed, of_revisits=not self.bare)
            if not gone and not (broken and drop_unread):
                copy_raw(self.file, target)
            else:
                copy_without(path, (self.name, self.form), places, gone, target, self._packed)
        if annotations is not None:
            self.annotate(target, places, gone, annotations)

    def copy_with(self, target: Path, made: Mapping[int, Callable[[bytes], bytes]]) -> list[RecordPlace]:
        """Write all records, those at some positions as what is made of their bytes; where each stood."""
        self.require_unchanged()
        with self.opened(lambda _: None, []) as path:
            places = places_of(str(path), self.form)
            copy_replacing(str(path), self.form, places, made, target, self._packed)
        return places

    def copy_whole(self, target: Path) -> None:
        """Write the file as it is."""
        self.require_unchanged()
        copy_raw(self.file, target)

    def responses(self, positions: frozenset[int]) -> Responses:
        """What has to be known before responses at these positions become revisits, or revisits lead to them."""
        broken: list[str] = []
        with self.opened(lambda _: None, broken) as path:
            places = [] if path is None else places_of(path, self.form)
            is_whole = path is not None and not broken and have_records(path, self.form, places)
            raw = raw_records(str(path), self.form, places, positions) if is_whole else ()
            origins = {position: origin for position, record in raw if (origin := origin_of(record)) is not None}
        revisits = [place for place in places if place.kind == "revisit"]
        targets = {led_to(revisit.target[0], *revisit.refers_to_target) for revisit in revisits}
        return Responses(origins, is_whole, {revisit.refers_to for revisit in revisits}, targets)

    def labels(self) -> list[tuple[str, str]]:
        """Id and URL of each record, in order, documents or not: what its annotations call it."""
        with self.opened(lambda _: None, []) as path:
            return [] if path is None else [(place.id, place.target[0]) for place in places_of(path, self.form)]

    def local_path(self, broken: list[str]) -> Any:
        """What gives the path of the file on this machine, decompressed where the readers do not do that themselves."""
        return archives.local(self.file, self._packed, broken)

    @property
    def _packed(self) -> Compression | None:
        """What the file is compressed by as a whole, and not by members."""
        return None if self.compression in BY_MEMBER else self.compression

    def annotate(self, target: Path, places: list[RecordPlace], gone: set[int], annotations: Annotations) -> None:
        """Write beside a copy a line for each record that stays."""
        columns = [column.to_pylist() for column in values_of(annotations, 0, len(places))]
        with sink(unused(target.with_name(f"{target.name}.annotations.jsonl")), None) as out:
            for position, place in enumerate(places):
                if position not in gone:
                    values = dict(zip(ANNOTATIONS.names, (column[position] for column in columns), strict=True))
                    known = {"position": position, "record_id": place.id, "url": place.target[0]}
                    out.write(orjson.dumps({**known, **values}) + b"\n")
