"""The records that stay as one file, or as JSON lines on standard output.

1. JSON lines of JSON lines are the lines as they came, and a source alone in its own format is copied as in a folder:
   what could not be read stays, unless it is to be left out.
2. Anything else is read as tables first, for JSON lines as many records as a source gives at once, for other formats
   all of them: what could not be read cannot be in it, and is counted. What names of folders say becomes columns.
3. A file appears complete or not at all, and touches nothing that was read. It has no proof beside it: that is a
   folder's. How it was made stands in the metadata of Parquet and Arrow; other formats have no place for that.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nearsame.answers.stats import Stats
from nearsame.arrow import Rows
from nearsame.files.compressions import compressor
from nearsame.flow.calls import metadata_of, with_call
from nearsame.flow.kept import Picked, ReadRecords, as_table, chosen_of, said_of, tables_of
from nearsame.flow.runs import Run
from nearsame.outputs import folder, lists
from nearsame.outputs.destinations import Destination
from nearsame.sources.columnar import Columnar
from nearsame.sources.json_keys import extend_lines
from nearsame.sources.jsonl import JsonLines
from nearsame.sources.parts import FilePart
from nearsame.stages.clusters.keepers import Decided

__all__ = ["poured", "write_one"]

_SAYS_HOW = ("parquet", "arrow")  # formats with a place for how a file was made
_PIECE = 64 << 10


def write_one(  # noqa: PLR0913  (what was decided about what, where it goes, and how)
    run: Run, decided: Decided, stats: Stats, place: Destination, *, overwrite: bool, drop_unreadable: bool
) -> Stats:
    """Write one file, or to standard output; the statistics, with the seconds of writing.

    Raises:
        OutputError: The file cannot be written, or would be a source; or its format has no form for some column.
        SourceError: A source is not what it was.
    """
    how = {"call": run.call, "recipe": stats.recipe, "written": {"drop_unreadable": drop_unreadable}}
    out = poured(run, list(chosen_of(run, decided, stay=True)), place, how, overwrite=overwrite)
    written = {} if out is None else {"writing": {"documents": stats.kept, "out": out}}
    return replace(stats, seconds=run.seconds, bytes={**stats.bytes, **written})


def poured(
    run: ReadRecords, kept: Sequence[Picked], place: Destination, how: dict[str, Any], *, overwrite: bool
) -> int | None:
    """Write what was picked of each part as one file, or to standard output; how many bytes the file has.

    Args:
        run: What has read it.
        kept: What was picked.
        place: Where it goes.
        how: How it was made, which the file says where it can.
        overwrite: Whether a file that exists is replaced.
    """
    if place.is_stream:
        run.inputs.require_unchanged()
        with run.clock("writing", run.reading.size_bytes):
            _print(_lines(run, kept, drop_unreadable=how["written"].get("drop_unreadable", False)))
        run.inputs.require_unchanged("what was printed may be of both")
        return None
    there = folder.require_place(place.typed, run.inputs, folder=False, overwrite=overwrite)
    with folder.appearing(there) as made, run.clock("writing", run.reading.size_bytes):
        _write(run, kept, place, made, how)
        return made.stat().st_size


def _print(lines: Iterator[Any]) -> None:
    """Write to standard output in small pieces: a system may take a large one without a word that nobody reads it."""
    for line in lines:
        view = memoryview(line)
        for at in range(0, len(view), _PIECE):
            sys.stdout.buffer.write(view[at : at + _PIECE])
    sys.stdout.buffer.flush()


def _write(run: ReadRecords, kept: Sequence[Picked], place: Destination, made: Path, how: dict[str, Any]) -> None:
    drop_unreadable = how["written"].get("drop_unreadable", False)
    form, only = place.form.name if place.form else "", kept[0].part
    packing = (only.format, only.compression) if isinstance(only, FilePart) else None
    if len(kept) == 1 and packing == (form, place.compression) and not said_of(run, only):
        removed, cuts = _removed(kept[0], drop_unreadable=drop_unreadable), kept[0].cuts
        if isinstance(only, Columnar) and form in _SAYS_HOW:
            only.copy(made, removed, cuts, drop_unread=drop_unreadable, metadata=metadata_of(how))
        else:
            only.copy(made, removed, cuts, drop_unread=drop_unreadable)
    elif form == "jsonl":
        with made.open("wb") as raw, compressor(raw, place.compression) as out:
            out.writelines(_lines(run, kept, drop_unreadable=drop_unreadable))
    else:
        lists.write_as(place, with_call(as_table(run, kept), how), made)


def _lines(run: ReadRecords, kept: Sequence[Picked], *, drop_unreadable: bool) -> Iterator[Any]:
    """The documents that stay as JSON lines."""
    for chosen in kept:
        if isinstance(chosen.part, JsonLines):
            removed = _removed(chosen, drop_unreadable=drop_unreadable)
            lines, said = (
                chosen.part.lines(removed, chosen.cuts, drop_unread=drop_unreadable),
                said_of(run, chosen.part),
            )
            more = {name: values[0].as_py() for name, values in said.items()}
            yield from extend_lines(lines, more) if more else lines
            continue
        for table in tables_of(run, chosen):
            yield from lists.lines_of(table)


def _removed(chosen: Picked, *, drop_unreadable: bool) -> Rows:
    return chosen.others if drop_unreadable else chosen.unwanted
