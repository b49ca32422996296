"""Standard input, compressed or not: what comes is known by how it begins, since it has no name.

1. JSON lines are spooled to a temporary file as they come, compression and all: a run reads them more than once.
2. Anything else is handed on as it comes, or decompressed to its end first.
"""

import contextlib
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from nearsame.errors import SourceError
from nearsame.files.compressions import COMPRESSIONS, MOST_MAGIC, Compression, recognised
from nearsame.files.systems import File
from nearsame.sources.jsonl import JsonLines
from nearsame.sources.streams import BrokenStreamError, chunks

__all__ = ["begins", "json_input", "opened", "plain_input"]


def json_input(stdin: BinaryIO | None, encoding: str | None = None, *, strict: bool) -> JsonLines:
    """JSON lines, in a temporary file that goes when the part does."""
    spool = _Spool(".jsonl")
    spool.fill(stdin or opened())
    packed = spool.compression
    ending = next((suffix for suffix, name in COMPRESSIONS.items() if name == packed), "")
    return JsonLines(
        File(spool.path),
        name="-",
        target=f"stdin.jsonl{ending}",
        format="stdin",
        compression=packed,
        strict=strict,
        encoding=encoding,
        spool=spool,
    )


@contextlib.contextmanager
def plain_input(stdin: BinaryIO | None) -> Iterator[BinaryIO]:
    """What comes, decompressed if it is compressed.

    Raises:
        SourceError: It is compressed, and breaks off.
    """
    given = stdin or opened()
    if recognised(begins(given, MOST_MAGIC)) is None:
        yield given
        return
    spool = _Spool("")
    spool.fill(given)
    with tempfile.TemporaryFile(prefix="nearsame-") as plain:
        try:
            plain.writelines(chunks(File(spool.path), spool.compression))
        except BrokenStreamError as error:
            message = f"standard input is not readable as {spool.compression} to its end: {error}"
            raise SourceError(message, hint="Fetch or compress it again.") from None
        plain.seek(0)
        yield cast("BinaryIO", plain)


def opened() -> BinaryIO:
    """Standard input.

    Raises:
        SourceError: It was closed before this process began: that is no empty source.
    """
    if getattr(sys.stdin, "name", None) == os.devnull:  # what stands in place of a closed one
        raise SourceError("- is standard input, which is closed", hint="Name a file, or open standard input.")
    return sys.stdin.buffer


def begins(stdin: Any, count: int) -> bytes:
    """The first bytes of a stream, which are read again."""
    if hasattr(stdin, "peek"):
        return bytes(stdin.peek(count))[:count]
    place = stdin.tell()
    head = bytes(stdin.read(count))
    stdin.seek(place)
    return head


class _Spool:
    """A temporary file that goes when nothing refers to it any more."""

    def __init__(self, suffix: str) -> None:
        self._handle, self.path = tempfile.mkstemp(suffix=suffix, prefix="nearsame-")
        weakref.finalize(self, Path(self.path).unlink, missing_ok=True)  # before it is read: that may be interrupted
        self.compression: Compression | None = None

    def fill(self, stream: BinaryIO) -> None:
        """Write all that comes, and see how it is compressed."""
        with os.fdopen(self._handle, "wb") as out:
            shutil.copyfileobj(stream, out)
        with Path(self.path).open("rb") as raw:
            self.compression = recognised(raw.read(MOST_MAGIC))
