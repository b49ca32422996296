"""The records of a run that stay and those that go: read again, as tables and as files.

1. Records are written by the sources that they came from; what is not removed is copied as it is.
2. A folder appears complete or not at all, and touches nothing that was read.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from nearsame import schemas
from nearsame.answers.stats import Stats
from nearsame.arrow import Rows
from nearsame.clock import Clock
from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError
from nearsame.files.inputs import Inputs
from nearsame.flow.runs import Run
from nearsame.named import NamedTuple
from nearsame.outputs import folder
from nearsame.outputs.annotations import Verdict
from nearsame.outputs.tables import RowNames, mask_table
from nearsame.outputs.writing import copy_parts, num_bytes
from nearsame.sources import Annotations, Part, TextFolder
from nearsame.sources.columnar import Columnar
from nearsame.sources.folder_keys import of_positions
from nearsame.sources.json_keys import keys_among
from nearsame.sources.jsonl import JsonLines
from nearsame.sources.manifest import manifest
from nearsame.sources.reading import Reading
from nearsame.sources.select import together
from nearsame.sources.targets import with_own_targets
from nearsame.stages.clusters.keepers import Decided
from nearsame.stages.texts.page_text import PageTexts

if TYPE_CHECKING:
    from nearsame.sources.revisits import Revisiting

__all__ = [
    "Choices", "Picked", "ReadRecords", "as_copied", "as_table", "chosen_of", "led_out", "records", "said_of",
    "table_of", "tables_of", "write",
]  # fmt: skip

_NONE = np.zeros(0, np.int64)
_ASCENDING = {"use_dictionary": False, "column_encoding": "DELTA_BINARY_PACKED"}
_OF_COPIES = ("annotate", "drop_unreadable", "copy_files", "revisits")
_SELDOM = ("revisits", "mask", "features")
_ROWS_OF_TYPES = 1000  # enough to say which columns there are
_FILES = 4_096  # texts of a folder that are held at once
_UNTYPED = ("csv", "tsv")  # formats that say nothing of the types of columns


@dataclass(frozen=True)
class Choices:
    """What a written folder holds.

    Attributes:
        pairs: `pairs.parquet`, too.
        annotate: all records, with columns that say what was found of each.
        drop_unreadable: nothing that could not be read.
        copy_files: copies of text files, where otherwise a list of their paths is written.
        revisits: all records of WARC files, removed copies as revisits of their witnesses.
        mask: in place of copies the numbers of the records that go; `apply` makes the copies.
        features: on Spark, `features/`, by which a later run compares with the documents that stay.
    """

    pairs: bool = False
    annotate: bool = False
    drop_unreadable: bool = False
    copy_files: bool = False
    revisits: bool = False
    mask: bool = False
    features: bool = False

    def require_possible(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ConfigError: It does.
        """
        if self.revisits and self.drop_unreadable:
            message = "revisits and drop_unreadable: with the first all records stay, so that all can be given back"
            raise ConfigError(message, hint="Leave one of them out.")
        about_copies = [name for name in _OF_COPIES if getattr(self, name)]
        if self.mask and about_copies:
            message = f"mask and {about_copies[0]}: with a mask nothing is copied"
            raise ConfigError(message, hint="Leave one out; `nearsame apply` has --copy and --drop-unreadable.")

    @property
    def all_stay(self) -> bool:
        """Whether all records stay, and are annotated."""
        return self.annotate or self.revisits

    @property
    def of_folders(self) -> list[str]:
        """Those of them that one file has no room for."""
        return [name for name, chosen in asdict(self).items() if chosen and name != "drop_unreadable"]

    @property
    def as_record(self) -> dict[str, bool]:
        """What the list of sources says of it; of revisits and a mask, where there are some."""
        choices = {**asdict(self), "annotate": self.all_stay}
        return {name: chosen for name, chosen in choices.items() if chosen or name not in _SELDOM}


class ReadRecords(Protocol):
    """Whatever has read records, some of which are to be written: a run, or a search for leaks."""

    @property
    def reading(self) -> Reading:
        """What was read."""

    @property
    def names(self) -> RowNames:
        """What rows are called."""

    @property
    def said_by_folders(self) -> dict[str, list[pa.Array | None]]:
        """What names of folders say of the judged side, by part."""

    @property
    def extract(self) -> PageTexts | None:
        """What takes the text out of pages, where there are some."""

    @property
    def inputs(self) -> Inputs:
        """Every file that was read."""

    @property
    def clock(self) -> Clock:
        """Of the steps."""


