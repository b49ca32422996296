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
from nearsame.sources import Columns, Part
from nearsame.sources.reading import Reading
from nearsame.stages.clusters.policies import Keep

__all__ = ["identity", "identity_of", "with_kept_seed", "with_seed_of"]


def identity(reading: Reading, recipe: Method, keep: Keep, *, listing: bool, layers: str | None) -> dict[str, Any]:
    """All that finished steps depend on."""
    return {
        **identity_of(recipe, keep, reading.columns),
        "batch_rows": reading.batch_rows,
        "against": len(reading.against),
        "inputs": [[part.name, *_stamp(part), part.format] for part in reading.all_parts],
        "listing": listing,
        **({} if layers is None else {"layers": layers}),
    }


def identity_of(recipe: Method, keep: Keep, columns: Columns) -> dict[str, Any]:
    """What they depend on, wherever they are."""
    return {
        "version": __version__,
        **recipe.record(),
        "named": _named(recipe),
        "keep": [str(policy) for policy in keep.policies],
        "ties": keep.ties,
        "columns": repr(columns),
    }


def with_kept_seed(recipe: Method, workdir: str | os.PathLike[str] | None) -> Method:
    """The recipe; if its seed was to be drawn, with the one that a work directory was begun with."""
    if workdir is None or not recipe.is_drawn:
        return recipe
    try:
        stored = json.loads((Path(workdir) / "run.json").read_bytes())
    except (OSError, RecursionError, ValueError):  # nothing was begun there
        return recipe
    return with_seed_of(recipe, stored)


def with_seed_of(recipe: Method, stored: Any) -> Method:
    """The same, by what a folder says that it is about."""
    if not recipe.is_drawn or not isinstance(stored, dict) or "seed" not in stored:  # nothing of ours
        return recipe
    return type(recipe)(**{**recipe.settings, "seed": stored["seed"]})


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
