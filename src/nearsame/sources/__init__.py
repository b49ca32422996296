"""Where documents come from: each module reads one kind of source and copies it without some records.

They load on first use: who reads one text as a whole has no use for formats of records.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearsame.sources.base import (
        BATCH_BYTES,
        MAX_DOCUMENT,
        MAX_RECORD,
        Annotations,
        Columns,
        Part,
        Skip,
        Skipped,
        into,
    )
    from nearsame.sources.discovery import Parts, open_parts
    from nearsame.sources.folder import TextFolder, alike
    from nearsame.sources.wanted import Wanted

__all__ = [
    "BATCH_BYTES",
    "MAX_DOCUMENT",
    "MAX_RECORD",
    "Annotations",
    "Columns",
    "Part",
    "Parts",
    "Skip",
    "Skipped",
    "TextFolder",
    "Wanted",
    "alike",
    "into",
    "open_parts",
]

_ELSEWHERE = {"Parts": "discovery", "open_parts": "discovery", "TextFolder": "folder", "alike": "folder"}
_ELSEWHERE |= {"Wanted": "wanted"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_ELSEWHERE.get(name, 'base')}"), name)
    globals()[name] = value
    return value