class Picked(NamedTuple):
    """Positions of a part: those that are wanted, and those of all its other records."""

    part: Part
    wanted: Rows
    unwanted: Rows  # among those that could be read
    unreadable: Rows
    cuts: Any = None  # Cuts, out of those that are wanted

    @property
    def others(self) -> Rows:
        """Those of all other records."""
        return np.union1d(self.unwanted, self.unreadable)


def records(run: ReadRecords, decided: Decided, *, stay: bool) -> Any:
    """The records of the judged side that stay or go; one that could not be read is in neither.

    1. One table of a library (a pandas or polars frame, a data set) comes back as what it was.
    2. All else, and several sources together, comes as an Arrow table.
    """
    picked, give_back = list(chosen_of(run, decided, stay=stay)), getattr(run.reading.parts, "give_back", None)
    if give_back is not None:
        return give_back([chosen.wanted for chosen in picked])
    table = as_table(run, picked)
    for chosen in picked:
        chosen.part.require_unchanged(chosen.wanted)
    return table


def as_table(run: ReadRecords, picked: Sequence[Picked]) -> pa.Table:
    """What was picked of each part, as one Arrow table."""
    parts = [chosen.part for chosen in picked]
    tables = [table_of(run, chosen) for chosen in picked]
    return together(tables, [part.name for part in parts], [part.format in _UNTYPED for part in parts])


def chosen_of(run: ReadRecords, decided: Decided, *, stay: bool) -> Iterator[Picked]:
    """The positions that stay, or go, of each part of the judged side."""
    reading, (source, position) = run.reading, run.names.all_places()
    gone = np.zeros(source.size, np.bool_)
    gone[decided.rows] = True
    for number, part in enumerate(reading.parts, start=len(reading.against)):
        here = source == number
        removed, kept = position[here & gone], position[here & ~gone]
        kept = np.union1d(kept, reading.unread.get(number, _NONE))  # files that equal no other have no row
        unreadable = np.unique(np.array(reading.unreadable.get(number, []), np.int64))
        wanted, unwanted = (kept, removed) if stay else (removed, kept)
        yield Picked(part, wanted, unwanted, unreadable)


def table_of(run: ReadRecords, chosen: Picked) -> pa.Table:
    """The wanted records of a part, of web pages with their texts, and what names of folders say of them."""
    part, columns = chosen.part, run.reading.columns
    table = part.take(chosen.wanted, chosen.others, columns)
    if not len(table) and chosen.unwanted.size and (not table.schema or pa.null() in table.schema.types):
        # rows in a file say which columns there are, and of what type: those of the others do, where none is wanted
        some, more = chosen.unwanted[:_ROWS_OF_TYPES], chosen.unwanted[_ROWS_OF_TYPES:]
        table = part.take(some, np.union1d(more, chosen.unreadable), columns).slice(0, 0)
    table = _with_texts(table, run.extract) if chosen.part.pages else table
    table = table if chosen.cuts is None else chosen.cuts.among(chosen.wanted).table(table, 0)
    return _with_said(run, part, table, chosen.wanted)


def tables_of(run: ReadRecords, chosen: Picked) -> Iterator[pa.Table]:
    """The same, as many as are read at once, where a file gives some after the other; of a folder some of its files."""
    part, start = chosen.part, 0
    if isinstance(part, TextFolder):
        for some in np.split(chosen.wanted, range(_FILES, chosen.wanted.size, _FILES)):
            yield table_of(run, chosen._replace(wanted=some))
    elif not isinstance(part, Columnar) or part.pages:
        yield table_of(run, chosen)
    else:
        for table in part.tables(chosen.others, chosen.cuts):
            yield _with_said(run, part, table, chosen.wanted[start : start + len(table)])
            start += len(table)


def _with_said(run: ReadRecords, part: Part, table: pa.Table, positions: Rows) -> pa.Table:
    """Records at some positions, and what names of folders say of them."""
    for name, values in said_of(run, part).items():
        if name not in table.column_names and len(table) == positions.size:
            table = table.append_column(name, of_positions(values, part, positions))
    return table


def said_of(run: ReadRecords, part: Part) -> dict[str, pa.Array]:
    """What names of folders say of the files of a part, and these do not."""
    at = next(number for number, other in enumerate(run.reading.parts) if other is part)
    said = {name: values[at] for name, values in run.said_by_folders.items() if values[at] is not None}
    own = keys_among(part.lines(_NONE), said) if said and isinstance(part, JsonLines) else ()  # of any of its records
    return {name: values for name, values in said.items() if name not in own}


