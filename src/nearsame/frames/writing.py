"""Answers in folders: Spark's executors write the parts, the driver writes the statistics.

1. A folder appears complete or not at all, in every file system that can rename one (engines/spark/appearing.py).
2. What nearsame did not write is never replaced, and what is read is never touched, however it is spelled.
3. The statistics are written last: what has them is complete.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nearsame.engines.spark.appearing import appearing, mended
from nearsame.engines.spark.confs import times_as_they_are
from nearsame.engines.spark.failures import plainly
from nearsame.engines.spark.places import HadoopPlace, as_pattern, matches, place_at, places_of, target_at
from nearsame.errors import OutputError
from nearsame.outputs.destinations import by_ending
from nearsame.outputs.folder import is_mark, require_place

__all__ = ["MADE", "STATS", "check_target", "format_of", "require_apart", "write_folder", "write_frame"]

# What tells that nearsame wrote a folder, or one of parts, whose readers take no name that begins so for a part.
# Spark's own _SUCCESS is in the folders of others, too, and can be switched off.
STATS, MADE = "stats.json", "_call.json"
_WRITTEN = ("", "kept", "kept/part-0.zstd.parquet", "part-0.parquet", "part-0.json", "part-0.csv")  # as patterns see it
_FORMATS = {".parquet": "parquet", ".jsonl": "json", ".csv": "csv"}
# Spark's own takes white space off both ends of what it writes.
_AS_IT_IS = {"header": True, "escape": '"', "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}


def format_of(path: str | Path) -> str:
    """The format of Spark's that the name of a place ends with.

    Raises:
        OutputError: It is not one of them.

    Example:
        >>> format_of("s3a://bucket/pairs.jsonl")
        'json'
    """
    return by_ending(str(path), _FORMATS)


def check_target(  # noqa: PLR0913  (what is read, by name and by file; what is written, and over what)
    session: Any, target: str | Path, sources: Sequence[str], mark: str, *, overwrite: bool, roots: Sequence[str] = ()
) -> list[str]:
    """See that a folder may be written, or replaced: it has the mark of an earlier run.

    Args:
        session: Spark's.
        target: The folder.
        sources: What is read, as it was named: paths and patterns.
        mark: The file that an earlier run would have left in the folder.
        overwrite: Whether it may be replaced.
        roots: The files and folders that the DataFrames of a run are read from.

    Returns:
        What to say of leftovers of a run that was killed.

    Raises:
        OutputError: It may not.
    """
    place = target_at(session, target)
    for source in (*sources, *roots):
        require_apart(session, place, target, source)
    notes = mended(place, lambda folder: is_mark(mark, partial(_read, folder)))
    try:
        if place.local is not None:
            require_place(place.local, overwrite=overwrite, mark=mark)
        elif place.exists():
            _require_replaceable(place, mark, overwrite=overwrite)
    except OutputError as error:
        raise OutputError("; ".join([str(error), *notes]), hint=error.hint) from None
    return notes


def require_apart(session: Any, place: HadoopPlace, target: str | os.PathLike[str], source: str) -> None:
    """Refuse a place that is what is read, holds it, or lies in it.

    Raises:
        OutputError: It does.
    """
    hint = "Name a place outside of what is read."
    for read in _with_linked(places_of(session, source)):
        if place.holds(read):
            raise OutputError(f"{target} is or holds the source {source}", hint=hint)
        if read.holds(place):
            raise OutputError(f"{target} is inside the source {source}, where the next run would read it", hint=hint)
    if any(matches(session, source, place.inside(name)) for name in _WRITTEN):
        raise OutputError(f"{target} is what {source} matches: the next run would read it", hint=hint)


def _with_linked(places: Sequence[HadoopPlace]) -> Iterator[HadoopPlace]:
    """Places, and what links in them lead to."""
    for place in places:
        yield place
        yield from place.linked()


def _require_replaceable(place: HadoopPlace, mark: str, *, overwrite: bool) -> None:
    if place.is_file():
        raise OutputError(f"{place.address} is a file, and a folder is to be written", hint="Name another place.")
    if not overwrite:
        hint = "Name another, or add --overwrite (overwrite=True) to replace it."
        raise OutputError(f"{place.address} exists", hint=hint)
    if place.names() and not is_mark(mark, partial(_read, place)):
        message = f"{place.address} is not empty, and was not written by nearsame: it has no {mark}"
        raise OutputError(message, hint="Empty it yourself, or name another place.")


def _read(folder: HadoopPlace, name: str) -> bytes:
    text = folder.inside(name).read_text()
    if text is None:
        raise FileNotFoundError(name)
    return text.encode()


def write_folder(
    session: Any, target: str | Path, frames: Mapping[str, Any], record: Callable[[Any], dict[str, Any]]
) -> None:
    """Write each frame as a folder of Parquet parts, and what `record(kept)` then says as the statistics.

    `kept` is the first of the frames as it was written. Whether the folder may be written was checked before.
    """
    with plainly(), appearing(place_at(session, target), STATS) as home:
        with times_as_they_are(session):
            for name, frame in frames.items():
                frame.write.parquet(home.inside(name).address, compression="zstd")
        written = session.read.parquet(as_pattern(home.inside(next(iter(frames))).address))
        home.inside(STATS).write_text(json.dumps(record(written), indent=2, ensure_ascii=False) + "\n")


def write_frame(session: Any, target: str | Path, frame: Any, record: Mapping[str, Any]) -> None:
    """Write a frame as a folder of parts in the format that its name ends with, and how it was made."""
    kind = format_of(target)
    with plainly(), appearing(place_at(session, target), MADE) as home:
        with times_as_they_are(session):
            frame.write.format(kind).options(**_AS_IT_IS if kind == "csv" else {}).save(home.address)
        home.inside(MADE).write_text(json.dumps(record, indent=2, ensure_ascii=False, default=str) + "\n")
