"""What finished steps of a work directory depend on: another value of any of it, and they are another run's."""

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nearsame._version import __version__
from nearsame.errors import ConfigError
from nearsame.files.systems import File
from nearsame.recipes.methods import Method
from nearsame.sources import Part
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.policies import Keep

__all__ = ["identity", "with_kept_seed"]


def identity(reading: Reading, recipe: Method, keep: Keep, *, listing: bool, layers: str | None) -> dict[str, Any]:
    """All that finished steps depend on."""
    return {
        "version": __version__,
        **recipe.record(),
        "named": _named(recipe),
        "keep": [str(policy) for policy in keep.policies],
        "ties": keep.ties,
        "columns": repr(reading.columns),
        "batch_rows": reading.batch_rows,
        "against": len(reading.against),
        "inputs": [[part.name, *_stamp(part), part.format] for part in reading.all_parts],
        "listing": listing,
        **({} if layers is None else {"layers": layers}),
    }


def with_kept_seed(recipe: Method, workdir: str | os.PathLike[str] | None) -> Method:
    """The recipe; if its seed was to be drawn, with the one that a work directory was begun with."""
    if workdir is None or not recipe.is_drawn:
        return recipe
    try:
        seed = json.loads((Path(workdir) / "run.json").read_bytes())["seed"]
    except (OSError, RecursionError, ValueError, KeyError, TypeError):  # nothing was begun there, or nothing of ours
        return recipe
    return type(recipe)(**{**recipe.settings, "seed": seed})


def _named(recipe: Method) -> str | None:
    """The digest of the file that a recipe names."""
    path = getattr(recipe, "frequencies", None)
    if path is None:
        return None
    with File(path).open() as file:
        return hashlib.blake2b(file.read(), digest_size=8).hexdigest()


def _stamp(part: Part) -> list[Any]:
    """What changes when the contents of a part do."""
    stamp = getattr(part, "stamp", None) or getattr(part, "stamps", None)
    if not stamp or getattr(part, "spool", None) is not None:
        raise ConfigError(
            f"workdir works with files only, and {part.name} is not a file", hint="Write it to a file first."
        )
    digest = hashlib.blake2b(repr(stamp).encode(), digest_size=8).hexdigest()
    return [part.size_bytes(), _time(stamp, digest), digest]


def _time(stamp: Any, digest: str) -> str:
    """When a local file was modified, and when the system saw that; of what has no such times, the digest."""
    match stamp:
        case (int(), int(modified), int(seen)):
            return f"modified {_moment(modified)}, touched {_moment(seen)}"
    return f"stamp {digest}"


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(" ", "microseconds")
