"""What all parts that are one file share: the name, the stamp, and what strictness means."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from samesame.errors import SameSameError, SourceError
from samesame.sources.base import Skip, Skipped
from samesame.sources.files import File

__all__ = ["FilePart", "damage", "strictly"]


@dataclass(frozen=True)
class FilePart:
    """A part that is one file."""

    file: File
    name: str
    target: str
    compression: str | None = None
    strict: bool = False
    lenient: bool = False  # found in a folder: an unreadable file is a skip, not an error
    spool: Any = field(default=None, repr=False, compare=False)  # keeps a temporary copy (of standard input) alive
    stamp: tuple[Any, ...] = field(default=(), repr=False)

    def size_bytes(self) -> int | None:
        """Bytes on disk, where that is known without reading: for progress."""
        return self.file.size()

    def require_unchanged(self) -> None:
        """Refuse to copy by positions that were counted in other contents."""
        if self.stamp and self.file.stamp() != self.stamp:
            raise SourceError(
                f"{self.name} changed while it was being read", hint="Run again when nothing writes to it any more."
            )


def strictly(skip: Skip, *, strict: bool) -> Skip:
    """The same report, or with `strict` an error at the first record that cannot be read."""

    def stop(skipped: Skipped) -> None:
        place = "" if skipped.line is None else f", line {skipped.line}"
        record = "" if skipped.position is None or place else f", record {skipped.position}"
        raise SourceError(
            f"{skipped.source}{place}{record}: {skipped.reason}",
            hint="Mend the record, or run without --strict to skip it.",
        )

    return stop if strict else skip


@contextlib.contextmanager
def damage(name: str) -> Iterator[None]:
    """What pyarrow says about damage inside a file, with the file's name."""
    try:
        yield
    except SameSameError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise SourceError(
            f"{name} is damaged: {reason}", hint="Write it again from its origin, or leave it out."
        ) from error
