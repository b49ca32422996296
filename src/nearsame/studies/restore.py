"""`restore`: the responses back that `dedup` has made revisits of, from the records that they lead to.

1. What is written is what was read, record for record: each one is held to the digest that its revisit names.
2. Either all revisits of nearsame are given back, or nothing is written.
3. Revisits that others wrote stay what they are.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from nearsame.errors import SourceError
from nearsame.files.inputs import Inputs, several
from nearsame.named import NamedTuple
from nearsame.outputs import folder
from nearsame.recipes.arguments import checked
from nearsame.sources import Columns, open_parts
from nearsame.sources.archive_copies import RecordPlace, places_of
from nearsame.sources.archive_records import raw_records
from nearsame.sources.archives import WARC, Archived, walk
from nearsame.sources.revisits import ORIGINAL, ORIGINAL_DIGEST, given_back

__all__ = ["Restored", "restore"]

Place = tuple[int, int]  # an archive, and a position in it


class Restored(NamedTuple):
    """What was written.

    Attributes:
        archives: how many files.
        records: how many records they have.
        restored: how many of these were revisits.
    """

    archives: int
    records: int
    restored: int


@checked
def restore(source: Any, directory: str | os.PathLike[str]) -> Restored:
    """Turn the revisits that `dedup --revisits` wrote back into the responses that were there before.

    The archives that they lead to must be among the sources: name the whole of `kept/`. The records are those that
    were read, byte for byte; records of gzip files are compressed again where they were revisits.

    Args:
        source: Folders, files or patterns of WARC files; a tuple is several.
        directory: The folder to write; it appears complete or not at all. It must not exist.

    Returns:
        How many archives and records were written, and how many of them were revisits.

    Raises:
        SourceError: There are no WARC files, or a revisit cannot be given back.
        OutputError: The folder cannot be written.

    Example:
        >>> restore("kept/", "crawl/")  # doctest: +SKIP
        Restored(archives=2, records=120, restored=31)
    """
    sources = several(source)
    parts: list[Any] = [part for part in open_parts(sources, columns=Columns()) if _is_warc(part)]
    if not parts:
        raise SourceError(f"{sources[0]} holds no WARC files", hint="Name the folder kept/ of an output.")
    place = folder.require_place(directory, Inputs.of(source))
    with ExitStack() as stack:
        paths = [stack.enter_context(part.local_path([])) for part in parts]
        archives = _Revisits.of(paths)
        with folder.appearing(place) as home:
            for number, part in enumerate(parts):
                _write(part, archives.made(parts, number), home / part.target)
    return Restored(len(parts), archives.num_records, len(archives.revisits))


def _is_warc(part: Any) -> bool:
    return bool(part.format == "warc" and part.form == WARC)


def _write(part: Any, made: Mapping[int, Callable[[bytes], bytes]], target: Path) -> None:
    if made:
        part.copy_with(target, made)
    else:
        part.copy_whole(target)


class _Revisits(NamedTuple):
    """The revisits that can be given back, and where the records are that they lead to."""

    paths: Sequence[str]
    places: Sequence[Sequence[RecordPlace]]
    revisits: Mapping[Place, Mapping[str, str]]
    origins: dict[str, list[Place]]  # by id

    @property
    def num_records(self) -> int:
        """How many records all archives hold together."""
        return sum(map(len, self.places))

    @classmethod
    def of(cls, paths: Sequence[str]) -> "_Revisits":
        """Those of some archives."""
        revisits: dict[Place, Mapping[str, str]] = {
            place: record.headers for place, record in _records(paths) if _is_ours(record)
        }
        wanted = {headers.get("warc-refers-to", "") for headers in revisits.values()}
        places = [places_of(path, WARC) for path in paths]
        origins: dict[str, list[Place]] = {}
        for number, some in enumerate(places):
            for position, origin in enumerate(some):
                if origin.kind == "response" and origin.id in wanted:
                    origins.setdefault(origin.id, []).append((number, position))
        return cls(paths, places, revisits, origins)

    def made(self, parts: Sequence[Any], number: int) -> dict[int, Callable[[bytes], bytes]]:
        """What gives back the revisits of an archive, by position."""
        return {
            position: partial(self._record, parts=parts, place=(archive, position))
            for archive, position in self.revisits
            if archive == number
        }

    def _record(self, raw: bytes, *, parts: Sequence[Any], place: Place) -> bytes:
        headers = self.revisits[place]
        known = self.origins.get(headers.get("warc-refers-to", ""), [])
        record = given_back(raw, headers, self._raw(known))
        if record is None:
            name, url = headers.get("warc-record-id", ""), headers.get("warc-refers-to-target-uri", "")
            what = f"record {name} of {parts[place[0]].name} cannot be given back"
            why = f"what it leads to ({url}) is {'another record now' if known else 'not there'}"
            raise SourceError(f"{what}: {why}", hint="Name all the archives that were written together.")
        return record

    def _raw(self, places: Sequence[Place]) -> Iterator[bytes]:
        for number, at in places:
            for _, raw in raw_records(self.paths[number], WARC, self.places[number], [at]):
                yield raw


def _records(paths: Sequence[str]) -> Iterator[tuple[Place, Archived]]:
    for number, path in enumerate(paths):
        for position, record in enumerate(walk(path, WARC, 1)):
            yield (number, position), record


def _is_ours(record: Archived) -> bool:
    return record.kind == "revisit" and {ORIGINAL, ORIGINAL_DIGEST} <= record.headers.keys()
