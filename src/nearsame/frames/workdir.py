"""A work directory on Spark: what its steps are about, and which sources it is for."""

import os
from typing import Any

from nearsame.engines.spark.places import HadoopPlace, places_of, target_at
from nearsame.engines.spark.plans import roots
from nearsame.engines.spark.stored import Stored, stamps
from nearsame.errors import ConfigError
from nearsame.files.inputs import several
from nearsame.frames.runs import FrameReading
from nearsame.frames.writing import require_apart

__all__ = ["require_files", "stored_steps"]


def require_files(session: Any, workdir: str | os.PathLike[str], sources: list[Any]) -> None:
    """Refuse sources of which nobody can tell whether they are the same again, and a folder in one of them.

    Raises:
        ConfigError: One is a DataFrame, a table or in memory.
        OutputError: The folder is in a source, or holds one.
    """
    place = target_at(session, workdir)
    for source in (one for given in sources for one in several(given)):
        is_path = isinstance(source, (str, os.PathLike))
        if not is_path or not any(found.exists() for found in places_of(session, os.fspath(source))):
            what = os.fspath(source) if is_path else f"a {type(source).__name__}"
            message = f"workdir works with files only, and {what} is not a file"
            raise ConfigError(message, hint="Write it to files first, and give their path.")
        require_apart(session, place, workdir, os.fspath(source))


def stored_steps(read: FrameReading, place: HadoopPlace, known: dict[str, Any]) -> Stored:
    """The finished steps of a run that is about the same files.

    Raises:
        WorkdirError: The folder belongs to another run.
    """
    session = read.verbs.session
    below = [list(dict.fromkeys(root for part in side.parts for root in roots(part.frame))) for side in read.sides]
    inputs = [
        [path, length, time if side.number else f"{time}, on the other side", side.number]
        for side, found in zip(read.sides, below, strict=True)
        for path, length, time in stamps(session, found)
    ]
    return Stored.at(place, {**known, "inputs": inputs})
