"""Leaks on Spark: documents pass the same stages on the executors, and what was found comes to the driver.

1. The table of what is looked for is broadcast; no text is shuffled, and of a document only its leaks travel.
2. A document is called by its content (documents.py); rows that are the same in all columns are documents each.
3. Kept documents are the rows of the DataFrame that was given: less of them, or with another text.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearsame import schemas
from nearsame.arrow import Rows
from nearsame.dataclass import dataclass
from nearsame.engines.base import Stage
from nearsame.engines.spark.crossing import writable
from nearsame.engines.spark.failures import CHANGED, STEADY, plainly, require_running
from nearsame.engines.spark.mapping import quoted
from nearsame.engines.spark.places import as_path
from nearsame.engines.spark.plans import roots
from nearsame.engines.spark.verbs import Verbs
from nearsame.errors import SourceError
from nearsame.files.passed_over import PassedOver
from nearsame.frames.documents import FrameSide
from nearsame.frames.inputs import unread_files
from nearsame.frames.writing import STATS, check_target, write_folder
from nearsame.named import NamedTuple
from nearsame.passages import merged, without
from nearsame.sources import Skipped

__all__ = ["FrameDocuments"]

_COUNTED = -1  # in place of a text: a line of counts of a partition
_NAMES = [("fp", pa.int64()), ("id", pa.string()), ("source", pa.string())]
_KEYS = ["row", "fp"]
_OWN = ["nearsame_row", "nearsame_fp"]
_LEFT = pa.schema([("row", pa.int64()), ("fp", pa.int64()), ("left_text", pa.large_string())])
Batches = Iterator[pa.RecordBatch]


class _Source(NamedTuple):
    """A file, of which no more is known than its name."""

    name: str


@dataclass(frozen=True, eq=False)
class FrameDocuments:
    """The documents of DataFrames; those in which something was found are numbered.

    Attributes:
        verbs: of the session.
        side: the documents.
        sources: paths, as they were given.
        search: the stage that finds.
    """

    verbs: Verbs
    side: FrameSide
    sources: Sequence[str]
    search: Stage

    size_bytes = None
    pages = False

    @cached_property
    @plainly()
    def _collected(self) -> pa.Table:
        """What the stage gives of all documents, with their names, and a line of counts of each partition."""
        name = "if(input_file_name() = '', null, input_file_name()) as source"
        documents = self.side.documents().selectExpr("row", "text", "fp", "id", "bad", name)
        if self.verbs.engine.partitions is not None:
            documents = documents.repartition(self.verbs.engine.partitions)
        return self._mapped(documents, partial(_found, self.search), schemas.LEAKS)

    def _mapped(self, frame: Any, work: Any, schema: pa.Schema) -> pa.Table:
        whole = pa.schema([*schema, *_NAMES])
        batches = self.verbs.tables(self.verbs.map_batches(frame, work, whole))
        return pa.Table.from_batches([batch.cast(whole) for batch in batches], schema=whole)

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Of all documents: how many there are, the bytes of their texts, and how many of these cannot be read."""
        lines = self._collected.filter(pc.field("text") == _COUNTED)
        number, size, bad = (pc.sum(lines.column(name)).as_py() or 0 for name in ("row", "shared", "start"))
        return number, size, bad

    @cached_property
    def _numbered(self) -> tuple[Rows, pa.Table]:
        """LEAKS by text, with names, and of each the number of its document; of rows that are one, each has its own."""
        found = self._collected.filter(pc.field("text") != _COUNTED)
        by = [(name, "ascending") for name in ("row", "fp", "text", "source", "id")]
        found = found.take(pc.sort_indices(found, by)).combine_chunks()
        row, fp, text = (found.column(name).to_numpy() for name in ("row", "fp", "text"))
        changed = np.ones(len(found), np.bool_)
        changed[1:] = (row[1:] != row[:-1]) | (fp[1:] != fp[:-1]) | (text[1:] != text[:-1])
        first = np.maximum.accumulate(np.where(changed, np.arange(len(found)), 0))
        keys = np.stack([row, fp, np.arange(len(found)) - first], axis=1)
        return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1), found

    @property
    def found(self) -> pa.Table:
        """LEAKS, by document and text."""
        numbers, found = self._numbered
        table = pa.Table.from_arrays(
            [pa.array(numbers), *found.select(schemas.LEAKS.names[1:]).columns], schema=schemas.LEAKS
        )
        return table.take(pc.sort_indices(table, [("row", "ascending"), ("text", "ascending")]))

    @cached_property
    def _named(self) -> pa.Table:
        """What the numbered documents are called: row, fp, id, source."""
        numbers, found = self._numbered
        lines = found.take(pa.array(np.unique(numbers, return_index=True)[1]))
        names = [as_path(uri) if uri else self.side.parts[0].name for uri in lines.column("source").to_pylist()]
        at = lines.schema.get_field_index("source")
        return lines.set_column(at, "source", pa.array(names, pa.string())).select([*_KEYS, "id", "source"])

    @property
    def num_documents(self) -> int:
        """How many there are."""
        return self.counts[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """What one must know of texts that could not be read."""
        number = self.counts[2]
        return (f"{number:,} texts are not UTF-8, or too long, and are not searched",) if number else ()

    @property
    def skipped(self) -> list[Skipped]:
        """A line for each file of which something could not be read."""
        return [Skipped(name, None, None, why) for part in self.side.parts for name, _, why in unread_files(part)]

    @property
    def passed_over(self) -> PassedOver:
        """The files of no known format, which Spark's reader does not tell apart."""
        return PassedOver(Counter({"of no known format": sum(part.ignored for part in self.side.parts)}))

    @property
    def all_parts(self) -> list[_Source]:
        """The files in which something was found."""
        return list(map(_Source, sorted(set(self._named.column("source").to_pylist()))))

    @property
    def origins(self) -> pa.Table:
        """ORIGINS of the numbered documents; the place of one is the number of its content."""
        numbers = {part.name: number for number, part in enumerate(self.all_parts)}
        row, source = self._named.column("row"), self._named.column("source").to_pylist()
        names = pc.coalesce(self._named.column("id"), row.cast(pa.string()))
        of = pa.array([numbers[name] for name in source], pa.int32())
        return pa.Table.from_arrays([pa.array(np.arange(len(row))), of, row, names], schema=schemas.ORIGINS)

    @plainly()
    def cuts(self, stage: Stage) -> pa.Table:
        """CUTS of the numbered documents."""
        lines = self._mapped(self._leaked(), partial(_lines, stage), schemas.CUTS)
        known: dict[tuple[int, int], dict[tuple[Any, ...], None]] = {}
        names = schemas.CUTS.names[1:]
        for line in lines.to_pylist():  # of copies the same
            known.setdefault((line["row"], line["fp"]), {})[tuple(line[name] for name in names)] = None
        keys = list(zip(*(self._named.column(name).to_pylist() for name in _KEYS), strict=True))
        if not known.keys() >= set(keys):
            raise SourceError(CHANGED, hint=STEADY)
        rows = [(number, *line) for number, key in enumerate(keys) for line in known[key]]
        columns = zip(*rows, strict=True) if rows else ([],) * len(schemas.CUTS)
        arrays = [pa.array(column, kind.type) for column, kind in zip(columns, schemas.CUTS, strict=True)]
        return pa.Table.from_arrays(arrays, schema=schemas.CUTS)

    @plainly()
    def kept(self, gone: Rows, stage: Stage | None) -> Any:
        """The documents without these, and with what a stage of cuts leaves of the texts of others."""
        require_running(self.verbs.session)
        away = self._keys(self._named.take(pa.array(gone))).toDF(*_OWN)
        stay = self.side.named(()).join(away.hint("broadcast"), _OWN, "left_anti")
        columns = self.side.frame.columns
        if stage is None:
            return writable(stay.select(*map(quoted, columns)))
        texts = self.verbs.map_batches(self._leaked(), partial(_left, stage), _LEFT).distinct()
        text, types = str(self.side.parts[0].chosen.text), dict(self.side.frame.dtypes)
        new = f"cast(coalesce(cast(left_text as {types[text]}), {quoted(text)}) as {types[text]}) as {quoted(text)}"
        chosen = (new if name == text else quoted(name) for name in columns)
        return writable(stay.join(texts.toDF(*_OWN, "left_text"), _OWN, "left").selectExpr(*chosen))

    @plainly()
    def write(
        self, directory: str | Path, frames: Mapping[str, Any], record: Mapping[str, Any], num_kept: int | None
    ) -> None:
        """Write a folder of folders of Parquet parts, and `stats.json`; of the first frame so many rows, if not None.

        Raises:
            OutputError: It cannot be written.
            SourceError: Other documents are kept than were searched.
        """
        require_running(self.verbs.session)

        def checked(written: Any) -> dict[str, Any]:
            if num_kept is not None and written.count() != num_kept:
                raise SourceError(CHANGED, hint=STEADY)
            return dict(record)

        made = {
            name: self.verbs.frame(_plain(one)) if isinstance(one, pa.Table) else one for name, one in frames.items()
        }
        write_folder(self.verbs.session, directory, made, checked)

    def require(self, directory: str | Path, *, overwrite: bool) -> None:
        """See that a folder may be written.

        Raises:
            OutputError: It may not.
        """
        require_running(self.verbs.session)
        read = [root for part in self.side.parts for root in roots(part.frame)]
        check_target(self.verbs.session, directory, self.sources, STATS, overwrite=overwrite, roots=read)

    def _leaked(self) -> Any:
        """The documents in which something was found."""
        return self.side.documents().join(self._keys(self._named).hint("broadcast"), _KEYS, "left_semi")

    def _keys(self, named: pa.Table) -> Any:
        return self.verbs.frame(named.select(_KEYS)).distinct()


def _plain(table: pa.Table) -> pa.Table:
    """The table with short offsets, which Spark takes."""
    kinds = [field.with_type(pa.string()) if pa.types.is_large_string(field.type) else field for field in table.schema]
    return table.cast(pa.schema(kinds))


def _asked(stage: Stage, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.Array]:
    """What a stage says of documents, and which of the batch each line is about."""
    places = pa.array(range(len(batch)), pa.int64())
    texts = batch.column("text").cast(pa.large_string())
    lines = stage(pa.RecordBatch.from_arrays([places, texts], schema=schemas.DOCUMENTS))
    return lines, lines.column("row")


def _lines(stage: Stage, batches: Batches) -> Batches:
    """The lines of a stage, with what their documents are called."""
    for batch in batches:
        lines, at = _asked(stage, batch)
        names = [batch.column(name).take(at) if name in batch.schema.names else pa.nulls(len(at), kind)
                 for name, kind in _NAMES]  # fmt: skip
        columns = [batch.column("row").take(at), *lines.columns[1:], *names]
        yield pa.RecordBatch.from_arrays(columns, names=[*lines.schema.names, *(name for name, _ in _NAMES)])


def _found(stage: Stage, batches: Batches) -> Batches:
    """The same, and at the end what was counted."""
    number = size = bad = 0

    def counted() -> Batches:
        nonlocal number, size, bad
        for batch in batches:
            number += len(batch)
            size += pc.sum(pc.binary_length(batch.column("text"))).as_py() or 0
            bad += pc.sum(batch.column("bad").cast(pa.int64())).as_py() or 0
            yield batch

    yield from _lines(stage, counted())
    known: dict[str, Any] = {"row": number, "text": _COUNTED, "shared": size, "start": bad, "passage": "", "fp": 0}
    schema = pa.schema([*schemas.LEAKS, *_NAMES])
    line = {name: known.get(name, None if pa.types.is_string(schema.field(name).type) else 0) for name in schema.names}
    yield pa.RecordBatch.from_pylist([line], schema=schema)


def _left(stage: Stage, batches: Batches) -> Batches:
    """What is left of the texts of documents."""
    for batch in batches:
        lines, _ = _asked(stage, batch)
        spans: dict[int, list[tuple[int, int]]] = {}
        for place, start, end in zip(
            *(lines.column(name).to_pylist() for name in ("row", "start", "end")), strict=True
        ):
            spans.setdefault(place, []).append((start, end))
        places = pa.array(list(spans), pa.int64())
        texts = batch.column("text").take(places).to_pylist()
        left = [without(text, merged(own)).text for text, own in zip(texts, spans.values(), strict=True)]
        columns = [*(batch.column(name).take(places) for name in _KEYS), pa.array(left, pa.large_string())]
        yield pa.RecordBatch.from_arrays(columns, schema=_LEFT)
