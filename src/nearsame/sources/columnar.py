"""What Parquet and Arrow's own format have in common: files of named columns that are opened as a whole."""

import shutil
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearsame.dataclass import dataclass
from nearsame.errors import SourceError
from nearsame.sources.base import Annotations, Columns, Skip, Skipped, TextChange
from nearsame.sources.columns import Chosen, choose, is_stringlike, records
from nearsame.sources.items import plain_records
from nearsame.sources.limits import while_room
from nearsame.sources.parts import FilePart, damage, strictly
from nearsame.sources.streams import copy_raw, sink
from nearsame.sources.tables import annotated_schema, require_sound

__all__ = ["Columnar"]


@dataclass(frozen=True)
class Columnar(FilePart):
    """A file that is opened as a whole; `opened` below is what its format's reader is."""

    kind: ClassVar[str]  # in words

    @abstractmethod
    def reader(self, source: Any) -> Any:
        """Open the file, or raise what Arrow raises."""

    @abstractmethod
    def schema(self, opened: Any) -> pa.Schema:
        """All columns of the opened file, chosen or not, with their types."""

    @abstractmethod
    def batches(self, opened: Any, chosen: Chosen) -> Iterator[pa.RecordBatch]:
        """The chosen columns, in order."""

    def require_room(self, opened: Any, source: Any, chosen: Chosen, columns: Columns) -> None:
        """An error where something that is read at once does not fit into memory."""

    def unread(self, opened: Any, source: Any) -> int:  # noqa: ARG002  (a footer says where everything is)
        """Read to the end; how many bytes are left behind it."""
        return 0

    @abstractmethod
    def writer(self, out: Any, schema: pa.Schema, opened: Any, source: Any) -> AbstractContextManager[Any]:
        """Something that writes as the file was written."""

    @abstractmethod
    def edited(
        self, opened: Any, removed: npt.NDArray[np.int64], annotations: Annotations | TextChange | None
    ) -> Iterator[pa.Table | pa.RecordBatch]:
        """The records whose positions are not among the removed, annotated, as many as are written at once."""

    @abstractmethod
    def put(self, writer: Any, some: Any) -> None:
        """Write some of them."""

    def read(self, columns: Columns, skip: Skip) -> Iterator[pa.RecordBatch]:
        """The readable records, in order, as RECORDS batches of about BATCH_BYTES of text."""
        skip = strictly(skip, strict=self.strict)
        with self.whole(skip) as source, damage(self.name):
            opened = self._opened(source, skip)
            if opened is None:
                return
            schema = self.schema(opened)
            strings = [field.name for field in schema if is_stringlike(field.type)]
            chosen = choose(columns, schema.names, strings, self.name)
            self.require_room(opened, source, chosen, columns)
            start = 0
            for batch in self.batches(opened, chosen):
                require_sound(batch, self.name)
                yield from records(batch, chosen, np.arange(start, start + len(batch)), skip, self.name, columns)
                start += len(batch)
            if left := self.unread(opened, source):
                skip(Skipped(self.name, None, None, f"unread: {left:,} bytes after the end of the stream"))

    def objects(self, columns: Columns, skip: Skip) -> Iterator[tuple[int, dict[str, Any]]]:  # noqa: ARG002  (whole)
        """The readable records, whole, with their positions."""
        skip = strictly(skip, strict=self.strict)
        with self.whole(skip) as source, damage(self.name):
            opened = self._opened(source, skip)
            if opened is None:
                return
            names = self.schema(opened).names
            chosen = Chosen(None, None, beside=tuple(name for name in names if names.count(name) == 1))
            start = 0
            for batch in self.batches(opened, chosen):
                require_sound(batch, self.name)
                yield from plain_records(batch, np.arange(start, start + len(batch)), skip, self.name)
                start += len(batch)

    def take(
        self,
        positions: npt.NDArray[np.int64],  # noqa: ARG002  (all but the others)
        others: npt.NDArray[np.int64],
        columns: Columns,  # noqa: ARG002  (all of them)
    ) -> pa.Table:
        """The records without the `others`, as a copy would have them."""
        return pa.concat_tables(list(while_room(self.tables(others), self.name)) or [pa.table({})])

    def tables(self, others: npt.NDArray[np.int64], change: TextChange | None = None) -> Iterator[pa.Table]:
        """The same, as many as are read at once, or one without any; nothing where it could not be read at all."""
        self.require_unchanged()
        with self.whole(lambda _: None) as source, damage(self.name):
            opened = self._opened(source, lambda _: None)
            if opened is None:
                return
            some = None
            for some in self.edited(opened, others, change):
                yield pa.Table.from_batches([some]) if isinstance(some, pa.RecordBatch) else some
            if some is None:
                yield self.schema(opened).empty_table()

    def copy(
        self,
        target: Path,
        removed: npt.NDArray[np.int64],
        annotations: Annotations | TextChange | None = None,
        *,
        drop_unread: bool = False,
        metadata: Mapping[bytes, bytes] | None = None,
    ) -> None:
        """Write the same kind of file to `target` without the `removed` positions (ascending), or with annotations.

        With metadata, the schema has these, too, where the format has a place for them.
        """
        self.require_unchanged()
        with self.whole(lambda _: None) as source, damage(self.name):
            opened = self._opened(source, lambda _: None)
            if source is None or opened is None:
                self.copy_unread(target, drop=drop_unread)
                return
            if annotations is None and metadata is None and not len(removed):
                if not (drop_unread and self.unread(opened, source)):
                    copy_raw(self.file, target)
                    return
                opened = self.reader(source)
            schema = self.schema(opened)
            schema = schema if annotations is None else annotated_schema(schema, annotations, self.name)
            if metadata is not None:
                schema = schema.with_metadata({**(schema.metadata or {}), **metadata})
            with sink(target, self.compression) as out:
                with self.writer(out, schema, opened, source) as writer:
                    for some in self.edited(opened, removed, annotations):
                        self.put(writer, some)
                if self.unread(opened, source) and not drop_unread:
                    shutil.copyfileobj(source, out)

    def _opened(self, source: Any, skip: Skip) -> Any:
        if source is None:
            return None
        try:
            return self.reader(source)
        except (pa.ArrowException, OSError) as error:
            reason = f"not a readable {self.kind} file: {str(error).partition(chr(10))[0]}"
            if not self.lenient:
                raise SourceError(
                    f"{self.name} is {reason}", hint="Check that it is whole, and not encrypted."
                ) from None
            skip(Skipped(self.name, None, None, reason))
            return None
