"""What all parts that are one file share: the name, the stamp, and what strictness means."""

import contextlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import NearSameError, SourceError
from nearsame.files.compressions import Compression
from nearsame.files.inputs import Files, name_as_text
from nearsame.files.systems import File, is_url
from nearsame.sources.base import Annotations, Aside, Columns, Skip, Skipped
from nearsame.sources.streams import BrokenStreamError, copy_raw, seekable

__all__ = ["FACTORS", "Dangling", "FilePart", "damage", "strictly"]

# what compression saves on prose; markup and logs shrink more
FACTORS: dict[Compression | None, int] = {"gzip": 3, "zstd": 4, "bz2": 4, "xz": 5}


@dataclass(frozen=True)
class FilePart:
    """A part that is one file."""

    file: File
    name: str
    target: str
    format: str
    compression: Compression | None = None
    strict: bool = False
    lenient: bool = False  # found in a folder: an unreadable file is a skip, not an error
    encoding: str | None = None  # of lines and rows: as it was asked for; None: by the byte order mark, or UTF-8
    bare: bool = False  # redirects and revisits of archives are documents: see Columns
    spool: Any = field(default=None, repr=False, compare=False)  # keeps a temporary copy (of standard input) alive
    stamp: tuple[Any, ...] = field(default=(), repr=False)

    pages: ClassVar[bool] = False

    @abstractmethod
    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """Write the same format to `target` without the `removed` positions (ascending), or with annotations."""

    @property
    def files(self) -> Files:
        """The file; none, where it is a temporary copy."""
        if self.spool is not None:
            return Files("", ())
        return Files("", (self.file.url,), (self.stamp,) if self.stamp and not is_url(self.file.url) else ())

    def size_bytes(self) -> int | None:
        """Bytes on disk, where that is known without reading: for progress."""
        return self.file.size()

    def text_bytes(self, columns: Columns) -> int:  # noqa: ARG002  (a format that knows its columns says more)
        """The bytes on disk, times what such a compression saves on prose."""
        return FACTORS.get(self.compression, 1) * (self.size_bytes() or 0)

    @contextlib.contextmanager
    def whole(self, skip: Skip) -> Iterator[Any | None]:
        """The file as formats with a footer read it; None, and a skip, where it cannot be decompressed."""
        with contextlib.ExitStack() as stack:
            try:
                source = stack.enter_context(seekable(self.file, self.compression))
            except BrokenStreamError as error:
                self._undecompressed(error, skip)
                source = None
            yield source

    def copy_unread(self, target: Path, *, drop: bool) -> None:
        """Write a file that cannot be read as it is, or with `drop` not at all."""
        if not drop:
            copy_raw(self.file, target)

    def _undecompressed(self, error: BrokenStreamError, skip: Skip) -> None:
        reason = f"not readable as {self.compression}: {str(error).partition(chr(10))[0]}"
        if not self.lenient:
            hint = "Check that its name says how it is compressed, and that it was written to its end."
            raise SourceError(f"{self.name} is {reason}", hint=hint) from None
        skip(Skipped(self.name, None, None, reason))

    def require_unchanged(self, positions: npt.NDArray[np.int64] | None = None) -> None:  # noqa: ARG002  (one file)
        """Refuse to go by positions that were counted in other contents."""
        if self.stamp and self.file.stamp() != self.stamp:
            raise SourceError(
                f"{self.name} changed while it was being read", hint="Run again when nothing writes to it any more."
            )


@dataclass(frozen=True)
class Dangling:
    """A link of a folder that leads to no file: one skip, and nothing to copy."""

    link: str
    target: str
    strict: bool = False
    stamp: tuple[Any, ...] = field(default=(), repr=False)
    format: ClassVar[str] = "nothing"
    pages: ClassVar[bool] = False

    @property
    def files(self) -> Files:
        """The link itself, by its name."""
        return Files("", (self.link,))

    @property
    def name(self) -> str:
        """What reports call it."""
        return name_as_text(self.link)

    def size_bytes(self) -> int | None:
        """There are no bytes."""
        return 0

    def text_bytes(self, columns: Columns) -> int:  # noqa: ARG002  (it has none)
        """There are no bytes."""
        return 0

    def require_unchanged(self, positions: npt.NDArray[np.int64] | None = None) -> None:
        """It has nothing that could have changed."""

    def take(
        self,
        positions: npt.NDArray[np.int64],  # noqa: ARG002  (it has none)
        others: npt.NDArray[np.int64],  # noqa: ARG002  (likewise)
        columns: Columns,  # noqa: ARG002  (likewise)
    ) -> pa.Table:
        """There are no records."""
        return pa.table({})

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:  # noqa: ARG002  (it has none)
        """There are no records."""
        strictly(skip, strict=self.strict)(Skipped(self.name, None, None, "a link that leads to no file"))
        return iter(())

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | None = None,
        *,
        drop_unread: bool = False,
    ) -> None:
        """There is nothing to write."""


def strictly(skip: Skip, *, strict: bool) -> Skip:
    """The same report, or with `strict` an error at the first record that cannot be read."""

    def stop(skipped: Skipped | Aside) -> None:
        if isinstance(skipped, Aside):
            skip(skipped)
            return
        place = "" if skipped.line is None else f", line {skipped.line}"
        record = "" if skipped.position is None or place else f", record {skipped.position}"
        raise SourceError(
            f"{skipped.source}{place}{record}: {skipped.reason}",
            hint="Fix the record, or run without --strict to skip it.",
        )

    return stop if strict else skip


@contextlib.contextmanager
def damage(name: str) -> Iterator[None]:
    """What pyarrow says about damage inside a file, with the file's name."""
    try:
        yield
    except NearSameError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last: of a column's name
        reason = str(error).partition("\n")[0]
        raise SourceError(
            f"{name} is damaged: {reason}", hint="Write it again from its origin, or leave it out."
        ) from error
