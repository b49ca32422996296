"""Where documents come from: each module reads one kind of source and copies it without some records."""

from samesame.sources.base import BATCH_BYTES, MAX_DOCUMENT, Annotations, Columns, Part, Skip, Skipped, into
from samesame.sources.discovery import Parts, open_parts
from samesame.sources.folder import TextFolder, alike

__all__ = [
    "BATCH_BYTES",
    "MAX_DOCUMENT",
    "Annotations",
    "Columns",
    "Part",
    "Parts",
    "Skip",
    "Skipped",
    "TextFolder",
    "alike",
    "into",
    "open_parts",
]
