"""A folder of text files, web pages among them: each file is one document, its relative path is its id.

1. The position of a document is that of its path among the sorted paths.
2. A copy is a list of the paths that stay (`kept.txt`, a line each; `kept-nul.txt`, a NUL behind each, where a name
   holds an end of line), or with `copy_files` the files themselves.
3. Equality can be ruled out without reading: first by the sizes, then by a hash of a few fixed
   positions. What `alike` leaves needs the full digest; what it drops equals no other file.
4. Where there are web pages, all come as pages (page_records.py); a text file is one that is text already.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import xxhash

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, SourceError
from nearsame.files.inputs import Files, name_as_text
from nearsame.files.systems import File, is_url, joined
from nearsame.page_encodings import decoded, encoded, is_wide, looks_like
from nearsame.sources.base import BATCH_BYTES, NOT_READ, Annotations, Aside, Columns, Skip, Skipped, TextChange
from nearsame.sources.columns import BATCH_ROWS, Chosen, assemble, choose, why_not_utf8
from nearsame.sources.limits import longest, while_room, why_too_long
from nearsame.sources.page_records import BESIDE, MHTML, Batched, PageRecord, is_page, page_of_file, pages_at
from nearsame.sources.parts import strictly
from nearsame.sources.streams import copy_raw, sink, unused
from nearsame.sources.tables import ANNOTATIONS, values_of

__all__ = ["TextFolder", "alike", "list_name"]

_LIST, _LIST_OF_ODD_NAMES = "kept.txt", "kept-nul.txt"
_SAMPLE_BYTES = 4096  # one page: what a disk reads anyway


@dataclass(frozen=True)
class TextFolder:
    """The text files below a folder, or a list of them."""

    root: str
    paths: tuple[str, ...] = field(repr=False)  # relative to the root, with slashes
    name: str
    target: str
    strict: bool = False
    copy_files: bool = False
    stamps: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)  # of local files
    copied_last: ClassVar[bool] = True  # annotations take a name that no copy has

    @property
    def files(self) -> Files:
        """The text files, with what told them from others when they were listed."""
        return Files(self.root, self.paths, self.stamps)

    def size_bytes(self) -> int | None:
        """Bytes of all files, where that is known without reading: for progress."""
        return sum(stamp[0] for stamp in self.stamps) if self.stamps else None

    def text_bytes(self, columns: Columns) -> int:  # noqa: ARG002  (the files are the texts)
        """The bytes of all files."""
        return self.size_bytes() or 0

    def as_files(self) -> Self:
        """The same folder, of which the files are copied, not a list of their paths."""
        return replace(self, copy_files=True, target=".")

    def require_unchanged(self, positions: npt.NDArray[np.int64] | None = None) -> None:
        """Refuse to go by files at these positions that have changed."""
        for position in () if positions is None or not self.stamps else positions.tolist():
            file = self.file(position)
            if file.stamp() != self.stamps[position]:
                hint = "Run again when nothing writes to it any more."
                raise SourceError(f"{file.url} changed while it was being read", hint=hint)

    def take(
        self,
        positions: npt.NDArray[np.int64],
        others: npt.NDArray[np.int64],  # noqa: ARG002  (files are read one by one)
        columns: Columns,
    ) -> pa.Table:
        """The files at these positions: id and text, of web pages with all that is known of them."""
        self.require_unchanged(positions)
        if self.pages:
            return pages_at(self, positions, columns)
        texts = (pa.Table.from_batches([batch]) for batch in self.read(columns, lambda _: None, positions))
        tables = list(while_room(texts, self.name))
        return (pa.concat_tables(tables) if tables else pa.table({"id": [], "text": []})).select(["id", "text"])

    @property
    def format(self) -> str:
        """Text files, or web pages among them."""
        return "pages" if self.pages else "text"

    @cached_property
    def pages(self) -> bool:
        """Whether some of them are web pages; looked at once, as each line of a manifest asks."""
        return any(map(is_page, self.paths))

    def read(self, columns: Columns, skip: Skip, only: npt.NDArray[np.int64] | None = None) -> Iterator[pa.RecordBatch]:
        """The readable files, in order, as RECORDS batches; or `only` those at some (ascending) positions."""
        skip = strictly(skip, strict=self.strict)
        if self.pages:
            yield from self._read_pages(columns, skip, only)
            return
        chosen = choose(replace(columns, html=None), ("id", "text"), ("text",), self.name)
        positions: list[int] = []
        texts: list[bytes] = []
        size = 0
        for position in range(len(self.paths)) if only is None else only.tolist():
            text = self._text(position, columns, skip)
            if text is None:
                continue
            if positions and (size + len(text) > BATCH_BYTES or len(positions) == BATCH_ROWS):
                yield self._batch(positions, texts, chosen)
                positions, texts, size = [], [], 0
            positions.append(position)
            texts.append(text)
            size += len(text)
        if positions:
            yield self._batch(positions, texts, chosen)

    def objects(self, columns: Columns, skip: Skip) -> Iterator[tuple[int, dict[str, Any]]]:
        """The readable text files, with their positions; web pages are none."""
        skip = strictly(skip, strict=self.strict)
        for position, path in enumerate(self.paths):
            if is_page(path):
                skip(Skipped(self.name, position, None, f"{path}: a web page is no item of a benchmark"))
            elif (text := self._text(position, columns, skip)) is not None:
                yield position, {"id": name_as_text(path), "text": text.decode()}

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | TextChange | None = None,
        *,
        drop_unread: bool = False,  # noqa: ARG002  (whatever is unread here has a position)
    ) -> None:
        """Write the paths that stay to `target`, or the files below it; annotations go to annotations.jsonl."""
        gone = set(removed.tolist())
        stay = [position for position in range(len(self.paths)) if position not in gone]
        if annotations is not None and not isinstance(annotations, Annotations):
            for position in stay:
                self._copy_changed(position, target, annotations)
            return
        if self.copy_files:
            for position in stay:
                self._copy_file(position, target)
        else:
            with sink(target, None) as out:
                end = "\n" if list_name(self.paths) == _LIST else "\0"
                out.writelines(f"{self.paths[position]}{end}".encode("utf-8", "surrogateescape") for position in stay)
        if annotations is not None:
            self._annotate(target, stay, annotations)

    def narrow(self, *others: "TextFolder") -> npt.NDArray[np.int64]:
        """The positions of the files here that may equal another, here or in the others: see `alike`."""
        return alike([self, *others])[0]

    def file(self, position: int) -> File:
        """The file at a position."""
        return File(joined(self.root, self.paths[position]))

    def leading_out(self) -> list[str]:
        """The files that are links to what lies outside of the folder."""
        if is_url(self.root):
            return []
        root = f"{os.path.realpath(self.root or '.')}/"
        names = (self.file(position).url for position in range(len(self.paths)))
        return [name for name in names if os.path.islink(name) and not os.path.realpath(name).startswith(root)]  # noqa: PTH114  (a million of them)

    def _read_pages(self, columns: Columns, skip: Skip, only: npt.NDArray[np.int64] | None) -> Iterator[pa.RecordBatch]:
        chosen = choose(replace(columns, html=None), ("id", "text", *BESIDE), ("text",), self.name)
        batched = Batched(chosen, columns)
        for position in range(len(self.paths)) if only is None else only.tolist():
            mime = is_page(self.paths[position])
            if mime:
                page = self._page(position, mime, columns, skip)
            else:
                page = PageRecord(self._text(position, columns, skip), None, None, {})
            if page is None or page.body is None:
                continue
            if page.cut:
                skip(Aside("cut"))
            yield from batched.add(position, page, name_as_text(self.paths[position]))
        yield from batched.close()

    def _page(self, position: int, mime: str, columns: Columns, skip: Skip) -> PageRecord | None:
        most = longest(columns) if mime == MHTML else columns.max_document  # of that only the page is bounded
        try:
            with self.file(position).open() as raw:
                data = raw.read(most + 1)
            if mime != MHTML or len(data) <= most:
                return page_of_file(data, mime, columns)
            reason = self._why_too_long(position, len(data), columns)
        except ConfigError:
            raise  # the memory is too little
        except (OSError, ValueError) as error:
            reason = getattr(error, "message", "") or str(error)
        skip(Skipped(self.name, position, None, f"{self.paths[position]}: {reason}"))
        return None

    def _why_too_long(self, position: int, least: int, columns: Columns) -> str:
        file = self.file(position)
        return why_too_long(max(file.size() or 0, least), columns, file.url)

    def _text(self, position: int, columns: Columns, skip: Skip) -> bytes | None:
        most = longest(columns)
        try:
            with self.file(position).open() as raw:
                text = raw.read(most + 1)
            if len(text) > most:
                reason = self._why_too_long(position, len(text), columns)
            else:
                text, name = decoded(text, columns.encoding)
                if name != "utf-8":
                    skip(Aside(name, is_encoding=True))
                reason = why_not_utf8(text)
            if not reason and columns.encoding is None and is_wide(text):
                reason = "it looks like UTF-16, and has no byte order mark"
            if reason and columns.encoding is None and len(text) <= most:
                skip(Aside(NOT_READ + looks_like(text), is_encoding=True))
        except UnicodeDecodeError as error:
            reason = f"not {error.encoding} at byte {error.start}"
        except OSError as error:  # a SourceError too: here the file is one document among many
            reason = getattr(error, "message", "") or str(error)
        if not reason:
            return text
        skip(Skipped(self.name, position, None, f"{self.paths[position]}: {reason}"))
        return None

    def _batch(self, positions: list[int], texts: list[bytes], chosen: Chosen) -> pa.RecordBatch:
        paths = [name_as_text(self.paths[position]) for position in positions]
        ids = None if chosen.id is None else pa.array(paths, pa.string())
        return assemble(np.array(positions, np.int64), ids, pa.array(texts, pa.large_binary()).view(pa.large_string()))

    def _copy_file(self, position: int, target: Path) -> None:
        self.require_unchanged(np.array([position]))
        copy_raw(self.file(position), target / self.paths[position])

    def _copy_changed(self, position: int, target: Path, change: TextChange) -> None:
        """The file with its text changed, in its own encoding where it would be read so again, else in UTF-8."""
        if position not in change.spans:
            self._copy_file(position, target)
            return
        self.require_unchanged(np.array([position]))
        with self.file(position).open() as raw:
            data = raw.read()
        whole, encoding = decoded(data, change.columns.encoding)
        text = change.text(position, whole.decode())
        with sink(target / self.paths[position], None) as out:
            out.write(encoded(text, encoding, data, change.columns.encoding))

    def _annotate(self, target: Path, stay: list[int], annotations: Annotations) -> None:
        home = target if self.copy_files else target.parent
        name = (
            "annotations.jsonl" if self.copy_files else target.name.replace(list_name(self.paths), "annotations.jsonl")
        )
        columns = [column.to_pylist() for column in values_of(annotations, 0, len(self.paths))]
        with sink(unused(home / name), None) as out:
            for position in stay:
                values = dict(zip(ANNOTATIONS.names, (column[position] for column in columns), strict=True))
                out.write(orjson.dumps({"path": name_as_text(self.paths[position]), **values}) + b"\n")


def list_name(paths: Sequence[str]) -> str:
    r"""What the list of the paths that stay is called.

    Example:
        >>> list_name(["a.txt"]), list_name(["a.txt", "of two\nlines.txt"])
        ('kept.txt', 'kept-nul.txt')
    """
    return _LIST_OF_ODD_NAMES if any("\n" in path or "\r" in path for path in paths) else _LIST


def alike(folders: Sequence[TextFolder]) -> list[npt.NDArray[np.int64]]:
    """For each folder the positions of the files that may be equal, byte for byte, to another file of any.

    Files of a size of their own equal no other. Of the rest, those whose first, middle and last 4 KiB have a
    hash of their own (XXH3, 128 bits, of size and samples) do not either. Only the others have to be read.

    Example:
        >>> [positions.tolist() for positions in alike([])]
        []
    """
    places = [(index, position) for index, folder in enumerate(folders) for position in range(len(folder.paths))]
    sizes = {place: _size(folders[place[0]], place[1]) for place in places}
    places = _shared(places, sizes)
    samples = {place: _sample(folders[place[0]].file(place[1]), sizes[place]) for place in places}
    left = set(_shared(places, samples))
    return [
        np.array([position for position in range(len(folder.paths)) if (index, position) in left], np.int64)
        for index, folder in enumerate(folders)
    ]


def _shared(places: list[tuple[int, int]], value: dict[tuple[int, int], Any]) -> list[tuple[int, int]]:
    counts = Counter(value[place] for place in places)
    return [place for place in places if value[place] is None or counts[value[place]] > 1]


def _size(folder: TextFolder, position: int) -> int | None:
    if folder.stamps:
        return int(folder.stamps[position][0])
    try:
        return folder.file(position).size()
    except OSError:
        return None  # unknown: reading will tell


def _sample(file: File, size: int | None) -> bytes | None:
    if size is None:
        return None
    hashed = xxhash.xxh3_128(size.to_bytes(8, "little"))
    starts = [0] if size <= _SAMPLE_BYTES else [0, (size - _SAMPLE_BYTES) // 2, size - _SAMPLE_BYTES]
    try:
        with file.open() as raw:
            for start in starts:
                raw.seek(start)
                hashed.update(raw.read(_SAMPLE_BYTES))
    except OSError:
        return None
    return hashed.digest()
