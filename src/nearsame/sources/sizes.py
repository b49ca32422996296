"""How much text sources hold, known without reading them: for what has to be known before a run begins.

1. Parquet says it in its footer; of what is compressed as a whole it is a guess by a factor (parts.py).
2. Whatever cannot be known counts as nothing: an estimate stops no run that it knows nothing about.
"""

import contextlib
from collections.abc import Iterable

import pyarrow as pa

from nearsame.errors import NearSameError
from nearsame.sources.base import Columns, Part

__all__ = ["text_bytes"]


def text_bytes(parts: Iterable[Part], columns: Columns) -> int:
    """About how many bytes of text (or ready items, or vectors) there are to read."""
    return sum(_of_part(part, columns) for part in parts)


def _of_part(part: Part, columns: Columns) -> int:
    with contextlib.suppress(NearSameError, pa.ArrowException, OSError, UnicodeDecodeError):  # reading will tell
        return part.text_bytes(columns)
    return 0
