"""What the name of an output means: standard output, one file, or a folder. Nothing else says so.

1. `-` is standard output, which takes JSON lines.
2. A name that ends as files of records do (`.jsonl`, `.csv.gz`, `.parquet`) is one file of that format.
3. A name that ends as other files do that are read (`.warc.gz`, `.txt`), or in a compression alone, is refused.
4. Any other name is a folder, and so is whatever ends in a slash.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from nearsame.dataclass import dataclass
from nearsame.errors import ConfigError, OutputError
from nearsame.files.compressions import COMPRESSIONS, Compression
from nearsame.files.formats import BY_SUFFIX, FORMATS, PAGES, TEXTS, Format

__all__ = ["STREAM", "Destination", "by_ending", "meaning", "require_folder", "unknown_format", "written_suffixes"]

Known = TypeVar("Known")

STREAM = "-"


@dataclass(frozen=True)
class Destination:
    """Where records go.

    Attributes:
        typed: The name as it was given.
        form: The format of one file, or of standard output; None: a folder.
        compression: Of the file.
    """

    typed: str
    form: Format | None = None
    compression: Compression | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it is standard output."""
        return self.typed == STREAM

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.form is None


def meaning(name: str | os.PathLike[str]) -> Destination:
    """What a name means.

    Args:
        name: As it was given.

    Raises:
        OutputError: It ends as a file does that no records can be written as.

    Example:
        >>> meaning("out.jsonl.gz").compression, meaning("clean").is_folder, meaning("-").is_stream
        ('gzip', True, True)
    """
    typed = os.fspath(name)
    if typed == STREAM:
        return Destination(typed, BY_SUFFIX[".jsonl"])
    if typed.endswith(os.sep):
        return Destination(typed)
    path = Path(typed.lower())
    compression = COMPRESSIONS.get(path.suffix)
    suffix = path.with_suffix("").suffix if compression else path.suffix
    form = BY_SUFFIX.get(suffix)
    if form is not None and form.is_written:
        return Destination(typed, form, compression)
    if form is not None or compression or suffix in TEXTS or suffix in PAGES:
        hint = f"Name a file ({' '.join(written_suffixes())}), or a folder: {typed}/ is one."
        raise OutputError(f"{typed}: such files are read, but not written", hint=hint)
    return Destination(typed)


def require_folder(name: str | os.PathLike[str], what: str) -> None:
    """See that a name is that of a folder, as what is chosen needs.

    Args:
        name: The name.
        what: What is chosen, and needs one.

    Raises:
        ConfigError: It is that of a file, or of standard output.
    """
    place = meaning(name)
    if not place.is_folder:
        is_now = "standard output" if place.is_stream else "one file"
        message = f"{what}: that takes a folder, and {place.typed} is {is_now}"
        raise ConfigError(message, hint="Name a folder, or leave it out.")


def by_ending(name: str, known: Mapping[str, Known]) -> Known:
    """What the ending of a name stands for, where only a file of a known format will do.

    Args:
        name: As it was given.
        known: Of each ending.

    Raises:
        OutputError: It has another ending.

    Example:
        >>> by_ending("s3a://bucket/pairs.JSONL", {".csv": "csv", ".jsonl": "json"})
        'json'
    """
    suffix = Path(name).suffix.lower()
    if suffix not in known:
        raise unknown_format(name, known)
    return known[suffix]


def unknown_format(name: str | os.PathLike[str], known: Iterable[str]) -> OutputError:
    """The error where a name has none of the endings that are `known`."""
    return OutputError(f"{name} has an unknown format", hint=f"Name it by what it is to hold: {' '.join(known)}.")


def written_suffixes() -> list[str]:
    """What the names of files end in that records can be written as."""
    return [suffix for form in FORMATS if form.is_written for suffix in form.suffixes]
