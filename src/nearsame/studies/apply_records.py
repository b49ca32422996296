"""`apply` of what Spark has written about archives: a list of their records by file and position, and what is kept.

1. Every file must be the one that was read, as far as its size and its time can tell, and none may be more or less.
2. A file is found by its path, or where it is somewhere else by its name.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, SourceError
from nearsame.files.systems import is_url
from nearsame.flow.calls import names_again
from nearsame.flow.layer_names import needs_bare
from nearsame.sources import Columns, Part, Wanted, open_parts
from nearsame.sources.warc import WebArchive

__all__ = ["LIST", "LeftOut", "ListedRecords"]

LIST = "records"
_FOLDERS = ("removed", "clusters", "pairs", "skipped")
_NONE = np.zeros(0, np.int64)
_OTHER = "A list is about the files that it was made from: put them back, or run dedup again."


@dataclass(frozen=True)
class LeftOut:
    """What goes: the removed records, and those that could not be read."""

    part: Rows
    row: Rows
    unreadable: Mapping[int, Rows]

    def positions(self, part: int, *, removed: bool = True) -> Rows:
        """The positions that go from a part, ascending; without `removed` only the unreadable."""
        low, high = np.searchsorted(self.part, [part, part + 1])
        return np.union1d(self.row[low:high] if removed else _NONE, self.unreadable.get(part, _NONE))


@dataclass(frozen=True)
class ListedRecords:
    """An output of Spark with a list of records.

    Attributes:
        home: where it is.
        name: as it was given.
        stats: its statistics.
    """

    home: Path
    name: str
    stats: Mapping[str, Any]

    first: ClassVar[int] = 0  # number of a part that is judged

    @classmethod
    def read(cls, home: Path, name: str) -> "ListedRecords":
        """What an output says.

        Raises:
            SourceError: It is damaged.
        """
        try:
            stats = json.loads((home / "stats.json").read_bytes())
            good = isinstance(stats["call"]["folder"], str) and isinstance(stats["removed"], int)
            good = good and isinstance(stats["recipe"].get("use", []), list)
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            good = False
        if not good:
            raise SourceError(f"{name}: stats.json is missing, or is not that of a run", hint="Write it again.")
        return cls(home, name, stats)

    @cached_property
    def _files(self) -> list[dict[str, Any]]:
        """Every archive: file, size_bytes, mtime_ms."""
        return sorted(self._table("files").to_pylist(), key=lambda line: line["file"])

    def _table(self, name: str, columns: Sequence[str] | None = None, only: Any = None) -> pa.Table:
        try:
            return ds.dataset(self.home / name, format="parquet").to_table(columns, filter=only)
        except (OSError, pa.ArrowException) as error:
            said = str(error).partition("\n")[0]
            raise SourceError(f"{self.name}: {name}/ cannot be read: {said}", hint="Write it again.") from None

    def again(self, side: str) -> tuple[str, ...]:
        """The names of a side, as they lead to the same files from here."""
        call = self.stats["call"]
        return tuple(names_again(call[side] or (), call["folder"]))

    def opened(self, sources: Sequence[Any]) -> Sequence[Part]:
        """The archives, in the order of `_files`.

        Raises:
            SourceError: There are less or more than were read.
        """
        options = self.stats["call"]["options"]
        wanted = Wanted.of(*(options.get(name) for name in ("include", "exclude", "read_as")))
        columns = Columns(bare=needs_bare(tuple(self.stats["recipe"].get("use", ()))))
        parts = {_path(part): part for part in open_parts(sources, columns=columns, without_extras=True, wanted=wanted)}
        names = {PurePosixPath(path).name: part for path, part in parts.items()}
        known = [line["file"] for line in self._files]
        found = [parts.get(file) or names.get(PurePosixPath(file).name) for file in known]
        lost = next((file for file, part in zip(known, found, strict=True) if part is None), None)
        chosen = {id(part) for part in found}
        others = [part for part in parts.values() if id(part) not in chosen]
        more = next((part.name for part in others if part.size_bytes() != 0), None)
        if lost is not None or more is not None or len(chosen) < len(found):
            what = f"{lost} is not there now" if lost else f"{more} was not there" if more else "names stand twice"
            raise SourceError(f"{self.name}: {what}", hint=_OTHER)
        return [*(part for part in found if part is not None), *others]  # Spark does not list empty files

    def require_same(self, parts: Sequence[Part], *, moved: bool) -> None:  # noqa: ARG002  (names are not compared)
        """See that these are the files that were read.

        Raises:
            SourceError: They are not.
        """
        for line, part in zip(self._files, parts, strict=False):  # empty ones come behind
            local = isinstance(part, WebArchive) and not is_url(part.file.url)
            times = [stamp // 10**6 for stamp in part.files.stamps[0][1:2]] if local else []
            if part.size_bytes() != line["size_bytes"] or times not in ([], [line["mtime_ms"]]):
                raise SourceError(f"{self.name}: {part.name} is not what it was", hint=_OTHER)

    def leaving(self, *, drop_unreadable: bool) -> LeftOut:
        """What goes.

        Raises:
            ConfigError: What cannot be read is to go, too, and nobody has noted where it stands.
            SourceError: The list is damaged.
        """
        if drop_unreadable:
            message = f"drop_unreadable: {self.name} was written by Spark, and says only how many could not be read"
            raise ConfigError(message, hint="Leave it out.")
        gone = self._table(LIST, ["file", "position"], ~pc.field("kept"))
        numbers = pa.array([line["file"] for line in self._files], pa.string())
        part = pc.index_in(gone.column("file").cast(pa.string()), value_set=numbers)
        if part.null_count or len(gone) != self.stats["removed"]:
            message = f"{self.name}: {LIST}/ does not list the {self.stats['removed']:,} removed records"
            raise SourceError(message, hint="Write it again.")
        parts, rows = part.to_numpy(), gone.column("position").to_numpy()
        order = np.lexsort((rows, parts))
        return LeftOut(parts[order], rows[order], {})

    def write_tables(self, out: Path, copied: Sequence[Part], **written: bool) -> None:  # noqa: ARG002  (as of masks)
        """Write what the output has besides copies and statistics."""
        for name in _FOLDERS:
            if (self.home / name).is_dir():
                shutil.copytree(self.home / name, out / name)


def _path(part: Any) -> str:
    """Where a part is, as the list calls it."""
    url = part.file.url if isinstance(part, WebArchive) else part.name
    return url if is_url(url) else os.path.abspath(url)  # noqa: PTH100  (it keeps links)
