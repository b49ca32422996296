"""`apply`: the copies that a mask stands for, made later from the same files.

1. What is written is what `dedup -o` would have written: `kept/`, and the tables as they are.
2. By a mask records are known by their numbers alone, so every file must be the one that was read, as far as its size
   and its time, or its server's tag, can tell. Otherwise nothing is written.
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nearsame.answers.stats import Stats
from nearsame.arrow import Rows
from nearsame.clock import Clock, Progress
from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.files.inputs import Inputs, is_folder, names_of, several
from nearsame.files.remote import at_hand
from nearsame.flow.calls import names_again
from nearsame.flow.kept import as_copied, led_out
from nearsame.outputs import folder
from nearsame.outputs.destinations import require_folder
from nearsame.outputs.steps import logged
from nearsame.outputs.writing import copy_parts, num_bytes
from nearsame.proofs import tables
from nearsame.proofs.parts import part_problems
from nearsame.proofs.settings import about_problems
from nearsame.proofs.statistics import read_stats
from nearsame.proofs.verdict import Findings
from nearsame.recipes.arguments import checked
from nearsame.sources import Columns, Part, Wanted, open_parts
from nearsame.sources.footers import why_not_readable
from nearsame.sources.manifest import MANIFEST, manifest
from nearsame.studies.apply_records import LIST, LeftOut, ListedRecords

__all__ = ["apply"]

_TABLES = {
    "removed": tables.REMOVED,
    "clusters": tables.CLUSTERS,
    "pairs": tables.PAIRS,
    "frequencies": tables.FREQUENCIES,
    "skipped": tables.SKIPPED,
}
_OTHER = "A mask is about the files that it was made from: put them back, or run dedup again."


@checked
def apply(  # noqa: PLR0913  (each is a choice of the caller's)
    mask: str | os.PathLike[str],
    directory: str | os.PathLike[str],
    source: Any = None,
    *,
    overwrite: bool = False,
    drop_unreadable: bool = False,
    copy_files: bool = False,
    progress: Progress | None = None,
) -> Stats:
    """Write what stays of a run that wrote a mask: the folder that it would have written without one.

    Args:
        mask: What `dedup --mask` or `Result.write(…, mask=True)` wrote, or a run on Spark about web archives.
        directory: The folder to write; it appears complete or not at all.
        source: Where the files are now, in the order in which `dedup` got them; a tuple is several. Default: where they
            were. They must have the sizes and times that they had (`cp -p` and `rsync -t` keep these).
        overwrite: Whether a folder of an earlier run that exists is replaced.
        drop_unreadable: Whether records that could not be read are left out of `kept/`.
        copy_files: Whether folders of text files are copied, where otherwise `kept.txt` lists the paths that stay.
        progress: Who watches.

    Returns:
        The statistics of the run, with the seconds of writing.

    Raises:
        SourceError: There is no mask, or its sources are not there, or not as they were.
        OutputError: The folder cannot be written.
        ConfigError: What is to be written is no folder.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as home:
        ...     texts = [Path(home, name) for name in ("a.txt", "b.txt")]
        ...     written = [path.write_text("a rose") for path in texts]
        ...     masked = dedup(texts).write(home + "/mask", mask=True)
        ...     apply(home + "/mask", home + "/clean").kept
        1
    """
    require_folder(directory, "apply")
    with at_hand(mask) as home:
        form = ListedRecords if is_folder(os.fspath(home / LIST)) else _Made
        made: ListedRecords | _Made = form.read(home, os.fspath(mask))
        sources = made.again("source") if source is None else tuple(several(source))
        parts = made.opened(sources)
        made.require_same(parts, moved=source is not None)
        leaving = made.leaving(drop_unreadable=drop_unreadable)
        inputs = Inputs(names_of(sources), (), tuple(part.files for part in parts))
        inputs += Inputs.of((os.fspath(mask), *made.again("against")))
        place, clock = folder.require_place(directory, inputs, overwrite=overwrite), Clock(logged(progress))
        copied = as_copied(parts, copy_files=copy_files)
        with folder.appearing(place) as out:
            with clock("writing", sum(part.size_bytes() or 0 for part in parts)):
                numbered = dict(enumerate(copied, start=made.first))
                copy_parts(numbered, leaving, out / "kept", drop_unread=drop_unreadable)
            made.write_tables(out, copied, drop_unreadable=drop_unreadable, copy_files=copy_files)
            return _written_stats(made.stats, out, clock, tuple(led_out(copied)) if copy_files else ())


def _written_stats(known: Mapping[str, Any], out: Path, clock: Clock, notes: tuple[str, ...]) -> Stats:
    """The statistics of the run, with what writing took."""
    stats = Stats.of(known)
    seconds = {**stats.seconds, "writing": round(clock.seconds["writing"], 4)}
    volumes = {**stats.bytes, "writing": {"documents": stats.kept, "out": num_bytes(out)}}
    stats = replace(stats, notes=(*stats.notes, *notes), seconds=seconds, bytes=volumes)
    folder.write_json(stats.record(), out / "stats.json")
    return stats


@dataclass(frozen=True)
class _Made:
    """An output with a mask.

    Attributes:
        home: where it is.
        name: as it was given.
        stats: its statistics.
        listed: its list of sources.
        about: what that says besides.
    """

    home: Path
    name: str
    stats: Mapping[str, Any]
    listed: pa.Table
    about: Mapping[str, Any]

    @classmethod
    def read(cls, home: Path, name: str) -> "_Made":
        """What an output says.

        Raises:
            SourceError: It has no mask, or is damaged.
        """
        findings = Findings()
        if not os.path.exists(home / "mask.parquet"):  # noqa: PTH110  (a name that no file can have is no error)
            there = "is no folder of an answer" if os.path.lexists(home) else "does not exist"
            what = "has no mask" if is_folder(os.fspath(home)) else there
            raise SourceError(
                f"{name} {what}", hint="Name a folder that `nearsame dedup --mask` wrote, or Spark about archives."
            )
        listed, stats = _table(home, "sources.parquet", tables.SOURCES, name), read_stats(home, findings)
        about = tables.metadata(listed)
        findings.wrong_all("sources.parquet", [*part_problems(listed), *about_problems(about)])
        if findings.problems or stats is None or about is None:
            raise _damaged(name, findings)
        return cls(home, name, stats, listed.cast(MANIFEST), about)

    @property
    def judged(self) -> pa.Table:
        """The lines of what is judged."""
        return self.listed.filter(~np.asarray(self.listed.column("against")))

    @property
    def first(self) -> int:
        """The number of the first part that is judged."""
        return int(self.judged.column("part")[0].as_py())

    def again(self, side: str) -> tuple[str, ...]:
        """The names of a side, as they lead to the same files from here."""
        call = self.about["call"]
        return tuple(name for name in names_again(call[side] or (), call["folder"]) if name != "-")

    def opened(self, sources: Sequence[Any]) -> Sequence[Part]:
        """What is to be copied.

        Raises:
            SourceError: Some of it was no file, or has nothing by which one could tell that it has changed.
        """
        tags = self.about.get("tags", {})
        for line in self.judged.to_pylist():
            if line["size_bytes"] is None and line["format"] != "nothing" and line["source"] not in tags:
                message = f"{self.name}: nothing tells whether {line['source']} is still what it was"
                raise SourceError(message, hint="Leave out the rows of mask.parquet yourself: a mask is for files.")
        read, options = self.about["columns"], self.about["call"]["options"]
        lists = {name: tuple(read[name]) for name in ("beside", "asked_of_pages", "order")}
        wanted = Wanted.of(*(options.get(name) for name in ("include", "exclude", "read_as")))
        columns = Columns(**{**read, **lists}, may_lack=True)
        return open_parts(sources, columns=columns, without_extras=True, wanted=wanted)

    def require_same(self, parts: Sequence[Part], *, moved: bool) -> None:
        """See that these are the files that were read.

        Raises:
            SourceError: They are not.
        """
        left = ("source", "path") if moved else ("source",)
        names = [name for name in MANIFEST.names if name not in left]
        before, now = self.judged, self._lines(parts)
        if not before.select(names).equals(now.select(names)):
            for was, line in zip_longest(before.to_pylist(), now.to_pylist()):
                if was is None or line is None or any(was[name] != line[name] for name in names):
                    raise SourceError(f"{self.name}: {_difference(was, line)}", hint=_OTHER)
        tags = self.about.get("tags", {})
        known = dict(zip(before.column("part").to_pylist(), before.column("source").to_pylist(), strict=True))
        for part, name in zip(parts, known.values(), strict=True):
            if name in tags and list(getattr(part, "stamp", ())) != tags[name]:
                raise SourceError(f"{self.name}: {part.name} is not what it was", hint=_OTHER)

    def leaving(self, *, drop_unreadable: bool) -> LeftOut:
        """What goes.

        Raises:
            SourceError: The mask is damaged.
        """
        mask = _table(self.home, "mask.parquet", tables.MASK, self.name)
        part, row = (mask.column(name).to_numpy() for name in ("part", "row"))
        after = (part[1:] > part[:-1]) | ((part[1:] == part[:-1]) & (row[1:] > row[:-1]))
        if not after.all() or len(mask) != self.stats["removed"]:
            message = f"{self.name}: mask.parquet does not list the {self.stats['removed']:,} removed records in order"
            raise SourceError(message, hint="Write it again.")
        names = self.listed.group_by(["part", "source"]).aggregate([])  # a folder of texts has a line for each file
        masked = mask.select(["part", "row"]).join(names, "part").select(["source", "row"])
        removed = _table(self.home, "removed.parquet", tables.REMOVED, self.name).select(["source", "row"])
        by = [("source", "ascending"), ("row", "ascending")]
        if not masked.cast(removed.schema).sort_by(by).equals(removed.sort_by(by)):
            message = f"{self.name}: mask.parquet and removed.parquet do not list the same records"
            raise SourceError(message, hint="Write it again.")
        for file, form in _TABLES.items():
            if file == "clusters" or self._has(file) or self.about["written"].get(file):
                _table(self.home, f"{file}.parquet", form, self.name)
        return LeftOut(part, row, self._unreadable() if drop_unreadable else {})

    def _has(self, table: str) -> bool:
        return (self.home / f"{table}.parquet").exists()

    def write_tables(self, out: Path, copied: Sequence[Part], **written: bool) -> None:
        """Write what the output has besides copies and statistics; of sources, where the run has read them."""
        for name in _TABLES:
            if self._has(name):
                shutil.copyfile(self.home / f"{name}.parquet", out / f"{name}.parquet")
        how = {name: chosen for name, chosen in self.about["written"].items() if name != "mask"} | written
        about = {name: value for name, value in self.about.items() if name != "tags"}
        about |= {"written": how}
        before = len(self.listed) - len(self.judged)
        targets = [*[""] * before, *self._lines(copied).column("target").to_pylist()]
        listed = self.listed.set_column(3, MANIFEST.field("target"), pa.array(targets, pa.string()))
        folder.write_table(listed.replace_schema_metadata({b"nearsame": json.dumps(about)}), out / "sources.parquet")

    def _lines(self, parts: Sequence[Part]) -> pa.Table:
        """The list of these, numbered as the run has numbered what is judged."""
        lines = manifest(parts, 0, Columns(), {}, 0, {})
        numbers = lines.column("part").to_numpy() + np.int32(self.first)
        return lines.set_column(0, MANIFEST.field(0), pa.array(numbers))

    def _unreadable(self) -> dict[int, Rows]:
        """Positions that could not be read, by part."""
        if not self._has("skipped"):
            return {}
        told = _table(self.home, "skipped.parquet", tables.SKIPPED, self.name).select(["source", "position"])
        by_name: dict[str, list[int]] = {}
        for name, position in zip(*(column.to_pylist() for column in told.drop_null().columns), strict=True):
            by_name.setdefault(name, []).append(position)
        lines = zip(*(self.judged.column(name).to_pylist() for name in ("part", "source")), strict=True)
        return {part: np.unique(by_name[name]) for part, name in lines if name in by_name}


def _table(home: Path, file: str, form: tables.Form, name: str) -> pa.Table:
    findings = Findings()
    table = tables.read(home, file, form, findings, why_not_readable)
    if table is None:
        raise _damaged(name, findings)
    return table


def _damaged(name: str, findings: Findings) -> SourceError:
    first = next(iter(findings.problems), None)
    what = "it is not an output of a run" if first is None else f"{first.place}: {first.what}"
    return SourceError(f"{name}: {what}", hint=f"See what else is wrong: nearsame verify {name}.")


def _difference(was: Mapping[str, Any] | None, line: Mapping[str, Any] | None) -> str:
    """What is not as it was, of a file then and now."""
    if line is None or was is None:
        some, when = (was, "is not among the files now") if line is None else (line, "was not among them")
        return f"{_place(some or {})} {when}"
    if _place(was) != _place(line) and (was["target"], was["file"]) != (line["target"], line["file"]):
        return f"{_place(line)} stands where {_place(was)} was"
    if was["size_bytes"] != line["size_bytes"]:
        return f"{_place(line)} had {was['size_bytes']:,} bytes, and has {line['size_bytes']:,} now"
    return f"{_place(line)} has changed since then, as its time says"


def _place(line: Mapping[str, Any]) -> str:
    return os.fsdecode(line["path"] or line["source"])
