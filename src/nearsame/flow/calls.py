"""What a run was asked, as an output keeps it, so that it can be asked again.

1. Only what can change the answer is kept: where a run works, and who watches it, cannot.
2. Names are kept as they were given, with the folder that they were given in; what was in memory has no name.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from nearsame.files.inputs import is_address, several

__all__ = ["call_record", "names_again", "names_given"]

_OF_THE_MACHINE = ("batch_rows", "engine", "memory", "progress", "threads", "workdir")
_BESIDE = (*_OF_THE_MACHINE, "decisions", "urls")  # of which the recipe says what they are


def call_record(
    sides: tuple[Any, Any], settings: Mapping[str, Any], options: Mapping[str, Any], indexes: Mapping[str, Any]
) -> dict[str, Any]:
    """What a call asks for besides its method, as JSON has it.

    Args:
        sides: What is judged, and what it is compared with, as they were given.
        settings: What is recorded of it.
        options: Those of the call.
        indexes: How far indexes were read, by their names.
    """
    given = {name: value for name, value in options.items() if name not in _BESIDE and value is not None}
    known = {name: settings[name] for name in ("keep", "within") if name in settings}
    named = {"source": names_given(sides[0]), "against": None if sides[1] is None else names_given(sides[1])}
    read = {"indexes": dict(indexes)} if indexes else {}
    return {"folder": os.getcwd(), **named, **known, "options": given, **read}  # noqa: PTH109  (a text)


def names_again(names: Sequence[str | None], folder: str) -> list[str]:
    """Names that were given in a folder, as they lead to the same files from here; what has none is left out.

    Example:
        >>> names_again(["s3://a/b", None, "c.jsonl", "-"], "/data")
        ['s3://a/b', '/data/c.jsonl', '-']
    """
    return [name if _is_same(name, folder) else os.path.join(folder, name) for name in names if name is not None]  # noqa: PTH118  (texts)


def _is_same(name: str, folder: str) -> bool:
    return name == "-" or is_address(name) or os.path.abspath(name) == os.path.abspath(os.path.join(folder, name))  # noqa: PTH100, PTH118  (links and patterns stay)


def names_given(side: Any) -> list[str | None]:
    """The names of some sources, as they were given; None for one that is in memory."""
    return [str(os.fspath(one)) if isinstance(one, (str, os.PathLike)) else None for one in several(side)]
