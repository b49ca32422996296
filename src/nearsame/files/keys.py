"""What names of folders say, as in `year=2024/month=05/a.parquet`.

1. The folder nearest to the file counts. `%20` and the like are characters; Hive's default partition is a null.
2. Values are whole numbers where all of a name are, else texts.
"""

import re
from collections.abc import Set as AbstractSet
from urllib.parse import unquote

__all__ = ["NULL", "are_whole", "said_by_path"]

NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def are_whole(values: AbstractSet[str]) -> bool:
    """Whether there are values of a name, and all of them are whole numbers.

    >>> are_whole({"5", "-07", NULL}), are_whole({"5", "+5"}), are_whole({NULL})
    (True, False, False)
    """
    known = values - {NULL}
    return bool(known) and all(_INTEGER.fullmatch(value) for value in known)


def said_by_path(folder: str) -> dict[str, str]:
    """What the names on the way to a folder say.

    >>> said_by_path("/crawl/year=2024/lang=d%20e/year=2025")
    {'year': '2025', 'lang': 'd e'}
    """
    pieces = (piece.partition("=") for piece in folder.split("/"))
    return {unquote(key): unquote(value) for key, equals, value in pieces if equals and key}