def write(  # noqa: PLR0913, PLR0917  (what was decided about what, where it goes, and what of it)
    run: Run,
    decided: Decided,
    stats: Stats,
    tables: Callable[[], Mapping[str, pa.Table]],
    place: folder.Place,
    choices: Choices,
) -> Stats:
    """Write a folder; the statistics, with the seconds of writing.

    Raises:
        OutputError: The folder cannot be written.
    """
    reading = run.reading
    if choices.revisits:
        from nearsame.sources.revisits import require_archives  # noqa: PLC0415  (of archives only)

        require_archives(reading.parts)
    unreadable = reading.unreadable if choices.drop_unreadable else {}
    verdict = Verdict(run.names, decided.rows, decided.witnesses, unreadable, reading.unread)
    parts = as_copied(reading.parts, copy_files=choices.copy_files)
    with folder.appearing(place) as home:
        with run.clock("writing", None if choices.mask else reading.size_bytes):
            revisiting = _revisiting(run, decided) if choices.revisits else []
            numbered: dict[int, Any] = dict(enumerate(revisiting or parts, start=len(reading.against)))
            if choices.mask:
                home.mkdir()
                gone = mask_table({number: verdict.positions(number) for number in numbered})
                folder.write_table(gone, home / "mask.parquet", **_ASCENDING)
            else:
                copy_parts(
                    numbered,
                    verdict,
                    home / "kept",
                    annotate=(lambda number: Annotations(*verdict.columns(number))) if choices.all_stay else None,
                    memory=run.state.corpus.engine.free_bytes,
                    drop_unread=choices.drop_unreadable,
                )
            sources, num_against, how = [*reading.against, *parts], len(reading.against), choices.as_record
            read = manifest(sources, num_against, reading.columns, how, run.num_ignored, run.call)
            for name, table in {**tables(), "sources": read}.items():
                folder.write_table(table, home / f"{name}.parquet")
        documents = 0 if choices.mask else stats.documents if choices.all_stay else stats.kept
        written = {"documents": documents, "out": num_bytes(home)}
        notes = (*stats.notes, *led_out(parts)) if choices.copy_files else stats.notes
        notes = (*notes, _with_revisits(revisiting, decided)) if choices.revisits else notes
        stats = replace(stats, seconds=run.seconds, bytes={**stats.bytes, "writing": written}, notes=notes)
        folder.write_json(stats.record(), home / "stats.json")
    return stats


def as_copied(parts: Sequence[Part], *, copy_files: bool) -> Sequence[Part]:
    """The parts as they are copied: of folders of text files a list, or the files."""
    if not copy_files:
        return parts
    return with_own_targets([part.as_files() if isinstance(part, TextFolder) else part for part in parts])


def _revisiting(run: Run, decided: Decided) -> "list[Revisiting]":
    """The parts, copied with revisits; a witness of the other side is in no copy."""
    from nearsame.sources.revisits import with_revisits  # noqa: PLC0415  (of archives only)

    source, position = (run.names.origins.column(name).to_numpy() for name in ("source", "position"))
    first = len(run.reading.against)
    removed, witnesses = (
        list(zip((source[rows] - first).tolist(), position[rows].tolist(), strict=True))
        for rows in (decided.rows, decided.witnesses)
    )
    return with_revisits(run.reading.parts, removed, witnesses)


def _with_revisits(copied: "Sequence[Revisiting]", decided: Decided) -> str:
    """How many of the removed documents became revisits, and why others did not."""
    number, others = sum(len(part.origins) for part in copied), decided.rows.size
    line = f"{number:,} of {others:,} removed documents are revisits in kept/"
    if number < others:
        line += "; the others stay, since none that stays could give them back, or revisits lead to them"
    closed = [part.name for part in copied if not part.is_whole]
    if closed:
        more = f" and {len(closed) - 1:,} more" if len(closed) > 1 else ""
        line += f"; the records of {closed[0]}{more} share compressed members or are damaged, so none of them can"
    return line


def _with_texts(table: pa.Table, extract: PageTexts | None) -> pa.Table:
    """Records of pages with the text in place of the body."""
    if extract is None or "body" not in table.column_names:
        return table
    texts = []
    for batch in table.to_batches():
        rows = pa.array(np.arange(len(batch)))
        pages = pa.RecordBatch.from_arrays([rows, *map(batch.column, schemas.PAGES.names[1:])], schema=schemas.PAGES)
        texts.append(extract(pages).column("text"))
    at = table.column_names.index("body")
    return table.set_column(at, "text", pa.chunked_array(texts, pa.large_string())).drop_columns(["charset"])


def led_out(parts: Sequence[Any]) -> Iterator[str]:
    """What one must know of copies of links that lead out of their folder."""
    for part in parts:
        links = part.leading_out() if isinstance(part, TextFolder) else []
        if links:
            others = f" and {len(links) - 1:,} more" if len(links) > 1 else ""
            yield f"{links[0]}{others} in {part.name} led out of the folder, and was copied as what it led to"
