"""Finished steps of a run on Spark, in a folder of any file system that Spark knows: the same command goes on there.

1. A step is there whole or not at all: written beside with the number of its rows, and renamed. What cannot be read, or
   has another number of rows, counts as not there.
2. The folder names what it is about (run.json); another recipe, version or input is an error that names the fields.
3. Parts of two drivers never mix, as each writes a folder of its own; what both write is the same. Of two that begin at
   once one names what the folder is about, and the other has to be about the same.
4. What a driver that was killed has half written is named, and left: another driver may be writing it.
"""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from nearsame.dataclass import dataclass
from nearsame.engines.checkpoints import require_same
from nearsame.engines.spark.appearing import appearing, is_left_over, left_over, unseen
from nearsame.engines.spark.confs import times_as_they_are
from nearsame.engines.spark.interrupting import is_interrupting
from nearsame.engines.spark.places import HadoopPlace, as_pattern
from nearsame.errors import OutputError, WorkdirError

__all__ = ["Stored", "files_below", "kept_identity", "stamps", "whole"]

_RUN, _FINISHED = "run.json", "_finished.json"


@dataclass(frozen=True, eq=False)
class Stored:
    """The finished steps of one run.

    Attributes:
        place: the folder.
        notes: what to say of leftovers there.
    """

    place: HadoopPlace
    notes: tuple[str, ...] = ()

    @classmethod
    def at(cls, place: HadoopPlace, identity: dict[str, Any]) -> "Stored":
        """Those of a run that is about the same.

        Raises:
            WorkdirError: The folder holds something else.
        """
        wanted, stored = json.loads(json.dumps(identity)), kept_identity(place)
        hidden = [name for name in place.names() if is_left_over(name)]
        if stored is None:
            if others := set(place.names()) - {_RUN, *hidden}:  # which a process that is killed may have begun
                message = f"{place.address} is not a work directory: it holds {', '.join(sorted(others)[:3])}"
                raise WorkdirError(message, hint="Name an empty or a new folder.")
            stored = _begun(place, wanted)
        require_same(place.address, stored, wanted)
        return cls(place, tuple(left_over(place.inside(name)) for name in hidden))

    def under(self, name: str) -> "Stored":
        """Those of a part of it."""
        return replace(self, place=self.place.inside(name))

    def found(self, step: str) -> Any:
        """The frame of a step, if it is finished, and can be read to its end; else None."""
        place = self.place.inside(step)
        match place.inside(_FINISHED).read_json():
            case {"rows": int(rows)}:
                return whole(place, rows)
        return None  # it is not, or what says so is damaged

    def once(self, step: str, frame: Any) -> Any:
        """The frame of a step: found, or computed and put away.

        Raises:
            WorkdirError: What was written cannot be read back.
        """
        found = self.found(step)
        if found is not None:
            return found
        place = self.place.inside(step)
        with appearing(place, _FINISHED) as home:
            with times_as_they_are(self.place.session):
                frame.write.parquet(home.address, compression="zstd")
            rows = self.place.session.read.parquet(as_pattern(home.address)).count()
            home.inside(_FINISHED).write_text(json.dumps({"rows": rows}))
        found = self.found(step)
        if found is None:
            raise WorkdirError(f"{place.address} cannot be read back", hint="Name a folder in another store.")
        return found

    def noted(self, name: str) -> Any:
        """What was noted; None where nothing was."""
        return self.place.inside(f"{name}.json").read_json()

    def note(self, name: str, content: Any) -> None:
        """Note something that is JSON."""
        self.place.inside(f"{name}.json").write_text(json.dumps(content))


def _begun(place: HadoopPlace, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a new folder is about: this, unless another driver has just said something else."""
    run = place.inside(_RUN)
    written = unseen(run)
    try:
        written.write_text(json.dumps(wanted, indent=1))
        if kept_identity(place) is None:
            run.delete()  # what is none
        with suppress(OutputError):  # another one was faster
            written.move_to(run)
    finally:
        written.delete()
    stored = kept_identity(place)
    if stored is None:
        raise WorkdirError(f"{run.address} cannot be read back", hint="Name a folder in another store.")
    return stored


def whole(place: HadoopPlace, rows: int) -> Any:
    """The frame in a folder of Parquet parts, if it has so many rows, of which each can be read; else None."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        frame = place.session.read.parquet(as_pattern(place.address))
        return frame if _num_read(frame) == rows else None
    except (PySparkException, Py4JJavaError):  # a part is gone, or is none any more
        if is_interrupting():
            raise
        return None


def _num_read(frame: Any) -> int:
    """How many rows are there, after a look at every value: footers say it also of parts that are damaged."""
    values = ", ".join(f"`{name}`" for name in frame.columns)
    return int(frame.selectExpr("count(1)", f"max(xxhash64({values}))").collect()[0][0])


def kept_identity(place: HadoopPlace) -> dict[str, Any] | None:
    """What a folder is about; None where it does not say."""
    identity = place.inside(_RUN).read_json()
    return identity if isinstance(identity, dict) else None


def stamps(session: Any, roots: list[str]) -> list[list[Any]]:
    """Of every file below some places its address, bytes and time: these are others when its contents are."""
    return sorted([path, length, f"modified {_moment(micros)}"] for path, length, micros in files_below(session, roots))


def files_below(session: Any, roots: list[str]) -> list[tuple[str, int, int]]:
    """Every file below some places: its address, its bytes, and when it was changed."""
    reader = session.read.format("binaryFile").option("recursiveFileLookup", True)
    files = reader.load([*map(as_pattern, roots)]).selectExpr("path", "length", "unix_micros(modificationTime)")
    return [tuple(row) for row in files.collect()]


def _moment(micros: int) -> str:
    """When that is, whatever the session's time zone."""
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat(" ", "microseconds")
