"""What a run was asked, as an output keeps it, so that it can be asked again.

1. Only what can change the answer is kept: where a run works, and who watches it, cannot.
2. Names are kept as they were given but for passwords, with the folder that they were given in; what was in memory has
   no name.
3. A folder has it in its list of sources or in stats.json, one file of Parquet or Arrow in the metadata of its schema.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from nearsame.files.inputs import is_address, several
from nearsame.printable import without_secrets

__all__ = ["KEY", "asked_of", "call_record", "metadata_of", "names_again", "names_given", "of_command", "with_call"]

KEY = b"nearsame"  # of metadata

_OF_THE_MACHINE = ("batch_rows", "engine", "memory", "progress", "threads", "workdir")
_SETTINGS = ("keep", "within", "identical")
_BESIDE = (*_OF_THE_MACHINE, "decisions", "urls")  # of which the recipe says what they are


def call_record(
    command: str,
    sides: tuple[Any, Any],
    settings: Mapping[str, Any],
    options: Mapping[str, Any],
    indexes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What a call of `dedup` or `pairs` asks for besides its method, as JSON has it.

    Args:
        command: Which of them; `dedup` has no name.
        sides: What is judged, and what it is compared with, as they were given.
        settings: What is recorded of it.
        options: Those of the call.
        indexes: How far indexes were read, by their names.
    """
    known = {name: settings[name] for name in _SETTINGS if name in settings}
    named = {"source": names_given(sides[0]), "against": None if sides[1] is None else names_given(sides[1])}
    read = {"indexes": {without_secrets(name): far for name, far in indexes.items()}} if indexes else {}
    return {**of_command(command, **named), **known, "options": asked_of(options), **read}


def of_command(command: str, **asked: Any) -> dict[str, Any]:
    """What a call of a command asks for, with the folder that its names are to be read in."""
    return {"folder": _folder(), **({"command": command} if command else {}), **asked}


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  (a text)
    except FileNotFoundError:  # it is gone, and so no name leads from it to anything
        return ""


def asked_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that can change an answer, and that nothing else says."""
    return {name: value for name, value in options.items() if name not in _BESIDE and value is not None}


def with_call(table: pa.Table, record: Mapping[str, Any]) -> pa.Table:
    """A table that says how it was made, wherever its file has a place for that."""
    metadata = {**(table.schema.metadata or {}), **metadata_of(record)}
    return table.replace_schema_metadata(metadata)


def metadata_of(record: Mapping[str, Any]) -> dict[bytes, bytes]:
    """What a schema says of how its table was made."""
    return {KEY: json.dumps(record, default=str).encode()}


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
    """The names of some sources, as they were given but for passwords; None for one that is in memory."""
    return [
        without_secrets(str(os.fspath(one))) if isinstance(one, (str, os.PathLike)) else None for one in several(side)
    ]
