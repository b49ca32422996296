"""Where documents come from: each module reads one kind of source and copies it without some records."""

from nearsame.sources.base import BATCH_BYTES, MAX_DOCUMENT, MAX_RECORD, Annotations, Columns, Part, Skip, Skipped, into
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
