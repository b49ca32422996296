"""What a command reads and what it writes, held against each other before it runs: for all commands, once.

1. Every option and argument that names a file says in its declaration whether it is read, or what is written there
   (`options.reads`, `options.writes`): a test walks all commands, and none can be forgotten.
2. What is written is looked at again when it is about to appear (outputs/folder.py); here the user hears of it at once.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

__all__ = ["APART", "BY_NAME", "FILE", "FOLDER", "names_a_file", "require_places"]

# What is written: checked whole, as a file, a folder, or what its name means; or only for being apart.
FILE, FOLDER, BY_NAME, APART = "file", "folder", "by name", "apart"
_LONGEST_NAME = 255  # bytes of a file's name: a longer text is none


def require_places(command: click.Command, given: Mapping[str, Any]) -> None:
    """See that each place may be written to, and is apart from all that is read.

    Raises:
        OutputError: One may not, or is not.
    """
    _require_stdout(command, given)
    written = list(_values(command, given, "writes"))
    if not written or given.get("engine") == "spark":  # Spark has file systems of its own, and looks there
        return
    from nearsame.files.inputs import Inputs, is_address
    from nearsame.outputs.apart import require_apart
    from nearsame.outputs.destinations import meaning
    from nearsame.outputs.folder import require_place

    names = [value for _, value in _values(command, given, "reads")]
    others = given.get("against") or ()
    against = [name for name in names if name in ((others,) if isinstance(others, str) else others)]
    named = Inputs(tuple(name for name in names if name not in against), tuple(against))
    _require_several([place for _, place in written])
    for kind, place in written:
        read = Inputs.of(named.named, named.against) if os.path.lexists(place) else named
        if kind in (FILE, FOLDER, BY_NAME):
            overwrite = bool(given.get("overwrite"))
            folder = meaning(place).is_folder if kind == BY_NAME else kind == FOLDER
            require_place(place, read, folder=folder, overwrite=overwrite)
        elif not is_address(place):
            require_apart(place, Path(os.path.realpath(place)), read, folder=False)


def names_a_file(text: str) -> bool:
    """Whether a text is also the name of something on disk."""
    return (
        text != ""
        and len(text.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME
        and "\0" not in text
        and Path(text).exists()
    )


def _require_stdout(command: click.Command, given: Mapping[str, Any]) -> None:
    """Refuse to print records where nobody can get them."""
    is_closed = getattr(sys.stdout, "name", None) == os.devnull  # what stands in place of a closed one
    if is_closed and any(
        getattr(param, "writes", None) and given.get(str(param.name)) == "-" for param in command.params
    ):
        from nearsame.errors import OutputError

        raise OutputError("- is standard output, which is closed", hint="Name a file, or open standard output.")


def _require_several(places: list[str]) -> None:
    """Refuse two outputs of which one would lie in the other, or be it."""
    from nearsame.errors import OutputError

    real = [Path(os.path.realpath(place)) for place in places]
    for number, path in enumerate(real):
        for other in (*real[:number], *real[number + 1 :]):
            if path == other or path in other.parents:
                message = f"{places[number]} is or holds {places[real.index(other)]}, and both are to be written"
                raise OutputError(message, hint="Name two places apart from each other.")


def _values(command: click.Command, given: Mapping[str, Any], what: str) -> Iterator[tuple[str, str]]:
    """What each parameter is declared as, and each path that was given to it."""
    for param in command.params:
        kind, value = getattr(param, what, None), given.get(str(param.name))
        if kind:
            yield from (
                (kind, str(path)) for path in (value if isinstance(value, tuple) else (value,)) if _is_path(path)
            )


def _is_path(value: Any) -> bool:
    return value is not None and value != "-"
