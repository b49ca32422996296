"""What names of folders say of the files in them, as in `year=2024/month=05/a.parquet`: a column that no file has.

1. The folder nearest to the file counts. `%20` and the like are characters; Hive's default partition is a null.
2. Values are whole numbers where all of a name are, else texts.
"""

import os
import re
from collections.abc import Sequence
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.files.systems import is_url
from nearsame.sources.base import Part
from nearsame.sources.folder import TextFolder

__all__ = ["folder_names", "folder_values", "of_positions"]

_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = r"-?[0-9]{1,18}"


def folder_names(parts: Sequence[Part]) -> list[str]:
    """What names of folders speak of, in the order in which they come.

    Example:
        >>> folder_names([])
        []
    """
    folders = {folder: None for part in parts for folder in dict.fromkeys(map(os.path.dirname, part.files.names()))}
    pieces = (piece.partition("=") for folder in folders for piece in _whole(folder).split("/"))
    return list(dict.fromkeys(unquote(key) for key, equals, _ in pieces if equals and key))


def folder_values(name: str, parts: Sequence[Part]) -> list[pa.Array | None]:
    """Of each part the values of one name, one for each of its files; None: no folder says so.

    Example:
        >>> folder_values("year", [])
        []
    """
    found = [[_value(name, _whole(path)) for path in part.files.names()] for part in parts]
    texts = [value for values in found for value in values if value is not None and value != _NULL]
    kind = pa.int64() if texts and all(re.fullmatch(_INTEGER, text) for text in texts) else pa.string()
    return [
        pa.array([None if value in (None, _NULL) else value for value in values], pa.string()).cast(kind)
        if any(value is not None for value in values)
        else None
        for values in found
    ]


def of_positions(values: pa.Array, part: Part, positions: npt.NDArray[np.int64]) -> pa.Array:
    """The values of records at some positions of a part."""
    return values.take(pa.array(positions if isinstance(part, TextFolder) else np.zeros(len(positions), np.int64)))


def _whole(path: str) -> str:
    return path if is_url(path) else os.path.abspath(path)  # noqa: PTH100  (a million of them)


def _value(name: str, path: str) -> str | None:
    """What the nearest folder of that name says.

    >>> _value("a", "x/a=1/b=2/a=c%20d/e.txt"), _value("b", "b.txt")
    ('c d', None)
    """
    folders = (folder.partition("=") for folder in reversed(path.split("/")[:-1]))
    return next((unquote(value) for key, equals, value in folders if equals and unquote(key) == name), None)
