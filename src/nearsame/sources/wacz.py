"""WACZ: a zip of WARC files with their index, their pages and the digests of all.

1. Its records are those of `archive/`, file by file; positions go on from one to the next.
2. A copy without some is a WACZ again: index, pages and digests are those of what stays (wacz_copies.py).
3. A file that is damaged, encrypted, or says of itself what cannot be is not read at all.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.sources import archives, packages
from nearsame.sources.archive_copies import RecordPlace, places_of, with_companions
from nearsame.sources.base import Annotations, Skip, Skipped
from nearsame.sources.packages import PackageError
from nearsame.sources.streams import copy_raw
from nearsame.sources.wacz_copies import Archive, write_without
from nearsame.sources.warc import WebArchive

__all__ = ["Wacz"]


@dataclass(frozen=True)
class Wacz(WebArchive):
    """A WACZ file: a zip file of web archives with their indexes, whose records are counted through."""

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write a WACZ of the other records, or of all with annotations.jsonl next to it."""
        self.require_unchanged()
        with self.opened(lambda _: None, []) as path:
            if path is None:
                self.copy_unread(target, drop=drop_unread)
                return
            web_archives, start = [], 0
            for member in packages.archives_in(packages.contents(path)):
                places = self._places(path, member)
                inside = removed[(removed >= start) & (removed < start + len(places))] - start
                web_archives.append(Archive(member, places, with_companions(places, inside, of_revisits=not self.bare)))
                start += len(places)
            if any(archive.gone for archive in web_archives):
                write_without(path, web_archives, self.name, target, self.compression)
            else:
                copy_raw(self.file, target)
        if annotations is not None:
            places = [place for archive in web_archives for place in archive.places]
            gone, start = set(), 0
            for archive in web_archives:
                gone |= {start + position for position in archive.gone}
                start += len(archive.places)
            self.annotate(target, places, gone, annotations)

    def labels(self) -> list[tuple[str, str]]:
        """Id and URL of each record, in order, documents or not: what its annotations call it."""
        with self.opened(lambda _: None, []) as path:
            members = [] if path is None else packages.archives_in(packages.contents(path))
            places = [place for member in members for place in self._places(str(path), member)]
        return [(place.id, place.target[0]) for place in places]

    @contextlib.contextmanager
    def opened(self, skip: Skip, broken: list[str]) -> Iterator[str | None]:
        """The path of the file; None, and a skip, where it is not to be read."""
        with super().opened(skip, broken) as path:
            problem = "" if path is None else _problem(path)
            if problem:
                self._refuse(f"not readable as WACZ: {problem}", skip)
            yield None if problem else path

    def local_path(self, broken: list[str]) -> Any:
        """What gives the path of the zip file on this machine."""
        return archives.local(self.file, self.compression, broken)

    def walked(self, path: str, most: int) -> Iterator[archives.Archived]:
        """The records of all archives; of damage it is told where it is."""
        for member in packages.archives_in(packages.contents(path)):
            with packages.spooled(path, member) as spool:
                for record in archives.walk(spool, packages.form_of(member), most):
                    is_damage = record.kind == archives.DAMAGE
                    yield record._replace(reason=f"{record.reason} (in {member.filename})") if is_damage else record

    def _places(self, path: str, member: Any) -> list[RecordPlace]:
        with packages.spooled(path, member) as spool:
            return places_of(spool, packages.form_of(member))

    def _refuse(self, reason: str, skip: Skip) -> None:
        if not self.lenient:
            raise SourceError(
                f"{self.name} is {reason}", hint="Write it again, or give the archives that it was made of."
            )
        skip(Skipped(self.name, None, None, reason))


def _problem(path: str) -> str:
    """Why a file cannot be read; the deflated members to their end, so that nothing else is found out later."""
    try:
        members = packages.contents(path)
        packages.archives_in(members)
        for member in members:
            packages.check(path, member)
    except PackageError as error:
        return str(error)
    return ""
