"""The sources of a finished run, read once more: what documents are known by, and the texts of some.

1. What changed since the run is refused: positions would name other records.
2. Nothing is decided here, and nothing is held but what is asked for.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nearsame.arrow import Int64s
from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.files.inputs import is_address, local_paths, local_stamp
from nearsame.named import NamedTuple
from nearsame.proofs.claims import Claims
from nearsame.proofs.files import Part as ClaimedPart
from nearsame.sources import Columns, Part, TextFolder, open_parts
from nearsame.sources.base import apart
from nearsame.sources.reading import Reading
from nearsame.sources.select import texts
from nearsame.stages.texts.page_text import PageTexts

__all__ = ["Facts", "RunSources", "of_claims", "of_reading", "opened"]

_BITS = 40  # of a key, for the position in a source
_TELLING = ("language", "lang", "date", "published", "timestamp")  # columns that documents are told apart by


class Facts(NamedTuple):
    """What is known of every document, in order of reading.

    Attributes:
        keys: of each, ascending: see `RunSources.keys`.
        judged: whether it is of the side that is judged.
        sizes: bytes of its content.
        columns: strings, by name: those of `_TELLING` that some document has, and `url`.
    """

    keys: Int64s
    judged: npt.NDArray[np.bool_]
    sizes: Int64s
    columns: dict[str, pa.Array]


@dataclass(frozen=True)
class RunSources:
    """Where the documents of a run are.

    Attributes:
        names: of the sources, as tables call them: the `against` side first.
        parts: what they are read by.
        num_against: how many are of the `against` side.
        columns: what is read of them.
        extract: takes the text out of pages.
        missing: why they cannot be read again, if they cannot.
        places: tells of each source its files, however they were named; nothing of what was no file.
    """

    names: tuple[str, ...]
    parts: tuple[Part, ...]
    num_against: int
    columns: Columns
    extract: PageTexts | None = None
    missing: str = ""
    places: Callable[[], tuple[tuple[str, ...], ...]] = tuple

    @property
    def are_texts(self) -> bool:
        """Whether documents are texts, and not numbers."""
        return self.columns.no_text is None

    def keys(self, names: pa.Array | pa.ChunkedArray, rows: pa.Array | pa.ChunkedArray, *, judged: bool) -> Int64s:
        """A number of each document, ascending in the order of reading; of one name on both sides one is meant."""
        order = range(len(self.names)) if judged else reversed(range(len(self.names)))
        number = {self.names[at]: at for at in order}
        codes = np.array([number.get(name.as_py(), -1) for name in pc.unique(names)], np.int64)
        places = pc.index_in(names, pc.unique(names)).to_numpy(zero_copy_only=False)
        found: Int64s = (codes[places] << _BITS) | rows.to_numpy()
        return found

    def facts(self) -> Facts:
        """What is known of every document.

        Raises:
            SourceError: A source cannot be read, or has changed.
        """
        url = (self.columns.beside or ("url",))[0]
        beside = tuple(dict.fromkeys((url, *_TELLING)))
        batches = list(self._batches(beside))
        columns = {name: pa.concat_arrays([batch[3][at] for batch in batches]) for at, name in enumerate(beside)} if (
            batches
        ) else {}  # fmt: skip
        known = {"url" if name == url else name: values for name, values in columns.items() if _says(values)}
        keys, judged, sizes = (
            np.concatenate([np.zeros(0, kind), *(batch[at] for batch in batches)])
            for at, kind in enumerate((np.int64, np.bool_, np.int64))
        )
        return Facts(keys, judged, sizes, known)

    def _batches(self, beside: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        for number, part in enumerate(self.parts):
            against = number < self.num_against
            part.require_unchanged()
            columns = replace(self.columns.of_side(against=against), order=(), beside=beside, may_lack=True)
            for batch in part.read(columns, lambda _: None):
                own, _, known = apart(batch)
                nothing = pa.nulls(len(own), pa.string())
                keys = (np.int64(number) << _BITS) | own.column("position").to_numpy()
                values = [known.get(name, nothing).cast(pa.string()) for name in beside]
                yield keys, np.full(len(own), not against), _sizes(own), values

    def texts(self, keys: Int64s) -> list[str]:
        """The texts of some documents.

        Raises:
            SourceError: A source cannot be read, or has changed.
        """
        by_key: dict[int, str] = {}
        for number, part in enumerate(self.parts):
            mine = np.unique(keys[keys >> _BITS == number])
            if mine.size:
                columns = self.columns.of_side(against=number < self.num_against)
                found = texts(part, mine & (1 << _BITS) - 1, columns, self.extract)
                by_key |= {number << _BITS | position: text for position, text in found.items()}
        return [by_key[key] for key in keys.tolist()]


def _says(values: pa.Array) -> bool:
    return bool(values.null_count < len(values))


def _sizes(own: pa.RecordBatch) -> Int64s:
    name = next(name for name in ("text", "body", "items", "vector", "code") if name in own.schema.names)
    lengths = pc.list_value_length if name in ("items", "vector", "code") else pc.binary_length
    each = 8 if name in ("items", "code") else 4 if name == "vector" else 1
    sizes: Int64s = each * lengths(own.column(name)).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sizes


def of_reading(reading: Reading, extract: PageTexts | None) -> RunSources:
    """Those of a run in memory."""
    parts = tuple(reading.all_parts)
    names = tuple(part.name for part in parts)

    def places() -> tuple[tuple[str, ...], ...]:
        return tuple(_resolved(part.files.names()) for part in parts)

    return RunSources(names, parts, len(reading.against), reading.columns, extract, places=places)


def of_claims(claims: Claims) -> RunSources:
    """Those that an output names; it says so where they are not there, or have changed."""
    lists = {name: tuple(claims.columns[name]) for name in ("beside", "asked_of_pages", "order")}
    columns = Columns(**{**claims.columns, **lists}, may_lack=True)
    names, num_against = tuple(part.name for part in claims.parts), sum(part.against for part in claims.parts)

    def places() -> tuple[tuple[str, ...], ...]:
        return tuple(_resolved(os.fsdecode(path) for path in part.paths if path) for part in claims.parts)

    try:
        _require_files(claims.parts)
        parts = tuple(opened(part, part.path, columns) for part in claims.parts)
    except SourceError as error:
        return RunSources(names, (), num_against, columns, missing=error.message, places=places)
    pages = any(part.pages for part in parts) or columns.html is not None
    extract = PageTexts(columns.extract) if pages else None
    return RunSources(names, parts, num_against, columns, extract, places=places)


def _resolved(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths without links; of addresses only those of files here can lead to the same by two names."""
    return tuple(path if is_address(path) and not path.startswith("file:") else os.path.realpath(local_paths(path)[0])
                 for path in paths)  # fmt: skip


def _require_files(parts: Sequence[ClaimedPart]) -> None:
    for part in parts:
        if part.paths[0] is None:
            raise SourceError(f"{part.name} was not a file", hint="Make the report with dedup --report.")
        for path, stamp in zip(part.paths, part.stamps, strict=True):
            if None not in stamp:
                _require_file(Path(os.fsdecode(path or b"")), stamp)


def _require_file(path: Path, stamp: tuple[int | None, int | None]) -> None:
    try:
        found = path.stat()
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}", hint="Put it back.") from error
    if local_stamp(found)[:2] != stamp:
        raise SourceError(f"{path} changed since the run", hint="Run again.")


def opened(part: ClaimedPart, given: Any, columns: Columns) -> Any:
    """A source of an output, or its copy or table in its place, to be read again."""
    if part.format in ("pages", "text"):
        files = tuple(os.fsdecode(file or b"") for file in part.files)
        root = os.fsdecode(part.paths[0] or b"").removesuffix(files[0]).rstrip("/")
        return TextFolder(root, files, name=part.name, target=part.target)
    return next(iter(open_parts([given], columns=columns.of_side(against=part.against))))
