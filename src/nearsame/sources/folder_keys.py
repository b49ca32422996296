"""What names of folders say of the files in them (files/keys.py): a column that no file has."""

import os
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.files.keys import NULL, are_whole, said_by_path
from nearsame.files.systems import is_url
from nearsame.sources.base import Part
from nearsame.sources.folder import TextFolder

__all__ = ["folder_names", "folder_values", "names_of_folders", "of_positions"]


def folder_names(parts: Sequence[Part]) -> list[str]:
    """What names of folders speak of, in the order in which they come.

    Example:
        >>> folder_names([])
        []
    """
    return names_of_folders(path for part in parts for path in part.files.names())


def names_of_folders(paths: Iterable[str]) -> list[str]:
    """The same of the folders of some files.

    Example:
        >>> names_of_folders(["lang=en/a.txt", "lang=de/year=2020/b.txt"])
        ['lang', 'year']
    """
    folders = dict.fromkeys(map(os.path.dirname, paths))
    return list(dict.fromkeys(key for folder in folders for key in said_by_path(_whole(folder))))


def folder_values(name: str, parts: Sequence[Part]) -> list[pa.Array | None]:
    """Of each part the values of one name, one for each of its files; None: no folder says so.

    Example:
        >>> folder_values("year", [])
        []
    """
    found = [[_value(name, _whole(path)) for path in part.files.names()] for part in parts]
    every = {value for values in found for value in values if value is not None}
    kind = pa.int64() if are_whole(every) else pa.string()
    return [
        pa.array([None if value in (None, NULL) else value for value in values], pa.string()).cast(kind)
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
