"""Files that are text in one encoding, in lines or rows: read and copied in it, and taken as a table by a copy."""

import contextlib
import tempfile
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.files.systems import File
from nearsame.sources.base import NOT_READ, NOT_UTF8, Aside, Columns, Skip, Skipped
from nearsame.sources.limits import while_room
from nearsame.sources.parts import FilePart, damage, strictly
from nearsame.sources.streams import BrokenStreamError, begun, chunks, looks_compressed, sink
from nearsame.sources.tables import require_sound
from nearsame.sources.transcoding import codec_of, encoded, headed, odd_looks, to_utf8

__all__ = ["Lined"]

_TWICE = 1.5  # joined, then made a table of


@dataclass(frozen=True)
class Lined(FilePart):
    """A file of lines or rows."""

    @abstractmethod
    def table(self, file: File) -> pa.Table:
        """All records of another file of the same format."""

    def take(
        self,
        positions: npt.NDArray[np.int64],  # noqa: ARG002  (a copy is made without the others)
        others: npt.NDArray[np.int64],
        columns: Columns,  # noqa: ARG002  (all of them)
    ) -> pa.Table:
        """The records without the `others`: copied as they are for kept/, and read as a table."""
        self.require_unchanged()
        with tempfile.TemporaryDirectory(prefix="nearsame-") as home:
            copy = Path(home) / "part"
            self.copy(copy, others, drop_unread=True)
            if not copy.exists():  # it could not be read at all
                return pa.table({})
            with damage(self.name):
                table = self.table(File(str(copy)))
                require_sound(table, self.name)
            return table

    @cached_property
    def codec(self) -> str | None:
        """The encoding of lines or rows; None: UTF-8, or nothing of them can be read."""
        try:
            return codec_of(headed(chunks(self.file, self.compression), self.encoding)[0], self.encoding)
        except (BrokenStreamError, SourceError):
            return None  # whoever reads on says so

    def by_encoding(self, skip: Skip) -> Skip:
        """What reports records, `strictly` or not, that are not in the encoding of the file; and how these look."""
        report = strictly(skip, strict=self.strict)
        looks: list[str] = []

        def told(record: Skipped | Aside) -> None:
            if isinstance(record, Skipped) and record.reason.startswith(NOT_UTF8):
                if self.codec is not None:
                    record = record._replace(reason=f"not readable as {self.codec}")
                elif self.encoding in (None, "auto") and not self.strict:
                    looks.append(looks[0] if looks else odd_looks(chunks(self.file, self.compression)))
                    skip(Aside(NOT_READ + looks[0], is_encoding=True, source=self.name))
            report(record)

        return told

    def decompressed(self, skip: Skip) -> Iterator[bytes] | None:
        """The bytes, as UTF-8; None and a skip where a file breaks off at once, or in a folder is not compressed."""
        try:
            head, stream = headed(begun(chunks(self.file, self.compression)), self.encoding)
        except BrokenStreamError as error:
            if looks_compressed(self.file, self.compression):
                skip(Skipped(self.name, None, 1, f"unread from here on: {error}"))
                return None
            self._undecompressed(error, skip)
            return None
        codec = vars(self)["codec"] = codec_of(head, self.encoding)  # so the file is not opened again for it
        if codec is None:
            return stream
        skip(Aside(codec, is_encoding=True))
        return to_utf8(stream, codec, self.name)

    @contextlib.contextmanager
    def written(self, target: Path) -> Iterator[Any]:
        """A copy to write to, that is compressed and encoded as the file."""
        with sink(target, self.compression) as raw, encoded(raw, self.codec) as out:
            yield out

    def copied(self, file: File) -> bytes:
        """The bytes of such a copy, as UTF-8."""
        stream = chunks(file, self.compression)
        utf8 = stream if self.codec is None else to_utf8(stream, self.codec, self.name)
        return b"".join(while_room(utf8, self.name, again=_TWICE))
