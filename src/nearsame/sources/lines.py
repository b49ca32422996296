"""Text files of one thing a line, such as URLs; and standard input, which may be such a file or JSON lines.

1. Blank lines are nothing, white space around a line is not part of it.
2. A line that is not UTF-8 is reported with its number, and the others are read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from nearsame.files.compressions import COMPRESSIONS
from nearsame.files.inputs import is_folder
from nearsame.files.systems import File, is_url, suffixed_name
from nearsame.sources.base import Skip, Skipped
from nearsame.sources.columns import why_not_utf8
from nearsame.sources.standard_input import begins, opened
from nearsame.sources.streams import BrokenStreamError, chunks, without_bom

__all__ = ["holds_lines", "lines"]

_SUFFIXES = ("", ".list", ".lst", ".txt", ".urls")
_BATCH = 65_536
_HEAD = 64


def holds_lines(source: str, stdin: BinaryIO | None = None) -> bool:
    """Whether a path names a file of lines; `-`, which must not be compressed here, does unless JSON comes in.

    Example:
        >>> holds_lines("urls.txt.gz"), holds_lines("crawl.jsonl")
        (True, False)
    """
    if source == "-":
        return not begins(stdin or opened(), _HEAD).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    if not is_url(source) and is_folder(source):
        return False
    name = Path(suffixed_name(source))
    if name.suffix.lower() in COMPRESSIONS:
        name = name.with_suffix("")
    return name.suffix.lower() in _SUFFIXES and "*" not in name.name


def lines(source: str, skip: Skip, stdin: BinaryIO | None = None) -> Iterator[pa.Array]:
    """The lines of a file or URL, compressed or not, or of `-`, in columns of strings."""
    batch: list[str] = []
    for number, line in enumerate(_raw(source, skip, stdin), start=1):
        bare = line.strip()
        if reason := why_not_utf8(bare):
            skip(Skipped(source, number - 1, number, reason.removesuffix(" of the text")))
        elif bare:
            batch.append(bare.decode())
        if len(batch) == _BATCH:
            yield pa.array(batch, pa.large_string())
            batch = []
    if batch:
        yield pa.array(batch, pa.large_string())


def _raw(source: str, skip: Skip, stdin: BinaryIO | None) -> Iterator[bytes]:
    if source == "-":
        given = iter(stdin or opened())
        yield next(given, b"").removeprefix(b"\xef\xbb\xbf")
        yield from given
        return
    compression = COMPRESSIONS.get(Path(suffixed_name(source)).suffix.lower())
    rest = b""
    try:
        _, stream = without_bom(chunks(File(source), compression))
        for chunk in stream:
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
    except BrokenStreamError as error:
        skip(Skipped(source, None, None, f"{error}; what comes after is not read"))
    else:
        yield rest
